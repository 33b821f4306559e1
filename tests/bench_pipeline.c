/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the router costs per packet, from memory to a sink, stage by stage. Nothing but the pipeline
 * runs: no device, no kernel. The link's own cost (allocate, copy 64 bytes, free) is in the total and
 * is printed beside it.
 *
 *   bench_pipeline                      one worker, 1,000 routes, 64k flows, 64 bytes
 *   bench_pipeline --routes 500000      a full table, random destinations
 *   bench_pipeline --workers 2          two workers, a core each, flows spread over both
 *   bench_pipeline --workers 2 --handoff    all frames arrive at worker 0, which hands half over
 *   bench_pipeline --noop 4             four more stages that do nothing
 *   bench_pipeline --rules FILE [--engine E]    an iptables-save file, in turns with none
 *   bench_pipeline --track udp|tcp|new  connection tracking, in turns with none: packets of established
 *                                       connections in both directions, or a connection each
 *   bench_pipeline --hmark              the bare stage hmark over addresses and ports, in turns with none
 *   bench_pipeline --policy N           N policy rules, each with a mark and a table of its own, in turns
 *                                       with none; flows carry no mark, so all rules are asked
 *   bench_pipeline --hugepages | --small-pages    instead of transparent huge pages
 */
#include "app/sluice/extensions.h"
#include "config/build.h"
#include "conntrack/stage.h"
#include "conntrack/table.h"
#include "lib/conf.h"
#include "lib/link_memory.h"
#include "lib/memory.h"
#include "lib/router.h"
#include "lib/stage_hmark.h"

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_lcore.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GATEWAYS 16
#define ROUNDS_MAX 1001
/* a round is shorter than a time slice, so that on a busy machine some rounds are undisturbed */
#define FLOOR_BATCHES 500

struct bench {
	unsigned int routes, flows, workers, rounds, noops, frame_len;
	unsigned int packets; /* of a round, in thousands */
	unsigned int policies; /* rules of routing by policy */
	bool hmark; /* the bare stage */
	bool handoff, hugepages, small_pages, advised;
	struct rte_mempool *pool;
	struct sl_router *r;
	struct sl_conf conf;
	uint8_t *frame; /* that all packets are copies of */
	struct sl_memory_flow *flows_of[SL_WORKERS_MAX];
	uint32_t n_flows[SL_WORKERS_MAX];
	struct sl_memory_flow *back_of[SL_WORKERS_MAX]; /* of the same flows, the other way */
	uint8_t *back_frame;
	const char *track; /* NULL, "udp", "tcp" or "new" */
	struct ct_stage_conf track_conf;
	uint64_t seed;
	const char *rules; /* NULL: none */
	const char *engine;
	struct sl_firewall *fw;
};

