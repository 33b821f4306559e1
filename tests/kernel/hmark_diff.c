/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hmark_diff: marks of HMARK, all 32 bits. A kernel has a chain of rules with options drawn at random,
 * each followed by one that tells the mark (NFLOG); sluice reads the same text and runs its targets in
 * turn over the same packets. Every mark behind every rule must be equal, and the rules as sluice prints
 * them must be the kernel's.
 *
 *   hmark_diff [--packets N] [--options N] [--seed S]
 *
 * of each family. SLUICE_KERNEL_SEED stands in for a missing seed.
 */
#include "config/ipt.h"
#include "conntrack/ext.h"
#include "hmark_gen.h"
#include "lib/ip.h"
#include "lib/pkt.h"
#include "nflog.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SKIP 77
#define GROUP 7
#define OPTIONS_MAX 256
#define TEXT_MAX (64 * 1024)
#define SHOWN_MAX 10

struct run {
	uint64_t seed;
	unsigned int packets, options;
	bool v6;
	struct lab *lab;
	struct nflog *log;
	char text[TEXT_MAX];
	struct ipt_ruleset *rs;
	const struct ipt_rule *rules[OPTIONS_MAX];
	void *states[OPTIONS_MAX];
	unsigned int compared, unseen, differ;
};

static void make_rules(struct run *t)
{
	FILE *f = fmemopen(t->text, sizeof(t->text), "w");

	fprintf(f, "*mangle\n");
	for (unsigned int i = 0; i < t->options; i++) {
		fprintf(f, "-A PREROUTING -j HMARK");
		hmark_options(t->seed, i, t->v6, f);
		fprintf(f, "\n-A PREROUTING -j NFLOG --nflog-group %d\n", GROUP);
	}
	fprintf(f, "COMMIT\n");
	fclose(f);
}

static int load(struct run *t)
{
	const struct ipt_load load = {
		.path = "rules",
		.text = t->text,
		.text_len = strlen(t->text),
		.family = t->v6 ? IPT_V6 : IPT_V4,
	};
	struct ipt_errors errors;
	const struct ipt_table *table;
	struct ipt_env env = { .err = t->text, .err_size = 0 };
	int ret = ipt_load(&load, &t->rs, &errors);

	if (ret < 0)
		fprintf(stderr, "sluice refuses: %s\n", errors.n > 0 ? errors.v[0].text : "");
	ipt_errors_free(&errors);
	if (ret < 0)
		return ret;
	env.rs = t->rs;
	table = ipt_ruleset_table(t->rs, IPT_MANGLE);
	if (table == NULL)
		return -ENOENT;
	for (uint32_t c = 0; c < table->n_chains; c++) {
		const struct ipt_chain *chain = &table->chains[c];

		for (uint32_t i = 0; i < chain->n_rules; i += 2) {
			t->rules[i / 2] = &chain->rules[i];
			ret = ipt_target_hmark_ops.create(
					&env, &chain->rules[i].target, &t->states[i / 2]);
			if (ret < 0)
				return ret;
		}
	}
	return 0;
}

static void unload(struct run *t)
{
	for (unsigned int i = 0; i < t->options; i++)
		ipt_target_hmark_ops.destroy(t->states[i]);
	ipt_ruleset_free(t->rs);
}

/* what both say the rules are. Return: 0, -errno; counts a difference */
static int compare_text(struct run *t)
{
	static char kernel[TEXT_MAX], line[1024];
	const struct ipt_table *table = ipt_ruleset_table(t->rs, IPT_MANGLE);
	const struct ipt_chain *chain;

	if (table == NULL)
		return -ENOENT;
	chain = &table->chains[IPT_PREROUTING];
	if (lab_read(t->lab, LAB_ROUTER, kernel, sizeof(kernel), "%s -t mangle",
			    t->v6 ? "ip6tables-legacy-save" : "iptables-legacy-save")
			!= 0)
		return -EPROTO;
	for (uint32_t i = 0; i < chain->n_rules; i++) {
		FILE *f = fmemopen(line, sizeof(line), "w");

		ipt_print_rule(f, t->rs, table, chain, &chain->rules[i]);
		fputc('\n', f);
		fclose(f);
		if (strstr(kernel, line) != NULL)
			continue;
		printf("the kernel does not print %s", line);
		t->differ++;
	}
	return 0;
}

/* the packet as the router's parser leaves it: without what is behind its end */
static struct rte_mbuf *packet(const struct buf *frame)
{
	static struct {
		struct rte_mbuf m;
		struct sl_pkt p;
		uint8_t data[FRAMES_LEN_MAX];
	} b;
	const uint8_t *ip = frame->b + ETH_LEN;

	memset(&b, 0, sizeof(b));
	memcpy(b.data, frame->b, frame->n);
	b.m.buf_addr = b.data;
	b.m.buf_len = sizeof(b.data);
	b.m.nb_segs = 1;
	b.m.pkt_len = ETH_LEN + (ip[0] >> 4 == 4 ? get16(ip + 2) : 40 + get16(ip + 4));
	b.m.data_len = (uint16_t)b.m.pkt_len;
	if (b.m.pkt_len > frame->n || !sl_pkt_parse_ip(&b.m, ETH_LEN))
		return NULL;
	return &b.m;
}

