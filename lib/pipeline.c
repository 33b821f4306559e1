/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pipeline.h"

#include "lib/builtin.h"
#include "lib/router.h"
#include "lib/watch.h"
#include "lib/worker.h"

#include <rte_cycles.h>
#include <rte_memcpy.h>
#include <rte_prefetch.h>

#include <errno.h>
#include <stdlib.h>

static const char *const hook_names[SL_HOOK_NB] = {
	[SL_HOOK_INGRESS] = "ingress",
	[SL_HOOK_PREROUTING] = "prerouting",
	[SL_HOOK_INPUT] = "input",
	[SL_HOOK_FORWARD] = "forward",
	[SL_HOOK_OUTPUT] = "output",
	[SL_HOOK_POSTROUTING] = "postrouting",
};

const char *sl_hook_name(enum sl_hook hook)
{
	return hook_names[hook];
}

/* the router's own stages; a user's stage comes between them by its order */
static const struct sl_stage_spec own_stages[] = {
	{ &sl_stage_parse, NULL, SL_HOOK_INGRESS, SL_ORDER_FIRST },
	{ &sl_stage_handoff, NULL, SL_HOOK_INGRESS, SL_ORDER_LAST },
	{ &sl_stage_route, NULL, SL_HOOK_PREROUTING, SL_ORDER_LAST },
	{ &sl_stage_reassembly, NULL, SL_HOOK_INPUT, SL_ORDER_FIRST },
	{ &sl_stage_host, NULL, SL_HOOK_INPUT, SL_ORDER_LAST },
	{ &sl_stage_forward, NULL, SL_HOOK_FORWARD, SL_ORDER_FIRST },
	{ &sl_stage_neighbour, NULL, SL_HOOK_POSTROUTING, SL_ORDER_LAST },
};

/* the nth instance of a stage at one place keeps its counters over a reload */
static bool same_place(const struct sl_stage_inst *a, const struct sl_stage_inst *b)
{
	return a->ops == b->ops && a->hook == b->hook && a->order == b->order;
}

static unsigned int rank_of(const struct sl_pipeline *pl, unsigned int i)
{
	unsigned int rank = 0;

	for (unsigned int j = 0; j < i; j++)
		rank += same_place(&pl->stages[j], &pl->stages[i]);
	return rank;
}

static void take_slots(struct sl_pipeline *pl, const struct sl_pipeline *prev)
{
	bool used[SL_STAGES_MAX] = { false };
	bool kept[SL_STAGES_MAX] = { false };
	unsigned int next = 0;

	for (unsigned int i = 0; prev != NULL && i < pl->n; i++) {
		for (unsigned int j = 0; j < prev->n && !kept[i]; j++) {
			if (!same_place(&pl->stages[i], &prev->stages[j])
					|| rank_of(pl, i) != rank_of(prev, j))
				continue;
			pl->stages[i].slot = prev->stages[j].slot;
			used[pl->stages[i].slot] = true;
			kept[i] = true;
		}
	}
	/* slots of stages that go stay untouched until the swap is over where there is room */
	for (unsigned int j = 0; prev != NULL && j < prev->n && pl->n + prev->n <= SL_STAGES_MAX;
			j++)
		used[prev->stages[j].slot] = true;
	for (unsigned int i = 0; i < pl->n; i++) {
		if (kept[i])
			continue;
		while (used[next])
			next++;
		pl->stages[i].slot = (uint16_t)next;
		used[next] = true;
	}
}

static void place(struct sl_pipeline *pl, const struct sl_stage_spec *spec)
{
	unsigned int at = pl->n++;

	/* behind everything of the same hook and order: the file's order decides */
	for (; at > 0; at--) {
		const struct sl_stage_inst *before = &pl->stages[at - 1];

		if (before->hook < spec->hook
				|| (before->hook == spec->hook && before->order <= spec->order))
			break;
		pl->stages[at] = *before;
	}
	pl->stages[at] = (struct sl_stage_inst){
		.ops = spec->ops,
		.order = spec->order,
		.hook = spec->hook,
	};
}