/* splitmix64 by Vigna */
static uint64_t draw(struct bench *b)
{
	uint64_t z = b->seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static void *need(void *p)
{
	if (p == NULL) {
		fprintf(stderr, "bench_pipeline: out of memory\n");
		exit(1);
	}
	return p;
}

static const struct rte_ether_addr in_mac = { { 2, 0, 0, 0, 0, 1 } };
static const struct rte_ether_addr out_mac = { { 2, 0, 0, 0, 0, 2 } };

/* prefixes of 16 to 24 bits between 20.0.0.0 and 219.255.255.255, each once */
static struct sl_route_conf *make_routes(struct bench *b)
{
	struct sl_route_conf *routes = need(calloc(b->routes + 1 + b->policies, sizeof(*routes)));
	uint8_t *taken = need(calloc(1U << 21, 1)); /* bit per /24 */
	unsigned int n = 0;

	while (n < b->routes) {
		struct sl_route_conf *route = &routes[n];
		uint32_t len = b->routes > 50000 ? 24 : 18 + (uint32_t)(draw(b) % 7);
		uint32_t net = (20U << 24) + (uint32_t)(draw(b) % (200ULL << 24));

		net &= UINT32_MAX << (32 - len);
		if (net >> 24 == 127 || net >> 16 == (198U << 8 | 18)) /* not forwarded */
			continue;
		if (taken[net >> 11] & 1 << (net >> 8 & 7))
			continue;
		taken[net >> 11] |= (uint8_t)(1 << (net >> 8 & 7));
		route->to = (struct sl_prefix){ .addr = sl_addr_v4(rte_cpu_to_be_32(net)),
			.family = SL_AF_INET,
			.len = (uint8_t)len };
		route->table = SL_TABLE_MAIN;
		route->n_via = 1;
		route->via = need(calloc(1, sizeof(*route->via)));
		*route->via = (struct sl_via_conf){ .has_gateway = true,
			.weight = 1,
			.gateway = sl_addr_v4(rte_cpu_to_be_32(
					(198U << 24 | 18U << 16) + 2 + n % GATEWAYS)) };
		n++;
	}
	free(taken);
	/* the way back, to those who send by "in" */
	routes[n] = (struct sl_route_conf){
		.to = { .addr = sl_addr_v4(RTE_BE32(11U << 24)), .family = SL_AF_INET, .len = 8 },
		.table = SL_TABLE_MAIN,
		.n_via = 1,
		.via = need(calloc(1, sizeof(*routes->via)))
	};
	*routes[n].via = (struct sl_via_conf){
		.has_gateway = true, .weight = 1, .gateway = sl_addr_v4(RTE_BE32((10U << 24) + 2))
	};
	return routes;
}

static void make_conf(struct bench *b)
{
	struct sl_port_conf *ports = need(calloc(2, sizeof(*ports)));
	struct sl_neigh_conf *neighbours = need(calloc(GATEWAYS + 1, sizeof(*neighbours)));
	struct sl_prefix *in = need(calloc(1, sizeof(*in)));
	struct sl_prefix *out = need(calloc(1, sizeof(*out)));
	struct sl_mark *at = need(calloc(1, sizeof(*at)));

	sl_prefix_parse("10.0.0.1/8", in);
	sl_prefix_parse("198.18.0.1/24", out);
	ports[0] = (struct sl_port_conf){
		.name = "in", .addresses = in, .addresses_at = at, .n_addresses = 1, .mtu = 1500
	};
	ports[1] = (struct sl_port_conf){
		.name = "out", .addresses = out, .addresses_at = at, .n_addresses = 1, .mtu = 1500
	};
	for (unsigned int i = 0; i < GATEWAYS; i++)
		neighbours[i] = (struct sl_neigh_conf){ .family = SL_AF_INET,
			.port = "out",
			.ip = sl_addr_v4(rte_cpu_to_be_32((198U << 24 | 18U << 16) + 2 + i)),
			.mac = { { 2, 0, 0, 1, 0, (uint8_t)i } } };
	neighbours[GATEWAYS] = (struct sl_neigh_conf){ .family = SL_AF_INET,
		.port = "in",
		.ip = sl_addr_v4(RTE_BE32((10U << 24) + 2)),
		.mac = { { 2, 0, 0, 2, 0, 1 } } };
	b->conf = (struct sl_conf){ .path = "bench",
		.n_workers = b->workers,
		.ports = ports,
		.n_ports = 2,
		.neighbours = neighbours,
		.n_neighbours = GATEWAYS + 1,
		.routes = make_routes(b),
		.n_routes = b->routes + 1 };
}

struct frame {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
} __rte_packed __rte_aligned(2);

static bool has_tcp(const struct bench *b)
{
	return b->track != NULL && strcmp(b->track, "tcp") == 0;
}

static bool has_replies(const struct bench *b)
{
	return b->track != NULL && strcmp(b->track, "new") != 0;
}

/* the frame without what differs from flow to flow */
static void make_frame(struct bench *b)
{
	uint16_t ip_len = (uint16_t)(b->frame_len - sizeof(struct rte_ether_hdr));
	struct frame f = {
		.eth = { .dst_addr = in_mac,
				.src_addr = { { 2, 0, 0, 2, 0, 1 } },
				.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4) },
		.ip = { .version_ihl = 0x45,
				.time_to_live = 64,
				.next_proto_id = has_tcp(b) ? IPPROTO_TCP : IPPROTO_UDP,
				.total_length = rte_cpu_to_be_16(ip_len) },
		.udp = { .dgram_len = rte_cpu_to_be_16((uint16_t)(ip_len - sizeof(f.ip))) },
	};

	b->frame = need(calloc(1, b->frame_len));
	memcpy(b->frame, &f, sizeof(f));
}

