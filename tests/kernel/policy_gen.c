/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy_gen.h"

#include <netinet/in.h>
#include <string.h>

#define TABLES 3
#define TABLE_FIRST 101
#define PRIORITY_FIRST 1000

static const char *const prefixes[2][12] = {
	{ "198.18.0.0/15", "198.18.0.0/16", "198.19.7.0/24", "198.51.100.0/24", "198.51.100.128/25",
			"203.0.113.0/24", "192.0.2.0/24", "10.0.2.2/32", "10.0.0.0/8", "0.0.0.0/0",
			"172.16.0.0/12", "10.0.1.1/32" },
	{ "2001:db8:b::/48", "2001:db8:b::/49", "2001:db8:b:7::/64", "2001:db8:c::/48",
			"2001:db8:c:8000::/49", "2001:db8:1::/48", "2001:db8:a::/48", "fd02::2/128",
			"2001:db8::/32", "::/0", "2001:db8:4::/48", "fd01::1/128" },
};
static const char *const gateways[2][4] = {
	{ "10.0.1.3", "10.0.2.2", "10.0.3.2", "10.0.4.2" },
	{ "fd01::3", "fd02::2", "fd03::2", "fd02::2" },
};
static const char *const ends[] = { "blackhole", "unreachable", "prohibit", "throw" };

const char policy_undo[] = "rule flush\n"
			   "rule add pref 32766 table main\n"
			   "rule add pref 32767 table default\n"
			   "route flush table 101\nroute flush table 102\nroute flush table 103\n";

/* three texts that grow together */
struct out {
	FILE *batch[2], *routes, *policy;
};

static void add_routes(struct gen *g, struct out *o, unsigned int v6, unsigned int table)
{
	unsigned int at = gen_below(g, 12);

	/* a table may be empty in one family */
	for (unsigned int n = gen_below(g, 7); n > 0; n--) {
		const char *to = prefixes[v6][at];

		at = (at + 1) % 12;
		if (gen_chance(g, 25)) {
			const char *type = PICK(g, ends);

			fprintf(o->batch[v6], "route add %s %s table %u\n", type, to, table);
			fprintf(o->routes, "  - {to: \"%s\", type: %s, table: %u}\n", to, type,
					table);
		} else {
			const char *via = PICK(g, gateways[v6]);

			fprintf(o->batch[v6], "route add %s via %s table %u\n", to, via, table);
			fprintf(o->routes, "  - {to: \"%s\", via: \"%s\", table: %u}\n", to, via,
					table);
		}
	}
}

/* one selector or action, in both languages */
static void say(struct out *o, unsigned int v6, const char *key, const char *value)
{
	fprintf(o->batch[v6], " %s %s", key, value);
	fprintf(o->policy, ", %s: \"%s\"", key, value);
}

static void add_ports(struct gen *g, struct out *o, unsigned int v6, const char *key)
{
	unsigned int min = 1 + gen_below(g, 6), max = min + gen_below(g, 3);
	char text[32];

	snprintf(text, sizeof(text), max > min ? "%u-%u" : "%u", min, max);
	say(o, v6, key, text);
}

static void add_selectors(struct gen *g, struct out *o, unsigned int v6)
{
	static const char *const protos[] = { "tcp", "udp", "icmp", "58", "50", "51", "132", "44" };
	static const char *const tos4[] = { "0x4", "0x8", "0x10", "0x1c" };
	static const char *const tos6[] = { "0x4", "0x10", "0x20", "0xb8" };
	static const char *const ports[] = { "pa", "pb", "lo" };
	char text[32];

	if (gen_chance(g, 50)) {
		/* without a mask 0 would be any mark */
		if (gen_chance(g, 50))
			snprintf(text, sizeof(text), "0x%x/0x%x", gen_below(g, 5),
					1 + gen_below(g, 3));
		else
			snprintf(text, sizeof(text), "0x%x", 1 + gen_below(g, 4));
		say(o, v6, "fwmark", text);
	}
	if (gen_chance(g, 15))
		say(o, v6, "from", PICK(g, prefixes[v6]));
	if (gen_chance(g, 15))
		say(o, v6, "to", PICK(g, prefixes[v6]));
	if (gen_chance(g, 10))
		say(o, v6, "iif", PICK(g, ports));
	/* an echo reply of IPv6 asks for the port that the request came by, which sluice leaves open */
	if (gen_chance(g, 5) && !v6)
		say(o, v6, "oif", PICK(g, ports));
	if (gen_chance(g, 15))
		say(o, v6, "tos", v6 ? PICK(g, tos6) : PICK(g, tos4));
	if (gen_chance(g, 20))
		say(o, v6, "ipproto", PICK(g, protos));
	if (gen_chance(g, 12))
		add_ports(g, o, v6, "sport");
	if (gen_chance(g, 12))
		add_ports(g, o, v6, "dport");
}

