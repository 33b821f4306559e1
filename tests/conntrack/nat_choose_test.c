/* SPDX-License-Identifier: BSD-3-Clause */
/* Which address and port a connection gets. Known answers are the kernel's. */
#include "conntrack/claims.h"
#include "conntrack/expect.h"
#include "conntrack/nat.h"
#include "lib/worker.h"
#include "tests/conntrack/table_fixture.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define CLIENT "192.168.1.1"
#define SERVER "10.8.1.1"
#define OUTSIDE "10.0.2.1"

static struct ct_table *t;
static struct ct_shard *s;
static struct sl_worker *w;

static void start(unsigned int n_workers)
{
	t = tf_table(5000, n_workers, 5000);
	s = t->shard[0];
	w = t->r->workers[0];
	assert_int_equal(ct_nat_prepare(t), 0);
}

static int setup(void **state)
{
	(void)state;
	start(1);
	return 0;
}

static int setup2(void **state)
{
	(void)state;
	start(2);
	return 0;
}

static struct sl_addr addr(const char *text)
{
	struct sl_addr a;

	assert_int_not_equal(sl_addr_parse(text, &a), SL_AF_NONE);
	return a;
}

static struct ct_nat_range addresses(const char *lo, const char *hi)
{
	return (struct ct_nat_range){ .flags = CT_NAT_ADDRS, .lo = addr(lo), .hi = addr(hi) };
}

static struct ct_nat_range ports(const char *a, uint16_t lo, uint16_t hi)
{
	struct ct_nat_range r = addresses(a, a);

	r.flags |= CT_NAT_PORTS;
	r.port_lo = lo;
	r.port_hi = hi;
	return r;
}

static struct ct_entry *begin_as(const struct ct_tuple *orig)
{
	struct ct_tuple reply;
	struct ct_entry *e;

	assert_true(ct_tuple_invert(orig, &reply));
	e = ct_create(s, orig, &reply);
	assert_non_null(e);
	ct_refresh(s, e, 30);
	return e;
}

static struct ct_entry *begin(const char *src, uint16_t sport, const char *dst, uint16_t dport)
{
	struct ct_tuple orig = tf_tuple(src, dst, IPPROTO_UDP, sport, dport);

	return begin_as(&orig);
}

/* as the first packet goes through PREROUTING and POSTROUTING. Return: whether it got through */
static bool snat(struct ct_entry *e, const struct ct_nat_range *range)
{
	if (!ct_nat_setup_null(w, s, e, CT_MANIP_DST)
			|| !ct_nat_setup(w, s, e, range, CT_MANIP_SRC))
		return false;
	ct_confirm(s, e);
	return true;
}

static bool dnat(struct ct_entry *e, const struct ct_nat_range *range)
{
	if (!ct_nat_setup(w, s, e, range, CT_MANIP_DST)
			|| !ct_nat_setup_null(w, s, e, CT_MANIP_SRC))
		return false;
	ct_confirm(s, e);
	return true;
}

static uint16_t new_port(const struct ct_entry *e)
{
	return rte_be_to_cpu_16(e->reply.dport_be);
}

static void assert_address(const struct sl_addr *a, const char *text)
{
	char found[SL_ADDR_STRLEN];

	assert_string_equal(sl_addr_str(SL_AF_INET, a, found), text);
}

static void test_address_of_a_range_is_the_kernels(void **state)
{
	struct ct_nat_range r = addresses("10.0.2.100", "10.0.2.149");
	struct ct_entry *e;

	(void)state;
	e = begin(CLIENT, 4000, SERVER, 53);
	assert_true(snat(e, &r));
	assert_address(&e->reply.dst, "10.0.2.108");
	assert_int_equal(new_port(e), 4000);
	r.flags |= CT_NAT_PERSISTENT;
	e = begin(CLIENT, 4001, SERVER, 53);
	assert_true(snat(e, &r));
	assert_address(&e->reply.dst, "10.0.2.131");
}

