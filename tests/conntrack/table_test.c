/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/hash.h"
#include "conntrack/index.h"
#include "conntrack/table.h"
#include "tests/conntrack/table_fixture.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct ct_tuple *answer_of(const struct ct_tuple *t)
{
	static struct ct_tuple answer;

	assert_true(ct_tuple_invert(t, &answer));
	return &answer;
}

static void found_as(struct ct_shard *s, const struct ct_tuple *t, const struct ct_entry *e,
		enum ct_dir dir)
{
	struct ct_found one = ct_find(s, t), bulk;

	ct_find_bulk(s, t, 1, &bulk);
	assert_ptr_equal(one.e, e);
	assert_ptr_equal(bulk.e, e);
	if (e != NULL) {
		assert_int_equal(one.dir, dir);
		assert_int_equal(bulk.dir, dir);
	}
}

static void test_table_find_both_directions(void **state)
{
	struct ct_shard *s = tf_table(100, 1, 0)->shard[0];
	const struct ct_tuple t[] = {
		tf_tuple("10.0.0.1", "10.0.0.2", IPPROTO_TCP, 40000, 80),
		tf_tuple("10.0.0.1", "10.0.0.2", IPPROTO_UDP, 40000, 80),
		tf_tuple("2001:db8::1", "2001:db8::2", IPPROTO_TCP, 40000, 80),
		tf_tuple("10.0.0.1", "10.0.0.2", 47, 0, 0),
		tf_icmp("10.0.0.1", "10.0.0.2", 7, 8),
		tf_icmp("10.0.0.1", "10.0.0.2", 7, 13),
	};
	struct ct_entry *e[RTE_DIM(t)];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(t); i++)
		e[i] = tf_add(s, &t[i], 30);
	for (unsigned int i = 0; i < RTE_DIM(t); i++) {
		found_as(s, &t[i], e[i], CT_ORIGINAL);
		found_as(s, answer_of(&t[i]), e[i], CT_REPLY);
	}
	assert_int_equal(s->count, RTE_DIM(t));
	assert_int_equal(s->stats.insert, RTE_DIM(t));
}

/* what differs in one field is another connection */
static void test_table_find_nothing_else(void **state)
{
	struct ct_shard *s = tf_table(100, 1, 0)->shard[0];
	const struct ct_tuple t = tf_tuple("10.0.0.1", "10.0.0.2", IPPROTO_TCP, 40000, 80);
	struct ct_tuple other[] = { t, t, t, t, t, t, t, t };

	(void)state;
	tf_add(s, &t, 30);
	other[0].src.v4 ^= 1;
	other[1].dst.v4 ^= 1;
	other[2].sport_be ^= 1;
	other[3].dport_be ^= 1;
	other[4].proto = IPPROTO_UDP;
	other[5].zone = 1;
	other[6].family = SL_AF_INET6;
	other[7].src = t.dst; /* addresses turned, ports not */
	other[7].dst = t.src;
	for (unsigned int i = 0; i < RTE_DIM(other); i++)
		found_as(s, &other[i], NULL, CT_ORIGINAL);
	/* an echo reply is no request */
	other[0] = tf_icmp("10.0.0.1", "10.0.0.2", 7, 8);
	tf_add(s, &other[0], 30);
	other[0].type = 0;
	found_as(s, &other[0], NULL, CT_ORIGINAL);
	other[0] = *answer_of(&other[0]);
	found_as(s, &other[0], NULL, CT_ORIGINAL);
}

static void test_table_unconfirmed_dies_with_its_turn(void **state)
{
	struct ct_shard *s = tf_table(100, 1, 0)->shard[0];
	struct ct_tuple t = tf_many(1);
	struct ct_entry *e = ct_create(s, &t, answer_of(&t));

	(void)state;
	assert_non_null(e);
	found_as(s, &t, e, CT_ORIGINAL); /* by the next packet of the burst */
	assert_int_equal(s->count, 1);
	ct_tick(s, 0);
	found_as(s, &t, NULL, CT_ORIGINAL);
	assert_int_equal(s->count, 0);
	assert_int_equal(s->stats.delete, 0);
	assert_int_equal(s->index->keys, 0);
}

