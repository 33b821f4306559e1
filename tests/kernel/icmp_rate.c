/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * icmp_rate: how many errors, redirects and answers are sent when many are due, with the kernel's
 * default sysctls; the kernel's counts and those of `sluice replay` must be equal. Every flow has a
 * source of its own and gets the same bursts at the same moments, in turns 100 ms apart, so that
 * the global bucket (50, refilled at 1000 a second) never runs dry: it is random by design.
 *
 *   icmp_rate SLUICE | --show
 */
#include "frames_priv.h"
#include "replay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SKIP 77
#define TURN_MS 100

static const struct burst {
	unsigned int at_ms;
	unsigned int frames;
} bursts[] = {
	{ 0, 12 },
	{ 1300, 4 },
	{ 3800, 12 },
	{ 5430, 3 },
	{ 5920, 1 },
	{ 6350, 1 },
	{ 6770, 1 },
	{ 7200, 2 },
};

#define BURSTS_NB (sizeof(bursts) / sizeof(bursts[0]))

struct flow {
	const char *name;
	void (*make)(struct gen *g);
};

static void v4(struct gen *g, uint32_t src, uint32_t dst, uint8_t ttl, uint8_t proto, size_t len)
{
	struct ip4 ip = { .src = src, .dst = dst, .ttl = ttl, .proto = proto };
	struct buf l4 = { .n = 0 };

	if (len > 500)
		ip.frag = IP4_DF;
	put_l4_v4(g, &l4, &ip, len);
	gen_send_v4(g, PA, &ip, &l4);
}

static void v6(struct gen *g, const char *src, const char *dst, uint8_t hops, uint8_t proto,
		size_t len)
{
	struct ip6 ip = { .hops = hops, .proto = proto, .first = proto };
	struct buf l4 = { .n = 0 };

	addr6(ip.src, src);
	addr6(ip.dst, dst);
	put_l4_v6(g, &l4, &ip, len);
	gen_send_v6(g, PA, &ip, &l4);
}

static void ttl(struct gen *g)
{
	v4(g, TOPO_V4_SOURCES + 1, IP4(198, 18, 0, 1), 1, IPPROTO_UDP, 20);
}

static void no_route(struct gen *g)
{
	v4(g, TOPO_V4_SOURCES + 2, IP4(8, 8, 8, 8), 64, IPPROTO_UDP, 20);
}

static void prohibited(struct gen *g)
{
	v4(g, TOPO_V4_SOURCES + 3, IP4(172, 16, 2, 1), 64, IPPROTO_UDP, 20);
}

/* the two limits of an unreachable share their tokens with the one of a TTL */
static void ttl_and_no_route(struct gen *g)
{
	bool even = g->k % 2 == 0;

	v4(g, TOPO_V4_SOURCES + 4, even ? IP4(198, 18, 0, 1) : IP4(8, 8, 8, 8), even ? 1 : 64,
			IPPROTO_UDP, 20);
}

static void frag_needed(struct gen *g)
{
	v4(g, TOPO_V4_SOURCES + 5, IP4(203, 0, 113, 1), 64, IPPROTO_UDP, 600);
}

static void port(struct gen *g)
{
	v4(g, TOPO_V4_SOURCES + 6, IP4(10, 0, 1, 1), 64, IPPROTO_UDP, 20);
}

static void protocol(struct gen *g)
{
	v4(g, TOPO_V4_SOURCES + 7, IP4(10, 0, 1, 1), 64, IPPROTO_GRE, 20);
}

static void reset(struct gen *g)
{
	v4(g, TOPO_V4_SOURCES + 8, IP4(10, 0, 1, 1), 64, IPPROTO_TCP, 0);
}

static void ping(struct gen *g)
{
	v4(g, TOPO_V4_SOURCES + 9, IP4(10, 0, 1, 1), 64, IPPROTO_ICMP, 20);
}

