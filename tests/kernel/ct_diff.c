/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ct_diff: sequences of packets through a namespace whose kernel tracks connections, and through a
 * router of sluice in this process. After every packet what came out must be equal byte for byte (what
 * rules saw of the connection is written into the TOS), and so must the lines of
 * /proc/net/nf_conntrack, times within a second; at the end the counters of all rules. What differs
 * is made short: steps go as long as it still differs.
 *
 *   ct_diff [--nat] [--sequences N] [--seed S] [--setting NAME] [--workers N] [--time SECONDS]
 *   ct_diff --script TEXT [--setting NAME]     one sequence, see seq_text.c; shows every step
 *
 * Every setting of ct_setting.c, or with --nat of ct_setting_nat.c, plays its part of N sequences, half
 * of them scripts.
 * SLUICE_KERNEL_SEED and SLUICE_CT_SEQUENCES stand in for missing options.
 */
#include "ct_trial.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SKIP 77
#define BATCH 400
#define SHRINK_RUNS 120
#define SHOWN_MAX 4

struct options {
	uint64_t seed;
	unsigned int sequences, workers, seconds;
	const struct ct_setting *setting; /* NULL: all */
	const char *script;
	bool nat;
};

struct totals {
	unsigned int sequences, bad;
	unsigned int unsteady; /* differed once and not again: a timer at the edge of its second */
	uint64_t packets, entries;
};

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = sig;
}

/* steps go, halves first. @one differs */
static int shrink(struct ct_trial *one)
{
	struct seq *s = &one->v[0].seq;
	unsigned int runs = 0;

	for (unsigned int step = s->n; step > 0; step /= 2) {
		for (unsigned int at = 0; at < s->n && runs < SHRINK_RUNS && !stopped; at += step) {
			bool was[SEQ_STEPS_MAX], any = false;
			int ret;

			for (unsigned int i = at; i < at + step && i < s->n; i++) {
				was[i] = s->step[i].off;
				any |= !was[i] && s->step[i].kind != SEQ_NONE;
				s->step[i].off = true;
			}
			if (!any)
				continue;
			runs++;
			ret = ct_trial_run(one);
			if (ret < 0)
				return ret;
			for (unsigned int i = at; ret == 0 && i < at + step && i < s->n; i++)
				s->step[i].off = was[i];
		}
	}
	return ct_trial_run(one);
}

static void show(const struct ct_trial *one)
{
	const struct ct_member *m = &one->v[0];

	printf("  --setting %s --script '", one->setting->name);
	seq_print(stdout, &m->seq);
	printf("'\n");
	for (unsigned int i = 0; i < m->seq.n; i++) {
		if (m->seq.step[i].off || m->seq.step[i].kind == SEQ_NONE)
			continue;
		printf("  %2u ", i);
		seq_print_step(stdout, &m->seq, i);
		printf("%s\n", i == m->bad ? "   <- differs" : "");
	}
	if (m->bad != CT_ALL_WELL)
		printf("%s", m->why);
	else if (one->counters_bad)
		printf("%s", one->counters);
}

/* the sequence of a member, alone. Return: whether it differs then, too; or -errno */
static int explain(const struct ct_setting *setting, const struct ct_member *m)
{
	struct ct_trial one = { .setting = setting, .n = 1 };
	int ret, differs;

	one.v = calloc(1, sizeof(one.v[0]));
	if (one.v == NULL)
		return -ENOMEM;
	one.v[0].seq = m->seq;
	if (m->bad != CT_ALL_WELL)
		one.v[0].seq.n = m->bad + 1;
	ret = ct_trial_run(&one);
	differs = ret > 0;
	if (ret > 0) {
		ret = shrink(&one);
		show(&one);
	} else if (ret == 0) {
		printf("  differs no more when it is alone\n");
		one.v[0].bad = m->bad;
		one.v[0].why = strdup(m->why == NULL ? "" : m->why);
		show(&one);
	}
	fflush(stdout);
	ct_trial_reset(&one);
	return ret < 0 ? ret : differs;
}

/*
 * Where ports are drawn, two may meet by chance or fall into the range of a rule. What is so does not
 * come again alone, with others drawn, and counts as what differs once. Return: 0 or -errno
 */
