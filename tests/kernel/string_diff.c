/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * string_diff: the match string against the kernel's, kmp. In each round random rules look for pieces of
 * random packets; every rule that holds sets a bit of the packet's mark, which NFLOG tells. Sluice
 * reads the same rules and runs them over the same packets. In some rounds the packets go to the
 * kernel as fragments, which it joins, and to sluice in as many buffers.
 *
 *   string_diff [--rounds N] [--seed S] [--algo kmp|bm]
 *
 * SLUICE_KERNEL_SEED stands in for a missing seed.
 */
#include "config/ipt.h"
#include "nflog.h"
#include "string_gen.h"
#include "tests/config/rules_rig.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SKIP 77
#define GROUP 9
#define RULES 32
#define PACKETS 32
#define FRAGMENTS_MAX 8
#define TEXT_MAX (64 * 1024)
#define SHOWN_MAX 10

struct round {
	struct string_spec spec;
	struct gen g;
	bool joined; /* fragments for the kernel, buffers for sluice */
	uint64_t number;
	char *rules[RULES]; /* the match of each */
	char text[TEXT_MAX];
	struct buf frames[PACKETS];
};

struct counts {
	unsigned int packets, held, differ;
};

static struct lab *lab;
static struct nflog *nflog;
static struct round t;
static struct counts counts;

static void make_rule(unsigned int i)
{
	size_t size;
	FILE *f;

	free(t.rules[i]);
	t.rules[i] = NULL;
	f = open_memstream(&t.rules[i], &size);
	if (f == NULL)
		abort();
	string_match(&t.g, &t.spec, t.frames, PACKETS, f);
	fclose(f);
}

static void make_round(uint64_t seed, const char *algo)
{
	FILE *f;

	t.g.rng = (seed << 32) + t.number * 0x9e3779b9;
	t.spec = (struct string_spec){ .v6 = t.number % 4 >= 2, .algo = algo };
	t.joined = t.number % 2 == 1;
	t.spec.payload_max = t.joined || t.number % 3 == 2 ? 8800 : 1400;
	for (unsigned int i = 0; i < PACKETS; i++)
		string_frame(&t.g, &t.spec, &t.frames[i]);
	f = fmemopen(t.text, sizeof(t.text), "w");
	fputs("*mangle\n:PREROUTING ACCEPT [0:0]\n", f);
	for (unsigned int i = 0; i < RULES; i++) {
		make_rule(i);
		fprintf(f, "-A PREROUTING %s -j MARK --set-xmark 0x%x/0x%x\n", t.rules[i], 1U << i,
				1U << i);
	}
	fprintf(f, "-A PREROUTING -j NFLOG --nflog-group %d\nCOMMIT\n", GROUP);
	fclose(f);
}

/* Return: 0, or -errno */
static int load_kernel(void)
{
	static char text[TEXT_MAX + 256];
	const char *tool = t.spec.v6 ? "ip6tables-legacy-restore" : "iptables-legacy-restore";

	/* fragments are joined while somebody asks for connections */
	snprintf(text, sizeof(text), "*filter\n%sCOMMIT\n%s",
			t.joined ? "-A FORWARD -m conntrack --ctstate INVALID\n" : "", t.text);
	if (lab_feed(lab, LAB_ROUTER, text, "%s -w", tool) != 0) {
		fprintf(stderr, "%s refuses the rules (is there xt_string?)\n%s", tool, text);
		return -ENOENT;
	}
	return 0;
}

static int ask_kernel(const struct buf *frame, uint32_t *mark)
{
	static struct buf fragments[FRAGMENTS_MAX];
	struct lab_frames out = { 0 };
	unsigned int n = 1;
	ssize_t marks;
	int ret = 0;

	if (t.joined)
		n = string_fragments(&t.g, frame, fragments, FRAGMENTS_MAX);
	else
		fragments[0] = *frame;
	for (unsigned int i = 0; ret == 0 && i < n; i++)
		ret = lab_send(lab, PA, fragments[i].b, fragments[i].n);
	if (ret == 0)
		ret = lab_collect(lab, PA, &out);
	lab_frames_reset(&out);
	if (ret < 0)
		return ret;
	marks = nflog_read(nflog, mark, 1);
	if (marks == 1)
		return 0;
	fprintf(stderr, "a packet of %zu bytes: %zd records of it instead of 1\n", frame->n, marks);
	return marks < 0 ? (int)marks : -EPROTO;
}

