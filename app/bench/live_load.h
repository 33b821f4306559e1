/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs of live.bpf.c, loaded; nothing is pinned, all goes with the process. */
#pragma once

#include "app/bench/live.h"
#include "app/bench/side.h"

struct bpf_object;

/* which way packets go: forward, or back with what the far end answers */
enum live_way {
	LIVE_FORWARD,
	LIVE_BACK,
};

struct live {
	struct bpf_object *object;
	int source, source_alone, sink, capture, identify; /* programs */
	unsigned char *templates; /* mapped: frames, stride bytes each */
	struct live_capture *captures; /* mapped */
	uint32_t n_frames, n_captures;
	size_t stride;
	volatile struct live_counts *counts; /* mapped */
	unsigned int in, out; /* interfaces */
	unsigned int batch;
	uint8_t frame[TRAFFIC_SIZE_MAX]; /* what is behind the headers */
};

/* -ENOTSUP: this build, this kernel or this user cannot */
int live_load(struct live *l, const struct side_setup *setup, char *why);

/* how frame @i is made into @frame */
typedef void live_make(const struct live *l, const struct traffic *t, uint32_t i, uint8_t *frame);

/* the frames that are sent from now on, from the first one; traffic_frame() makes them at first */
void live_feed(struct live *l, const struct traffic *t, live_make *make);

/* the program that ends packets where they leave on @way, in place of the one before */
int live_attach(struct live *l, enum live_way way, int sink, char *why);

/* packets end in @program where l->in has received them, before anything of IP; and no longer */
int live_shut(struct live *l, int program, char *why);
int live_reopen(struct live *l, char *why);

/* run @program for @packets live frames of @size bytes (of the longest) that come in on @way */
int live_run(struct live *l, enum live_way way, int program, uint64_t packets, uint16_t size,
		char *why);

/* what the capturing sink has seen, forgotten; and its first frames */
void live_forget(struct live *l);
void live_captured(struct live *l, struct side_probe *out);
