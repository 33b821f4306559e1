/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table in waves over engines against the same table rule by rule: random rulesets and packets
 * aimed at them, every engine, batches of all sizes. Verdicts, marks, every counter, and how often
 * and with what result a match with a memory was asked must be equal.
 */
#include "app/sluice/extensions.h"
#include "classifier/classifier.h"
#include "classifier/eval.h"
#include "classifier/match_core.h"
#include "config/ipt.h"
#include "conntrack/table.h"
#include "lib/drop.h"
#include "lib/ip.h"
#include "lib/router.h"
#include "tests/kernel/rules_gen.h"

#include <rte_eal.h>

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 20261201
#define SETS 40
#define PACKETS 640

static struct rte_mempool *pool;
/* one for each form of the evaluation: what rules share by name belongs to a router */
static struct sl_router *plain_router, *wave_router;

/* connections that packets belong to, whether their tuples fit or not */
#define CONNECTIONS 12
static struct ct_shard *shard;
static struct ct_entry *connections[CONNECTIONS];

static struct ct_tuple tuple_of(unsigned int i)
{
	return (struct ct_tuple){ .src = sl_addr_v4(RTE_BE32(0x0a000102)),
		.dst = sl_addr_v4(RTE_BE32(0x0a000202)),
		.sport_be = rte_cpu_to_be_16((uint16_t)(1000 + i)),
		.dport_be = RTE_BE16(80),
		.family = SL_AF_INET,
		.proto = i % 2 == 0 ? IPPROTO_TCP : IPPROTO_UDP };
}

static void make_connections(struct sl_router *r)
{
	struct ct_conf conf;
	struct ct_shard *s;

	ct_conf_init(&conf);
	conf.max = 4096;
	assert_non_null(ct_table_get(r, &conf));
	s = ct_table_of(r)->shard[0];
	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		struct ct_tuple t = tuple_of(i), reply;
		struct ct_entry *e;

		assert_true(ct_tuple_invert(&t, &reply));
		e = ct_create(s, &t, &reply);
		assert_non_null(e);
		e->status |= i % 3 == 0 ? 0 : CT_SEEN_REPLY;
		e->status |= i % 5 == 0 ? CT_ASSURED : 0;
		ct_refresh(s, e, 60);
		if (i % 4 != 0)
			ct_confirm(s, e);
	}
}

/* those of @r, as if no rule had written into them yet */
static void use_connections(struct sl_router *r)
{
	shard = ct_table_of(r)->shard[0];
	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		struct ct_tuple t = tuple_of(i);
		struct ct_cold *cold;

		connections[i] = ct_find(shard, &t).e;
		assert_non_null(connections[i]);
		connections[i]->mark = i;
		cold = ct_cold(shard, connections[i]);
		memset(cold->labels, i % 3 == 0, sizeof(cold->labels));
		cold->packets[CT_ORIGINAL] = i;
		cold->bytes[CT_REPLY] = 50 * i;
	}
}

static uint64_t hash_connections(uint64_t hash)
{
	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		const struct ct_cold *cold = ct_cold_peek(shard, connections[i]);

		hash = (hash ^ connections[i]->mark) * 0x9e3779b97f4a7c15;
		for (unsigned int k = 0; k < sizeof(cold->labels); k++)
			hash = (hash ^ cold->labels[k]) * 0x9e3779b97f4a7c15;
	}
	return hash;
}

/* as tracking leaves a packet */
static void join_connection(struct sl_pkt *p, unsigned int index)
{
	unsigned int i = index * 7 % (CONNECTIONS + 4);

	if (i < CONNECTIONS) {
		p->ct = connections[i];
		p->ct_info = (uint8_t)(index / 3 % (SL_CT_RELATED_REPLY + 1));
	} else if (i == CONNECTIONS) {
		p->flags |= SL_PKT_UNTRACKED;
	}
}

/* a match with a memory: as length, but every third time that it would hold it does not */
static uint64_t asked; /* a hash of all answers so far, in their order */

static int count_create(__rte_unused struct ipt_env *env,
		__rte_unused const struct ipt_match *match, void **state)
{
	*state = calloc(1, sizeof(uint32_t));
	return *state == NULL ? -ENOMEM : 0;
}

static bool count_match(struct ipt_ctx *c, const struct ipt_match *match, void *state)
{
	uint32_t *n = state;
	bool holds = ipt_match_length_ops.match(c, match, NULL) && ++*n % 3 != 0;

	asked = (asked ^ c->rule->line ^ (uint64_t)holds << 20) * 0x9e3779b97f4a7c15;
	return holds;
}

static const struct ipt_match_ops count_ops = { .kind = IPT_M_LENGTH,
	.stateful = true,
	.create = count_create,
	.destroy = free,
	.match = count_match };

