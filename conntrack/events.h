/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens to connections, for who listens: a ring from each worker to control. While nobody
 * listens there is no ring, and a worker asks for it only where a connection begins, ends or changes.
 */
#pragma once

#include "conntrack/text.h"

/* what happened; bits, the kernel's */
#define CT_EVENT_NEW (1U << 0)
#define CT_EVENT_RELATED (1U << 1)
#define CT_EVENT_DESTROY (1U << 2)
#define CT_EVENT_REPLY (1U << 3)
#define CT_EVENT_ASSURED (1U << 4)
#define CT_EVENT_PROTOINFO (1U << 5)
#define CT_EVENT_MARK (1U << 7)
#define CT_EVENT_LABEL (1U << 10)

struct ct_event {
	uint32_t what; /* CT_EVENT_* */
	struct ct_view view; /* behind what happened */
};

struct ct_events;

/* [control] a ring that holds @n events, a power of two; NULL without memory */
struct ct_events *ct_events_create(uint32_t n);
void ct_events_free(struct ct_events *ev);

/**
 * ct_events_take() - [control] the oldest events
 *
 * Return: how many were put into @out; *lost is what found no room since the last call.
 */
unsigned int ct_events_take(
		struct ct_events *ev, struct ct_event *out, unsigned int n, uint64_t *lost);

/* [worker] the long way of ct_event() */
void ct_events_put(struct ct_shard *s, const struct ct_entry *e, uint32_t what);

/* [worker] @e is confirmed, or just was */
static inline void ct_event(struct ct_shard *s, const struct ct_entry *e, uint32_t what)
{
	if (unlikely(s->events != NULL))
		ct_events_put(s, e, what);
}
