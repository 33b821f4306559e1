/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rule as boxes. Each test narrows all boxes that are there; a test that is a list (ports of a
 * multiport, what is left of a range behind a `!`) puts each box times each item. What cannot be
 * said, or would take more than CHAIN_BOXES_MAX boxes, leaves the boxes wider than the rule and
 * marks the rule `verify`. ICMP has its type and code in the lanes of the ports.
 *
 * For packets without a whole transport header (`odd`) the boxes hold what the IP header and the
 * ports of the router say, nothing else.
 */
#include "classifier/chain.h"

#include <netinet/in.h>

enum field {
	SRC,
	DST,
	SPORT,
	DPORT,
	AUX,
};

/* one item of a list */
struct item {
	enum field field;
	uint16_t lo, hi;
	struct sl_cls_addr value, mask;
};

static bool narrow_range(uint16_t *lo, uint16_t *hi, const struct item *it)
{
	*lo = RTE_MAX(*lo, it->lo);
	*hi = RTE_MIN(*hi, it->hi);
	return *lo <= *hi;
}

static bool narrow_addr(struct sl_cls_addr *value, struct sl_cls_addr *mask, const struct item *it)
{
	if ((((value->hi ^ it->value.hi) & mask->hi & it->mask.hi)
			    | ((value->lo ^ it->value.lo) & mask->lo & it->mask.lo))
			!= 0)
		return false;
	value->hi |= it->value.hi & it->mask.hi;
	value->lo |= it->value.lo & it->mask.lo;
	mask->hi |= it->mask.hi;
	mask->lo |= it->mask.lo;
	return true;
}

/* Return: false if nothing is left of the box */
static bool narrow(struct sl_cls_rule *box, const struct item *it)
{
	switch (it->field) {
	case SRC:
		return narrow_addr(&box->src, &box->src_mask, it);
	case DST:
		return narrow_addr(&box->dst, &box->dst_mask, it);
	case SPORT:
		return narrow_range(&box->sport_lo, &box->sport_hi, it);
	case DPORT:
		return narrow_range(&box->dport_lo, &box->dport_hi, it);
	case AUX:
		return narrow_range(&box->aux_lo, &box->aux_hi, it);
	}
	return true;
}

/* every box times every item */
static void narrow_all(struct chain_boxes *b, const struct item *items, unsigned int n_items)
{
	struct chain_boxes old = *b;

	if (b->n * n_items > CHAIN_BOXES_MAX) {
		b->verify = true;
		return;
	}
	b->n = 0;
	for (unsigned int i = 0; i < old.n; i++)
		for (unsigned int k = 0; k < n_items; k++) {
			b->v[b->n] = old.v[i];
			b->n += narrow(&b->v[b->n], &items[k]);
		}
}

static struct sl_cls_addr cls_addr(const struct sl_addr *a, enum ipt_family family)
{
	if (family == IPT_V4)
		return sl_cls_addr4(rte_be_to_cpu_32(a->v4));
	return (struct sl_cls_addr){ rte_be_to_cpu_64(a->q[0]), rte_be_to_cpu_64(a->q[1]) };
}

static void add_address(struct chain_boxes *b, enum field field, enum ipt_family family,
		const struct sl_addr *addr, const struct sl_addr *mask, bool inv)
{
	struct item it = {
		.field = field, .value = cls_addr(addr, family), .mask = cls_addr(mask, family)
	};

	if (inv)
		b->verify = true;
	else
		narrow_all(b, &it, 1);
}

static void add_ifaces(
		struct chain_boxes *b, const struct chain_ifaces *f, const struct chain_rule *rule)
{
	struct item runs[CHAIN_BOXES_MAX];
	unsigned int n = 0, t = 0;

