/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs in the kernel (live.bpf.c) and their user share; plain C types only. */
#pragma once

#include <linux/types.h> /* which <bpf/bpf_helpers.h> wants before it */

/* bytes at the start of a frame that the source writes anew for every packet */
#define LIVE_HEADER_LEN 64
/* or all of them, where more than a header differs */
#define LIVE_FRAME_MAX 1536
/* bytes that are kept of a frame that left */
#define LIVE_CAPTURE_LEN 84
/* what the source does beyond writing headers */
#define LIVE_WHOLE 1U /* writes all of a frame */
#define LIVE_MIXED 2U /* cuts a frame to the length that its IP header tells */
/* frames that the capturing sink keeps at least */
#define LIVE_CAPTURES 64

struct live_capture {
	unsigned int len; /* of the frame, bytes */
	unsigned char header[LIVE_CAPTURE_LEN];
}; /* a multiple of 8 bytes: elements of a mapped array are */

/* counters, one array element */
struct live_counts {
	unsigned long long entered;
	unsigned long long left; /* by the second veth pair, forwarded */
	unsigned int flows; /* templates */
	unsigned int next; /* template */
	unsigned int captured;
	unsigned int napi; /* id of the poll that received what was identified */
};
