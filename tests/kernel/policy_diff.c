/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * policy_diff: rules and tables drawn at random, as `ip rule` and `ip route` and as `policy:` and
 * `routes:`; marks by the same iptables rules; rp_filter with and without marks. The same packets go
 * through both, and what comes out must be equal, frames and ICMP errors.
 *
 *   policy_diff SLUICE [--sets N] [--packets N] [--seed S] [--only SET]
 *
 * SLUICE_KERNEL_SEED stands in for a missing seed.
 */
#include "compare.h"
#include "describe.h"
#include "policy_gen.h"
#include "replay.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKIP 77
#define PACKETS_MAX 4096
#define WATCH_US 100000
#define SHOWN_MAX 4
#define BAD_SETS_MAX 3

struct options {
	const char *sluice;
	uint64_t seed;
	unsigned int first, sets, packets;
};

struct trial {
	const struct options *opt;
	struct lab *lab;
	uint64_t seed;
	struct cmp_set kernel, sluice;
	uint64_t start_us[PACKETS_MAX + 1], end_us;
};

/* of the set that is tried; the config's writer has no argument */
static struct policy_set set;
static char marks_path[64];

static void write_config(FILE *f)
{
	topo_write_config_defaults(f);
	fputs(set.routes, f);
	fprintf(f, "policy:\n%s", set.policy);
	fprintf(f, "firewall: {iptables: %s, ip6tables: %s}\n", marks_path, marks_path);
	topo_write_sysctls(f);
	fprintf(f, "  net.ipv4.conf.all.rp_filter: %u\n", set.rp_filter);
	fprintf(f, "  net.ipv4.conf.all.src_valid_mark: %u\n", set.src_valid_mark);
}

static int write_marks(void)
{
	FILE *f = fopen(marks_path, "w");

	if (f == NULL)
		return -errno;
	fputs(set.marks, f);
	return fclose(f) == 0 ? 0 : -errno;
}

static int load_kernel(struct trial *t)
{
	char number[2] = { (char)('0' + set.rp_filter), '\0' };
	int ret = 0;

	for (unsigned int v6 = 0; v6 < 2 && ret == 0; v6++) {
		/* -force: a table that is not there cannot be flushed */
		lab_feed(t->lab, LAB_ROUTER, policy_undo, "ip -%d -force -batch - 2>/dev/null",
				v6 ? 6 : 4);
		ret = lab_feed(t->lab, LAB_ROUTER, set.batch[v6], "ip -%d -batch -", v6 ? 6 : 4);
		if (ret == 0)
			ret = lab_feed(t->lab, LAB_ROUTER, set.marks,
					"ip%stables-legacy-restore -w", v6 ? "6" : "");
	}
	if (ret == 0)
		ret = lab_sysctl(t->lab, LAB_ROUTER, "net.ipv4.conf.all.rp_filter", number);
	number[0] = (char)('0' + set.src_valid_mark);
	if (ret == 0)
		ret = lab_sysctl(t->lab, LAB_ROUTER, "net.ipv4.conf.all.src_valid_mark", number);
	return ret > 0 ? -EPROTO : ret;
}

static int ask_kernel(struct trial *t, struct replay *r)
{
	static struct frames_case c;
	uint64_t clock_us = 0;
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < t->opt->packets; i++) {
		struct lab_frames out = { 0 };
		uint64_t now = lab_now_ns() / 1000;

		clock_us = now > clock_us ? now : clock_us + 1;
		t->start_us[i] = clock_us;
		policy_frame(t->seed, i, &c);
		ret = lab_send(t->lab, c.v[0].port, c.v[0].data, c.v[0].len);
		if (ret == 0)
			ret = replay_add(r, c.v[0].port, clock_us * 1000, c.v[0].data, c.v[0].len);
		if (ret == 0)
			ret = lab_collect(t->lab, c.v[0].port, &out);
		for (size_t j = 0; ret == 0 && j < out.n; j++)
			ret = cmp_add(&t->kernel, out.v[j].port, i, clock_us * 1000, out.v[j].data,
					out.v[j].len);
		lab_frames_reset(&out);
	}
	t->end_us = clock_us + WATCH_US;
	return ret;
}

/* replay_sink */
static int take(void *ctx, unsigned int port, uint64_t time_ns, const uint8_t *data, size_t len)
{
	struct trial *t = ctx;
	unsigned int i = t->opt->packets - 1;

	if (time_ns / 1000 > t->end_us)
		return 0;
	while (i > 0 && t->start_us[i] > time_ns / 1000)
		i--;
	return cmp_add(&t->sluice, port, i, time_ns, data, len);
}

