/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 headers, extension chains and options; drops and errors are caught at the edge. */
#include "lib/ip6.h"
#include "lib/router.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define L3 RTE_ETHER_HDR_LEN

static struct {
	struct rte_mbuf m;
	struct sl_pkt p;
	uint8_t buf[512];
} fake;
static struct sl_router router = { .ports[SL_PORT_HOST].mtu = 1500 };
static struct sl_worker worker = { .r = &router };
static int dropped; /* reason, -1: none */
static int error; /* type << 16 | code << 8 | pointer, -1: none */

void __wrap_sl_drop(struct sl_worker *w, struct rte_mbuf *m, enum sl_drop_reason reason);
bool __wrap_sl_icmp6_error(
		struct sl_worker *w, struct rte_mbuf *m, uint8_t type, uint8_t code, uint32_t info);

void __wrap_sl_drop(struct sl_worker *w, struct rte_mbuf *m, enum sl_drop_reason reason)
{
	(void)w;
	assert_ptr_equal(m, &fake.m);
	assert_int_equal(dropped, -1);
	dropped = (int)reason;
}

bool __wrap_sl_icmp6_error(
		struct sl_worker *w, struct rte_mbuf *m, uint8_t type, uint8_t code, uint32_t info)
{
	(void)w;
	(void)m;
	error = type << 16 | code << 8 | (int)info;
	return true;
}

/* 2001:db8::1 to 2001:db8:1::1 with @n bytes behind the fixed header, and @padding on the link */
static bool parse(uint8_t next, const void *data, uint16_t n, uint16_t padding)
{
	static const uint8_t addr[] = { 0x20, 0x01, 0x0d, 0xb8 };
	uint8_t *ip = fake.buf + L3;

	memset(&fake, 0, sizeof(fake));
	ip[0] = 0x60;
	ip[5] = (uint8_t)n;
	ip[6] = next;
	ip[7] = 64;
	memcpy(ip + 8, addr, sizeof(addr));
	memcpy(ip + 24, addr, sizeof(addr));
	ip[23] = 1;
	ip[39] = 1;
	memcpy(ip + IP6_HDR_LEN, data, n);
	fake.m.buf_addr = fake.buf;
	fake.m.buf_len = sizeof(fake.buf);
	fake.m.nb_segs = 1;
	fake.m.data_len = (uint16_t)(L3 + IP6_HDR_LEN + n + padding);
	fake.m.pkt_len = fake.m.data_len;
	fake.p.l3_off = L3;
	fake.p.flags = SL_PKT_LINK_MCAST;
	dropped = -1;
	error = -1;
	return sl_parse6(&worker, &fake.m);
}

static void test_parse6_when_udp_then_ports_and_no_padding(void **state)
{
	static const uint8_t udp[8] = { 0x12, 0x34, 0, 53, 0, 8 };

	(void)state;
	assert_true(parse(IPPROTO_UDP, udp, sizeof(udp), 6));
	assert_int_equal(fake.m.pkt_len, L3 + IP6_HDR_LEN + 8);
	assert_int_equal(fake.p.flags, SL_PKT_LINK_MCAST | SL_PKT_L4 | SL_PKT_PORTS);
	assert_int_equal(fake.p.sport_be, RTE_BE16(0x1234));
	assert_int_equal(fake.p.dport_be, RTE_BE16(53));
	assert_int_equal(fake.p.l4_off, L3 + IP6_HDR_LEN);
	assert_int_equal(fake.p.l3_len, IP6_HDR_LEN + 8);
}

