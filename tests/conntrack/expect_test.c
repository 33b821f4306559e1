/* SPDX-License-Identifier: BSD-3-Clause */
/* Expectations: taken once, by whom they fit, while their master lives. */
#include "conntrack/expect.h"
#include "conntrack/helper.h"
#include "tests/conntrack/table_fixture.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define CLIENT "10.0.1.2"
#define SERVER "10.0.2.2"

static struct ct_table *t;
static struct ct_shard *s;

static struct ct_entry *control(uint16_t sport)
{
	struct ct_tuple tuple = tf_tuple(CLIENT, SERVER, IPPROTO_TCP, sport, 21);

	return tf_add(s, &tuple, 432000);
}

/* from the server, any port, to the client's port */
static struct ct_expect data(const struct ct_entry *master, uint16_t port)
{
	struct ct_expect e = { .tuple = tf_tuple(SERVER, CLIENT, IPPROTO_TCP, 0, port),
		.master = ct_ref(s, master),
		.expires_ms = s->now_ms + 300000,
		.max = 1,
		.helper = CT_HELPER_FTP };

	memset(&e.mask, 0xff, sizeof(e.mask));
	e.mask.sport_be = 0;
	return e;
}

static int add(const struct ct_entry *master, uint16_t port)
{
	struct ct_expect e = data(master, port);

	return ct_expect_add(s, &e, 4096);
}

static bool take(struct ct_shard *by, uint16_t sport, uint16_t port, struct ct_expect *out)
{
	struct ct_tuple tuple = tf_tuple(SERVER, CLIENT, IPPROTO_TCP, sport, port);

	return ct_expect_take(by, &tuple, out);
}

static int setup(void **state)
{
	(void)state;
	t = tf_table(1000, 2, UINT32_MAX - 1000);
	s = t->shard[0];
	return 0;
}

static void test_taken_once(void **state)
{
	struct ct_entry *master = control(1000);
	struct ct_expect out;

	(void)state;
	assert_false(take(s, 20, 2000, &out));
	assert_int_equal(add(master, 2000), 0);
	assert_int_equal(ct_expects_count(t->expects), 1);
	assert_false(take(s, 20, 2001, &out));
	assert_true(take(s, 20, 2000, &out));
	assert_int_equal(out.master.id, master->id);
	assert_false(take(s, 20, 2000, &out));
	assert_int_equal(ct_expects_count(t->expects), 0);
	assert_int_equal(s->stats.expect_create, 1);
	assert_int_equal(s->stats.expect_new, 1);
	assert_int_equal(s->stats.expect_delete, 1);
}

static void test_bits_that_count(void **state)
{
	struct ct_entry *master = control(1000);
	struct ct_tuple other[] = {
		tf_tuple("10.0.2.3", CLIENT, IPPROTO_TCP, 20, 2000),
		tf_tuple(SERVER, "10.0.1.3", IPPROTO_TCP, 20, 2000),
		tf_tuple(SERVER, CLIENT, IPPROTO_UDP, 20, 2000),
		tf_tuple(SERVER, CLIENT, IPPROTO_TCP, 20, 2000),
	};
	struct ct_expect out;

	(void)state;
	other[3].zone = 1;
	add(master, 2000);
	for (unsigned int i = 0; i < RTE_DIM(other); i++)
		assert_false(ct_expect_take(s, &other[i], &out));
	/* the source's port does not */
	assert_true(take(s, 55555, 2000, &out));
}

static void test_taken_by_another_worker(void **state)
{
	struct ct_tuple tuple = tf_tuple(SERVER, CLIENT, IPPROTO_TCP, 20, 2000);
	struct ct_entry *master = control(1000), *e;
	struct ct_shard *other = t->shard[1];
	struct ct_expect out;

	(void)state;
	master->mark = 77;
	add(master, 2000);
	assert_true(ct_expect_take(other, &tuple, &out));
	e = tf_add(other, &tuple, 30);
	ct_expect_bind(other, e, &out);
	assert_int_equal(e->status & CT_EXPECTED, CT_EXPECTED);
	assert_int_equal(e->mark, 77);
	assert_int_equal(e->master_id, master->id);
	assert_int_equal(e->master_worker, 0);
	assert_ptr_equal(&s->entries[e->master_at], master);
}

