/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbour discovery (cases O16, O17). Answers and states were taken from Linux 6.18 with the same
 * addresses.
 */
#include "neigh_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define NS 135
#define NA 136
#define RS 133
#define RA 134
#define GROUP "ff02::1:ff00:1" /* solicited-node address of fd01::1 */

static const uint8_t sllao_a[] = { 1, 1, 2, 0, 0, 0, 1, 2 };
static const uint8_t tllao_a[] = { 2, 1, 2, 0, 0, 0, 1, 2 };
static const uint8_t tllao_x[] = { 2, 1, 2, 0, 0, 0, 1, 7 };

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

/* received on port 1; what is to be sent, is */
static void rx(struct rte_mbuf *m)
{
	sl_neigh_rx_nd(fake.w, m);
	fake_flush();
	sl_neigh_tick(fake.w);
}

static void ns(const char *src, const char *dst, const char *target, const void *opt, size_t len)
{
	rx(fake_nd(1, NS, src, dst, target, 0, opt, (uint16_t)len));
}

static uint8_t link_last_octet(const char *addr)
{
	struct sl_addr a = fake_addr(addr);
	const struct sl_neigh *n = sl_neigh_find(fake.r.neigh, 1, SL_AF_INET6, &a);

	assert_non_null(n);
	return (uint8_t)(n->link >> 40);
}

static bool is_router(const char *addr)
{
	struct sl_neigh_info info[8];
	unsigned int n = sl_neigh_list(&fake.r, info, RTE_DIM(info));
	struct sl_addr a = fake_addr(addr);

	for (unsigned int i = 0; i < n; i++) {
		if (sl_addr_eq(&info[i].addr, &a))
			return info[i].router;
	}
	return false;
}

/* O17: S and R, O because it was multicast; the asker is learnt */
static void test_multicast_solicitation_is_answered_with_r_s_o(void **state __rte_unused)
{
	ns("fd01::2", GROUP, "fd01::1", sllao_a, sizeof(sllao_a));
	assert_int_equal(fake.n_sent, 1);
	fake_assert_frame(0,
			"02000000010202000000010186dd6000000000203aff"
			"fd010000000000000000000000000001fd010000000000000000000000000002"
			"88009b98e0000000fd0100000000000000000000000000010201020000000101");
	/* the answer itself was a packet to it */
	assert_int_equal(fake_state(1, "fd01::2"), SL_NEIGH_DELAY);
	assert_int_equal(fake.n_delivered, 1);
}

static void test_unicast_solicitation_is_answered_with_r_s(void **state __rte_unused)
{
	ns("fd01::2", "fd01::1", "fd01::1", sllao_a, sizeof(sllao_a));
	assert_int_equal(fake.n_sent, 1);
	fake_assert_frame(0,
			"02000000010202000000010186dd6000000000183aff"
			"fd010000000000000000000000000001fd010000000000000000000000000002"
			"8800c0a2c0000000fd010000000000000000000000000001");
}

static void test_answer_has_no_r_when_forwarding_is_off(void **state __rte_unused)
{
	fake.net.ports[1].sysctl.forwarding6 = 0;
	ns("fd01::2", "fd01::1", "fd01::1", sllao_a, sizeof(sllao_a));
	assert_int_equal(rte_pktmbuf_mtod(fake.sent[0], uint8_t *)[58], 0x40);
}

static void test_unicast_solicitation_without_option_is_resolved_first(void **state __rte_unused)
{
	ns("fd01::2", "fd01::1", "fd01::1", NULL, 0);
	assert_int_equal(fake.n_sent, 1);
	fake_assert_frame(0,
			"3333ff00000202000000010186dd6000000000203aff"
			"fd010000000000000000000000000001ff0200000000000000000001ff000002"
			"87007c9500000000fd0100000000000000000000000000020101020000000101");
	assert_int_equal(fake_state(1, "fd01::2"), SL_NEIGH_INCOMPLETE);
	rx(fake_nd(1, NA, "fd01::2", "fd01::1", "fd01::2", 0x60, tllao_a, sizeof(tllao_a)));
	assert_int_equal(fake.n_sent, 2);
	assert_int_equal(fake_state(1, "fd01::2"), SL_NEIGH_REACHABLE);
}