static void test_port_is_kept_if_it_is_free(void **state)
{
	struct ct_nat_range r = addresses(OUTSIDE, OUTSIDE);
	static const uint16_t from[] = { 4000, 600, 80 };
	/* where the other one is looked for: in the class of the old port */
	static const uint16_t lo[] = { 1024, 600, 1 }, hi[] = { 65535, 1023, 511 };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(from); i++) {
		struct ct_entry *a = begin("192.168.1.1", from[i], SERVER, 53);
		struct ct_entry *b = begin("192.168.1.2", from[i], SERVER, 53);
		struct ct_entry *c = begin("192.168.1.3", from[i], SERVER, 54);

		assert_true(snat(a, &r) && snat(b, &r) && snat(c, &r));
		assert_int_equal(new_port(a), from[i]);
		assert_int_not_equal(new_port(b), from[i]);
		assert_in_range(new_port(b), lo[i], hi[i]);
		/* to another destination the same port is as good as free */
		assert_int_equal(new_port(c), from[i]);
	}
}

static void test_one_source_keeps_its_port(void **state)
{
	struct ct_nat_range r = addresses(OUTSIDE, OUTSIDE);
	struct ct_entry *a, *b, *c;

	(void)state;
	a = begin("192.168.1.1", 4000, SERVER, 53);
	b = begin("192.168.1.2", 4000, SERVER, 53);
	c = begin("192.168.1.2", 4000, SERVER, 54);
	assert_true(snat(a, &r) && snat(b, &r) && snat(c, &r));
	assert_int_equal(new_port(c), new_port(b));
}

static void test_port_range(void **state)
{
	struct ct_nat_range r = ports("10.0.0.9", 8000, 8010);
	struct ct_entry *e;

	(void)state;
	e = begin(CLIENT, 4000, SERVER, 80);
	assert_true(dnat(e, &r));
	assert_int_equal(rte_be_to_cpu_16(e->reply.sport_be), 8000);
	e = begin(CLIENT, 4000, SERVER, 8005);
	assert_true(dnat(e, &r));
	assert_int_equal(rte_be_to_cpu_16(e->reply.sport_be), 8005);
	r.flags |= CT_NAT_BASE;
	r.base = 2000;
	e = begin(CLIENT, 4001, SERVER, 2003);
	assert_true(dnat(e, &r));
	assert_int_equal(rte_be_to_cpu_16(e->reply.sport_be), 8003);
}

static void test_n31_every_port_is_in_the_range_and_past_it_none(void **state)
{
	struct ct_nat_range r = ports(OUTSIDE, 32768, 32863);
	bool used[96] = { false };
	char src[32];

	(void)state;
	for (unsigned int i = 0; i < 96; i++) {
		struct ct_entry *e;

		snprintf(src, sizeof(src), "192.168.1.%u", i + 1);
		e = begin(src, 4000, SERVER, 53);
		assert_true(snat(e, &r));
		assert_in_range(new_port(e), 32768, 32863);
		assert_false(used[new_port(e) - 32768]);
		used[new_port(e) - 32768] = true;
	}
	assert_false(snat(begin("192.168.2.1", 4000, SERVER, 53), &r));
}

static void test_n15_exhaustion_is_counted_and_ends(void **state)
{
	struct ct_nat_range r = ports(OUTSIDE, 7000, 7001);

	(void)state;
	assert_true(snat(begin("192.168.1.1", 4000, SERVER, 53), &r));
	assert_true(snat(begin("192.168.1.2", 4000, SERVER, 53), &r));
	assert_int_equal(s->nat_exhausted, 0);
	assert_false(snat(begin("192.168.1.3", 4000, SERVER, 53), &r));
	assert_false(snat(begin("192.168.1.4", 4000, SERVER, 53), &r));
	assert_int_equal(s->nat_exhausted, 2);
	assert_true(snat(begin("192.168.1.5", 4000, SERVER, 54), &r));
	tf_pass(t, 31000);
	assert_int_equal(s->count, 0);
	assert_true(snat(begin("192.168.1.3", 4000, SERVER, 53), &r));
	assert_true(snat(begin("192.168.1.4", 4000, SERVER, 53), &r));
	assert_int_equal(s->nat_exhausted, 2);
}

