/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture or a trace on its way to who asked for it over the control socket: takes records out of
 * the rings of all workers and hands out bytes. It is read only as fast as the reader takes them;
 * what workers find no room for is counted, and told at the end.
 */
#pragma once

#include "lib/watch.h"

#include <stddef.h>
#include <stdio.h>

struct sl_router;
struct watch_filter;

struct watch_stream {
	struct sl_router *r;
	struct sl_watch watch;
	struct watch_filter *filter; /* NULL: none */
	uint64_t limit; /* packets; 0: none */
	uint64_t seen[SL_PORTS_MAX]; /* packets told of, by port */
	uint64_t n; /* their sum */
	bool started; /* what stands in front of everything is written */
	bool removed; /* workers do not write any more */
	bool stop; /* enough: what is there, and then the end */
};

/* Return: false if all has been read; *out NULL: nothing now, else the caller's to free */
bool watch_stream_read(struct watch_stream *s, char **out, size_t *len);

/* no more than what workers have recorded up to now */
void watch_stream_stop(struct watch_stream *s);
bool watch_stream_is_stopped(const struct watch_stream *s);

/* at once; NULL is allowed */
void watch_stream_end(struct watch_stream *s);

/* watch_capture.c, watch_trace.c: one record; nothing happens for one that is not wanted */
void watch_capture_start(struct watch_stream *s, FILE *f);
void watch_capture_write(struct watch_stream *s, FILE *f, const struct sl_watch_rec *rec);
void watch_capture_finish(struct watch_stream *s, FILE *f);
void watch_trace_write(struct watch_stream *s, FILE *f, const struct sl_watch_rec *rec);
void watch_trace_finish(struct watch_stream *s, FILE *f);
