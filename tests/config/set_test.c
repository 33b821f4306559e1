/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets at run time. Answers that are not obvious were given by Linux 6.18. */
#include "tests/config/set_fixture.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000) /* in ns */

static int setup(void **state)
{
	*state = set_fixture_new();
	return 0;
}

static int teardown(void **state)
{
	set_fixture_free(*state);
	return 0;
}

static void tcp(struct set_fixture *f, const char *src, const char *dst, uint16_t dport)
{
	set_packet(f, src, dst, IPPROTO_TCP, 1000, dport);
}

/* the line of a member, behind "add NAME " */
static bool has_line(struct set_fixture *f, const char *name, const char *line)
{
	char *text = set_text(f, name);
	bool has = strstr(text, line) != NULL;

	if (!has)
		fprintf(stderr, "%s is not in:\n%s", line, text);
	free(text);
	return has;
}

static void test_hash_ip_asks_the_direction(void **state)
{
	struct set_fixture *f = *state;

	set_load(f, "create a hash:ip\nadd a 10.0.0.1\n");
	tcp(f, "10.0.0.1", "10.0.0.2", 80);
	assert_true(set_asks(f, "a", "src", 0));
	assert_false(set_asks(f, "a", "dst", 0));
	/* a direction too many means nothing */
	assert_true(set_asks(f, "a", "src,dst", 0));
}

static void test_hash_ip_netmask_holds_nets_of_one_size(void **state)
{
	struct set_fixture *f = *state;

	set_load(f, "create a hash:ip netmask 24\nadd a 10.0.0.1\n");
	tcp(f, "10.0.0.77", "10.0.1.2", 80);
	assert_true(set_asks(f, "a", "src", 0));
	assert_false(set_asks(f, "a", "dst", 0));
}

static void test_other_family_finds_nothing(void **state)
{
	struct set_fixture *f = *state;

	set_load(f,
			"create a hash:ip\nadd a 10.0.0.1\n"
			"create b hash:ip family inet6\nadd b 2001:db8::1\n");
	tcp(f, "2001:db8::1", "2001:db8::2", 80);
	assert_false(set_asks(f, "a", "src", 0));
	assert_true(set_asks(f, "b", "src", 0));
	assert_int_equal(sl_sets_has(f->sets, "b", IPT_V4), -EAFNOSUPPORT);
	assert_int_equal(sl_sets_has(f->sets, "c", IPT_V4), -ENOENT);
	assert_int_equal(sl_sets_has(f->sets, "b", IPT_V6), 0);
}

static void test_nets_longest_decides_and_exceptions_end_the_search(void **state)
{
	struct set_fixture *f = *state;

	set_load(f,
			"create n hash:net\nadd n 10.0.0.0/8\nadd n 10.1.0.0/16 nomatch\n"
			"add n 10.1.2.0/24\n");
	tcp(f, "10.1.3.1", "10.1.2.1", 80);
	assert_false(set_asks(f, "n", "src", 0));
	assert_true(set_asks(f, "n", "src", SL_SET_RETURN_NOMATCH));
	assert_true(set_asks(f, "n", "dst", 0));
	assert_false(set_asks(f, "n", "dst", SL_SET_RETURN_NOMATCH));
	assert_int_equal(set_run(f, "test n 10.9.9.9"), 0);
	assert_int_equal(set_run(f, "test n 10.1.9.9"), 1);
	/* a net is looked for as it is */
	assert_int_equal(set_run(f, "test n 10.0.0.0/9"), 1);
	assert_int_equal(set_run(f, "test n 10.0.0.0/8"), 0);
	assert_int_equal(set_run(f, "test n 10.1.0.0/16 nomatch"), 0);
	assert_int_equal(set_run(f, "del n 10.1.0.0/16"), 0);
	assert_true(set_asks(f, "n", "src", 0));
}

static void test_net_net_tries_all_pairs_of_lengths(void **state)
{
	struct set_fixture *f = *state;

	set_load(f,
			"create n hash:net,net\nadd n 10.0.0.0/8,192.168.0.0/16\n"
			"add n 10.1.0.0/16,192.168.1.0/24 nomatch\nadd n 0.0.0.0/0,1.1.1.1\n");
	tcp(f, "10.1.0.1", "192.168.2.1", 80);
	assert_true(set_asks(f, "n", "src,dst", 0));
	tcp(f, "10.1.0.1", "192.168.1.1", 80);
	assert_false(set_asks(f, "n", "src,dst", 0));
	tcp(f, "77.1.0.1", "1.1.1.1", 80);
	assert_true(set_asks(f, "n", "src,dst", 0));
	assert_false(set_asks(f, "n", "dst,src", 0));
}