static void add_rule(
		struct gen *g, struct out *o, unsigned int v6, unsigned int nth, unsigned int n)
{
	static const char *const types[] = { "blackhole", "unreachable", "prohibit", "nop" };
	unsigned int priority = PRIORITY_FIRST + nth;
	char text[32];

	fprintf(o->batch[v6], "rule add");
	fprintf(o->policy, "  - {family: ipv%u, priority: %u", v6 ? 6 : 4, priority);
	if (gen_chance(g, 15)) {
		fprintf(o->batch[v6], " not");
		fprintf(o->policy, ", not: true");
	}
	add_selectors(g, o, v6);
	if (gen_chance(g, 10) && nth + 1 < n) {
		snprintf(text, sizeof(text), "%u",
				gen_chance(g, 20) ? 32766
						  : priority + 1 + gen_below(g, n - nth - 1));
		say(o, v6, "goto", text);
	} else if (gen_chance(g, 15)) {
		const char *type = PICK(g, types);

		fprintf(o->batch[v6], " %s", type);
		fprintf(o->policy, ", type: %s", type);
	} else {
		snprintf(text, sizeof(text), "%u",
				gen_chance(g, 15) ? 254 : TABLE_FIRST + gen_below(g, TABLES));
		say(o, v6, "table", text);
		if (gen_chance(g, 25)) {
			static const char *const lengths[] = { "0", "8", "15", "24", "32", "48" };

			say(o, v6, "suppress_prefixlength", lengths[gen_below(g, v6 ? 6 : 5)]);
		}
	}
	fprintf(o->batch[v6], " pref %u\n", priority);
	fprintf(o->policy, "}\n");
}

static void add_marks(struct gen *g, FILE *f)
{
	fprintf(f, "*mangle\n");
	if (gen_chance(g, 50))
		fprintf(f,
				"-A PREROUTING -j HMARK --hmark-tuple src,dst,sport,dport --hmark-rnd 0x%x "
				"--hmark-mod 4 --hmark-offset 1\n",
				gen_u32(g));
	for (unsigned int i = 1; i < 4; i++)
		fprintf(f,
				"-A PREROUTING -p %s -m multiport --sports %u,%u -j MARK --set-xmark "
				"%u/0x%x\n",
				gen_chance(g, 50) ? "tcp" : "udp", 1 + gen_below(g, 8),
				1 + gen_below(g, 8), i, gen_chance(g, 50) ? 3 : UINT32_MAX);
	fprintf(f, "COMMIT\n");
}

static struct gen start(uint64_t seed, unsigned int salt, struct frames_case *c)
{
	struct gen g = { .c = c, .rng = seed };

	g.rng = ((uint64_t)gen_u32(&g) << 32 | gen_u32(&g)) ^ salt;
	g.rng = (uint64_t)gen_u32(&g) << 32 | gen_u32(&g);
	return g;
}

void policy_make(struct policy_set *set, uint64_t seed)
{
	static struct frames_case none;
	struct gen g = start(seed, 1, &none);
	struct out o = {
		.batch = { fmemopen(set->batch[0], POLICY_TEXT_MAX, "w"),
				fmemopen(set->batch[1], POLICY_TEXT_MAX, "w") },
		.routes = fmemopen(set->routes, POLICY_TEXT_MAX, "w"),
		.policy = fmemopen(set->policy, POLICY_TEXT_MAX, "w"),
	};
	FILE *marks = fmemopen(set->marks, POLICY_TEXT_MAX, "w");
	bool plain = gen_chance(&g, 20);

	for (unsigned int v6 = 0; v6 < 2; v6++) {
		unsigned int n = 1 + gen_below(&g, 10);

		for (unsigned int i = 0; i < TABLES; i++)
			add_routes(&g, &o, v6, TABLE_FIRST + i);
		for (unsigned int i = 0; i < n && !plain; i++)
			add_rule(&g, &o, v6, i, n);
		/* marks alone take a way of their own */
		for (unsigned int i = 0; i < TABLES && plain; i++) {
			fprintf(o.batch[v6], "rule add fwmark %u table %u pref %u\n", i + 1,
					TABLE_FIRST + i, 1000 + i);
			fprintf(o.policy,
					"  - {family: ipv%u, fwmark: %u, table: %u, priority: %u}\n",
					v6 ? 6 : 4, i + 1, TABLE_FIRST + i, 1000 + i);
		}
	}
	add_marks(&g, marks);
	set->rp_filter = gen_below(&g, 3);
	set->src_valid_mark = gen_below(&g, 2);
	fclose(o.batch[0]);
	fclose(o.batch[1]);
	fclose(o.routes);
	fclose(o.policy);
	fclose(marks);
}

