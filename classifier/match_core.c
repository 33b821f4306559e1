/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp udp udplite icmp icmp6 multiport iprange mac mark length comment.
 *
 * A header that is not there in full raises hotdrop, and a later fragment matches nothing, except
 * that an offset of exactly eight bytes, which would overwrite TCP flags, drops the packet.
 */
#include "classifier/match_core.h"

#include <rte_ip.h>
#include <rte_tcp.h>

#define TCP_OPTIONS_MAX 40

/* the first @len bytes of the transport header; false with hotdrop if they are not all there */
static bool read_header(struct ipt_ctx *c, void *buf, uint32_t len)
{
	if (sl_pkt_copy(c->m, c->thoff, len, buf))
		return true;
	c->hotdrop = true;
	return false;
}

static bool in_range(struct ipt_range16 r, rte_be16_t value_be, bool inv)
{
	uint16_t value = rte_be_to_cpu_16(value_be);

	return (value >= r.lo && value <= r.hi) != inv;
}

/* kinds 0 and 1 are one byte long, a length of 0 counts as 1; EOL does not end the list */
static bool tcp_option_holds(struct ipt_ctx *c, uint8_t option, uint32_t len, bool inv)
{
	uint8_t opt[TCP_OPTIONS_MAX + 1] = { 0 };

	if (len == 0)
		return inv;
	if (!sl_pkt_copy(c->m, c->thoff + sizeof(struct rte_tcp_hdr), len, opt)) {
		c->hotdrop = true;
		return false;
	}
	for (uint32_t i = 0; i < len;) {
		if (opt[i] == option)
			return !inv;
		i += opt[i] < 2 || opt[i + 1] == 0 ? 1 : opt[i + 1];
	}
	return inv;
}

static bool tcp_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_tcp *t = match->data;
	struct rte_tcp_hdr h;
	uint32_t len;

	if (c->fragoff != 0) {
		c->hotdrop |= c->fragoff == 1;
		return false;
	}
	if (!read_header(c, &h, sizeof(h)))
		return false;
	if (!in_range(t->sport, h.src_port, match->inv & IPT_PORTS_SPORT)
			|| !in_range(t->dport, h.dst_port, match->inv & IPT_PORTS_DPORT))
		return false;
	if (match->set & IPT_TCP_FLAGS
			&& ((h.tcp_flags & t->flags_mask) == t->flags_cmp)
					== !!(match->inv & IPT_TCP_FLAGS))
		return false;
	if (!(match->set & IPT_TCP_OPTION))
		return true;
	len = (h.data_off >> 4) * 4U;
	if (len < sizeof(h)) {
		c->hotdrop = true;
		return false;
	}
	return tcp_option_holds(
			c, t->option, len - (uint32_t)sizeof(h), match->inv & IPT_TCP_OPTION);
}

/* udp and udplite have ports in the same places, and nothing else */
static bool ports_match(struct ipt_ctx *c, const struct ipt_match *match, struct ipt_range16 sport,
		struct ipt_range16 dport)
{
	rte_be16_t h[4];

	if (c->fragoff != 0 || !read_header(c, h, sizeof(h)))
		return false;
	return in_range(sport, h[0], match->inv & IPT_PORTS_SPORT)
			&& in_range(dport, h[1], match->inv & IPT_PORTS_DPORT);
}

static bool udp_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_udp *u = match->data;

	return ports_match(c, match, u->sport, u->dport);
}

static bool udplite_match(
		struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_udplite *u = match->data;

	return ports_match(c, match, u->sport, u->dport);
}

static bool icmp_holds(struct ipt_ctx *c, const struct ipt_match *match, bool any_255)
{
	const struct ipt_m_icmp *i = match->data;
	uint8_t h[8];
	bool same;

	if (c->fragoff != 0 || !read_header(c, h, sizeof(h)))
		return false;
	same = h[0] == i->type && h[1] >= i->code_lo && h[1] <= i->code_hi;
	return (same || (any_255 && i->type == 255)) != !!(match->inv & IPT_ICMP_TYPE);
}

static bool icmp_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	return icmp_holds(c, match, true);
}

static bool icmp6_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	return icmp_holds(c, match, false);
}