static void test_multicast_solicitation_without_option_of_a_stranger_is_silent(
		void **state __rte_unused)
{
	ns("fd01::2", GROUP, "fd01::1", NULL, 0);
	assert_int_equal(fake.n_sent, 0);
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 0);
	assert_int_equal(fake.n_delivered, 1);
}

static void test_duplicate_address_detection_is_answered_to_all_without_s(void **state __rte_unused)
{
	ns("::", GROUP, "fd01::1", NULL, 0);
	assert_int_equal(fake.n_sent, 1);
	fake_assert_frame(0,
			"33330000000102000000010186dd6000000000203aff"
			"fd010000000000000000000000000001ff020000000000000000000000000001"
			"8800d998a0000000fd0100000000000000000000000000010201020000000101");
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 0);
	/* to a unicast address, or with an option: malformed */
	ns("::", "fd01::1", "fd01::1", NULL, 0);
	ns("::", GROUP, "fd01::1", sllao_a, sizeof(sllao_a));
	assert_int_equal(fake.n_sent, 1);
	assert_int_equal(fake_drops(SL_DROP_ND_INVALID), 2);
}

static void test_anycast_address_is_answered_without_o(void **state __rte_unused)
{
	ns("fd01::2", "ff02::1:ff00:0", "fd01::", sllao_a, sizeof(sllao_a));
	fake_assert_frame(0,
			"02000000010202000000010186dd6000000000203aff"
			"fd010000000000000000000000000001fd010000000000000000000000000002"
			"8800bb99c0000000fd0100000000000000000000000000000201020000000101");
	fake_reset();
	ns("::", "ff02::1:ff00:0", "fd01::", NULL, 0);
	fake_assert_frame(0,
			"33330000000102000000010186dd6000000000203aff"
			"fe80000000000000000000fffe000101ff020000000000000000000000000001"
			"8800f81a80000000fd0100000000000000000000000000000201020000000101");
}

static void test_other_targets_are_silent(void **state __rte_unused)
{
	ns("fd01::2", GROUP, "fd02::1", sllao_a, sizeof(sllao_a)); /* the other port's */
	ns("fd01::2", GROUP, "fd01::77", sllao_a, sizeof(sllao_a));
	assert_int_equal(fake.n_sent, 0);
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 0);
	assert_int_equal(fake.n_delivered, 2);
}

/* O16 and the rest of what is malformed; each is otherwise the first test's */
static void test_malformed_options_are_dropped(void **state __rte_unused)
{
	static const struct {
		uint16_t len;
		uint8_t bytes[16];
	} rows[] = {
		{ 8, { 1, 0, 2, 0, 0, 0, 1, 2 } }, /* length zero */
		{ 8, { 1, 2, 2, 0, 0, 0, 1, 2 } }, /* past the end */
		{ 8, { 1, 255, 2, 0, 0, 0, 1, 2 } },
		{ 1, { 1 } },
		{ 16, { 1, 2, 2, 0, 0, 0, 1, 2 } }, /* no Ethernet address */
		{ 9, { 1, 1, 2, 0, 0, 0, 1, 2, 1 } },
		{ 16, { 1, 1, 2, 0, 0, 0, 1, 2, 14, 0 } },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		for (unsigned int type = NS; type <= NA; type++)
			rx(fake_nd(1, (uint8_t)type, "fd01::2", type == NS ? GROUP : "ff02::1",
					"fd01::1", 0, rows[i].bytes, rows[i].len));
	}
	/* an advertisement does not look at a source link address */
	assert_int_equal(fake_drops(SL_DROP_ND_INVALID), 2 * RTE_DIM(rows) - 1);
	assert_int_equal(fake.n_sent, 0);
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 0);
}

