/* SPDX-License-Identifier: BSD-3-Clause */
/* SNAT, DNAT, MASQUERADE, REDIRECT and NETMAP: from options and ports to a range. */
#include "conntrack/target_nat.h"

#include "conntrack/nat.h"
#include "lib/ip4.h"
#include "lib/ip6.h"
#include "lib/router.h"
#include "lib/worker.h"

#include <errno.h>
#include <stdlib.h>

static struct sl_addr addr_of(const struct ipt_addr *a)
{
	struct sl_addr addr;

	for (unsigned int i = 0; i < RTE_DIM(addr.w); i++)
		addr.w[i] = rte_cpu_to_be_32(a->w[i]);
	return addr;
}

static int range_create(struct ipt_env *env, const struct ipt_target *target, void **state)
{
	const struct ipt_t_nat *t = target->data;
	struct ct_nat_range *range = calloc(1, sizeof(*range));

	(void)env;
	if (range == NULL)
		return -ENOMEM;
	*range = (struct ct_nat_range){
		.lo = addr_of(&t->lo),
		.hi = addr_of(&t->hi),
		.port_lo = t->port.lo,
		.port_hi = t->port.hi,
		.base = t->base,
	};
	if (t->has_addr)
		range->flags |= CT_NAT_ADDRS;
	if (t->has_port)
		range->flags |= CT_NAT_PORTS;
	if (t->has_base)
		range->flags |= CT_NAT_BASE;
	if (target->set & (IPT_NAT_RANDOM | IPT_NAT_RANDOM_FULLY))
		range->flags |= CT_NAT_RANDOM;
	if (target->set & IPT_NAT_PERSISTENT)
		range->flags |= CT_NAT_PERSISTENT;
	*state = range;
	return 0;
}

/* @range with the one address that is to be had now */
static struct ct_nat_range at_address(const struct ct_nat_range *range, const struct sl_addr *addr)
{
	struct ct_nat_range one = *range;

	one.flags |= CT_NAT_ADDRS;
	one.lo = *addr;
	one.hi = *addr;
	return one;
}

static int set_up(struct ipt_ctx *c, const struct ct_nat_range *range, enum ct_manip manip)
{
	struct ct_shard *s = ct_table_of(c->w->r)->shard[c->w->id];

	return ct_nat_setup(c->w, s, ct_of(c->p), range, manip) ? IPT_ACCEPT : IPT_DROP;
}

static int snat_run(struct ipt_ctx *c, __rte_unused const struct ipt_target *target, void *state)
{
	return set_up(c, state, CT_MANIP_SRC);
}

static int dnat_run(struct ipt_ctx *c, __rte_unused const struct ipt_target *target, void *state)
{
	return set_up(c, state, CT_MANIP_DST);
}

/* the address that the router would send from by this port to the next hop; false: it has none */
static bool own_address(const struct ipt_ctx *c, struct sl_addr *addr)
{
	const struct sl_nexthop by_port = {
		.port = c->p->out_port, .family = c->p->family, .gateway = c->p->via
	};

	if (c->p->family == SL_AF_INET6)
		return sl_net_source(c->w->net, SL_AF_INET6, &by_port, &c->p->dst, addr);
	*addr = sl_addr_v4(ip4_source(c->w, &by_port, c->p->via.v4));
	return addr->v4 != 0;
}

static bool is_unspecified(const struct sl_addr *a)
{
	return (a->q[0] | a->q[1]) == 0;
}

static int masquerade_run(
		struct ipt_ctx *c, __rte_unused const struct ipt_target *target, void *state)
{
	struct ct_entry *e = ct_of(c->p);
	struct ct_nat_range range;
	struct sl_addr addr;

	/* a packet of the router's own that has no address yet */
	if (c->p->family == SL_AF_INET && is_unspecified(&e->orig.src))
		return IPT_ACCEPT;
	if (!own_address(c, &addr))
		return IPT_DROP;
	e->nat_port = c->p->out_port;
	e->status |= CT_MASQUERADED;
	range = at_address(state, &addr);
	return set_up(c, &range, CT_MANIP_SRC);
}

/* the first address of the port that the packet came in by; IPv6: of the destination's scope */
static bool redirect_address(const struct ipt_ctx *c, struct sl_addr *addr)
{
	const struct sl_net_port *port = &c->w->net->ports[c->p->in_port];

	if (c->p->family == SL_AF_INET) {
		if (port->n_addr4 == 0)
			return false;
		*addr = port->addr4[0].addr;
		return true;
	}
	for (unsigned int i = 0; i < port->n_addr6; i++) {
		if (ip6_is_link_local(&port->addr6[i].addr) != ip6_is_link_local(&c->p->dst))
			continue;
		*addr = port->addr6[i].addr;
		return true;
	}
	return false;
}

static int redirect_run(
		struct ipt_ctx *c, __rte_unused const struct ipt_target *target, void *state)
{
	struct ct_nat_range range;
	struct sl_addr addr = { .q = { 0, 0 } };

	if (c->hook == IPT_OUTPUT) {
		if (c->p->family == SL_AF_INET)
			addr.v4 = RTE_BE32(0x7f000001);
		else
			addr.b[15] = 1;
	} else if (!redirect_address(c, &addr)) {
		return IPT_DROP;
	}
	range = at_address(state, &addr);
	return set_up(c, &range, CT_MANIP_DST);
}

static int netmap_run(struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	const struct ipt_t_netmap *t = target->data;
	bool dst = c->hook == IPT_PREROUTING || c->hook == IPT_OUTPUT;
	struct ct_nat_range range = { .flags = CT_NAT_ADDRS, .lo = dst ? c->p->dst : c->p->src };
	struct sl_addr net = addr_of(&t->addr);

	for (unsigned int bit = 0; bit < t->prefix_len; bit++) {
		uint8_t mask = (uint8_t)(0x80 >> bit % 8);

		range.lo.b[bit / 8] =
				(uint8_t)((range.lo.b[bit / 8] & ~mask) | (net.b[bit / 8] & mask));
	}
	range.hi = range.lo;
	return set_up(c, &range, dst ? CT_MANIP_DST : CT_MANIP_SRC);
}

#define RANGE_TARGET(id, name)                                 \
	const struct ipt_target_ops ct_target_##name##_ops = { \
		.kind = IPT_T_##id,                            \
		.needs = IPT_NEEDS_CT,                         \
		.create = range_create,                        \
		.destroy = free,                               \
		.run = name##_run,                             \
	}

RANGE_TARGET(SNAT, snat);
RANGE_TARGET(DNAT, dnat);
RANGE_TARGET(MASQUERADE, masquerade);
RANGE_TARGET(REDIRECT, redirect);

const struct ipt_target_ops ct_target_netmap_ops = {
	.kind = IPT_T_NETMAP, .needs = IPT_NEEDS_CT, .run = netmap_run
};
