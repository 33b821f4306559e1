/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forward_diff: the same frames through a kernel that routes and through `sluice replay`, with the
 * same addresses, routes and neighbours; what comes out of each port must be equal. The kernel goes
 * first, one case at a time, so that every frame that it sends is known to belong to its case; the
 * times at which it got them are sluice's clock.
 *
 *   forward_diff SLUICE [--frames N] [--seed S] [--class NAME] [--only INDEX] [--sysctl NAME=VALUE]
 *                [--workers N] [--rules FILE] [--without CLASS]
 *   forward_diff --show | --twice [...]
 *
 * --only runs one case alone; --show prints what the kernel sends; --twice holds the kernel against
 * itself, which shows that nothing is left to chance; --rules loads rules of both families, the same
 * ones. SLUICE_KERNEL_FRAMES and SLUICE_KERNEL_SEED stand in for missing options.
 */
#include "compare.h"
#include "describe.h"
#include "frames.h"
#include "replay.h"
#include "topo.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_DEFAULT 3000
#define SHOW_MAX 10 /* cases that differ, of which each is run again alone */
#define WATCH_US 100000 /* after the last frame */
#define NAME_MAX_BAD 5 /* cases of a class that are named */
#define SKIP 77
#define WITHOUT_MAX 8 /* classes that are left out */

struct options {
	const char *sluice;
	const char *class;
	const char *workers; /* NULL: one */
	uint64_t seed;
	unsigned int first;
	unsigned int n;
	enum {
		AGAINST_SLUICE,
		AGAINST_ITSELF,
		JUST_SHOW
	} mode;
};

struct result {
	struct cmp_set kernel;
	struct cmp_set sluice;
	uint64_t *start_us; /* of each case, and one behind the last */
	uint64_t end_us; /* how long the kernel was watched */
	size_t frames_in;
	const struct options *opt;
};

static volatile sig_atomic_t stopped;
static const char *rules; /* NULL: none */
static const char *without[WITHOUT_MAX];
static unsigned int n_without;

static void stop(int sig)
{
	stopped = sig;
}

static uint64_t now_us(void)
{
	return lab_now_ns() / 1000;
}

static bool is_left_out(const char *class)
{
	for (unsigned int i = 0; i < n_without; i++)
		if (strcmp(without[i], class) == 0)
			return true;
	return false;
}

/* a frame's time is its own: later by a microsecond than the one before at least */
static int send_case(
		struct lab *lab, struct replay *r, const struct frames_case *c, uint64_t *clock_us)
{
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < c->n; i++) {
		uint64_t now = now_us();

		*clock_us = now > *clock_us ? now : *clock_us + 1;
		ret = lab_send(lab, c->v[i].port, c->v[i].data, c->v[i].len);
		if (ret == 0 && r != NULL)
			ret = replay_add(r, c->v[i].port, *clock_us * 1000, c->v[i].data,
					c->v[i].len);
	}
	return ret;
}

static int ask_kernel(struct lab *lab, struct replay *r, struct result *res, struct cmp_set *set)
{
	const struct options *opt = res->opt;
	static struct frames_case c;
	uint64_t clock_us = 0;
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < opt->n && !stopped; i++) {
		struct lab_frames out = { 0 };

		ret = frames_make(opt->seed, opt->first + i, opt->class, &c);
		if (ret < 0)
			break;
		if (is_left_out(c.class))
			c.n = 0;
		res->start_us[i] = now_us() > clock_us ? now_us() : clock_us + 1;
		res->frames_in += c.n;
		ret = send_case(lab, r, &c, &clock_us);
		if (ret == 0)
			ret = lab_collect(lab, c.v[0].port, &out);
		for (size_t j = 0; ret == 0 && j < out.n; j++)
			ret = cmp_add(set, out.v[j].port, opt->first + i, clock_us * 1000,
					out.v[j].data, out.v[j].len);
		lab_frames_reset(&out);
	}
	res->start_us[opt->n] = UINT64_MAX;
	res->end_us = clock_us + WATCH_US;
	return stopped ? -EINTR : ret;
}