static struct sl_memory_flow make_flow(struct bench *b)
{
	const struct sl_prefix *to = &b->conf.routes[draw(b) % b->routes].to;
	uint32_t host = (uint32_t)draw(b) & (UINT32_MAX >> to->len);
	struct sl_memory_flow flow;
	struct frame f;
	uint32_t sum;

	memcpy(&f, b->frame, sizeof(f));
	f.ip.src_addr = rte_cpu_to_be_32((11U << 24) + 2 + (uint32_t)(draw(b) % 0xfffff0));
	f.ip.dst_addr = rte_cpu_to_be_32(rte_be_to_cpu_32(to->addr.v4) | host);
	flow = (struct sl_memory_flow){ .src_be = f.ip.src_addr,
		.dst_be = f.ip.dst_addr,
		.sport_be = (rte_be16_t)draw(b),
		.dport_be = (rte_be16_t)draw(b),
		.csum_be = rte_ipv4_cksum(&f.ip) };
	/* what differs has the same sum in all flows, so that one TCP checksum is right for all */
	sum = (flow.src_be & 0xffff) + (flow.src_be >> 16) + (flow.dst_be & 0xffff)
			+ (flow.dst_be >> 16) + flow.dport_be;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = 0x4321 + (~(sum + (sum >> 16)) & 0xffff);
	flow.sport_be = (rte_be16_t)(sum + (sum >> 16));
	return flow;
}

static struct sl_memory_flow turned(const struct sl_memory_flow *f)
{
	return (struct sl_memory_flow){ .src_be = f->dst_be,
		.dst_be = f->src_be,
		.sport_be = f->dport_be,
		.dport_be = f->sport_be,
		.csum_be = f->csum_be };
}

/* a segment of an established connection, for both directions and all flows */
static void make_tcp(struct bench *b, const struct sl_memory_flow *flow)
{
	struct rte_ipv4_hdr *ip = (void *)(b->frame + RTE_ETHER_HDR_LEN);
	struct rte_tcp_hdr *tcp = (void *)(ip + 1);

	*tcp = (struct rte_tcp_hdr){ .src_port = flow->sport_be,
		.dst_port = flow->dport_be,
		.sent_seq = RTE_BE32(1000),
		.recv_ack = RTE_BE32(1000),
		.data_off = sizeof(*tcp) / 4 << 4,
		.tcp_flags = RTE_TCP_ACK_FLAG,
		.rx_win = RTE_BE16(60000) };
	ip->src_addr = flow->src_be;
	ip->dst_addr = flow->dst_be;
	tcp->cksum = rte_ipv4_udptcp_cksum(ip, tcp);
}

/* the order of packets is not that in which their connections were made */
static void shuffle(struct bench *b, struct sl_memory_flow *flows, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)(draw(b) % i);
		struct sl_memory_flow f = flows[k];

		flows[k] = flows[i - 1];
		flows[i - 1] = f;
	}
}

