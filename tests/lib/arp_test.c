/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP. The answers were taken from Linux 6.18 with the same addresses. */
#include "neigh_fake.h"

#include <rte_arp.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define A "02:00:00:00:01:02"
#define X "02:00:00:00:01:07"
#define US "02:00:00:00:01:01"
#define NOBODY "00:00:00:00:00:00"
#define REPLY_TO_A \
	"020000000102 020000000101 0806 0001 0800 06 04 0002 020000000101 0a000101 020000000102 "

static int setup(void **state __rte_unused)
{
	fake_start(1000 * FAKE_S);
	return 0;
}

static int teardown(void **state __rte_unused)
{
	fake_stop();
	return 0;
}

/* broadcast request of @sip at @sha */
static void request(const char *sip, const char *sha, const char *tip)
{
	fake_arp(1, true, true, sip, sha, tip, NOBODY);
}

static void assert_known(const char *addr, const char *mac, enum sl_neigh_state state)
{
	struct sl_addr a = fake_addr(addr);
	const struct sl_neigh *n = sl_neigh_find(fake.r.neigh, 1, SL_AF_INET, &a);
	uint8_t expected[6];

	assert_int_equal(fake_state(1, addr), state);
	if (state == SL_NEIGH_NONE)
		return;
	fake_mac(mac, expected);
	assert_memory_equal(&n->link, expected, sizeof(expected));
}

static void test_request_for_us_is_learnt_and_answered(void **state __rte_unused)
{
	request("10.0.1.2", A, "10.0.1.1");
	assert_int_equal(fake.n_sent, 1);
	fake_assert_frame(0, REPLY_TO_A "0a000102");
	assert_int_equal(sl_pkt(fake.sent[0])->out_port, 1);
	assert_known("10.0.1.2", A, SL_NEIGH_STALE);
	assert_int_equal(fake.w->rx[SL_PORT_HOST], 1);
	assert_int_equal(fake.n_delivered, 1);
}

static void test_request_for_another_ports_address_is_answered(void **state __rte_unused)
{
	request("10.0.1.2", A, "10.0.2.1");
	fake_assert_frame(0,
			"020000000102 020000000101 0806 0001 0800 06 04 0002"
			"020000000101 0a000201 020000000102 0a000102");
}

static void test_probe_is_answered_and_not_learnt(void **state __rte_unused)
{
	request("0.0.0.0", A, "10.0.1.1");
	fake_assert_frame(0, REPLY_TO_A "00000000");
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 0);
}

/* sources that the kernel answers, however odd, and whether it learns them */
static void test_request_from_odd_sources(void **state __rte_unused)
{
	static const struct {
		const char *sip;
		const char *sip_hex;
		enum sl_neigh_state state;
	} rows[] = {
		{ "10.0.1.1", NULL, SL_NEIGH_NONE }, /* ours */
		{ "10.0.1.255", "0a0001ff", SL_NEIGH_NONE },
		{ "10.0.1.0", "0a000100", SL_NEIGH_STALE },
		{ "192.0.2.9", "c0000209", SL_NEIGH_STALE }, /* no route to it */
		{ "127.0.0.5", NULL, SL_NEIGH_NONE },
		{ "0.0.0.5", "00000005", SL_NEIGH_STALE },
		{ "240.0.0.5", "f0000005", SL_NEIGH_STALE },
		{ "224.0.0.5", NULL, SL_NEIGH_NONE },
		{ "255.255.255.255", NULL, SL_NEIGH_NONE },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		char hex[200];

		request(rows[i].sip, A, "10.0.1.1");
		assert_int_equal(fake.n_sent, rows[i].sip_hex != NULL);
		if (rows[i].sip_hex != NULL) {
			snprintf(hex, sizeof(hex), REPLY_TO_A "%s", rows[i].sip_hex);
			fake_assert_frame(0, hex);
		}
		assert_known(rows[i].sip, A, rows[i].state);
		fake_reset();
	}
}

static void test_request_for_what_is_not_ours_is_silent(void **state __rte_unused)
{
	static const char *const targets[] = { "10.0.1.77", "10.0.2.77", "192.0.2.1", "127.0.0.1",
		"224.0.0.1", "255.255.255.255", "0.0.0.0", "10.0.1.255" };

	for (unsigned int i = 0; i < RTE_DIM(targets); i++)
		request("10.0.1.2", A, targets[i]);
	assert_int_equal(fake.n_sent, 0);
	assert_int_equal(fake.n_delivered, RTE_DIM(targets));
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 0);
}

