/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/claims.h"
#include "conntrack/index.h"
#include "conntrack/nat.h"
#include "conntrack/state.h"
#include "tests/conntrack/table_fixture.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND 1000000000ULL

static char path[64], err[256];
static struct ct_state_report report;

/* a table whose router's clocks stand at these */
static struct ct_table *table_at(
		uint32_t max, unsigned int n_workers, uint64_t now_s, uint64_t wall_s)
{
	struct ct_table *t = tf_table(max, n_workers, (uint32_t)(now_s * 1000));

	for (unsigned int i = 0; i < n_workers; i++) {
		t->r->workers[i]->now_ns = now_s * SECOND;
		t->r->workers[i]->wall_ns = wall_s * SECOND;
	}
	return t;
}

static int setup(void **state)
{
	snprintf(path, sizeof(path), "state_test.%d", (int)getpid());
	return tf_eal(state);
}

static int teardown(void **state)
{
	unlink(path);
	return tf_teardown(state);
}

static int load(struct ct_table *t)
{
	return ct_state_load(t, path, &report, err, sizeof(err));
}

static struct ct_tuple web(void)
{
	return tf_tuple("10.0.0.1", "192.0.2.1", IPPROTO_TCP, 40000, 80);
}

static struct ct_tuple nat(const struct ct_tuple *orig)
{
	struct ct_tuple reply;

	ct_tuple_invert(orig, &reply);
	reply.dst.v4 = RTE_BE32(0xc6336401);
	reply.dport_be = RTE_BE16(6000);
	return reply;
}

/* a table with one of each kind, 5 s old */
static struct ct_table *fill(unsigned int n_workers)
{
	struct ct_table *table = table_at(1000, n_workers, 100, 5000);
	struct ct_shard *s = table->shard[0];
	struct ct_tuple tcp = web(), t, reply;
	struct ct_entry *e, *master;

	e = master = tf_add(s, &tcp, 432000);
	e->status |= CT_ASSURED | CT_SEEN_REPLY | CT_SRC_NAT | CT_SRC_NAT_DONE;
	e->mark = 0xbeef;
	e->tcp.state = CT_TCP_ESTABLISHED;
	e->tcp.side[1].maxwin = 12345;
	e->nat_port = 2;
	reply = nat(&tcp);
	assert_int_equal(ct_set_reply(s, e, &reply), 0);
	ct_cold(s, e)->labels[3] = 0x40;
	t = tf_tuple("192.0.2.1", "10.0.0.1", IPPROTO_TCP, 20, 40001);
	e = tf_add(s, &t, 300);
	e->status |= CT_EXPECTED;
	e->tcp.state = CT_TCP_SYN_SENT;
	e->master_id = master->id;
	e->master_at = ct_index_of(s, master);
	t = tf_many(1);
	e = tf_add(s, &t, 30);
	t = tf_many(2);
	tf_add(s, &t, 8); /* over before the load */
	t = tf_many(3);
	tf_add(s, &t, 4); /* over before the save */
	t = tf_tuple("2001:db8::1", "2001:db8::2", 47, 0, 0);
	t.zone = 9;
	tf_add(s, &t, 600);
	t = tf_many(4);
	ct_tuple_invert(&t, &reply);
	assert_non_null(ct_create(s, &t, &reply)); /* not confirmed */
	table->r->workers[0]->now_ns += 5 * SECOND;
	table->r->workers[0]->wall_ns += 5 * SECOND;
	return table;
}

static void test_state_comes_back(void **state)
{
	struct ct_table *table = fill(1);
	struct ct_tuple tcp = web(), reply = nat(&tcp), t;
	struct ct_shard *s;
	struct ct_entry *e, *master;
	struct stat st;

	assert_int_equal(ct_state_save(table, path, err, sizeof(err)), 5);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	tf_teardown(state);

	/* another clock, 7 s later by the wall */
	table = table_at(1000, 1, 4000000, 5012);
	s = table->shard[0];
	assert_int_equal(load(table), 0);
	assert_int_equal(report.n, 5);
	assert_int_equal(report.taken, 4);
	assert_int_equal(report.ended, 1);
	assert_int_equal(s->count, 4);
	assert_int_equal(s->stats.insert, 0);

	e = master = ct_find(s, &tcp).e;
	assert_non_null(e);
	assert_ptr_equal(ct_find(s, &reply).e, e);
	assert_int_equal(ct_find(s, &reply).dir, CT_REPLY);
	assert_int_equal(e->status & ~CT_FRESH,
			CT_CONFIRMED | CT_ASSURED | CT_SEEN_REPLY | CT_SRC_NAT | CT_SRC_NAT_DONE
					| CT_TWO_TUPLES | CT_COLD | CT_MASQUERADED);
	assert_int_equal(e->mark, 0xbeef);
	assert_int_equal(e->tcp.state, CT_TCP_ESTABLISHED);
	assert_int_equal(e->tcp.side[1].maxwin, 12345);
	assert_int_equal(e->nat_port, 2);
	assert_int_equal(ct_cold_peek(s, e)->labels[3], 0x40);
	assert_int_equal(ct_seconds_left(e, s->now_ms), 432000 - 12);
	assert_int_equal(s->now_ms - e->created_ms, 12000);
	t = tf_tuple("192.0.2.1", "10.0.0.1", IPPROTO_TCP, 20, 40001);
	e = ct_find(s, &t).e;
	assert_int_equal(e->master_id, master->id);
	assert_int_equal(e->master_at, ct_index_of(s, master));
	t = tf_many(1);
	e = ct_find(s, &t).e;
	assert_int_equal(ct_seconds_left(e, s->now_ms), 18);
	assert_int_equal(s->now_ms - e->created_ms, 12000);
	t = tf_tuple("2001:db8::1", "2001:db8::2", 47, 0, 0);
	assert_null(ct_find(s, &t).e);
	t.zone = 9;
	assert_non_null(ct_find(s, &t).e);
	/* and their time runs */
	tf_pass(table, 19000);
	assert_int_equal(s->count, 3);
}