static uint32_t case_at(const struct result *res, uint64_t time_us)
{
	unsigned int low = 0, high = res->opt->n;

	if (time_us < res->start_us[0])
		return CMP_NO_CASE;
	while (high - low > 1) {
		unsigned int mid = (low + high) / 2;

		if (res->start_us[mid] <= time_us)
			low = mid;
		else
			high = mid;
	}
	return res->opt->first + low;
}

/* what sluice does by timer at the end is later than the kernel was watched: see neigh_diff */
static int take(void *ctx, unsigned int port, uint64_t time_ns, const uint8_t *data, size_t len)
{
	struct result *res = ctx;

	if (time_ns / 1000 > res->end_us)
		return 0;
	return cmp_add(&res->sluice, port, case_at(res, time_ns / 1000), time_ns, data, len);
}

static int run_kernel(struct replay *r, struct result *res, struct cmp_set *set)
{
	struct lab *lab = NULL;
	int ret = lab_open(&topo_spec, &lab);

	if (ret == 0 && rules != NULL
			&& lab_exec(lab, LAB_ROUTER,
					   "iptables-legacy-restore -w < %s && "
					   "ip6tables-legacy-restore -w < %s",
					   rules, rules)
					!= 0)
		ret = -EINVAL;
	if (ret == 0)
		ret = ask_kernel(lab, r, res, set);
	lab_close(lab);
	return ret;
}

static void write_config(FILE *f)
{
	topo_write_config(f);
	if (rules != NULL)
		fprintf(f, "firewall: {iptables: %s, ip6tables: %s}\n", rules, rules);
}

static int run_both(const struct options *opt, struct result *res)
{
	const char *ports[TOPO_PORTS_NB + 1] = { NULL };
	struct replay *r;
	int ret;

	for (unsigned int i = 0; i < TOPO_PORTS_NB; i++)
		ports[i] = topo_spec.ports[i].name;
	ret = replay_open(opt->sluice, opt->workers, ports, write_config, &r);
	if (ret < 0)
		return ret;
	ret = run_kernel(r, res, &res->kernel);
	if (ret == 0)
		ret = replay_run(r, take, res);
	replay_close(r);
	return ret;
}

static int run(const struct options *opt, struct result *res)
{
	int ret;

	*res = (struct result){ .opt = opt };
	res->start_us = calloc(opt->n + 1, sizeof(*res->start_us));
	if (res->start_us == NULL)
		return -ENOMEM;
	if (opt->mode == AGAINST_SLUICE)
		return run_both(opt, res);
	ret = run_kernel(NULL, res, &res->kernel);
	if (ret == 0 && opt->mode == AGAINST_ITSELF)
		ret = run_kernel(NULL, res, &res->sluice);
	return ret;
}

static void result_reset(struct result *res)
{
	cmp_reset(&res->kernel);
	cmp_reset(&res->sluice);
	free(res->start_us);
}

static void show_set(const char *who, const struct cmp_set *set, const struct cmp_set *other)
{
	if (set->n == 0)
		printf("  %s sends nothing\n", who);
	for (size_t i = 0; i < set->n; i++) {
		const struct cmp_frame *f = &set->v[i], *partner = NULL;

		printf("  %s %s%s: ", who, topo_spec.ports[f->port].name, f->matched ? " =" : "");
		describe(stdout, f->data, f->len);
		printf("\n");
		if (f->matched)
			continue;
		for (size_t j = 0; j < other->n && partner == NULL; j++) {
			if (other->v[j].port == f->port && !other->v[j].matched)
				partner = &other->v[j];
		}
		describe_hex(stdout, f->even, f->len, partner == NULL ? NULL : partner->even,
				partner == NULL ? 0 : partner->len);
	}
}

static void show_case(const struct options *opt, unsigned int index)
{
	static struct frames_case c;

	if (frames_make(opt->seed, index, opt->class, &c) < 0)
		return;
	printf("\ncase %u, %s: --seed %llu --only %u%s%s\n", index, c.class,
			(unsigned long long)opt->seed, index, opt->class ? " --class " : "",
			opt->class ? opt->class : "");
	for (unsigned int i = 0; i < c.n; i++) {
		printf("  in %s: ", topo_spec.ports[c.v[i].port].name);
		describe(stdout, c.v[i].data, c.v[i].len);
		printf("\n     %s ", topo_spec.ports[c.v[i].port].name);
		for (uint32_t j = 0; j < c.v[i].len; j++)
			printf("%02x", c.v[i].data[j]);
		printf("\n");
	}
}