static void test_ports_need_their_protocol_and_a_header(void **state)
{
	struct set_fixture *f = *state;

	set_load(f,
			"create p hash:ip,port\nadd p 10.0.0.1,80\nadd p 10.0.0.1,udp:53\n"
			"add p 10.0.0.1,icmp:echo-request\nadd p 10.0.0.1,gre:0\n");
	tcp(f, "10.0.0.1", "10.0.0.2", 80);
	assert_true(set_asks(f, "p", "src,dst", 0));
	assert_false(set_asks(f, "p", "src,src", 0));
	assert_false(set_asks(f, "p", "src", 0)); /* too few directions */
	f->packet.m.pkt_len -= 1;
	f->packet.m.data_len -= 1;
	assert_false(set_asks(f, "p", "src,dst", 0)); /* 19 bytes of TCP */
	set_packet(f, "10.0.0.1", "10.0.0.2", IPPROTO_UDP, 53, 53);
	assert_true(set_asks(f, "p", "src,dst", 0));
	f->packet.p.flags |= SL_PKT_FRAG_LATER;
	assert_false(set_asks(f, "p", "src,dst", 0));
	set_packet(f, "10.0.0.1", "10.0.0.2", IPPROTO_ICMP, 0x0800, 0);
	assert_true(set_asks(f, "p", "src,dst", 0));
	set_packet(f, "10.0.0.1", "10.0.0.2", IPPROTO_GRE, 0, 0);
	assert_true(set_asks(f, "p", "src,dst", 0));
	f->packet.p.flags |= SL_PKT_FRAG_LATER;
	assert_true(set_asks(f, "p", "src,dst", 0)); /* no ports to miss */
}

static void test_three_dimensions(void **state)
{
	struct set_fixture *f = *state;

	set_load(f,
			"create a hash:ip,port,ip\nadd a 10.0.0.1,80,10.0.0.2\n"
			"create b hash:ip,port,net\nadd b 10.0.0.1,80,10.0.0.0/30\n"
			"create c hash:net,port,net\nadd c 10.0.0.0/24,80,10.0.0.0/30\n"
			"create d hash:net,port\nadd d 10.0.0.0/24,80\n");
	tcp(f, "10.0.0.1", "10.0.0.2", 80);
	assert_true(set_asks(f, "a", "src,dst,dst", 0));
	assert_false(set_asks(f, "a", "src,dst,src", 0));
	assert_true(set_asks(f, "b", "src,dst,dst", 0));
	assert_true(set_asks(f, "c", "src,dst,dst", 0));
	assert_true(set_asks(f, "d", "dst,dst", 0));
	tcp(f, "10.0.0.1", "10.0.0.5", 80);
	assert_false(set_asks(f, "a", "src,dst,dst", 0));
	assert_false(set_asks(f, "b", "src,dst,dst", 0));
	assert_false(set_asks(f, "c", "src,dst,dst", 0));
	assert_true(set_asks(f, "d", "dst,dst", 0));
}

static void test_interfaces_by_name_and_by_prefix(void **state)
{
	struct set_fixture *f = *state;

	set_load(f,
			"create i hash:net,iface\nadd i 10.0.0.0/8,wan\nadd i 11.0.0.0/8,wa wildcard\n"
			"add i 12.0.0.0/8,physdev:wan\n");
	tcp(f, "10.0.0.1", "11.0.0.1", 80);
	assert_true(set_asks(f, "i", "src,src", 0));
	assert_false(set_asks(f, "i", "src,dst", 0));
	assert_true(set_asks(f, "i", "dst,src", 0));
	tcp(f, "12.0.0.1", "12.0.0.1", 80);
	assert_false(set_asks(f, "i", "src,src", 0));
	/* a longer net on another interface hides the shorter one */
	assert_int_equal(set_run(f, "add i 10.0.0.0/24,lan"), 0);
	tcp(f, "10.0.0.1", "10.0.1.1", 80);
	assert_false(set_asks(f, "i", "src,src", 0));
	assert_true(set_asks(f, "i", "dst,src", 0));
	assert_int_equal(set_run(f, "del i 10.0.0.0/24,lan"), 0);
	assert_true(set_asks(f, "i", "src,src", 0));
	f->c.in = SL_PORT_NONE;
	tcp(f, "10.0.0.1", "11.0.0.1", 80);
	assert_false(set_asks(f, "i", "src,src", 0));
	/* the prefix stands for the names that begin with it */
	assert_int_equal(set_run(f, "add i 11.0.0.0/8,wan"), -EEXIST);
	assert_int_equal(set_run(f, "test i 11.0.0.1,w"), 1);
	assert_int_equal(set_run(f, "del i 11.0.0.0/8,wax"), 0);
}