static void bad_option(struct gen *g)
{
	struct ip4 ip = { .src = TOPO_V4_SOURCES + 10,
		.dst = IP4(198, 18, 0, 1),
		.ttl = 64,
		.proto = IPPROTO_UDP };
	struct buf l4 = { .n = 0 };

	put32(&ip.opts, 0x07010101);
	put_l4_v4(g, &l4, &ip, 20);
	gen_send_v4(g, PA, &ip, &l4);
}

/* the packet is forwarded as well, so each redirect is the second frame */
static void redirect(struct gen *g)
{
	v4(g, IP4(10, 0, 1, 3), IP4(192, 0, 2, 1), 64, IPPROTO_UDP, 20);
}

static void hops_onlink(struct gen *g)
{
	v6(g, "fd01::2", "2001:db8:b::1", 1, IPPROTO_UDP, 20);
}

static void hops_routed(struct gen *g)
{
	v6(g, "2001:db8:a::2", "2001:db8:b::1", 1, IPPROTO_UDP, 20);
}

static void no_route_v6(struct gen *g)
{
	v6(g, "2001:db8:a::3", "3fff::1", 64, IPPROTO_UDP, 20);
}

static void too_big(struct gen *g)
{
	v6(g, "2001:db8:a::4", "2001:db8:c::1", 64, IPPROTO_UDP, 1300);
}

static void port_v6(struct gen *g)
{
	v6(g, "2001:db8:a::5", "fd01::1", 64, IPPROTO_UDP, 20);
}

static void next_header_v6(struct gen *g)
{
	v6(g, "2001:db8:a::6", "fd01::1", 64, IPPROTO_GRE, 20);
}

static void reset_v6(struct gen *g)
{
	v6(g, "2001:db8:a::7", "fd01::1", 64, IPPROTO_TCP, 0);
}

static void ping_v6(struct gen *g)
{
	v6(g, "2001:db8:a::8", "fd01::1", 64, IPPROTO_ICMPV6, 20);
}

static void redirect_v6(struct gen *g)
{
	v6(g, "fd01::1:4", "fd01::1:5", 64, IPPROTO_UDP, 20);
}

static const struct flow flows[] = {
	{ "ttl", ttl },
	{ "no-route", no_route },
	{ "prohibited", prohibited },
	{ "ttl-and-no-route", ttl_and_no_route },
	{ "frag-needed", frag_needed },
	{ "port", port },
	{ "protocol", protocol },
	{ "reset", reset },
	{ "ping", ping },
	{ "bad-option", bad_option },
	{ "redirect", redirect },
	{ "hops-onlink-v6", hops_onlink },
	{ "hops-routed-v6", hops_routed },
	{ "no-route-v6", no_route_v6 },
	{ "too-big-v6", too_big },
	{ "port-v6", port_v6 },
	{ "next-header-v6", next_header_v6 },
	{ "reset-v6", reset_v6 },
	{ "ping-v6", ping_v6 },
	{ "redirect-v6", redirect_v6 },
};

#define FLOWS_NB (sizeof(flows) / sizeof(flows[0]))

/* one burst of one flow */
struct cell {
	uint64_t start_ns;
	unsigned int kernel;
	unsigned int sluice;
};

struct table {
	struct cell v[FLOWS_NB][BURSTS_NB];
	uint64_t zero_ns;
};

static int send_burst(
		struct lab *lab, struct replay *r, unsigned int f, unsigned int b, struct table *t)
{
	struct cell *cell = &t->v[f][b];
	struct lab_frames out = { 0 };
	int ret = 0;

	cell->start_ns = lab_now_ns();
	for (unsigned int i = 0; ret == 0 && i < bursts[b].frames; i++) {
		static struct frames_case c;
		struct gen g = { .c = &c, .rng = f * 1000 + b * 100 + i, .k = i };

		c.n = 0;
		c.index = f * 1000 + b * 100 + i;
		flows[f].make(&g);
		ret = lab_send(lab, PA, c.v[0].data, c.v[0].len);
		if (ret == 0 && r != NULL)
			ret = replay_add(r, PA, lab_now_ns(), c.v[0].data, c.v[0].len);
	}
	if (ret == 0)
		ret = lab_collect(lab, PA, &out);
	cell->kernel = (unsigned int)out.n;
	lab_frames_reset(&out);
	return ret;
}

