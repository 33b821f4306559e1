/* SPDX-License-Identifier: BSD-3-Clause */
/* States, timers, the queue and the bounds of neighbours (cases O18). */
#include "lib/builtin.h"
#include "lib/conf.h"
#include "neigh_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define HOST "10.0.2.7"
#define HOST_MAC "02:00:00:00:02:07"
#define OTHER_MAC "02:00:00:00:02:08"
#define PORT_MAC "02:00:00:00:02:01"

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

static void reply(const char *mac)
{
	fake_arp(2, false, false, HOST, mac, "10.0.2.1", PORT_MAC);
}

static void resolve(void)
{
	fake_forward(fake_packet("10.0.1.2", HOST, 40));
	reply(HOST_MAC);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_REACHABLE);
	fake_reset();
}

static const uint8_t *frame(unsigned int i)
{
	return rte_pktmbuf_mtod(fake.sent[i], const uint8_t *);
}

static bool is_arp(unsigned int i)
{
	return frame(i)[12] == 0x08 && frame(i)[13] == 0x06;
}

static void assert_mac(const uint8_t *found, const char *text)
{
	uint8_t mac[6];

	fake_mac(text, mac);
	assert_memory_equal(found, mac, sizeof(mac));
}

/* O18: the single packet to a live, unknown next hop is delivered */
static void test_packet_to_unknown_waits_and_is_sent_when_answered(void **state __rte_unused)
{
	struct rte_mbuf *m = fake_packet("10.0.1.2", HOST, 40);

	fake_forward(m);
	assert_int_equal(fake.n_sent, 1);
	assert_true(is_arp(0));
	assert_mac(frame(0), "ff:ff:ff:ff:ff:ff");
	assert_int_equal(fake.w->held[1], 1);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_INCOMPLETE);
	reply(HOST_MAC);
	assert_int_equal(fake.n_sent, 2);
	assert_ptr_equal(fake.sent[1], m);
	assert_mac(frame(1), HOST_MAC);
	assert_mac(frame(1) + 6, PORT_MAC);
	assert_int_equal(frame(1)[12] << 8 | frame(1)[13], 0x0800);
	assert_int_equal(fake.w->held[1], 0);
}

/* O18: bounded, the oldest makes room, host unreachable for what waited at the end, all freed */
static void test_silent_next_hop_holds_a_bounded_queue_and_fails(void **state __rte_unused)
{
	unsigned int limit = (unsigned int)fake.net.sysctl.neigh4_queue;

	for (unsigned int i = 0; i < 1000; i++)
		fake_forward(fake_packet("10.0.1.2", HOST, 40));
	assert_int_equal(limit, 101);
	assert_int_equal(fake.w->held[1], limit);
	assert_int_equal(fake_drops(SL_DROP_NEIGH_QUEUE), 1000 - limit);
	assert_int_equal(fake.n_sent, 1);
	fake_run(2999 * FAKE_MS);
	assert_int_equal(fake.n_sent, 3);
	assert_int_equal(fake_drops(SL_DROP_NEIGH_FAILED), 0);
	fake_run(1 * FAKE_MS);
	assert_int_equal(fake.n_sent, 3);
	assert_int_equal(fake_drops(SL_DROP_NEIGH_FAILED), limit);
	assert_int_equal(fake.n_icmp4, limit);
	assert_int_equal(fake.icmp_type, 3);
	assert_int_equal(fake.icmp_code, 1);
	assert_int_equal(fake.w->held[1], 0);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_FAILED);
}

static void test_queue_keeps_the_newest_in_order(void **state __rte_unused)
{
	struct rte_mbuf *m[5];

	fake.net.sysctl.neigh4_queue = 3;
	for (unsigned int i = 0; i < RTE_DIM(m); i++) {
		m[i] = fake_packet("10.0.1.2", HOST, 40);
		fake_forward(m[i]);
	}
	reply(HOST_MAC);
	assert_int_equal(fake.n_sent, 4);
	for (unsigned int i = 0; i < 3; i++)
		assert_ptr_equal(fake.sent[1 + i], m[2 + i]);
}

static void test_ipv6_failure_is_address_unreachable(void **state __rte_unused)
{
	fake_forward(fake_packet("fd01::2", "fd02::7", 60));
	fake_run(3 * FAKE_S);
	assert_int_equal(fake.n_icmp6, 1);
	assert_int_equal(fake.icmp_type, 1);
	assert_int_equal(fake.icmp_code, 3);
	assert_int_equal(fake_state(2, "fd02::7"), SL_NEIGH_FAILED);
}

