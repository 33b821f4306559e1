/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patterns found together by Hyperscan against the simple search for each: random payloads in one
 * buffer or many, strings and expressions, windows that just hold them or just do not. Each rule that
 * holds sets a bit of the packet's mark; marks and counters must be equal.
 */
#include "config/ipt.h"
#include "tests/config/rules_rig.h"
#include "tests/kernel/string_gen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 20261201
#define SETS 60
#define RULES 32
#define PACKETS 32
#define TEXT_MAX 32768

struct side {
	struct ipt_ruleset *rs;
	struct ipt_prog *prog;
	uint32_t marks[PACKETS];
};

static struct buf frames[PACKETS];
static char text[TEXT_MAX];
static uint64_t held; /* rules, over all packets */

/* rules in a row that do not hold: an engine that has found one is led past all */
static void put_misses(struct gen *g, FILE *f)
{
	for (unsigned int i = 0; i < 12; i++)
		fprintf(f,
				"-A FORWARD -p udp -m udp --dport 9 -m string --hex-string \"|%08x%08x|\" "
				"--algo kmp -j DROP\n",
				gen_u32(g), gen_u32(g));
}

/* @narrow: how many of a hundred rules an engine holds */
static void make_rules(struct gen *g, const struct string_spec *s, unsigned int narrow)
{
	FILE *f = fmemopen(text, sizeof(text), "w");

	assert_non_null(f);
	fputs("*mangle\n:FORWARD ACCEPT [0:0]\n:SUB - [0:0]\n", f);
	for (unsigned int i = 0; i < RULES; i++) {
		const char *chain = i % 8 == 7 && i > 16 ? "SUB" : "FORWARD";

		fprintf(f, "-A %s ", chain);
		if (gen_chance(g, narrow))
			fputs("-p udp -m udp --dport 9 ", f);
		string_match(g, s, frames, PACKETS, f);
		if (gen_chance(g, 20)) {
			fputc(' ', f);
			string_match(g, s, frames, PACKETS, f);
		}
		fprintf(f, " -j MARK --set-xmark 0x%x/0x%x\n", 1U << i, 1U << i);
		if (i == 16)
			put_misses(g, f);
		if (i % 14 == 13)
			fputs("-A FORWARD -j SUB\n", f);
	}
	fputs("COMMIT\n", f);
	assert_false(fclose(f) != 0);
}

static void run(struct side *s, bool plain, bool split)
{
	struct rte_mbuf *pkts[PACKETS];

	for (unsigned int i = 0; i < PACKETS; i++)
		pkts[i] = rig_frame(frames[i].b, frames[i].n, split);
	if (plain)
		assert_true(ipt_prog_run_plain(s->prog, IPT_MANGLE, IPT_FORWARD, rig->workers[0],
					    pkts, PACKETS)
				== UINT32_MAX);
	else
		assert_true(ipt_prog_run(s->prog, IPT_MANGLE, IPT_FORWARD, rig->workers[0], pkts,
					    PACKETS)
				== UINT32_MAX);
	for (unsigned int i = 0; i < PACKETS; i++) {
		s->marks[i] = sl_pkt(pkts[i])->mark;
		rte_pktmbuf_free(pkts[i]);
	}
}

static void compare(unsigned int set, const struct side *a, const struct side *b)
{
	for (unsigned int i = 0; i < PACKETS; i++)
		if (a->marks[i] != b->marks[i])
			fail_msg("seed %d, set %u, packet %u of %zu bytes: together 0x%x, one by "
				 "one 0x%x\n%s",
					SEED, set, i, frames[i].n, a->marks[i], b->marks[i], text);
	for (uint32_t i = 0; i < a->rs->n_rules; i++) {
		struct ipt_counters x = ipt_prog_rule_counters(a->prog, i);
		struct ipt_counters y = ipt_prog_rule_counters(b->prog, i);

		if (x.packets != y.packets || x.bytes != y.bytes)
			fail_msg("seed %d, set %u, rule %u: counters differ\n%s", SEED, set, i,
					text);
		held += x.packets;
	}
}

static void test_patterns_when_searched_together_agree_with_one_by_one(void **state)
{
	static const char *const engines[] = { "linear", "forest", NULL };

	(void)state;
	for (unsigned int set = 0; set < SETS; set++) {
		const struct string_spec s = { .v6 = set % 4 == 3,
			.regex = true,
			.algo = "kmp",
			.payload_max = set % 5 == 4 ? 8800 : 1400 };
		struct gen g = { .rng = SEED + set };
		struct side sides[2] = { 0 };

		for (unsigned int i = 0; i < PACKETS; i++)
			string_frame(&g, &s, &frames[i]);
		make_rules(&g, &s, set % 2 == 0 ? 97 : 10);
		for (unsigned int i = 0; i < 2; i++) {
			sides[i].rs = rig_load(s.v6 ? IPT_V6 : IPT_V4, text);
			sides[i].prog = rig_compile(sides[i].rs, engines[set % RTE_DIM(engines)]);
			run(&sides[i], i == 1, set / 2 % 2 == 1);
		}
		compare(set, &sides[0], &sides[1]);
		for (unsigned int i = 0; i < 2; i++) {
			ipt_prog_free(sides[i].prog);
			ipt_ruleset_free(sides[i].rs);
		}
	}
	print_message("%d sets of %d rules and %d packets, rules held %lu times\n", SETS, RULES,
			PACKETS, (unsigned long)held);
	/* were they all wrong, nothing would be compared */
	assert_true(held > (uint64_t)SETS * PACKETS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns_when_searched_together_agree_with_one_by_one),
	};

	topo_init();
	return cmocka_run_group_tests(tests, rig_start, rig_stop);
}
