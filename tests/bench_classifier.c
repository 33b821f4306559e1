/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engines beside each other: set, rules, build time, memory, cycles a packet (minimum and median)
 * for keys in corners of random rules, for uniform inner points without locality, and for the same
 * with locality; then the cost of updates. Nothing here fails on time.
 *
 *   bench_classifier [-t TRIALS] [-e ENGINE]... [SET]...
 *
 * SET: acl1_1k ... (ClassBench, where the folder is there), acl:N, fw:N, ipc:N (own, of these shapes),
 * acl6:N (the same in IPv6), addr:N (N source addresses). Without SET: ClassBench's nine, own ones
 * where they are missing.
 */
#include "classifier/linear.h"
#include "tests/diff/cls_gen.h"

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_rcu_qsbr.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRACE 131072U
#define TRIALS_MAX 101
#define UPDATES 2000U

static unsigned int trials = 15;
static const char *only[8];
static unsigned int n_only;

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

enum trace {
	CORNER,
	NOLOC,
	HIGHLOC,
	HEADERS,
	TRACE_NB
};
static const char *const trace_names[TRACE_NB] = { "corner", "noloc", "highloc", "headers" };

/* ClassBench's way of locality: a header comes several times in a row, few come very often */
static void *make_trace(const struct gen_set *set, enum trace kind, uint32_t n)
{
	size_t size = set->family == SL_AF_INET ? sizeof(struct sl_cls_key4)
						: sizeof(struct sl_cls_key6);
	uint8_t *keys = aligned_alloc(64, n * size);
	struct gen_rng rng = { 1234 + kind };

	if (keys == NULL)
		exit(1);
	for (uint32_t i = 0; i < n;) {
		uint32_t copies = 1;

		gen_key(set,
				kind == CORNER                    ? GEN_CORNER
						: kind == HEADERS ? GEN_HEADER
								  : GEN_INSIDE,
				&rng, keys, i);
		if (kind == HIGHLOC)
			copies = 1 + gen_below(&rng, 4) * gen_below(&rng, 12);
		for (uint32_t j = 1; j < copies && i + j < n; j++)
			memcpy(keys + (i + j) * size, keys + i * size, size);
		i += copies;
	}
	return keys;
}

static uint64_t sink;

static void measure(const struct sl_cls *cls, const uint8_t *keys, uint32_t n, double *min,
		double *median)
{
	size_t size = cls->family == SL_AF_INET ? sizeof(struct sl_cls_key4)
						: sizeof(struct sl_cls_key6);
	uint32_t out[SL_CLS_BURST];
	double v[TRIALS_MAX];

	for (unsigned int t = 0; t < trials; t++) {
		uint64_t start = rte_rdtsc();

		for (uint32_t i = 0; i + SL_CLS_BURST <= n; i += SL_CLS_BURST) {
			cls->ops->lookup(cls, keys + i * size, SL_CLS_BURST, NULL, NULL, out);
			sink += out[i % SL_CLS_BURST];
		}
		v[t] = (double)(rte_rdtsc() - start) / n;
	}
	qsort(v, trials, sizeof(*v), compare);
	*min = v[0];
	*median = v[trials / 2];
}

/* a rule out and in again, for up to 2,000 rules all over the set */
static void measure_updates(const struct gen_set *set, struct sl_cls *cls)
{
	double us[2][UPDATES], sum[2] = { 0, 0 };
	uint32_t n = RTE_MIN(set->n, UPDATES), done = 0, refused = 0;
	double hz = (double)rte_get_tsc_hz();

	if (cls->ops->insert == NULL) {
		printf("  updates: builds anew\n");
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct sl_cls_rule *r = &set->rules[(uint64_t)i * 7919 % set->n];
		uint64_t start = rte_rdtsc(), end;

		if (cls->ops->remove(cls, r->label) < 0) {
			refused++;
			continue;
		}
		end = rte_rdtsc();
		us[0][done] = (double)(end - start) / hz * 1e6;
		start = rte_rdtsc();
		if (cls->ops->insert(cls, r) < 0) {
			refused++;
			continue;
		}
		us[1][done] = (double)(rte_rdtsc() - start) / hz * 1e6;
		for (unsigned int w = 0; w < 2; w++)
			sum[w] += us[w][done];
		done++;
	}
	if (done == 0)
		return;
	for (unsigned int w = 0; w < 2; w++) {
		qsort(us[w], done, sizeof(**us), compare);
		printf("  %s us: mean %.2f median %.2f p99 %.1f max %.0f;",
				w == 0 ? "remove" : "insert", sum[w] / done, us[w][done / 2],
				us[w][done * 99 / 100], us[w][done - 1]);
	}
	printf(" %u refused, memory %.2f MB\n", refused, (double)cls->ops->memory(cls) / 1048576.0);
}