static void test_table_zones_of_two_directions(void **state)
{
	struct ct_shard *s = tf_table(100, 1, 0)->shard[0];
	struct ct_tuple t = tf_many(1), reply = *answer_of(&t), both = t;
	struct ct_entry *e, *e2;

	(void)state;
	t.zone = 5;
	e = ct_create(s, &t, &reply);
	assert_true(e->status & CT_TWO_TUPLES);
	ct_refresh(s, e, 30);
	ct_confirm(s, e);
	found_as(s, &t, e, CT_ORIGINAL);
	found_as(s, &reply, e, CT_REPLY);
	reply.zone = 5;
	found_as(s, &reply, NULL, CT_REPLY);
	found_as(s, &both, NULL, CT_ORIGINAL);
	/* the same in a zone of both directions */
	both.zone = 7;
	e2 = tf_add(s, &both, 30);
	assert_false(e2->status & CT_TWO_TUPLES);
	found_as(s, &both, e2, CT_ORIGINAL);
	found_as(s, answer_of(&both), e2, CT_REPLY);
	ct_kill(s, e);
	ct_kill(s, e2);
	assert_int_equal(s->index->keys, 0);
}

static void test_table_set_reply_when_nat(void **state)
{
	struct ct_shard *s = tf_table(100, 1, 0)->shard[0];
	struct ct_tuple t = tf_many(1), plain = *answer_of(&t), nat = plain, t2 = tf_many(2), r2;
	struct ct_entry *e = tf_add(s, &t, 30), *e2;

	(void)state;
	nat.dst.v4 = RTE_BE32(0xc6336401);
	nat.dport_be = RTE_BE16(6000);
	assert_int_equal(ct_set_reply(s, e, &nat), 0);
	found_as(s, &t, e, CT_ORIGINAL);
	found_as(s, &nat, e, CT_REPLY);
	found_as(s, &plain, NULL, CT_REPLY);
	assert_true(ct_is_used(s, &nat, NULL));
	assert_false(ct_is_used(s, &nat, e));
	/* another one may not have that answer, and keeps its own */
	e2 = tf_add(s, &t2, 30);
	r2 = e2->reply;
	assert_int_equal(ct_set_reply(s, e2, &nat), -EEXIST);
	found_as(s, &r2, e2, CT_REPLY);
	assert_int_equal(s->stats.found, 2);
	/* to another and back */
	nat.dport_be = RTE_BE16(6001);
	assert_int_equal(ct_set_reply(s, e, &nat), 0);
	found_as(s, &nat, e, CT_REPLY);
	assert_int_equal(ct_set_reply(s, e, &plain), 0);
	found_as(s, &plain, e, CT_REPLY);
	found_as(s, &nat, NULL, CT_REPLY);
	assert_false(e->status & CT_TWO_TUPLES);
	assert_int_equal(s->index->keys, 2);
}

static void test_table_kill_when_fresh_and_twice(void **state)
{
	struct ct_shard *s = tf_table(100, 1, 0)->shard[0];
	struct ct_tuple t = tf_many(1);
	struct ct_entry *e = ct_create(s, &t, answer_of(&t));

	(void)state;
	ct_kill(s, e);
	ct_kill(s, e);
	assert_int_equal(s->count, 0);
	found_as(s, &t, NULL, CT_ORIGINAL);
	/* of the same turn and the same tuple, in other memory */
	assert_ptr_not_equal(tf_add(s, &t, 30), e);
	ct_tick(s, 0);
	assert_int_equal(s->n_free, 1);
	assert_int_equal(s->count, 1);
	e = ct_find(s, &t).e;
	ct_kill(s, e);
	ct_kill(s, e);
	ct_tick(s, 0);
	assert_int_equal(s->n_free, 2);
	assert_int_equal(s->stats.delete, 1);
}

static void test_table_id_and_cold_are_new_when_memory_is_used_anew(void **state)
{
	struct ct_shard *s = tf_table(100, 1, 0)->shard[0];
	struct ct_tuple t = tf_many(1), t2 = tf_many(2);
	struct ct_entry *e = tf_add(s, &t, 30), *e2;
	uint32_t id = e->id;

	(void)state;
	assert_int_not_equal(id, 0);
	ct_cold(s, e)->bytes[0] = 99;
	assert_int_equal(ct_cold_peek(s, e)->bytes[0], 99);
	ct_kill(s, e);
	ct_tick(s, 0);
	e2 = tf_add(s, &t2, 30);
	assert_ptr_equal(e2, e);
	assert_int_not_equal(e2->id, id);
	assert_int_equal(ct_cold_peek(s, e2)->bytes[0], 0);
	assert_false(e2->status & CT_COLD);
}

static void collect(struct ct_shard *s, struct ct_entry *e, void *arg)
{
	(void)s;
	++*(unsigned int *)arg;
	if (e->mark == 1)
		ct_kill(s, e);
}

