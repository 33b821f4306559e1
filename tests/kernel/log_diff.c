/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_diff: what LOG and TRACE write of a packet, in the kernel's log and in `sluice replay --log`.
 * Every line must be the same, with its level, in the same order for each packet; only the
 * identification of datagrams that the router itself makes is not looked at, since the kernel draws
 * it at random.
 *
 *   log_diff SLUICE [--invalid] [--sets N] [--frames N] [--seed S] [--only S]
 *
 * Sets with an even number have a LOG with options of its own in every chain of both families, and
 * get all kinds of frames, malformed ones among them. The others are random rules of one family, as
 * rules_diff has them, whose packets are traced. With --invalid there is no LOG: what the tracker says
 * of INVALID packets is compared (nf_conntrack_log_invalid).
 */
#include "describe.h"
#include "kmsg.h"
#include "replay.h"
#include "rules_gen.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SKIP 77
#define FRAMES_MAX 2000
#define LINE_MAX_LEN 3000
#define SETTLE_MS 3000
#define WATCH_US 100000
#define SHOW_MAX 5

struct lines {
	char **v;
	size_t n, room;
};

struct options {
	const char *sluice;
	uint64_t seed;
	unsigned int first, sets, frames;
};

struct trial {
	const struct options *opt;
	struct lab *lab;
	struct kmsg *kmsg;
	uint64_t seed;
	bool random; /* rules of one family, traced */
	struct rules_set set;
	struct frames_case frames[FRAMES_MAX];
	struct lines kernel[FRAMES_MAX], sluice[FRAMES_MAX];
	uint64_t start_us[FRAMES_MAX], end_us;
	unsigned long total;
};

static const struct table {
	const char *name;
	const char *chains[6];
} tables[] = {
	{ "raw", { "PREROUTING", "OUTPUT" } },
	{ "mangle", { "PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING" } },
	{ "filter", { "INPUT", "FORWARD", "OUTPUT" } },
	{ "security", { "INPUT", "FORWARD", "OUTPUT" } },
};

static volatile sig_atomic_t stopped;
static char dir[64];
static bool config_v4, config_v6;
static bool invalid; /* what is INVALID is logged, by the tracker and not by rules */

static void stop(int sig)
{
	stopped = sig;
}

#define LOG_INVALID "net.netfilter.nf_conntrack_log_invalid"

static void write_config(FILE *f)
{
	topo_write_config(f);
	if (invalid)
		fprintf(f, "  " LOG_INVALID ": 255\n");
	fprintf(f, "firewall: {");
	if (config_v4)
		fprintf(f, "iptables: %s/v4%s", dir, config_v6 ? ", " : "");
	if (config_v6)
		fprintf(f, "ip6tables: %s/v6", dir);
	fprintf(f, "}\n");
}

static int lines_add(struct lines *l, unsigned int level, const char *text)
{
	if (l->n == l->room) {
		size_t room = l->room == 0 ? 8 : l->room * 2;
		char **v = realloc(l->v, room * sizeof(*v));

		if (v == NULL)
			return -ENOMEM;
		l->v = v;
		l->room = room;
	}
	if (asprintf(&l->v[l->n], "<%u>%s", level, text) < 0)
		return -ENOMEM;
	l->n++;
	return 0;
}

static void lines_reset(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct lines){ 0 };
}

static bool is_own(const char *line)
{
	return strstr(line, "IN= OUT=") != NULL;
}

/* messages of neighbour discovery seem to the kernel to come in by the device that they leave by */
static void forget_device(char *line)
{
	char *in = strstr(line, "IN="), *out = strstr(line, " OUT=");
	char *end = strstr(line, " MAC= SRC=");
	bool bare = end == NULL && strstr(line, "MAC") == NULL;
	size_t len = in == NULL || out == NULL ? 0 : (size_t)(out - in) - 3;

	if (len == 0 || (end == NULL && !bare) || strncmp(in + 3, out + 5, len) != 0)
		return;
	if (end != NULL)
		memmove(end, end + 5, strlen(end + 5) + 1);
	memmove(in + 3, out, strlen(out) + 1);
}

