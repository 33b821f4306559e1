/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HMARK against marks that the kernel's xt_HMARK gave, packet by packet and in a batch, and how evenly
 * it spreads flows. Long comparisons with the kernel itself are in tests/kernel/hmark_diff.c.
 */
#include "lib/hmark.h"
#include "lib/ip.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROOM 256
#define MARK_BEFORE 0x5a5a5a5aU

/* a buffer without a pool: its data lies behind the private area */
struct buffer {
	struct rte_mbuf m;
	struct sl_pkt p;
	uint8_t data[ROOM];
};

static struct buffer buffers[SL_BURST];

static struct rte_mbuf *packet(struct buffer *b, const char *hex)
{
	unsigned int byte, n = 14;
	int used;

	memset(b, 0, sizeof(*b));
	for (; *hex != '\0'; hex += used) {
		if (sscanf(hex, "%2x%n", &byte, &used) != 1)
			break;
		assert_true(n < ROOM);
		b->data[n++] = (uint8_t)byte;
		while (hex[used] == ' ')
			used++;
	}
	b->m.buf_addr = b->data;
	b->m.buf_len = ROOM;
	b->m.nb_segs = 1;
	b->m.data_len = (uint16_t)n;
	b->m.pkt_len = n;
	assert_true(sl_pkt_parse_ip(&b->m, 14));
	b->p.mark = MARK_BEFORE;
	return &b->m;
}

/* as --hmark-tuple or the options of their own; PREFIX of both families */
enum {
	T_SRC = 1 << 0,
	T_DST = 1 << 1,
	T_SPORT = 1 << 2,
	T_DPORT = 1 << 3,
	T_PROTO = 1 << 4,
	T_SPI = 1 << 5,
	T_FIVE = T_SRC | T_DST | T_SPORT | T_DPORT | T_PROTO,
};

static struct sl_hmark options(unsigned int tuple, uint32_t rnd, uint32_t mod, uint32_t offset)
{
	struct sl_hmark h = { .rnd = rnd, .mod = mod, .offset = offset };

	for (unsigned int v6 = 0; v6 < 2; v6++) {
		enum sl_family family = v6 ? SL_AF_INET6 : SL_AF_INET;

		if (tuple & T_SRC)
			h.src_mask[v6] = sl_hmark_prefix(family, v6 ? 128 : 32);
		if (tuple & T_DST)
			h.dst_mask[v6] = sl_hmark_prefix(family, v6 ? 128 : 32);
	}
	h.port_mask = (tuple & T_SPORT ? 0xffff0000U : 0) | (tuple & T_DPORT ? 0xffffU : 0)
			| (tuple & T_SPI ? UINT32_MAX : 0);
	h.proto_mask = tuple & T_PROTO ? UINT16_MAX : 0;
	return h;
}

static uint32_t mark_of(const struct sl_hmark *h, const char *hex)
{
	struct rte_mbuf *m = packet(&buffers[0], hex);
	uint32_t mark = MARK_BEFORE;

	sl_hmark(h, m, &mark);
	sl_hmark_bulk(h, &m, 1);
	assert_int_equal(sl_pkt(m)->mark, mark);
	return mark;
}

#define TCP4 "0400 0050 00000000 00000000 5002 0000 0000 0000"
#define PACKET1 "45000028 00010000 4006 0000 0a000001 c0a80101" TCP4
#define PACKET3 "4500001c 00010000 4011 0000 ac100509 08080808 cf84 0035 0008 0000"
#define PACKET10                                                             \
	"60000000 0014 0640 20010db8000000000000000000000001"                \
	"20010db8000100000000000000000002 9c40 01bb 00000000 00000000 5002 " \
	"0000 0000 0000"

static void test_marks_are_the_kernels(void **state)
{
	const uint32_t whole = UINT32_MAX;
	const struct sl_hmark all = options(T_FIVE, 0, whole, 0);
	struct sl_hmark h;

	(void)state;
	assert_int_equal(mark_of(&all, PACKET1), 0x4f979ec1);
	assert_int_equal(mark_of(&all,
					 "45000028 00010000 4006 0000 c0a80101 0a000001"
					 "0050 0400 00000000 00000000 5012 0000 0000 0000"),
			0x4f979ec1);
	h = options(T_FIVE, 0xfeedcafe, 10, 10000);
	assert_int_equal(mark_of(&h, PACKET3), 10001);
	h = options(T_SRC | T_DST, 0xdeafbeef, whole, 0);
	assert_int_equal(mark_of(&h, PACKET3), 900599836);
	h = (struct sl_hmark){ .port_mask = 0xff0000ff,
		.port_set = 0x00018000,
		.proto_mask = 0xff,
		.rnd = 0x12345678,
		.mod = 65536,
		.offset = 1 };
	h.src_mask[0] = sl_hmark_prefix(SL_AF_INET, 24);
	h.dst_mask[0] = sl_hmark_prefix(SL_AF_INET, 16);
	assert_int_equal(mark_of(&h, PACKET3), 2234);
	/* ICMP has no ports, a fragment neither; GRE is hashed without any, whatever is set */
	h = options(T_FIVE, 0xcafebabe, whole, 0);
	assert_int_equal(
			mark_of(&h,
					"4500001c 00010000 4001 0000 c0000201 c6336407 0800 0000 1234 "
					"0001"),
			0xc0febbec);
	h = options(T_FIVE, 0xdeafbeef, whole, 0);
	assert_int_equal(
			mark_of(&h,
					"4500001c 00012000 4011 0000 ac100509 08080808 cf84 0035 0008 "
					"0000"),
			0x35ae100b);
	h = all;
	h.port_set = 0x00010002;
	assert_int_equal(
			mark_of(&h,
					"4500001c 00010000 402f 0000 0a000001 c0a80101 0000 0800 0000 "
					"0000"),
			0x610e49d5);
	/* three bytes are no ports */
	assert_int_equal(mark_of(&h, "45000017 00010000 4006 0000 0a000001 c0a80101 040000"),
			0x610e49fe);
	h = options(T_SRC | T_DST | T_SPI, 1, whole, 0);
	assert_int_equal(mark_of(&h,
					 "4500001c 00010000 4032 0000 c0000201 c6336407 deadbeef "
					 "00000001"),
			0xed45e23c);
}

