/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the records of LOG, TRACE and NFLOG go: lines to the program's log at a limited rate, or to
 * a file; packets of a group to a file, as text or pcapng. A group that nobody asked for is counted.
 *
 * Context: control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct packet_log;
struct packet_log_outputs;
struct sl_conf;
struct sl_router;

struct packet_log_stats {
	uint64_t lines; /* written, of LOG and TRACE */
	uint64_t suppressed; /* not written, by the limit */
	uint64_t packets; /* written, of groups */
	uint64_t unread; /* of groups that nobody reads */
	uint64_t lost; /* for which a worker's ring had no room */
	uint64_t failed; /* that a file did not take */
};

/* Return: NULL: no memory */
struct packet_log *packet_log_new(struct sl_router *r);
void packet_log_free(struct packet_log *l); /* NULL is fine */

/**
 * packet_log_open() - the files of a configuration, to be put in force by packet_log_use()
 *
 * Files are appended to. Return: 0, -errno with a line in @err.
 */
int packet_log_open(const struct sl_router *r, const struct sl_conf *conf,
		struct packet_log_outputs **out, char *err, size_t err_size);
/* for replay: lines to @lines without a limit, all groups to @groups as pcapng if it is not NULL */
struct packet_log_outputs *packet_log_streams(const struct sl_router *r, FILE *lines, FILE *groups);
void packet_log_outputs_free(struct packet_log_outputs *o);

/* after the rules are in force; takes @o, frees those in force before */
void packet_log_use(struct packet_log *l, struct packet_log_outputs *o);

/* write what the workers left. Return: whether there was anything */
bool packet_log_drain(struct packet_log *l);

/* the same, now and then. Return: milliseconds until the next time, at most @max_ms */
int packet_log_poll(struct packet_log *l, int max_ms);

/* with what was written so far; @l may be NULL */
void packet_log_stats(const struct packet_log *l, struct packet_log_stats *out);
