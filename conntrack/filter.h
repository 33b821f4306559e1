/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which connections are meant: words NAME=VALUE, all of which have to hold.
 *
 *   family=4|6  proto=NAME|N  state=ESTABLISHED  status=ASSURED|SEEN_REPLY|EXPECTED|UNREPLIED
 *   src=ADDR[/LEN] dst=ADDR[/LEN] sport=N dport=N          of the original direction
 *   reply-src= reply-dst= reply-sport= reply-dport=        of replies
 *   id=N (of ICMP)  mark=N[/MASK]  zone=N (of either direction)
 */
#pragma once

#include "conntrack/table.h"

struct ct_filter {
	uint32_t set; /* which of the words were given */
	uint8_t family, proto;
	uint16_t zone;
	uint16_t port[CT_DIR_NB][2]; /* source, destination */
	uint16_t id;
	struct sl_prefix addr[CT_DIR_NB][2];
	uint32_t mark, mark_mask;
	uint32_t status, status_not;
	char state[20];
};

/**
 * ct_filter_add() - one more word
 *
 * Return: 0, or -EINVAL with what was expected in @err.
 */
int ct_filter_add(struct ct_filter *f, const char *word, char *err, size_t err_size);

bool ct_filter_holds(const struct ct_filter *f, const struct ct_entry *e);
