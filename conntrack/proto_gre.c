/* SPDX-License-Identifier: BSD-3-Clause */
/* GRE: told apart by addresses alone, version 1 (PPTP, RFC 2637) also by the call's key. */
#include "conntrack/proto_priv.h"

#define GRE_VERSION_MASK 7
#define GRE_VERSION_1 1
#define GRE_KEY_END 8 /* a shorter header has no key, and nobody looks any further */
#define GRE_PPP 0x880b

struct gre_head {
	uint8_t flags;
	uint8_t version;
	rte_be16_t protocol_be;
};

bool ct_gre_check(const struct ct_pkt *c)
{
	const struct gre_head *gre;
	struct gre_head buf;

	gre = ct_l4_at(c, 0, sizeof(*gre), &buf);
	if (gre == NULL || (gre->version & GRE_VERSION_MASK) != GRE_VERSION_1)
		return true;
	if (gre->protocol_be != RTE_BE16(GRE_PPP) && ct_l4_len(c) >= GRE_KEY_END)
		return ct_is_invalid(c, CT_INVALID_GRE_PROTOCOL);
	return true;
}

enum ct_verdict ct_gre_packet(const struct ct_pkt *c, struct ct_entry *e)
{
	if (c->is_new) {
		e->gre.timeout_s = c->conf->gre_s;
		e->gre.stream_s = c->conf->gre_stream_s;
	}
	if ((e->status & CT_SEEN_REPLY) == 0) {
		ct_refresh(c->s, e, e->gre.timeout_s);
		return CT_PASS;
	}
	ct_refresh(c->s, e, e->gre.stream_s);
	if ((e->status & CT_REPLY_ONLY) == 0)
		e->status |= CT_ASSURED;
	return CT_PASS;
}

void ct_gre_print(const struct ct_entry *e, FILE *f)
{
	fprintf(f, "timeout=%u, stream_timeout=%u ", e->gre.timeout_s, e->gre.stream_s);
}
