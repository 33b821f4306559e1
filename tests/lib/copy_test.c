/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies to another gateway: what is in them, where they go, and that the balance holds. */
#include "lib/ip.h"
#include "tests/lib/router_fixture.h"

#include <rte_ip.h>

#include <netinet/ip_icmp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* a packet that @from got, copied; Return: frames that left */
static unsigned int copy(const struct rf_ip *ip, const char *gateway, uint16_t port, bool hop,
		uint32_t flags)
{
	static uint8_t frame[RF_FRAME_MAX];
	struct sl_worker *w = rf.r->workers[0];
	struct sl_copy c = { .port = port, .hop = hop };
	struct rte_mbuf *m = rf_mbuf(frame, rf_build(ip, frame), 0);

	assert_int_not_equal(sl_addr_parse(gateway, &c.gateway), SL_AF_NONE);
	memset(sl_pkt(m), 0, sizeof(struct sl_pkt));
	assert_true(sl_pkt_parse_ip(m, RTE_ETHER_HDR_LEN));
	sl_pkt(m)->in_port = ip->port;
	sl_pkt(m)->out_port = SL_PORT_NONE;
	sl_pkt(m)->flags |= flags;
	rf_clear();
	sl_worker_begin(w);
	sl_copy_send(w, m, &c);
	sl_pipeline_flush(w);
	/* the packet itself is as it was */
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), frame, RTE_MIN(m->pkt_len, 60U));
	rte_pktmbuf_free(m);
	return rf.n_out;
}

static const struct rf_ip from_wan = {
	.port = RF_WAN,
	.src = "192.0.2.2",
	.dst = "198.51.100.9",
	.proto = IPPROTO_UDP,
	.ttl = 9,
	.id = 7,
	.payload = "\0\1\0\2\0\x0b\0\0abc",
	.len = 11,
};

static void test_copy_when_sent_goes_to_the_gateway_with_df(void **state)
{
	const struct rte_ipv4_hdr *ip;

	(void)state;
	for (int hop = 0; hop < 2; hop++) {
		assert_int_equal(copy(&from_wan, "198.51.100.2", SL_PORT_NONE, hop != 0, 0), 1);
		assert_int_equal(rf.out[0].port, RF_LAN);
		assert_int_equal(rf.out[0].len, 14 + 20 + 11);
		/* to the gateway, whatever is in the header */
		assert_memory_equal(rf.out[0].data, ((const uint8_t[]){ 2, 0, 0, 0, 2, 2 }), 6);
		ip = (const void *)(rf.out[0].data + 14);
		assert_int_equal(ip->time_to_live, 9 - hop);
		assert_int_equal(ip->fragment_offset, RTE_BE16(RTE_IPV4_HDR_DF_FLAG));
		assert_int_equal(ip->packet_id, RTE_BE16(7));
		assert_int_equal(rte_raw_cksum(ip, sizeof(*ip)), 0xffff);
		assert_memory_equal(ip + 1, from_wan.payload, 11);
	}
	assert_true(rf_is_whole());
}

static void test_copy_when_port_is_given_leaves_by_it(void **state)
{
	(void)state;
	assert_int_equal(copy(&from_wan, "203.0.113.2", RF_TAG, false, 0), 1);
	assert_int_equal(rf.out[0].port, RF_TAG);
	assert_true(rf_is_whole());
}

static void test_copy_when_there_is_no_way_is_not_made(void **state)
{
	(void)state;
	/* of the router's own, and beyond a port that does not lead there */
	assert_int_equal(copy(&from_wan, "198.51.100.1", SL_PORT_NONE, false, 0), 0);
	/* of a copy */
	assert_int_equal(copy(&from_wan, "198.51.100.2", SL_PORT_NONE, false, SL_PKT_COPY), 0);
	assert_true(rf_is_whole());
}

static void test_copy_when_ipv6_goes_to_the_gateway(void **state)
{
	const struct rf_ip from = { .port = RF_WAN,
		.src = "2001:db8::2",
		.dst = "2001:db8:1::9",
		.proto = IPPROTO_UDP,
		.ttl = 9,
		.payload = from_wan.payload,
		.len = 11 };

	(void)state;
	assert_int_equal(copy(&from, "2001:db8:1::2", SL_PORT_NONE, true, 0), 1);
	assert_int_equal(rf.out[0].port, RF_LAN);
	assert_memory_equal(rf.out[0].data, ((const uint8_t[]){ 2, 0, 0, 0, 2, 2 }), 6);
	assert_int_equal(rf.out[0].data[14 + 7], 8);
	assert_true(rf_is_whole());
}

static void test_copy_when_too_big_tells_the_sender(void **state)
{
	static const uint8_t payload[3000] = { 0, 1, 0, 2, 3000 >> 8, 3000 & 0xff };
	struct rf_ip from = { .port = RF_LAN,
		.src = "198.51.100.2",
		.dst = "192.0.2.9",
		.proto = IPPROTO_UDP,
		.payload = payload,
		.len = sizeof(payload) };
	const uint8_t *icmp;

	(void)state;
	assert_int_equal(copy(&from, "192.0.2.2", SL_PORT_NONE, false, 0), 1);
	assert_int_equal(rf.out[0].port, RF_LAN);
	icmp = rf.out[0].data + 14 + 20;
	assert_int_equal(rf.out[0].data[14 + 9], IPPROTO_ICMP);
	assert_int_equal(icmp[0], ICMP_DEST_UNREACH);
	assert_int_equal(icmp[1], ICMP_FRAG_NEEDED);
	assert_int_equal(icmp[6] << 8 | icmp[7], 1500);
	/* the copy is quoted */
	assert_int_equal(icmp[8 + 6], RTE_IPV4_HDR_DF_FLAG >> 8);
	from.src = "2001:db8:1::2";
	from.dst = "2001:db8::9";
	assert_int_equal(copy(&from, "2001:db8::2", SL_PORT_NONE, false, 0), 1);
	assert_int_equal(rf.out[0].port, RF_LAN);
	assert_int_equal(rf.out[0].data[14 + 40], 2);
	assert_int_equal(rf.out[0].data[14 + 40 + 6] << 8 | rf.out[0].data[14 + 40 + 7], 1500);
	assert_true(rf_is_whole());
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy_when_sent_goes_to_the_gateway_with_df),
		cmocka_unit_test(test_copy_when_port_is_given_leaves_by_it),
		cmocka_unit_test(test_copy_when_there_is_no_way_is_not_made),
		cmocka_unit_test(test_copy_when_ipv6_goes_to_the_gateway),
		cmocka_unit_test(test_copy_when_too_big_tells_the_sender),
	};

	rf_start(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