	while (t < f->n_tests && (f->in[t] != rule->in || f->out[t] != rule->out))
		t++;
	if (t == f->n_tests) {
		/* looks at no interface, or there were too many tests before this one */
		if (f->n_tests == CHAIN_IFACE_TESTS)
			b->verify = true;
		return;
	}
	for (unsigned int c = 0; c < f->n_classes; c++) {
		if (!(f->holds[c] >> t & 1))
			continue;
		if (n > 0 && runs[n - 1].hi + 1U == c) {
			runs[n - 1].hi = (uint16_t)c;
		} else if (n == RTE_DIM(runs)) {
			b->verify = true;
			return;
		} else {
			runs[n++] = (struct item){
				.field = AUX, .lo = (uint16_t)c, .hi = (uint16_t)c
			};
		}
	}
	narrow_all(b, runs, n);
}

static void add_range(struct chain_boxes *b, enum field field, struct ipt_range16 range, bool inv)
{
	struct item items[2];
	unsigned int n = 0;

	if (!inv) {
		items[n++] = (struct item){ .field = field, .lo = range.lo, .hi = range.hi };
	} else {
		if (range.lo > 0)
			items[n++] = (struct item){
				.field = field, .lo = 0, .hi = (uint16_t)(range.lo - 1)
			};
		if (range.hi < UINT16_MAX)
			items[n++] = (struct item){
				.field = field, .lo = (uint16_t)(range.hi + 1), .hi = UINT16_MAX
			};
	}
	b->l4 = true;
	narrow_all(b, items, n);
}

static void add_ports(struct chain_boxes *b, const struct ipt_match *m, struct ipt_range16 sport,
		struct ipt_range16 dport)
{
	if (m->set & IPT_PORTS_SPORT)
		add_range(b, SPORT, sport, m->inv & IPT_PORTS_SPORT);
	if (m->set & IPT_PORTS_DPORT)
		add_range(b, DPORT, dport, m->inv & IPT_PORTS_DPORT);
	/* even without a test of ports a cut header is no match */
	b->l4 = true;
}

static void add_tcp(struct chain_boxes *b, const struct ipt_match *m)
{
	const struct ipt_m_tcp *t = m->data;

	add_ports(b, m, t->sport, t->dport);
	if (m->set & (IPT_TCP_FLAGS | IPT_TCP_OPTION))
		b->verify = true;
}

static void add_multiport(struct chain_boxes *b, const struct ipt_match *m)
{
	const struct ipt_m_multiport *mp = m->data;
	struct item items[2 * IPT_MULTIPORT_MAX];
	unsigned int n = 0;

	b->l4 = true;
	if (m->inv != 0) {
		/* not this range, and not that one, and not the next */
		if (m->set & IPT_MULTIPORT_PORTS)
			b->verify = true;
		for (unsigned int i = 0; i < mp->n && !(m->set & IPT_MULTIPORT_PORTS); i++)
			if (mp->ports[i].lo <= mp->ports[i].hi)
				add_range(b, m->set & IPT_MULTIPORT_SPORTS ? SPORT : DPORT,
						mp->ports[i], true);
		return;
	}
	for (unsigned int i = 0; i < mp->n; i++) {
		struct item it = { .lo = mp->ports[i].lo, .hi = mp->ports[i].hi };

		if (m->set & (IPT_MULTIPORT_SPORTS | IPT_MULTIPORT_PORTS)) {
			it.field = SPORT;
			items[n++] = it;
		}
		if (m->set & (IPT_MULTIPORT_DPORTS | IPT_MULTIPORT_PORTS)) {
			it.field = DPORT;
			items[n++] = it;
		}
	}
	narrow_all(b, items, n);
}

static void add_icmp(struct chain_boxes *b, const struct ipt_match *m, bool any_255)
{
	const struct ipt_m_icmp *i = m->data;
	struct item type = { .field = SPORT, .lo = i->type, .hi = i->type };
	struct item code = { .field = DPORT, .lo = i->code_lo, .hi = i->code_hi };

	b->l4 = true;
	if (m->inv != 0) {
		b->verify = true;
	} else if (i->type != 255 || !any_255) {
		narrow_all(b, &type, 1);
		narrow_all(b, &code, 1);
	}
}