/* with another number of workers each goes to the one that its packets will be handed to */
static void test_state_for_other_workers(void **state)
{
	struct ct_table *table = fill(1);
	unsigned int here = 0;

	for (uint32_t i = 100; i < 500; i++) {
		struct ct_tuple t = tf_many(i);

		tf_add(table->shard[0], &t, 300);
		if (i % 64 == 0)
			ct_tick(table->shard[0], table->shard[0]->now_ms);
	}
	assert_int_equal(ct_state_save(table, path, err, sizeof(err)), 405);
	tf_teardown(state);
	table = table_at(1000, 4, 0, 5005);
	assert_int_equal(load(table), 0);
	assert_int_equal(ct_table_count(table), 405);
	for (uint32_t i = 100; i < 500; i++) {
		struct ct_tuple t = tf_many(i);
		uint16_t w = ct_owner(table, &t);

		here += w == 0;
		assert_non_null(ct_find(table->shard[w], &t).e);
	}
	assert_in_range(here, 50, 150);
}

/* what NAT turns comes to the worker of the connection, and keeps its source's mapping */
static void test_state_with_nat_for_other_workers(void **state)
{
	struct ct_table *table = fill(1);
	struct ct_tuple tcp = web(), reply = nat(&tcp);
	struct ct_shard *s;
	struct ct_entry *e;

	assert_int_equal(ct_state_save(table, path, err, sizeof(err)), 5);
	tf_teardown(state);
	table = table_at(1000, 8, 0, 5005);
	assert_int_equal(ct_nat_prepare(table), 0);
	assert_int_equal(load(table), 0);
	s = table->shard[ct_owner(table, &tcp)];
	e = ct_find(s, &reply).e;
	assert_non_null(e);
	assert_ptr_equal(ct_source_next(s, &tcp, NULL), e);
	assert_int_equal(ct_claimed(table, &reply),
			ct_owner(table, &reply) == s->worker ? -1 : s->worker);
	ct_kill(s, e);
	assert_null(ct_source_next(s, &tcp, NULL));
	assert_int_equal(ct_claimed(table, &reply), -1);
}

static void test_state_when_the_table_is_smaller(void **state)
{
	struct ct_table *table = fill(1);

	assert_int_equal(ct_state_save(table, path, err, sizeof(err)), 5);
	tf_teardown(state);
	table = table_at(2, 1, 0, 5005);
	assert_int_equal(load(table), 0);
	assert_int_equal(report.taken, 2);
	assert_int_equal(report.full, 3);
	assert_int_equal(table->shard[0]->stats.early_drop, 0);
	assert_int_equal(table->shard[0]->stats.drop, 0);
}

static uint8_t *read_file(size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(1 << 16);

	assert_non_null(f);
	*size = fread(data, 1, 1 << 16, f);
	fclose(f);
	return data;
}

static void write_file(const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "wb");

	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void refused(struct ct_table *t, const char *why)
{
	assert_int_equal(load(t), -EINVAL);
	assert_int_equal(strncmp(err, path, strlen(path)), 0);
	if (why != NULL)
		assert_non_null(strstr(err, why));
	assert_int_equal(ct_table_count(t), 0);
	assert_int_equal(t->shard[0]->index->keys, 0);
}

/* whatever byte is wrong, whatever is missing: nothing of it is taken */
static void test_state_that_is_damaged_is_refused_whole(void **state)
{
	struct ct_table *table = fill(1);
	uint8_t *data;
	size_t size;

	assert_int_equal(ct_state_save(table, path, err, sizeof(err)), 5);
	data = read_file(&size);
	tf_teardown(state);
	table = table_at(1000, 1, 0, 5005);
	for (size_t i = 0; i < size; i++) {
		data[i] ^= 0x11;
		write_file(data, size);
		refused(table, NULL);
		data[i] ^= 0x11;
	}
	for (size_t n = 0; n < size; n += n < 300 ? 1 : 37) {
		write_file(data, n);
		refused(table, NULL);
	}
	data[size] = 0;
	write_file(data, size + 1);
	refused(table, "cut short, or something follows");
	data[8]++;
	write_file(data, size);
	refused(table, "another version");
	data[8]--;
	data[size - 1] ^= 1;
	write_file(data, size);
	refused(table, "its sum is wrong");
	write_file((const uint8_t *)"ipv4 2 tcp 6 431999 ESTABLISHED src=10.0.0.1 dst=10.0.0.2 sport=1",
			66);
	refused(table, "no connections of sluice's");
	free(data);
	unlink(path);
	assert_int_equal(load(table), -ENOENT);
	assert_int_equal(ct_state_load(table, "/", &report, err, sizeof(err)), -EINVAL);
}

static void test_state_that_cannot_be_written(void **state)
{
	struct ct_table *table = fill(1);

	(void)state;
	assert_true(ct_state_save(table, "/nowhere/at/all", err, sizeof(err)) < 0);
	assert_non_null(strstr(err, "/nowhere/at/all: connections are not kept: "));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_state_comes_back),
		TEST(test_state_for_other_workers),
		TEST(test_state_with_nat_for_other_workers),
		TEST(test_state_when_the_table_is_smaller),
		TEST(test_state_that_is_damaged_is_refused_whole),
		TEST(test_state_that_cannot_be_written),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
