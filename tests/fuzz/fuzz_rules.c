/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes to a small ruleset and frames: a table in waves, over an engine that the input chooses, against
 * the same table rule by rule. Verdicts, marks and every counter must be equal.
 *
 * Input: a byte of flags (1: IPv6, 2-4: the engine), a byte with the number of rules, 10 bytes a rule,
 * then 12 bytes a frame. Each choice is of few, so that rules and frames meet.
 */
#include "app/sluice/extensions.h"
#include "classifier/classifier.h"
#include "classifier/eval.h"
#include "config/ipt.h"
#include "lib/conf.h"
#include "lib/drop.h"
#include "lib/ip.h"
#include "lib/router.h"

#include <rte_eal.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULE_BYTES 10
#define RULES_MAX 24
#define FRAME_BYTES 12
#define FRAMES_MAX SL_BURST

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rte_mempool *pool;
/* one for each form: what rules share by name belongs to a router */
static struct sl_router *plain_router, *wave_router;

static void require(bool ok)
{
	if (!ok)
		abort();
}

static struct sl_router *make_router(void)
{
	static const char *const names[] = { "pa", "pb", "pc" };
	static const struct sl_link_ops none = { .kind = "none",
		.close = (void (*)(struct sl_link *))free };
	const struct sl_conf conf = { .path = "rules" };
	struct rte_ether_addr mac = { { 2 } };
	struct sl_router *r;
	char err[256];

	require(sl_router_create(pool, 1, &r) == 0);
	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		struct sl_link *link = calloc(1, sizeof(*link));

		require(link != NULL);
		link->ops = &none;
		require(sl_router_add_port(r, names[i], link, &mac, 1500, 0) > 0);
	}
	require(sl_router_apply(r, &conf, NULL, 0, err, sizeof(err)) == 0);
	sl_worker_begin(r->workers[0]);
	return r;
}

/* what hangs on memory of DPDK's looks like a leak otherwise */
static void stop(void)
{
	sl_router_free(plain_router);
	sl_router_free(wave_router);
}

static void start(void)
{
	char *argv[] = { (char[]){ "fuzz" }, (char[]){ "--no-huge" }, (char[]){ "--no-shconf" },
		(char[]){ "--no-pci" }, (char[]){ "--no-telemetry" }, (char[]){ "-m" },
		(char[]){ "64" }, (char[]){ "--log-level=error" }, NULL };

	require(rte_eal_init((int)RTE_DIM(argv) - 1, argv) >= 0);
	pool = sl_pool_create("fuzz", 511, RTE_MBUF_DEFAULT_DATAROOM);
	require(pool != NULL);
	plain_router = make_router();
	wave_router = make_router();
	require(atexit(stop) == 0);
}

/* ---- rules ---- */

static const uint8_t protos[] = { 0, 6, 17, 1, 58, 132, 50, 6 };
static const uint16_t ports[] = { 0, 1, 53, 79, 80, 81, 1024, 65535 };

static void put_addr(FILE *f, const char *option, uint8_t d, bool v6)
{
	static const unsigned int len4[] = { 32, 31, 24, 8 }, len6[] = { 128, 127, 64, 16 };

	if (!(d & 0x80))
		return;
	if (v6)
		fprintf(f, "%s %s fd0%u::%u/%u", d & 0x40 ? " !" : "", option, d >> 2 & 3, d & 3,
				len6[d >> 4 & 3]);
	else
		fprintf(f, "%s %s 10.0.%u.%u/%u", d & 0x40 ? " !" : "", option, d >> 2 & 3, d & 3,
				len4[d >> 4 & 3]);
}

static void put_ports(FILE *f, uint8_t d, uint8_t e, unsigned int proto)
{
	uint16_t a = ports[d & 7], b = ports[d >> 3 & 7];
	const char *inv = d & 0x40 ? " !" : "";

	if (!(d & 0x80) || (proto != 6 && proto != 17))
		return;
	if (e & 1)
		fprintf(f, " -m multiport%s --%s %u,%u", inv,
				e & 2                   ? "ports"
						: e & 4 ? "sports"
							: "dports",
				a, b);
	else
		fprintf(f, " -m %s%s --%s %u:%u", proto == 6 ? "tcp" : "udp", inv,
				e & 2 ? "sport" : "dport", RTE_MIN(a, b), RTE_MAX(a, b));
}