static void show(struct run *t, unsigned int index, const struct buf *frame, unsigned int option,
		uint32_t kernel, uint32_t ours)
{
	const struct ipt_table *table = ipt_ruleset_table(t->rs, IPT_MANGLE);

	t->differ++;
	if (t->differ > SHOWN_MAX || table == NULL)
		return;
	printf("packet %u: kernel 0x%x, sluice 0x%x\n  ", index, kernel, ours);
	ipt_print_rule(stdout, t->rs, table, &table->chains[IPT_PREROUTING], t->rules[option]);
	printf("\n  ");
	for (size_t i = ETH_LEN; i < frame->n; i++)
		printf("%02x", frame->b[i]);
	printf("\n");
}

static int compare(
		struct run *t, unsigned int index, const struct buf *frame, const uint32_t *marks)
{
	struct rte_mbuf *m = packet(frame);
	struct ipt_ctx c = { .m = m, .p = m == NULL ? NULL : sl_pkt(m) };

	if (m == NULL) {
		printf("packet %u: passes the kernel and is refused by sluice\n", index);
		t->differ++;
		return 0;
	}
	for (unsigned int i = 0; i < t->options; i++) {
		ipt_target_hmark_ops.run(&c, &t->rules[i]->target, t->states[i]);
		if (c.p->mark != marks[i])
			show(t, index, frame, i, marks[i], c.p->mark);
		c.p->mark = marks[i];
	}
	t->compared++;
	return 0;
}

static int one_packet(struct run *t, unsigned int index)
{
	static struct buf frame;
	struct lab_frames out = { 0 };
	uint32_t marks[OPTIONS_MAX];
	ssize_t n;
	int ret;

	hmark_frame(t->seed, index, t->v6, &frame);
	ret = lab_send(t->lab, PA, frame.b, frame.n);
	if (ret == 0)
		ret = lab_collect(t->lab, PA, &out);
	lab_frames_reset(&out);
	if (ret < 0)
		return ret;
	n = nflog_read(t->log, marks, OPTIONS_MAX);
	if (n == 0)
		t->unseen++;
	else if (n == (ssize_t)t->options)
		return compare(t, index, &frame, marks);
	else
		return n < 0 ? (int)n : -EPROTO;
	return 0;
}

static int run_family(struct run *t)
{
	const char *tool = t->v6 ? "ip6tables-legacy-restore" : "iptables-legacy-restore";
	int ret;

	make_rules(t);
	ret = lab_feed(t->lab, LAB_ROUTER, t->text, "%s -w", tool);
	if (ret != 0) {
		fprintf(stderr, "%s refuses the rules (is there xt_HMARK?)\n", tool);
		return -ENOENT;
	}
	ret = load(t);
	if (ret < 0)
		return ret;
	ret = compare_text(t);
	for (unsigned int i = 0; ret == 0 && i < t->packets; i++)
		ret = one_packet(t, i);
	unload(t);
	lab_exec(t->lab, LAB_ROUTER, "%s -w < /dev/null; %s -t mangle -F", tool,
			t->v6 ? "ip6tables-legacy" : "iptables-legacy");
	printf("seed %" PRIu64 ", IPv%d: %u packets by %u rules, %u did not get there, %u differ\n",
			t->seed, t->v6 ? 6 : 4, t->compared, t->options, t->unseen, t->differ);
	return ret;
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text == NULL ? otherwise : strtoull(text, NULL, 0);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "packets", required_argument, NULL, 'p' },
		{ "options", required_argument, NULL, 'o' },
		{ "seed", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	struct run t = { .packets = 1000, .options = 50 };
	unsigned int differ = 0, compared = 0;
	const char *why;
	int c, ret;

	t.seed = env_number("SLUICE_KERNEL_SEED", 1);
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'p')
			t.packets = (unsigned int)atoi(optarg);
		else if (c == 'o')
			t.options = (unsigned int)atoi(optarg);
		else if (c == 's')
			t.seed = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	if (t.options == 0 || t.options > OPTIONS_MAX)
		return 2;
	if (!lab_possible(&why)) {
		fprintf(stderr, "skipped: %s\n", why);
		return SKIP;
	}
	topo_init();
	ret = lab_open(&topo_spec, &t.lab);
	if (ret == 0) {
		ret = nflog_open(t.lab, GROUP, t.options, &t.log);
		for (unsigned int v6 = 0; v6 < 2 && ret == 0; v6++) {
			t.v6 = v6;
			t.compared = t.unseen = t.differ = 0;
			ret = run_family(&t);
			differ += t.differ;
			compared += t.compared;
		}
		if (t.log != NULL)
			nflog_close(t.log);
		lab_close(t.lab);
	}
	if (ret < 0) {
		fprintf(stderr, "hmark_diff: %s\n", strerror(-ret));
		return 1;
	}
	return differ > 0 || compared < t.packets;
}