static void test_failed_starts_anew_with_the_next_packet(void **state __rte_unused)
{
	fake_forward(fake_packet("10.0.1.2", HOST, 40));
	fake_run(3 * FAKE_S);
	fake_reset();
	fake_forward(fake_packet("10.0.1.2", HOST, 40));
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_INCOMPLETE);
	assert_int_equal(fake.n_sent, 1);
	assert_true(is_arp(0));
}

static void test_failure_of_another_workers_packet_goes_back_to_it(void **state __rte_unused)
{
	struct rte_mbuf *m = fake_packet("10.0.1.2", HOST, 40);

	sl_pkt(m)->owner = 3;
	fake_forward(m);
	fake_run(3 * FAKE_S);
	assert_int_equal(fake.n_handed[SL_HANDOFF_UNREACH], 1);
	assert_int_equal(fake.handed_to, 3);
	assert_ptr_equal(fake.handed, m);
	assert_int_equal(fake.n_icmp4, 0);
	assert_int_equal(fake.w->held[1], 0);
}

static void test_other_worker_hands_unresolved_packets_to_the_host_worker(void **state __rte_unused)
{
	fake.w->id = 1;
	fake_forward(fake_packet("10.0.1.2", HOST, 40));
	assert_int_equal(fake.n_handed[SL_HANDOFF_RESOLVE], 1);
	assert_int_equal(fake.handed_to, 0);
	assert_int_equal(fake.n_sent, 0);
	fake.w->id = 0;
}

static void test_own_packet_that_fails_gets_no_error(void **state __rte_unused)
{
	struct rte_mbuf *m = fake_packet("10.0.2.1", HOST, 40);

	sl_pkt(m)->flags |= SL_PKT_ORIGIN;
	sl_pkt(m)->in_port = SL_PORT_HOST;
	fake_forward(m);
	fake_run(3 * FAKE_S);
	assert_int_equal(fake_drops(SL_DROP_NEIGH_FAILED), 1);
	assert_int_equal(fake.n_icmp4, 0);
}

/* REACHABLE -> STALE -> DELAY -> PROBE -> REACHABLE */
static void test_confirmation_ages_and_is_asked_for_by_unicast(void **state __rte_unused)
{
	resolve();
	fake_run(30 * FAKE_S);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_REACHABLE);
	fake_run(20 * FAKE_MS);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_STALE);
	fake_run(FAKE_S);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_STALE);
	assert_int_equal(fake.n_sent, 0);

	fake_forward(fake_packet("10.0.1.2", HOST, 40));
	assert_int_equal(fake.n_sent, 1);
	sl_neigh_tick(fake.w);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_DELAY);
	fake_run(4999 * FAKE_MS);
	assert_int_equal(fake.n_sent, 1);
	fake_run(1 * FAKE_MS);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_PROBE);
	assert_int_equal(fake.n_sent, 2);
	assert_true(is_arp(1));
	assert_mac(frame(1), HOST_MAC);
	reply(HOST_MAC);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_REACHABLE);
}

static void test_unanswered_probes_fail_while_packets_still_leave(void **state __rte_unused)
{
	resolve();
	fake_run(31 * FAKE_S);
	fake_forward(fake_packet("10.0.1.2", HOST, 40));
	fake_run(7 * FAKE_S);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_PROBE);
	fake_forward(fake_packet("10.0.1.2", HOST, 40));
	/* two packets, probes after 5, 6 and 7 s */
	assert_int_equal(fake.n_sent, 5);
	assert_mac(frame(4), HOST_MAC);
	fake_run(FAKE_S);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_FAILED);
	assert_int_equal(fake.n_sent, 5);
}

static void test_stale_neighbour_wakes_the_host_worker_once(void **state __rte_unused)
{
	struct sl_addr addr = fake_addr(HOST);
	struct sl_neigh *n;

	resolve();
	n = sl_neigh_find(fake.r.neigh, 2, SL_AF_INET, &addr);
	assert_int_equal(n->used, 1);
	fake_run(31 * FAKE_S);
	assert_int_equal(n->used, 0);
	for (unsigned int i = 0; i < 3; i++)
		fake_forward(fake_packet("10.0.1.2", HOST, 40));
	assert_int_equal(n->used, 1);
	assert_int_equal(fake.n_sent, 3);
	sl_neigh_tick(fake.w);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_DELAY);
}

static void test_reachable_time_is_half_to_one_and_a_half_of_its_base(void **state __rte_unused)
{
	/* the fake's random number stands in the middle */
	fake.net.sysctl.neigh4_reachable_ms = 2000;
	resolve();
	assert_int_equal(sl_neigh_next_ns(fake.r.neigh) - fake.w->now_ns, 2 * FAKE_S);
}