static void test_table_walk_in_pieces(void **state)
{
	struct ct_shard *s = tf_table(1000, 1, 0)->shard[0];
	unsigned int n = 0, calls = 0;

	(void)state;
	for (uint32_t i = 0; i < 500; i++) {
		struct ct_tuple t = tf_many(i);

		tf_add(s, &t, i < 100 ? 1 : 30)->mark = i >= 400;
	}
	s->now_ms = 1000; /* the first hundred are over, and still there */
	for (uint32_t at = 0; at != CT_NONE; calls++)
		at = ct_walk(s, at, 64, collect, &n);
	assert_int_equal(n, 400);
	assert_int_equal(calls, 8);
	assert_int_equal(s->count, 400);
	ct_tick(s, 1000);
	n = 0;
	assert_int_equal(ct_walk(s, 0, UINT32_MAX, collect, &n), CT_NONE);
	assert_int_equal(n, 300);
}

/* a million, each with a second tuple as NAT gives it: every one has its place and is found */
static void test_table_full_of_two_tuples(void **state)
{
	const uint32_t max = 1000000;
	struct ct_shard *s = tf_table(max, 1, 0)->shard[0];
	struct ct_tuple t, nat;

	(void)state;
	for (uint32_t i = 0; i < max; i++) {
		struct ct_entry *e;

		t = tf_many(i);
		e = tf_add(s, &t, 30);
		assert_non_null(e);
		nat = e->reply;
		nat.dst.v4 = rte_cpu_to_be_32(0xc6330000 + i / 60000);
		nat.dport_be = rte_cpu_to_be_16((uint16_t)(i % 60000));
		assert_int_equal(ct_set_reply(s, e, &nat), 0);
		if (i % 64 == 0)
			ct_tick(s, 0);
	}
	assert_int_equal(s->stats.chaintoolong, 0);
	assert_int_equal(s->index->keys, 2 * max);
	for (uint32_t i = 0; i < max; i += 7) {
		struct ct_found f;

		t = tf_many(i);
		f = ct_find(s, &t);
		assert_non_null(f.e);
		assert_int_equal(ct_index_of(s, f.e), i);
		assert_ptr_equal(ct_find(s, &f.e->reply).e, f.e);
	}
}

static void test_hash_is_even_over_tuples_in_a_row(void **state)
{
	struct ct_shard *s = tf_table(100, 1, 0)->shard[0];
	static uint32_t of_low[4096], of_tag[4096];

	(void)state;
	for (uint32_t i = 0; i < 4096 * 64; i++) {
		struct ct_tuple t = tf_many(i);
		uint64_t h = ct_hash(&s->index->key, &t);

		assert_true(h == ct_hash(&s->index->key, answer_of(&t)));
		of_low[h & 4095]++;
		of_tag[ct_tag(h) >> 4]++;
	}
	for (unsigned int i = 0; i < 4096; i++) { /* 64, +- 6 standard deviations */
		assert_in_range(of_low[i], 16, 112);
		assert_in_range(of_tag[i], 16, 112);
	}
}

/* an attacker who can choose one half of an IPv6 address and the port */
static void test_hash_tells_ports_from_addresses(void **state)
{
	struct ct_shard *s = tf_table(100, 1, 0)->shard[0];
	struct ct_tuple t = tf_tuple("2001:db8::1", "2001:db8::2", IPPROTO_UDP, 0, 53);
	uint64_t seen[64];

	(void)state;
	for (unsigned int i = 0; i < 64; i++) {
		t.sport_be = rte_cpu_to_be_16((uint16_t)i);
		t.src.b[15] = (uint8_t)i;
		seen[i] = ct_hash(&s->index->key, &t);
		for (unsigned int k = 0; k < i; k++)
			assert_true((uint32_t)seen[k] != (uint32_t)seen[i]);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, tf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_table_find_both_directions),
		TEST(test_table_find_nothing_else),
		TEST(test_table_unconfirmed_dies_with_its_turn),
		TEST(test_table_zones_of_two_directions),
		TEST(test_table_set_reply_when_nat),
		TEST(test_table_kill_when_fresh_and_twice),
		TEST(test_table_id_and_cold_are_new_when_memory_is_used_anew),
		TEST(test_table_walk_in_pieces),
		TEST(test_table_full_of_two_tuples),
		TEST(test_hash_is_even_over_tuples_in_a_row),
		TEST(test_hash_tells_ports_from_addresses),
	};

	return cmocka_run_group_tests(tests, tf_eal, NULL);
}