/* a device that spreads flows over the workers, or one queue for all */
static void make_flows(struct bench *b)
{
	unsigned int queues = b->handoff ? 1 : b->workers;

	make_frame(b);
	for (unsigned int q = 0; q < queues; q++) {
		b->n_flows[q] = RTE_MAX(b->flows / queues, 1U);
		b->flows_of[q] = need(calloc(b->n_flows[q], sizeof(*b->flows_of[q])));
		for (uint32_t i = 0; i < b->n_flows[q]; i++)
			b->flows_of[q][i] = make_flow(b);
		if (!has_replies(b))
			continue;
		b->back_of[q] = need(calloc(b->n_flows[q], sizeof(*b->back_of[q])));
		for (uint32_t i = 0; i < b->n_flows[q]; i++)
			b->back_of[q][i] = turned(&b->flows_of[q][i]);
	}
	if (has_tcp(b))
		make_tcp(b, &b->flows_of[0][0]);
	b->back_frame = need(calloc(1, b->frame_len));
	memcpy(b->back_frame, b->frame, b->frame_len);
	memcpy(b->back_frame, &out_mac, sizeof(out_mac));
}

static unsigned int noop_process(__rte_unused struct sl_worker *w, __rte_unused void *priv,
		__rte_unused struct rte_mbuf **pkts, unsigned int n)
{
	return n;
}

static const struct sl_stage_ops noop_stage = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "noop",
	.help = "nothing",
	.hooks = SL_HOOK_BIT(SL_HOOK_FORWARD),
	.process = noop_process,
};

static unsigned int add_tracking(struct bench *b, struct sl_stage_spec *specs, unsigned int n)
{
	const struct sl_stage_conf *conf = &b->track_conf.conf;

	ct_conf_init(&b->track_conf.ct);
	b->track_conf.ct.max = RTE_MAX(b->flows * 5 / 4, 262144U);
	b->track_conf.conf.hook = SL_HOOK_PREROUTING;
	b->track_conf.family[IPT_V4] = true;
	specs[n++] = (struct sl_stage_spec){ &sl_stage_defrag, conf, SL_HOOK_PREROUTING,
		SL_ORDER_REASSEMBLY };
	specs[n++] = (struct sl_stage_spec){ &sl_stage_conntrack, conf, SL_HOOK_PREROUTING,
		SL_ORDER_CONNTRACK };
	specs[n++] = (struct sl_stage_spec){ &sl_stage_confirm, conf, SL_HOOK_POSTROUTING,
		SL_ORDER_CONFIRM };
	return n;
}

static unsigned int add_hmark(struct sl_stage_spec *specs, unsigned int n)
{
	static struct sl_stage_conf conf = {
		.path = "bench", .hook = SL_HOOK_PREROUTING, .stage = "hmark", .n_args = 2
	};

	if (conf.args == NULL) {
		conf.args = need(calloc(conf.n_args, sizeof(*conf.args)));
		conf.args[0].key = "tuple";
		conf.args[0].value = "src,dst,sport,dport,proto";
		conf.args[1].key = "mod";
		conf.args[1].value = "16";
	}
	specs[n++] = (struct sl_stage_spec){ &sl_stage_hmark, &conf, SL_HOOK_PREROUTING,
		SL_ORDER_MANGLE };
	return n;
}

/* a route in each table, as for an uplink: small tables are cheap */
static void add_policies(struct bench *b)
{
	b->conf.policy = need(calloc(b->policies, sizeof(*b->conf.policy)));
	for (unsigned int i = 0; i < b->policies; i++) {
		struct sl_route_conf *route = &b->conf.routes[b->conf.n_routes++];

		*route = b->conf.routes[0];
		route->table = 100 + i;
		b->conf.policy[i] = (struct sl_policy_conf){ .priority = 1000 + i,
			.type = SL_POLICY_TABLE,
			.fwmark = 1 + i,
			.fwmask = UINT32_MAX,
			.table = 100 + i };
	}
}

