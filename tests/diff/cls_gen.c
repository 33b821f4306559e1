/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/diff/cls_gen.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t gen_u32(struct gen_rng *rng)
{
	/* splitmix64: any seed will do */
	uint64_t z = rng->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (uint32_t)(z >> 32);
}

uint32_t gen_below(struct gen_rng *rng, uint32_t n)
{
	return (uint32_t)(((uint64_t)gen_u32(rng) * n) >> 32);
}

uint64_t gen_u64(struct gen_rng *rng)
{
	uint64_t hi = gen_u32(rng);

	return hi << 32 | gen_u32(rng);
}

void gen_start(struct gen_set *set, enum sl_family family, uint32_t n, const char *name)
{
	*set = (struct gen_set){ .family = family, .n = n };
	set->rules = calloc(n + 1, sizeof(*set->rules));
	assert(set->rules != NULL);
	snprintf(set->name, sizeof(set->name), "%s", name);
	for (uint32_t i = 0; i < n; i++)
		set->rules[i] = (struct sl_cls_rule){ SL_CLS_RULE_ANY, .label = i };
}

void gen_free(struct gen_set *set)
{
	free(set->rules);
	set->rules = NULL;
	set->n = 0;
}

struct sl_cls_spec gen_spec(const struct gen_set *set)
{
	return (struct sl_cls_spec){ .family = set->family, .rules = set->rules, .n = set->n };
}

/* ClassBench files */

static FILE *open_classbench(const char *name)
{
	const char *dir = getenv("SLUICE_CLASSBENCH");
	char path[4096];
	FILE *f;

	if (dir != NULL) {
		snprintf(path, sizeof(path), "%s/%s.rules", dir, name);
		return fopen(path, "r");
	}
	snprintf(path, sizeof(path), "%s/../shared/classbench/%s.rules", SOURCE_ROOT, name);
	f = fopen(path, "r");
	if (f != NULL)
		return f;
	/* a work tree that lies one folder deeper */
	snprintf(path, sizeof(path), "%s/../../shared/classbench/%s.rules", SOURCE_ROOT, name);
	return fopen(path, "r");
}

static void parse_prefix(const char *text, struct sl_cls_addr *value, struct sl_cls_addr *mask)
{
	unsigned int a = 0, b = 0, c = 0, d = 0, len = 0;

	if (sscanf(text, "%u.%u.%u.%u/%u", &a, &b, &c, &d, &len) == 5) {
		*mask = sl_cls_mask(SL_AF_INET, len);
		*value = sl_cls_addr4((a << 24 | b << 16 | c << 8 | d) & (uint32_t)mask->lo);
	}
}

static bool parse_line(const char *line, struct sl_cls_rule *r)
{
	unsigned int sport[2], dport[2], proto, mask;
	char src[64], dst[64];

	if (sscanf(line, "@%63s %63s %u : %u %u : %u %x/%x", src, dst, &sport[0], &sport[1],
			    &dport[0], &dport[1], &proto, &mask)
			!= 8)
		return false;
	parse_prefix(src, &r->src, &r->src_mask);
	parse_prefix(dst, &r->dst, &r->dst_mask);
	r->sport_lo = (uint16_t)sport[0];
	r->sport_hi = (uint16_t)sport[1];
	r->dport_lo = (uint16_t)dport[0];
	r->dport_hi = (uint16_t)dport[1];
	r->proto = (uint8_t)proto;
	r->proto_mask = (uint8_t)mask;
	return true;
}

bool gen_classbench(struct gen_set *set, const char *name)
{
	FILE *f = open_classbench(name);
	char line[512];

	if (f == NULL) {
		printf("SKIPPED: no ClassBench set %s (SLUICE_CLASSBENCH=folder says where)\n",
				name);
		return false;
	}
	gen_start(set, SL_AF_INET, 131072, name);
	set->n = 0;
	while (set->n < 131072 && fgets(line, sizeof(line), f) != NULL)
		set->n += parse_line(line, &set->rules[set->n]);
	fclose(f);
	return set->n > 0;
}

/* sets of ClassBench's shapes */

struct shape {
	const char *name;
	/* weights, tenths of a percent, of lengths: any, 1-15, 16-23, 24-31, 32 */
	uint16_t src[5], dst[5];
	/* of ports: any, 1024-65535, one, a range */
	uint16_t sport[4], dport[4];
	/* of protocols: any, TCP, UDP, ICMP, another */
	uint16_t proto[5];
	uint16_t hosts; /* networks that the addresses come from, per 1000 rules */
};