static int judge(const struct ct_setting *setting, int explained, struct totals *sum)
{
	if (explained == 0 && ct_setting_translates(setting)) {
		sum->bad--;
		sum->unsteady++;
	}
	return explained < 0 ? explained : 0;
}

/* only counters differ: halves, until one sequence is left */
static int explain_counters(const struct ct_trial *t)
{
	unsigned int from = 0, n = t->n;
	int ret = 0;

	while (n > 1 && ret >= 0 && !stopped) {
		struct ct_trial half = { .setting = t->setting, .n = n / 2 };

		half.v = calloc(half.n, sizeof(half.v[0]));
		if (half.v == NULL)
			return -ENOMEM;
		for (unsigned int i = 0; i < half.n; i++)
			half.v[i].seq = t->v[from + i].seq;
		ret = ct_trial_run(&half);
		ct_trial_reset(&half);
		if (ret > 0) {
			n /= 2;
		} else {
			from += n / 2;
			n -= n / 2;
		}
	}
	return ret < 0 ? ret : explain(t->setting, &t->v[from]);
}

static int report(struct ct_trial *t, struct totals *sum)
{
	unsigned int shown = 0;
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < t->n; i++) {
		if (t->v[i].bad == CT_ALL_WELL)
			continue;
		sum->bad++;
		if (shown++ >= SHOWN_MAX || stopped)
			continue;
		printf("setting %s, sequence %s differs after step %u\n", t->setting->name,
				t->v[i].seq.name, t->v[i].bad);
		ret = judge(t->setting, explain(t->setting, &t->v[i]), sum);
	}
	if (shown > 0 || ret < 0 || !t->counters_bad)
		return ret;
	sum->bad++;
	printf("setting %s: the counters of rules differ\n%s", t->setting->name, t->counters);
	return judge(t->setting, explain_counters(t), sum);
}

/* the same once more: who does not differ again is put right. Return: how many do, or -errno */
static int again(struct ct_trial *t, struct totals *sum)
{
	bool *was = calloc(t->n, sizeof(*was)), counters = true;
	int ret, bad = 0;

	if (was == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < t->n; i++) {
		was[i] = t->v[i].bad != CT_ALL_WELL;
		counters = counters && !was[i];
	}
	ret = ct_trial_run(t);
	for (unsigned int i = 0; ret >= 0 && i < t->n; i++) {
		bool is = t->v[i].bad != CT_ALL_WELL;

		counters = counters && !is;
		bad += was[i] && is;
		sum->unsteady += was[i] != is;
		if (!was[i])
			t->v[i].bad = CT_ALL_WELL;
	}
	t->counters_bad = t->counters_bad && counters;
	free(was);
	return ret < 0 ? ret : bad + (bad == 0 && t->counters_bad);
}

/* a number that is cut in two, or a checksum without it, cannot be told from a wrong one */
static void whole_quotes(struct seq *s)
{
	for (unsigned int i = 0; i < s->n; i++) {
		uint16_t *cut = &s->step[i].error.cut;

		if (s->step[i].kind == SEQ_ERROR && *cut > 0 && *cut < 12 && *cut != 8)
			*cut = *cut < 8 ? 8 : 12;
		if (s->step[i].kind == SEQ_ERROR && s->step[i].damage == SEQ_CUT)
			s->step[i].damage = SEQ_WHOLE;
		if (s->step[i].kind == SEQ_ERROR && s->step[s->step[i].error.of].kind == SEQ_ERROR)
			*cut = 0;
	}
}

/* some sequences under a setting; counts in @sum. Return: 0 or -errno */
static int play(const struct ct_setting *setting, struct ct_trial *t, struct totals *sum)
{
	int ret;

	t->setting = setting;
	for (unsigned int i = 0; ct_setting_translates(setting) && i < t->n; i++)
		whole_quotes(&t->v[i].seq);
	ret = ct_trial_run(t);
	if (ret >= 0) {
		sum->sequences += t->n;
		sum->packets += t->packets;
		sum->entries += t->entries;
	}
	if (ret > 0)
		ret = again(t, sum);
	if (ret > 0)
		ret = report(t, sum);
	ct_trial_reset(t);
	return ret;
}

