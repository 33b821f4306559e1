/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stage from outside: so many SYNs a second of each IPv4 source, the rest is dropped. Written down
 * step by step in docs/write-a-stage.md.
 *
 *   pipeline: [{hook: prerouting, stage: syn-limit, rate: 50, burst: 100}]
 */
#include <rte_tcp.h>

#include <classifier/plugin.h>
#include <errno.h>
#include <lib/drop.h>
#include <lib/pkt.h>
#include <lib/stage_conf.h>
#include <lib/worker.h>
#include <netinet/in.h>
#include <stdlib.h>

#define SLOTS 65536U /* sources that are told apart; others share */
#define WORKERS_MAX 128

struct bucket {
	uint64_t ns; /* when it was last filled */
	uint32_t tokens; /* thousandths */
};

struct options {
	uint64_t rate, burst;
};

/* one set of buckets for each worker, so that nobody shares: the rate is that of a worker */
struct limit {
	struct options o;
	struct bucket *buckets[WORKERS_MAX];
};

static int read_rate(
		struct sl_router *r, const struct sl_stage_conf *conf, unsigned int arg, void *o)
{
	return sl_stage_uint(r, conf, arg, 1, 1000000, &((struct options *)o)->rate);
}

static int read_burst(
		struct sl_router *r, const struct sl_stage_conf *conf, unsigned int arg, void *o)
{
	return sl_stage_uint(r, conf, arg, 1, 1000000, &((struct options *)o)->burst);
}

static const struct sl_stage_key keys[] = {
	{ "rate", read_rate, true },
	{ "burst", read_burst, false },
	{ NULL, NULL, false },
};

static void limit_destroy(void *priv)
{
	struct limit *l = priv;

	for (unsigned int i = 0; i < WORKERS_MAX; i++)
		free(l->buckets[i]);
	free(l);
}

/* the only place where memory is taken */
static int limit_create(struct sl_router *r, const struct sl_stage_conf *conf, void **priv)
{
	struct options o = { .burst = 5 };
	int ret = sl_stage_read(r, conf, keys, &o);
	struct limit *l;

	if (ret < 0)
		return ret;
	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return -ENOMEM;
	l->o = o;
	for (unsigned int i = 0; i < WORKERS_MAX; i++) {
		/* pages are taken when a worker first writes them */
		l->buckets[i] = calloc(SLOTS, sizeof(struct bucket));
		if (l->buckets[i] == NULL) {
			limit_destroy(l);
			return -ENOMEM;
		}
	}
	*priv = l;
	return 0;
}

static bool is_syn(struct rte_mbuf *m, const struct sl_pkt *p)
{
	const struct rte_tcp_hdr *tcp;

	if (p->family != SL_AF_INET || p->proto != IPPROTO_TCP || !(p->flags & SL_PKT_PORTS))
		return false;
	tcp = sl_pkt_at(m, p->l4_off, sizeof(*tcp));
	return tcp != NULL
			&& (tcp->tcp_flags & (RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG))
			== RTE_TCP_SYN_FLAG;
}

/* whether the source has a token left */
static bool may_pass(const struct options *o, struct bucket *b, uint64_t now_ns)
{
	uint64_t most = o->burst * 1000, passed = now_ns - b->ns;
	/* a source that is seen for the first time, or again after a while, has all */
	uint64_t tokens = b->ns == 0 || passed > 1000000000ULL * 1000
			? most
			: b->tokens + passed * o->rate / 1000000;

	if (b->ns == 0 || passed * o->rate >= 1000000 || tokens >= most)
		b->ns = now_ns;
	else
		tokens = b->tokens; /* too soon for a thousandth: the time counts next time */
	b->tokens = (uint32_t)(tokens > most ? most : tokens);
	if (b->tokens < 1000)
		return false;
	b->tokens -= 1000;
	return true;
}

static unsigned int limit_process(
		struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n)
{
	struct limit *l = priv;
	unsigned int survivors = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct sl_pkt *p = sl_pkt(pkts[i]);
		uint32_t slot = (p->src.v4 * 0x9e3779b1U) >> 16;

		if (is_syn(pkts[i], p) && !may_pass(&l->o, &l->buckets[w->id][slot], w->now_ns))
			sl_drop(w, pkts[i], SL_DROP_STAGE);
		else
			pkts[survivors++] = pkts[i];
	}
	return survivors;
}

static void limit_describe(const void *priv, FILE *out)
{
	const struct limit *l = priv;

	fprintf(out, "%u SYNs a second of a source and worker, %u at once", (unsigned int)l->o.rate,
			(unsigned int)l->o.burst);
}

static const struct sl_stage_ops syn_limit = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "syn-limit",
	.help = "bounds the SYNs of each source",
	.hooks = SL_HOOK_BIT(SL_HOOK_PREROUTING) | SL_HOOK_BIT(SL_HOOK_INPUT)
			| SL_HOOK_BIT(SL_HOOK_FORWARD),
	.order = SL_ORDER_RAW,
	.create = limit_create,
	.process = limit_process,
	.destroy = limit_destroy,
	.describe = limit_describe,
};

static const struct sl_stage_ops *const stages[] = { &syn_limit, NULL };

const struct sl_plugin sl_plugin = { SL_PLUGIN_HEADER, .name = "syn-limit", .stages = stages };
