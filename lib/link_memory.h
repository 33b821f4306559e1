/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link without a device: what it receives is copied from frames in memory, what is sent is freed.
 * Benchmarks and tests drive the whole pipeline through it.
 */
#pragma once

#include "lib/port.h"

struct rte_mempool;

/*
 * What one packet of a flow has of its own. 16 bytes, so that 64k flows are 1 MB: the source of a
 * benchmark must not push the tables under test out of the cache.
 */
struct sl_memory_flow {
	rte_be32_t src_be, dst_be;
	rte_be16_t sport_be, dport_be;
	rte_be16_t csum_be; /* IPv4 header checksum of the whole frame */
};

/* what one queue receives over and over, from the first to the last */
struct sl_memory_source {
	const uint8_t *frames; /* n_frames of frame_len bytes each; stays the caller's */
	uint32_t n_frames; /* 0: the queue receives nothing */
	uint32_t frame_len; /* bytes, at most the pool's data room */
	const uint16_t *lens; /* not NULL: frame i is lens[i] <= frame_len bytes; caller's too */
	/* not NULL: frame 0 (untagged IPv4 without options) with these instead of all frames */
	const struct sl_memory_flow *flows; /* n_flows; stays the caller's */
	uint32_t n_flows;
};

/**
 * sl_link_memory() - a link of @n_queues queues in both directions
 * @sources: one for each queue; copied
 *
 * Every queue is its own worker's; rx never runs dry and tx takes everything.
 * Return: the link, NULL without memory. The router closes it.
 */
struct sl_link *sl_link_memory(struct rte_mempool *pool, const struct sl_memory_source *sources,
		uint16_t n_queues);

/* from now on a queue receives @source, from its first frame; its worker must not be polling */
void sl_link_memory_feed(
		struct sl_link *link, uint16_t queue, const struct sl_memory_source *source);

/* frames that the queue's worker has sent */
uint64_t sl_link_memory_sent(const struct sl_link *link, uint16_t queue);