static int instantiate(struct sl_router *r, struct sl_pipeline *pl,
		const struct sl_stage_spec *specs, unsigned int n_specs)
{
	for (unsigned int i = 0; i < n_specs; i++) {
		unsigned int rank = 0;

		/* where place() has put this one: its rank among those of the same place */
		for (unsigned int j = 0; j < i; j++)
			rank += specs[j].ops == specs[i].ops && specs[j].hook == specs[i].hook
					&& specs[j].order == specs[i].order;
		for (unsigned int j = 0; j < pl->n; j++) {
			struct sl_stage_inst *s = &pl->stages[j];
			int ret;

			if (s->ops != specs[i].ops || s->hook != specs[i].hook
					|| s->order != specs[i].order || rank-- > 0)
				continue;
			if (s->ops->create == NULL)
				break;
			ret = s->ops->create(r, specs[i].conf, &s->priv);
			if (ret < 0) {
				/* not made: nothing to destroy */
				memmove(s, s + 1, (pl->n - j - 1) * sizeof(*s));
				pl->n--;
				return ret;
			}
			break;
		}
	}
	return 0;
}

/* drops the instances that were never created, so that free destroys only what exists */
static void forget_uncreated(struct sl_pipeline *pl)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < pl->n; i++)
		if (pl->stages[i].priv != NULL)
			pl->stages[n++] = pl->stages[i];
	pl->n = n;
}

int sl_pipeline_build(struct sl_router *r, const struct sl_pipeline *prev,
		const struct sl_stage_spec *specs, unsigned int n_specs, struct sl_pipeline **out)
{
	unsigned int n_own = RTE_DIM(own_stages);
	struct sl_pipeline *pl;
	int ret;

	if (n_specs + n_own > SL_STAGES_MAX)
		return -E2BIG;
	for (unsigned int i = 0; i < n_specs; i++)
		if (!(specs[i].ops->hooks & SL_HOOK_BIT(specs[i].hook))
				|| specs[i].ops->api_version != SL_STAGE_API_VERSION)
			return -EINVAL;
	pl = calloc(1, sizeof(*pl));
	if (pl == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n_own; i++)
		place(pl, &own_stages[i]);
	for (unsigned int i = 0; i < n_specs; i++)
		place(pl, &specs[i]);
	take_slots(pl, prev);
	ret = instantiate(r, pl, specs, n_specs);
	if (ret < 0)
		goto err_free;
	for (unsigned int h = 0, i = 0; h <= SL_HOOK_NB; h++) {
		while (i < pl->n && pl->stages[i].hook < h)
			i++;
		pl->first[h] = (uint16_t)i;
	}
	for (unsigned int i = 0; i < pl->n; i++)
		if (pl->stages[i].ops->tick != NULL)
			pl->ticks[pl->n_ticks++] = (uint16_t)i;
	*out = pl;
	return 0;

err_free:
	forget_uncreated(pl);
	sl_pipeline_free(pl);
	return ret;
}

void sl_pipeline_free(struct sl_pipeline *pl)
{
	if (pl == NULL)
		return;
	for (unsigned int i = pl->n; i-- > 0;)
		if (pl->stages[i].ops->destroy != NULL)
			pl->stages[i].ops->destroy(pl->stages[i].priv);
	free(pl);
}

/* run(), while somebody looks on */
static __rte_noinline unsigned int run_watched(struct sl_worker *w, enum sl_hook from,
		enum sl_hook to, struct rte_mbuf **pkts, unsigned int n, uint64_t *t)
{
	const struct sl_pipeline *pl = w->pl;

	for (unsigned int i = pl->first[from]; i < pl->first[to] && n > 0; i++) {
		const struct sl_stage_inst *s = &pl->stages[i];
		struct sl_stage_stats *stats = &w->stages[s->slot];
		unsigned int survivors;
		uint64_t end;

		if (i == pl->first[s->hook])
			sl_watch_hook(w, (enum sl_hook)s->hook, pkts, n);
		w->stage = stats;
		w->watch_stage = s;
		survivors = s->ops->process(w, s->priv, pkts, n);
		sl_watch_stage(w, s, pkts, survivors);
		end = rte_rdtsc();
		stats->packets += n;
		stats->survivors += survivors;
		stats->batches++;
		stats->cycles += end - *t;
		*t = end;
		n = survivors;
	}
	w->stage = &w->outside;
	w->watch_stage = NULL;
	return n;
}