static void run_engine(const struct gen_set *set, const char *name, const struct sl_cls_ops *ops,
		void *const *traces, uint32_t trace_len)
{
	struct sl_cls_spec spec = gen_spec(set);
	struct sl_cls *cls;
	double start, built;
	int ret;

	for (unsigned int i = 0; i < n_only; i++) {
		if (strcmp(only[i], name) == 0)
			break;
		if (i + 1 == n_only)
			return;
	}
	if (ops->estimate(&spec) == 0) {
		printf("%-12s %7u %-7s cannot hold this set\n", set->name, set->n, name);
		return;
	}
	start = seconds();
	ret = ops->build(&spec, &cls);
	built = seconds() - start;
	if (ret < 0) {
		printf("%-12s %7u %-7s build: %s\n", set->name, set->n, name, strerror(-ret));
		return;
	}
	printf("%-12s %7u %-7s %8.3f %8.2f", set->name, set->n, name, built,
			(double)cls->ops->memory(cls) / 1048576.0);
	for (int t = 0; t < TRACE_NB; t++) {
		double min, median;

		measure(cls, traces[t], trace_len, &min, &median);
		printf(" %7.1f %7.1f", min, median);
	}
	printf("%s%s\n", cls->note[0] != '\0' ? "  # " : "", cls->note);
	if (strcmp(name, "auto") == 0)
		measure_updates(set, cls);
	fflush(stdout);
	cls->ops->free(cls);
}

static bool open_set(const char *text, struct gen_set *set)
{
	static const char *const shapes[] = { "acl", "fw", "ipc" };
	const char *colon = strchr(text, ':');
	struct gen_rng rng = { 42 };
	uint32_t n;

	if (colon == NULL)
		return gen_classbench(set, text);
	n = (uint32_t)strtoul(colon + 1, NULL, 10);
	if (n == 0)
		return false;
	if (strncmp(text, "addr:", 5) == 0) {
		gen_addresses(set, n, &rng);
		return true;
	}
	for (unsigned int i = 0; i < RTE_DIM(shapes); i++) {
		if (strncmp(text, shapes[i], strlen(shapes[i])) != 0)
			continue;
		gen_shaped(set, shapes[i], n, &rng);
		if (colon[-1] == '6')
			gen_to_ipv6(set, false);
		snprintf(set->name, sizeof(set->name), "%.40s", text);
		return true;
	}
	return false;
}

static void run_set(const char *text)
{
	struct gen_set set;
	struct sl_cls_spec spec;
	void *traces[TRACE_NB];
	uint32_t len;

	if (!open_set(text, &set)) {
		printf("no set %s\n", text);
		return;
	}
	spec = gen_spec(&set);
	len = set.n > 20000 ? TRACE : TRACE / 4;
	for (int t = 0; t < TRACE_NB; t++)
		traces[t] = make_trace(&set, (enum trace)t, len);
	run_engine(&set, "auto", sl_cls_auto(&spec, NULL), traces, len);
	for (unsigned int i = 0; sl_cls_engines[i] != NULL; i++)
		run_engine(&set, sl_cls_engines[i]->name, sl_cls_engines[i], traces, len);
	for (int t = 0; t < TRACE_NB; t++)
		free(traces[t]);
	gen_free(&set);
}

static void run_default(void)
{
	static const char *const sizes[] = { "1k", "10k", "100k" };
	static const char *const seeds[] = { "acl", "fw", "ipc" };

	run_set("addr:1000");
	run_set("addr:10000");
	for (unsigned int z = 0; z < 3; z++) {
		for (unsigned int s = 0; s < 3; s++) {
			struct gen_set set;
			char name[32];

			snprintf(name, sizeof(name), "%s1_%s", seeds[s], sizes[z]);
			if (gen_classbench(&set, name))
				gen_free(&set);
			else
				snprintf(name, sizeof(name), "%s:%d000", seeds[s], atoi(sizes[z]));
			run_set(name);
		}
	}
}

int main(int argc, char **argv)
{
	char *eal[] = { argv[0], (char[]){ "--no-huge" }, (char[]){ "--no-shconf" },
		(char[]){ "--no-pci" }, (char[]){ "--no-telemetry" }, (char[]){ "-m" },
		(char[]){ "1024" }, (char[]){ "--lcores" }, (char[]){ "0@(0-1)" },
		(char[]){ "--log-level" }, (char[]){ "*:error" }, NULL };
	int i = 1;

	for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (strcmp(argv[i], "-t") == 0)
			trials = RTE_MIN((unsigned int)atoi(argv[i + 1]), (unsigned int)TRIALS_MAX);
		else if (strcmp(argv[i], "-e") == 0 && n_only < RTE_DIM(only))
			only[n_only++] = argv[i + 1];
		else
			break;
	}
	if ((i < argc && argv[i][0] == '-') || trials == 0) {
		fprintf(stderr, "use: %s [-t TRIALS] [-e ENGINE]... [SET]...\n", argv[0]);
		return 2;
	}
	if (rte_eal_init(11, eal) < 0)
		return 1;
	printf("cycles of the TSC a packet, minimum and median of %u; build in s, memory in MB\n",
			trials);
	printf("%-12s %7s %-7s %8s %8s", "set", "rules", "engine", "build", "memory");
	for (int t = 0; t < TRACE_NB; t++)
		printf(" %15s", trace_names[t]);
	printf("\n");
	if (i == argc)
		run_default();
	for (; i < argc; i++)
		run_set(argv[i]);
	return sink == 1;
}
