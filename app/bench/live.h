/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs in the kernel (live.bpf.c) and their user share; plain C types only. */
#pragma once

#include <linux/types.h> /* which <bpf/bpf_helpers.h> wants before it */

/* bytes at the start of a frame that the source writes anew for every packet */
#define LIVE_HEADER_LEN 64
/* frames that the capturing sink keeps */
#define LIVE_CAPTURES 64

struct live_capture {
	unsigned int len; /* of the frame, bytes */
	unsigned char header[LIVE_HEADER_LEN];
};

/* counters, one array element */
struct live_counts {
	unsigned long long entered;
	unsigned long long left; /* by the second veth pair, forwarded */
	unsigned int flows; /* templates */
	unsigned int next; /* template */
	unsigned int captured;
	unsigned int napi; /* id of the poll that received what was identified */
};