static const struct shape shapes[] = {
	{ "acl", { 20, 5, 60, 415, 500 }, { 10, 5, 85, 300, 600 }, { 1000, 0, 0, 0 },
			{ 130, 10, 780, 80 }, { 130, 800, 60, 9, 1 }, 40 },
	{ "fw", { 250, 60, 90, 300, 300 }, { 190, 40, 100, 220, 450 }, { 600, 90, 300, 10 },
			{ 300, 60, 600, 40 }, { 170, 600, 180, 40, 10 }, 80 },
	{ "ipc", { 70, 20, 160, 350, 400 }, { 70, 20, 160, 350, 400 }, { 650, 40, 250, 60 },
			{ 500, 50, 400, 50 }, { 280, 450, 220, 30, 20 }, 60 },
};

static unsigned int weighted(struct gen_rng *rng, const uint16_t *weight, unsigned int n)
{
	uint32_t x = gen_below(rng, 1000);
	unsigned int i = 0;

	while (i + 1 < n && x >= weight[i])
		x -= weight[i++];
	return i;
}

static void shaped_addr(const uint16_t *weight, const uint32_t *net, uint32_t nets,
		struct gen_rng *rng, struct sl_cls_addr *value, struct sl_cls_addr *mask)
{
	static const uint8_t first[] = { 0, 1, 16, 24, 32 }, width[] = { 1, 15, 8, 8, 1 };
	unsigned int w = weighted(rng, weight, 5);
	/* few networks in front, so that prefixes nest and repeat */
	uint32_t x = gen_below(rng, nets), addr = net[gen_below(rng, x + 1)];

	addr ^= gen_u32(rng) & (gen_one_in(rng, 4) ? 0xffff : 0xff);
	*mask = sl_cls_mask(SL_AF_INET, first[w] + gen_below(rng, width[w]));
	*value = sl_cls_addr4(addr & (uint32_t)mask->lo);
}

static void shaped_port(const uint16_t *weight, struct gen_rng *rng, uint16_t *lo, uint16_t *hi)
{
	static const uint16_t known[] = { 22, 25, 53, 80, 110, 123, 135, 161, 443, 1433, 1521, 1645,
		2049, 3306, 5540, 8080 };

	switch (weighted(rng, weight, 4)) {
	case 0:
		break;
	case 1:
		*lo = 1024;
		break;
	case 2:
		*lo = gen_one_in(rng, 2) ? known[gen_below(rng, 16)]
					 : (uint16_t)gen_below(rng, 200) * 83;
		*hi = *lo;
		break;
	default:
		*lo = (uint16_t)gen_below(rng, 60000);
		*hi = (uint16_t)(*lo + gen_below(rng, 5000));
		break;
	}
}

void gen_shaped(struct gen_set *set, const char *shape, uint32_t n, struct gen_rng *rng)
{
	static const uint8_t protos[] = { 0, 6, 17, 1, 47 };
	const struct shape *s = shapes;
	uint32_t nets, *net;

	while (strcmp(s->name, shape) != 0)
		s++;
	gen_start(set, SL_AF_INET, n, shape);
	nets = n * s->hosts / 1000 + 8;
	net = calloc(nets, sizeof(*net));
	assert(net != NULL);
	for (uint32_t i = 0; i < nets; i++)
		net[i] = i < 4 || gen_one_in(rng, 3)
				? gen_u32(rng)
				: net[gen_below(rng, i)] ^ (gen_u32(rng) & 0x3ffff);
	for (uint32_t i = 0; i < n; i++) {
		struct sl_cls_rule *r = &set->rules[i];
		unsigned int p = weighted(rng, s->proto, 5);

		shaped_addr(s->src, net, nets, rng, &r->src, &r->src_mask);
		shaped_addr(s->dst, net, nets, rng, &r->dst, &r->dst_mask);
		r->proto = protos[p];
		r->proto_mask = p == 0 ? 0 : 0xff;
		if (p > 2)
			continue;
		shaped_port(s->sport, rng, &r->sport_lo, &r->sport_hi);
		shaped_port(s->dport, rng, &r->dport_lo, &r->dport_hi);
	}
	free(net);
}

static void addr_to_ipv6(struct sl_cls_addr *value, struct sl_cls_addr *mask, bool hosts)
{
	unsigned int len = (unsigned int)__builtin_popcountll(mask->lo);

	if (len == 0)
		return;
	*mask = sl_cls_mask(SL_AF_INET6, len + (hosts ? 96 : 32));
	if (hosts)
		*value = (struct sl_cls_addr){ 0x20010db800010002, value->lo };
	else
		*value = (struct sl_cls_addr){ 0x20010db800000000 | value->lo, 0 };
}

void gen_to_ipv6(struct gen_set *set, bool hosts)
{
	char name[sizeof(set->name)];

	for (uint32_t i = 0; i < set->n; i++) {
		addr_to_ipv6(&set->rules[i].src, &set->rules[i].src_mask, hosts);
		addr_to_ipv6(&set->rules[i].dst, &set->rules[i].dst_mask, hosts);
	}
	set->family = SL_AF_INET6;
	memcpy(name, set->name, sizeof(name));
	snprintf(set->name, sizeof(set->name), "%.32s v6%s", name, hosts ? " hosts" : "");
}

