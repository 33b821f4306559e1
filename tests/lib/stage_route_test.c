/* SPDX-License-Identifier: BSD-3-Clause */
/* Which packets the route stage decides by itself, and that the rest reaches the IP layer. */
#include "lib/builtin.h"
#include "lib/ip.h"
#include "tests/lib/net_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* an mbuf with its private area, without data */
struct packet {
	struct rte_mbuf m;
	struct sl_pkt p;
};

struct world {
	struct net_fixture f;
	struct sl_worker *w;
	struct packet *packets;
	struct rte_mbuf *batch[SL_BURST];
	unsigned int n;
};

/* the IP layer: notes what it was given, lets through what the test says */
static unsigned int n_asked;
static const struct sl_nexthop *asked_nh;
static bool answer;

bool sl_ip4_input(struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh)
{
	(void)w;
	(void)m;
	n_asked++;
	asked_nh = nh;
	return answer;
}

bool sl_ip6_input(struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh)
{
	return sl_ip4_input(w, m, nh);
}

static void make_world(struct world *s)
{
	memset(s, 0, sizeof(*s));
	n_asked = 0;
	answer = false;
	fixture_init(&s->f);
	fixture_address(&s->f, WAN, "192.0.2.2/24");
	fixture_address(&s->f, WAN, "2001:db8::2/64");
	fixture_address(&s->f, LAN, "10.0.0.1/24");
	fixture_address(&s->f, LAN, "2001:db8:1::1/64");
	fixture_route(&s->f, "0.0.0.0/0", "192.0.2.1");
	fixture_route(&s->f, "172.16.0.0/12", "192.0.2.1,10.0.0.9");
	fixture_route(&s->f, "198.51.100.0/24", NULL)->type = SL_ROUTE_BLACKHOLE;
	fixture_route(&s->f, "203.0.113.0/24", NULL)->type = SL_ROUTE_THROW;
	fixture_route(&s->f, "::/0", "2001:db8::1");
}

static void start_world(struct world *s)
{
	if (fixture_build(&s->f) != 0)
		fail_msg("%s", s->f.err);
	s->w = aligned_alloc(64, sizeof(*s->w));
	s->packets = aligned_alloc(64, SL_BURST * sizeof(*s->packets));
	assert_non_null(s->w);
	assert_non_null(s->packets);
	memset(s->w, 0, sizeof(*s->w));
	memset(s->packets, 0, SL_BURST * sizeof(*s->packets));
	s->w->r = &s->f.r;
	s->w->net = s->f.net;
}

static void end_world(struct world *s)
{
	fixture_free(&s->f);
	free(s->w);
	free(s->packets);
}

static struct sl_pkt *packet(struct world *s, const char *src, const char *dst, uint16_t port)
{
	struct packet *k = &s->packets[s->n];
	struct sl_pkt *p = sl_pkt(&k->m);

	assert_ptr_equal(p, &k->p);
	s->batch[s->n++] = &k->m;
	memset(k, 0, sizeof(*k));
	p->family = (uint8_t)sl_addr_parse(src, &p->src);
	sl_addr_parse(dst, &p->dst);
	p->in_port = port;
	p->out_port = SL_PORT_NONE;
	return p;
}

static unsigned int process(struct world *s)
{
	unsigned int n = sl_stage_route.process(s->w, NULL, s->batch, s->n);

	s->n = 0;
	return n;
}

static void test_stage_route_when_plain_then_straight(void **state)
{
	struct sl_pkt *a, *b, *c, *d;
	struct sl_addr via = addr_of("192.0.2.1"), via6 = addr_of("2001:db8::1");
	struct world s;

	(void)state;
	make_world(&s);
	start_world(&s);
	a = packet(&s, "10.0.0.5", "8.8.8.8", LAN);
	b = packet(&s, "8.8.8.8", "10.0.0.5", WAN);
	c = packet(&s, "2001:db8:1::5", "2001:4860::1", LAN);
	d = packet(&s, "10.0.0.5", "172.16.1.1", DMZ);
	assert_int_equal(process(&s), 4);
	assert_int_equal(n_asked, 0);
	assert_int_equal(a->out_port, WAN);
	assert_memory_equal(&a->via, &via, sizeof(via));
	assert_int_equal(a->nh->port, WAN);
	assert_int_equal(b->out_port, LAN);
	assert_memory_equal(&b->via, &b->dst, sizeof(via));
	assert_int_equal(c->out_port, WAN);
	assert_memory_equal(&c->via, &via6, sizeof(via6));
	assert_int_equal(d->nh->family, SL_AF_INET);
	assert_in_range(d->out_port, WAN, LAN);
	end_world(&s);
}

