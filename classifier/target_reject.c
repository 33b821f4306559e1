/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * REJECT: the packet is dropped, and its sender told, where the kernel would tell. An ICMP error is
 * not sent for a packet that came damaged; what counts as undamaged is the kernel's own, peculiar
 * view: protocols without a checksum over all of their payload are believed, and all that are not
 * known have to sum to nothing over the payload, as ICMP does.
 */
#include "classifier/match_core.h"
#include "lib/drop.h"
#include "lib/ip.h"

#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#define ICMP6_UNREACH 1

static const uint8_t codes[IPT_REJ_NB] = {
	[IPT_REJ_NET_UNREACH] = ICMP_NET_UNREACH,
	[IPT_REJ_HOST_UNREACH] = ICMP_HOST_UNREACH,
	[IPT_REJ_PROTO_UNREACH] = ICMP_PROT_UNREACH,
	[IPT_REJ_PORT_UNREACH] = ICMP_PORT_UNREACH,
	[IPT_REJ_NET_PROHIBITED] = ICMP_NET_ANO,
	[IPT_REJ_HOST_PROHIBITED] = ICMP_HOST_ANO,
	[IPT_REJ_ADMIN_PROHIBITED] = ICMP_PKT_FILTERED,
	[IPT_REJ6_NO_ROUTE] = 0,
	[IPT_REJ6_ADM_PROHIBITED] = 1,
	[IPT_REJ6_ADDR_UNREACH] = 3,
	[IPT_REJ6_PORT_UNREACH] = 4,
	[IPT_REJ6_POLICY_FAIL] = 5,
	[IPT_REJ6_REJECT_ROUTE] = 6,
};

/* whether the checksum of the transport header says something about the whole packet */
static bool is_covered(struct rte_mbuf *m, uint8_t proto, uint16_t off)
{
	uint16_t word;

	switch (proto) {
	case IPPROTO_UDP: /* 0: none was made */
		return !sl_pkt_copy(m, off + 6, sizeof(word), &word) || word != 0;
	case IPPROTO_GRE:
	case IPPROTO_AH:
	case IPPROTO_ESP:
	case IPPROTO_SCTP:
	case IPPROTO_UDPLITE:
		return false;
	default:
		return true;
	}
}

static bool sums_up(uint32_t sum)
{
	return ((sum & 0xffff) + (sum >> 16)) == 0xffff;
}

static bool is_whole4(const struct ipt_ctx *c)
{
	const struct sl_pkt *p = c->p;
	uint32_t len = c->m->pkt_len - c->thoff, sum;

	if (p->flags & SL_PKT_FRAG_LATER)
		return false;
	if (!is_covered(c->m, p->proto, c->thoff))
		return true;
	sum = sl_csum_bytes(c->m, c->thoff, len);
	if (p->proto == IPPROTO_TCP || p->proto == IPPROTO_UDP)
		sum += sl_csum_pseudo(p, p->proto, len);
	else /* as if the IP header, which sums to nothing, were part of it */
		sum += sl_csum_bytes(c->m, p->l3_off, c->thoff - p->l3_off);
	return sums_up(sum);
}

static bool is_whole6(const struct ipt_ctx *c)
{
	const struct sl_pkt *p = c->p;
	uint32_t len;

	if (!(p->flags & SL_PKT_L4) || p->flags & SL_PKT_FRAG_LATER || p->proto == IPPROTO_NONE
			|| p->l4_off >= c->m->pkt_len)
		return false;
	if (!is_covered(c->m, p->proto, p->l4_off))
		return true;
	len = c->m->pkt_len - p->l4_off;
	return sums_up((uint32_t)sl_csum_bytes(c->m, p->l4_off, len)
			+ sl_csum_pseudo(p, p->proto, len));
}

static int reject_run(struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	const struct ipt_t_reject *r = target->data;

	if (c->family == IPT_V4) {
		if (r->with == IPT_REJ_TCP_RESET)
			sl_tcp4_reset(c->w, c->m);
		else if (is_whole4(c))
			sl_icmp4_error(c->w, c->m, ICMP_DEST_UNREACH, codes[r->with], 0);
	} else {
		if (r->with == IPT_REJ_TCP_RESET)
			sl_tcp6_reset(c->w, c->m);
		else if (is_whole6(c))
			sl_icmp6_error(c->w, c->m, ICMP6_UNREACH, codes[r->with], 0);
	}
	sl_drop(c->w, c->m, SL_DROP_REJECT);
	return IPT_STOLEN;
}

const struct ipt_target_ops ipt_target_reject_ops = { .kind = IPT_T_REJECT, .run = reject_run };
