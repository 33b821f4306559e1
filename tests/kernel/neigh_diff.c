/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neigh_diff: what the router does by timer, the kernel against `sluice replay`. Hosts at pb that
 * the router does not know are asked for, answer or do not, announce themselves, move; datagrams to
 * the router lack a fragment. The frames that come out must be equal, and so must the moments,
 * within TOLERANCE_MS.
 *
 *   neigh_diff SLUICE | --show | --twice
 *
 * A tick (a frame for nobody) every TICK_MS lets sluice's clock, which is the pcap's, go on.
 */
#include "compare.h"
#include "describe.h"
#include "frames_priv.h"
#include "replay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SKIP 77
#define TICK_MS 10
#define TOLERANCE_MS 400 /* the timer wheel is late: by up to 32 ms in 1 s and 256 ms in 5 s */
#define END_MS 12500
#define HOST(n) IP4(10, 0, 2, 100 + (n))

enum what {
	TO_V4, /* a packet from pa to the host */
	ASK_V4, /* the host asks for the router */
	ANSWER_V4, /* the host answers the router */
	ANSWER_MAC2, /* the same with another MAC */
	ANNOUNCE_V4, /* the host asks for itself */
	TO_V6,
	ASK_V6,
	ASK_BARE_V6, /* without its link-layer address */
	ANSWER_V6,
	ANSWER_MAC2_V6,
	ANNOUNCE_V6, /* unsolicited, to all nodes */
	FIRST_V4, /* a first fragment from the host at pa to the router */
	LATER_V4,
	FIRST_V6,
	LATER_V6,
};

/* in the order of time for each host; hosts do not meddle with each other */
static const struct event {
	unsigned int at_ms;
	unsigned int host;
	enum what what;
	unsigned int times;
} events[] = {
	/* nobody there: three requests, then an error for each packet that waited; and again */
	{ 0, 1, TO_V4, 3 },
	{ 1500, 1, TO_V4, 1 },
	{ 4200, 1, TO_V4, 1 },
	/* answers at once, and after the second request */
	{ 20, 2, TO_V4, 3 },
	{ 320, 2, ANSWER_V4, 1 },
	{ 500, 2, TO_V4, 1 },
	{ 40, 3, TO_V4, 2 },
	{ 1340, 3, ANSWER_V4, 1 },
	{ 1500, 3, TO_V4, 1 },
	/* asks first: known, but asked back after five seconds, and it answers; or does not */
	{ 60, 4, ASK_V4, 1 },
	{ 160, 4, TO_V4, 1 },
	{ 5900, 4, ANSWER_V4, 1 },
	{ 9000, 4, TO_V4, 1 },
	{ 80, 5, ASK_V4, 1 },
	{ 180, 5, TO_V4, 1 },
	{ 9100, 5, TO_V4, 1 },
	/* announces itself, or answers, unasked: not learned */
	{ 100, 6, ANNOUNCE_V4, 1 },
	{ 200, 6, TO_V4, 1 },
	{ 120, 7, ANSWER_V4, 1 },
	{ 220, 7, TO_V4, 1 },
	/* moves: within a second, and later */
	{ 140, 8, TO_V4, 1 },
	{ 240, 8, ANSWER_V4, 1 },
	{ 640, 8, ANSWER_MAC2, 1 },
	{ 740, 8, TO_V4, 1 },
	{ 2640, 8, ANSWER_MAC2, 1 },
	{ 2740, 8, TO_V4, 1 },
	/* the same in IPv6 */
	{ 5, 1, TO_V6, 3 },
	{ 1505, 1, TO_V6, 1 },
	{ 4205, 1, TO_V6, 1 },
	{ 25, 2, TO_V6, 3 },
	{ 325, 2, ANSWER_V6, 1 },
	{ 505, 2, TO_V6, 1 },
	{ 45, 3, TO_V6, 2 },
	{ 1345, 3, ANSWER_V6, 1 },
	{ 1505, 3, TO_V6, 1 },
	{ 65, 4, ASK_V6, 1 },
	{ 165, 4, TO_V6, 1 },
	{ 5905, 4, ANSWER_V6, 1 },
	{ 9005, 4, TO_V6, 1 },
	{ 85, 5, ASK_V6, 1 },
	{ 185, 5, TO_V6, 1 },
	{ 9105, 5, TO_V6, 1 },
	{ 105, 6, ANNOUNCE_V6, 1 },
	{ 205, 6, TO_V6, 1 },
	{ 125, 7, ASK_BARE_V6, 1 },
	{ 425, 7, ANSWER_V6, 1 },
	{ 145, 8, TO_V6, 1 },
	{ 245, 8, ANSWER_V6, 1 },
	{ 645, 8, ANSWER_MAC2_V6, 1 },
	{ 745, 8, TO_V6, 1 },
	/* a first fragment alone is answered when it is given up; a later one alone is not */
	{ 300, 1, FIRST_V4, 1 },
	{ 310, 2, LATER_V4, 1 },
	{ 320, 1, FIRST_V6, 1 },
	{ 330, 2, LATER_V6, 1 },
	/* twice the same */
	{ 340, 3, FIRST_V4, 2 },
	{ 350, 3, FIRST_V6, 2 },
};

