/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules in and out of a forest: after any sequence of updates it answers as linear does on the rules
 * that are left; readers that run meanwhile only ever see rules that match; memory comes back.
 */
#include "classifier/forest.h"
#include "classifier/linear.h"
#include "classifier/rule.h"
#include "tests/diff/cls_compare.h"

#include <rte_eal.h>
#include <rte_rcu_qsbr.h>

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 20261202

/* all rules that may be in the set, and which of them are */
struct model {
	struct gen_set all;
	bool *in;
	struct sl_cls *cls;
	unsigned int rebuilds;
};

/* the rules that are in, as a set of their own */
static struct gen_set present(const struct model *m)
{
	struct gen_set set = m->all;

	set.rules = calloc(set.n + 1, sizeof(*set.rules));
	assert_non_null(set.rules);
	set.n = 0;
	for (uint32_t i = 0; i < m->all.n; i++)
		if (m->in[i])
			set.rules[set.n++] = m->all.rules[i];
	return set;
}

static void rebuild(struct model *m)
{
	struct gen_set set = present(m);
	struct sl_cls_spec spec = gen_spec(&set);

	if (m->cls != NULL)
		m->cls->ops->free(m->cls);
	assert_int_equal(cls_forest_plain.build(&spec, &m->cls), 0);
	m->rebuilds++;
	gen_free(&set);
}

static void start(struct model *m, const struct gen_set *all, struct gen_rng *rng)
{
	*m = (struct model){ .all = *all };
	m->in = calloc(all->n, sizeof(*m->in));
	assert_non_null(m->in);
	for (uint32_t i = 0; i < all->n; i++)
		m->in[i] = gen_one_in(rng, 2);
	/* boxes of one label come and go together */
	for (uint32_t i = 1; i < all->n; i++)
		if (all->rules[i].label == all->rules[i - 1].label)
			m->in[i] = m->in[i - 1];
	rebuild(m);
}

static void stop(struct model *m)
{
	m->cls->ops->free(m->cls);
	free(m->in);
	gen_free(&m->all);
}

/* one label in or out, with all its boxes */
static void change(struct model *m, uint32_t i)
{
	uint32_t label = m->all.rules[i].label;
	bool add = !m->in[i];
	int ret = 0;

	if (!add)
		ret = m->cls->ops->remove(m->cls, label);
	while (i > 0 && m->all.rules[i - 1].label == label)
		i--;
	for (; i < m->all.n && m->all.rules[i].label == label; i++) {
		if (add && ret == 0)
			ret = m->cls->ops->insert(m->cls, &m->all.rules[i]);
		m->in[i] = add;
	}
	if (ret == -ENOSPC)
		rebuild(m);
	else
		assert_int_equal(ret, 0);
}

static unsigned int check(const struct model *m, uint64_t seed)
{
	struct gen_set set = present(m);
	struct sl_cls_spec spec = gen_spec(&set);
	struct sl_cls *oracle;
	unsigned int bad;

	assert_int_equal(cls_linear_plain.build(&spec, &oracle), 0);
	assert_int_equal(m->cls->n, set.n);
	/* keys in the corners of all rules, also of those that are gone */
	bad = cmp_lookups(&m->all, oracle, m->cls, &cls_forest_plain, "forest", 4, seed);
	if (cls_have_avx2())
		bad += cmp_lookups(&m->all, oracle, m->cls, &cls_forest_avx2, "forest", 4, seed);
	oracle->ops->free(oracle);
	gen_free(&set);
	return bad;
}

static void run_updates(
		struct gen_set *all, unsigned int rounds, unsigned int changes, uint64_t seed)
{
	struct gen_rng rng = { seed };
	struct model m;

	start(&m, all, &rng);
	for (unsigned int r = 0; r < rounds; r++) {
		for (unsigned int k = 0; k < changes; k++)
			change(&m, gen_below(&rng, m.all.n));
		if (check(&m, seed + r) > 0)
			fail_msg("%s, %u rules, seed %" PRIu64 ", round %u", all->name, all->n,
					seed, r);
	}
	stop(&m);
}

static void update_horrors(enum sl_family family, unsigned int verify)
{
	for (int h = 0; h < GEN_HORROR_NB; h++) {
		for (uint32_t n = 40; n <= 400; n += 360) {
			uint64_t seed = SEED + (uint64_t)h + n;
			struct gen_rng rng = { seed };
			struct gen_set set;

			gen_horrible(&set, family, (enum gen_horror)h, n, &rng);
			gen_mark_verify(&set, verify, &rng);
			run_updates(&set, 6, 60, seed);
		}
	}
}

static void test_update_when_ipv4_sets_are_horrible_agrees(void **state)
{
	(void)state;
	update_horrors(SL_AF_INET, 0);
}

