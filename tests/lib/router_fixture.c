/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/lib/router_fixture.h"

#include "lib/conf.h"
#include "lib/net.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

struct rf rf;

static unsigned int buffers_at_start;

struct rf_link {
	struct sl_link link; /* first */
};

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "router fixture: %s: %s\n", what, rte_strerror(rte_errno));
	abort();
}

static uint16_t link_rx(__rte_unused struct sl_link *link, __rte_unused uint16_t queue,
		__rte_unused struct rte_mbuf **pkts, __rte_unused uint16_t n)
{
	return 0;
}

static void keep(struct rte_mbuf *m)
{
	uint8_t *data;

	if (rf.n_out == RF_OUT_MAX) {
		rf.lost++;
		return;
	}
	data = malloc(m->pkt_len);
	require(data != NULL, "copy of a frame");
	sl_pkt_copy(m, 0, m->pkt_len, data);
	rf.out[rf.n_out++] = (struct rf_frame){ sl_pkt(m)->out_port, m->pkt_len, data };
}

static uint16_t link_tx(__rte_unused struct sl_link *link, __rte_unused uint16_t queue,
		struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		keep(pkts[i]);
		rte_pktmbuf_free(pkts[i]);
	}
	return n;
}

static void link_close(struct sl_link *link)
{
	free(link);
}

static const struct sl_link_ops link_ops = {
	.kind = "fixture",
	.rx = link_rx,
	.tx = link_tx,
	.close = link_close,
};

static struct sl_link *make_link(void)
{
	struct rf_link *l = calloc(1, sizeof(*l));

	require(l != NULL, "link");
	l->link.ops = &link_ops;
	l->link.n_rxq = 1;
	l->link.n_txq = (uint16_t)rf.r->n_workers;
	atomic_store(&l->link.up, true);
	return &l->link;
}

static const struct {
	const char *name;
	const char *addresses[2];
	const char *neighbours[2];
	uint16_t mtu, vlan;
} ports[] = {
	{ "wan", { "192.0.2.1/24", "2001:db8::1/64" }, { "192.0.2.2", "2001:db8::2" }, 1500, 0 },
	{ "lan", { "198.51.100.1/24", "2001:db8:1::1/64" }, { "198.51.100.2", "2001:db8:1::2" },
			9000, 0 },
	{ "tag", { "203.0.113.1/24", "2001:db8:5::1/64" }, { "203.0.113.2", "2001:db8:5::2" }, 1500,
			5 },
};

#define N_PORTS RTE_DIM(ports)

void rf_apply(const struct sl_stage_spec *specs, unsigned int n_specs)
{
	static struct sl_port_conf pc[N_PORTS];
	static struct sl_prefix addresses[N_PORTS][2];
	static struct sl_mark marks[2];
	static struct sl_neigh_conf nc[2 * N_PORTS];
	static struct sl_via_conf via[2];
	static struct sl_route_conf routes[2];
	struct sl_conf conf = { .path = "fixture",
		.n_workers = rf.r->n_workers,
		.ports = pc,
		.n_ports = N_PORTS,
		.neighbours = nc,
		.n_neighbours = 2 * N_PORTS,
		.routes = routes,
		.n_routes = 2 };
	char err[256] = "";

	for (unsigned int i = 0; i < N_PORTS; i++) {
		for (unsigned int f = 0; f < 2; f++) {
			struct sl_neigh_conf *n = &nc[2 * i + f];

			sl_prefix_parse(ports[i].addresses[f], &addresses[i][f]);
			n->family = (uint8_t)sl_addr_parse(ports[i].neighbours[f], &n->ip);
			n->mac = (struct rte_ether_addr){ { 2, 0, 0, 0, (uint8_t)(i + 1), 2 } };
			n->port = ports[i].name;
		}
		pc[i] = (struct sl_port_conf){ .name = ports[i].name,
			.addresses = addresses[i],
			.addresses_at = marks,
			.n_addresses = 2,
			.mtu = ports[i].mtu,
			.vlan = ports[i].vlan };
	}
	for (unsigned int f = 0; f < 2; f++) {
		via[f] = (struct sl_via_conf){ .has_gateway = true, .weight = 1 };
		sl_addr_parse(ports[0].neighbours[f], &via[f].gateway);
		routes[f] = (struct sl_route_conf){
			.table = SL_TABLE_MAIN, .via = &via[f], .n_via = 1
		};
		sl_prefix_parse(f == 0 ? "0.0.0.0/0" : "::/0", &routes[f].to);
	}
	require(sl_router_apply(rf.r, &conf, specs, n_specs, err, sizeof(err)) == 0, err);
}