static void test_link_addresses(void **state)
{
	struct set_fixture *f = *state;

	set_load(f,
			"create m hash:mac\nadd m 02:00:00:00:00:01\n"
			"create n hash:ip,mac\nadd n 10.0.0.1,02:00:00:00:00:01\n");
	tcp(f, "10.0.0.1", "10.0.0.2", 80);
	assert_true(set_asks(f, "m", "src", 0));
	assert_false(set_asks(f, "m", "dst", 0));
	assert_true(set_asks(f, "n", "src,src", 0));
	assert_false(set_asks(f, "n", "dst,src", 0));
	f->packet.p.flags |= SL_PKT_ORIGIN;
	assert_false(set_asks(f, "m", "src", 0));
}

static void test_bitmap_ip_mac_learns_from_the_packet(void **state)
{
	struct set_fixture *f = *state;

	set_load(f,
			"create m bitmap:ip,mac range 10.0.0.0/24\nadd m 10.0.0.1\n"
			"add m 10.0.0.2,02:00:00:00:00:09\n");
	assert_int_equal(set_run(f, "test m 10.0.0.1,02:00:00:00:00:09"), 0);
	assert_int_equal(set_run(f, "test m 10.0.0.2,02:00:00:00:00:08"), 1);
	assert_int_equal(set_run(f, "test m 10.0.0.2"), 0);
	tcp(f, "10.0.0.1", "10.0.0.2", 80);
	assert_true(set_asks(f, "m", "src,src", 0));
	assert_true(has_line(f, "m", "add m 10.0.0.1,02:00:00:00:00:01\n"));
	assert_false(set_asks(f, "m", "src,dst", 0));
	assert_int_equal(set_run(f, "add m 10.0.1.0"), -EINVAL);
	assert_int_equal(set_run(f, "test m 10.0.0.9"), 1);
}

static void test_bitmaps_hold_their_range(void **state)
{
	struct set_fixture *f = *state;

	set_load(f,
			"create b bitmap:ip range 10.0.0.0/16 netmask 24\nadd b 10.0.3.0\n"
			"create p bitmap:port range 80-90\nadd p 80\n");
	tcp(f, "10.0.3.77", "10.1.0.1", 80);
	assert_true(set_asks(f, "b", "src", 0));
	assert_false(set_asks(f, "b", "dst", 0));
	assert_true(set_asks(f, "p", "dst", 0));
	assert_false(set_asks(f, "p", "src", 0));
	set_packet(f, "10.0.0.1", "10.0.0.2", IPPROTO_SCTP, 80, 80);
	assert_false(set_asks(f, "p", "dst", 0)); /* TCP and UDP only */
	set_packet(f, "2001:db8::1", "2001:db8::2", IPPROTO_UDP, 80, 80);
	assert_true(set_asks(f, "p", "dst", 0));
}

static void test_marks(void **state)
{
	struct set_fixture *f = *state;

	set_load(f, "create m hash:ip,mark markmask 0xff\nadd m 10.0.0.1,0x1234\n");
	tcp(f, "10.0.0.1", "10.0.0.2", 80);
	f->packet.p.mark = 0xab34;
	assert_true(set_asks(f, "m", "src,src", 0));
	f->packet.p.mark = 0x35;
	assert_false(set_asks(f, "m", "src,src", 0));
}

