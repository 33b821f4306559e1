/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/drop.h"

#include "lib/pkt.h"
#include "lib/watch.h"
#include "lib/worker.h"

static const struct {
	const char *name;
	const char *help;
} reasons[SL_DROP_NB] = {
#define X(id, text, line) [SL_DROP_##id] = { .name = text, .help = line },
	SL_DROP_REASONS(X)
#undef X
};

const char *sl_drop_name(enum sl_drop_reason reason)
{
	return reasons[reason].name;
}

const char *sl_drop_help(enum sl_drop_reason reason)
{
	return reasons[reason].help;
}

void sl_drop(struct sl_worker *w, struct rte_mbuf *m, enum sl_drop_reason reason)
{
	if (unlikely(w->watch != NULL))
		sl_watch_drop(w, m, reason);
	w->drops[sl_pkt(m)->in_port][reason]++;
	w->stage->drops++;
	rte_pktmbuf_free(m);
}

void sl_drop_bulk(struct sl_worker *w, struct rte_mbuf **m, unsigned int n,
		enum sl_drop_reason reason)
{
	for (unsigned int i = 0; i < n; i++)
		sl_drop(w, m[i], reason);
}