static void test_marks_of_ipv6_are_the_kernels(void **state)
{
	struct sl_hmark h = options(T_FIVE, 0x01020304, UINT32_MAX, 0);

	(void)state;
	assert_int_equal(mark_of(&h, PACKET10), 0xbd2c410f);
	/* unreachable, which quotes it */
	assert_int_equal(
			mark_of(&h,
					"60000000 0044 3a40 20010db8000100000000000000000002"
					"20010db8000000000000000000000001 01000000 00000000" PACKET10),
			0xbd2c410f);
	h = (struct sl_hmark){ .port_mask = 0xffff,
		.proto_mask = 0xff,
		.rnd = 0xa5a5a5a5,
		.mod = 1000,
		.offset = 100 };
	h.src_mask[1] = sl_hmark_prefix(SL_AF_INET6, 64);
	h.dst_mask[1] = sl_hmark_prefix(SL_AF_INET6, 48);
	assert_int_equal(mark_of(&h,
					 "60000000 0008 1140 20010db8000a000b000c000d000e000f"
					 "fd000000000000000000000000000053 1388 0035 0008 0000"),
			286);
}

static void test_error_when_it_quotes_a_flow_then_mark_of_that(void **state)
{
	const struct sl_hmark all = options(T_FIVE, 0, UINT32_MAX, 0);

	(void)state;
	assert_int_equal(mark_of(&all,
					 "45000044 00010000 4001 0000 cb007101 0a000001"
					 "0304 0000 0000 0578" PACKET1),
			0x4f979ec1);
	/* nineteen bytes of the quoted header: left alone */
	assert_int_equal(mark_of(&all,
					 "4500002f 00010000 4001 0000 cb007101 0a000001"
					 "0304 0000 0000 0578 45000028 00010000 4006 0000 0a000001 "
					 "c0a801"),
			MARK_BEFORE);
	/* and so is one of IPv6 that quotes IPv4 */
	assert_int_equal(
			mark_of(&all,
					"60000000 0030 3a40 20010db8000100000000000000000002"
					"20010db8000000000000000000000001 01000000 00000000" PACKET1
					"00000000"),
			MARK_BEFORE);
}

/* what a connection says is what its packets say */
static void test_flow_when_as_the_packet_then_same_mark(void **state)
{
	const struct sl_hmark all = options(T_FIVE, 7, UINT32_MAX, 3);
	struct sl_hmark_flow flow = {
		.family = SL_AF_INET,
		.proto = IPPROTO_TCP,
		.sport_be = RTE_BE16(1024),
		.dport_be = RTE_BE16(80),
		.src = sl_addr_v4(RTE_BE32(0x0a000001)),
		.dst = sl_addr_v4(RTE_BE32(0xc0a80101)),
	};

	(void)state;
	assert_int_equal(sl_hmark_of_flow(&all, &flow), mark_of(&all, PACKET1));
	/* 10.0.1.2:40001 > 10.0.2.2:8080 */
	flow.src = sl_addr_v4(RTE_BE32(0x0a000102));
	flow.dst = sl_addr_v4(RTE_BE32(0x0a000202));
	flow.sport_be = RTE_BE16(40001);
	flow.dport_be = RTE_BE16(8080);
	assert_int_equal(sl_hmark_of_flow(
					 &(struct sl_hmark){
							 .src_mask[0] = sl_hmark_prefix(
									 SL_AF_INET, 32),
							 .dst_mask[0] = sl_hmark_prefix(
									 SL_AF_INET, 32),
							 .port_mask = UINT32_MAX,
							 .proto_mask = UINT16_MAX,
							 .rnd = 0x11,
							 .mod = UINT32_MAX,
					 },
					 &flow),
			0x4494efca);
}