static void host_mac(unsigned int host, bool second, uint8_t mac[6])
{
	topo_host_mac(PB, (second ? 200 : 100) + host, mac);
}

static void host_v6(unsigned int host, uint8_t addr[16])
{
	addr6(addr, "fd02::100");
	addr[15] = (uint8_t)host;
}

/* a frame of a host: from its MAC, to everyone or to the router */
static void put_from_host(struct buf *b, unsigned int type, unsigned int host, bool second,
		const uint8_t *dst)
{
	uint8_t mac[6];

	put_eth(b, PB, type);
	host_mac(host, second, mac);
	memcpy(b->b + 6, mac, 6);
	if (dst != NULL)
		memcpy(b->b, dst, 6);
}

static void make_arp(struct gen *g, const struct event *e)
{
	static const uint8_t everyone[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	bool answer = e->what == ANSWER_V4 || e->what == ANSWER_MAC2;
	bool second = e->what == ANSWER_MAC2;
	struct buf b = { .n = 0 };
	uint8_t mac[6];

	put_from_host(&b, 0x0806, e->host, second, answer ? NULL : everyone);
	put_mem(&b, (const uint8_t[]){ 0, 1, 8, 0, 6, 4, 0, answer ? 2 : 1 }, 8);
	host_mac(e->host, second, mac);
	put_mem(&b, mac, 6);
	put32(&b, HOST(e->host));
	topo_router_mac(PB, mac);
	if (answer)
		put_mem(&b, mac, 6);
	else
		put_zero(&b, 6);
	put32(&b, e->what == ANNOUNCE_V4 ? HOST(e->host) : IP4(10, 0, 2, 1));
	gen_add(g, PB, &b);
}

static void make_nd(struct gen *g, const struct event *e)
{
	static const uint8_t to_router[6] = { 0x33, 0x33, 0xff, 0, 0, 1 };
	static const uint8_t to_all[6] = { 0x33, 0x33, 0, 0, 0, 1 };
	bool ask = e->what == ASK_V6 || e->what == ASK_BARE_V6;
	bool second = e->what == ANSWER_MAC2_V6;
	struct ip6 ip = { .hops = 255, .proto = IPPROTO_ICMPV6, .first = IPPROTO_ICMPV6 };
	struct buf b = { .n = 0 }, l4 = { .n = 0 };
	uint8_t mac[6], target[16];
	const uint8_t *dst_mac = NULL;

	host_v6(e->host, ip.src);
	host_v6(e->host, target);
	addr6(ip.dst, "fd02::1");
	if (ask) {
		dst_mac = to_router;
		addr6(ip.dst, "ff02::1:ff00:1");
		addr6(target, "fd02::1");
	} else if (e->what == ANNOUNCE_V6) {
		dst_mac = to_all;
		addr6(ip.dst, "ff02::1");
	}
	put8(&l4, ask ? 135 : 136);
	put_zero(&l4, 3);
	put32(&l4, ask ? 0 : e->what == ANNOUNCE_V6 ? 0x20000000 : 0x60000000);
	put_mem(&l4, target, 16);
	if (e->what != ASK_BARE_V6) {
		host_mac(e->host, second, mac);
		put16(&l4, ask ? 0x0101 : 0x0201);
		put_mem(&l4, mac, 6);
	}
	set16(l4.b + 2, ~sum16(l4.b, l4.n, pseudo_v6(&ip) + (uint32_t)l4.n) & 0xffff);
	put_from_host(&b, 0x86dd, e->host, second, dst_mac);
	put_ip6(&b, &ip, &l4);
	gen_add(g, PB, &b);
}

static void make_packet(struct gen *g, const struct event *e)
{
	struct buf l4 = { .n = 0 };

	if (e->what == TO_V4) {
		struct ip4 ip = { .src = IP4(10, 0, 1, 2),
			.dst = HOST(e->host),
			.ttl = 64,
			.proto = IPPROTO_UDP,
			.id = (uint16_t)gen_u32(g) };

		put_l4_v4(g, &l4, &ip, 30);
		gen_send_v4(g, PA, &ip, &l4);
	} else {
		struct ip6 ip = { .hops = 64, .proto = IPPROTO_UDP, .first = IPPROTO_UDP };

		addr6(ip.src, "fd01::2");
		host_v6(e->host, ip.dst);
		put_l4_v6(g, &l4, &ip, 30);
		gen_send_v6(g, PA, &ip, &l4);
	}
}

static void make_fragment(struct gen *g, const struct event *e)
{
	bool first = e->what == FIRST_V4 || e->what == FIRST_V6;
	struct buf l4 = { .n = 0 };

	if (e->what == FIRST_V4 || e->what == LATER_V4) {
		struct ip4 ip = { .src = IP4(10, 0, 1, 2),
			.dst = IP4(10, 0, 1, 1),
			.ttl = 64,
			.proto = IPPROTO_UDP,
			.id = (uint16_t)(1000 + e->host),
			.frag = first ? IP4_MF : 10 };

		put_l4_v4(g, &l4, &ip, 72);
		gen_send_v4(g, PA, &ip, &l4);
	} else {
		struct ip6 ip = { .hops = 64, .proto = IPPROTO_UDP, .first = 44 };

		addr6(ip.src, "fd01::2");
		addr6(ip.dst, "fd01::1");
		put8(&ip.ext, ip.proto);
		put8(&ip.ext, 0);
		put16(&ip.ext, first ? 1 : 80);
		put32(&ip.ext, 1000 + e->host);
		put_l4_v6(g, &l4, &ip, 72);
		gen_send_v6(g, PA, &ip, &l4);
	}
}

static void make_tick(struct gen *g)
{
	struct buf b = { .n = 0 };

	put_eth(&b, PD, 0x88b5);
	put_zero(&b, 46);
	b.b[5] = 0xee;
	gen_add(g, PD, &b);
}

static void make(struct gen *g, const struct event *e)
{
	switch (e->what) {
	case TO_V4:
	case TO_V6:
		make_packet(g, e);
		break;
	case ASK_V4:
	case ANSWER_V4:
	case ANSWER_MAC2:
	case ANNOUNCE_V4:
		make_arp(g, e);
		break;
	case ASK_V6:
	case ASK_BARE_V6:
	case ANSWER_V6:
	case ANSWER_MAC2_V6:
	case ANNOUNCE_V6:
		make_nd(g, e);
		break;
	case FIRST_V4:
	case LATER_V4:
	case FIRST_V6:
	case LATER_V6:
		make_fragment(g, e);
		break;
	}
}

struct half {
	struct lab *lab;
	struct replay *r;
	uint64_t zero_ns;
	uint64_t last_us;
	struct cmp_set *set;
};

/* times in a set count from the start, so that two runs can be compared */
static int keep(struct half *h, const struct lab_frames *frames)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < frames->n; i++) {
		const struct lab_frame *f = &frames->v[i];

		ret = cmp_add(h->set, f->port, CMP_NO_CASE, f->time_ns, f->data, f->len);
		if (ret == 0)
			h->set->v[h->set->n - 1].time_ns -= h->zero_ns;
	}
	return ret;
}

