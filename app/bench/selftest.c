/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the method right? The kernel's figure by a second method must agree, and sides that do not do
 * the same work must be caught.
 */
#include "app/bench/commands.h"
#include "app/bench/kernel.h"
#include "app/bench/measure.h"
#include "app/bench/options.h"
#include "app/bench/router.h"
#include "app/sluice/exit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AGREES 0.25
#define NAPI_BATCH 8

static const char no_rules[] =
		"*raw\n:PREROUTING ACCEPT\nCOMMIT\n*mangle\n:FORWARD ACCEPT\nCOMMIT\n"
		"*nat\n:POSTROUTING ACCEPT\nCOMMIT\n*filter\n:FORWARD ACCEPT\nCOMMIT\n";
static const char drop_all[] = "*filter\n:FORWARD ACCEPT\n-A FORWARD -j DROP\nCOMMIT\n";

static const struct ruleset none = { .kind = RULES_NONE };
static const struct ruleset empty = { .kind = RULES_TEXT, .text = no_rules };
static const struct ruleset dropping = { .kind = RULES_TEXT, .text = drop_all };
static const struct ruleset hundred = { .kind = RULES_LINEAR, .count = 100 };
static const struct ruleset thousand = { .kind = RULES_LINEAR, .count = 1000 };
static const struct ruleset hundred_and_one = { .kind = RULES_LINEAR, .count = 101 };

static struct side_setup make_setup(const char *name, const struct side_ops *ops,
		const struct ruleset *rules, unsigned int ttl)
{
	return (struct side_setup){
		.ops = ops,
		.name = name,
		.ours = ops == &router_side,
		.backend = rules->kind == RULES_NONE ? BACKEND_PLAIN : BACKEND_LEGACY,
		.traffic = { .ttl = (uint8_t)ttl, .size = TRAFFIC_SIZE_MIN, .flows = 64 },
		.rules = *rules,
		.batch = NAPI_BATCH,
		.core = options_default_core(),
	};
}

static void measure(const struct side_setup *setups, unsigned int n, unsigned int rounds,
		double seconds, struct result_scenario *s)
{
	struct measure_options o = { .rounds = rounds, .seconds = seconds };

	memset(s, 0, sizeof(*s));
	measure_sides(setups, n, &o, s);
	result_finish(s);
}

/* why a side has no figure */
static const char *reason(const struct result_side *side)
{
	return side->skipped[0] != '\0' ? side->skipped : side->fault;
}

/*
 * A veth's receive costs 100 to 150 ns more than a live frame's, which is no work of a router. So each
 * method is taken without what it needs until a packet gets to IP, which is measured beside it.
 *
 * IP takes packets in lists, which cost less the longer they are: NAPI makes them of 8 packets (see
 * net.core.gro_normal_batch), so the live frames come in eights as well.
 *
 * The fastest rounds are compared: whoever else is on the core leaves cold caches behind, and does so
 * between any two batches of the ring, but seldom between two batches of live frames.
 */
static bool second_method(const char *name, const struct ruleset *rules)
{
	const struct side_setup setups[] = {
		make_setup("live", &kernel_side, rules, 64),
		make_setup("live, cut", &kernel_cut_side, rules, 64),
		make_setup("ring", &packet_side, rules, 64),
		make_setup("ring, cut", &packet_cut_side, rules, 64),
	};
	double apart, ns[4], live, ring;
	struct result_scenario s;
	bool ok;

	measure(setups, 4, 31, 0.5, &s);
	for (unsigned int i = 0; i < 4; i++) {
		if (!result_measured(&s.sides[i])) {
			printf("  %-18s no figure: %s: %s\n", name, setups[i].name,
					reason(&s.sides[i]));
			return false;
		}
		ns[i] = stats_quantile(s.sides[i].rounds, s.sides[i].n_rounds, 0);
	}
	live = ns[0] - ns[1];
	ring = ns[2] - ns[3];
	apart = ring / live - 1;
	ok = fabs(apart) <= AGREES;
	printf("  %-18s %6.0f - %3.0f = %5.0f %8.0f - %3.0f = %5.0f %+8.1f %%   %s\n", name, ns[0],
			ns[1], live, ns[2], ns[3], ring, 100 * apart,
			ok ? "agree" : "DO NOT AGREE");
	return ok;
}

/* a fault on purpose: neither side may have a figure; without one both must */
static bool fault(const char *what, bool caught, const struct ruleset *theirs,
		const struct ruleset *ours, unsigned int ttl)
{
	const struct side_setup setups[] = {
		make_setup("legacy", &kernel_side, theirs, ttl),
		make_setup("auto", &router_side, ours, ttl),
	};
	struct result_scenario s;
	bool ok = true;

	measure(setups, 2, MEASURE_ROUNDS_MIN, 0.1, &s);
	for (unsigned int i = 0; i < 2; i++) {
		const struct result_side *side = &s.sides[i];

		if (side->skipped[0] != '\0' || result_measured(side) == caught)
			ok = false;
		printf("  %-32s %s: %s\n", i == 0 ? what : "", i == 0 ? "kernel" : "sluice",
				result_measured(side) ? "has a figure" : reason(side));
	}
	printf("  %-32s %s\n", "", ok ? "right" : "WRONG");
	return ok;
}

static const char usage[] = "usage: sluice-bench selftest\n";

int selftest_main(int argc, char **argv)
{
	bool ok;

	(void)argv;
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return EXIT_DONE;
	}
	if (argc > 1) {
		fputs(usage, stderr);
		return EXIT_INPUT;
	}
	printf("The kernel's ns/packet by two methods, each without what it takes to get to IP: they\n"
	       "must agree within %.0f %%.\n  %-18s %20s %22s\n",
			100 * AGREES, "", "live frames", "packet ring");
	ok = second_method("forward", &none);
	ok &= second_method("idle-hooks legacy", &empty);
	ok &= second_method("linear-100 legacy", &hundred);
	ok &= second_method("linear-1k legacy", &thousand);
	printf("\nSides that do not do the same work must have no figure.\n");
	ok &= fault("nothing is wrong", false, &hundred, &hundred, 64);
	ok &= fault("the kernel drops everything", true, &dropping, &none, 64);
	ok &= fault("rules differ", true, &hundred, &hundred_and_one, 64);
	ok &= fault("TTL 1", true, &none, &none, 1);
	printf("\n%s\n", ok ? "the method holds" : "THE METHOD DOES NOT HOLD");
	return ok ? EXIT_DONE : EXIT_FAILED;
}