/* ---- bounds --------------------------------------------------------------------------------- */

static void scan(unsigned int from, unsigned int n)
{
	for (unsigned int i = from; i < from + n; i++) {
		char text[32];

		snprintf(text, sizeof(text), "10.2.%u.%u", i >> 8, i & 255);
		fake_forward(fake_packet("10.0.1.2", text, 40));
	}
}

static void test_full_table_drops_by_name_until_entries_fail(void **state __rte_unused)
{
	fake.net.sysctl.neigh4_max = 16;
	scan(0, 20);
	assert_int_equal(fake_drops(SL_DROP_NEIGH_TABLE), 4);
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 16);
	fake_run(3 * FAKE_S);
	/* the failed ones make room, down to half the size */
	scan(20, 1);
	assert_int_equal(fake_drops(SL_DROP_NEIGH_TABLE), 4);
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 9);
}

static void test_families_have_bounds_of_their_own(void **state __rte_unused)
{
	fake.net.sysctl.neigh4_max = 8;
	scan(0, 9);
	assert_int_equal(fake_drops(SL_DROP_NEIGH_TABLE), 1);
	fake_forward(fake_packet("fd01::2", "fd02::7", 60));
	assert_int_equal(fake_drops(SL_DROP_NEIGH_TABLE), 1);
	assert_int_equal(fake_state(2, "fd02::7"), SL_NEIGH_INCOMPLETE);
}

static void test_idle_entries_expire_only_above_an_eighth(void **state __rte_unused)
{
	fake.net.sysctl.neigh4_max = 64;
	resolve();
	fake_run(200 * FAKE_S);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_STALE);
	assert_true(sl_neigh_next_ns(fake.r.neigh) == UINT64_MAX);
	scan(0, 7);
	fake_run(20 * FAKE_S);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_NONE);
}

static void test_thousands_of_entries_come_and_go(void **state __rte_unused)
{
	fake.net.sysctl.neigh4_max = 8192;
	fake.net.sysctl.neigh4_queue = 1;
	for (unsigned int round = 0; round < 16; round++) {
		scan(round * 1024, 1024);
		fake_reset();
		fake_run(3 * FAKE_S);
		fake_reset();
	}
	assert_int_equal(fake_drops(SL_DROP_NEIGH_TABLE), 0);
	assert_true(sl_neigh_list(&fake.r, NULL, 0) <= 8192);
	fake_run(100 * FAKE_S);
	assert_true(sl_neigh_list(&fake.r, NULL, 0) <= 1024);
}

/* ---- control -------------------------------------------------------------------------------- */

static void test_static_entry_is_used_never_changed_and_forgotten_on_reload(
		void **state __rte_unused)
{
	struct sl_neigh_conf entry = { .family = SL_AF_INET, .port = "p2" };
	struct sl_conf conf = { .path = "x.yaml", .neighbours = &entry, .n_neighbours = 1 };
	char err[200] = "";

	entry.ip = fake_addr(HOST);
	fake_mac(HOST_MAC, entry.mac.addr_bytes);
	fake_forward(fake_packet("10.0.1.2", HOST, 40));
	assert_int_equal(sl_neigh_apply(&fake.r, &conf, err, sizeof(err)), 0);
	/* what waited has left */
	assert_int_equal(fake.n_sent, 2);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_PERMANENT);
	reply(OTHER_MAC);
	fake_run(1000 * FAKE_S);
	fake_forward(fake_packet("10.0.1.2", HOST, 40));
	assert_int_equal(fake.n_sent, 3);
	assert_mac(frame(2), HOST_MAC);

	conf.n_neighbours = 0;
	assert_int_equal(sl_neigh_apply(&fake.r, &conf, err, sizeof(err)), 0);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_NONE);
}

static void test_static_entry_on_an_unknown_port_is_refused(void **state __rte_unused)
{
	struct sl_neigh_conf entry = { .at = { 7, 5 }, .family = SL_AF_INET, .port = "wan" };
	struct sl_conf conf = { .path = "x.yaml", .neighbours = &entry, .n_neighbours = 1 };
	char err[200] = "";

	assert_int_equal(sl_neigh_apply(&fake.r, &conf, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "x.yaml:7:5: neighbour on port 'wan', which does not exist");
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 0);
}