static void test_stage_route_when_odd_then_asked(void **state)
{
	static const struct {
		const char *src, *dst;
		uint16_t port;
		int type; /* of the next hop that the IP layer gets; -1: none */
	} odd[] = {
		{ "10.0.0.5", "8.8.8.8", WAN, SL_ROUTE_UNICAST }, /* back where it came from */
		{ "10.0.0.1", "8.8.8.8", LAN, SL_ROUTE_UNICAST }, /* own source */
		{ "192.0.2.255", "8.8.8.8", LAN, SL_ROUTE_UNICAST },
		{ "127.0.0.1", "8.8.8.8", LAN, SL_ROUTE_UNICAST },
		{ "0.0.0.0", "8.8.8.8", LAN, SL_ROUTE_UNICAST },
		{ "0.1.2.3", "8.8.8.8", LAN, SL_ROUTE_UNICAST },
		{ "224.0.0.1", "8.8.8.8", LAN, SL_ROUTE_UNICAST },
		{ "255.255.255.255", "8.8.8.8", LAN, SL_ROUTE_UNICAST },
		{ "10.0.0.5", "192.0.2.2", LAN, SL_ROUTE_LOCAL },
		{ "10.0.0.5", "127.0.0.1", LAN, SL_ROUTE_LOCAL },
		{ "10.0.0.5", "10.0.0.255", WAN, SL_ROUTE_BROADCAST },
		{ "10.0.0.5", "255.255.255.255", LAN, SL_ROUTE_BROADCAST },
		{ "10.0.0.5", "224.0.0.5", LAN, -1 },
		{ "10.0.0.5", "0.0.0.0", LAN, -1 },
		{ "10.0.0.5", "198.51.100.1", LAN, SL_ROUTE_BLACKHOLE },
		{ "10.0.0.5", "203.0.113.1", LAN, -1 },
		{ "fe80::5", "2001:4860::1", LAN, SL_ROUTE_UNICAST },
		{ "::", "2001:4860::1", LAN, SL_ROUTE_UNICAST },
		{ "::1", "2001:4860::1", LAN, SL_ROUTE_UNICAST },
		{ "ff02::1", "2001:4860::1", LAN, SL_ROUTE_UNICAST },
		{ "2001:db8:1::5", "2001:db8::2", LAN, SL_ROUTE_LOCAL },
		{ "2001:db8:1::5", "fe80::ff:fe00:2", LAN, SL_ROUTE_LOCAL },
		{ "2001:db8:1::5", "fe80::ff:fe00:1", LAN, SL_ROUTE_UNICAST },
		{ "2001:db8:1::5", "ff02::1", LAN, -1 },
		{ "2001:db8:1::5", "::", LAN, -1 },
	};
	struct world s;

	(void)state;
	make_world(&s);
	start_world(&s);
	for (unsigned int i = 0; i < RTE_DIM(odd); i++) {
		n_asked = 0;
		packet(&s, odd[i].src, odd[i].dst, odd[i].port);
		answer = i % 2;
		print_message("%s > %s\n", odd[i].src, odd[i].dst);
		assert_int_equal(process(&s), i % 2);
		assert_int_equal(n_asked, 1);
		assert_int_equal(asked_nh == NULL ? -1 : asked_nh->type, odd[i].type);
	}
	end_world(&s);
}

static void test_stage_route_when_flags_then_asked(void **state)
{
	static const uint32_t flags[] = { SL_PKT_LINK_BCAST, SL_PKT_LINK_MCAST, SL_PKT_OPTIONS,
		SL_PKT_OPT_SR };
	struct world s;

	(void)state;
	make_world(&s);
	start_world(&s);
	for (unsigned int i = 0; i < RTE_DIM(flags); i++) {
		packet(&s, "10.0.0.5", "8.8.8.8", LAN)->flags = flags[i];
		packet(&s, "2001:db8:1::5", "2001:4860::1", LAN)->flags = flags[i];
	}
	packet(&s, "10.0.0.5", "8.8.8.8", LAN)->flags = SL_PKT_DF | SL_PKT_FRAG | SL_PKT_L4;
	assert_int_equal(process(&s), 1);
	assert_int_equal(n_asked, 2 * RTE_DIM(flags));
	end_world(&s);
}