static int send_one(struct half *h, const struct frames_case *c)
{
	uint64_t now_us = lab_now_ns() / 1000;
	int ret = lab_send(h->lab, c->v[0].port, c->v[0].data, c->v[0].len);

	h->last_us = now_us > h->last_us ? now_us : h->last_us + 1;
	if (ret == 0 && h->r != NULL)
		ret = replay_add(h->r, c->v[0].port, h->last_us * 1000, c->v[0].data, c->v[0].len);
	return ret;
}

static int send_due(struct half *h, unsigned int from_ms, unsigned int to_ms)
{
	static struct frames_case c;
	int ret = 0;

	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		if (events[i].at_ms < from_ms || events[i].at_ms >= to_ms)
			continue;
		for (unsigned int j = 0; ret == 0 && j < events[i].times; j++) {
			/* fragments of one event are the same */
			struct gen g = { .c = &c,
				.rng = i * 10 + (events[i].what < FIRST_V4 ? j : 0) };

			c.n = 0;
			c.index = (unsigned int)g.rng;
			make(&g, &events[i]);
			ret = send_one(h, &c);
		}
	}
	if (ret == 0) {
		struct gen g = { .c = &c };

		c.n = 0;
		make_tick(&g);
		ret = send_one(h, &c);
	}
	return ret;
}

