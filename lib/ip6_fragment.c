/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragmentation of IPv6, which only a source does (RFC 8200 4.5): of the router's own packets, and
 * of what was joined here, which goes on in pieces of the size in which it came.
 *
 * Example: an echo reply of 2544 bytes to an MTU of 1280 gives 40 + 8 + 1232 twice and 40 + 8 + 40.
 */
#include "lib/fragment.h"
#include "lib/ip6.h"
#include "lib/router.h"

#include <rte_jhash.h>

#define L3_OFF RTE_ETHER_HDR_LEN
#define UNIT 8U

/* behind the last header that every node on the way reads, as ip6_find_1stfragopt() */
struct split {
	uint32_t len; /* of the headers that each fragment has, from the fixed one on */
	uint32_t next_at; /* of the byte that names the first header behind them */
};

struct cutter {
	struct rte_mbuf *from;
	struct split at;
	uint8_t next; /* what the fragment header says that follows */
	uint32_t id;
};

static bool find_split(const struct rte_mbuf *m, uint16_t l3_off, struct split *s)
{
	bool routing = false;
	uint8_t proto, ext[2];

	*s = (struct split){ .len = IP6_HDR_LEN, .next_at = offsetof(struct rte_ipv6_hdr, proto) };
	for (;;) {
		if (!sl_pkt_copy(m, l3_off + s->next_at, 1, &proto))
			return false;
		if (proto == IPPROTO_ROUTING)
			routing = true;
		else if (proto != IPPROTO_HOPOPTS && (proto != IPPROTO_DSTOPTS || routing))
			return true;
		if (!sl_pkt_copy(m, l3_off + s->len, sizeof(ext), ext))
			return false;
		s->next_at = s->len;
		s->len += (ext[1] + 1U) * UNIT;
	}
}

static struct rte_mbuf *cut(
		struct sl_worker *w, const struct cutter *c, uint32_t off, uint32_t len, bool last)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w->r->pool);
	uint32_t from = sl_pkt(c->from)->l3_off, header_len = L3_OFF + c->at.len;
	struct rte_ipv6_fragment_ext *frag;
	struct rte_ipv6_hdr *ip;
	uint8_t *frame;

	if (m == NULL)
		return NULL;
	frame = (uint8_t *)(void *)rte_pktmbuf_append(m, (uint16_t)(header_len + IP6_FRAG_HDR_LEN));
	if (frame == NULL || !sl_pkt_copy(c->from, from, c->at.len, frame + L3_OFF)
			|| !fragment_append(w, m, c->from, from + c->at.len + off, len)) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	ip = (void *)(frame + L3_OFF);
	ip->payload_len = rte_cpu_to_be_16(
			(uint16_t)(c->at.len - IP6_HDR_LEN + IP6_FRAG_HDR_LEN + len));
	frame[L3_OFF + c->at.next_at] = IPPROTO_FRAGMENT;
	frag = (void *)(frame + header_len);
	*frag = (struct rte_ipv6_fragment_ext){
		.next_header = c->next,
		.frag_data = rte_cpu_to_be_16((uint16_t)(off | !last)),
		.id = c->id,
	};
	*sl_pkt(m) = *sl_pkt(c->from);
	sl_pkt_parse_ip(m, L3_OFF);
	return m;
}

/*
 * Not to be foreseen, and not 0. It follows from what is sent, when, and a secret, so that it does not
 * depend on which worker sends; datagrams of the same time differ in their first 64 bits.
 */
static uint32_t ident(const struct sl_worker *w, struct rte_mbuf *m, uint32_t l4_off)
{
	uint32_t words[12] = { (uint32_t)w->now_ns, (uint32_t)(w->now_ns >> 32) };
	uint32_t id;

	sl_pkt_copy(m, sl_pkt(m)->l3_off + offsetof(struct rte_ipv6_hdr, src_addr), 32, &words[2]);
	sl_pkt_copy(m, l4_off, RTE_MIN(m->pkt_len - l4_off, 8U), &words[10]);
	id = rte_jhash_32b(words, RTE_DIM(words), w->r->secret);
	return id == 0 ? 1 : id;
}

unsigned int sl_ip6_fragment(struct sl_worker *w, struct rte_mbuf *m, uint16_t mtu,
		struct rte_mbuf **out, unsigned int max)
{
	const struct sl_pkt *p = sl_pkt(m);
	struct cutter c = { .from = m };
	const struct rte_mbuf *part = NULL;
	uint32_t left, room, step, off = 0;
	unsigned int n = 0;

	if (!find_split(m, p->l3_off, &c.at) || mtu < c.at.len + IP6_FRAG_HDR_LEN + UNIT
			|| L3_OFF + c.at.len + IP6_FRAG_HDR_LEN
					> rte_pktmbuf_tailroom(m) + m->data_len)
		goto failed;
	sl_pkt_copy(m, p->l3_off + c.at.next_at, 1, &c.next);
	c.id = ident(w, m, p->l3_off + c.at.len);
	left = m->pkt_len - p->l3_off - c.at.len;
	room = mtu - c.at.len - IP6_FRAG_HDR_LEN;
	step = RTE_ALIGN_FLOOR(room, UNIT);
	if (fragment_parts(m, p->l3_off + c.at.len, room))
		part = m;
	/* ip6_append_data() cuts own packets, and leaves free in the last what alignment left free */
	if (p->in_port == SL_PORT_HOST)
		room = step;
	while (left > 0) {
		uint32_t len = left <= room ? left : step;

		if (part != NULL) {
			len = part->data_len - (part == m ? p->l3_off + c.at.len : 0);
			part = part->next;
		}
		if (n == max)
			goto failed;
		out[n] = cut(w, &c, off, len, len == left);
		if (out[n] == NULL)
			goto failed;
		n++;
		off += len;
		left -= len;
	}
	fragment_account(w, out, n);
	rte_pktmbuf_free(m);
	return n;

failed:
	for (unsigned int i = 0; i < n; i++)
		rte_pktmbuf_free(out[i]);
	sl_drop(w, m, SL_DROP_FRAG_FAILED);
	return 0;
}
