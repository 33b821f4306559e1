/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same library that `sluice run` runs: one worker, polled by this thread; packets are copied from
 * memory and freed at the other end.
 */
#include "app/bench/router.h"

#include "app/sluice/apply.h"
#include "config/build.h"
#include "lib/conf.h"
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
	uint8_t *frames;
};

/* where the capturing link puts what leaves; NULL while nothing is captured */
static struct side_probe *captured;

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

static int make_frames(struct router *b, const struct traffic *t, char *why)
{
	b->frames = malloc((size_t)t->flows * t->size);
	if (b->frames == NULL)
		return side_fail(why, -ENOMEM, "no memory for %u flows", t->flows);
	for (uint32_t i = 0; i < t->flows; i++)
		traffic_frame(t, i, b->frames + (size_t)i * t->size);
	return 0;
}

static int make_ports(struct router *b, const struct traffic *t, char *why)
{
	struct sl_memory_source source = { .frames = b->frames,
		.n_frames = t->flows,
		.frame_len = t->size },
				none = { 0 };
	struct rte_ether_addr in_mac, out_mac;

	rte_ether_unformat_addr(TRAFFIC_IN_MAC, &in_mac);
	rte_ether_unformat_addr(TRAFFIC_OUT_MAC, &out_mac);
	b->pool = sl_pool_create("bench", BUFFERS, RTE_MBUF_DEFAULT_DATAROOM);
	if (b->pool == NULL || sl_router_create(b->pool, 1, &b->r) < 0)
		return side_fail(why, -ENOMEM, "no memory for the router");
	b->in = sl_link_memory(b->pool, &source, 1);
	b->out = sl_link_memory(b->pool, &none, 1);
	if (b->in == NULL || b->out == NULL
			|| sl_router_add_port(b->r, "in", b->in, &in_mac, 1500, 0) < 0
			|| sl_router_add_port(b->r, "out", b->out, &out_mac, 1500, 0) < 0)
		return side_fail(why, -ENOMEM, "no memory for ports");
	return 0;
}

/* the scenario's rules as a file without a name; "" without rules, NULL if that is not possible */
static const char *rules_path(const struct ruleset *rules, char path[32])
{
	char *text = ruleset_iptables(rules);
	size_t left = text == NULL ? 0 : strlen(text);
	int fd = rules->kind == RULES_NONE ? -1 : memfd_create("rules", MFD_CLOEXEC);

	snprintf(path, 32, "/proc/self/fd/%d", fd);
	for (const char *at = text; fd >= 0 && left > 0;) {
		ssize_t n = write(fd, at, left);

		if (n < 0)
			break;
		at += n;
		left -= (size_t)n;
	}
	free(text);
	if (rules->kind == RULES_NONE)
		return "";
	return fd < 0 || left > 0 ? NULL : path;
}

/* addresses and neighbour as the lab's, rules, engine */
static int configure(struct router *b, const struct side_setup *setup, char *why)
{
	bool v6 = setup->traffic.v6;
	struct sl_prefix in, out;
	struct sl_mark at = { 0, 0 };
	struct sl_port_conf ports[] = {
		{ .name = "in",
				.addresses = &in,
				.addresses_at = &at,
				.n_addresses = 1,
				.mtu = 1500 },
		{ .name = "out",
				.addresses = &out,
				.addresses_at = &at,
				.n_addresses = 1,
				.mtu = 1500 },
	};
	struct sl_neigh_conf neighbour = { .port = "out" };
	struct sl_conf conf = { .path = "sluice-bench",
		.n_workers = 1,
		.ports = ports,
		.n_ports = 2,
		.neighbours = &neighbour,
		.n_neighbours = 1 };
	char path[32];
	const char *rules = rules_path(&setup->rules, path);

	sl_prefix_parse(v6 ? TRAFFIC_IN_V6 : TRAFFIC_IN_V4, &in);
	sl_prefix_parse(v6 ? TRAFFIC_OUT_V6 : TRAFFIC_OUT_V4, &out);
	neighbour.family = (uint8_t)sl_addr_parse(
			v6 ? TRAFFIC_SINK_V6 : TRAFFIC_SINK_V4, &neighbour.ip);
	rte_ether_unformat_addr(TRAFFIC_SINK_MAC, &neighbour.mac);
	if (rules == NULL)
		return side_fail(why, -ENOMEM, "no memory for rules");
	if (rules[0] != '\0' && v6)
		conf.firewall.ip6tables = rules;
	else if (rules[0] != '\0')
		conf.firewall.iptables = rules;
	conf.firewall.engine = strcmp(setup->name, "plain") == 0 ? NULL : setup->name;
	if (apply_conf(b->r, &conf, &b->firewall, NULL, why, SIDE_TEXT_MAX) == 0)
		return 0;
	/* the file has no name that would mean something: "rules:3: ..." */
	if (rules[0] != '\0' && strncmp(why, rules, strlen(rules)) == 0) {
		memmove(why + strlen("rules"), why + strlen(rules),
				strlen(why + strlen(rules)) + 1);
		memcpy(why, "rules", strlen("rules"));
	}
	return -ENOTSUP;
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
		ret = make_frames(b, &setup->traffic, why);
	if (ret == 0)
		ret = make_ports(b, &setup->traffic, why);
	if (ret == 0)
		ret = configure(b, setup, why);
	*priv = b; /* ends with the process */
	return ret;
}

static void poll(struct router *b, uint64_t packets, struct side_sample *out)
{
	struct sl_worker *w = b->r->workers[0];
	uint64_t entered = w->rx[1], left = sl_link_memory_sent(b->out, 0);

	while (w->rx[1] - entered < packets)
		sl_worker_poll(w);
	out->entered = w->rx[1] - entered;
	out->left = sl_link_memory_sent(b->out, 0) - left;
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
		poll(b, packets, out);
	side_clock_stop(out);
	if (sl_router_balance(b->r, &rx, &accounted) != 0)
		return side_fail(why, -EIO, "%lu packets received, %lu accounted for",
				(unsigned long)rx, (unsigned long)accounted);
	return 0;
}

static uint16_t capture_tx(struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n && captured->n < SIDE_PROBES; i++) {
		uint32_t at = captured->n++;

		captured->frames[at].len = pkts[i]->pkt_len;
		sl_pkt_copy(pkts[i], 0, SIDE_HEADER_LEN, captured->frames[at].header);
	}
	(void)link;
	(void)queue;
	rte_pktmbuf_free_bulk(pkts, n);
	return n;
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
		sl_firewall_print(b->firewall, f, family, NULL, false);
	fclose(f);
	if (text != NULL)
		out->rules_hash = ruleset_hash(text, &out->n_rules);
	free(text);
}

static int router_probe(void *priv, struct side_probe *out, char *why)
{
	struct router *b = priv;
	const struct sl_link_ops *ops = b->out->ops;
	const struct sl_link_ops capturing = { .kind = "capture", .rx = ops->rx, .tx = capture_tx };
	struct side_sample sample;

	(void)why;
	captured = out;
	b->out->ops = &capturing;
	poll(b, SIDE_PROBES, &sample);
	b->out->ops = ops;
	captured = NULL;
	hash_rules(b, out);
	return 0;
}

const struct side_ops router_side = {
	.open = router_open,
	.probe = router_probe,
	.has_alone = true,
	.measure = router_measure,
};
