/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/proto_priv.h"
#include "lib/ip.h"

#include <netinet/in.h>

static const struct {
	const char *name, *help;
} reasons[CT_INVALID_NB] = {
#define X(name, label, help) { label, help },
	CT_INVALID_REASONS(X)
#undef X
};

const char *ct_invalid_name(enum ct_invalid why)
{
	return reasons[why].name;
}

const char *ct_invalid_help(enum ct_invalid why)
{
	return reasons[why].help;
}

/* the sum over bytes in one piece, not folded; most packets are short, and this is inlined */
static inline uint64_t sum_of(const uint8_t *b, uint32_t len)
{
	uint64_t sum = 0, w8;
	uint32_t w4 = 0;
	uint16_t w2;

	for (; len >= sizeof(w8); b += sizeof(w8), len -= sizeof(w8)) {
		memcpy(&w8, b, sizeof(w8));
		sum += (w8 & UINT32_MAX) + (w8 >> 32);
	}
	if (len & 4) {
		memcpy(&w4, b, sizeof(w4));
		sum += w4;
		b += sizeof(w4);
	}
	if (len & 2) {
		memcpy(&w2, b, sizeof(w2));
		sum += w2;
		b += sizeof(w2);
	}
	w2 = 0;
	memcpy(&w2, b, len & 1);
	return sum + w2;
}

bool ct_csum_is_right(const struct ct_pkt *c, uint8_t proto, uint32_t len, uint32_t pseudo_len)
{
	const uint8_t *bytes;
	uint64_t sum;

	if (!c->verify)
		return true;
	/* what the device says of fragments is not about the datagram */
	if ((c->m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_GOOD
			&& c->p->frag_max == 0)
		return true;
	bytes = sl_pkt_at(c->m, c->p->l4_off, len);
	sum = likely(bytes != NULL) ? sum_of(bytes, len) : sl_csum_bytes(c->m, c->p->l4_off, len);
	if (likely(c->p->family == SL_AF_INET))
		sum += (uint64_t)c->p->src.v4 + c->p->dst.v4 + rte_cpu_to_be_32(pseudo_len)
				+ rte_cpu_to_be_32(proto);
	else
		sum += sl_csum_pseudo(c->p, proto, pseudo_len);
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

bool ct_proto_check(const struct ct_pkt *c)
{
	switch (c->p->proto) {
	case IPPROTO_TCP:
		return ct_tcp_check(c);
	case IPPROTO_UDP:
		return ct_udp_check(c);
	case IPPROTO_ICMP:
		return ct_icmp_check(c);
	case IPPROTO_ICMPV6:
		return ct_icmp6_check(c);
	case IPPROTO_UDPLITE:
		return ct_udplite_check(c);
	case IPPROTO_SCTP:
		return ct_sctp_check(c);
	case IPPROTO_GRE:
		return ct_gre_check(c);
	default:
		return true;
	}
}

bool ct_proto_new(const struct ct_pkt *c, struct ct_entry *e)
{
	switch (c->p->proto) {
	case IPPROTO_TCP:
		return ct_tcp_new(c, e);
	case IPPROTO_SCTP:
		return ct_sctp_new(c, e);
	default:
		return true;
	}
}

/* protocols that nobody knows: never INVALID, never ASSURED */
static enum ct_verdict generic_packet(const struct ct_pkt *c, struct ct_entry *e)
{
	ct_refresh(c->s, e, c->conf->generic_s);
	return CT_PASS;
}

enum ct_verdict ct_proto_packet(const struct ct_pkt *c, struct ct_entry *e)
{
	switch (c->p->proto) {
	case IPPROTO_TCP:
		return ct_tcp_packet(c, e);
	case IPPROTO_UDP:
		return ct_udp_packet(c, e);
	case IPPROTO_ICMP:
		return ct_icmp_packet(c, e);
	case IPPROTO_ICMPV6:
		return ct_icmp6_packet(c, e);
	case IPPROTO_UDPLITE:
		return ct_udplite_packet(c, e);
	case IPPROTO_SCTP:
		return ct_sctp_packet(c, e);
	case IPPROTO_GRE:
		return ct_gre_packet(c, e);
	default:
		return generic_packet(c, e);
	}
}

bool ct_proto_can_early_drop(const struct ct_entry *e)
{
	switch (e->orig.proto) {
	case IPPROTO_TCP:
		return ct_tcp_can_early_drop(e);
	case IPPROTO_SCTP:
		return ct_sctp_can_early_drop(e);
	default:
		return false;
	}
}

const char *ct_proto_name(uint8_t proto)
{
	switch (proto) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_ICMP:
		return "icmp";
	case IPPROTO_ICMPV6:
		return "icmpv6";
	case IPPROTO_UDPLITE:
		return "udplite";
	case IPPROTO_SCTP:
		return "sctp";
	case IPPROTO_GRE:
		return "gre";
	default:
		return NULL;
	}
}

const char *ct_proto_state(const struct ct_entry *e)
{
	switch (e->orig.proto) {
	case IPPROTO_TCP:
		return ct_tcp_state_name(e);
	case IPPROTO_SCTP:
		return ct_sctp_state_name(e);
	default:
		return NULL;
	}
}

void ct_proto_print(const struct ct_entry *e, FILE *f)
{
	const char *state = ct_proto_state(e);

	if (state != NULL)
		fprintf(f, "%s ", state);
	else if (e->orig.proto == IPPROTO_GRE)
		ct_gre_print(e, f);
}
