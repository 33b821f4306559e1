/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The route of a packet of the router's own once more, after a rule has changed what it was chosen
 * by: the kernel's ip_route_me_harder and ip6_route_me_harder.
 */
#include "lib/drop.h"
#include "lib/ip6.h"
#include "lib/worker.h"

bool sl_reroute(struct sl_worker *w, struct rte_mbuf *m)
{
	struct sl_pkt *p = sl_pkt(m);
	bool scoped = p->family == SL_AF_INET6
			&& (ip6_is_link_local(&p->dst) || ip6_is_multicast(&p->dst));
	const struct sl_nexthop *nh = sl_net_route(w->net,
			&(struct sl_route_key){
					.family = p->family,
					.proto = p->proto,
					.in_port = SL_PORT_HOST,
					.out_port = scoped ? p->out_port : SL_PORT_NONE,
					.mark = p->mark,
					.dst = p->dst,
					.src = p->src,
					.hash = sl_net_flow_hash(w->net, p),
			});

	if (nh == NULL || (nh->type != SL_ROUTE_UNICAST && nh->type != SL_ROUTE_BROADCAST)
			|| nh->port == SL_PORT_HOST) {
		sl_drop(w, m, SL_DROP_NO_ROUTE);
		return false;
	}
	p->nh = nh;
	p->out_port = nh->port;
	p->via = nh->family == SL_AF_NONE ? p->dst : nh->gateway;
	return true;
}