static void test_over_the_maximum_the_oldest_goes(void **state)
{
	struct ct_entry *master = control(1000), *other = control(1001);
	struct ct_expect out, e;

	(void)state;
	add(other, 3000);
	add(master, 2000);
	add(master, 2001);
	assert_false(take(s, 20, 2000, &out));
	assert_true(take(s, 20, 2001, &out));
	assert_true(take(s, 20, 3000, &out));
	for (uint16_t i = 0; i < 9; i++) {
		e = data(master, 4000 + i);
		e.max = 8;
		assert_int_equal(ct_expect_add(s, &e, 4096), 0);
	}
	assert_false(take(s, 20, 4000, &out));
	for (uint16_t i = 1; i < 9; i++)
		assert_true(take(s, 20, 4000 + i, &out));
}

static void test_the_same_again_and_anothers(void **state)
{
	struct ct_entry *master = control(1000), *other = control(1001);
	struct ct_expect out;

	(void)state;
	assert_int_equal(add(master, 2000), 0);
	assert_int_equal(add(master, 2000), 0);
	assert_int_equal(ct_expects_count(t->expects), 1);
	assert_int_equal(add(other, 2000), -EBUSY);
	assert_true(take(s, 20, 2000, &out));
	assert_int_equal(add(other, 2000), 0);
}

static void test_table_of_expectations_full(void **state)
{
	struct ct_expect e;

	(void)state;
	for (uint16_t i = 0; i < 5; i++) {
		e = data(control(1000 + i), 2000 + i);
		assert_int_equal(ct_expect_add(s, &e, 4), i < 4 ? 0 : -ENOSPC);
	}
	assert_int_equal(ct_expects_count(t->expects), 4);
}

static void test_time_runs_out(void **state)
{
	struct ct_entry *master = control(1000);
	struct ct_expect out;

	(void)state;
	add(master, 2000);
	tf_pass(t, 299000);
	assert_true(take(s, 20, 2000, &out));
	add(master, 2000);
	tf_pass(t, 300000);
	assert_false(take(s, 20, 2000, &out));
	assert_int_equal(ct_expects_count(t->expects), 1);
	for (unsigned int i = 0; i < 4096 / 64; i++)
		ct_expects_tick(s);
	assert_int_equal(ct_expects_count(t->expects), 0);
}

static void test_without_its_master_it_is_nothing(void **state)
{
	struct ct_tuple tuple = tf_tuple(CLIENT, SERVER, IPPROTO_TCP, 1000, 21);
	struct ct_tuple answer = tf_tuple(SERVER, CLIENT, IPPROTO_TCP, 21, 1000);
	struct ct_entry *master = ct_create(s, &tuple, &answer);
	struct ct_expect out;

	(void)state;
	assert_non_null(master);
	ct_refresh(s, master, 1000);
	add(master, 2000);
	assert_false(take(s, 20, 2000, &out)); /* not confirmed yet */
	ct_confirm(s, master);
	assert_true(take(s, 20, 2000, &out));
	add(master, 2000);
	ct_kill(s, master);
	assert_false(take(s, 20, 2000, &out));
	/* its memory is another connection's now */
	tf_pass(t, 1000);
	for (uint16_t i = 0; i < 10; i++)
		control(2000 + i);
	assert_false(take(s, 20, 2000, &out));
}

static void test_print(void **state)
{
	struct ct_expect e;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_non_null(f);
	add(control(1000), 51210);
	tf_pass(t, 500);
	ct_expects_print(t, s->now_ms, f);
	e = data(control(1001), 2001);
	e.tuple = tf_tuple("2001:db8::1", "fd01::2", IPPROTO_TCP, 0, 2001);
	ct_expect_add(s, &e, 4096);
	ct_expects_print(t, s->now_ms, f);
	fclose(f);
	assert_string_equal(text,
			"299 l3proto = 2 proto=6 src=10.0.2.2 dst=10.0.1.2 sport=0 dport=51210 ftp\n"
			"299 l3proto = 2 proto=6 src=10.0.2.2 dst=10.0.1.2 sport=0 dport=51210 ftp\n"
			"300 l3proto = 10 proto=6 src=2001:0db8:0000:0000:0000:0000:0000:0001 "
			"dst=fd01:0000:0000:0000:0000:0000:0000:0002 sport=0 dport=2001 ftp\n");
	free(text);
}

#define UNIT(name) cmocka_unit_test_setup_teardown(name, setup, tf_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(test_taken_once),
		UNIT(test_bits_that_count),
		UNIT(test_taken_by_another_worker),
		UNIT(test_over_the_maximum_the_oldest_goes),
		UNIT(test_the_same_again_and_anothers),
		UNIT(test_table_of_expectations_full),
		UNIT(test_time_runs_out),
		UNIT(test_without_its_master_it_is_nothing),
		UNIT(test_print),
	};

	return cmocka_run_group_tests(tests, tf_eal, NULL);
}