/* the identification, where the kernel draws it */
static void even_out(char *line)
{
	char *id = strstr(line, " ID=");
	char *end;

	if (!is_own(line) || id == NULL || strstr(line, "SRC=") > id)
		return;
	end = id + 4 + strspn(id + 4, "0123456789");
	if (strncmp(end, " DF", 3) == 0 || strstr(line, " PROTO=") < id)
		return;
	memmove(id + 4, end, strlen(end) + 1);
}

/*
 * Slots of record route and timestamp are filled behind the kernel's forward hook, in front of
 * sluice's: that hook's options are not compared.
 */
static void forget_options(char *line)
{
	char *opt = strstr(line, " OPT ("), *end;

	if (strstr(line, ":FORWARD") == NULL || opt == NULL || strstr(line, " PROTO=") < opt)
		return;
	end = strchr(opt, ')');
	if (end != NULL)
		memmove(opt + 6, end, strlen(end) + 1);
}

static void put_log(struct gen *g, FILE *f, const char *table, const char *chain)
{
	static const char *const options[] = { "tcp-sequence", "tcp-options", "ip-options", "uid",
		"macdecode" };

	fprintf(f, "-A %s -j LOG --log-prefix \"sl:%s:%s \"", chain, table, chain);
	/* the console is slow */
	fprintf(f, " --log-level %u", 4 + gen_below(g, 4));
	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (gen_chance(g, 50))
			fprintf(f, " --log-%s", options[i]);
	fprintf(f, "\n");
}

static void put_rules(struct gen *g, FILE *f)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		fprintf(f, "*%s\n", tables[i].name);
		for (size_t k = 0; tables[i].chains[k] != NULL; k++)
			fprintf(f, ":%s ACCEPT [0:0]\n", tables[i].chains[k]);
		if (i == 0 && gen_chance(g, 50))
			fprintf(f, "-A PREROUTING -j MARK --set-mark %u\n", gen_u32(g));
		for (size_t k = 0; tables[i].chains[k] != NULL; k++)
			put_log(g, f, tables[i].name, tables[i].chains[k]);
		fprintf(f, "COMMIT\n");
	}
}

/* the rules of the set; the first one of raw's chains traces */
static void put_traced(const struct trial *t, FILE *f)
{
	char *text = NULL, *raw, *rest;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);

	rules_print(&t->set, mem);
	fclose(mem);
	raw = strstr(text, "*raw\n");
	rest = raw == NULL ? text : strstr(raw, "COMMIT\n");
	if (raw == NULL)
		fprintf(f, "*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n");
	else
		fprintf(f, "%.*s", (int)(rest - raw), raw);
	fprintf(f, "-I PREROUTING 1 -j TRACE\n-I OUTPUT 1 -j TRACE\nCOMMIT\n");
	if (raw != NULL) {
		fprintf(f, "%.*s", (int)(raw - text), text);
		rest += strlen("COMMIT\n");
	}
	fprintf(f, "%s", rest);
	free(text);
}

static int write_rules(struct trial *t, bool v6)
{
	struct gen g = { .rng = t->seed * 0x9e3779b97f4a7c15 + v6 };
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/v%d", dir, v6 ? 6 : 4);
	f = fopen(path, "w");
	if (f == NULL)
		return -errno;
	if (invalid)
		fprintf(f, "*filter\n:FORWARD ACCEPT\n-A FORWARD -m conntrack --ctstate INVALID\nCOMMIT\n");
	else if (t->random)
		put_traced(t, f);
	else
		put_rules(&g, f);
	return fclose(f) == 0 ? 0 : -errno;
}

/* Return: 0, -EINVAL if the kernel refuses the rules */
static int load(struct trial *t)
{
	int ret = 0;

	config_v4 = !t->random || !t->set.v6;
	config_v6 = !t->random || t->set.v6;
	if (config_v4)
		ret = write_rules(t, false);
	if (ret == 0 && config_v6)
		ret = write_rules(t, true);
	if (ret == 0 && config_v4
			&& lab_exec(t->lab, LAB_ROUTER, "iptables-legacy-restore -w < %s/v4", dir)
					!= 0)
		ret = -EINVAL;
	if (ret == 0 && config_v6
			&& lab_exec(t->lab, LAB_ROUTER, "ip6tables-legacy-restore -w < %s/v6", dir)
					!= 0)
		ret = -EINVAL;
	return ret;
}

