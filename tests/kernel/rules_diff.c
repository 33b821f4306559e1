/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rules_diff: the same ruleset into iptables-legacy-restore in a namespace and into `sluice replay`,
 * the same frames through both. The frames that come out, the errors and resets that are sent and
 * every counter of every rule and policy must be equal; marks show in the rules behind them. What
 * differs is made small: packets and rules go as long as it still differs.
 *
 *   rules_diff SLUICE [--sets N] [--packets N] [--seed S] [--only S4|S6] [--time SECONDS] [--engine E]
 *
 * Set i of seed S is IPv4 for even i, else IPv6. --only 1234 runs set 1234 alone.
 * SLUICE_KERNEL_SEED and SLUICE_RULES_SETS stand in for missing options.
 */
#include "compare.h"
#include "describe.h"
#include "replay.h"
#include "rules_gen.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKIP 77
#define TEXT_MAX (256 * 1024)
#define SHRINK_RUNS 150
#define PACKETS_MAX 4096
#define WATCH_US 100000
#define SETTLE_MS 3000

struct options {
	const char *sluice;
	const char *engine;
	uint64_t seed;
	unsigned int first, sets, packets;
	unsigned int seconds; /* 0: no limit */
};

/* one ruleset with its packets, some of which may have been taken out */
struct trial {
	const struct options *opt;
	struct lab *lab;
	uint64_t seed;
	struct rules_set set;
	bool skip[PACKETS_MAX];
	/* what came of it */
	struct cmp_set kernel, sluice;
	uint64_t start_us[PACKETS_MAX + 1], end_us;
	char kernel_text[TEXT_MAX], sluice_text[TEXT_MAX];
};

static volatile sig_atomic_t stopped;
static char dir[64];
static const char *config_engine;
static bool config_v6;

static void stop(int sig)
{
	stopped = sig;
}

static uint64_t now_us(void)
{
	return lab_now_ns() / 1000;
}

static void write_config(FILE *f)
{
	topo_write_config(f);
	fprintf(f, "firewall: {%s: %s/rules, engine: %s}\n", config_v6 ? "ip6tables" : "iptables",
			dir, config_engine);
}

static int write_rules(const struct trial *t)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/rules", dir);
	f = fopen(path, "w");
	if (f == NULL)
		return -errno;
	rules_print(&t->set, f);
	return fclose(f) == 0 ? 0 : -errno;
}

static int read_rules(struct trial *t)
{
	char path[128];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/out%s", dir, t->set.v6 ? ".v6" : "");
	f = fopen(path, "r");
	if (f == NULL)
		return -errno;
	n = fread(t->sluice_text, 1, sizeof(t->sluice_text) - 1, f);
	t->sluice_text[n] = '\0';
	fclose(f);
	return 0;
}

/* Return: 0; -EINVAL if the kernel refuses the rules */
static int load_kernel(struct trial *t)
{
	const char *tool = t->set.v6 ? "ip6tables-legacy-restore" : "iptables-legacy-restore";

	/* without a rule that names it, what rules share by name is forgotten */
	if (lab_exec(t->lab, LAB_ROUTER,
			    "sed 's/^-A.*//; /^$/d' %s/rules | %s -w && %s -w < %s/rules", dir,
			    tool, tool, dir)
			!= 0)
		return -EINVAL;
	return 0;
}