static void put_match(FILE *f, uint8_t d, uint8_t e, unsigned int proto, bool v6)
{
	const char *inv = d & 0x80 ? " !" : "";
	unsigned int n = e & 15;

	switch (d & 15) {
	case 0:
		fprintf(f, " -m mark%s --mark %u/3", inv, e & 3);
		break;
	case 1:
		fprintf(f, " -m length%s --length %u:%u", inv, 20 + n * 4, 40 + n * 8);
		break;
	case 2:
		fprintf(f, " -m statistic --mode nth%s --every %u --packet 0", inv, 1 + (e & 3));
		break;
	case 3:
		fprintf(f, " -m quota%s --quota %u", inv, n * 50);
		break;
	case 4:
		fprintf(f, " -m recent%s --%s --name r%u", inv,
				e & 4                   ? "set"
						: e & 8 ? "update --hitcount 2"
							: "remove",
				e & 3);
		break;
	case 5:
		fprintf(f,
				" -m hashlimit --hashlimit-%s 1/hour --hashlimit-burst %u "
				"--hashlimit-mode srcip,dstport --hashlimit-name h%u "
				"--hashlimit-htable-size 2 --hashlimit-htable-max %u",
				d & 0x80 ? "upto" : "above", 1 + (e & 3), e >> 2 & 1, 2 + (e >> 4));
		break;
	case 6:
		if (proto == 6)
			fprintf(f, " -m tcp%s --tcp-option %u", inv, 1 + (e & 3));
		break;
	case 7:
		if (proto == 6)
			fprintf(f, " -m tcpmss%s --mss %u:%u", inv, n * 100, 1000 + n * 100);
		break;
	case 8:
		if (v6)
			fprintf(f, " -m %s", e & 1 ? "dst" : e & 2 ? "frag" : "rt");
		else
			fprintf(f, " -m ttl%s --ttl-eq %u", inv, 60 + (e & 7));
		break;
	case 9:
		fprintf(f, " -m limit --limit 1/hour --limit-burst %u", 1 + n);
		break;
	case 10:
		if (proto == 50)
			fprintf(f, " -m esp%s --espspi %u:%u", inv, 1 + (e & 3), 2 + n);
		break;
	case 11:
		if (proto == 1 && !v6)
			fprintf(f, " -m icmp%s --icmp-type %u/%u", inv, e & 8, e & 1);
		if (proto == 58 && v6)
			fprintf(f, " -m icmp6%s --icmpv6-type %u/%u", inv, 128 + (e & 1),
					e >> 1 & 1);
		break;
	case 12:
		fprintf(f, " -m u32%s --u32 \"0x%x=0x0:0x%x\"", inv, e & 63, e << 8);
		break;
	default:
		break;
	}
}

static void put_target(FILE *f, uint8_t d, unsigned int chain)
{
	static const char *const targets[] = { " -j ACCEPT", " -j DROP", " -j RETURN",
		" -j MARK --set-xmark 0x1/0x1", " -j MARK --set-xmark 0x2/0x3", "",
		" -j MARK --set-xmark 0x0/0xffffffff", "" };

	if (d & 0x80 && chain < 3)
		fprintf(f, " -%c U%u", d & 0x40 ? 'g' : 'j', chain + (d & 1 && chain < 2));
	else
		fprintf(f, "%s", targets[d & 7]);
}

/* chains call only those behind them: no loops */
static void put_rule(FILE *f, const uint8_t *d, bool v6)
{
	static const char *const chains[] = { "FORWARD", "U0", "U1", "U2" };
	unsigned int chain = d[0] & 3, proto = protos[d[0] >> 2 & 7];

	if ((proto == 1 && v6) || (proto == 58 && !v6))
		proto = 0;
	fprintf(f, "-A %s", chains[chain]);
	put_addr(f, "-s", d[1], v6);
	put_addr(f, "-d", d[2], v6);
	if (d[3] & 1)
		fprintf(f, "%s -i %s", d[3] & 2 ? " !" : "", d[3] & 4 ? "p+" : "pa");
	if (d[3] & 8)
		fprintf(f, "%s -o p%c", d[3] & 16 ? " !" : "", 'a' + (char)(d[3] >> 5 & 1));
	if (proto != 0) {
		bool inv = d[0] & 0x20 && d[0] & 0x40;

		fprintf(f, "%s -p %u", inv ? " !" : "", proto);
		proto = inv ? 0 : proto;
	}
	if (!v6 && d[0] & 0x80 && d[3] & 0x80)
		fprintf(f, "%s -f", d[3] & 0x40 ? " !" : "");
	put_match(f, d[6], d[7], proto, v6);
	put_ports(f, d[4], d[5], proto);
	put_match(f, d[8], d[5], proto, v6);
	put_target(f, d[9], chain);
	fprintf(f, "\n");
}