/* run it again alone: no other case may have a part in it */
static int show_alone(const struct options *opt, unsigned int index)
{
	struct options one = *opt;
	struct result res;
	int ret;

	one.first = index;
	one.n = 1;
	ret = run(&one, &res);
	if (ret == 0) {
		show_case(opt, index);
		if (cmp_match(&res.kernel, &res.sluice) == 0)
			printf("  equal when run alone\n");
		show_set("kernel", &res.kernel, &res.sluice);
		show_set("sluice", &res.sluice, &res.kernel);
	}
	result_reset(&res);
	return ret;
}

static int show(const struct options *opt)
{
	struct result res;
	int ret = run(opt, &res);
	size_t at = 0;

	for (unsigned int i = 0; ret == 0 && i < opt->n; i++) {
		show_case(opt, opt->first + i);
		for (; at < res.kernel.n && res.kernel.v[at].index == opt->first + i; at++) {
			const struct cmp_frame *f = &res.kernel.v[at];

			printf("  out %s: ", topo_spec.ports[f->port].name);
			describe(stdout, f->data, f->len);
			printf("\n");
			describe_hex(stdout, f->data, f->len, NULL, 0);
		}
	}
	result_reset(&res);
	return ret;
}

/* what the whole run had for a case, which may be another thing than the case alone */
static void show_lonely(const char *who, const struct cmp_set *set, unsigned int index)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct cmp_frame *f = &set->v[i];

		if (f->matched || f->index != index)
			continue;
		printf("  in the whole run, %s %s alone: ", who, topo_spec.ports[f->port].name);
		describe(stdout, f->data, f->len);
		printf("\n");
	}
}

struct tally {
	const char *name;
	unsigned int cases;
	unsigned int bad;
	unsigned int which[NAME_MAX_BAD];
};

static void count_case(struct tally *tally, const char *name, unsigned int index, bool bad)
{
	while (tally->name != NULL && strcmp(tally->name, name) != 0)
		tally++;
	tally->name = name;
	tally->cases++;
	if (bad && tally->bad < NAME_MAX_BAD)
		tally->which[tally->bad] = index;
	tally->bad += bad;
}

static void print_tally(const struct tally *tally, bool all)
{
	printf("\n%-20s %6s %6s\n", "class", "cases", "differ");
	for (const struct tally *t = tally; t->name != NULL; t++) {
		if (t->bad == 0 && !all)
			continue;
		printf("%-20s %6u %6u", t->name, t->cases, t->bad);
		for (unsigned int i = 0; i < t->bad && i < NAME_MAX_BAD; i++)
			printf("%s%u", i == 0 ? "  --only " : " ", t->which[i]);
		printf("\n");
	}
}

/* Return: the number of cases that differ, or -errno */
static int report(const struct options *opt, const struct result *res)
{
	static struct tally tally[128];
	bool *bad = calloc(opt->n, sizeof(*bad));
	unsigned int n_bad = 0, n_lost = 0;
	static struct frames_case c;
	int ret = 0;

	if (bad == NULL)
		return -ENOMEM;
	for (int side = 0; side < 2; side++) {
		const struct cmp_set *set = side == 0 ? &res->kernel : &res->sluice;

		for (size_t i = 0; i < set->n; i++) {
			if (set->v[i].matched)
				continue;
			if (set->v[i].index == CMP_NO_CASE)
				n_lost++;
			else
				bad[set->v[i].index - opt->first] = true;
		}
	}
	for (unsigned int i = 0; i < opt->n; i++) {
		frames_make(opt->seed, opt->first + i, opt->class, &c);
		count_case(tally, c.class, opt->first + i, bad[i]);
		if (bad[i] && n_bad++ < SHOW_MAX && ret == 0 && !stopped) {
			ret = show_alone(opt, opt->first + i);
			show_lonely("kernel", &res->kernel, opt->first + i);
			show_lonely("sluice", &res->sluice, opt->first + i);
		}
	}
	print_tally(tally, n_bad == 0);
	if (n_lost > 0)
		printf("%u frames of sluice belong to no case\n", n_lost);
	free(bad);
	return ret < 0 ? ret : (int)(n_bad + n_lost);
}

