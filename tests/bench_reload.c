/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a file of rules takes to load, and whether a reload under traffic loses a packet. A worker
 * on one core forwards UDP from memory as fast as it can, while this thread reads a configuration
 * with N rules and puts it in force, again and again.
 *
 *   bench_reload [--rules N] [--reloads N] [--engine E]      10,000 rules, 20 times, auto
 *
 * Prints the time of every step (median), the rate meanwhile and what was lost, which should be 0.
 * Needs two CPUs.
 */
#include "app/sluice/apply.h"
#include "config/build.h"
#include "config/yaml.h"
#include "lib/conf.h"
#include "lib/link_memory.h"
#include "lib/memory.h"
#include "lib/router.h"

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_lcore.h>
#include <rte_rcu_qsbr.h>
#include <rte_udp.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define FLOWS 4096
#define RELOADS_MAX 1000
#define FRAME_LEN 64

static const struct rte_ether_addr in_mac = { { 2, 0, 0, 0, 0, 1 } };
static const struct rte_ether_addr out_mac = { { 2, 0, 0, 0, 0, 2 } };

struct bench {
	unsigned int rules, reloads;
	const char *engine;
	char dir[64], conf_path[96], rules_path[96];
	struct sl_router *r;
	struct sl_firewall *fw;
	struct sl_conf *conf;
	struct sl_memory_flow flows[FLOWS];
	volatile bool stop;
};

static void die(const char *what)
{
	fprintf(stderr, "bench_reload: %s\n", what);
	exit(1);
}

static FILE *create(const char *path)
{
	FILE *f = fopen(path, "we");

	if (f == NULL)
		die(path);
	return f;
}

/* addresses, prefixes and ports of blacklists and services; none is what the traffic has */
static void write_rules(const struct bench *b)
{
	FILE *f = create(b->rules_path);

	fputs("*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n", f);
	for (unsigned int i = 0; i < b->rules; i++) {
		unsigned int a = i >> 8 & 0xff, c = i & 0xff, top = i >> 16 & 0x3f;

		if (i % 3 == 0)
			fprintf(f, "-A FORWARD -s 100.%u.%u.%u/32 -j DROP\n", 64 + top, a, c);
		else if (i % 3 == 1)
			fprintf(f, "-A FORWARD -d 203.%u.%u.%u/32 -p tcp -m tcp --dport %u -j ACCEPT\n",
					top, a, c, 1 + i % 65535);
		else
			fprintf(f,
					"-A FORWARD -s 100.%u.%u.0/24 -d 203.%u.%u.0/24 -p udp -m udp "
					"--dport %u:%u -j ACCEPT\n",
					64 + top, a, top, c, i % 60000, i % 60000 + 100);
	}
	fputs("COMMIT\n", f);
	fclose(f);
}

static void write_conf(const struct bench *b)
{
	FILE *f = create(b->conf_path);

	fprintf(f,
			"workers: 1\n"
			"ports:\n"
			"  - {name: in, device: net_null0, addresses: [10.0.0.1/8]}\n"
			"  - {name: out, device: net_null1, addresses: [198.18.0.1/24]}\n"
			"routes: [{to: 0.0.0.0/0, via: 198.18.0.2}]\n"
			"neighbours: [{port: out, ip: 198.18.0.2, mac: \"02:00:00:01:00:01\"}]\n"
			"firewall: {iptables: %s, engine: %s}\n",
			b->rules_path, b->engine);
	fclose(f);
}

static struct sl_conf *read_conf(const struct bench *b)
{
	struct sl_conf *conf;

	if (sl_conf_read(b->conf_path, &conf, stderr) < 0)
		die("its own configuration is refused");
	return conf;
}

/* the file read, compiled, in force; the one before goes */
static double load(struct bench *b)
{
	uint64_t start = rte_rdtsc();
	struct sl_conf *conf = read_conf(b);
	char err[256];

	if (apply_conf(b->r, conf, &b->fw, NULL, err, sizeof(err)) < 0)
		die(err);
	if (b->conf != NULL)
		sl_conf_free(b->conf);
	b->conf = conf;
	return (double)(rte_rdtsc() - start) / (double)rte_get_tsc_hz();
}

static void make_router(struct bench *b)
{
	static struct {
		struct rte_ether_hdr eth;
		struct rte_ipv4_hdr ip;
		struct rte_udp_hdr udp;
		uint8_t rest[FRAME_LEN - 42];
	} __rte_packed __rte_aligned(2) f = {
		.eth = { .dst_addr = { { 2, 0, 0, 0, 0, 1 } },
				.src_addr = { { 2, 0, 0, 2, 0, 1 } },
				.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4) },
		.ip = { .version_ihl = 0x45,
				.time_to_live = 64,
				.next_proto_id = IPPROTO_UDP,
				.total_length = RTE_BE16(FRAME_LEN - 14) },
		.udp = { .dgram_len = RTE_BE16(FRAME_LEN - 34) },
	};
	struct sl_memory_source in = { .frames = (const uint8_t *)&f,
		.n_frames = 1,
		.frame_len = FRAME_LEN,
		.flows = b->flows,
		.n_flows = FLOWS };
	struct sl_memory_source none = { 0 };
	struct rte_mempool *pool = sl_pool_create("bench", 16383, RTE_MBUF_DEFAULT_DATAROOM);
	struct sl_link *links[2];

	for (unsigned int i = 0; i < FLOWS; i++) {
		f.ip.src_addr = rte_cpu_to_be_32((10U << 24) + 16 + i);
		f.ip.dst_addr = rte_cpu_to_be_32((20U << 24) + i * 7919);
		f.ip.hdr_checksum = 0;
		b->flows[i] = (struct sl_memory_flow){ .src_be = f.ip.src_addr,
			.dst_be = f.ip.dst_addr,
			.sport_be = rte_cpu_to_be_16((uint16_t)(1024 + i)),
			.dport_be = RTE_BE16(53),
			.csum_be = rte_ipv4_cksum(&f.ip) };
	}
	if (pool == NULL || sl_router_create(pool, 1, &b->r) < 0)
		die("out of memory");
	links[0] = sl_link_memory(pool, &in, 1);
	links[1] = sl_link_memory(pool, &none, 1);
	if (links[0] == NULL || links[1] == NULL)
		die("out of memory");
	sl_router_add_port(b->r, "in", links[0], &in_mac, 1500, 0);
	sl_router_add_port(b->r, "out", links[1], &out_mac, 1500, 0);
}