static uint32_t ask_sluice(const struct ipt_prog *prog, const struct buf *frame)
{
	struct rte_mbuf *m = rig_frame(frame->b, frame->n, t.joined);
	uint32_t mark;

	if (ipt_prog_run(prog, IPT_MANGLE, IPT_PREROUTING, rig->workers[0], &m, 1) != 1)
		abort();
	mark = sl_pkt(m)->mark;
	rte_pktmbuf_free(m);
	return mark;
}

static void compare(unsigned int packet, uint32_t kernel, uint32_t ours)
{
	const struct buf *frame = &t.frames[packet];

	counts.packets++;
	counts.held += (unsigned int)__builtin_popcount(kernel);
	for (unsigned int i = 0; i < RULES; i++) {
		if (((kernel ^ ours) >> i & 1) == 0)
			continue;
		if (++counts.differ > SHOWN_MAX)
			continue;
		printf("round %" PRIu64 ", packet %u%s: kernel %u, sluice %u: %s\n  ", t.number,
				packet, t.joined ? " in fragments" : "", kernel >> i & 1,
				ours >> i & 1, t.rules[i]);
		for (size_t k = ETH_LEN; k < frame->n; k++)
			printf("%02x", frame->b[k]);
		printf("\n");
	}
}

static int run_round(void)
{
	struct ipt_ruleset *rs = rig_load(t.spec.v6 ? IPT_V6 : IPT_V4, t.text);
	struct ipt_prog *prog = rig_compile(rs, NULL);
	int ret = load_kernel();

	for (unsigned int i = 0; ret == 0 && i < PACKETS; i++) {
		uint32_t mark;

		ret = ask_kernel(&t.frames[i], &mark);
		if (ret == 0)
			compare(i, mark, ask_sluice(prog, &t.frames[i]));
	}
	ipt_prog_free(prog);
	ipt_ruleset_free(rs);
	return ret;
}

static int run(unsigned int rounds, uint64_t seed, const char *algo)
{
	int ret = lab_open(&topo_spec, &lab);

	if (ret < 0)
		return ret;
	ret = nflog_open(lab, GROUP, 1, &nflog);
	if (ret < 0)
		goto out;
	for (t.number = 0; ret == 0 && t.number < rounds; t.number++) {
		make_round(seed, algo);
		ret = run_round();
	}
	nflog_close(nflog);
out:
	lab_close(lab);
	printf("seed %" PRIu64
	       ", %s: %u packets by %d rules each, which held %u times, %u differ\n",
			seed, algo, counts.packets, RULES, counts.held, counts.differ);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rounds", required_argument, NULL, 'r' },
		{ "seed", required_argument, NULL, 's' },
		{ "algo", required_argument, NULL, 'a' },
		{ NULL, 0, NULL, 0 },
	};
	const char *why, *algo = "kmp", *env = getenv("SLUICE_KERNEL_SEED");
	uint64_t seed = env == NULL ? 1 : strtoull(env, NULL, 0);
	unsigned int rounds = 24;
	int c, ret;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'r')
			rounds = (unsigned int)atoi(optarg);
		else if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (c == 'a')
			algo = optarg;
		else
			return 2;
	}
	if (!lab_possible(&why)) {
		fprintf(stderr, "skipped: %s\n", why);
		return SKIP;
	}
	topo_init();
	if (rig_start(NULL) < 0)
		return 1;
	ret = run(rounds, seed, algo);
	rig_stop(NULL);
	for (unsigned int i = 0; i < RULES; i++)
		free(t.rules[i]);
	if (ret < 0) {
		fprintf(stderr, "string_diff: %s\n", strerror(-ret));
		return 1;
	}
	/* a comparison of nothing is none */
	return counts.differ > 0 || counts.held < counts.packets;
}