static int ask_kernel(struct trial *t, struct replay *r)
{
	static struct frames_case c;
	uint64_t clock_us = 0;
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < t->opt->packets; i++) {
		struct lab_frames out = { 0 };
		uint64_t now = now_us();

		clock_us = now > clock_us ? now : clock_us + 1;
		t->start_us[i] = clock_us;
		if (t->skip[i])
			continue;
		rules_packet(&t->set, t->seed, i, &c);
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

/* the text of one table, without remarks; its length */
static const char *table_of(const char *text, const char *name, size_t *len)
{
	char head[32];
	const char *at, *end;

	snprintf(head, sizeof(head), "*%s\n", name);
	at = strstr(text, head);
	end = at == NULL ? NULL : strstr(at, "\nCOMMIT");
	*len = end == NULL ? 0 : (size_t)(end - at);
	return at;
}

static const char *const table_names[] = { "raw", "mangle", "filter", "security" };

static bool same_table(const struct trial *t, const char *name)
{
	size_t a_len, b_len;
	const char *a = table_of(t->kernel_text, name, &a_len);
	const char *b = table_of(t->sluice_text, name, &b_len);

	return a_len > 0 && a_len == b_len && memcmp(a, b, a_len) == 0;
}

static int run_once(struct trial *t, struct replay *r)
{
	const char *save = t->set.v6 ? "ip6tables-legacy-save -c" : "iptables-legacy-save -c";
	char path[128];
	int ret;

	ret = load_kernel(t);
	if (ret == 0)
		ret = lab_forget(t->lab);
	if (ret < 0)
		return ret;
	ret = ask_kernel(t, r);
	if (ret == 0)
		ret = lab_read(t->lab, LAB_ROUTER, t->kernel_text, sizeof(t->kernel_text), "%s",
				save);
	if (ret != 0)
		return ret < 0 ? ret : -EPROTO;
	snprintf(path, sizeof(path), "%s/out", dir);
	replay_write_rules(r, path);
	ret = replay_run(r, take, t);
	return ret == 0 ? read_rules(t) : ret;
}

/* Return: 0 equal, 1 differs, -EINVAL refused by the kernel, another -errno */
static int run(struct trial *t)
{
	const char *ports[TOPO_PORTS_NB + 1] = { NULL };
	struct replay *r;
	int ret;

	cmp_reset(&t->kernel);
	cmp_reset(&t->sluice);
	for (unsigned int i = 0; i < TOPO_PORTS_NB; i++)
		ports[i] = topo_spec.ports[i].name;
	config_v6 = t->set.v6;
	config_engine = t->opt->engine;
	ret = write_rules(t);
	if (ret < 0)
		return ret;
	ret = replay_open(t->opt->sluice, NULL, ports, write_config, &r);
	if (ret < 0)
		return ret;
	ret = run_once(t, r);
	replay_close(r);
	if (ret < 0)
		return ret;
	ret = cmp_match(&t->kernel, &t->sluice) > 0;
	for (size_t i = 0; i < ARRAY_LEN(table_names); i++)
		ret |= !same_table(t, table_names[i]);
	return ret;
}

/* Return: whether it still differs without what @off says is out */
static bool still_differs(struct trial *t, unsigned int *runs)
{
	return (*runs)++ < SHRINK_RUNS && !stopped && run(t) == 1;
}

/* the packets whose frames have no partner, alone */
static void try_suspects(struct trial *t, unsigned int *runs)
{
	bool was[PACKETS_MAX], now[PACKETS_MAX];
	const struct cmp_set *sets[] = { &t->kernel, &t->sluice };
	bool any = false;

	memcpy(was, t->skip, sizeof(was));
	memset(now, true, sizeof(now));
	for (size_t k = 0; k < ARRAY_LEN(sets); k++)
		for (size_t i = 0; i < sets[k]->n && !any; i++)
			if (!sets[k]->v[i].matched && sets[k]->v[i].index < PACKETS_MAX) {
				now[sets[k]->v[i].index] = false;
				any = true;
			}
	if (!any)
		return;
	memcpy(t->skip, now, sizeof(now));
	if (!still_differs(t, runs))
		memcpy(t->skip, was, sizeof(was));
}

static void shrink_packets(struct trial *t, unsigned int *runs)
{
	for (unsigned int step = t->opt->packets / 2; step > 0; step /= 2) {
		for (unsigned int at = 0; at < t->opt->packets; at += step) {
			bool was[PACKETS_MAX];
			bool any = false;

			memcpy(was, t->skip, sizeof(was));
			for (unsigned int i = at; i < at + step && i < t->opt->packets; i++) {
				any |= !t->skip[i];
				t->skip[i] = true;
			}
			if (any && !still_differs(t, runs))
				memcpy(t->skip, was, sizeof(was));
		}
	}
}

static void shrink_rules(struct trial *t, unsigned int *runs)
{
	for (unsigned int step = t->set.n / 2; step > 0; step /= 2) {
		for (unsigned int at = 0; at < t->set.n; at += step) {
			bool was[RULES_LINES_MAX];
			bool any = false;

			for (unsigned int i = at; i < at + step && i < t->set.n; i++) {
				was[i] = t->set.line[i].off;
				any |= t->set.line[i].rule && !was[i];
				t->set.line[i].off = t->set.line[i].rule;
			}
			if (!any || still_differs(t, runs))
				continue;
			for (unsigned int i = at; i < at + step && i < t->set.n; i++)
				t->set.line[i].off = was[i];
		}
	}
}

/* both have the same lines, but for the counters */
static void show_lines(const char *a, size_t a_len, const char *b, size_t b_len)
{
	const char *a_end = a + a_len, *b_end = b + b_len;

	while (a < a_end && b < b_end) {
		size_t n = strcspn(a, "\n"), k = strcspn(b, "\n");

		if (n != k || memcmp(a, b, n) != 0)
			printf("  kernel %.*s\n  sluice %.*s\n", (int)n, a, (int)k, b);
		a += n + 1;
		b += k + 1;
	}
}

static void show_tables(const struct trial *t)
{
	for (size_t i = 0; i < ARRAY_LEN(table_names); i++) {
		size_t a_len, b_len;
		const char *a = table_of(t->kernel_text, table_names[i], &a_len);
		const char *b = table_of(t->sluice_text, table_names[i], &b_len);

		if (same_table(t, table_names[i]))
			continue;
		printf("  table %s\n", table_names[i]);
		if (a_len > 0 && b_len > 0)
			show_lines(a, a_len, b, b_len);
	}
}

static void show_frames(const char *who, const struct cmp_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct cmp_frame *f = &set->v[i];

		if (f->matched)
			continue;
		printf("  only %s, packet %u, %s: ", who, f->index, topo_spec.ports[f->port].name);
		describe(stdout, f->data, f->len);
		printf("\n");
		describe_hex(stdout, f->even, f->len, NULL, 0);
	}
}