static int reject_run(struct ipt_ctx *c, __rte_unused const struct ipt_target *target,
		__rte_unused void *state)
{
	asked = (asked ^ c->rule->line) * 0x9e3779b97f4a7c15;
	sl_drop(c->w, c->m, SL_DROP_REJECT);
	return IPT_STOLEN;
}

/* it goes nowhere here; that it is asked in order is what counts */
static const struct ipt_target_ops reject_ops = { .kind = IPT_T_REJECT, .run = reject_run };

/* all of the program, but for those above */
static struct ipt_exts exts;

static struct ipt_ruleset *load(const struct rules_set *s)
{
	struct ipt_errors errors;
	struct ipt_ruleset *rs;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int ret;

	assert_non_null(f);
	rules_print(s, f);
	fclose(f);
	ret = ipt_load(&(struct ipt_load){ .path = "rules",
				       .text = text,
				       .text_len = len,
				       .family = s->v6 ? IPT_V6 : IPT_V4 },
			&rs, &errors);
	if (ret < 0)
		print_error("%s\n%s", errors.n > 0 ? errors.v[0].text : "?", text);
	assert_int_equal(ret, 0);
	ipt_errors_free(&errors);
	free(text);
	return rs;
}

static struct ipt_prog *compile(
		struct sl_router *r, const struct ipt_ruleset *rs, const struct sl_cls_ops *engine)
{
	const struct ipt_prog_spec spec = { .r = r, .rs = rs, .exts = &exts, .engine = engine };
	struct ipt_prog_error err;
	struct ipt_prog *prog;

	assert_int_equal(ipt_prog_create(&spec, &prog, &err), 0);
	return prog;
}

static struct rte_mbuf *make_packet(const struct rules_set *s, uint64_t seed, unsigned int index,
		enum ipt_table_id table, enum ipt_hook hook)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct frames_case c;
	struct sl_pkt *p;

	assert_non_null(m);
	rules_packet(s, seed, index, &c);
	memcpy(rte_pktmbuf_append(m, (uint16_t)c.v[0].len), c.v[0].data, c.v[0].len);
	p = sl_pkt(m);
	memset(p, 0, sizeof(*p));
	assert_true(sl_pkt_parse_ip(m, 14));
	p->in_port = (uint16_t)(c.v[0].port + 1);
	p->out_port = hook == IPT_PREROUTING ? SL_PORT_NONE : 1 + index % 3;
	if (hook == IPT_OUTPUT)
		p->flags |= SL_PKT_ORIGIN;
	if (table != IPT_RAW)
		join_connection(p, index);
	return m;
}

/* marks of what survives, and who does: what a run leaves behind, besides counters */
static uint64_t run(struct ipt_prog *prog, bool plain, const struct rules_set *s, uint64_t seed,
		enum ipt_table_id table, enum ipt_hook hook)
{
	uint64_t (*run_batch)(const struct ipt_prog *, enum ipt_table_id, enum ipt_hook,
			struct sl_worker *, struct rte_mbuf **, unsigned int) =
			plain ? ipt_prog_run_plain : ipt_prog_run;
	struct rte_mbuf *pkts[SL_BURST];
	struct sl_worker *w = (plain ? plain_router : wave_router)->workers[0];
	uint64_t hash = 0;

	asked = 0;
	use_connections(w->r);
	for (unsigned int at = 0, n; at < PACKETS; at += n) {
		uint64_t accepted;

		n = RTE_MIN(1 + (at * 7 + at / 3) % SL_BURST, PACKETS - at);
		for (unsigned int i = 0; i < n; i++)
			pkts[i] = make_packet(s, seed, at + i, table, hook);
		accepted = run_batch(prog, table, hook, w, pkts, n);
		/* copies of TEE wait for the end of a burst */
		rte_pktmbuf_free_bulk(w->output, w->n_output);
		w->n_output = 0;
		hash = (hash ^ accepted) * 0x9e3779b97f4a7c15;
		for (unsigned int i = 0; i < n; i++) {
			if (!(accepted >> i & 1))
				continue;
			hash = (hash ^ sl_pkt(pkts[i])->mark) * 0x9e3779b97f4a7c15;
			rte_pktmbuf_free(pkts[i]);
		}
	}
	return hash_connections(hash) ^ asked;
}

static unsigned int compare_counters(
		const struct ipt_prog *a, const struct ipt_prog *b, const struct ipt_ruleset *rs)
{
	unsigned int bad = 0;

	for (uint32_t i = 0; i < rs->n_rules + rs->n_policies; i++) {
		bool policy = i >= rs->n_rules;
		uint32_t k = policy ? i - rs->n_rules : i;
		struct ipt_counters x = policy ? ipt_prog_policy_counters(a, k)
					       : ipt_prog_rule_counters(a, k);
		struct ipt_counters y = policy ? ipt_prog_policy_counters(b, k)
					       : ipt_prog_rule_counters(b, k);

		if (x.packets != y.packets || x.bytes != y.bytes) {
			print_error("%s %u: plain %" PRIu64 ", waves %" PRIu64 "\n",
					policy ? "policy" : "rule", k, x.packets, y.packets);
			bad++;
		}
	}
	return bad;
}