/* stages from..to-1 over one batch; @t is the TSC at which the work before ended */
static unsigned int run(struct sl_worker *w, enum sl_hook from, enum sl_hook to,
		struct rte_mbuf **pkts, unsigned int n, uint64_t *t)
{
	const struct sl_pipeline *pl = w->pl;
	uint64_t start = *t;

	if (unlikely(w->watch != NULL))
		return run_watched(w, from, to, pkts, n, t);
	for (unsigned int i = pl->first[from]; i < pl->first[to] && n > 0; i++) {
		const struct sl_stage_inst *s = &pl->stages[i];
		struct sl_stage_stats *stats = &w->stages[s->slot];
		unsigned int survivors;
		uint64_t end;

		w->stage = stats;
		survivors = s->ops->process(w, s->priv, pkts, n);
		end = rte_rdtsc();
		stats->packets += n;
		stats->survivors += survivors;
		stats->batches++;
		stats->cycles += end - start;
		start = end;
		n = survivors;
	}
	w->stage = &w->outside;
	*t = start;
	return n;
}

static void run_routed(
		struct sl_worker *w, enum sl_hook from, struct rte_mbuf **pkts, unsigned int n)
{
	uint64_t t = rte_rdtsc();

	n = run(w, from, SL_HOOK_INPUT, pkts, n, &t);
	n = run(w, SL_HOOK_FORWARD, SL_HOOK_OUTPUT, pkts, n, &t);
	n = run(w, SL_HOOK_POSTROUTING, SL_HOOK_NB, pkts, n, &t);
	RTE_ASSERT(n == 0);
}

void sl_pipeline_rx(struct sl_worker *w, uint16_t port, struct rte_mbuf **pkts, unsigned int n)
{
	struct sl_pkt fresh = {
		.in_port = port,
		.out_port = SL_PORT_NONE,
		.owner = w->id,
		.rx_ns = w->now_ns,
	};
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
		bytes += pkts[i]->pkt_len;
		/* eight stores; gcc makes a slow `rep` of an assignment or memset */
		rte_mov128((uint8_t *)sl_pkt(pkts[i]), (const uint8_t *)&fresh);
	}
	if (unlikely(w->watch != NULL))
		sl_watch_rx(w, pkts, n);
	w->rx[port] += n;
	w->rx_bytes[port] += bytes;
	run_routed(w, SL_HOOK_INGRESS, pkts, n);
}

void sl_pipeline_resume(struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n)
{
	run_routed(w, SL_HOOK_PREROUTING, pkts, n);
}

static void run_input(struct sl_worker *w)
{
	struct rte_mbuf *batch[SL_BURST];
	unsigned int n = RTE_MIN(w->n_input, (unsigned int)SL_BURST);
	uint64_t t = rte_rdtsc();

	memcpy(batch, w->input, n * sizeof(batch[0]));
	w->n_input -= n;
	memmove(w->input, w->input + n, w->n_input * sizeof(batch[0]));
	n = run(w, SL_HOOK_INPUT, SL_HOOK_FORWARD, batch, n, &t);
	RTE_ASSERT(n == 0);
}

static void run_output(struct sl_worker *w)
{
	struct rte_mbuf *batch[SL_BURST];
	unsigned int n = RTE_MIN(w->n_output, (unsigned int)SL_BURST);
	uint64_t t = rte_rdtsc();

	memcpy(batch, w->output, n * sizeof(batch[0]));
	w->n_output -= n;
	memmove(w->output, w->output + n, w->n_output * sizeof(batch[0]));
	n = run(w, SL_HOOK_OUTPUT, SL_HOOK_POSTROUTING, batch, n, &t);
	n = run(w, SL_HOOK_POSTROUTING, SL_HOOK_NB, batch, n, &t);
	RTE_ASSERT(n == 0);
}

void sl_pipeline_flush(struct sl_worker *w)
{
	/* an answer may ask for another (a reject of an own packet), but errors beget no errors */
	while (w->n_input > 0 || w->n_output > 0) {
		if (w->n_input > 0)
			run_input(w);
		if (w->n_output > 0)
			run_output(w);
	}
	sl_worker_tx_flush(w);
}