/* the pipeline, with the rules or without */
static void apply(struct bench *b, bool with_rules)
{
	struct sl_stage_spec specs[16 + 3], *all = specs;
	unsigned int n = b->noops;
	char err[256] = "out of memory";
	int ret = 0;

	b->conf.n_policy = with_rules ? b->policies : 0;
	for (unsigned int i = 0; i < b->noops; i++)
		specs[i] = (struct sl_stage_spec){ &noop_stage, NULL, SL_HOOK_FORWARD, (int)i };
	if (b->track != NULL && with_rules)
		n = add_tracking(b, specs, n);
	else if (b->hmark && with_rules)
		n = add_hmark(specs, n);
	else if (with_rules && b->fw != NULL)
		ret = sl_firewall_specs(b->fw, specs, b->noops, &all, &n);
	if (ret == 0)
		ret = sl_router_apply(b->r, &b->conf, all, n, err, sizeof(err));
	if (ret < 0) {
		fprintf(stderr, "bench_pipeline: %s\n", err);
		exit(1);
	}
	if (all != specs)
		free(all);
}

static void load_rules(struct bench *b)
{
	const struct sl_firewall_args args = {
		.r = b->r, .conf = &b->conf, .exts = &sl_extensions
	};
	uint64_t start = rte_rdtsc();
	char err[256];

	b->conf.firewall.iptables = b->rules;
	b->conf.conntrack_max = RTE_MAX(b->flows * 5 / 4, 262144U);
	b->conf.firewall.engine = b->engine;
	if (sl_firewall_create(&args, &b->fw, err, sizeof(err)) < 0) {
		fprintf(stderr, "bench_pipeline: %s\n", err);
		exit(1);
	}
	printf("%u rules loaded in %.3f s\n", sl_firewall_rules(b->fw, IPT_V4),
			(double)(rte_rdtsc() - start) / (double)rte_get_tsc_hz());
}

static void make_router(struct bench *b)
{
	struct sl_memory_source in[SL_WORKERS_MAX] = { 0 }, out[SL_WORKERS_MAX] = { 0 };
	uint64_t start = rte_rdtsc();
	struct sl_link *link;

	for (unsigned int i = 0; i < b->workers; i++) {
		in[i] = (struct sl_memory_source){ .frames = b->frame,
			.n_frames = b->n_flows[i] > 0,
			.frame_len = b->frame_len,
			.flows = b->flows_of[i],
			.n_flows = b->n_flows[i] };
		if (b->back_of[i] == NULL)
			continue;
		out[i] = in[i];
		out[i].frames = b->back_frame;
		out[i].flows = b->back_of[i];
	}
	b->pool = need(sl_pool_create("bench", 16383, RTE_MBUF_DEFAULT_DATAROOM));
	if (sl_router_create(b->pool, b->workers, &b->r) < 0)
		need(NULL);
	link = need(sl_link_memory(b->pool, in, (uint16_t)b->workers));
	link->spreads = !b->handoff;
	sl_router_add_port(b->r, "in", link, &in_mac, 1500, 0);
	link = need(sl_link_memory(b->pool, out, (uint16_t)b->workers));
	sl_router_add_port(b->r, "out", link, &out_mac, 1500, 0);
	apply(b, false);
	printf("%u routes loaded in %.3f s\n", b->routes,
			(double)(rte_rdtsc() - start) / (double)rte_get_tsc_hz());
}

static uint64_t received(const struct sl_worker *w)
{
	return w->rx[1] + w->rx[2];
}

struct job {
	struct sl_worker *w;
	uint64_t packets; /* to do */
	volatile bool *stop; /* a worker without frames of its own runs until then */
	uint64_t cycles, done;
};

static int run_worker(void *arg)
{
	struct job *j = arg;
	uint64_t first = received(j->w), start = rte_rdtsc();

	if (j->packets > 0)
		while (received(j->w) - first < j->packets)
			sl_worker_poll(j->w);
	else
		while (!*j->stop)
			sl_worker_poll(j->w);
	j->cycles = rte_rdtsc() - start;
	j->done = received(j->w) - first;
	return 0;
}