static int forward(void *arg)
{
	struct bench *b = arg;

	rte_rcu_qsbr_thread_register(b->r->rcu, 0);
	rte_rcu_qsbr_thread_online(b->r->rcu, 0);
	while (!b->stop) {
		sl_worker_poll(b->r->workers[0]);
		rte_rcu_qsbr_quiescent(b->r->rcu, 0);
	}
	rte_rcu_qsbr_thread_offline(b->r->rcu, 0);
	rte_rcu_qsbr_thread_unregister(b->r->rcu, 0);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static uint64_t dropped(const struct sl_worker *w)
{
	uint64_t n = 0;

	for (unsigned int port = 0; port < RTE_DIM(w->drops); port++)
		for (unsigned int reason = 0; reason < SL_DROP_NB; reason++)
			n += w->drops[port][reason];
	return n;
}

static int run(struct bench *b)
{
	const struct sl_worker *w = b->r->workers[0];
	double seconds[RELOADS_MAX], first = load(b), during;
	uint64_t rx, accounted, start, before;
	unsigned int lcore = rte_get_next_lcore(-1, 1, 0);

	printf("%u rules, engine %s: loaded in %.3f s, no traffic yet\n",
			sl_firewall_rules(b->fw, IPT_V4), b->engine, first);
	atomic_store(&b->r->threaded, true);
	rte_eal_remote_launch(forward, b, lcore);
	rte_delay_ms(100);
	before = w->rx[1];
	start = rte_rdtsc();
	for (unsigned int i = 0; i < b->reloads; i++)
		seconds[i] = load(b);
	during = (double)(rte_rdtsc() - start) / (double)rte_get_tsc_hz();
	rx = w->rx[1] - before;
	b->stop = true;
	rte_eal_mp_wait_lcore();
	qsort(seconds, b->reloads, sizeof(seconds[0]), by_value);
	printf("%u reloads under traffic: median %.3f s, longest %.3f s\n", b->reloads,
			seconds[b->reloads / 2], seconds[b->reloads - 1]);
	printf("meanwhile %.2f Mpps, %llu packets, %llu dropped\n", (double)rx / during / 1e6,
			(unsigned long long)rx, (unsigned long long)dropped(w));
	sl_router_drain(b->r);
	if (sl_router_balance(b->r, &rx, &accounted) != 0) {
		fprintf(stderr, "bench_reload: balance is off: %llu received, %llu accounted\n",
				(unsigned long long)rx, (unsigned long long)accounted);
		return 1;
	}
	return dropped(w) != 0;
}

static unsigned int number(const char *text, unsigned int min, unsigned int max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end != '\0' || n < min || n > max) {
		fprintf(stderr, "bench_reload: '%s', expected %u to %u\n", text, min, max);
		exit(2);
	}
	return (unsigned int)n;
}

static void parse(struct bench *b, int argc, char **argv)
{
	static const struct option options[] = {
		{ "rules", required_argument, NULL, 'r' },
		{ "reloads", required_argument, NULL, 'n' },
		{ "engine", required_argument, NULL, 'e' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'r')
			b->rules = number(optarg, 1, 1U << 22);
		else if (c == 'n')
			b->reloads = number(optarg, 1, RELOADS_MAX);
		else if (c == 'e')
			b->engine = optarg;
		else
			exit(2);
	}
}

static void start_eal(void)
{
	char lcores[32];
	const char *args[] = { "bench", "--no-pci", "--no-telemetry", "--log-level=error",
		"--no-huge", "--no-shconf", "-m", "2048", "--lcores", lcores };
	char *argv[RTE_DIM(args) + 1] = { NULL };
	int cpus = get_nprocs();

	if (cpus < 2)
		die("needs two CPUs: one forwards while the other reloads");
	snprintf(lcores, sizeof(lcores), "0@%d,1@%d", cpus - 2, cpus - 1);
	for (unsigned int i = 0; i < RTE_DIM(args); i++)
		argv[i] = (char *)(uintptr_t)args[i];
	if (rte_eal_init(RTE_DIM(args), argv) < 0)
		exit(1);
	sl_memory_advise();
}

int main(int argc, char **argv)
{
	static struct bench b = { .rules = 10000, .reloads = 20, .engine = "auto" };
	int status;

	parse(&b, argc, argv);
	snprintf(b.dir, sizeof(b.dir), "/tmp/bench_reload.XXXXXX");
	if (mkdtemp(b.dir) == NULL)
		die("cannot make a directory in /tmp");
	snprintf(b.conf_path, sizeof(b.conf_path), "%s/conf.yaml", b.dir);
	snprintf(b.rules_path, sizeof(b.rules_path), "%s/rules.v4", b.dir);
	write_rules(&b);
	write_conf(&b);
	start_eal();
	make_router(&b);
	status = run(&b);
	unlink(b.conf_path);
	unlink(b.rules_path);
	rmdir(b.dir);
	return status;
}