static int run_kernel(struct half *h)
{
	int ret = lab_open(&topo_spec, &h->lab);

	h->zero_ns = lab_now_ns();
	for (unsigned int ms = 0; ret == 0 && ms < END_MS; ms += TICK_MS) {
		struct lab_frames out = { 0 };

		lab_sleep_until(h->zero_ns + (uint64_t)ms * 1000000);
		ret = send_due(h, ms, ms + TICK_MS);
		if (ret == 0)
			ret = lab_wait(h->lab, 0, &out);
		if (ret == 0)
			ret = keep(h, &out);
		lab_frames_reset(&out);
	}
	lab_close(h->lab);
	h->lab = NULL;
	return ret;
}

static int take(void *ctx, unsigned int port, uint64_t time_ns, const uint8_t *data, size_t len)
{
	struct half *h = ctx;
	int ret = cmp_add(h->set, port, CMP_NO_CASE, time_ns, data, len);

	if (ret == 0)
		h->set->v[h->set->n - 1].time_ns -= h->zero_ns;
	return ret;
}

static bool near(const struct cmp_frame *a, const struct cmp_frame *b)
{
	uint64_t apart =
			a->time_ns > b->time_ns ? a->time_ns - b->time_ns : b->time_ns - a->time_ns;

	return a->port == b->port && a->len == b->len && apart <= TOLERANCE_MS * UINT64_C(1000000)
			&& memcmp(a->even, b->even, a->len) == 0;
}

static void pair_up(struct cmp_set *a, struct cmp_set *b)
{
	for (size_t i = 0; i < a->n; i++) {
		for (size_t j = 0; j < b->n && !a->v[i].matched; j++) {
			if (b->v[j].matched || !near(&a->v[i], &b->v[j]))
				continue;
			a->v[i].matched = true;
			b->v[j].matched = true;
		}
	}
}

static int print(const char *who, const struct cmp_set *set, bool all)
{
	int alone = 0;

	for (size_t i = 0; i < set->n; i++) {
		const struct cmp_frame *f = &set->v[i];

		alone += !f->matched;
		if (f->matched && !all)
			continue;
		printf("%s %7.3f s %s: ", who, (double)f->time_ns / 1e9,
				topo_spec.ports[f->port].name);
		describe(stdout, f->data, f->len);
		printf("\n");
		describe_hex(stdout, f->data, f->len, NULL, 0);
	}
	return alone;
}

static int compare(const char *mode)
{
	const char *ports[TOPO_PORTS_NB + 1] = { NULL };
	bool show = strcmp(mode, "--show") == 0, twice = strcmp(mode, "--twice") == 0;
	struct cmp_set kernel = { 0 }, sluice = { 0 };
	struct half h = { .set = &kernel };
	int ret = 0;

	for (unsigned int i = 0; i < TOPO_PORTS_NB; i++)
		ports[i] = topo_spec.ports[i].name;
	if (!show && !twice)
		ret = replay_open(mode, NULL, ports, topo_write_config, &h.r);
	if (ret == 0)
		ret = run_kernel(&h);
	h.set = &sluice;
	if (ret == 0 && twice)
		ret = run_kernel(&h);
	else if (ret == 0 && !show)
		ret = replay_run(h.r, take, &h);
	replay_close(h.r);
	if (ret < 0) {
		fprintf(stderr, "neigh_diff: %s\n", strerror(-ret));
	} else {
		pair_up(&kernel, &sluice);
		ret = print("kernel", &kernel, show);
		ret += print("sluice", &sluice, show);
		printf("frames out: kernel %zu, sluice %zu; %d lack a partner\n", kernel.n,
				sluice.n, ret);
		if (show)
			ret = 0;
		if (kernel.n < ARRAY_LEN(events))
			ret = -EIO;
	}
	cmp_reset(&kernel);
	cmp_reset(&sluice);
	return ret;
}

int main(int argc, char **argv)
{
	const char *why;

	if (argc != 2) {
		fprintf(stderr, "neigh_diff SLUICE | --show | --twice\n");
		return 2;
	}
	if (!lab_possible(&why)) {
		fprintf(stderr, "SKIP: the kernel cannot be asked: %s\n", why);
		return SKIP;
	}
	topo_init();
	topo_add_sysctl("net.ipv4.ipfrag_time=3");
	topo_add_sysctl("net.ipv6.ip6frag_time=4");
	return compare(argv[1]) != 0;
}