/* the prefixes that make up a range of IPv4 addresses; false: more than @max */
static bool range_prefixes(enum field field, uint32_t lo, uint32_t hi, struct item *items,
		unsigned int max, unsigned int *n)
{
	uint64_t at = lo;

	*n = 0;
	while (at <= hi) {
		uint64_t size = at == 0 ? UINT64_C(1) << 32 : at & -at;

		while (at + size - 1 > hi)
			size >>= 1;
		if (*n == max)
			return false;
		items[(*n)++] = (struct item){ .field = field,
			.value = sl_cls_addr4((uint32_t)at),
			.mask = sl_cls_addr4((uint32_t) ~(size - 1)) };
		at += size;
	}
	return true;
}

static void add_addr_range(struct chain_boxes *b, enum field field, enum ipt_family family,
		const struct ipt_addr *lo, const struct ipt_addr *hi, bool inv)
{
	struct item items[CHAIN_BOXES_MAX];
	unsigned int n;

	if (inv || family != IPT_V4
			|| !range_prefixes(field, lo->w[0], hi->w[0], items, RTE_DIM(items), &n))
		b->verify = true;
	else
		narrow_all(b, items, n);
}

static void add_iprange(struct chain_boxes *b, enum ipt_family family, const struct ipt_match *m)
{
	const struct ipt_m_iprange *r = m->data;

	if (m->set & IPT_IPRANGE_SRC)
		add_addr_range(b, SRC, family, &r->src_lo, &r->src_hi, m->inv & IPT_IPRANGE_SRC);
	if (m->set & IPT_IPRANGE_DST)
		add_addr_range(b, DST, family, &r->dst_lo, &r->dst_hi, m->inv & IPT_IPRANGE_DST);
}

static void add_match(struct chain_boxes *b, enum ipt_family family, const struct ipt_match *m)
{
	switch (m->kind) {
	case IPT_M_COMMENT:
		break;
	case IPT_M_TCP:
		add_tcp(b, m);
		break;
	case IPT_M_UDP:
	case IPT_M_UDPLITE:
		/* one layout: struct ipt_m_udplite is struct ipt_m_udp by another name */
		add_ports(b, m, ((const struct ipt_m_udp *)m->data)->sport,
				((const struct ipt_m_udp *)m->data)->dport);
		break;
	case IPT_M_MULTIPORT:
		add_multiport(b, m);
		break;
	case IPT_M_ICMP:
		add_icmp(b, m, true);
		break;
	case IPT_M_ICMP6:
		add_icmp(b, m, false);
		break;
	case IPT_M_IPRANGE:
		add_iprange(b, family, m);
		break;
	default:
		b->verify = true;
		break;
	}
}

static void add_proto(struct chain_boxes *b, const struct chain_rule *rule, bool odd)
{
	if (rule->proto_inv || (odd && rule->walk)) {
		b->verify = true;
		return;
	}
	if (rule->proto == 0)
		return;
	for (unsigned int i = 0; i < b->n; i++) {
		b->v[i].proto = rule->proto;
		b->v[i].proto_mask = UINT8_MAX;
	}
}

void chain_boxes(const struct chain_ifaces *ifaces, enum ipt_family family,
		const struct chain_rule *rule, bool odd, struct chain_boxes *out)
{
	unsigned int n = rule->n_lead;

	*out = (struct chain_boxes){ .n = 1, .v = { { SL_CLS_RULE_ANY } } };
	add_address(out, SRC, family, &rule->src, &rule->src_mask, rule->src_inv);
	add_address(out, DST, family, &rule->dst, &rule->dst_mask, rule->dst_inv);
	add_ifaces(out, ifaces, rule);
	add_proto(out, rule, odd);
	if (odd) {
		out->l4 = rule->walk;
		if (rule->frag != IPT_FRAG_ANY || rule->n_matches > 0)
			out->verify = true;
		return;
	}
	if (rule->frag == IPT_FRAG_LATER)
		out->n = 0;
	out->l4 |= rule->frag != IPT_FRAG_ANY || rule->walk;
	/* the ports of a match that may drop for its options: it does so only where they hold */
	if (n < rule->n_matches && rule->matches[n].match->kind == IPT_M_TCP)
		n++;
	for (unsigned int i = 0; i < n && out->n > 0; i++)
		add_match(out, family, rule->matches[i].match);
}
