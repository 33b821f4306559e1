/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hbh, dst, rt, frag, ipv6header: the extension headers of IPv6. Of a kind that occurs twice the first
 * one counts. A header whose length goes beyond the packet holds nothing; one whose fixed part is cut
 * drops the packet.
 */
#include "classifier/ip6_header.h"
#include "classifier/ipt_match_v6.h"
#include "classifier/match_ext.h"
#include "lib/ip6.h"

/* a header that is there as a whole; false with c->hotdrop if it is cut; @h: its first @min bytes */
static bool whole_header(struct ipt_ctx *c, uint8_t kind, uint32_t min, uint8_t *h, uint32_t *off)
{
	if (!ip6_header_find(c, kind, off) || !ip6_header_read(c, *off, min, h))
		return false;
	if (c->m->pkt_len - *off >= ip6_header_len(h))
		return true;
	c->hotdrop = true;
	return false;
}

/* ---- hbh and dst ---- */

/* the options of the header begin with those of the list, in this order */
static bool options_hold(
		const struct ipt_ctx *c, const struct ipt_m_opts *o, uint32_t off, uint32_t left)
{
	for (unsigned int i = 0; i < o->n; i++) {
		uint8_t h[2] = { 0 };
		uint32_t len = 1;

		if (left < 1 || !sl_pkt_copy(c->m, off, 1, h) || h[0] != o->opts[i].type)
			return false;
		if (h[0] != 0) {
			if (left < 2 || !sl_pkt_copy(c->m, off, 2, h))
				return false;
			if (!o->opts[i].any_len && o->opts[i].len != h[1])
				return false;
			len = h[1] + 2U;
		}
		/* the last one may be longer than the header */
		if (i + 1U == o->n)
			break;
		if (off + len > c->m->pkt_len || left < len)
			return false;
		off += len;
		left -= len;
	}
	return true;
}

static bool opts_match(struct ipt_ctx *c, const struct ipt_match *match, uint8_t kind)
{
	const struct ipt_m_opts *o = match->data;
	uint32_t off, len;
	uint8_t h[2];

	if (!whole_header(c, kind, sizeof(h), h, &off))
		return false;
	len = ip6_header_len(h);
	if (match->set & IPT_OPTS_LEN && (o->len_bytes == len) == !!(match->inv & IPT_OPTS_LEN))
		return false;
	return !(match->set & IPT_OPTS_OPTS) || options_hold(c, o, off + 2, len - 2);
}

static bool hbh_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	return opts_match(c, match, IPPROTO_HOPOPTS);
}

static bool dst_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	return opts_match(c, match, IPPROTO_DSTOPTS);
}

/* ---- rt ---- */

#define RT_FIXED 4U /* next header, length, type, segments left */
#define RT0_FIXED 8U /* and 32 bits that are reserved */

static bool same_addr(const struct sl_addr *a, const struct ipt_addr *b)
{
	for (unsigned int i = 0; i < RTE_DIM(a->w); i++)
		if (rte_be_to_cpu_32(a->w[i]) != b->w[i])
			return false;
	return true;
}

/* all addresses of the header are those of the list; or: they hold them, in this order */
static bool addrs_hold(
		struct ipt_ctx *c, const struct ipt_match *match, uint32_t off, uint32_t n_there)
{
	const struct ipt_m_rt *r = match->data;
	bool strict = !(match->set & IPT_RT_0_NOT_STRICT);
	uint32_t found = 0;

	if (r->n > n_there)
		return false;
	for (uint32_t i = 0; i < n_there && found < r->n; i++) {
		struct sl_addr addr;

		if (!ip6_header_read(c, off + i * (uint32_t)sizeof(addr), sizeof(addr), &addr))
			return false;
		if (same_addr(&addr, &r->addrs[found]))
			found++;
		else if (strict)
			return false;
	}
	return found == r->n && (!strict || found == n_there);
}

static bool rt_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_rt *r = match->data;
	uint8_t h[RT_FIXED];
	uint32_t off, len;
	rte_be32_t reserved;

	if (!whole_header(c, IPPROTO_ROUTING, sizeof(h), h, &off))
		return false;
	len = ip6_header_len(h);
	if (match->set & IPT_RT_SEGSLEFT
			&& (h[3] >= r->segsleft.lo && h[3] <= r->segsleft.hi)
					== !!(match->inv & IPT_RT_SEGSLEFT))
		return false;
	if (match->set & IPT_RT_LEN && (r->len_bytes == len) == !!(match->inv & IPT_RT_LEN))
		return false;
	if (match->set & IPT_RT_TYPE && (r->type == h[2]) == !!(match->inv & IPT_RT_TYPE))
		return false;
	if (match->set & IPT_RT_0_RES
			&& (!ip6_header_read(c, off + RT_FIXED, sizeof(reserved), &reserved)
					|| reserved != 0))
		return false;
	return !(match->set & IPT_RT_0_ADDRS)
			|| addrs_hold(c, match, off + RT0_FIXED,
					(len - RT0_FIXED) / (uint32_t)sizeof(struct sl_addr));
}

