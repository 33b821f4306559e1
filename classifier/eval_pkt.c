/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/eval_pkt.h"

#include "lib/router.h"

#include <rte_ip.h>

#include <netinet/in.h>

/* bytes without which a match on this protocol drops the packet */
static const uint8_t header_bytes[256] = {
	[IPPROTO_ICMP] = 8,
	[IPPROTO_TCP] = 20,
	[IPPROTO_UDP] = 8,
	[IPPROTO_DCCP] = 12,
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
		.family = prog->family,
		.table = (uint8_t)table,
		.hook = (uint8_t)hook,
	};
}

/* the device that a packet came in by; the router's own came in by none */
static uint16_t device_in(const struct sl_pkt *p)
{
	return p->flags & SL_PKT_ORIGIN ? 0 : p->in_port;
}

static uint16_t device_out(const struct sl_pkt *p)
{
	return p->out_port == SL_PORT_NONE ? 0 : p->out_port;
}

void eval_pkt_start(struct eval_pkt *e, const struct ipt_prog *prog, enum ipt_hook hook,
		struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	bool later = (p->flags & SL_PKT_FRAG_LATER) != 0;

	*e = (struct eval_pkt){ .m = m };
	e->in = hook == IPT_OUTPUT ? 0 : device_in(p);
	e->out = hook == IPT_PREROUTING || hook == IPT_INPUT ? 0 : device_out(p);
	if (likely(!later && (p->flags & SL_PKT_L4))) {
		e->thoff = p->l4_off;
		e->odd = m->pkt_len - p->l4_off < header_bytes[p->proto] || m->pkt_len < p->l4_off;
		return;
	}
	e->odd = true;
	if (prog->family == IPT_V6) {
		/* a later fragment has an offset, in bytes, and no header */
		e->fragoff = p->frag_off;
	} else {
		const struct rte_ipv4_hdr *ip = sl_pkt_at(m, p->l3_off, sizeof(*ip));

		e->thoff = p->l3_off + (uint16_t)(ip == NULL ? 0 : rte_ipv4_hdr_len(ip));
		e->fragoff = p->frag_off / 8;
	}
}
