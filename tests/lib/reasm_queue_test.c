/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments by offset, held against a map of bytes. */
#include "lib/reasm_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define UNITS 64U
#define ROUNDS 20000U
#define SEED 7U

static struct reasm_frag frags[UNITS];

static void test_insert_when_contained_then_duplicate(void **state)
{
	struct reasm_frags q = { NULL, NULL };

	(void)state;
	frags[0].off = 0;
	frags[1].off = 8;
	frags[2].off = 0;
	frags[3].off = 8;
	frags[4].off = 24;
	assert_int_equal(reasm_insert(&q, &frags[0], 8, 1), REASM_INSERTED);
	assert_int_equal(reasm_insert(&q, &frags[1], 24, 2), REASM_INSERTED);
	/* over the border of two fragments of one run */
	assert_int_equal(reasm_insert(&q, &frags[2], 16, 3), REASM_DUPLICATE);
	assert_int_equal(reasm_insert(&q, &frags[3], 32, 4), REASM_OVERLAP);
	assert_int_equal(reasm_insert(&q, &frags[4], 32, 5), REASM_INSERTED);
	assert_ptr_equal(reasm_flatten(&q), &frags[0]);
	assert_ptr_equal(frags[0].next, &frags[1]);
	assert_ptr_equal(frags[1].next, &frags[4]);
	assert_null(frags[4].next);
}

/* whatever the order: free bytes are taken, taken ones are not, and all come out by offset */
static void one_round(unsigned int n)
{
	struct reasm_frags q = { NULL, NULL };
	bool taken[UNITS] = { false };
	unsigned int bytes = 0, used = 0;

	for (unsigned int i = 0; i < n && used < UNITS; i++) {
		unsigned int from = (unsigned int)rand() % UNITS;
		unsigned int len = 1 + (unsigned int)rand() % RTE_MIN(6U, UNITS - from);
		bool any = false, all = true;
		enum reasm_insert got;

		for (unsigned int k = from; k < from + len; k++) {
			any = any || taken[k];
			all = all && taken[k];
		}
		frags[used].off = from;
		got = reasm_insert(&q, &frags[used], from + len, (uint32_t)rand());
		assert_int_equal(got == REASM_INSERTED, !any);
		if (got == REASM_DUPLICATE)
			assert_true(all);
		if (got != REASM_INSERTED)
			continue;
		used++;
		bytes += len;
		memset(&taken[from], true, len);
	}
	for (struct reasm_frag *f = reasm_flatten(&q); f != NULL; f = f->next) {
		assert_true(taken[f->off]);
		assert_true(f->next == NULL || f->next->off > f->off);
		used--;
	}
	assert_int_equal(used, 0);
	assert_true(bytes <= UNITS);
}

static void test_insert_when_random_then_as_byte_map(void **state)
{
	(void)state;
	srand(SEED);
	print_message("seed %u\n", SEED);
	for (unsigned int i = 0; i < ROUNDS; i++)
		one_round(1 + i % 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_insert_when_contained_then_duplicate),
		cmocka_unit_test(test_insert_when_random_then_as_byte_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
