/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same library that `sluice run` runs: one worker, polled by this thread; packets are copied from
 * memory and freed at the other end.
 */
#include "app/bench/router.h"

#include "app/bench/router_conf.h"
#include "app/bench/router_conntrack.h"
#include "classifier/checked.h"
#include "config/build.h"
#include "lib/link_memory.h"
#include "lib/router.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFERS 16383
#define MEGABYTES "512"

struct router {
	struct sl_router *r;
	struct sl_firewall *firewall;
	const struct side_setup *setup;
	struct sl_link *in, *out;
	struct rte_mempool *pool;
	uint8_t *frames; /* traffic_count() of them, traffic.size apart */
	uint16_t *lens;
	struct seen *seen; /* what has left while it was captured */
	uint32_t n_seen, max_seen;
};

/* a frame that left */
struct seen {
	uint32_t len;
	uint8_t header[SIDE_HEADER_LEN];
};

/* there is one router in a process: whose link captures */
static struct router *capturing;

/* DPDK's talk goes nowhere: the answer is one line */
static void be_quiet(void)
{
	FILE *nowhere = fopen("/dev/null", "we");

	if (nowhere == NULL)
		return;
	rte_openlog_stream(nowhere);
	dup2(fileno(nowhere), STDOUT_FILENO);
}

/* memory of this process alone, and no file that could stay behind */
static int start_eal(unsigned int core, char *why)
{
	const char *args[] = { "sluice-bench", "--lcores", NULL, "-m", MEGABYTES, "--no-huge",
		"--no-shconf", "--no-pci", "--no-telemetry", "--log-level=error" };
	char *argv[RTE_DIM(args) + 1] = { NULL };
	char lcores[16];

	snprintf(lcores, sizeof(lcores), "0@%u", core);
	args[2] = lcores;
	/* rte_eal_init() takes char * but changes only the order */
	for (size_t i = 0; i < RTE_DIM(args); i++)
		argv[i] = (char *)(uintptr_t)args[i];
	be_quiet();
	if (rte_eal_init((int)RTE_DIM(args), argv) < 0)
		return side_fail(why, -ENOTSUP, "DPDK does not start: %s", rte_strerror(rte_errno));
	return 0;
}

typedef uint16_t make_frame(struct router *b, uint32_t i, uint8_t *frame);

/* what a link receives from now on, from the first frame; @make is called for each */
static void feed(struct router *b, struct sl_link *link, make_frame *make)
{
	const struct traffic *t = &b->setup->traffic;
	struct sl_memory_source source = { .frames = b->frames,
		.n_frames = traffic_count(t),
		.frame_len = t->size,
		.lens = traffic_is_mixed(t) ? b->lens : NULL };

	for (uint32_t i = 0; i < source.n_frames; i++)
		b->lens[i] = make(b, i, b->frames + (size_t)i * t->size);
	sl_link_memory_feed(link, 0, &source);
}

static void starve(struct sl_link *link)
{
	const struct sl_memory_source none = { 0 };

	sl_link_memory_feed(link, 0, &none);
}

static uint16_t make_data(struct router *b, uint32_t i, uint8_t *frame)
{
	return traffic_frame(&b->setup->traffic, i, frame);
}

static uint16_t make_opening(struct router *b, uint32_t i, uint8_t *frame)
{
	return traffic_opening(&b->setup->traffic, i, frame);
}

static uint16_t make_answer(struct router *b, uint32_t i, uint8_t *frame)
{
	return traffic_answer(&b->setup->traffic, b->seen[i].header, frame);
}

static int make_ports(struct router *b, const struct traffic *t, char *why)
{
	struct sl_memory_source none = { 0 };
	struct rte_ether_addr in_mac, out_mac;

	rte_ether_unformat_addr(TRAFFIC_IN_MAC, &in_mac);
	rte_ether_unformat_addr(TRAFFIC_OUT_MAC, &out_mac);
	b->frames = malloc((size_t)traffic_count(t) * t->size);
	b->lens = calloc(traffic_count(t), sizeof(*b->lens));
	if (b->frames == NULL || b->lens == NULL)
		return side_fail(why, -ENOMEM, "no memory for %u frames", traffic_count(t));
	b->pool = sl_pool_create("bench", BUFFERS, RTE_MBUF_DEFAULT_DATAROOM);
	if (b->pool == NULL || sl_router_create(b->pool, 1, &b->r) < 0)
		return side_fail(why, -ENOMEM, "no memory for the router");
	b->in = sl_link_memory(b->pool, &none, 1);
	b->out = sl_link_memory(b->pool, &none, 1);
	if (b->in == NULL || b->out == NULL
			|| sl_router_add_port(b->r, "in", b->in, &in_mac, 1500, 0) < 0
			|| sl_router_add_port(b->r, "out", b->out, &out_mac, 1500, 0) < 0)
		return side_fail(why, -ENOMEM, "no memory for ports");
	return 0;
}

static int router_open(const struct side_setup *setup, void **priv, char *why)
{
	struct router *b = calloc(1, sizeof(*b));
	int ret;

	if (b == NULL)
		return side_fail(why, -ENOMEM, "no memory");
	b->setup = setup;
	ret = start_eal(setup->core, why);
	if (ret == 0)
		ret = make_ports(b, &setup->traffic, why);
	if (ret == 0)
		ret = router_configure(b->r, setup, &b->firewall, why);
	*priv = b; /* ends with the process */
	return ret;
}