/* ---- frag ---- */

static bool frag_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_frag *f = match->data;
	uint8_t h[IP6_FRAG_HDR_LEN];
	uint32_t off, id;

	if (!ip6_header_find(c, IPPROTO_FRAGMENT, &off) || !ip6_header_read(c, off, sizeof(h), h))
		return false;
	memcpy(&id, h + 4, sizeof(id));
	id = rte_be_to_cpu_32(id);
	if (match->set & IPT_FRAG_ID
			&& (id >= f->id.lo && id <= f->id.hi) == !!(match->inv & IPT_FRAG_ID))
		return false;
	if (match->set & IPT_FRAG_RES && (h[1] != 0 || (h[3] & 6) != 0))
		return false;
	if (match->set & IPT_FRAG_FIRST && (h[2] != 0 || (h[3] & 0xf8) != 0))
		return false;
	if (match->set & IPT_FRAG_MORE && !(h[3] & 1))
		return false;
	return !(match->set & IPT_FRAG_LAST) || !(h[3] & 1);
}

/* ---- ipv6header ---- */

static uint8_t header_bit(uint8_t proto)
{
	switch (proto) {
	case IPPROTO_HOPOPTS:
		return IPT_HDR_HOP;
	case IPPROTO_ROUTING:
		return IPT_HDR_ROUTE;
	case IPPROTO_FRAGMENT:
		return IPT_HDR_FRAG;
	case IPPROTO_ESP:
		return IPT_HDR_ESP;
	case IPPROTO_AH:
		return IPT_HDR_AH;
	case IPPROTO_NONE:
		return IPT_HDR_NONE;
	case IPPROTO_DSTOPTS:
		return IPT_HDR_DST;
	default:
		return 0;
	}
}

/* the kinds of headers that are there; the walk goes on behind a fragment header with an offset */
static bool headers_of(struct ipt_ctx *c, uint8_t *headers)
{
	uint32_t off = c->p->l3_off + IP6_HDR_LEN;
	uint8_t next, bit, h[2];

	*headers = 0;
	if (!ip6_header_read(c, c->p->l3_off + offsetof(struct rte_ipv6_hdr, proto), 1, &next))
		return false;
	for (bit = header_bit(next); bit != 0; bit = header_bit(next)) {
		if (bit == IPT_HDR_NONE) {
			*headers |= bit;
			return true;
		}
		if (!sl_pkt_copy(c->m, off, sizeof(h), h))
			return false;
		*headers |= bit;
		if (bit == IPT_HDR_ESP)
			return true;
		next = h[0];
		if (bit == IPT_HDR_FRAG)
			off += IP6_FRAG_HDR_LEN;
		else
			off += bit == IPT_HDR_AH ? (h[1] + 2U) * 4 : ip6_header_len(h);
		if (off > c->m->pkt_len)
			break;
	}
	bit = header_bit(next);
	if (bit != IPT_HDR_NONE && bit != IPT_HDR_ESP)
		*headers |= IPT_HDR_PROTO;
	return true;
}

static bool ipv6header_match(
		struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_ipv6header *m = match->data;
	bool inv = match->inv & IPT_IPV6HEADER_HEADER;
	uint8_t there;

	if (!headers_of(c, &there))
		return false;
	/* soft: all of them are there; inverted: none of them is */
	if (match->set & IPT_IPV6HEADER_SOFT)
		return (there & m->headers) == (inv ? 0 : m->headers);
	return (there == m->headers) != inv;
}

const struct ipt_match_ops ipt_match_dst_ops = { .kind = IPT_M_DST, .match = dst_match };
const struct ipt_match_ops ipt_match_frag_ops = { .kind = IPT_M_FRAG, .match = frag_match };
const struct ipt_match_ops ipt_match_hbh_ops = { .kind = IPT_M_HBH, .match = hbh_match };
const struct ipt_match_ops ipt_match_ipv6header_ops = { .kind = IPT_M_IPV6HEADER,
	.match = ipv6header_match };
const struct ipt_match_ops ipt_match_rt_ops = { .kind = IPT_M_RT, .match = rt_match };