static int unload(struct trial *t)
{
	return lab_exec(t->lab, LAB_ROUTER,
			"for c in iptables ip6tables; do for t in raw mangle filter security; do "
			"$c-legacy -w -t $t -F; $c-legacy -w -t $t -X; done; "
			"for b in FORWARD INPUT OUTPUT; do $c-legacy -w -P $b ACCEPT; done; done");
}

static int read_kernel(struct trial *t, unsigned int frame)
{
	char text[LINE_MAX_LEN];
	unsigned int level;
	int ret;

	while ((ret = kmsg_next(t->kmsg, &level, text, sizeof(text))) == 1) {
		/* others write, too; and what goes to itself the router here does not send */
		if (strstr(text, "IN=") == NULL || strstr(text, " OUT=") == NULL
				|| strstr(text, "IN=lo ") != NULL
				|| strstr(text, " OUT=lo ") != NULL)
			continue;
		forget_device(text);
		even_out(text);
		forget_options(text);
		ret = lines_add(&t->kernel[frame], level, text);
		if (ret < 0)
			return ret;
		t->total++;
	}
	return ret;
}

static int ask_kernel(struct trial *t, struct replay *r)
{
	uint64_t clock_us = 0;
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < t->opt->frames && !stopped; i++) {
		struct frames_case *c = &t->frames[i];
		struct lab_frames out = { 0 };
		uint64_t now_us = lab_now_ns() / 1000;

		clock_us = now_us > clock_us ? now_us : clock_us + 1;
		t->start_us[i] = clock_us;
		if (t->random)
			rules_packet(&t->set, t->seed, i, c);
		else
			ret = frames_make(t->seed, i, NULL, c);
		if (ret == 0)
			ret = lab_send(t->lab, c->v[0].port, c->v[0].data, c->v[0].len);
		if (ret == 0)
			ret = replay_add(r, c->v[0].port, clock_us * 1000, c->v[0].data,
					c->v[0].len);
		if (ret == 0)
			ret = lab_collect(t->lab, c->v[0].port, &out);
		lab_frames_reset(&out);
		if (ret == 0)
			ret = read_kernel(t, i);
	}
	t->end_us = clock_us + WATCH_US;
	return ret;
}

static unsigned int level_of(const char *name, size_t len)
{
	static const char *const names[] = { "emergency", "alert", "critical", "error", "warning",
		"notice", "info", "debug" };

	for (unsigned int i = 0; i < ARRAY_LEN(names); i++)
		if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
			return i;
	return 99;
}

/* "2026-03-01T12:00:00.123456Z warning packet: TEXT" */
static int take_line(struct trial *t, char *line)
{
	char *level = strchr(line, ' ');
	char *text = strstr(line, " packet: ");
	struct tm tm = { 0 };
	unsigned int us = 0, i = t->opt->frames - 1;
	uint64_t time_us;
	char *end;

	end = strptime(line, "%Y-%m-%dT%H:%M:%S", &tm);
	if (end == NULL || level == NULL || text == NULL || sscanf(end, ".%6uZ", &us) != 1)
		return -EPROTO;
	time_us = (uint64_t)timegm(&tm) * 1000000 + us;
	if (time_us > t->end_us)
		return 0; /* the router's own timers */
	while (i > 0 && t->start_us[i] > time_us)
		i--;
	line[strcspn(line, "\n")] = '\0';
	even_out(text);
	forget_options(text);
	return lines_add(&t->sluice[i], level_of(level + 1, (size_t)(text - level - 1)),
			text + strlen(" packet: "));
}

static int read_sluice(struct trial *t)
{
	char path[128], line[LINE_MAX_LEN];
	int ret = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/log", dir);
	f = fopen(path, "r");
	if (f == NULL)
		return -errno;
	while (ret == 0 && fgets(line, sizeof(line), f) != NULL)
		ret = take_line(t, line);
	fclose(f);
	return ret;
}

