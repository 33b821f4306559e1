/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A side: something that moves the packets of a scenario, in a process of its own on the core under
 * test. It waits for orders, so sides take turns. Whatever it made (namespace, maps, memory) belongs
 * to the process and ends with it, and it ends with its parent: nothing has to be cleaned up.
 */
#pragma once

#include "app/bench/ruleset.h"
#include "app/bench/traffic.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SIDE_TEXT_MAX 256
#define SIDE_PROBES 64 /* packets that leave under observation */
#define SIDE_HEADER_LEN 80 /* a longest header: IPv6 and TCP, and a bit */

struct side_ops;

/* what a side shall do */
struct side_setup {
	const struct side_ops *ops;
	const char *name; /* "legacy", "plain" */
	bool ours;
	enum backend backend; /* of the kernel's */
	struct traffic traffic;
	struct ruleset rules;
	unsigned int batch; /* frames that the kernel takes together, up to 256; 0: 64 */
	bool tap; /* a packet socket reads along; the kernel's only */
	unsigned int core;
	bool observed; /* engine_check.h */
};

/* packets moved in one go */
struct side_sample {
	uint64_t entered;
	uint64_t left;
	double cpu_ns; /* of the side's thread: what others took in between does not count */
	double wait_ns; /* that it could have run but for others on the core */
	double wall_ns;
};

/* what the first packets look like behind the router, and under which rules */
struct side_probe {
	uint32_t n;
	uint32_t n_rules;
	uint64_t rules_hash; /* as ruleset_hash(); 0: rules of another kind */
	uint64_t counters_hash; /* as ruleset_hash_counters(), after these packets */
	int64_t n_tracked; /* connections that are known now; -1: nobody tracks */
	struct {
		uint32_t len;
		uint8_t header[SIDE_HEADER_LEN];
	} frames[SIDE_PROBES];
};

/* all are called in the side's own process; @why gets the reason of a failure */
struct side_ops {
	int (*open)(const struct side_setup *setup, void **priv, char *why);
	/* forget all connections */
	int (*reset)(void *priv, char *why);
	/* SIDE_PROBES packets from flow 0 on; before anything was measured */
	int (*probe)(void *priv, struct side_probe *out, char *why);
	bool has_alone; /* measure() knows about @alone */
	/* at least @packets; @alone: source and sink without what is between them */
	int (*measure)(void *priv, uint64_t packets, bool alone, struct side_sample *out,
			char *why);
};

struct side {
	pid_t pid;
	int fd;
};

/**
 * side_start() - a process for @setup, which gets ready to measure
 *
 * Return: 0 (call side_wait()); or -errno, and one line in @why (SIDE_TEXT_MAX).
 */
int side_start(struct side *s, const struct side_setup *setup, char *why);

/**
 * side_wait() - until the process is ready
 *
 * Return: 0; -ENOTSUP: this machine lacks something; or another -errno; then it is gone.
 */
int side_wait(struct side *s, char *why);
int side_probe(struct side *s, struct side_probe *out, char *why);
int side_measure(struct side *s, uint64_t packets, bool alone, struct side_sample *out, char *why);
void side_stop(struct side *s);

/* before a round of new connections */
int side_reset(struct side *s, char *why);

/* the clocks of a sample, to be called before and after */
void side_clock_start(struct side_sample *s);
void side_clock_stop(struct side_sample *s);

/* prints into @why and returns @ret */
int side_fail(char *why, int ret, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
