/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Behind the route look-up: is the source one that may come in here, are the options well formed,
 * and is the packet for the router itself. What the kernel does in ip_route_input, ip_rcv_options
 * and ip_error, in its order, since the order decides which answer a packet gets that is wrong twice.
 */
#include "lib/ip4.h"
#include "lib/worker.h"

#include <netinet/in.h>
#include <netinet/ip_icmp.h>

/* 224.0.0.1, the only group that a host without listeners belongs to */
#define ALL_HOSTS RTE_BE32(0xe0000001)

static bool refuse(struct sl_worker *w, struct rte_mbuf *m, enum sl_drop_reason reason)
{
	sl_drop(w, m, reason);
	return false;
}

/* first byte 0, 127 or from 224: addresses that some check is about */
static inline bool is_special(rte_be32_t addr_be)
{
	uint8_t first = (uint8_t)(rte_be_to_cpu_32(addr_be) >> 24);

	return first == 0 || first == 127 || first >= 224;
}

static enum sl_drop_reason validate(
		struct sl_worker *w, struct sl_pkt *p, const struct sl_nexthop *nh, bool *onlink)
{
	switch (sl_net_validate_source4(w->net, p, nh, onlink)) {
	case SL_SOURCE_OK:
		return SL_DROP_NB;
	case SL_SOURCE_MARTIAN:
		return SL_DROP_MARTIAN_SRC;
	case SL_SOURCE_RP_FILTER:
		return SL_DROP_RP_FILTER;
	}
	return SL_DROP_MARTIAN_SRC;
}

/* how the packet goes on; found before its options are looked at */
enum way {
	WAY_LOCAL,
	WAY_GROUP, /* to the router, by broadcast or multicast */
	WAY_FORWARD,
	WAY_ERROR, /* no route, or one that says so */
	WAY_OFF, /* would be forwarded, but forwarding is off */
};

/* multicast: only for members, and its sources are checked less */
static enum sl_drop_reason judge_multicast(struct sl_worker *w, struct sl_pkt *p, enum way *way)
{
	const struct sl_sysctl_port *ctl = &w->net->ports[p->in_port].sysctl;
	bool onlink;

	if (p->dst.v4 != ALL_HOSTS)
		return SL_DROP_MULTICAST;
	if (ip4_is_multicast(p->src.v4) || p->src.v4 == IP4_LIMITED_BROADCAST
			|| (ip4_is_loopback(p->src.v4) && !ctl->route_localnet))
		return SL_DROP_MARTIAN_SRC;
	*way = WAY_GROUP;
	/* 224.0.0.1 is link-local, so a host that has no address yet may send to it */
	return p->src.v4 == 0 ? SL_DROP_NB : validate(w, p, NULL, &onlink);
}

static enum sl_drop_reason judge_broadcast(struct sl_worker *w, struct sl_pkt *p, enum way *way)
{
	bool onlink;

	*way = WAY_GROUP;
	return p->src.v4 == 0 ? SL_DROP_NB : validate(w, p, NULL, &onlink);
}

/* addresses that nobody may use, before the route counts */
static enum sl_drop_reason judge_addresses(const struct sl_worker *w, const struct sl_pkt *p)
{
	const struct sl_sysctl_port *ctl = &w->net->ports[p->in_port].sysctl;

	if (p->src.v4 == 0)
		return SL_DROP_MARTIAN_SRC;
	if (p->dst.v4 == 0)
		return SL_DROP_MARTIAN_DST;
	if (ctl->route_localnet)
		return SL_DROP_NB;
	if (ip4_is_loopback(p->dst.v4))
		return SL_DROP_MARTIAN_DST;
	return ip4_is_loopback(p->src.v4) ? SL_DROP_MARTIAN_SRC : SL_DROP_NB;
}

/* a redirect is due if the sender could have asked the next hop itself */
static void note_redirect(
		struct sl_worker *w, struct sl_pkt *p, const struct sl_nexthop *nh, bool onlink)
{
	const struct sl_net_port *port = &w->net->ports[p->in_port];
	bool shared = port->sysctl.shared_media;

	if (nh->port != p->in_port || !onlink || !port->sysctl.send_redirects4)
		return;
	for (unsigned int i = 0; i < port->n_addr4 && !shared; i++)
		shared = sl_prefix_contains(&port->addr4[i], &p->src)
				&& (nh->family != SL_AF_INET
						|| sl_prefix_contains(
								&port->addr4[i], &nh->gateway));
	if (shared)
		p->flags |= SL_PKT_REDIRECT;
}