static int no_frame(void *ctx, unsigned int port, uint64_t time_ns, const uint8_t *data, size_t len)
{
	(void)ctx, (void)port, (void)time_ns, (void)data, (void)len;
	return 0;
}

static int run(struct trial *t)
{
	const char *ports[TOPO_PORTS_NB + 1] = { NULL };
	char path[128];
	struct replay *r;
	int ret;

	for (unsigned int i = 0; i < TOPO_PORTS_NB; i++)
		ports[i] = topo_spec.ports[i].name;
	ret = load(t);
	if (ret < 0)
		return ret;
	ret = replay_open(t->opt->sluice, NULL, ports, write_config, &r);
	if (ret < 0)
		return ret;
	snprintf(path, sizeof(path), "%s/log", dir);
	replay_write_log(r, path);
	ret = ask_kernel(t, r);
	if (ret == 0)
		ret = replay_run(r, no_frame, NULL);
	if (ret == 0)
		ret = read_sluice(t);
	replay_close(r);
	return ret;
}

/* the next line of the router's own packets, or of others */
static const char *next_line(const struct lines *l, size_t *at, bool own)
{
	while (*at < l->n && is_own(l->v[*at]) != own)
		(*at)++;
	return *at < l->n ? l->v[(*at)++] : NULL;
}

/* an answer is made at once in the kernel, in sluice at the end of a burst: two orders */
static bool same_lines(const struct lines *a, const struct lines *b, bool answers)
{
	for (int own = 0; own < (answers ? 2 : 1); own++) {
		size_t i = 0, k = 0;
		const char *x, *y;

		do {
			x = next_line(a, &i, own != 0);
			y = next_line(b, &k, own != 0);
			if ((x == NULL) != (y == NULL) || (x != NULL && strcmp(x, y) != 0))
				return false;
		} while (x != NULL);
	}
	return true;
}

static void show_lines(const char *who, const struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		printf("  %s %s\n", who, l->v[i]);
}

static unsigned int compare(const struct trial *t, unsigned int set)
{
	unsigned int bad = 0;

	for (unsigned int i = 0; i < t->opt->frames; i++) {
		const struct frames_case *c = &t->frames[i];
		/* redirects are rationed over the life of a kernel, which outlives a set */
		bool answers = strstr(c->class, "redirect") == NULL;

		/* who joins pieces that tell of different protocols, and to which, is forward_diff's question */
		if (invalid && strcmp(c->class, "v6-own-fragments") == 0)
			continue;
		if (same_lines(&t->kernel[i], &t->sluice[i], answers) || bad++ >= SHOW_MAX)
			continue;
		printf("set %u, frame %u (%s) at %s: ", set, i, c->class,
				topo_spec.ports[c->v[0].port].name);
		describe(stdout, c->v[0].data, c->v[0].len);
		printf("\n");
		describe_hex(stdout, c->v[0].data, c->v[0].len < 200 ? c->v[0].len : 200, NULL, 0);
		show_lines("kernel", &t->kernel[i]);
		show_lines("sluice", &t->sluice[i]);
	}
	fflush(stdout);
	return bad;
}

/* without copies, of which the kernel prints what happens to lie in front of them as a MAC header */
static void make_random(struct rules_set *set, uint64_t seed, bool v6)
{
	rules_make(set, seed, v6);
	for (unsigned int i = 0; i < set->n; i++)
		if (strstr(set->line[i].text, " -j TEE") != NULL)
			set->line[i].off = true;
}

/* Return: frames that differ, -EINVAL if the kernel refused the rules, another -errno */
static int one_set(struct trial *t, unsigned int index)
{
	int ret;

	t->seed = t->opt->seed + index;
	t->random = index % 2 != 0 && !invalid;
	if (t->random)
		make_random(&t->set, t->seed, index % 4 == 3);
	ret = run(t);
	if (ret == 0)
		ret = (int)compare(t, index);
	if (unload(t) != 0 && ret >= 0)
		ret = -EPROTO;
	for (unsigned int i = 0; i < FRAMES_MAX; i++) {
		lines_reset(&t->kernel[i]);
		lines_reset(&t->sluice[i]);
	}
	return ret;
}