static void test_options_of_other_types_are_skipped_and_the_first_counts(void **state __rte_unused)
{
	static const uint8_t options[] = { 254, 1, 0, 0, 0, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 7, 1, 1,
		2, 0, 0, 0, 1, 8 };

	ns("fd01::2", GROUP, "fd01::1", options, sizeof(options));
	assert_int_equal(fake.n_sent, 1);
	assert_int_equal(link_last_octet("fd01::2"), 7);
}

static void test_invalid_headers_are_dropped(void **state __rte_unused)
{
	/* byte of the frame, change */
	static const struct {
		uint16_t off;
		uint8_t xor ;
	} rows[] = {
		{ 14 + 7, 1 }, /* hop limit */
		{ 14 + 40 + 1, 1 }, /* code; the checksum is wrong, too */
		{ 14 + 40 + 2, 1 }, /* checksum */
		{ 14 + 40 + 24 + 7, 1 },
	};
	struct rte_mbuf *m;

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		m = fake_nd(1, NS, "fd01::2", GROUP, "fd01::1", 0, sllao_a, sizeof(sllao_a));
		rte_pktmbuf_mtod(m, uint8_t *)[rows[i].off] ^= rows[i].xor ;
		rx(m);
	}
	/* code 1 with a right checksum */
	m = fake_nd(1, NS, "fd01::2", GROUP, "fd01::1", 0, sllao_a, sizeof(sllao_a));
	rte_pktmbuf_mtod(m, uint8_t *)[55] += 1;
	rte_pktmbuf_mtod(m, uint8_t *)[57] -= 1;
	rx(m);
	/* came in fragments */
	m = fake_nd(1, NS, "fd01::2", GROUP, "fd01::1", 0, sllao_a, sizeof(sllao_a));
	sl_pkt(m)->frag_max = 1280;
	rx(m);
	assert_int_equal(fake_drops(SL_DROP_ND_INVALID), RTE_DIM(rows) + 2);
	assert_int_equal(fake.n_sent, 0);
}

static void test_message_cut_anywhere_is_dropped(void **state __rte_unused)
{
	for (uint16_t len = 0; len < 24; len++) {
		struct rte_mbuf *m = fake_nd(1, NS, "fd01::2", GROUP, "fd01::1", 0, NULL, 0);

		rte_pktmbuf_trim(m, (uint16_t)(24 - len));
		sl_pkt(m)->l3_len = 40U + len;
		rx(m);
	}
	assert_int_equal(fake_drops(SL_DROP_ND_INVALID), 24);
	assert_int_equal(fake.n_sent, 0);
}