void gen_addresses(struct gen_set *set, uint32_t n, struct gen_rng *rng)
{
	gen_start(set, SL_AF_INET, n, "addresses");
	for (uint32_t i = 0; i < n; i++) {
		set->rules[i].src = sl_cls_addr4(gen_u32(rng));
		set->rules[i].src_mask = sl_cls_mask(SL_AF_INET, 32);
	}
}

void gen_mark_verify(struct gen_set *set, unsigned int percent, struct gen_rng *rng)
{
	for (uint32_t i = 0; i < set->n; i++)
		set->rules[i].verify = gen_below(rng, 100) < percent;
}

/* keys */

static uint64_t pick64(struct gen_rng *rng, enum gen_key kind, uint64_t value, uint64_t mask)
{
	uint64_t inside = kind == GEN_INSIDE ? gen_u64(rng) : gen_one_in(rng, 2) ? UINT64_MAX : 0;

	return (value & mask) | (inside & ~mask);
}

static uint16_t pick16(struct gen_rng *rng, enum gen_key kind, uint16_t lo, uint16_t hi)
{
	if (kind == GEN_INSIDE)
		return (uint16_t)(lo + gen_below(rng, hi - lo + 1U));
	return gen_one_in(rng, 2) ? lo : hi;
}

/* a header nowhere near a rule but by chance */
static void random_header(enum sl_family family, struct gen_rng *rng, struct sl_cls_key6 *k)
{
	*k = (struct sl_cls_key6){ .src = { gen_u64(rng), gen_u64(rng) },
		.dst = { gen_u64(rng), gen_u64(rng) } };
	if (family == SL_AF_INET6 && gen_one_in(rng, 2))
		k->src.hi = k->dst.hi = 0x20010db800010002;
	k->sport = (uint16_t)gen_u32(rng);
	k->dport = (uint16_t)gen_u32(rng);
	k->proto = gen_one_in(rng, 2) ? 6 : gen_one_in(rng, 2) ? 17 : (uint8_t)gen_u32(rng);
	k->aux = (uint16_t)gen_below(rng, 4);
}

/* moves one field just out of the rule, where it has an outside */
static void move_out(const struct sl_cls_rule *r, struct gen_rng *rng, struct sl_cls_key6 *k)
{
	bool down = gen_one_in(rng, 2);
	uint64_t d = down ? UINT64_MAX : 1;

	switch (gen_below(rng, 6)) {
	case 0:
		k->src.lo = (down ? r->src.lo : r->src.lo | ~r->src_mask.lo) + d;
		break;
	case 1:
		k->dst.lo = (down ? r->dst.lo : r->dst.lo | ~r->dst_mask.lo) + d;
		break;
	case 2:
		k->sport = (uint16_t)((down ? r->sport_lo : r->sport_hi) + d);
		break;
	case 3:
		k->dport = (uint16_t)((down ? r->dport_lo : r->dport_hi) + d);
		break;
	case 4:
		k->aux = (uint16_t)((down ? r->aux_lo : r->aux_hi) + d);
		break;
	default:
		k->proto = (uint8_t)(k->proto + d);
		break;
	}
}

void gen_key(const struct gen_set *set, enum gen_key kind, struct gen_rng *rng, void *keys,
		unsigned int i)
{
	struct sl_cls_key6 k;

	if (kind == GEN_HEADER || set->n == 0) {
		random_header(set->family, rng, &k);
	} else {
		const struct sl_cls_rule *r = &set->rules[gen_below(rng, set->n)];

		k = (struct sl_cls_key6){
			.src = { pick64(rng, kind, r->src.hi, r->src_mask.hi),
					pick64(rng, kind, r->src.lo, r->src_mask.lo) },
			.dst = { pick64(rng, kind, r->dst.hi, r->dst_mask.hi),
					pick64(rng, kind, r->dst.lo, r->dst_mask.lo) },
			.sport = pick16(rng, kind, r->sport_lo, r->sport_hi),
			.dport = pick16(rng, kind, r->dport_lo, r->dport_hi),
			.proto = (uint8_t)pick64(rng, kind, r->proto, r->proto_mask),
			.aux = pick16(rng, kind, r->aux_lo, r->aux_hi),
		};
		if (kind == GEN_BEYOND)
			move_out(r, rng, &k);
	}
	if (set->family == SL_AF_INET6)
		((struct sl_cls_key6 *)keys)[i] = k;
	else
		((struct sl_cls_key4 *)keys)[i] = (struct sl_cls_key4){ .src = (uint32_t)k.src.lo,
			.dst = (uint32_t)k.dst.lo,
			.sport = k.sport,
			.dport = k.dport,
			.proto = k.proto,
			.aux = k.aux };
}
