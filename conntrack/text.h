/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections as /proc/net/nf_conntrack shows them. */
#pragma once

#include "conntrack/table.h"

#include <stdio.h>

/* an entry as it was when somebody looked, for whoever tells of it later */
struct ct_view {
	struct ct_entry e;
	struct ct_cold cold;
	uint32_t now_ms; /* of the entry's worker */
	uint16_t worker;
	bool acct, timestamp; /* whether the kernel would have noted it */
	uint64_t wall_ns;
};

/* [worker] of an entry of the worker's shard; @conf: in force */
void ct_view(struct ct_view *v, const struct ct_conf *conf, const struct ct_shard *s,
		const struct ct_entry *e);

/* a line with its newline */
void ct_text_line(FILE *f, const struct ct_view *v);

/* "ipv4", "ipv6" */
const char *ct_text_family(uint8_t family);
/* "tcp"; "unknown" where the kernel says so */
const char *ct_text_proto(uint8_t proto);

/* what a tuple of this protocol has beside addresses */
enum ct_text_kind {
	CT_TEXT_NOTHING,
	CT_TEXT_PORTS,
	CT_TEXT_ICMP,
	CT_TEXT_KEYS,
};
enum ct_text_kind ct_text_kind(uint8_t proto);

/* seconds since the connection was made, where it was noted */
uint64_t ct_text_age(const struct ct_view *v);
