/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ct_side: the two that are compared, the kernel in its lab and a router of sluice in this process.
 * Both take a frame at a time and tell what came out, their connections as /proc/net/nf_conntrack has
 * them, and their rules with counters.
 */
#pragma once

#include "ct_setting.h"
#include "lab.h"

#define CT_TEXT_MAX (4 << 20)

/* all return 0 or -errno, after a line on stderr */
struct ct_side {
	const char *name;
	int (*open)(unsigned int n_workers);
	void (*close)(void);
	/* rules and switches, no connections, counters at 0 */
	int (*load)(const struct ct_setting *s);
	/*
	 * Time is the machine's, and @at_ns is when the kernel did the same, for those who need to be
	 * told. What comes out because of a frame is appended to @out.
	 */
	int (*send)(unsigned int port, const void *frame, size_t len, uint64_t at_ns,
			struct lab_frames *out);
	/* a text that is valid until the next call */
	int (*connections)(uint64_t at_ns, const char **text);
	int (*rules)(bool v6, const char **text);
};

extern const struct ct_side ct_kernel, ct_sluice;

/* the clock of at_ns; does not jump */
uint64_t ct_clock_ns(void);