static void test_parse6_when_chain_then_upper(void **state)
{
	/* routing, destination options, atomic fragment, TCP */
	static const uint8_t chain[] = { 60, 0, 0, 0, 0, 0, 0, 0, 44, 0, 1, 4, 0, 0, 0, 0, 6, 0, 0,
		0, 1, 2, 3, 4, 0, 1, 0, 2 };

	(void)state;
	assert_true(parse(IPPROTO_ROUTING, chain, sizeof(chain), 0));
	assert_int_equal(fake.p.proto, IPPROTO_TCP);
	assert_int_equal(fake.p.l4_off, L3 + IP6_HDR_LEN + 24);
	assert_int_equal(fake.p.flags & (SL_PKT_FRAG | SL_PKT_FRAG_HDR | SL_PKT_L4 | SL_PKT_PORTS),
			SL_PKT_FRAG_HDR | SL_PKT_L4 | SL_PKT_PORTS);
	/* cut inside of it: the packet passes, its upper protocol is unknown */
	assert_true(parse(IPPROTO_ROUTING, chain, 17, 0));
	assert_int_equal(fake.p.flags & SL_PKT_L4, 0);
}

static void test_parse6_when_later_fragment_then_no_ports(void **state)
{
	static const uint8_t frag[] = { 17, 0, 0, 0x11, 1, 2, 3, 4, 0, 1, 0, 2 };

	(void)state;
	assert_true(parse(IPPROTO_FRAGMENT, frag, sizeof(frag), 0));
	assert_int_equal(fake.p.flags & ~SL_PKT_LINK_MCAST,
			SL_PKT_L4 | SL_PKT_FRAG | SL_PKT_FRAG_LATER | SL_PKT_FRAG_HDR);
	assert_int_equal(fake.p.frag_off, 16);
	assert_int_equal(fake.p.l4_off, 0);
	assert_int_equal(fake.p.proto, IPPROTO_UDP);
}

static void test_parse6_when_options_then_kernels_verdict(void **state)
{
	/* ICMPv6 error as above or -1; pointers count from the IPv6 header */
	static const struct {
		uint8_t hbh[8];
		bool passes;
		int error;
	} cases[] = {
		{ { 59, 0, 1, 4, 0, 0, 0, 0 }, true, -1 },
		{ { 59, 0, 1, 4, 0, 1, 0, 0 }, false, -1 }, /* padding that is not zero */
		{ { 59, 0, 0, 0, 0, 0, 0, 0 }, true, -1 },
		{ { 59, 1, 0, 0, 0, 0, 0, 0 }, false, -1 }, /* header beyond the packet */
		{ { 59, 0, 5, 2, 0, 0, 1, 0 }, true, -1 },
		{ { 59, 0, 5, 1, 0, 1, 1, 0 }, false, -1 }, /* router alert of a wrong length */
		{ { 59, 0, 0x1e, 4, 1, 2, 3, 4 }, true, -1 },
		{ { 59, 0, 0x5e, 4, 1, 2, 3, 4 }, false, -1 },
		{ { 59, 0, 0x9e, 4, 1, 2, 3, 4 }, false, 4 << 16 | 2 << 8 | 42 },
		{ { 59, 0, 0xde, 4, 1, 2, 3, 4 }, false, 4 << 16 | 2 << 8 | 42 },
		{ { 59, 0, 0xc2, 4, 0, 0, 1, 0 }, false, 4 << 16 | 0 << 8 | 44 },
		{ { 59, 0, 0xc2, 4, 0, 1, 0, 0 }, false, 4 << 16 | 0 << 8 | 42 },
		{ { 59, 0, 0x1e, 5, 1, 2, 3, 4 }, false, -1 }, /* option beyond its header */
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		print_message("case %u\n", i);
		assert_int_equal(parse(IPPROTO_HOPOPTS, cases[i].hbh, 8, 0), cases[i].passes);
		assert_int_equal(error, cases[i].error);
		assert_int_equal(dropped, cases[i].passes ? -1 : SL_DROP_IP6_EXTENSION);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse6_when_udp_then_ports_and_no_padding),
		cmocka_unit_test(test_parse6_when_chain_then_upper),
		cmocka_unit_test(test_parse6_when_later_fragment_then_no_ports),
		cmocka_unit_test(test_parse6_when_options_then_kernels_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