/* flags of an advertisement about fd01::2, known at A (02): RFC 4861 7.2.5 as the kernel has it */
static void test_advertisement_table(void **state __rte_unused)
{
	static const struct {
		uint8_t flags;
		const uint8_t *opt;
		enum sl_neigh_state from_delay, from_reachable;
		uint8_t mac_delay, mac_reachable;
		bool router_delay, router_reachable;
	} rows[] = {
		{ 0x00, tllao_a, SL_NEIGH_DELAY, SL_NEIGH_REACHABLE, 2, 2, false, false },
		{ 0x00, tllao_x, SL_NEIGH_DELAY, SL_NEIGH_STALE, 2, 2, false, false },
		{ 0x00, NULL, SL_NEIGH_DELAY, SL_NEIGH_REACHABLE, 2, 2, false, false },
		{ 0x20, tllao_a, SL_NEIGH_DELAY, SL_NEIGH_REACHABLE, 2, 2, false, false },
		{ 0x20, tllao_x, SL_NEIGH_STALE, SL_NEIGH_STALE, 7, 7, false, false },
		{ 0x20, NULL, SL_NEIGH_DELAY, SL_NEIGH_REACHABLE, 2, 2, false, false },
		{ 0x40, tllao_a, SL_NEIGH_REACHABLE, SL_NEIGH_REACHABLE, 2, 2, false, false },
		{ 0x40, tllao_x, SL_NEIGH_DELAY, SL_NEIGH_STALE, 2, 2, false, false },
		{ 0x40, NULL, SL_NEIGH_REACHABLE, SL_NEIGH_REACHABLE, 2, 2, false, false },
		{ 0x60, tllao_a, SL_NEIGH_REACHABLE, SL_NEIGH_REACHABLE, 2, 2, false, false },
		{ 0x60, tllao_x, SL_NEIGH_REACHABLE, SL_NEIGH_REACHABLE, 7, 7, false, false },
		{ 0x60, NULL, SL_NEIGH_REACHABLE, SL_NEIGH_REACHABLE, 2, 2, false, false },
		{ 0x80, tllao_a, SL_NEIGH_DELAY, SL_NEIGH_REACHABLE, 2, 2, true, true },
		{ 0x80, tllao_x, SL_NEIGH_DELAY, SL_NEIGH_STALE, 2, 2, false, false },
		{ 0x80, NULL, SL_NEIGH_DELAY, SL_NEIGH_REACHABLE, 2, 2, true, true },
		{ 0xa0, tllao_a, SL_NEIGH_DELAY, SL_NEIGH_REACHABLE, 2, 2, true, true },
		{ 0xa0, tllao_x, SL_NEIGH_STALE, SL_NEIGH_STALE, 7, 7, true, true },
		{ 0xa0, NULL, SL_NEIGH_DELAY, SL_NEIGH_REACHABLE, 2, 2, true, true },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		for (unsigned int reachable = 0; reachable < 2; reachable++) {
			const char *dst = rows[i].flags & 0x40 ? "fd01::1" : "ff02::1";

			ns("fd01::2", "fd01::1", "fd01::1", sllao_a, sizeof(sllao_a));
			if (reachable)
				rx(fake_nd(1, NA, "fd01::2", "fd01::1", "fd01::2", 0x60, tllao_a,
						sizeof(tllao_a)));
			rx(fake_nd(1, NA, "fd01::2", dst, "fd01::2", rows[i].flags, rows[i].opt,
					rows[i].opt != NULL ? 8 : 0));
			assert_int_equal(fake_state(1, "fd01::2"),
					reachable ? rows[i].from_reachable : rows[i].from_delay);
			assert_int_equal(link_last_octet("fd01::2"),
					reachable ? rows[i].mac_reachable : rows[i].mac_delay);
			assert_int_equal(is_router("fd01::2"),
					reachable ? rows[i].router_reachable
						  : rows[i].router_delay);
			teardown(NULL);
			setup(NULL);
		}
	}
}

static void test_advertisement_of_a_stranger_or_of_ours_changes_nothing(void **state __rte_unused)
{
	rx(fake_nd(1, NA, "fd01::2", "ff02::1", "fd01::2", 0x20, tllao_a, sizeof(tllao_a)));
	rx(fake_nd(1, NA, "fd01::2", "ff02::1", "fd01::1", 0x20, tllao_a, sizeof(tllao_a)));
	assert_int_equal(fake.n_delivered, 2);
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 0);
	/* solicited and multicast, or about a group: malformed */
	rx(fake_nd(1, NA, "fd01::2", "ff02::1", "fd01::2", 0x40, tllao_a, sizeof(tllao_a)));
	rx(fake_nd(1, NA, "fd01::2", "ff02::1", "ff02::2", 0x00, tllao_a, sizeof(tllao_a)));
	assert_int_equal(fake_drops(SL_DROP_ND_INVALID), 2);
}