static enum sl_drop_reason judge(
		struct sl_worker *w, struct sl_pkt *p, const struct sl_nexthop *nh, enum way *way)
{
	const struct sl_sysctl_port *ctl = &w->net->ports[p->in_port].sysctl;
	enum sl_drop_reason reason;
	bool onlink = false;

	if (ip4_is_multicast(p->dst.v4))
		return judge_multicast(w, p, way);
	if (ip4_is_multicast(p->src.v4) || p->src.v4 == IP4_LIMITED_BROADCAST)
		return SL_DROP_MARTIAN_SRC;
	if (p->dst.v4 == IP4_LIMITED_BROADCAST || (p->src.v4 == 0 && p->dst.v4 == 0))
		return judge_broadcast(w, p, way);
	reason = judge_addresses(w, p);
	if (reason != SL_DROP_NB)
		return reason;
	if (nh != NULL && nh->type == SL_ROUTE_BROADCAST && !ctl->bc_forwarding)
		return judge_broadcast(w, p, way);
	if (nh != NULL && nh->type == SL_ROUTE_LOCAL) {
		*way = WAY_LOCAL;
		return validate(w, p, nh, &onlink);
	}
	if (!ctl->forwarding4 && !(nh != NULL && nh->type == SL_ROUTE_BROADCAST)) {
		*way = WAY_OFF;
		return SL_DROP_NB;
	}
	if (nh == NULL || (nh->type != SL_ROUTE_UNICAST && nh->type != SL_ROUTE_BROADCAST)) {
		*way = WAY_ERROR;
		return SL_DROP_NB;
	}
	*way = WAY_FORWARD;
	reason = validate(w, p, nh, &onlink);
	if (reason == SL_DROP_NB)
		note_redirect(w, p, nh, onlink);
	return reason;
}

/* what the kernel answers to a packet that no route leads on, and what that is counted as */
static enum sl_drop_reason unroutable(
		struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh)
{
	enum sl_drop_reason reason = SL_DROP_NO_ROUTE;
	uint8_t code = ICMP_NET_UNREACH;

	if (nh != NULL && nh->type == SL_ROUTE_BLACKHOLE)
		return SL_DROP_ROUTE_BLACKHOLE;
	if (nh != NULL && nh->type == SL_ROUTE_UNREACHABLE) {
		reason = SL_DROP_ROUTE_UNREACHABLE;
		code = ICMP_HOST_UNREACH;
	} else if (nh != NULL && nh->type == SL_ROUTE_PROHIBIT) {
		reason = SL_DROP_ROUTE_PROHIBIT;
		code = ICMP_PKT_FILTERED;
	}
	if (sl_icmp_limit_unroutable(w, &sl_pkt(m)->src))
		sl_icmp4_error(w, m, ICMP_DEST_UNREACH, code, 0);
	return reason;
}

/* address of the next hop on the link */
static inline void set_way(struct sl_pkt *p, const struct sl_nexthop *nh)
{
	p->nh = nh;
	p->out_port = nh->port;
	p->via = nh->family == SL_AF_NONE ? p->dst : nh->gateway;
}

/*
 * A source route that names the router as its destination: the next address in it becomes the
 * destination of the look-up, or of the packet itself where it is the router once more.
 */
static enum sl_drop_reason follow_source_route(struct sl_worker *w, struct rte_mbuf *m,
		struct ip4_opts *o, const struct sl_nexthop **nh, enum way *way)
{
	struct sl_pkt *p = sl_pkt(m);
	struct rte_ipv4_hdr *ip = ip4_hdr(m);
	uint8_t *srr = (uint8_t *)ip + o->srr;
	unsigned int at;

