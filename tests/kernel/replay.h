/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay: the sluice half of the comparison. Frames are gathered with the time at which the kernel
 * had them, written as one pcap for each port, and run through `sluice replay` in a directory of
 * its own, which goes when the run is closed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct replay;

/* Called for every frame that sluice sent. Return: 0 to go on, -errno to stop */
typedef int (*replay_sink)(
		void *ctx, unsigned int port, uint64_t time_ns, const uint8_t *data, size_t len);

/*
 * @workers:      a number as text, NULL: what the config says
 * @ports:        their names, up to a NULL
 * @write_config: writes the config
 * Return: 0 or -errno
 */
int replay_open(const char *sluice, const char *workers, const char *const *ports,
		void (*write_config)(FILE *f), struct replay **r);

/* the rules with their counters go to @path (IPv4), and to @path.v6; before replay_run() */
void replay_write_rules(struct replay *r, const char *path);

/* what rules log goes to @path; before replay_run() */
void replay_write_log(struct replay *r, const char *path);

/* Times must not go back. Return: 0 or -errno */
int replay_add(struct replay *r, unsigned int port, uint64_t time_ns, const void *data, size_t len);

/* Return: 0, -EPROTO after the command's last words on stderr if it failed, or another -errno */
int replay_run(struct replay *r, replay_sink sink, void *ctx);
void replay_close(struct replay *r);