/* all bursts in the order of their time */
static int ask_kernel(struct lab *lab, struct replay *r, struct table *t)
{
	unsigned int done[FLOWS_NB] = { 0 };
	int ret = 0;

	t->zero_ns = lab_now_ns();
	while (ret == 0) {
		unsigned int next = FLOWS_NB, at = 0;

		for (unsigned int f = 0; f < FLOWS_NB; f++) {
			unsigned int when;

			if (done[f] == BURSTS_NB)
				continue;
			when = bursts[done[f]].at_ms + f * TURN_MS;
			if (next == FLOWS_NB || when < at) {
				next = f;
				at = when;
			}
		}
		if (next == FLOWS_NB)
			break;
		lab_sleep_until(t->zero_ns + (uint64_t)at * 1000000);
		ret = send_burst(lab, r, next, done[next], t);
		done[next]++;
	}
	return ret;
}

/* the burst that began last before the frame was sent */
static int take(void *ctx, unsigned int port_nb, uint64_t time_ns, const uint8_t *data, size_t len)
{
	struct cell *best = NULL;
	struct table *t = ctx;

	(void)port_nb;
	(void)data;
	(void)len;
	for (unsigned int f = 0; f < FLOWS_NB; f++) {
		for (unsigned int b = 0; b < BURSTS_NB; b++) {
			struct cell *cell = &t->v[f][b];

			if (cell->start_ns / 1000 <= time_ns / 1000
					&& (best == NULL || cell->start_ns > best->start_ns))
				best = cell;
		}
	}
	if (best == NULL)
		return -ERANGE;
	best->sluice++;
	return 0;
}

static int print(const struct table *t, bool with_sluice)
{
	int differ = 0;

	printf("%-18s", "frames");
	for (unsigned int b = 0; b < BURSTS_NB; b++)
		printf(" %5u", bursts[b].frames);
	printf("\n");
	for (unsigned int f = 0; f < FLOWS_NB; f++) {
		printf("%-18s", flows[f].name);
		for (unsigned int b = 0; b < BURSTS_NB; b++) {
			const struct cell *cell = &t->v[f][b];
			bool same = !with_sluice || cell->kernel == cell->sluice;

			printf(" %5u", cell->kernel);
			if (!same)
				printf(" (sluice %u)", cell->sluice);
			differ += !same;
		}
		printf("\n");
	}
	return differ;
}

int main(int argc, char **argv)
{
	const char *ports[TOPO_PORTS_NB + 1] = { NULL };
	static struct table table;
	struct replay *r = NULL;
	struct lab *lab = NULL;
	struct lab_spec spec;
	const char *why;
	bool show;
	int ret;

	if (argc != 2) {
		fprintf(stderr, "icmp_rate SLUICE | --show\n");
		return 2;
	}
	if (!lab_possible(&why)) {
		fprintf(stderr, "SKIP: the kernel cannot be asked: %s\n", why);
		return SKIP;
	}
	show = strcmp(argv[1], "--show") == 0;
	topo_init();
	spec = topo_spec;
	spec.sysctls = NULL; /* the defaults are the question */
	for (unsigned int i = 0; i < TOPO_PORTS_NB; i++)
		ports[i] = spec.ports[i].name;
	ret = lab_open(&spec, &lab);
	if (ret == 0 && !show)
		ret = replay_open(argv[1], NULL, ports, topo_write_config_defaults, &r);
	if (ret == 0)
		ret = ask_kernel(lab, r, &table);
	lab_close(lab);
	if (ret == 0 && !show)
		ret = replay_run(r, take, &table);
	replay_close(r);
	if (ret == 0)
		ret = print(&table, !show);
	else
		fprintf(stderr, "icmp_rate: %s\n", strerror(-ret));
	return ret != 0;
}
