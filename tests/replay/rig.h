/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rig: one run of `sluice replay` in a directory of its own. Frames are gathered by port, then run;
 * what went wrong in between fails the test that asked for it.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define RIG_PORTS_MAX 4

struct rig_frame {
	uint64_t time_us;
	uint32_t len;
	uint8_t *data;
};

struct rig_frames {
	struct rig_frame *v;
	size_t n;
};

/* of the program; to be set once */
extern const char *rig_sluice;

/* @ports: names up to a NULL, at most RIG_PORTS_MAX; those without a frame get an empty capture */
struct rig *rig_open(const char *config, const char *const *ports);
void rig_close(struct rig *rig);

/* time does not go back within a port */
void rig_add(struct rig *rig, const char *port, uint64_t time_us, const void *data, size_t len);

/* DIR/NAME; valid until the next call */
const char *rig_path(struct rig *rig, const char *name);

/* Return: exit status of sluice with these arguments, up to a NULL, in the rig's directory */
int rig_exec(struct rig *rig, char *const *args);

/* replay of everything added with N workers; must succeed. Output goes to DIR/out */
void rig_run(struct rig *rig, unsigned int workers);

/* what sluice wrote to its standard error; valid until the rig is closed or runs again */
const char *rig_err(struct rig *rig);

/* what a port sent; free with rig_free() */
struct rig_frames rig_out(struct rig *rig, const char *port);
void rig_free(struct rig_frames *frames);

/* the report of the run; the caller's reference */
json_t *rig_json(struct rig *rig);

/* packets dropped for a reason, over all ports */
unsigned int rig_dropped(struct rig *rig, const char *reason);