static void test_timeouts_run_out(void **state)
{
	struct set_fixture *f = *state;

	set_load(f, "create t hash:ip timeout 10 maxelem 2\nadd t 10.0.0.1\nadd t 10.0.0.2 timeout 0\n");
	tcp(f, "10.0.0.1", "10.0.0.2", 80);
	f->c.w->now_ns += 10 * SECOND;
	assert_true(set_asks(f, "t", "src", 0));
	assert_int_equal(set_run(f, "add t 10.0.0.3"), -ENOSPC);
	f->c.w->now_ns += 1;
	assert_false(set_asks(f, "t", "src", 0));
	assert_true(set_asks(f, "t", "dst", 0));
	assert_int_equal(set_run(f, "del t 10.0.0.1"), -ENOMSG);
	assert_int_equal(set_run(f, "add t 10.0.0.3"), 0);
	assert_true(has_line(f, "t", "add t 10.0.0.3 timeout 10\n"));
	assert_true(has_line(f, "t", "add t 10.0.0.2 timeout 0\n"));
}

static void test_counters_count_before_they_are_compared(void **state)
{
	struct set_fixture *f = *state;
	struct sl_set_ask ask = { .n = 1, .src = 1, .packets_op = SL_SET_OP_EQ, .packets = 2 };
	struct set_slot *slot;

	set_load(f, "create c hash:ip counters\nadd c 10.0.0.1\n");
	tcp(f, "10.0.0.1", "10.0.0.2", 80);
	slot = sl_set_slot(f->sets, "c", false);
	assert_false(sl_set_match(slot, &f->c, &ask, NULL));
	assert_true(sl_set_match(slot, &f->c, &ask, NULL));
	assert_false(sl_set_match(slot, &f->c, &ask, NULL));
	ask.flags = SL_SET_NO_COUNTERS;
	assert_false(sl_set_match(slot, &f->c, &ask, NULL));
	sl_set_put(slot, false);
	assert_true(has_line(f, "c", "add c 10.0.0.1 packets 3 bytes 120\n"));
}

static void test_packets_add_and_delete(void **state)
{
	struct set_fixture *f = *state;

	set_load(f, "create a hash:ip timeout 5 counters\ncreate n hash:net\nadd n 10.7.0.0/16\n");
	tcp(f, "10.0.0.1", "10.0.0.2", 80);
	set_adds(f, "a", "dst", 0);
	assert_true(has_line(f, "a", "add a 10.0.0.2 timeout 5 packets 1 bytes 40\n"));
	assert_true(set_asks(f, "a", "dst", 0));
	f->c.w->now_ns += 2 * SECOND;
	set_adds(f, "a", "dst", 0);
	assert_true(has_line(f, "a", "add a 10.0.0.2 timeout 3 packets 2 bytes 80\n"));
	set_adds(f, "a", "dst", SL_SET_EXIST);
	assert_true(has_line(f, "a", "add a 10.0.0.2 timeout 5 packets 1 bytes 40\n"));
	set_dels(f, "a", "dst");
	assert_false(set_asks(f, "a", "dst", 0));
	/* with the longest prefix that is there */
	set_adds(f, "n", "src", 0);
	assert_true(has_line(f, "n", "add n 10.0.0.0/16\n"));
}

static void test_full_set_refuses_or_forgets(void **state)
{
	struct set_fixture *f = *state;

	set_load(f,
			"create a hash:ip maxelem 2\nadd a 1.1.1.1\nadd a 1.1.1.2\n"
			"create b hash:ip maxelem 2 forceadd\nadd b 1.1.1.1\nadd b 1.1.1.2\n");
	assert_int_equal(set_run(f, "add a 1.1.1.3"), -ENOSPC);
	assert_int_equal(set_run(f, "add a 1.1.1.2"), -EEXIST);
	assert_int_equal(set_run(f, "add b 1.1.1.3"), 0);
	assert_int_equal(set_run(f, "test b 1.1.1.3"), 0);
	assert_int_equal(set_run(f, "test b 1.1.1.1") + set_run(f, "test b 1.1.1.2"), 1);
}

static void test_lists_ask_their_sets_in_turn(void **state)
{
	struct set_fixture *f = *state;

	set_load(f,
			"create a hash:ip\ncreate b hash:net family inet6\ncreate c hash:ip\nadd c 10.0.0.1\n"
			"create l list:set\nadd l a\nadd l b\nadd l c\n");
	tcp(f, "10.0.0.1", "10.0.0.2", 80);
	assert_true(set_asks(f, "l", "src", 0));
	assert_false(set_asks(f, "l", "dst", 0));
	set_adds(f, "l", "dst", 0); /* into the first that takes it */
	assert_true(set_asks(f, "a", "dst", 0));
	assert_int_equal(set_run(f, "destroy a"), -EBUSY);
	assert_int_equal(set_run(f, "test l b"), 0);
	assert_int_equal(set_run(f, "del l a"), 0);
	assert_int_equal(set_run(f, "test l a"), 1);
	assert_int_equal(set_run(f, "destroy a"), 0);
	assert_int_equal(set_run(f, "test a 1.1.1.1"), -ENOENT);
}

