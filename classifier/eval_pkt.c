/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/eval_pkt.h"

#include "lib/router.h"

#include <rte_ip.h>

#include <netinet/in.h>

const uint8_t eval_header_bytes[256] = {
	[IPPROTO_ICMP] = 8,
	[IPPROTO_TCP] = 20,
	[IPPROTO_UDP] = 8,
	[IPPROTO_DCCP] = 12,
	[IPPROTO_ESP] = 8,
	[IPPROTO_ICMPV6] = 8,
	[IPPROTO_SCTP] = 12,
	[IPPROTO_UDPLITE] = 8,
};

struct ipt_ctx eval_ctx(const struct ipt_prog *prog, enum ipt_table_id table, enum ipt_hook hook,
		struct sl_worker *w)
{
	return (struct ipt_ctx){
		.w = w,
		.sets = prog->sets,
		.patterns = prog->tables[table].patterns,
		.family = prog->family,
		.table = (uint8_t)table,
		.hook = (uint8_t)hook,
	};
}

void eval_pkt_headless(struct eval_pkt *e, enum ipt_family family)
{
	const struct sl_pkt *p = sl_pkt(e->m);
	const struct rte_ipv4_hdr *ip;

	/* a header that is there, but cut */
	if ((p->flags & (SL_PKT_FRAG_LATER | SL_PKT_L4)) == SL_PKT_L4)
		return;
	e->thoff = p->l3_off;
	/* a later fragment has an offset: IPv6 in bytes, IPv4 in units of eight */
	e->fragoff = p->frag_off;
	if (family == IPT_V6)
		return;
	ip = sl_pkt_at(e->m, p->l3_off, sizeof(*ip));
	e->thoff = p->l3_off + (uint16_t)(ip == NULL ? 0 : rte_ipv4_hdr_len(ip));
	e->fragoff = p->frag_off / 8;
}