/* one round; returns cycles a packet, by the slowest worker's time over all packets */
static double round_cycles(struct bench *b)
{
	struct job jobs[SL_WORKERS_MAX];
	volatile bool stop = false;
	uint64_t longest = 0, done = 0;
	unsigned int lcore, i = 1;

	for (unsigned int k = 0; k < b->workers; k++)
		jobs[k] = (struct job){ .w = b->r->workers[k],
			.stop = &stop,
			.packets = b->n_flows[k] > 0
					? b->packets * 1000ULL / (b->handoff ? 1 : b->workers)
					: 0 };
	RTE_LCORE_FOREACH_WORKER (lcore) {
		if (i < b->workers)
			rte_eal_remote_launch(run_worker, &jobs[i++], lcore);
	}
	run_worker(&jobs[0]);
	stop = true;
	rte_eal_mp_wait_lcore();
	for (unsigned int k = 0; k < b->workers; k++) {
		longest = RTE_MAX(longest, jobs[k].cycles);
		done += jobs[k].done;
	}
	return (double)longest / (double)done;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* the link alone: allocate, copy, free */
static double floor_cycles(struct bench *b)
{
	struct sl_link *link = b->r->links[0];
	struct rte_mbuf *pkts[SL_BURST];
	double best = 1e9;

	for (unsigned int round = 0; round < b->rounds; round++) {
		uint64_t start = rte_rdtsc();

		for (unsigned int i = 0; i < FLOOR_BATCHES; i++) {
			uint16_t n = link->ops->rx(link, 0, pkts, SL_BURST);

			link->ops->tx(link, 0, pkts, n);
		}
		best = RTE_MIN(best,
				(double)(rte_rdtsc() - start) / ((double)FLOOR_BATCHES * SL_BURST));
	}
	return best;
}

/* one round, and what each stage took in it */
static double measure(struct bench *b, double *stage_cycles)
{
	const struct sl_pipeline *pl = atomic_load(&b->r->snap)->pl;
	struct sl_stage_stats before[SL_STAGES_MAX], after;
	double cycles;

	for (unsigned int i = 0; i < pl->n; i++)
		sl_router_stage_stats(b->r, pl->stages[i].slot, &before[i]);
	cycles = round_cycles(b);
	for (unsigned int i = 0; i < pl->n; i++) {
		uint64_t packets;

		sl_router_stage_stats(b->r, pl->stages[i].slot, &after);
		packets = after.packets - before[i].packets;
		stage_cycles[i] = packets == 0
				? 0.0
				: (double)(after.cycles - before[i].cycles) / (double)packets;
	}
	return cycles;
}

static void print_stages(const struct bench *b, double (*rounds)[SL_STAGES_MAX], double ghz)
{
	const struct sl_pipeline *pl = atomic_load(&b->r->snap)->pl;

	printf("\n%-12s %-12s %14s %14s %10s\n", "hook", "stage", "cycles/packet", "(minimum)",
			"ns/packet");
	for (unsigned int i = 0; i < pl->n; i++) {
		double column[ROUNDS_MAX];

		for (unsigned int k = 0; k < b->rounds; k++)
			column[k] = rounds[k][i];
		qsort(column, b->rounds, sizeof(column[0]), by_value);
		if (column[b->rounds - 1] == 0.0)
			continue;
		printf("%-12s %-12s %14.1f %14.1f %10.2f\n",
				sl_hook_name((enum sl_hook)pl->stages[i].hook),
				pl->stages[i].ops->name, column[b->rounds / 2], column[0],
				column[b->rounds / 2] / ghz);
	}
}

/* what the giving side pays; the taking side's part is in its other stages, whose lines are cold */
static void print_handoff(const struct bench *b)
{
	const struct sl_pipeline *pl = atomic_load(&b->r->snap)->pl;
	uint64_t handed = 0, rx = 0, cycles = 0;

	for (unsigned int i = 0; i < b->workers; i++) {
		handed += b->r->workers[i]->handed[SL_HANDOFF_FLOW];
		rx += b->r->workers[i]->rx[1];
	}
	if (handed == 0)
		return;
	for (unsigned int i = 0; i < pl->n; i++) {
		struct sl_stage_stats s;

		sl_router_stage_stats(b->r, pl->stages[i].slot, &s);
		if (strcmp(pl->stages[i].ops->name, "handoff") == 0)
			cycles = s.cycles;
	}
	printf("\n%.1f %% of the packets were handed over, for %.1f cycles each; %llu dropped at a "
	       "full ring\n",
			100.0 * (double)handed / (double)rx, (double)cycles / (double)handed,
			(unsigned long long)sl_router_drops(b->r, 1, SL_DROP_HANDOFF_FULL));
}

/* every flow of every worker is seen in both directions */
static void make_connections(struct bench *b)
{
	apply(b, true);
	for (uint64_t seen = 0; seen < 2ULL * b->flows + 1000; seen += b->packets * 1000ULL)
		round_cycles(b);
	printf("%u connections\n", ct_table_count(ct_table_of(b->r)));
	for (unsigned int q = 0; q < b->workers; q++) {
		shuffle(b, b->flows_of[q], b->n_flows[q]);
		shuffle(b, b->back_of[q], b->back_of[q] == NULL ? 0 : b->n_flows[q]);
	}
}

static int bench(struct bench *b)
{
	bool pairs = b->rules != NULL || b->track != NULL || b->hmark || b->policies > 0;
	double ghz = (double)rte_get_tsc_hz() / 1e9;
	double(*stages)[SL_STAGES_MAX] = need(calloc(b->rounds, sizeof(*stages)));
	double cycles[ROUNDS_MAX], added[ROUNDS_MAX], floor;
	uint64_t rx, accounted;

	make_conf(b);
	make_flows(b);
	add_policies(b);
	make_router(b);
	if (b->rules != NULL)
		load_rules(b);
	floor = floor_cycles(b);
	if (has_replies(b))
		make_connections(b);
	round_cycles(b); /* warm */
	for (unsigned int i = 0; i < b->rounds; i++) {
		double without = 0;

		if (pairs) {
			apply(b, false);
			without = round_cycles(b);
			apply(b, true);
		}
		cycles[i] = measure(b, stages[i]);
		added[i] = cycles[i] - without;
	}
	qsort(added, b->rounds, sizeof(added[0]), by_value);
	qsort(cycles, b->rounds, sizeof(cycles[0]), by_value);
	print_stages(b, stages, ghz);
	free(stages);
	print_handoff(b);
	printf("\n%u worker(s), %u routes, %u flows, %u B, TSC %.3f GHz, %s\n", b->workers,
			b->routes, b->flows, b->frame_len, ghz,
			b->hugepages                 ? "hugepages"
					: b->advised ? "transparent huge pages"
						     : "4 kB pages");
	printf("source and sink alone      %8.1f cycles %8.2f ns (minimum of %u)\n", floor,
			floor / ghz, b->rounds);
	printf("whole, per packet          %8.1f cycles %8.2f ns %8.2f Mpps (median of %u)\n",
			cycles[b->rounds / 2], cycles[b->rounds / 2] / ghz,
			1e3 * ghz / cycles[b->rounds / 2], b->rounds);
	printf("                           %8.1f cycles %8.2f ns %8.2f Mpps (minimum)\n", cycles[0],
			cycles[0] / ghz, 1e3 * ghz / cycles[0]);
	if (pairs)
		printf("added by %-17s %8.1f cycles (median of %u pairs of rounds, minimum %.1f)\n",
				b->track != NULL                   ? "tracking"
						: b->hmark         ? "the stage"
						: b->rules == NULL ? "the policy"
								   : "the rules",
				added[b->rounds / 2], b->rounds, added[0]);
	sl_router_drain(b->r);
	if (sl_router_balance(b->r, &rx, &accounted) != 0) {
		fprintf(stderr, "bench_pipeline: balance is off: %llu received, %llu accounted\n",
				(unsigned long long)rx, (unsigned long long)accounted);
		return 1;
	}
	return 0;
}

static unsigned int number(const char *text, unsigned int min, unsigned int max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end != '\0' || n < min || n > max) {
		fprintf(stderr, "bench_pipeline: '%s', expected %u to %u\n", text, min, max);
		exit(2);
	}
	return (unsigned int)n;
}