static struct ipt_ruleset *load(const uint8_t *d, unsigned int n, bool v6)
{
	struct ipt_errors errors;
	struct ipt_ruleset *rs;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int ret;

	require(f != NULL);
	fprintf(f, "*filter\n:FORWARD %s\n:U0 -\n:U1 -\n:U2 -\n", n & 1 ? "DROP" : "ACCEPT");
	for (unsigned int i = 0; i < n; i++)
		put_rule(f, d + (size_t)i * RULE_BYTES, v6);
	fprintf(f, "COMMIT\n");
	fclose(f);
	ret = ipt_load(&(struct ipt_load){ .path = "rules",
				       .text = text,
				       .text_len = len,
				       .family = v6 ? IPT_V6 : IPT_V4 },
			&rs, &errors);
	if (ret < 0)
		fprintf(stderr, "%s\n%s", errors.n > 0 ? errors.v[0].text : "?", text);
	require(ret == 0);
	ipt_errors_free(&errors);
	free(text);
	return rs;
}

/* ---- frames ---- */

static unsigned int make_l4(const uint8_t *d, uint8_t *b)
{
	static const uint8_t options[4][4] = { { 2, 4, 5, 0xb4 }, { 1, 1, 4, 2 }, { 3, 0, 0, 0 },
		{ 254, 40, 0, 0 } };
	uint16_t sport = ports[d[3] & 7], dport = ports[d[4] & 7];

	memset(b, 0, 64);
	b[0] = (uint8_t)(sport >> 8);
	b[1] = (uint8_t)sport;
	b[2] = (uint8_t)(dport >> 8);
	b[3] = (uint8_t)dport;
	if (protos[d[0] & 7] == 1 || protos[d[0] & 7] == 58)
		b[0] = d[3] & 0x88;
	b[12] = d[5];
	b[13] = d[6];
	memcpy(b + 20, options[d[7] & 3], 4);
	return d[8] & 63;
}

static unsigned int make_ip4(const uint8_t *d, uint8_t *b)
{
	static const uint16_t frags[] = { 0, 0, 0, 0x2000, 1, 2, 0x2001, 0x4000 };
	unsigned int len = 20 + make_l4(d, b + 20);
	uint16_t frag = frags[d[9] & 7];
	const uint8_t head[20] = { 0x45, 0, 0, (uint8_t)len, 0, 1, (uint8_t)(frag >> 8),
		(uint8_t)frag, 60 + (d[10] & 7), protos[d[0] & 7], 0, 0, 10, 0, d[1] >> 2 & 3,
		d[1] & 3, 10, 0, d[2] >> 2 & 3, d[2] & 3 };

	memcpy(b, head, sizeof(head));
	return len;
}

static unsigned int make_ip6(const uint8_t *d, uint8_t *b)
{
	static const uint8_t exts[] = { 60, 43, 44, 51 };
	uint8_t next = protos[d[0] & 7], kind = exts[d[9] >> 1 & 3];
	unsigned int at = 40, len;

	memset(b, 0, 40);
	if (d[9] & 1) {
		const uint8_t ext[8] = { next, (d[9] >> 3 & 7) == 7 ? 9 : 0, 0,
			kind == 44 ? d[10] & 0xf : 0, 0, 0, 0, 1 };

		memcpy(b + at, ext, sizeof(ext));
		at += sizeof(ext);
		next = kind;
	}
	len = at + make_l4(d, b + at);
	/* the end may lie inside of the extension header */
	if ((d[9] & 0xc1) == 0xc1)
		len = 40 + (d[10] & 7);
	b[0] = 0x60;
	b[5] = (uint8_t)(len - 40);
	b[6] = next;
	b[7] = 64;
	b[8] = b[24] = 0xfd;
	b[9] = d[1] >> 2 & 3;
	b[23] = d[1] & 3;
	b[25] = d[2] >> 2 & 3;
	b[39] = d[2] & 3;
	return len;
}

