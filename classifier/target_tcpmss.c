/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCPMSS: lowers the first MSS option, and adds one where there is none and no payload either. A
 * TCP header that is cut, or an MTU that leaves no room, drops the packet.
 */
#include "classifier/match_ext.h"
#include "classifier/tcp_header.h"
#include "lib/ip.h"
#include "lib/net.h"
#include "lib/worker.h"

#include <rte_ip.h>

#define OPT_MSS 2
#define OPT_MSS_LEN 4
#define HEADER_MAX 60U
/* what RFC 879 and RFC 2460 say of a peer that says nothing */
#define MSS_UNSAID4 536
#define MSS_UNSAID6 1220

/* of the way back to the sender; UINT32_MAX: there is none */
static uint32_t reverse_mtu(const struct ipt_ctx *c)
{
	struct sl_route_key key = {
		.family = c->p->family,
		.in_port = SL_PORT_HOST,
		.out_port = SL_PORT_NONE,
		.dst = c->p->src,
	};
	const struct sl_nexthop *nh = sl_net_route(c->w->net, &key);

	if (nh == NULL)
		return UINT32_MAX;
	switch ((enum sl_route_type)nh->type) {
	case SL_ROUTE_UNICAST:
	case SL_ROUTE_LOCAL:
	case SL_ROUTE_BROADCAST:
		return nh->mtu;
	case SL_ROUTE_BLACKHOLE:
	case SL_ROUTE_UNREACHABLE:
	case SL_ROUTE_PROHIBIT:
	case SL_ROUTE_THROW:
	case SL_ROUTE_TYPE_NB:
		break;
	}
	return UINT32_MAX;
}

/* 0: no MTU leaves room for one */
static uint16_t new_mss(const struct ipt_ctx *c, const struct ipt_target *target)
{
	const struct ipt_t_tcpmss *t = target->data;
	uint32_t headers = (c->family == IPT_V4 ? 20U : 40U) + (uint32_t)sizeof(struct rte_tcp_hdr);
	uint32_t mtu;

	if (!(target->set & IPT_TCPMSST_CLAMP))
		return t->mss;
	mtu = RTE_MIN(reverse_mtu(c), c->p->nh == NULL ? UINT32_MAX : (uint32_t)c->p->nh->mtu);
	return mtu <= headers ? 0 : (uint16_t)RTE_MIN(mtu - headers, (uint32_t)UINT16_MAX);
}

/* Return: whether there is an MSS option */
static bool lower(struct rte_tcp_hdr *tcp, uint32_t len, uint16_t mss)
{
	uint8_t *b = (uint8_t *)tcp;
	rte_be16_t mss_be = rte_cpu_to_be_16(mss), was;

	for (uint32_t i = sizeof(*tcp); i + OPT_MSS_LEN <= len; i += ipt_tcp_option_len(b, i)) {
		if (b[i] != OPT_MSS || b[i + 1] != OPT_MSS_LEN)
			continue;
		memcpy(&was, b + i + 2, sizeof(was));
		if (rte_be_to_cpu_16(was) > mss) {
			memcpy(b + i + 2, &mss_be, sizeof(mss_be));
			tcp->cksum = sl_csum_update16(tcp->cksum, was, mss_be);
		}
		return true;
	}
	return false;
}

/* the IP header says @more bytes more */
static void grow_ip(struct rte_mbuf *m, uint16_t more)
{
	struct sl_pkt *p = sl_pkt(m);
	uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, p->l3_off);
	rte_be16_t was, now;

	p->l3_len += more;
	if (p->family == SL_AF_INET) {
		struct rte_ipv4_hdr *h = (struct rte_ipv4_hdr *)(void *)ip;

		was = h->total_length;
		now = rte_cpu_to_be_16((uint16_t)(rte_be_to_cpu_16(was) + more));
		h->total_length = now;
		h->hdr_checksum = sl_csum_update16(h->hdr_checksum, was, now);
	} else {
		struct rte_ipv6_hdr *h = (struct rte_ipv6_hdr *)(void *)ip;

		was = h->payload_len;
		h->payload_len = rte_cpu_to_be_16((uint16_t)(rte_be_to_cpu_16(was) + more));
	}
}

/* an option of its own right behind the fixed header: everything in front of it moves by 4 bytes */
static bool insert(struct ipt_ctx *c, uint32_t len, uint16_t mss)
{
	uint16_t most = c->family == IPT_V4 ? MSS_UNSAID4 : MSS_UNSAID6;
	uint8_t opt[OPT_MSS_LEN] = { OPT_MSS, OPT_MSS_LEN };
	struct rte_tcp_hdr *tcp;
	rte_be16_t was, now;
	rte_be32_t word;
	uint8_t *frame = (uint8_t *)(void *)rte_pktmbuf_prepend(c->m, OPT_MSS_LEN);

	if (frame == NULL)
		return false;
	memmove(frame, frame + OPT_MSS_LEN, c->thoff + sizeof(*tcp));
	mss = RTE_MIN(mss, most);
	opt[2] = (uint8_t)(mss >> 8);
	opt[3] = (uint8_t)mss;
	memcpy(frame + c->thoff + sizeof(*tcp), opt, sizeof(opt));
	memcpy(&word, opt, sizeof(word));
	tcp = (struct rte_tcp_hdr *)(void *)(frame + c->thoff);
	tcp->cksum = sl_csum_update16(tcp->cksum, rte_cpu_to_be_16((uint16_t)len),
			rte_cpu_to_be_16((uint16_t)(len + OPT_MSS_LEN)));
	tcp->cksum = sl_csum_update32(tcp->cksum, 0, word);
	memcpy(&was, &tcp->data_off, sizeof(was));
	tcp->data_off = (uint8_t)(tcp->data_off + (OPT_MSS_LEN / 4 << 4));
	memcpy(&now, &tcp->data_off, sizeof(now));
	tcp->cksum = sl_csum_update16(tcp->cksum, was, now);
	grow_ip(c->m, OPT_MSS_LEN);
	return true;
}

static int tcpmss_run(struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	struct rte_tcp_hdr *tcp;
	uint32_t len;
	uint16_t mss;

	if (c->fragoff != 0)
		return IPT_CONTINUE;
	tcp = ipt_tcp_header(c, &len);
	if (tcp == NULL)
		return IPT_DROP;
	mss = new_mss(c, target);
	if (mss == 0 && target->set & IPT_TCPMSST_CLAMP)
		return IPT_DROP;
	if (lower(tcp, len, mss) || c->m->pkt_len - c->thoff > len || len >= HEADER_MAX)
		return IPT_CONTINUE;
	return insert(c, len, mss) ? IPT_CONTINUE : IPT_DROP;
}

const struct ipt_target_ops ipt_target_tcpmss_ops = { .kind = IPT_T_TCPMSS, .run = tcpmss_run };
