/* SPDX-License-Identifier: BSD-3-Clause */
/* What nf_conntrack_log_invalid has written down of packets, with the kernel's words. [worker] */
#pragma once

#include "conntrack/proto.h"

/**
 * ct_note() - a line about the packet, if its protocol is to be logged
 *
 * Goes where the lines of LOG go. printf's arguments.
 */
#define ct_note(c, ...)                                    \
	do {                                               \
		if (unlikely((c)->conf->log_invalid != 0)) \
			ct_note_line(c, __VA_ARGS__);      \
	} while (0)

void ct_note_line(const struct ct_pkt *c, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/* the line of a reason, where the kernel has one that says nothing of the connection */
void ct_note_reason(const struct ct_pkt *c, enum ct_invalid why);
