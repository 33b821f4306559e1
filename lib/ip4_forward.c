/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens to a packet between the route and the FORWARD chains: TTL, MTU, redirect, options, in
 * the kernel's order. An error quotes the packet as it stands at that moment, so time exceeded and
 * fragmentation needed carry the TTL that came in, a redirect the one that goes out.
 */
#include "lib/ip4.h"
#include "lib/worker.h"

#include <netinet/ip_icmp.h>

/* priority by the two upper bits of the TOS field: best effort, bulk, interactive, interactive bulk */
#define PRIORITIES 0x4620U

/* TTL down by one, the checksum follows as in RFC 1141 */
static inline void decrease_ttl(struct rte_ipv4_hdr *ip)
{
	uint32_t csum = ip->hdr_checksum + (uint32_t)RTE_BE16(0x0100);

	ip->hdr_checksum = (uint16_t)(csum + (csum >= 0xffff));
	ip->time_to_live--;
}

static inline void set_priority(const struct sl_worker *w, struct sl_pkt *p, uint8_t tos)
{
	if (likely(w->net->sysctl.ip4_fwd_update_priority))
		p->priority = PRIORITIES >> ((tos & 0x18) >> 1) & 0xf;
}

static bool refuse(struct sl_worker *w, struct rte_mbuf *m, enum sl_drop_reason reason)
{
	sl_drop(w, m, reason);
	return false;
}

/* larger than the way out, and not to be cut */
static bool exceeds(const struct sl_pkt *p, uint16_t mtu)
{
	return p->l3_len > mtu && p->flags & SL_PKT_DF && (p->frag_max == 0 || p->frag_max > mtu);
}

static void redirect(struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);

	if (sl_icmp_limit_redirect(w, SL_AF_INET, &p->src))
		sl_icmp4_error(w, m, ICMP_REDIRECT, ICMP_REDIR_HOST,
				rte_be_to_cpu_32(p->nh->family == SL_AF_INET ? p->via.v4
									     : p->dst.v4));
}

static __rte_noinline bool forward_slow(struct sl_worker *w, struct rte_mbuf *m)
{
	struct sl_pkt *p = sl_pkt(m);
	struct rte_ipv4_hdr *ip = ip4_hdr(m);
	bool source_routed = false;

	if (ip == NULL)
		return refuse(w, m, SL_DROP_IP4_HEADER);
	if (p->flags & (SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST))
		return refuse(w, m, SL_DROP_LINK_GROUP);
	if (ip->time_to_live <= 1) {
		sl_icmp4_error(w, m, ICMP_TIME_EXCEEDED, ICMP_EXC_TTL, 0);
		return refuse(w, m, SL_DROP_TTL);
	}
	if (p->flags & SL_PKT_OPTIONS) {
		struct ip4_opts o;

		ip4_options_recall(m, &o);
		source_routed = o.srr != 0;
		if (o.strict && p->nh->family != SL_AF_NONE) {
			sl_icmp4_error(w, m, ICMP_DEST_UNREACH, ICMP_SR_FAILED, 0);
			return refuse(w, m, SL_DROP_IP4_OPTIONS);
		}
	}
	if (exceeds(p, p->nh->mtu)) {
		sl_icmp4_error(w, m, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, p->nh->mtu);
		return refuse(w, m, SL_DROP_TOO_BIG);
	}
	decrease_ttl(ip);
	if (p->flags & SL_PKT_REDIRECT && !source_routed)
		redirect(w, m);
	set_priority(w, p, ip->type_of_service);
	if (p->flags & SL_PKT_OPTIONS)
		ip4_options_forward(w, m);
	return true;
}

static __rte_always_inline bool forward_one(struct sl_worker *w, struct rte_mbuf *m)
{
	struct sl_pkt *p = sl_pkt(m);
	struct rte_ipv4_hdr *ip = ip4_hdr(m);

	if (unlikely(ip == NULL || ip->time_to_live <= 1 || exceeds(p, p->nh->mtu)
			    || p->flags
					    & (SL_PKT_OPTIONS | SL_PKT_REDIRECT | SL_PKT_LINK_BCAST
							    | SL_PKT_LINK_MCAST)))
		return forward_slow(w, m);
	decrease_ttl(ip);
	set_priority(w, p, ip->type_of_service);
	return true;
}

bool sl_ip4_forward(struct sl_worker *w, struct rte_mbuf *m)
{
	return forward_one(w, m);
}

unsigned int sl_forward_batch(struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n)
{
	unsigned int survivors = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		bool on = likely(sl_pkt(m)->family == SL_AF_INET) ? forward_one(w, m)
								  : sl_ip6_forward(w, m);

		pkts[survivors] = m;
		survivors += on;
	}
	return survivors;
}