static int diff(const struct options *opt)
{
	struct result res;
	int ret = run(opt, &res);

	if (ret == 0) {
		cmp_match(&res.kernel, &res.sluice);
		ret = report(opt, &res);
		printf("seed %llu: %u cases, %zu frames in; out: kernel %zu, sluice %zu; %d differ\n",
				(unsigned long long)opt->seed, opt->n, res.frames_in, res.kernel.n,
				res.sluice.n, ret);
		if (opt->n >= 200 && res.kernel.n < opt->n / 10) {
			printf("the kernel is too quiet: the lab does not work\n");
			ret = -EIO;
		}
	}
	result_reset(&res);
	return ret;
}

static unsigned long from_env(const char *name, unsigned long otherwise)
{
	const char *value = getenv(name);

	return value == NULL ? otherwise : strtoul(value, NULL, 0);
}

static void usage(void)
{
	fprintf(stderr,
			"forward_diff SLUICE | --show | --twice "
			"[--frames N] [--seed S] [--class NAME] [--only INDEX] "
			"[--sysctl NAME=VALUE]... [--workers N] [--rules FILE]\nclasses:");
	for (unsigned int i = 0; frames_class_name(i) != NULL; i++)
		fprintf(stderr, " %s", frames_class_name(i));
	fprintf(stderr, "\n");
}

static int parse(int argc, char **argv, struct options *opt)
{
	static const struct option longs[] = { { "frames", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 's' }, { "class", required_argument, NULL, 'c' },
		{ "only", required_argument, NULL, 'o' }, { "show", no_argument, NULL, 'w' },
		{ "workers", required_argument, NULL, 'k' },
		{ "rules", required_argument, NULL, 'r' },
		{ "without", required_argument, NULL, 'x' },
		{ "sysctl", required_argument, NULL, 'y' }, { "twice", no_argument, NULL, 't' },
		{ 0 } };
	int o;

	*opt = (struct options){
		.seed = from_env("SLUICE_KERNEL_SEED", 1),
		.n = (unsigned int)from_env("SLUICE_KERNEL_FRAMES", FRAMES_DEFAULT),
	};
	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (o) {
		case 'n':
			opt->n = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 's':
			opt->seed = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			opt->class = optarg;
			break;
		case 'o':
			opt->first = (unsigned int)strtoul(optarg, NULL, 0);
			opt->n = 1;
			break;
		case 'y':
			if (topo_add_sysctl(optarg) < 0)
				return -EINVAL;
			break;
		case 'k':
			opt->workers = optarg;
			break;
		case 'x':
			if (n_without == WITHOUT_MAX)
				return -EINVAL;
			without[n_without++] = optarg;
			break;
		case 'r':
			rules = optarg;
			break;
		case 'w':
			opt->mode = JUST_SHOW;
			break;
		case 't':
			opt->mode = AGAINST_ITSELF;
			break;
		default:
			return -EINVAL;
		}
	}
	opt->sluice = argv[optind];
	if (optind + (opt->mode == AGAINST_SLUICE) != argc || opt->n == 0)
		return -EINVAL;
	return 0;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = stop };
	struct options opt;
	const char *why;
	int ret;

	if (parse(argc, argv, &opt) < 0) {
		usage();
		return 2;
	}
	if (!lab_possible(&why)) {
		fprintf(stderr, "SKIP: the kernel cannot be asked: %s\n", why);
		return SKIP;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	topo_init();
	ret = opt.mode == JUST_SHOW ? show(&opt) : diff(&opt);
	if (ret < 0)
		fprintf(stderr, "forward_diff: %s\n", strerror(-ret));
	return ret != 0;
}