static bool multiport_match(
		struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_multiport *mp = match->data;
	rte_be16_t h[2];
	bool listed = false;

	if (c->fragoff != 0 || !read_header(c, h, sizeof(h)))
		return false;
	for (unsigned int i = 0; i < mp->n && !listed; i++) {
		bool src = in_range(mp->ports[i], h[0], false);
		bool dst = in_range(mp->ports[i], h[1], false);

		listed = (src && !(match->set & IPT_MULTIPORT_DPORTS))
				|| (dst && !(match->set & IPT_MULTIPORT_SPORTS));
	}
	return listed != (match->inv != 0);
}

static bool addr_less(const struct sl_addr *a, const struct ipt_addr *b)
{
	for (unsigned int i = 0; i < 4; i++)
		if (rte_be_to_cpu_32(a->w[i]) != b->w[i])
			return rte_be_to_cpu_32(a->w[i]) < b->w[i];
	return false;
}

static bool addr_more(const struct sl_addr *a, const struct ipt_addr *b)
{
	for (unsigned int i = 0; i < 4; i++)
		if (rte_be_to_cpu_32(a->w[i]) != b->w[i])
			return rte_be_to_cpu_32(a->w[i]) > b->w[i];
	return false;
}

static bool iprange_match(
		struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_iprange *r = match->data;
	const struct sl_pkt *p = c->p;

	if (match->set & IPT_IPRANGE_SRC
			&& (addr_less(&p->src, &r->src_lo) || addr_more(&p->src, &r->src_hi))
					!= !!(match->inv & IPT_IPRANGE_SRC))
		return false;
	return !(match->set & IPT_IPRANGE_DST)
			|| (addr_less(&p->dst, &r->dst_lo) || addr_more(&p->dst, &r->dst_hi))
			== !!(match->inv & IPT_IPRANGE_DST);
}

static bool mac_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_mac *mac = match->data;
	const struct rte_ether_hdr *eth = sl_pkt_at(c->m, 0, sizeof(*eth));

	/* the router's own packets came from no device */
	if (c->p->flags & SL_PKT_ORIGIN || eth == NULL)
		return false;
	return (memcmp(eth->src_addr.addr_bytes, mac->addr, sizeof(mac->addr)) == 0)
			!= !!(match->inv & IPT_MAC_SOURCE);
}

static bool mark_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_mark *m = match->data;

	return ((c->p->mark & m->mark.mask) == m->mark.value) != !!(match->inv & IPT_MARK_MARK);
}

static bool length_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_length *l = match->data;
	uint32_t bytes = c->p->l3_len;

	return (bytes >= l->bytes.lo && bytes <= l->bytes.hi) != !!(match->inv & IPT_LENGTH_LENGTH);
}

static bool comment_match(__rte_unused struct ipt_ctx *c,
		__rte_unused const struct ipt_match *match, __rte_unused void *state)
{
	return true;
}

static int mark_run(struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	const struct ipt_t_mark *t = target->data;

	c->p->mark = (c->p->mark & ~t->xmark.mask) ^ t->xmark.value;
	return IPT_CONTINUE;
}

const struct ipt_match_ops ipt_match_comment_ops = { .kind = IPT_M_COMMENT,
	.match = comment_match };
const struct ipt_match_ops ipt_match_icmp_ops = { .kind = IPT_M_ICMP, .match = icmp_match };
const struct ipt_match_ops ipt_match_icmp6_ops = { .kind = IPT_M_ICMP6, .match = icmp6_match };
const struct ipt_match_ops ipt_match_iprange_ops = { .kind = IPT_M_IPRANGE,
	.match = iprange_match };
const struct ipt_match_ops ipt_match_length_ops = { .kind = IPT_M_LENGTH, .match = length_match };
const struct ipt_match_ops ipt_match_mac_ops = { .kind = IPT_M_MAC, .match = mac_match };
const struct ipt_match_ops ipt_match_mark_ops = { .kind = IPT_M_MARK, .match = mark_match };
const struct ipt_match_ops ipt_match_multiport_ops = { .kind = IPT_M_MULTIPORT,
	.match = multiport_match };
const struct ipt_match_ops ipt_match_tcp_ops = { .kind = IPT_M_TCP, .match = tcp_match };
const struct ipt_match_ops ipt_match_udp_ops = { .kind = IPT_M_UDP, .match = udp_match };
const struct ipt_match_ops ipt_match_udplite_ops = { .kind = IPT_M_UDPLITE,
	.match = udplite_match };

const struct ipt_target_ops ipt_target_mark_ops = { .kind = IPT_T_MARK, .run = mark_run };