static void test_pinned_gateway_keeps_its_entry(void **state __rte_unused)
{
	struct sl_nexthop nh = fake.direct[2];
	struct sl_addr gateway = fake_addr(HOST);
	struct sl_neigh *n = sl_neigh_pin(&fake.r, 2, SL_AF_INET, &gateway);
	struct rte_mbuf *m = fake_packet("10.0.1.2", "192.0.2.1", 40);

	assert_ptr_equal(sl_neigh_pin(&fake.r, 2, SL_AF_INET, &gateway), n);
	sl_neigh_unpin(&fake.r, n);
	/* the kernel would not have it: no answer makes it */
	reply(HOST_MAC);
	assert_int_equal(n->link, 0);
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 0);

	nh.neigh = n;
	sl_pkt(m)->via = gateway;
	sl_pkt(m)->nh = &nh;
	fake_forward(m);
	reply(HOST_MAC);
	assert_int_equal(fake.n_sent, 2);
	assert_mac(frame(1), HOST_MAC);
	sl_neigh_port_changed(fake.w, 2, false);
	assert_ptr_equal(sl_neigh_find(fake.r.neigh, 2, SL_AF_INET, &gateway), n);
	assert_int_equal(n->link, 0);
	sl_neigh_unpin(&fake.r, n);
	assert_null(sl_neigh_find(fake.r.neigh, 2, SL_AF_INET, &gateway));
}

static void test_port_down_forgets_and_drops_without_an_answer(void **state __rte_unused)
{
	fake_forward(fake_packet("10.0.1.2", HOST, 40));
	sl_neigh_port_changed(fake.w, 1, false);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_INCOMPLETE);
	sl_neigh_port_changed(fake.w, 2, false);
	assert_int_equal(fake_state(2, HOST), SL_NEIGH_NONE);
	assert_int_equal(fake_drops(SL_DROP_TX_DOWN), 1);
	assert_int_equal(fake.n_icmp4, 0);
}

static void test_flush_drops_what_waits_as_shutdown(void **state __rte_unused)
{
	fake_forward(fake_packet("10.0.1.2", HOST, 40));
	sl_neigh_flush(fake.w);
	assert_int_equal(fake_drops(SL_DROP_SHUTDOWN), 1);
	assert_int_equal(fake.w->held[1], 0);
}

/* ---- the stage ------------------------------------------------------------------------------ */

static void assert_group(const char *dst, uint8_t type, const char *mac)
{
	struct sl_nexthop nh = fake.direct[2];
	struct rte_mbuf *m = fake_packet(strchr(dst, ':') ? "fd01::2" : "10.0.1.2", dst, 60);

	nh.type = type;
	sl_pkt(m)->nh = &nh;
	fake_forward(m);
	assert_int_equal(fake.n_sent, 1);
	assert_mac(frame(0), mac);
	fake_reset();
}

static void test_group_addresses_map_to_group_macs(void **state __rte_unused)
{
	assert_group("224.1.2.3", SL_ROUTE_UNICAST, "01:00:5e:01:02:03");
	assert_group("239.129.2.3", SL_ROUTE_UNICAST, "01:00:5e:01:02:03");
	assert_group("ff02::1:ff00:17", SL_ROUTE_UNICAST, "33:33:ff:00:00:17");
	assert_group("10.0.2.255", SL_ROUTE_BROADCAST, "ff:ff:ff:ff:ff:ff");
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 0);
}

static void test_frame_with_a_tag_or_without_room_gets_its_header(void **state __rte_unused)
{
	static const uint16_t l3_offs[] = { 18, 14, 0 };

	resolve();
	for (unsigned int i = 0; i < RTE_DIM(l3_offs); i++) {
		struct rte_mbuf *m = fake_packet("10.0.1.2", HOST, 40);
		uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, 14);

		if (l3_offs[i] == 18)
			assert_non_null(rte_pktmbuf_prepend(m, 4));
		else if (l3_offs[i] == 0)
			assert_non_null(rte_pktmbuf_adj(m, 14));
		sl_pkt(m)->l3_off = l3_offs[i];
		sl_pkt(m)->l4_off = (uint16_t)(l3_offs[i] + 20);
		fake_forward(m);
		assert_int_equal(fake.n_sent, 1);
		assert_ptr_equal(frame(0) + 14, ip);
		assert_int_equal(m->pkt_len, 54);
		assert_int_equal(sl_pkt(m)->l3_off, 14);
		assert_int_equal(sl_pkt(m)->l4_off, 34);
		assert_mac(frame(0), HOST_MAC);
		assert_int_equal(ip[0], 0x45);
		fake_reset();
	}
}