static void show_outcome(const struct trial *t)
{
	show_frames("kernel", &t->kernel);
	show_frames("sluice", &t->sluice);
	show_tables(t);
}

static void show(struct trial *t)
{
	static struct frames_case c;

	rules_print(&t->set, stdout);
	for (unsigned int i = 0; i < t->opt->packets; i++) {
		if (t->skip[i])
			continue;
		rules_packet(&t->set, t->seed, i, &c);
		printf("packet %u at %s: ", i, topo_spec.ports[c.v[0].port].name);
		describe(stdout, c.v[0].data, c.v[0].len);
		printf("\n  ");
		for (uint32_t k = 14; k < c.v[0].len; k++)
			printf("%02x", c.v[0].data[k]);
		printf("\n");
	}
	show_outcome(t);
}

/* Return: 0, 1 if it differs, -errno */
static int one_set(struct trial *t, unsigned int index, unsigned int *refused)
{
	unsigned int runs = 0;
	int ret;

	t->seed = t->opt->seed + index;
	memset(t->skip, 0, sizeof(t->skip));
	rules_make(&t->set, t->seed, index % 2 != 0);
	ret = run(t);
	if (ret == -EINVAL) {
		(*refused)++;
		return 0;
	}
	if (ret <= 0)
		return ret;
	printf("set %u differs: --seed %llu --only %u\n", index, (unsigned long long)t->opt->seed,
			index);
	show_outcome(t);
	fflush(stdout);
	try_suspects(t, &runs);
	shrink_packets(t, &runs);
	shrink_rules(t, &runs);
	if (run(t) == 1)
		show(t);
	else
		printf("differs no more when it is run again\n");
	fflush(stdout);
	return 1;
}