/* new IPv6 ports report their groups for a while, which rules would log */
static int settle(struct lab *lab)
{
	struct lab_frames frames = { 0 };
	int ret = lab_wait(lab, SETTLE_MS, &frames);

	lab_frames_reset(&frames);
	return ret;
}

static int diff(const struct options *opt, struct kmsg *kmsg)
{
	struct trial *t = calloc(1, sizeof(*t));
	unsigned int bad = 0, refused = 0, done = 0;
	int ret;

	if (t == NULL)
		return -ENOMEM;
	t->opt = opt;
	t->kmsg = kmsg;
	ret = lab_open(&topo_spec, &t->lab);
	if (ret == 0)
		ret = settle(t->lab);
	if (ret == 0 && invalid)
		ret = lab_sysctl(t->lab, LAB_ROUTER, LOG_INVALID, "255");
	for (unsigned int i = opt->first; ret >= 0 && i < opt->first + opt->sets && !stopped; i++) {
		ret = one_set(t, i);
		if (ret == -EINVAL) {
			refused++;
			ret = 0;
		}
		bad += ret > 0 ? (unsigned int)ret : 0;
		done++;
	}
	printf("seed %llu: %u rulesets with %u frames each, %lu lines, %u refused by the kernel, "
	       "%u frames differ\n",
			(unsigned long long)opt->seed, done, opt->frames, t->total, refused, bad);
	if (ret >= 0 && t->total == 0 && !stopped) {
		printf("the kernel wrote nothing\n");
		bad++;
	}
	lab_close(t->lab);
	free(t);
	return ret < 0 ? ret : (int)bad;
}

static int parse(int argc, char **argv, struct options *opt)
{
	static const struct option longs[] = { { "sets", required_argument, NULL, 'n' },
		{ "frames", required_argument, NULL, 'f' },
		{ "seed", required_argument, NULL, 's' }, { "only", required_argument, NULL, 'o' },
		{ "invalid", no_argument, NULL, 'i' }, { 0 } };
	const char *seed = getenv("SLUICE_KERNEL_SEED");
	int o;

	*opt = (struct options){
		.seed = seed == NULL ? 1 : strtoull(seed, NULL, 0), .sets = 4, .frames = 200
	};
	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (o == 'n')
			opt->sets = (unsigned int)strtoul(optarg, NULL, 0);
		else if (o == 'f')
			opt->frames = (unsigned int)strtoul(optarg, NULL, 0);
		else if (o == 's')
			opt->seed = strtoull(optarg, NULL, 0);
		else if (o == 'i')
			invalid = true;
		else if (o == 'o')
			opt->first = (unsigned int)strtoul(optarg, NULL, 0);
		else
			return -EINVAL;
		if (o == 'o')
			opt->sets = 1;
	}
	opt->sluice = argv[optind];
	return optind + 1 == argc && opt->frames > 0 && opt->frames <= FRAMES_MAX ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = stop };
	struct options opt;
	struct kmsg *kmsg;
	const char *why;
	int ret;

	if (parse(argc, argv, &opt) < 0) {
		fprintf(stderr, "log_diff SLUICE [--invalid] [--sets N] [--frames N] [--seed S] [--only I]\n");
		return 2;
	}
	if (!lab_possible(&why)) {
		fprintf(stderr, "SKIP: the kernel cannot be asked: %s\n", why);
		return SKIP;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (kmsg_open(&kmsg, &why) < 0) {
		fprintf(stderr, "SKIP: the kernel's log cannot be read: %s\n", why);
		return SKIP;
	}
	snprintf(dir, sizeof(dir), "/tmp/sluice-log-XXXXXX");
	ret = mkdtemp(dir) == NULL ? -errno : 0;
	topo_init();
	if (ret == 0)
		ret = diff(&opt, kmsg);
	kmsg_close(kmsg);
	if (ret < 0)
		fprintf(stderr, "log_diff: %s\n", strerror(-ret));
	for (unsigned int i = 0; i < 3; i++) {
		static const char *const names[] = { "v4", "v6", "log" };
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
	return ret != 0;
}