/* each row: what comes right after a request made 10.0.1.2 known at A */
static void test_messages_about_a_known_neighbour(void **state __rte_unused)
{
	static const struct {
		bool request, broadcast;
		const char *sha, *tip, *tha;
		uint64_t later_ns;
		const char *mac;
		enum sl_neigh_state state;
	} rows[] = {
		/* within a second another address is taken only from who asks us or is gratuitous */
		{ true, true, X, "10.0.1.77", NOBODY, 0, A, SL_NEIGH_STALE },
		{ true, true, X, "10.0.1.2", NOBODY, 0, X, SL_NEIGH_STALE },
		{ false, true, X, "10.0.1.2", NOBODY, 0, A, SL_NEIGH_STALE },
		{ false, true, X, "10.0.1.2", X, 0, X, SL_NEIGH_STALE },
		{ false, false, X, "10.0.1.1", US, 0, A, SL_NEIGH_STALE },
		{ true, true, X, "10.0.1.1", NOBODY, 0, X, SL_NEIGH_STALE },
		/* then from all */
		{ true, true, X, "10.0.1.77", NOBODY, 1001 * FAKE_MS, X, SL_NEIGH_STALE },
		{ false, false, X, "10.0.1.1", US, 1001 * FAKE_MS, X, SL_NEIGH_REACHABLE },
		{ false, false, X, "10.0.1.1", US, 1000 * FAKE_MS, A, SL_NEIGH_STALE },
		/* a reply to us confirms, a broadcast one does not */
		{ false, false, A, "10.0.1.1", US, 0, A, SL_NEIGH_REACHABLE },
		{ false, true, A, "10.0.1.1", US, 0, A, SL_NEIGH_STALE },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		request("10.0.1.2", A, "10.0.1.1");
		fake_run(rows[i].later_ns);
		fake_arp(1, rows[i].request, rows[i].broadcast, "10.0.1.2", rows[i].sha,
				rows[i].tip, rows[i].tha);
		assert_known("10.0.1.2", rows[i].mac, rows[i].state);
		teardown(NULL);
		setup(NULL);
	}
}

static void test_unsolicited_reply_is_not_learnt(void **state __rte_unused)
{
	fake_arp(1, false, false, "10.0.1.2", A, "10.0.1.1", US);
	fake_arp(1, false, true, "10.0.1.2", A, "10.0.1.2", A);
	request("10.0.1.2", A, "10.0.1.2");
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 0);
	assert_int_equal(fake.n_delivered, 3);
}

static void test_malformed_is_dropped_by_name(void **state __rte_unused)
{
	static const struct {
		uint16_t hrd, pro, op;
		uint8_t hln, pln, cut;
		bool good;
	} rows[] = {
		{ 1, 0x0800, 1, 6, 4, 0, true },
		{ 6, 0x0800, 1, 6, 4, 0, true }, /* IEEE 802 */
		{ 2, 0x0800, 1, 6, 4, 0, false },
		{ 1, 0x86dd, 1, 6, 4, 0, false },
		{ 1, 0x0800, 0, 6, 4, 0, false },
		{ 1, 0x0800, 3, 6, 4, 0, false },
		{ 1, 0x0800, 1, 7, 4, 0, false },
		{ 1, 0x0800, 1, 6, 16, 0, false },
		{ 1, 0x0800, 1, 6, 4, 1, false },
		{ 1, 0x0800, 1, 6, 4, 28, false },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		struct rte_arp_hdr arp = {
			.arp_hardware = rte_cpu_to_be_16(rows[i].hrd),
			.arp_protocol = rte_cpu_to_be_16(rows[i].pro),
			.arp_hlen = rows[i].hln,
			.arp_plen = rows[i].pln,
			.arp_opcode = rte_cpu_to_be_16(rows[i].op),
		};
		struct rte_mbuf *m;

		arp.arp_data.arp_sip = fake_addr("10.0.1.2").v4;
		arp.arp_data.arp_tip = fake_addr("10.0.1.1").v4;
		m = fake_frame(1, RTE_ETHER_TYPE_ARP, &arp, (uint16_t)(sizeof(arp) - rows[i].cut));
		sl_neigh_rx_arp(fake.w, m);
		assert_int_equal(fake.n_sent, rows[i].good);
		assert_int_equal(fake.n_delivered, rows[i].good);
		fake_reset();
	}
	assert_int_equal(fake_drops(SL_DROP_ARP_INVALID), RTE_DIM(rows) - 2);
}

static void test_frame_to_another_host_is_not_looked_at(void **state __rte_unused)
{
	struct rte_arp_hdr arp = { 0 };
	struct rte_mbuf *m = fake_frame(1, RTE_ETHER_TYPE_ARP, &arp, sizeof(arp));

	sl_pkt(m)->flags |= SL_PKT_LINK_OTHER;
	sl_neigh_rx_arp(fake.w, m);
	assert_int_equal(fake_drops(SL_DROP_LINK_OTHER), 1);
}