static void test_update_when_ipv6_rules_need_verifying_agrees(void **state)
{
	(void)state;
	update_horrors(SL_AF_INET6, 10);
}

static void test_update_when_sets_are_shaped_agrees(void **state)
{
	static const char *const shapes[] = { "acl", "fw", "ipc" };

	(void)state;
	for (unsigned int s = 0; s < 6; s++) {
		struct gen_rng rng = { SEED + s };
		struct gen_set set;

		gen_shaped(&set, shapes[s % 3], 3000, &rng);
		if (s >= 3)
			gen_to_ipv6(&set, s == 4);
		run_updates(&set, 4, 1500, SEED + s);
	}
}

static void test_update_when_set_starts_empty_agrees(void **state)
{
	struct gen_rng rng = { SEED };
	struct gen_set set;
	struct model m;

	(void)state;
	gen_shaped(&set, "acl", 1000, &rng);
	m = (struct model){ .all = set, .in = calloc(set.n, 1) };
	assert_non_null(m.in);
	rebuild(&m);
	for (uint32_t i = 0; i < set.n; i++)
		change(&m, i);
	assert_int_equal(check(&m, SEED), 0);
	assert_int_equal(m.rebuilds, 1);
	for (uint32_t i = 0; i < set.n; i++)
		change(&m, i);
	assert_int_equal(m.cls->n, 0);
	assert_int_equal(check(&m, SEED), 0);
	stop(&m);
}

static void test_update_when_repeated_gives_memory_back(void **state)
{
	struct gen_rng rng = { SEED };
	struct gen_set set;
	struct sl_cls_spec spec;
	struct sl_cls *cls;
	size_t before;

	(void)state;
	gen_shaped(&set, "fw", 2000, &rng);
	spec = gen_spec(&set);
	assert_int_equal(cls_forest_plain.build(&spec, &cls), 0);
	for (unsigned int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < set.n; i++) {
			assert_int_equal(cls->ops->remove(cls, i), 0);
			assert_int_equal(cls->ops->insert(cls, &set.rules[i]), 0);
		}
	before = cls->ops->memory(cls);
	for (unsigned int round = 0; round < 6; round++)
		for (uint32_t i = 0; i < set.n; i++) {
			assert_int_equal(cls->ops->remove(cls, i), 0);
			assert_int_equal(cls->ops->insert(cls, &set.rules[i]), 0);
		}
	assert_true(cls->ops->memory(cls) <= before + before / 8);
	cls->ops->free(cls);
	gen_free(&set);
}

static void test_update_when_wrong_is_refused(void **state)
{
	struct sl_cls_rule rules[100], r = { SL_CLS_RULE_ANY, .label = 7 };
	struct sl_cls_spec spec = { .family = SL_AF_INET, .rules = rules, .n = 100 };
	struct sl_cls *cls;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		rules[i] = (struct sl_cls_rule){ SL_CLS_RULE_ANY, .src = sl_cls_addr4(i),
			.src_mask = sl_cls_mask(SL_AF_INET, 32), .label = i * 16 };
	assert_int_equal(sl_cls_forest.build(&spec, &cls), 0);
	assert_int_equal(cls->ops->remove(cls, 7), -ENOENT);
	assert_int_equal(cls->ops->remove(cls, SL_CLS_MISS), -ENOENT);
	r.dport_lo = 2;
	r.dport_hi = 1;
	assert_int_equal(cls->ops->insert(cls, &r), -EINVAL);
	r.dport_hi = 2;
	r.label = SL_CLS_LABEL_MAX + 1;
	assert_int_equal(cls->ops->insert(cls, &r), -EINVAL);
	/* far behind the labels that the set was built for */
	r.label = SL_CLS_LABEL_MAX;
	assert_int_equal(cls->ops->insert(cls, &r), -ENOSPC);
	r.label = 7;
	assert_int_equal(cls->ops->insert(cls, &r), 0);
	assert_int_equal(cls->ops->remove(cls, 7), 0);
	assert_int_equal(cls->ops->remove(cls, 7), -ENOENT);
	assert_int_equal(cls->n, 100);
	cls->ops->free(cls);
}

/* readers beside updates */

#define READERS 2
#define FIXED 3 /* every third rule never changes */

struct reader {
	const struct gen_set *set;
	const struct sl_cls *cls;
	struct rte_rcu_qsbr *qsv;
	unsigned int id;
	bool stop;
	uint64_t lookups, wrong;
};

/* first rule at or behind the start that never changes */
static uint32_t fixed_match(const struct gen_set *set, const struct sl_cls_key4 *k)
{
	for (uint32_t i = 0; i < set->n; i += FIXED)
		if (cls_rule_match4(&set->rules[i], k))
			return i;
	return SL_CLS_MISS;
}