static void parse(struct bench *b, int argc, char **argv)
{
	static const struct option options[] = {
		{ "routes", required_argument, NULL, 'r' },
		{ "flows", required_argument, NULL, 'f' },
		{ "workers", required_argument, NULL, 'w' },
		{ "rounds", required_argument, NULL, 'n' },
		{ "packets", required_argument, NULL, 'p' },
		{ "noop", required_argument, NULL, 'o' },
		{ "size", required_argument, NULL, 's' },
		{ "handoff", no_argument, NULL, 'h' },
		{ "track", required_argument, NULL, 't' },
		{ "rules", required_argument, NULL, 'R' },
		{ "policy", required_argument, NULL, 'P' },
		{ "hmark", no_argument, NULL, 'M' },
		{ "engine", required_argument, NULL, 'E' },
		{ "hugepages", no_argument, NULL, 'H' },
		{ "small-pages", no_argument, NULL, 'S' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'r':
			b->routes = number(optarg, 1, 3000000);
			break;
		case 'f':
			b->flows = number(optarg, 1, 4000000);
			break;
		case 'w':
			b->workers = number(optarg, 1, 8);
			break;
		case 'n':
			b->rounds = number(optarg, 1, ROUNDS_MAX);
			break;
		case 'p':
			b->packets = number(optarg, 1, 1000000);
			break;
		case 'o':
			b->noops = number(optarg, 0, 16);
			break;
		case 's':
			b->frame_len = number(optarg, 64, 1518);
			break;
		case 't':
			b->track = optarg;
			if (strcmp(optarg, "udp") != 0 && strcmp(optarg, "tcp") != 0
					&& strcmp(optarg, "new") != 0) {
				fprintf(stderr, "bench_pipeline: '%s', expected udp, tcp or new\n",
						optarg);
				exit(2);
			}
			break;
		case 'P':
			b->policies = number(optarg, 1, 64);
			break;
		case 'M':
			b->hmark = true;
			break;
		case 'R':
			b->rules = optarg;
			break;
		case 'E':
			b->engine = optarg;
			break;
		case 'h':
			b->handoff = true;
			break;
		case 'S':
			b->small_pages = true;
			break;
		case 'H':
			b->hugepages = true;
			break;
		default:
			exit(2);
		}
	}
	if (b->handoff && b->workers < 2)
		b->workers = 2;
}

