/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs of live.bpf.c, loaded; nothing is pinned, all goes with the process. */
#pragma once

#include "app/bench/live.h"
#include "app/bench/side.h"

struct bpf_object;

struct live {
	struct bpf_object *object;
	int source, source_alone, sink, capture, identify; /* programs */
	int captures; /* map */
	unsigned char *templates; /* mapped: LIVE_HEADER_LEN bytes for each flow */
	volatile struct live_counts *counts; /* mapped */
	unsigned int in, out; /* interfaces */
};

/* -ENOTSUP: this build, this kernel or this user cannot */
int live_load(struct live *l, const struct traffic *t, char *why);

/* the program that ends packets on their way out of l->out, in place of the one before */
int live_attach(struct live *l, int sink, char *why);

/* packets end in @program where l->in has received them, before anything of IP; and no longer */
int live_shut(struct live *l, int program, char *why);
int live_reopen(struct live *l, char *why);

/* run @program for @packets live frames that come in by l->in; @frame is what is behind the header */
int live_run(struct live *l, int program, uint64_t packets, const uint8_t *frame, uint16_t size,
		char *why);

/* keep what the capturing sink has seen */
void live_captured(struct live *l, struct side_probe *out);