static void test_arp_ignore(void **state __rte_unused)
{
	static const struct {
		int value;
		const char *sip, *tip;
		bool answered;
	} rows[] = {
		{ 0, "10.0.1.2", "10.0.2.1", true },
		{ 1, "10.0.1.2", "10.0.2.1", false },
		{ 1, "10.0.7.2", "10.0.1.1", true },
		{ 2, "10.0.7.2", "10.0.1.1", false },
		{ 2, "10.0.1.2", "10.0.1.1", true },
		{ 2, "10.0.1.2", "10.0.9.1", false },
		{ 3, "10.0.1.2", "10.0.2.1", true },
		{ 8, "10.0.1.2", "10.0.1.1", false },
		{ 8, "0.0.0.0", "10.0.1.1", false },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		fake.net.ports[1].sysctl.arp_ignore = rows[i].value;
		request(rows[i].sip, A, rows[i].tip);
		assert_int_equal(fake.n_sent, rows[i].answered);
		fake_reset();
	}
}

static void test_proxy_arp_answers_for_what_lies_behind_another_port(void **state __rte_unused)
{
	fake.net.ports[1].sysctl.proxy_arp = 1;
	request("10.0.1.2", A, "10.0.1.77");
	assert_int_equal(fake.n_sent, 0);
	request("10.0.1.2", A, "10.0.2.77");
	assert_int_equal(fake.n_sent, 1);
	assert_known("10.0.1.2", A, SL_NEIGH_STALE);
	fake.net.ports[1].sysctl.forwarding4 = 0;
	request("10.0.1.2", A, "10.0.2.77");
	assert_int_equal(fake.n_sent, 1);
}

/* source of a request by arp_announce: the packet's own address, or that of the subnet */
static void test_arp_announce_chooses_the_source(void **state __rte_unused)
{
	static const struct {
		int value;
		const char *packet_src, *target, *source_hex;
	} rows[] = {
		{ 0, "10.0.1.2", "10.0.1.7", "0a000101" }, /* forwarded */
		{ 0, "10.0.1.2", "10.0.9.7", "0a000901" },
		{ 0, "10.0.1.2", "192.0.2.7", "0a000101" },
		{ 0, "10.0.2.1", "10.0.1.7", "0a000201" }, /* own, of the other port */
		{ 1, "10.0.2.1", "10.0.1.7", "0a000101" },
		{ 1, "10.0.9.1", "10.0.1.7", "0a000101" },
		{ 1, "10.0.1.1", "10.0.1.7", "0a000101" },
		{ 2, "10.0.9.1", "10.0.9.7", "0a000901" },
		{ 2, "10.0.9.1", "10.0.1.7", "0a000101" },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		struct rte_mbuf *m = fake_packet(rows[i].packet_src, rows[i].target, 40);
		uint8_t source[4], *frame;
		char hex[9];

		fake.net.ports[1].sysctl.arp_announce = rows[i].value;
		sl_pkt(m)->out_port = 1;
		sl_pkt(m)->nh = &fake.direct[1];
		fake_forward(m);
		assert_int_equal(fake.n_sent, 1);
		frame = rte_pktmbuf_mtod(fake.sent[0], uint8_t *);
		memcpy(source, frame + 28, sizeof(source));
		snprintf(hex, sizeof(hex), "%02x%02x%02x%02x", source[0], source[1], source[2],
				source[3]);
		assert_string_equal(hex, rows[i].source_hex);
		teardown(NULL);
		setup(NULL);
	}
}

static void test_request_of_ours_is_the_kernels(void **state __rte_unused)
{
	struct rte_mbuf *m = fake_packet("10.0.2.2", "10.0.1.7", 40);

	sl_pkt(m)->out_port = 1;
	sl_pkt(m)->nh = &fake.direct[1];
	fake_forward(m);
	fake_assert_frame(0,
			"ffffffffffff 020000000101 0806 0001 0800 06 04 0001"
			"020000000101 0a000101 000000000000 0a000107");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_request_for_us_is_learnt_and_answered),
		T(test_request_for_another_ports_address_is_answered),
		T(test_probe_is_answered_and_not_learnt),
		T(test_request_from_odd_sources),
		T(test_request_for_what_is_not_ours_is_silent),
		T(test_messages_about_a_known_neighbour),
		T(test_unsolicited_reply_is_not_learnt),
		T(test_malformed_is_dropped_by_name),
		T(test_frame_to_another_host_is_not_looked_at),
		T(test_arp_ignore),
		T(test_proxy_arp_answers_for_what_lies_behind_another_port),
		T(test_arp_announce_chooses_the_source),
		T(test_request_of_ours_is_the_kernels),
#undef T
	};

	fake_eal();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