	if (p->flags & (SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST))
		return SL_DROP_IP4_OPTIONS;
	if (*way == WAY_FORWARD) {
		if (!o->strict)
			return SL_DROP_NB;
		icmp4_error_opts(w, m, ICMP_PARAMETERPROB, 0, 16U << 24, o);
		return SL_DROP_IP4_OPTIONS;
	}
	if (*way != WAY_LOCAL)
		return SL_DROP_IP4_OPTIONS;
	for (at = srr[2]; at <= srr[1]; at += 4) {
		struct sl_addr dst = p->dst;
		enum sl_drop_reason reason;

		if (at + 3 > srr[1]) {
			icmp4_error_opts(w, m, ICMP_PARAMETERPROB, 0, (o->srr + 2U) << 24, o);
			return SL_DROP_IP4_OPTIONS;
		}
		memcpy(&p->dst.v4, srr + at - 1, sizeof(p->dst.v4));
		*nh = sl_net_route(w->net,
				&(struct sl_route_key){
						.family = SL_AF_INET,
						.proto = p->proto,
						.in_port = p->in_port,
						.out_port = SL_PORT_NONE,
						.mark = p->mark,
						.dst = p->dst,
						.src = p->src,
						.hash = sl_net_flow_hash(w->net, p),
				});
		reason = judge(w, p, *nh, way);
		if (reason != SL_DROP_NB || (*way != WAY_FORWARD && *way != WAY_LOCAL)) {
			p->dst = dst;
			return reason == SL_DROP_NB ? SL_DROP_IP4_OPTIONS : reason;
		}
		o->changed = true;
		if (*way == WAY_FORWARD) {
			/* the header keeps the router's address until forward enters the hop */
			o->hit = true;
			p->opt_off = (uint16_t)(p->l3_off + o->srr + at - 1);
			set_way(p, *nh);
			p->dst = dst;
			return SL_DROP_NB;
		}
		ip->dst_addr = p->dst.v4;
	}
	return SL_DROP_NB;
}

/* Return: SL_DROP_NB, or why it was dropped */
static enum sl_drop_reason options(struct sl_worker *w, struct rte_mbuf *m,
		const struct sl_nexthop **nh, enum way *way)
{
	struct sl_pkt *p = sl_pkt(m);
	enum sl_drop_reason reason = SL_DROP_NB;
	struct ip4_opts o;
	unsigned int wrong = ip4_options_compile(w, m, &o);

	if (wrong != 0) {
		icmp4_error_opts(w, m, ICMP_PARAMETERPROB, 0, wrong << 24, &o);
		return SL_DROP_IP4_OPTIONS;
	}
	if (o.srr != 0) {
		if (!w->net->ports[p->in_port].sysctl.accept_source_route4)
			return SL_DROP_IP4_OPTIONS;
		reason = follow_source_route(w, m, &o, nh, way);
	}
	p->flags |= (o.rr_addr ? SL_PKT_OPT_RR : 0) | (o.ts_addr || o.ts_time ? SL_PKT_OPT_TS : 0)
			| (o.hit ? SL_PKT_OPT_SR : 0) | (o.changed ? SL_PKT_OPT_CHANGED : 0);
	return reason;
}

/* everything beside the straight path */
static __rte_noinline bool input_slow(
		struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh)
{
	struct sl_pkt *p = sl_pkt(m);
	enum sl_drop_reason reason;
	enum way way = WAY_ERROR;

	reason = judge(w, p, nh, &way);
	if (reason == SL_DROP_NB && p->flags & SL_PKT_OPTIONS)
		reason = options(w, m, &nh, &way);
	if (reason != SL_DROP_NB)
		return refuse(w, m, reason);
	switch (way) {
	case WAY_LOCAL:
	case WAY_GROUP:
		p->nh = nh;
		sl_worker_to_host(w, m);
		return false;
	case WAY_FORWARD:
		if (!(p->flags & SL_PKT_OPT_SR))
			set_way(p, nh);
		return true;
	case WAY_ERROR:
		return refuse(w, m, unroutable(w, m, nh));
	case WAY_OFF:
		break;
	}
	return refuse(w, m, SL_DROP_FORWARDING_OFF);
}

bool sl_ip4_input(struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh)
{
	struct sl_pkt *p = sl_pkt(m);
	const struct sl_sysctl_port *ctl = &w->net->ports[p->in_port].sysctl;
	enum sl_drop_reason reason;
	bool onlink = false;

	if (unlikely(nh == NULL || nh->type != SL_ROUTE_UNICAST || p->flags & SL_PKT_OPTIONS
			    || !ctl->forwarding4 || is_special(p->src.v4) || is_special(p->dst.v4)))
		return input_slow(w, m, nh);
	reason = validate(w, p, nh, &onlink);
	if (unlikely(reason != SL_DROP_NB))
		return refuse(w, m, reason);
	if (unlikely(nh->port == p->in_port))
		note_redirect(w, p, nh, onlink);
	set_way(p, nh);
	return true;
}