static int room(struct ct_trial *t, unsigned int n)
{
	*t = (struct ct_trial){ 0 };
	t->v = calloc(n + 1, sizeof(t->v[0]));
	return t->v == NULL ? -ENOMEM : 0;
}

static bool is_v6_text(const char *text)
{
	return strncmp(text, "v6", 2) == 0;
}

/* script @i, or the same over IPv6; false: it is not for both */
static int read_script(unsigned int i, bool v6, struct seq *s)
{
	const char *text = seq_script_text(i);

	if (v6
			&& (is_v6_text(text) || strstr(text, "icmp=") != NULL
					|| strstr(text, "err=") != NULL))
		return 0;
	if (!seq_read(s, text)) {
		printf("script %u cannot be read: %s\n", i, text);
		return -EINVAL;
	}
	s->v6 |= v6;
	snprintf(s->name, sizeof(s->name), "script %u", i);
	return 1;
}

/* @n of the scripts, another setting takes others */
static int play_scripts(const struct ct_setting *setting, unsigned int from, unsigned int n,
		struct totals *sum)
{
	struct ct_trial t;
	unsigned int n_all = 0;
	int ret;

	while (seq_script_text(n_all) != NULL)
		n_all++;
	n_all *= 2;
	ret = room(&t, n_all);
	for (unsigned int i = 0; ret >= 0 && i < n_all && t.n < n; i++) {
		unsigned int which = (from + i) % n_all;
		struct seq *s = &t.v[t.n].seq;

		ret = read_script(which / 2, which % 2 != 0, s);
		if (setting->no_errors && strstr(seq_script_text(which / 2), "err=") != NULL)
			continue;
		t.n += ret == 1 && !(s->v6 && setting->v4_only);
	}
	return ret >= 0 ? play(setting, &t, sum) : ret;
}

static int play_random(
		const struct ct_setting *setting, uint64_t seed, unsigned int n, struct totals *sum)
{
	struct ct_trial t;
	int ret = room(&t, n);

	for (unsigned int i = 0; ret == 0 && i < n; i++) {
		seq_make(&t.v[i].seq, (seed << 20) + i);
		if (setting->v4_only)
			t.v[i].seq.v6 = false;
		if (setting->same_port && i % 2 == 0)
			t.v[i].seq.port[1][SEQ_CLIENT] = t.v[i].seq.port[0][SEQ_CLIENT];
		t.v[i].seq.to_router = t.v[i].seq.to_router && !setting->no_errors;
		for (unsigned int k = 0; setting->no_errors && k < t.v[i].seq.n; k++)
			t.v[i].seq.step[k].off = t.v[i].seq.step[k].kind == SEQ_ERROR;
	}
	t.n = n;
	return ret == 0 ? play(setting, &t, sum) : ret;
}

/* half of them scripts, unless those are fewer */
static int play_setting(const struct ct_setting *setting, const struct options *opt,
		unsigned int index, unsigned int n, struct totals *sum)
{
	unsigned int before = sum->sequences;
	int ret = play_scripts(setting, (unsigned int)opt->seed * 7 + index * 37, n / 2, sum);

	n -= sum->sequences - before < n ? sum->sequences - before : n;
	for (unsigned int done = 0; ret == 0 && done < n && !stopped; done += BATCH)
		ret = play_random(setting, opt->seed * 1000 + index * 100 + done / BATCH,
				n - done < BATCH ? n - done : BATCH, sum);
	return ret;
}