/* worker 0 on the last CPU, the others before it: the first CPU has most of the interrupts */
static void start_eal(struct bench *b)
{
	unsigned int cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	char lcores[128];
	const char *args[] = { "bench", "--no-pci", "--no-telemetry", "--log-level=error",
		"--lcores", lcores, b->hugepages ? "--in-memory" : "--no-huge", "--no-shconf", "-m",
		"2048" };
	char *argv[RTE_DIM(args) + 1];
	int argc = b->hugepages ? 7 : (int)RTE_DIM(args);
	size_t n = 0;

	for (unsigned int i = 0; i < b->workers; i++)
		n += (size_t)snprintf(lcores + n, sizeof(lcores) - n, "%s%u@%u", i > 0 ? "," : "",
				i, cpus - 1 - i % cpus);
	for (int i = 0; i < argc; i++)
		argv[i] = (char *)(uintptr_t)args[i];
	argv[argc] = NULL;
	if (rte_eal_init(argc, argv) < 0)
		exit(1);
	if (!b->hugepages && !b->small_pages)
		b->advised = sl_memory_advise() > 0;
}

int main(int argc, char **argv)
{
	struct bench b = { .routes = 1000,
		.flows = 65536,
		.workers = 1,
		.rounds = 201,
		.packets = 50,
		.frame_len = 64,
		.seed = 1 };

	parse(&b, argc, argv);
	start_eal(&b);
	return bench(&b);
}