static void test_stage_route_when_switches_then_asked(void **state)
{
	static const char *const names[] = { "net.ipv4.conf.lan.forwarding",
		"net.ipv4.ip_forward" };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		struct world s;

		make_world(&s);
		fixture_sysctl(&s.f, names[i], 0);
		start_world(&s);
		packet(&s, "10.0.0.5", "8.8.8.8", LAN);
		process(&s);
		assert_int_equal(n_asked, 1);
		end_world(&s);
	}
}

static void test_stage_route_when_rp_filter_then_by_reverse_route(void **state)
{
	static const struct {
		int rp_filter;
		const char *src;
		uint16_t port;
		bool straight;
	} cases[] = {
		{ 1, "10.0.0.5", LAN, true },
		{ 1, "10.9.0.5", LAN, false }, /* the way back is by wan */
		{ 2, "10.9.0.5", LAN, true }, { 2, "198.51.100.1", LAN, false }, /* blackhole */
		{ 2, "203.0.113.1", LAN, false }, /* none */
		{ 2, "10.0.0.1", LAN, false }, /* own */
		{ 2, "10.9.0.5", DMZ, false }, /* a port without address is strict */
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct world s;

		make_world(&s);
		fixture_route(&s.f, "8.8.0.0/16", cases[i].port == LAN ? "%dmz" : "%lan");
		fixture_sysctl(&s.f, "net.ipv4.conf.all.rp_filter", cases[i].rp_filter);
		start_world(&s);
		packet(&s, cases[i].src, "8.8.8.8", cases[i].port);
		assert_int_equal(process(&s), cases[i].straight);
		assert_int_equal(n_asked, !cases[i].straight);
		end_world(&s);
	}
}

static void test_stage_route_when_mixed_then_survivors_in_order(void **state)
{
	struct rte_mbuf *want[SL_BURST];
	unsigned int n = 0;
	struct world s;

	(void)state;
	make_world(&s);
	start_world(&s);
	for (unsigned int i = 0; i < SL_BURST; i++) {
		static const char *const dst[] = { "8.8.8.8", "192.0.2.2", "2001:4860::1",
			"2001:db8::2", "9.9.9.9" };

		packet(&s, i % 5 == 2 || i % 5 == 3 ? "2001:db8:1::5" : "10.0.0.5", dst[i % 5],
				LAN);
		if (i % 5 != 1 && i % 5 != 3)
			want[n++] = s.batch[i];
	}
	assert_int_equal(process(&s), n);
	assert_memory_equal(s.batch, want, n * sizeof(want[0]));
	end_world(&s);
}

static void test_stage_route_when_policy_then_by_mark(void **state)
{
	struct sl_policy_conf *rule;
	struct sl_pkt *a, *b;
	struct world s;

	(void)state;
	make_world(&s);
	rule = fixture_policy(&s.f, 100, 7);
	rule->fwmark = 0x64;
	rule->fwmask = 0xff;
	fixture_route(&s.f, "8.0.0.0/8", "10.9.0.1%dmz")->table = 7;
	start_world(&s);
	a = packet(&s, "10.0.0.5", "8.8.8.8", LAN);
	b = packet(&s, "10.0.0.5", "8.8.8.8", LAN);
	b->mark = 0x1164;
	packet(&s, "10.0.0.5", "9.8.8.8", LAN)->mark = 0x64;
	assert_int_equal(process(&s), 3);
	assert_int_equal(a->out_port, WAN);
	assert_int_equal(b->out_port, DMZ);
	assert_int_equal(n_asked, 0);
	end_world(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stage_route_when_plain_then_straight),
		cmocka_unit_test(test_stage_route_when_odd_then_asked),
		cmocka_unit_test(test_stage_route_when_flags_then_asked),
		cmocka_unit_test(test_stage_route_when_switches_then_asked),
		cmocka_unit_test(test_stage_route_when_rp_filter_then_by_reverse_route),
		cmocka_unit_test(test_stage_route_when_mixed_then_survivors_in_order),
		cmocka_unit_test(test_stage_route_when_policy_then_by_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