static struct rte_mbuf *make_packet(const uint8_t *d, bool v6)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t frame[256] = { 0 };
	struct sl_pkt *p;
	uint16_t len;

	require(m != NULL);
	len = (uint16_t)(14 + (v6 ? make_ip6(d, frame + 14) : make_ip4(d, frame + 14)));
	memcpy(rte_pktmbuf_append(m, len), frame, len);
	p = sl_pkt(m);
	memset(p, 0, sizeof(*p));
	require(sl_pkt_parse_ip(m, 14));
	p->in_port = 1 + d[11] % 3;
	p->out_port = 1 + d[11] / 3 % 3;
	p->mark = d[11] >> 6;
	return m;
}

/* ---- both forms ---- */

static struct ipt_prog *compile(
		struct sl_router *r, const struct ipt_ruleset *rs, const struct sl_cls_ops *engine)
{
	const struct ipt_prog_spec spec = {
		.r = r, .rs = rs, .exts = &sl_extensions, .engine = engine
	};
	struct ipt_prog_error err;
	struct ipt_prog *prog;

	if (ipt_prog_create(&spec, &prog, &err) < 0) {
		fprintf(stderr, "line %u: %s\n", err.line, err.text);
		abort();
	}
	return prog;
}

/* Return: who passed and with which mark, as a hash */
static uint64_t run(struct ipt_prog *prog, bool plain, const uint8_t *d, unsigned int n, bool v6)
{
	struct sl_worker *w = (plain ? plain_router : wave_router)->workers[0];
	struct rte_mbuf *pkts[FRAMES_MAX];
	uint64_t accepted, hash;

	for (unsigned int i = 0; i < n; i++)
		pkts[i] = make_packet(d + (size_t)i * FRAME_BYTES, v6);
	if (plain)
		accepted = ipt_prog_run_plain(prog, IPT_FILTER, IPT_FORWARD, w, pkts, n);
	else
		accepted = ipt_prog_run(prog, IPT_FILTER, IPT_FORWARD, w, pkts, n);
	hash = accepted;
	for (unsigned int i = 0; i < n; i++) {
		if (!(accepted >> i & 1))
			continue;
		hash = (hash ^ sl_pkt(pkts[i])->mark) * 0x9e3779b97f4a7c15;
		rte_pktmbuf_free(pkts[i]);
	}
	return hash;
}

static bool same_counters(
		const struct ipt_prog *a, const struct ipt_prog *b, const struct ipt_ruleset *rs)
{
	for (uint32_t i = 0; i < rs->n_rules + rs->n_policies; i++) {
		bool policy = i >= rs->n_rules;
		uint32_t k = policy ? i - rs->n_rules : i;
		struct ipt_counters x = policy ? ipt_prog_policy_counters(a, k)
					       : ipt_prog_rule_counters(a, k);
		struct ipt_counters y = policy ? ipt_prog_policy_counters(b, k)
					       : ipt_prog_rule_counters(b, k);

		if (x.packets != y.packets || x.bytes != y.bytes)
			return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int n_rules, n_frames, n_engines = 0, e;
	struct ipt_prog *plain, *waves;
	struct ipt_ruleset *rs;
	uint64_t x, y;
	bool v6;

	if (pool == NULL)
		start();
	if (size < 2)
		return 0;
	while (sl_cls_engines[n_engines] != NULL)
		n_engines++;
	v6 = data[0] & 1;
	e = (data[0] >> 1 & 7) % (n_engines + 1);
	n_rules = (unsigned int)RTE_MIN(
			(size_t)(data[1] % (RULES_MAX + 1)), (size - 2) / RULE_BYTES);
	data += 2;
	size -= 2 + (size_t)n_rules * RULE_BYTES;
	n_frames = (unsigned int)RTE_MIN(size / FRAME_BYTES, (size_t)FRAMES_MAX);
	if (n_frames == 0)
		return 0;
	rs = load(data, n_rules, v6);
	plain = compile(plain_router, rs, NULL);
	waves = compile(wave_router, rs, e == n_engines ? NULL : sl_cls_engines[e]);
	data += (size_t)n_rules * RULE_BYTES;
	/* twice: what is remembered shows the second time */
	for (unsigned int i = 0; i < 2; i++) {
		x = run(plain, true, data, n_frames, v6);
		y = run(waves, false, data, n_frames, v6);
		require(x == y);
	}
	require(same_counters(plain, waves, rs));
	ipt_prog_free(plain);
	ipt_prog_free(waves);
	ipt_ruleset_free(rs);
	require(rte_mempool_in_use_count(pool) == 0);
	return 0;
}