static void *read_on(void *arg)
{
	struct reader *r = arg;
	struct gen_rng rng = { SEED + r->id };
	struct sl_cls_key4 keys[SL_CLS_BURST];
	uint32_t out[SL_CLS_BURST];

	rte_rcu_qsbr_thread_register(r->qsv, r->id);
	rte_rcu_qsbr_thread_online(r->qsv, r->id);
	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
		for (unsigned int i = 0; i < SL_CLS_BURST; i++)
			gen_key(r->set, i % GEN_KEY_NB, &rng, keys, i);
		for (unsigned int k = 0; k < 8; k++) {
			sl_cls_lookup4(r->cls, keys, SL_CLS_BURST, NULL, NULL, out);
			for (unsigned int i = 0; i < SL_CLS_BURST; i++) {
				uint32_t fixed = fixed_match(r->set, &keys[i]);

				/* nothing behind a rule that is there, and only what matches */
				if (out[i] > fixed
						|| (out[i] != SL_CLS_MISS
								&& !cls_rule_match4(
										&r->set->rules[out[i]],
										&keys[i])))
					r->wrong++;
			}
			rte_rcu_qsbr_quiescent(r->qsv, r->id);
			r->lookups += SL_CLS_BURST;
		}
	}
	rte_rcu_qsbr_thread_offline(r->qsv, r->id);
	rte_rcu_qsbr_thread_unregister(r->qsv, r->id);
	return NULL;
}

static void test_lookup_when_rules_change_meanwhile_is_right(void **state)
{
	struct rte_rcu_qsbr *qsv = aligned_alloc(64, rte_rcu_qsbr_get_memsize(READERS));
	struct gen_rng rng = { SEED };
	struct reader readers[READERS];
	pthread_t threads[READERS];
	struct gen_set set;
	struct sl_cls_spec spec;
	struct sl_cls *cls;
	bool in[600];
	unsigned int updates = 0;

	(void)state;
	assert_non_null(qsv);
	assert_int_equal(rte_rcu_qsbr_init(qsv, READERS), 0);
	gen_shaped(&set, "ipc", 600, &rng);
	spec = gen_spec(&set);
	spec.qsv = qsv;
	assert_int_equal(sl_cls_forest.build(&spec, &cls), 0);
	memset(in, true, sizeof(in));
	for (unsigned int i = 0; i < READERS; i++) {
		readers[i] = (struct reader){ .set = &set, .cls = cls, .qsv = qsv, .id = i };
		assert_int_equal(pthread_create(&threads[i], NULL, read_on, &readers[i]), 0);
	}
	for (unsigned int u = 0; u < 60000; u++) {
		uint32_t i = gen_below(&rng, set.n);
		int ret;

		if (i % FIXED == 0)
			continue;
		ret = in[i] ? cls->ops->remove(cls, i) : cls->ops->insert(cls, &set.rules[i]);
		if (ret == 0) {
			in[i] = !in[i];
			updates++;
		} else if (ret != -ENOSPC) {
			fail_msg("update %u: %s", u, strerror(-ret));
		}
	}
	for (unsigned int i = 0; i < READERS; i++) {
		__atomic_store_n(&readers[i].stop, true, __ATOMIC_RELAXED);
		pthread_join(threads[i], NULL);
		assert_int_equal(readers[i].wrong, 0);
		assert_true(readers[i].lookups > 0);
	}
	assert_true(updates > 20000);
	cls->ops->free(cls);
	gen_free(&set);
	free(qsv);
}

int main(int argc __rte_unused, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_update_when_wrong_is_refused),
		cmocka_unit_test(test_update_when_set_starts_empty_agrees),
		cmocka_unit_test(test_update_when_repeated_gives_memory_back),
		cmocka_unit_test(test_update_when_ipv4_sets_are_horrible_agrees),
		cmocka_unit_test(test_update_when_ipv6_rules_need_verifying_agrees),
		cmocka_unit_test(test_update_when_sets_are_shaped_agrees),
		cmocka_unit_test(test_lookup_when_rules_change_meanwhile_is_right),
	};
	char *eal[] = { argv[0], (char[]){ "--no-huge" }, (char[]){ "--no-shconf" },
		(char[]){ "--no-pci" }, (char[]){ "--no-telemetry" }, (char[]){ "-m" },
		(char[]){ "64" }, (char[]){ "--lcores" }, (char[]){ "0@(0-1)" },
		(char[]){ "--log-level" }, (char[]){ "*:error" }, NULL };

	if (rte_eal_init(11, eal) < 0) {
		fprintf(stderr, "EAL does not start\n");
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