static int diff(const struct options *opt)
{
	struct totals sum = { 0 };
	uint64_t end_ns = lab_now_ns() + opt->seconds * UINT64_C(1000000000);
	unsigned int n_settings = 0;
	int ret = 0;

	while (ct_setting(opt->nat, n_settings) != NULL)
		n_settings++;
	for (unsigned int i = 0; ret == 0 && i < n_settings && !stopped; i++) {
		const struct ct_setting *s = ct_setting(opt->nat, i);

		if (opt->setting != NULL && opt->setting != s)
			continue;
		if (opt->seconds > 0 && lab_now_ns() > end_ns)
			break;
		ret = play_setting(s, opt, i,
				opt->setting != NULL ? opt->sequences : opt->sequences / n_settings,
				&sum);
	}
	printf("seed %llu: %u sequences, %llu packets, %llu entries compared, %u differ, %u once\n",
			(unsigned long long)opt->seed, sum.sequences,
			(unsigned long long)sum.packets, (unsigned long long)sum.entries, sum.bad,
			sum.unsteady);
	if (sum.unsteady * 100 > sum.sequences) {
		printf("too many differ once and not again\n");
		sum.bad += sum.unsteady;
	}
	return ret < 0 ? ret : (int)sum.bad;
}

/* ---- one sequence, shown -------------------------------------------------------------------- */

static int show_script(const struct options *opt)
{
	struct ct_trial t;
	struct totals sum = { 0 };
	int ret = room(&t, 1);

	if (ret < 0)
		return ret;
	if (!seq_read(&t.v[0].seq, opt->script)) {
		fprintf(stderr, "ct_diff: cannot read '%s'\n", opt->script);
		ct_trial_reset(&t);
		return -EINVAL;
	}
	t.n = 1;
	t.shown = stdout;
	ret = play(opt->setting == NULL ? ct_setting(false, 0) : opt->setting, &t, &sum);
	return ret < 0 ? ret : (int)sum.bad;
}

static unsigned long from_env(const char *name, unsigned long otherwise)
{
	const char *value = getenv(name);

	return value == NULL ? otherwise : strtoul(value, NULL, 0);
}

static int parse(int argc, char **argv, struct options *opt)
{
	static const struct option longs[] = { { "sequences", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 's' },
		{ "setting", required_argument, NULL, 'S' },
		{ "script", required_argument, NULL, 'x' },
		{ "workers", required_argument, NULL, 'w' },
		{ "time", required_argument, NULL, 't' }, { "nat", no_argument, NULL, 'N' },
		{ 0 } };
	int o;

	*opt = (struct options){
		.seed = from_env("SLUICE_KERNEL_SEED", 1),
		.sequences = (unsigned int)from_env("SLUICE_CT_SEQUENCES", 500),
		.workers = 1,
	};
	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (o == 'n')
			opt->sequences = (unsigned int)strtoul(optarg, NULL, 0);
		else if (o == 's')
			opt->seed = strtoull(optarg, NULL, 0);
		else if (o == 't')
			opt->seconds = (unsigned int)strtoul(optarg, NULL, 0);
		else if (o == 'w')
			opt->workers = (unsigned int)strtoul(optarg, NULL, 0);
		else if (o == 'N')
			opt->nat = true;
		else if (o == 'x')
			opt->script = optarg;
		else if (o == 'S')
			opt->setting = ct_setting_named(optarg);
		else
			return -EINVAL;
		if (o == 'S' && opt->setting == NULL) {
			fprintf(stderr, "ct_diff: no setting '%s'\n", optarg);
			return -EINVAL;
		}
	}
	/* a NAT setting by its name alone */
	for (unsigned int i = 0; ct_setting(true, i) != NULL; i++)
		opt->nat |= opt->setting == ct_setting(true, i);
	return optind == argc && opt->workers > 0 ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = stop };
	struct options opt;
	const char *why;
	int ret;

	if (parse(argc, argv, &opt) < 0) {
		fprintf(stderr,
				"ct_diff [--nat] [--sequences N] [--seed S] [--setting NAME] [--workers N] "
				"[--time SECONDS] [--script TEXT]\n");
		return 2;
	}
	if (!lab_possible(&why)) {
		fprintf(stderr, "SKIP: the kernel cannot be asked: %s\n", why);
		return SKIP;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	topo_init();
	ret = ct_sluice.open(opt.workers);
	if (ret == 0)
		ret = ct_kernel.open(0);
	if (ret == 0)
		ret = opt.script != NULL ? show_script(&opt) : diff(&opt);
	if (ret < 0)
		fprintf(stderr, "ct_diff: %s\n", strerror(-ret));
	ct_kernel.close();
	ct_sluice.close();
	return ret != 0;
}