static void test_router_messages_teach_the_link_address_of_their_sender(void **state __rte_unused)
{
	rx(fake_nd(1, RS, "fe80::2", "ff02::2", "::", 0, sllao_a, sizeof(sllao_a)));
	assert_int_equal(fake_state(1, "fe80::2"), SL_NEIGH_STALE);
	assert_false(is_router("fe80::2"));
	rx(fake_nd(1, RA, "fe80::3", "ff02::1", "::", 0, sllao_a, sizeof(sllao_a)));
	assert_int_equal(fake_state(1, "fe80::3"), SL_NEIGH_STALE);
	assert_true(is_router("fe80::3"));
	rx(fake_nd(1, RS, "::", "ff02::2", "::", 0, NULL, 0));
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 2);
	assert_int_equal(fake.n_delivered, 3);
	rx(fake_nd(1, RA, "fd01::2", "ff02::1", "::", 0, sllao_a, sizeof(sllao_a)));
	assert_int_equal(fake_drops(SL_DROP_ND_INVALID), 1);
	assert_int_equal(fake.n_sent, 0);
}

static void test_redirect_is_not_followed(void **state __rte_unused)
{
	rx(fake_nd(1, 137, "fe80::2", "fd01::1", "fd01::7", 0, tllao_a, sizeof(tllao_a)));
	assert_int_equal(fake.n_delivered, 1);
	assert_int_equal(sl_neigh_list(&fake.r, NULL, 0), 0);
}

/* forwarded packets are asked for from the link-local address, then the neighbour is probed */
static void test_forwarded_packet_asks_from_link_local(void **state __rte_unused)
{
	struct rte_mbuf *m = fake_packet("fd02::2", "fd01::2", 60);

	sl_pkt(m)->out_port = 1;
	sl_pkt(m)->nh = &fake.direct[1];
	fake_forward(m);
	fake_flush();
	assert_int_equal(fake.n_sent, 1);
	fake_assert_frame(0,
			"3333ff00000202000000010186dd6000000000203aff"
			"fe80000000000000000000fffe000101ff0200000000000000000001ff000002"
			"87007b1600000000fd0100000000000000000000000000020101020000000101");
	rx(fake_nd(1, NA, "fd01::2", "fe80::ff:fe00:101", "fd01::2", 0x60, tllao_a,
			sizeof(tllao_a)));
	assert_int_equal(fake.n_sent, 2);
	assert_ptr_equal(fake.sent[1], m);
}

static void test_learnt_asker_is_probed_after_the_delay(void **state __rte_unused)
{
	ns("fd01::2", "fd01::1", "fd01::1", sllao_a, sizeof(sllao_a));
	fake_run(5 * FAKE_S);
	assert_int_equal(fake.n_sent, 2);
	fake_assert_frame(1,
			"02000000010202000000010186dd6000000000203aff"
			"fe80000000000000000000fffe000101fd010000000000000000000000000002"
			"87007c1900000000fd0100000000000000000000000000020101020000000101");
	fake_run(3 * FAKE_S);
	assert_int_equal(fake.n_sent, 4);
	assert_int_equal(fake_state(1, "fd01::2"), SL_NEIGH_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_multicast_solicitation_is_answered_with_r_s_o),
		T(test_unicast_solicitation_is_answered_with_r_s),
		T(test_answer_has_no_r_when_forwarding_is_off),
		T(test_unicast_solicitation_without_option_is_resolved_first),
		T(test_multicast_solicitation_without_option_of_a_stranger_is_silent),
		T(test_duplicate_address_detection_is_answered_to_all_without_s),
		T(test_anycast_address_is_answered_without_o),
		T(test_other_targets_are_silent),
		T(test_malformed_options_are_dropped),
		T(test_options_of_other_types_are_skipped_and_the_first_counts),
		T(test_invalid_headers_are_dropped),
		T(test_message_cut_anywhere_is_dropped),
		T(test_advertisement_table),
		T(test_advertisement_of_a_stranger_or_of_ours_changes_nothing),
		T(test_router_messages_teach_the_link_address_of_their_sender),
		T(test_redirect_is_not_followed),
		T(test_forwarded_packet_asks_from_link_local),
		T(test_learnt_asker_is_probed_after_the_delay),
#undef T
	};

	fake_eal();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