static void set_clock(uint64_t now_ns)
{
	for (unsigned int i = 0; i < rf.r->n_workers; i++) {
		rf.r->workers[i]->now_ns = now_ns;
		rf.r->workers[i]->wall_ns = now_ns;
	}
}

void rf_settle(void)
{
	unsigned int moved;

	do {
		moved = 0;
		for (unsigned int i = 0; i < rf.r->n_workers; i++)
			moved += sl_worker_poll(rf.r->workers[i]);
	} while (moved > 0);
}

static void stop(void)
{
	rf_clear();
	sl_router_free(rf.r);
	rte_mempool_free(rf.pool);
	rte_eal_cleanup();
}

void rf_start(unsigned int n_workers)
{
	static char args[][20] = { "rf", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
		"-m", "256", "--log-level=error" };
	char *argv[RTE_DIM(args) + 1] = { NULL };
	struct sl_link *wan, *lan;

	for (unsigned int i = 0; i < RTE_DIM(args); i++)
		argv[i] = args[i];
	require(rte_eal_init((int)RTE_DIM(args), argv) >= 0, "EAL");
	rf.pool = sl_pool_create("fixture", 8191, 2048);
	require(rf.pool != NULL, "pool");
	require(sl_router_create(rf.pool, n_workers, &rf.r) == 0, "router");
	sl_router_fix(rf.r);
	wan = make_link();
	lan = make_link();
	for (unsigned int i = 0; i < N_PORTS; i++) {
		struct rte_ether_addr mac = { { 2, 0, 0, 0, (uint8_t)(i + 1), 1 } };

		require(sl_router_add_port(rf.r, ports[i].name, i == 0 ? wan : lan, &mac,
					ports[i].mtu, ports[i].vlan)
						== (int)i + 1,
				"port");
	}
	rf_apply(NULL, 0);
	set_clock(1000000000000ULL);
	rf_settle();
	atexit(stop);
	buffers_at_start = rte_mempool_in_use_count(rf.pool);
}

struct rte_mbuf *rf_mbuf(const void *frame, uint32_t len, uint32_t segment)
{
	struct rte_mbuf *head = NULL, *last = NULL;
	const uint8_t *from = frame;

	do {
		struct rte_mbuf *m = rte_pktmbuf_alloc(rf.pool);
		uint32_t n;

		require(m != NULL, "buffer");
		n = RTE_MIN(len, (uint32_t)rte_pktmbuf_tailroom(m));
		if (segment > 0)
			n = RTE_MIN(n, segment);
		memcpy(rte_pktmbuf_append(m, (uint16_t)n), from, n);
		from += n;
		len -= n;
		if (head == NULL || last == NULL) {
			head = m;
		} else {
			last->next = m;
			head->nb_segs++;
			head->pkt_len += n;
		}
		last = m;
	} while (len > 0);
	return head;
}

void rf_in_at(unsigned int worker, uint16_t port, const void *frame, uint32_t len, uint32_t segment)
{
	struct rte_mbuf *m = rf_mbuf(frame, len, segment);
	struct sl_worker *w = rf.r->workers[worker];

	sl_worker_begin(w);
	sl_pipeline_rx(w, rf.r->ports[port].link->home, &m, 1);
	sl_pipeline_flush(w);
}

void rf_in(uint16_t port, const void *frame, uint32_t len, uint32_t segment)
{
	rf_in_at(0, port, frame, len, segment);
	rf_settle();
}

void rf_pass(uint64_t ns)
{
	const uint64_t step = 4000000;
	uint64_t now = rf.r->workers[0]->now_ns, end = now + ns;

	for (; now + step < end; now += step) {
		set_clock(now + step);
		rf_settle();
	}
	set_clock(end);
	rf_settle();
}

void rf_jump(uint64_t ns)
{
	set_clock(rf.r->workers[0]->now_ns + ns);
	rf_settle();
}

void rf_clear(void)
{
	for (unsigned int i = 0; i < rf.n_out; i++)
		free((void *)(uintptr_t)rf.out[i].data);
	rf.n_out = 0;
	rf.lost = 0;
}

bool rf_is_whole(void)
{
	uint64_t rx, accounted;

	sl_router_drain(rf.r);
	return sl_router_balance(rf.r, &rx, &accounted) == 0
			&& rte_mempool_in_use_count(rf.pool) == buffers_at_start;
}

