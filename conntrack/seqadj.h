/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sequence numbers of a TCP connection in which NAT has written other texts than were sent: of each
 * direction the last place where the length changed, and what is added in front of it and behind it.
 * [worker]
 *
 * Example: at 1000 the client sends a line of 20 bytes, 23 go on. Its next segment, 1020, goes on as
 * 1023, and the server's acknowledgement of 1023 comes to the client as one of 1020.
 */
#pragma once

#include "conntrack/proto.h"

/* from @seq on the direction's numbers are further away by @more */
void ct_seqadj_add(struct ct_shard *s, struct ct_entry *e, enum ct_dir dir, uint32_t seq,
		int32_t more);

/**
 * ct_seqadj_packet() - the numbers of a segment that leaves: its own, and what it acknowledges
 *
 * SACK blocks too. Return: false if there is no whole header, or an option is torn: drop it.
 */
bool ct_seqadj_packet(const struct ct_pkt *c, const struct ct_entry *e);