/* until @packets have come in by @from */
static void poll(struct router *b, struct sl_link *from, uint64_t packets, struct side_sample *out)
{
	struct sl_link *to = from == b->in ? b->out : b->in;
	unsigned int port = from == b->in ? 1 : 2;
	struct sl_worker *w = b->r->workers[0];
	uint64_t entered = w->rx[port], left = sl_link_memory_sent(to, 0);

	while (w->rx[port] - entered < packets)
		sl_worker_poll(w);
	out->entered = w->rx[port] - entered;
	out->left = sl_link_memory_sent(to, 0) - left;
}

/* the link alone: allocate, copy, free */
static void turn_over(struct router *b, uint64_t packets, struct side_sample *out)
{
	struct rte_mbuf *pkts[SL_BURST];

	out->entered = 0;
	while (out->entered < packets) {
		uint16_t n = b->in->ops->rx(b->in, 0, pkts, SL_BURST);

		b->in->ops->tx(b->in, 0, pkts, n);
		out->entered += n;
	}
	out->left = out->entered;
}

static int router_measure(
		void *priv, uint64_t packets, bool alone, struct side_sample *out, char *why)
{
	struct router *b = priv;
	uint64_t rx, accounted;

	side_clock_start(out);
	if (alone)
		turn_over(b, packets, out);
	else
		poll(b, b->in, packets, out);
	side_clock_stop(out);
	if (sl_router_balance(b->r, &rx, &accounted) != 0)
		return side_fail(why, -EIO, "%lu packets received, %lu accounted for",
				(unsigned long)rx, (unsigned long)accounted);
	if (b->setup->observed && cls_checked_fault() != NULL)
		return side_fail(why, -EPROTO, "%s", cls_checked_fault());
	return 0;
}

static uint16_t capture_tx(struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct router *b = capturing;

	for (uint16_t i = 0; i < n && b->n_seen < b->max_seen; i++) {
		struct seen *to = &b->seen[b->n_seen++];
		uint32_t len = pkts[i]->pkt_len;

		to->len = len;
		sl_pkt_copy(pkts[i], 0, len < SIDE_HEADER_LEN ? len : SIDE_HEADER_LEN, to->header);
	}
	(void)link;
	(void)queue;
	rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

/* moves @packets from b->in, and keeps the first @n that leave; false without memory */
static bool poll_captured(struct router *b, uint64_t packets, uint32_t n)
{
	const struct sl_link_ops *ops = b->out->ops;
	const struct sl_link_ops capture = { .kind = "capture", .rx = ops->rx, .tx = capture_tx };
	struct side_sample sample;

	free(b->seen);
	b->seen = calloc(n, sizeof(*b->seen));
	b->n_seen = 0;
	b->max_seen = n;
	if (b->seen == NULL)
		return false;
	capturing = b;
	b->out->ops = &capture;
	poll(b, b->in, packets, &sample);
	b->out->ops = ops;
	return true;
}

/* opens every flow, and answers what has left, as the kernel's side does */
static int establish(struct router *b, char *why)
{
	uint32_t flows = traffic_count(&b->setup->traffic);
	struct side_sample back;

	feed(b, b->in, make_opening);
	if (!poll_captured(b, flows, flows))
		return side_fail(why, -ENOMEM, "no memory for %u flows", flows);
	starve(b->in);
	if (b->n_seen < flows)
		return side_fail(
				why, -EIO, "%u opening packets entered, %u left", flows, b->n_seen);
	feed(b, b->out, make_answer);
	poll(b, b->out, flows, &back);
	starve(b->out);
	if (back.left != back.entered)
		return side_fail(why, -EIO, "%lu answers entered, %lu left",
				(unsigned long)back.entered, (unsigned long)back.left);
	return 0;
}

/* the rules as sluicectl would print them */
static void hash_rules(struct router *b, struct side_probe *out)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	enum ipt_family family = b->setup->traffic.v6 ? IPT_V6 : IPT_V4;

	if (f == NULL)
		return;
	if (b->setup->rules.kind != RULES_NONE)
		sl_firewall_print(b->firewall, f, family, NULL, true);
	fclose(f);
	if (text != NULL) {
		out->rules_hash = ruleset_hash(text, &out->n_rules);
		out->counters_hash = ruleset_hash_counters(text);
	}
	free(text);
}

static int router_probe(void *priv, struct side_probe *out, char *why)
{
	struct router *b = priv;
	int ret = 0;

	if (b->setup->traffic.state == TRAFFIC_ESTABLISHED)
		ret = establish(b, why);
	if (ret < 0)
		return ret;
	feed(b, b->in, make_data);
	if (!poll_captured(b, SIDE_PROBES, SIDE_PROBES))
		return side_fail(why, -ENOMEM, "no memory");
	out->n = b->n_seen;
	for (uint32_t i = 0; i < out->n; i++) {
		out->frames[i].len = b->seen[i].len;
		memcpy(out->frames[i].header, b->seen[i].header, SIDE_HEADER_LEN);
	}
	hash_rules(b, out);
	out->n_tracked = router_conntrack_count(b->r);
	return 0;
}

static int router_reset(void *priv, char *why)
{
	struct router *b = priv;
	int64_t left;

	router_conntrack_flush(b->r);
	left = router_conntrack_count(b->r);
	return left > 0 ? side_fail(why, -EIO, "%ld connections are left after a flush", (long)left)
			: 0;
}

const struct side_ops router_side = {
	.open = router_open,
	.reset = router_reset,
	.probe = router_probe,
	.has_alone = true,
	.measure = router_measure,
};