static void frame4(struct gen *g)
{
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_ESP,
		IPPROTO_AH, 132, 112 };
	static const uint8_t tos[] = { 0, 0, 0x4, 0x8, 0x10, 0x1c, 0x20, 0x30, 0x11, 0xb8 };
	struct buf l4 = { .n = 0 };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	/* errors of routes are rationed by source, see topo.h */
	ip.src = TOPO_V4_SOURCES + gen_u32(g) % (1U << 22);
	if (gen_chance(g, 20))
		ip.dst = IP4(172, 16, 1 + gen_below(g, 5), gen_below(g, 256));
	else if (gen_chance(g, 10))
		ip.dst = IP4(10, 0, 1 + gen_below(g, 4), 1 + gen_below(g, 2));
	ip.proto = gen_chance(g, 60) ? (uint8_t)(gen_chance(g, 50) ? IPPROTO_TCP : IPPROTO_UDP)
				     : PICK(g, protos);
	ip.tos = PICK(g, tos);
	/* what is for the router would wait for the rest, and then be told of */
	if (ip.dst >> 24 != 10)
		ip.frag = (uint16_t)(gen_chance(g, 8) ? (gen_chance(g, 50) ? IP4_MF : 8) : 0);
	if (ip.proto == IPPROTO_TCP || ip.proto == IPPROTO_UDP)
		put_l4_ports(g, &l4, ip.proto, pseudo_v4(&ip), 1 + gen_below(g, 8), 16);
	else if (ip.proto == IPPROTO_ICMP)
		put_l4_v4(g, &l4, &ip, 16);
	else
		put_random(g, &l4, 24);
	/* a small number where the source port is, without a checksum over it */
	if (ip.proto != IPPROTO_ICMP)
		set16(l4.b, 1 + gen_below(g, 8));
	gen_send_v4(g, PA, &ip, &l4);
}

static void frame6(struct gen *g)
{
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6, IPPROTO_ESP,
		132, 112 };
	static const uint32_t tos[] = { 0, 0, 0x4, 0x10, 0x12, 0x20, 0x30, 0xb8 };
	struct buf l4 = { .n = 0 };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	if (gen_chance(g, 15)) {
		addr6(ip.dst, "2001:db8::1");
		ip.dst[5] = (uint8_t)(1 + gen_below(g, 5));
	} else if (gen_chance(g, 10)) {
		addr6(ip.dst, gen_chance(g, 50) ? "fd02::2" : "fd01::1");
	}
	ip.proto = gen_chance(g, 60) ? (uint8_t)(gen_chance(g, 50) ? IPPROTO_TCP : IPPROTO_UDP)
				     : PICK(g, protos);
	ip.first = ip.proto;
	ip.ext.n = 0;
	if (gen_chance(g, 12)) {
		static const uint8_t headers[] = { 60, IPPROTO_FRAGMENT, IPPROTO_AH };

		ip.first = PICK(g, headers);
		if (ip.dst[0] == 0xfd)
			ip.first = 60; /* fragments for the router would wait for the rest */
		put8(&ip.ext, ip.proto);
		put8(&ip.ext, ip.first == IPPROTO_AH ? 4 : 0);
		if (ip.first == IPPROTO_AH) {
			put_random(g, &ip.ext, 22);
		} else if (ip.first == IPPROTO_FRAGMENT) {
			put16(&ip.ext, gen_chance(g, 50) ? 0 : gen_chance(g, 50) ? 1 : 64);
			put32(&ip.ext, gen_u32(g));
		} else {
			put16(&ip.ext, 0x0104);
			put_zero(&ip.ext, 4);
		}
	}
	ip.flow = PICK(g, tos) << 20;
	if (ip.proto == IPPROTO_TCP || ip.proto == IPPROTO_UDP)
		put_l4_ports(g, &l4, ip.proto, pseudo_v6(&ip), 1 + gen_below(g, 8), 16);
	else if (ip.proto == IPPROTO_ICMPV6)
		put_l4_v6(g, &l4, &ip, 16);
	else
		put_random(g, &l4, 24);
	if (ip.proto != IPPROTO_ICMPV6)
		set16(l4.b, 1 + gen_below(g, 8));
	gen_send_v6(g, PA, &ip, &l4);
}

void policy_frame(uint64_t seed, unsigned int index, struct frames_case *c)
{
	struct gen g = start(seed, 2 + index, c);

	c->index = index;
	c->n = 0;
	if (gen_chance(&g, 50))
		frame4(&g);
	else
		frame6(&g);
}