static void test_swap_changes_what_a_rule_sees(void **state)
{
	struct set_fixture *f = *state;
	struct sl_set_ask ask = { .n = 1, .src = 1 };
	struct set_slot *slot;

	set_load(f,
			"create a hash:ip\ncreate b bitmap:ip range 10.0.0.0/24\nadd b 10.0.0.1\n"
			"create n hash:net\n");
	tcp(f, "10.0.0.1", "10.0.0.2", 80);
	slot = sl_set_slot(f->sets, "a", false);
	assert_false(sl_set_match(slot, &f->c, &ask, NULL));
	assert_int_equal(set_run(f, "swap a n"), -EPROTOTYPE);
	assert_int_equal(set_run(f, "swap a b"), 0);
	assert_true(sl_set_match(slot, &f->c, &ask, NULL));
	assert_int_equal(set_run(f, "flush a"), 0);
	assert_false(sl_set_match(slot, &f->c, &ask, NULL));
	assert_int_equal(set_run(f, "destroy a"), -EBUSY);
	sl_set_put(slot, false);
}

static void test_reload_keeps_what_the_file_says_as_before(void **state)
{
	struct set_fixture *f = *state;

	set_load(f, "create a hash:ip\ncreate b hash:ip\nadd b 1.1.1.1\ncreate l list:set\nadd l b\n");
	assert_int_equal(set_run(f, "add a 2.2.2.2"), 0);
	assert_int_equal(set_run(f, "add b 2.2.2.2"), 0);
	assert_int_equal(set_run(f, "create c hash:ip"), 0);
	assert_int_equal(set_run(f, "add l a"), 0);
	set_load(f, "create a hash:ip\ncreate b hash:ip\nadd b 1.1.1.2\ncreate l list:set\nadd l b\n");
	assert_int_equal(set_run(f, "test a 2.2.2.2"), 0);
	assert_int_equal(set_run(f, "test b 2.2.2.2"), 1);
	assert_int_equal(set_run(f, "test b 1.1.1.2"), 0);
	assert_int_equal(set_run(f, "test c 2.2.2.2"), 1);
	assert_int_equal(set_run(f, "test l b"), 0);
	assert_int_equal(set_run(f, "test l a"), 1);
}

static void test_many_members_come_and_go(void **state)
{
	struct set_fixture *f = *state;
	struct ipset_member m = { .key.len = 32 };

	set_load(f, "create a hash:ip maxelem 100000\n");
	for (uint32_t i = 1; i <= 100000; i++) {
		m.key.addr.w[0] = i * 7;
		assert_int_equal(sl_set_add(f->sets, "a", &m, NULL, false), 0);
	}
	for (uint32_t i = 1; i <= 100000; i += 2) {
		m.key.addr.w[0] = i * 7;
		assert_int_equal(sl_set_del(f->sets, "a", &m, NULL), 0);
	}
	for (uint32_t i = 1; i <= 700000; i++) {
		m.key.addr.w[0] = i;
		assert_int_equal(sl_set_test(f->sets, "a", &m, NULL), i % 14 == 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_hash_ip_asks_the_direction),
		TEST(test_hash_ip_netmask_holds_nets_of_one_size),
		TEST(test_other_family_finds_nothing),
		TEST(test_nets_longest_decides_and_exceptions_end_the_search),
		TEST(test_net_net_tries_all_pairs_of_lengths),
		TEST(test_ports_need_their_protocol_and_a_header),
		TEST(test_three_dimensions),
		TEST(test_interfaces_by_name_and_by_prefix),
		TEST(test_link_addresses),
		TEST(test_bitmap_ip_mac_learns_from_the_packet),
		TEST(test_bitmaps_hold_their_range),
		TEST(test_marks),
		TEST(test_timeouts_run_out),
		TEST(test_counters_count_before_they_are_compared),
		TEST(test_packets_add_and_delete),
		TEST(test_full_set_refuses_or_forgets),
		TEST(test_lists_ask_their_sets_in_turn),
		TEST(test_swap_changes_what_a_rule_sees),
		TEST(test_reload_keeps_what_the_file_says_as_before),
		TEST(test_many_members_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