static void test_without_a_rule_only_a_clash_changes_the_port(void **state)
{
	struct ct_nat_range to = ports("10.9.0.9", 53, 53);
	struct ct_entry *a, *b;

	(void)state;
	a = begin(CLIENT, 40000, SERVER, 53);
	assert_true(dnat(a, &to));
	/* the same answer: the address stays, the port does not */
	b = begin(CLIENT, 40000, "10.9.0.9", 53);
	assert_true(ct_nat_setup_null(w, s, b, CT_MANIP_DST));
	assert_true(ct_nat_setup_null(w, s, b, CT_MANIP_SRC));
	assert_address(&b->reply.dst, CLIENT);
	assert_int_not_equal(new_port(b), 40000);
	assert_in_range(new_port(b), 1024, 65535);
	assert_true(b->status & CT_SRC_NAT);
}

static void test_icmp_id_is_like_a_port(void **state)
{
	struct ct_nat_range r = addresses(OUTSIDE, OUTSIDE);
	struct ct_tuple x = tf_icmp("192.168.1.1", SERVER, 0x1234, 8);
	struct ct_tuple y = tf_icmp("192.168.1.2", SERVER, 0x1234, 8);
	struct ct_entry *a = begin_as(&x), *b = begin_as(&y);

	(void)state;
	assert_true(snat(a, &r) && snat(b, &r));
	assert_int_equal(rte_be_to_cpu_16(a->reply.id_be), 0x1234);
	assert_int_not_equal(rte_be_to_cpu_16(b->reply.id_be), 0x1234);
}

static void test_what_was_announced_follows_its_master(void **state)
{
	struct ct_tuple tuple = tf_tuple(SERVER, OUTSIDE, IPPROTO_TCP, 20, 5001);
	struct ct_expect x = { .follows = true,
		.to_src = addr(SERVER),
		.to_dst = addr(CLIENT),
		.to_port_be = RTE_BE16(5000) };
	struct ct_entry *e = begin_as(&tuple);
	struct ct_tuple want = tf_tuple(CLIENT, SERVER, IPPROTO_TCP, 5000, 20);

	(void)state;
	assert_true(ct_nat_follow(w, s, e, &x));
	assert_true(ct_tuple_eq(&e->reply, &want));
	assert_int_equal(e->status & CT_NAT_MASK, CT_DST_NAT);
	assert_ptr_equal(ct_find(s, &want).e, e);
}

/* with several workers whoever made the connection is found by its answers */
static void test_replies_of_another_worker_are_claimed(void **state)
{
	struct ct_nat_range r = addresses(OUTSIDE, OUTSIDE);
	unsigned int n_claimed = 0;

	(void)state;
	for (uint16_t i = 0; i < 64; i++) {
		struct ct_entry *e = begin(CLIENT, (uint16_t)(4000 + i), SERVER, 53);
		struct ct_tuple reply;
		int claimed;

		assert_true(snat(e, &r));
		reply = e->reply;
		claimed = ct_claimed(t, &reply);
		assert_int_equal(claimed, ct_owner(t, &reply) == 0 ? -1 : 0);
		n_claimed += claimed == 0;
		/* and nobody else gets the port */
		assert_int_equal(ct_claim(t, &reply, 1), claimed == 0 ? -EEXIST : 0);
		if (claimed != 0)
			ct_unclaim(t, &reply, 1);
		ct_kill(s, e);
		assert_int_equal(ct_claimed(t, &reply), -1);
	}
	assert_in_range(n_claimed, 8, 56);
}

#define TEST(name, start_) cmocka_unit_test_setup_teardown(name, start_, tf_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_address_of_a_range_is_the_kernels, setup),
		TEST(test_port_is_kept_if_it_is_free, setup),
		TEST(test_one_source_keeps_its_port, setup),
		TEST(test_port_range, setup),
		TEST(test_n31_every_port_is_in_the_range_and_past_it_none, setup),
		TEST(test_n15_exhaustion_is_counted_and_ends, setup),
		TEST(test_without_a_rule_only_a_clash_changes_the_port, setup),
		TEST(test_icmp_id_is_like_a_port, setup),
		TEST(test_what_was_announced_follows_its_master, setup),
		TEST(test_replies_of_another_worker_are_claimed, setup2),
	};

	return cmocka_run_group_tests(tests, tf_eal, NULL);
}