static void show_frames(const struct trial *t, const char *who, const struct cmp_set *frames)
{
	static struct frames_case c;
	unsigned int shown = 0;

	for (size_t i = 0; i < frames->n && shown < SHOWN_MAX; i++) {
		const struct cmp_frame *f = &frames->v[i];

		if (f->matched)
			continue;
		shown++;
		policy_frame(t->seed, f->index, &c);
		printf("  packet %u: ", f->index);
		describe(stdout, c.v[0].data, c.v[0].len);
		printf("\n  only %s sends by %s: ", who, topo_spec.ports[f->port].name);
		describe(stdout, f->data, f->len);
		printf("\n");
	}
}

static void show(const struct trial *t, unsigned int index)
{
	printf("set %u differs: --seed %llu --only %u\n%s%s%s%s%srp_filter %u src_valid_mark %u\n",
			index, (unsigned long long)t->opt->seed, index, set.routes, set.policy,
			set.marks, set.batch[0], set.batch[1], set.rp_filter, set.src_valid_mark);
	show_frames(t, "the kernel", &t->kernel);
	show_frames(t, "sluice", &t->sluice);
	fflush(stdout);
}

/* Return: 0 equal, 1 differs, -errno */
static int one_set(struct trial *t, unsigned int index)
{
	const char *ports[TOPO_PORTS_NB + 1] = { NULL };
	struct replay *r;
	int ret;

	cmp_reset(&t->kernel);
	cmp_reset(&t->sluice);
	for (unsigned int i = 0; i < TOPO_PORTS_NB; i++)
		ports[i] = topo_spec.ports[i].name;
	t->seed = t->opt->seed + index;
	policy_make(&set, t->seed);
	ret = write_marks();
	if (ret == 0)
		ret = load_kernel(t);
	if (ret == 0)
		ret = replay_open(t->opt->sluice, NULL, ports, write_config, &r);
	if (ret < 0)
		return ret;
	ret = ask_kernel(t, r);
	if (ret == 0)
		ret = replay_run(r, take, t);
	replay_close(r);
	if (ret < 0)
		return ret;
	if (cmp_match(&t->kernel, &t->sluice) == 0)
		return 0;
	show(t, index);
	return 1;
}

static int diff(const struct options *opt)
{
	struct trial *t = calloc(1, sizeof(*t));
	unsigned int done = 0, bad = 0;
	size_t frames = 0;
	int ret;

	if (t == NULL)
		return -ENOMEM;
	t->opt = opt;
	ret = lab_open(&topo_spec, &t->lab);
	for (unsigned int i = opt->first; ret >= 0 && i < opt->first + opt->sets; i++) {
		ret = one_set(t, i);
		if (ret < 0)
			printf("set %u: %s\n%s%s%s", i, strerror(-ret), set.policy, set.batch[0],
					set.batch[1]);
		bad += ret == 1;
		frames += t->kernel.n;
		done++;
		if (bad >= BAD_SETS_MAX)
			break;
	}
	printf("seed %llu: %u sets with %u packets each, %zu frames from the kernel, %u differ\n",
			(unsigned long long)opt->seed, done, opt->packets, frames, bad);
	cmp_reset(&t->kernel);
	cmp_reset(&t->sluice);
	lab_close(t->lab);
	free(t);
	return ret < 0 ? ret : (int)bad;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "sets", required_argument, NULL, 'n' },
		{ "packets", required_argument, NULL, 'p' },
		{ "seed", required_argument, NULL, 's' }, { "only", required_argument, NULL, 'o' },
		{ 0 } };
	const char *why, *seed = getenv("SLUICE_KERNEL_SEED");
	struct options opt = { .sets = 20, .packets = 200 };
	int o, ret;

	opt.seed = seed == NULL ? 1 : strtoull(seed, NULL, 0);
	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (o == 'n')
			opt.sets = (unsigned int)strtoul(optarg, NULL, 0);
		else if (o == 'p')
			opt.packets = (unsigned int)strtoul(optarg, NULL, 0);
		else if (o == 's')
			opt.seed = strtoull(optarg, NULL, 0);
		else if (o == 'o')
			opt.first = (unsigned int)strtoul(optarg, NULL, 0);
		if (o == 'o')
			opt.sets = 1;
	}
	opt.sluice = argv[optind];
	if (optind + 1 != argc || opt.packets == 0 || opt.packets > PACKETS_MAX) {
		fprintf(stderr, "policy_diff SLUICE [--sets N] [--packets N] [--seed S] [--only I]\n");
		return 2;
	}
	if (!lab_possible(&why)) {
		fprintf(stderr, "SKIP: the kernel cannot be asked: %s\n", why);
		return SKIP;
	}
	snprintf(marks_path, sizeof(marks_path), "/tmp/sluice-marks-%d", getpid());
	topo_init();
	ret = diff(&opt);
	unlink(marks_path);
	if (ret < 0)
		fprintf(stderr, "policy_diff: %s\n", strerror(-ret));
	return ret != 0;
}