static unsigned int compare(uint64_t seed, bool v6, const struct sl_cls_ops *engine)
{
	static struct rules_set s;
	struct ipt_ruleset *rs;
	unsigned int bad = 0;

	rules_make(&s, seed, v6);
	rs = load(&s);
	for (uint32_t i = 0; i < rs->n_tables; i++)
		for (unsigned int hook = 0; hook < IPT_HOOK_NB; hook++) {
			enum ipt_table_id id = (enum ipt_table_id)rs->tables[i].id;
			struct ipt_prog *a = compile(plain_router, rs, NULL),
					*b = compile(wave_router, rs, engine);

			if (ipt_prog_acts(a, id, (enum ipt_hook)hook)) {
				uint64_t x = run(a, true, &s, seed, id, (enum ipt_hook)hook);
				uint64_t y = run(b, false, &s, seed, id, (enum ipt_hook)hook);

				if (x != y || compare_counters(a, b, rs) > 0) {
					print_error("seed %" PRIu64 " v6 %d table %s hook %u "
						    "engine %s\n",
							seed, v6, ipt_table_name(id), hook,
							engine == NULL ? "auto" : engine->name);
					bad++;
				}
			}
			ipt_prog_free(a);
			ipt_prog_free(b);
		}
	if (bad > 0)
		rules_print(&s, stderr);
	ipt_ruleset_free(rs);
	return bad;
}

static void compare_all(bool v6)
{
	unsigned int n_engines = 0, bad = 0;

	while (sl_cls_engines[n_engines] != NULL)
		n_engines++;
	for (uint64_t i = 0; i < SETS && bad == 0; i++) {
		/* auto is a turn of its own */
		unsigned int e = (unsigned int)(i % (n_engines + 1));

		bad = compare(SEED + i, v6, e == n_engines ? NULL : sl_cls_engines[e]);
	}
	assert_int_equal(bad, 0);
}

static void test_waves_when_rules_are_stateless_agree_with_plain(void **state)
{
	(void)state;
	exts.match[IPT_M_LENGTH] = &ipt_match_length_ops;
	compare_all(false);
	compare_all(true);
}

static void test_waves_when_matches_remember_agree_with_plain(void **state)
{
	(void)state;
	exts.match[IPT_M_LENGTH] = &count_ops;
	compare_all(false);
	compare_all(true);
}

static struct sl_link *make_link(void)
{
	static const struct sl_link_ops none = { .kind = "none",
		.close = (void (*)(struct sl_link *))free };
	struct sl_link *link = calloc(1, sizeof(*link));

	assert_non_null(link);
	link->ops = &none;
	return link;
}

static struct sl_router *make_router(void)
{
	static const char *const names[] = { "pa", "pb", "pc" };
	const struct sl_conf conf = { .path = "rules" };
	struct rte_ether_addr mac = { { 2 } };
	struct sl_router *r;
	char err[256];

	assert_int_equal(sl_router_create(pool, 1, &r), 0);
	for (unsigned int i = 0; i < RTE_DIM(names); i++)
		assert_true(sl_router_add_port(r, names[i], make_link(), &mac, 1500, 0) > 0);
	assert_int_equal(sl_router_apply(r, &conf, NULL, 0, err, sizeof(err)), 0);
	sl_worker_begin(r->workers[0]);
	return r;
}

static int start(void **state)
{
	(void)state;
	exts = sl_extensions;
	exts.target[IPT_T_REJECT] = &reject_ops;
	pool = sl_pool_create("rules", 1023, RTE_MBUF_DEFAULT_DATAROOM);
	assert_non_null(pool);
	plain_router = make_router();
	wave_router = make_router();
	make_connections(plain_router);
	make_connections(wave_router);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	sl_router_free(plain_router);
	sl_router_free(wave_router);
	rte_mempool_free(pool);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waves_when_rules_are_stateless_agree_with_plain),
		cmocka_unit_test(test_waves_when_matches_remember_agree_with_plain),
	};
	char *argv[] = { (char *)(uintptr_t) "rules_test", (char *)(uintptr_t) "--no-huge",
		(char *)(uintptr_t) "--no-shconf", (char *)(uintptr_t) "--no-pci",
		(char *)(uintptr_t) "--no-telemetry", (char *)(uintptr_t) "-m",
		(char *)(uintptr_t) "64", (char *)(uintptr_t) "--log-level=error", NULL };

	if (rte_eal_init((int)RTE_DIM(argv) - 1, argv) < 0)
		return 1;
	return cmocka_run_group_tests(tests, start, stop);
}