static void test_packet_beyond_the_mtu_is_fragmented(void **state __rte_unused)
{
	resolve();
	fake_forward(fake_packet("10.0.1.2", HOST, 1500));
	assert_int_equal(fake.n_fragmented, 0);
	fake_forward(fake_packet("10.0.1.2", HOST, 1501));
	assert_int_equal(fake.n_fragmented, 1);
	assert_int_equal(fake.n_sent, 3);
	assert_mac(frame(2), HOST_MAC);
}

/* straight, unresolved, tagged, other port, other family: each gets its own header, in order */
static void test_mixed_batch_keeps_its_order(void **state __rte_unused)
{
	static const char *const macs[] = { HOST_MAC, HOST_MAC, "ff:ff:ff:ff:ff:ff", HOST_MAC,
		OTHER_MAC, OTHER_MAC, HOST_MAC };
	struct sl_addr host = fake_addr(HOST), other = fake_addr("10.0.1.9");
	struct sl_nexthop to_host = fake.direct[2], to_other = fake.direct[1];
	struct rte_mbuf *m[7];

	resolve();
	to_host.neigh = sl_neigh_pin(&fake.r, 2, SL_AF_INET, &host);
	to_other.neigh = sl_neigh_pin(&fake.r, 1, SL_AF_INET, &other);
	fake_arp(1, true, true, "10.0.1.9", OTHER_MAC, "10.0.1.1", "00:00:00:00:00:00");
	fake_reset();
	for (unsigned int i = 0; i < RTE_DIM(m); i++) {
		m[i] = fake_packet("10.0.1.2", HOST, 40);
		sl_pkt(m[i])->nh = &to_host;
		sl_pkt(m[i])->user = i;
	}
	sl_pkt(m[2])->via = fake_addr("10.0.2.99");
	sl_pkt(m[2])->nh = &fake.direct[2];
	assert_non_null(rte_pktmbuf_prepend(m[3], 4));
	sl_pkt(m[3])->l3_off = 18;
	for (unsigned int i = 4; i < 6; i++) {
		sl_pkt(m[i])->nh = &to_other;
		sl_pkt(m[i])->out_port = 1;
	}
	sl_pkt(m[5])->family = SL_AF_INET6;
	assert_int_equal(sl_stage_neighbour.process(fake.w, NULL, m, RTE_DIM(m)), 0);
	assert_int_equal(fake.n_sent, RTE_DIM(m));
	for (unsigned int i = 0; i < RTE_DIM(m); i++) {
		assert_mac(frame(i), macs[i]);
		assert_mac(frame(i) + 6,
				i == 4 || i == 5 ? "02:00:00:00:01:01" : "02:00:00:00:02:01");
		assert_int_equal(frame(i)[12], i == 5 ? 0x86 : 0x08);
		/* the third waits, and its question left in its place */
		if (i != 2)
			assert_int_equal(sl_pkt(fake.sent[i])->user, i);
	}
	assert_int_equal(fake.w->held[1], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_packet_to_unknown_waits_and_is_sent_when_answered),
		T(test_silent_next_hop_holds_a_bounded_queue_and_fails),
		T(test_queue_keeps_the_newest_in_order),
		T(test_ipv6_failure_is_address_unreachable),
		T(test_failed_starts_anew_with_the_next_packet),
		T(test_failure_of_another_workers_packet_goes_back_to_it),
		T(test_other_worker_hands_unresolved_packets_to_the_host_worker),
		T(test_own_packet_that_fails_gets_no_error),
		T(test_confirmation_ages_and_is_asked_for_by_unicast),
		T(test_unanswered_probes_fail_while_packets_still_leave),
		T(test_stale_neighbour_wakes_the_host_worker_once),
		T(test_reachable_time_is_half_to_one_and_a_half_of_its_base),
		T(test_full_table_drops_by_name_until_entries_fail),
		T(test_families_have_bounds_of_their_own),
		T(test_idle_entries_expire_only_above_an_eighth),
		T(test_thousands_of_entries_come_and_go),
		T(test_static_entry_is_used_never_changed_and_forgotten_on_reload),
		T(test_static_entry_on_an_unknown_port_is_refused),
		T(test_pinned_gateway_keeps_its_entry),
		T(test_port_down_forgets_and_drops_without_an_answer),
		T(test_flush_drops_what_waits_as_shutdown),
		T(test_group_addresses_map_to_group_macs),
		T(test_frame_with_a_tag_or_without_room_gets_its_header),
		T(test_packet_beyond_the_mtu_is_fragmented),
		T(test_mixed_batch_keeps_its_order),
#undef T
	};

	fake_eal();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