/* ---- frames --------------------------------------------------------------------------------- */

static uint32_t build4(const struct rf_ip *in, const uint8_t *src, const uint8_t *dst, uint8_t *at)
{
	struct rte_ipv4_hdr ip = {
		.version_ihl = 0x45,
		.total_length = rte_cpu_to_be_16((uint16_t)(sizeof(ip) + in->len)),
		.packet_id = rte_cpu_to_be_16(in->id),
		.fragment_offset = rte_cpu_to_be_16(in->frag),
		.time_to_live = in->ttl == 0 ? 64 : in->ttl,
		.next_proto_id = in->proto,
	};

	memcpy(&ip.src_addr, src, 4);
	memcpy(&ip.dst_addr, dst, 4);
	ip.hdr_checksum = rte_ipv4_cksum(&ip);
	memcpy(at, &ip, sizeof(ip));
	memcpy(at + sizeof(ip), in->payload, in->len);
	return (uint32_t)sizeof(ip) + in->len;
}

static uint32_t build6(const struct rf_ip *in, const uint8_t *src, const uint8_t *dst, uint8_t *at)
{
	uint32_t ext = in->has_frag_hdr ? 8 : 0;
	struct rte_ipv6_hdr ip = {
		.vtc_flow = RTE_BE32(6U << 28),
		.payload_len = rte_cpu_to_be_16((uint16_t)(in->len + ext)),
		.proto = in->has_frag_hdr ? 44 : in->proto,
		.hop_limits = in->ttl == 0 ? 64 : in->ttl,
	};
	const uint8_t frag[8] = { in->proto, 0, (uint8_t)(in->frag >> 8), (uint8_t)in->frag, 0, 0,
		(uint8_t)(in->id >> 8), (uint8_t)in->id };

	memcpy(&ip.src_addr, src, 16);
	memcpy(&ip.dst_addr, dst, 16);
	memcpy(at, &ip, sizeof(ip));
	memcpy(at + sizeof(ip), frag, ext);
	memcpy(at + sizeof(ip) + ext, in->payload, in->len);
	return (uint32_t)sizeof(ip) + ext + in->len;
}

uint32_t rf_build(const struct rf_ip *in, uint8_t *frame)
{
	struct sl_addr src, dst;
	enum sl_family family = sl_addr_parse(in->src, &src);
	const uint8_t tail[2] = { family == SL_AF_INET ? 0x08 : 0x86,
		family == SL_AF_INET ? 0x00 : 0xdd };
	uint32_t off = 0;

	require(sl_addr_parse(in->dst, &dst) == family && in->len < RF_FRAME_MAX - 100, "frame");
	memcpy(frame, rf.r->ports[in->port].mac.addr_bytes, 6);
	memcpy(frame + 6, (const uint8_t[]){ 2, 0, 0, 0, (uint8_t)in->port, 2 }, 6);
	if (in->port == RF_TAG) {
		memcpy(frame + 12, (const uint8_t[]){ 0x81, 0x00, 0, 5 }, 4);
		off = 4;
	}
	memcpy(frame + 12 + off, tail, 2);
	off += 14;
	return off
			+ (family == SL_AF_INET ? build4(in, src.b, dst.b, frame + off)
						: build6(in, src.b, dst.b, frame + off));
}

void rf_send(const struct rf_ip *in)
{
	uint8_t *frame = malloc(RF_FRAME_MAX);
	uint32_t len;

	require(frame != NULL, "frame");
	len = rf_build(in, frame);
	rf_in(in->port, frame, len, 0);
	free(frame);
}

void rf_seal(const struct rf_ip *in, void *payload, unsigned int csum_off)
{
	struct sl_addr src, dst;
	enum sl_family family = sl_addr_parse(in->src, &src);
	uint32_t sum = 0;
	uint8_t *p = payload;

	sl_addr_parse(in->dst, &dst);
	p[csum_off] = p[csum_off + 1] = 0;
	if (in->proto != IPPROTO_ICMP) {
		for (unsigned int i = 0; i < (family == SL_AF_INET ? 4U : 16U); i += 2)
			sum += (uint32_t)(src.b[i] << 8 | src.b[i + 1])
					+ (uint32_t)(dst.b[i] << 8 | dst.b[i + 1]);
		sum += in->proto + in->len;
	}
	for (uint32_t i = 0; i < in->len; i++)
		sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	p[csum_off] = (uint8_t)(~sum >> 8);
	p[csum_off + 1] = (uint8_t)~sum;
}