/* every length of a batch, of packets of all kinds: as one by one, and nothing else is touched */
static void test_bulk_when_mixed_then_as_single(void **state)
{
	static const char *const kinds[] = { PACKET1, PACKET3, PACKET10,
		"4500001c 00010000 4001 0000 c0000201 c6336407 0800 0000 1234 0001",
		"4500001c 00010001 4011 0000 ac100509 08080808 cf84 0035 0008 0000",
		"4500002f 00010000 4001 0000 cb007101 0a000001"
		"0304 0000 0000 0578 45000028 00010000 4006 0000 0a000001 c0a801" };
	struct sl_hmark h = options(T_FIVE, 0x9e3779b9, 1000, 5);
	struct rte_mbuf *pkts[SL_BURST];
	uint32_t want[SL_BURST];

	(void)state;
	h.src_mask[0] = sl_hmark_prefix(SL_AF_INET, 29);
	h.src_mask[1] = sl_hmark_prefix(SL_AF_INET6, 77);
	h.port_mask = 0xff0ffff0;
	h.port_set = 0x00100001;
	for (unsigned int n = 1; n <= SL_BURST; n++) {
		for (unsigned int i = 0; i < SL_BURST; i++) {
			pkts[i] = packet(&buffers[i], kinds[(i * 7 + n) % RTE_DIM(kinds)]);
			want[i] = MARK_BEFORE;
			if (i < n)
				sl_hmark(&h, pkts[i], &want[i]);
		}
		sl_hmark_bulk(&h, pkts, n);
		for (unsigned int i = 0; i < SL_BURST; i++)
			assert_int_equal(sl_pkt(pkts[i])->mark, want[i]);
	}
}

/* M02: same addresses, other ports or SPI: a mark of its own for the protocols that have such */
static void test_m02_ports_count_for_protocols_that_have_them(void **state)
{
	const struct sl_hmark all = options(T_FIVE, 3, UINT32_MAX, 0);

	(void)state;
	for (unsigned int proto = 0; proto < 256; proto++) {
		bool counts = proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_DCCP
				|| proto == IPPROTO_SCTP || proto == IPPROTO_UDPLITE
				|| proto == IPPROTO_ESP;
		char a[128], b[128], c[128];

		/* words at offsets 0 and 4; the second is the SPI of AH. ICMP is echo in all of them */
		snprintf(a, sizeof(a),
				"45000020 00010000 40%02x 0000 0a000001 c0a80101 08000050 "
				"00000001 0000 0000",
				proto);
		snprintf(b, sizeof(b),
				"45000020 00010000 40%02x 0000 0a000001 c0a80101 08000051 "
				"00000001 0000 0000",
				proto);
		snprintf(c, sizeof(c),
				"45000020 00010000 40%02x 0000 0a000001 c0a80101 08000050 "
				"00000002 0000 0000",
				proto);
		assert_int_equal(mark_of(&all, a) != mark_of(&all, b), counts);
		assert_int_equal(mark_of(&all, a) != mark_of(&all, c), proto == IPPROTO_AH);
	}
}

/*
 * M01: 100,000 flows over a few marks: every mark's share is within 1 % of all flows of an even one, and the
 * squares of what is amiss add up to no more than chance makes of a fair draw 999 times in 1,000.
 */
static void test_m01_many_flows_spread_evenly(void **state)
{
	static const struct {
		uint32_t mod;
		double chi_square;
	} cases[] = { { 2, 10.83 }, { 3, 13.82 }, { 7, 22.46 } };
	const unsigned int flows = 100000;

	(void)state;
	for (unsigned int k = 0; k < RTE_DIM(cases); k++) {
		struct sl_hmark h = options(T_FIVE, 0xfeedcafe, cases[k].mod, 100);
		double even = (double)flows / cases[k].mod, chi_square = 0;
		unsigned int count[7] = { 0 };

		for (unsigned int i = 0; i < flows; i++) {
			const struct sl_hmark_flow flow = {
				.family = SL_AF_INET,
				.proto = IPPROTO_UDP,
				.src = sl_addr_v4(rte_cpu_to_be_32(0x0a000000 + i / 50)),
				.dst = sl_addr_v4(RTE_BE32(0xc0a80101)),
				.sport_be = rte_cpu_to_be_16((uint16_t)(1024 + i * 13 % 50000)),
				.dport_be = RTE_BE16(443),
			};

			count[sl_hmark_of_flow(&h, &flow) - 100]++;
		}
		for (unsigned int i = 0; i < cases[k].mod; i++) {
			double amiss = count[i] - even;

			assert_true(amiss < 0.01 * flows && amiss > -0.01 * flows);
			chi_square += amiss * amiss / even;
		}
		printf("mod %" PRIu32 ": chi square %.2f\n", cases[k].mod, chi_square);
		assert_true(chi_square < cases[k].chi_square);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks_are_the_kernels),
		cmocka_unit_test(test_marks_of_ipv6_are_the_kernels),
		cmocka_unit_test(test_error_when_it_quotes_a_flow_then_mark_of_that),
		cmocka_unit_test(test_flow_when_as_the_packet_then_same_mark),
		cmocka_unit_test(test_bulk_when_mixed_then_as_single),
		cmocka_unit_test(test_m02_ports_count_for_protocols_that_have_them),
		cmocka_unit_test(test_m01_many_flows_spread_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
