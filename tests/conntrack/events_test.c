/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/events.h"
#include "tests/conntrack/table_fixture.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define RING 8

static struct ct_shard *shard;
static struct ct_event got[2 * RING];
static uint64_t lost;

static int start_test(void **state)
{
	(void)state;
	shard = tf_table(100, 1, 1000)->shard[0];
	shard->events = ct_events_create(RING);
	return shard->events == NULL;
}

static int stop_test(void **state)
{
	ct_events_free(shard->events);
	return tf_teardown(state);
}

static unsigned int take(void)
{
	return ct_events_take(shard->events, got, RTE_DIM(got), &lost);
}

static struct ct_entry *add(uint16_t port)
{
	struct ct_tuple t = tf_tuple("10.0.0.1", "10.0.0.2", IPPROTO_UDP, port, 53);

	return tf_add(shard, &t, 30);
}

static void test_events_when_connection_begins_and_ends_are_told_in_order(void **state)
{
	struct ct_entry *a = add(1), *b = add(2);

	(void)state;
	ct_event(shard, a, CT_EVENT_MARK);
	ct_kill(shard, a);
	tf_pass(shard->table, 31000);
	assert_int_equal(take(), 5);
	assert_int_equal(lost, 0);
	assert_int_equal(got[0].what, CT_EVENT_NEW);
	assert_int_equal(got[0].view.e.orig.sport_be, RTE_BE16(1));
	assert_int_equal(got[1].view.e.orig.sport_be, RTE_BE16(2));
	assert_int_equal(got[2].what, CT_EVENT_MARK);
	assert_int_equal(got[3].what, CT_EVENT_DESTROY);
	assert_int_equal(got[3].view.e.orig.sport_be, RTE_BE16(1));
	/* its time was over */
	assert_int_equal(got[4].what, CT_EVENT_DESTROY);
	assert_int_equal(got[4].view.e.orig.sport_be, RTE_BE16(2));
	assert_true(b->orig.sport_be == RTE_BE16(2));
	assert_int_equal(take(), 0);
}

static void test_events_when_never_confirmed_are_none(void **state)
{
	struct ct_tuple t = tf_tuple("10.0.0.1", "10.0.0.2", IPPROTO_UDP, 1, 53), answer;

	(void)state;
	assert_true(ct_tuple_invert(&t, &answer));
	assert_non_null(ct_create(shard, &t, &answer));
	tf_pass(shard->table, 1000);
	assert_int_equal(take(), 0);
}

static void test_events_when_nobody_fetches_them_are_counted_as_lost(void **state)
{
	(void)state;
	for (uint16_t i = 0; i < RING + 3; i++)
		add(i);
	assert_int_equal(take(), RING);
	assert_int_equal(lost, 3);
	add(100);
	assert_int_equal(take(), 1);
	assert_int_equal(lost, 0);
}

static void test_events_when_rule_masks_some_are_not_told(void **state)
{
	struct ct_entry *e = add(1);

	(void)state;
	e->events_off = (uint16_t)~CT_EVENT_DESTROY;
	ct_event(shard, e, CT_EVENT_MARK);
	ct_kill(shard, e);
	assert_int_equal(take(), 2);
	assert_int_equal(got[0].what, CT_EVENT_NEW);
	assert_int_equal(got[1].what, CT_EVENT_DESTROY);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, start_test, stop_test)
		T(test_events_when_connection_begins_and_ends_are_told_in_order),
		T(test_events_when_never_confirmed_are_none),
		T(test_events_when_nobody_fetches_them_are_counted_as_lost),
		T(test_events_when_rule_masks_some_are_not_told),
#undef T
	};

	return cmocka_run_group_tests(tests, tf_eal, NULL);
}