/* new IPv6 ports report their groups for a while, and rules would count that */
static int settle(struct lab *lab)
{
	struct lab_frames frames = { 0 };
	int ret = lab_wait(lab, SETTLE_MS, &frames);

	lab_frames_reset(&frames);
	return ret;
}

static int diff(const struct options *opt)
{
	struct trial *t = calloc(1, sizeof(*t));
	uint64_t end_us = now_us() + opt->seconds * UINT64_C(1000000);
	unsigned int done = 0, bad = 0, refused = 0;
	int ret;

	if (t == NULL)
		return -ENOMEM;
	t->opt = opt;
	ret = lab_open(&topo_spec, &t->lab);
	if (ret == 0)
		ret = settle(t->lab);
	for (unsigned int i = opt->first; ret >= 0 && i < opt->first + opt->sets && !stopped; i++) {
		if (opt->seconds > 0 && now_us() > end_us)
			break;
		ret = one_set(t, i, &refused);
		bad += ret == 1;
		done++;
		if (bad >= 5)
			break;
	}
	printf("seed %llu: %u rulesets with %u packets each, %u refused by the kernel, %u differ\n",
			(unsigned long long)opt->seed, done, opt->packets, refused, bad);
	if (ret >= 0 && refused * 4 > done) {
		printf("the kernel refuses too many\n");
		bad++;
	}
	cmp_reset(&t->kernel);
	cmp_reset(&t->sluice);
	lab_close(t->lab);
	free(t);
	return ret < 0 ? ret : (int)bad;
}

static unsigned long from_env(const char *name, unsigned long otherwise)
{
	const char *value = getenv(name);

	return value == NULL ? otherwise : strtoul(value, NULL, 0);
}

static int parse(int argc, char **argv, struct options *opt)
{
	static const struct option longs[] = { { "sets", required_argument, NULL, 'n' },
		{ "packets", required_argument, NULL, 'p' },
		{ "seed", required_argument, NULL, 's' }, { "only", required_argument, NULL, 'o' },
		{ "time", required_argument, NULL, 't' },
		{ "engine", required_argument, NULL, 'e' }, { 0 } };
	int o;

	*opt = (struct options){
		.engine = "auto",
		.seed = from_env("SLUICE_KERNEL_SEED", 1),
		.sets = (unsigned int)from_env("SLUICE_RULES_SETS", 10),
		.packets = 150,
	};
	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (o == 'n')
			opt->sets = (unsigned int)strtoul(optarg, NULL, 0);
		else if (o == 'p')
			opt->packets = (unsigned int)strtoul(optarg, NULL, 0);
		else if (o == 's')
			opt->seed = strtoull(optarg, NULL, 0);
		else if (o == 't')
			opt->seconds = (unsigned int)strtoul(optarg, NULL, 0);
		else if (o == 'e')
			opt->engine = optarg;
		else if (o != 'o')
			return -EINVAL;
		if (o == 'o') {
			opt->first = (unsigned int)strtoul(optarg, NULL, 0);
			opt->sets = 1;
		}
	}
	opt->sluice = argv[optind];
	return optind + 1 == argc && opt->packets > 0 && opt->packets <= PACKETS_MAX ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = stop };
	struct options opt;
	const char *why;
	int ret;

	if (parse(argc, argv, &opt) < 0) {
		fprintf(stderr,
				"rules_diff SLUICE [--sets N] [--packets N] [--seed S] [--only I] "
				"[--time SECONDS] [--engine E]\n");
		return 2;
	}
	if (!lab_possible(&why)) {
		fprintf(stderr, "SKIP: the kernel cannot be asked: %s\n", why);
		return SKIP;
	}
	snprintf(dir, sizeof(dir), "/tmp/sluice-rules-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return 1;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	topo_init();
	ret = diff(&opt);
	if (ret < 0)
		fprintf(stderr, "rules_diff: %s\n", strerror(-ret));
	for (unsigned int i = 0; i < 3; i++) {
		static const char *const names[] = { "rules", "out", "out.v6" };
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
	return ret != 0;
}
