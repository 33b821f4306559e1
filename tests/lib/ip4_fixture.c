/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/lib/ip4_fixture.h"

#include "lib/builtin.h"
#include "lib/neigh.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ip.h>
#include <rte_malloc.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct fx fx;
static struct rte_mempool *pool;

/* the edges: worker, neighbours, IPv6, reassembly */

void sl_worker_deliver(struct sl_worker *w, struct rte_mbuf *m)
{
	w->delivered[sl_pkt(m)->in_port]++;
	rte_pktmbuf_free(m);
}

void sl_worker_to_host(struct sl_worker *w, struct rte_mbuf *m)
{
	sl_host4_rx(w, m);
}

static void keep(struct rte_mbuf *m)
{
	assert_true(fx.n_out < FX_OUT_MAX);
	fx.w->forwarded[sl_pkt(m)->in_port]++;
	fx.out[fx.n_out++] = m;
}

void sl_worker_originate(struct sl_worker *w, struct rte_mbuf *m)
{
	sl_pkt(m)->in_port = SL_PORT_HOST;
	w->rx[SL_PORT_HOST]++;
	keep(m);
}

void sl_handoff(struct sl_worker *w, struct rte_mbuf *m, uint16_t to, enum sl_handoff kind)
{
	assert_int_equal(to, 0);
	assert_int_equal(kind, SL_HANDOFF_ARP);
	fx.handed++;
	sl_worker_deliver(w, m);
}

void sl_neigh_rx_arp(struct sl_worker *w, struct rte_mbuf *m)
{
	fx.arp++;
	sl_worker_deliver(w, m);
}

uint32_t sl_worker_random(struct sl_worker *w)
{
	return w->rand_state[0]++ * 2654435761U;
}

bool sl_parse6(struct sl_worker *w, struct rte_mbuf *m)
{
	fx.taken6++;
	sl_worker_deliver(w, m);
	return false;
}

bool sl_parse6_fill(struct rte_mbuf *m, uint16_t l3_off)
{
	sl_pkt(m)->family = SL_AF_INET6;
	return m->pkt_len >= l3_off + sizeof(struct rte_ipv6_hdr);
}

bool sl_ip6_input(struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh)
{
	(void)nh;
	sl_worker_deliver(w, m);
	return false;
}

bool sl_ip6_forward(struct sl_worker *w, struct rte_mbuf *m)
{
	sl_worker_deliver(w, m);
	return false;
}

int fx_group_setup(void **state)
{
	static char args[][20] = { "fx", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
		"-m", "64", "--log-level=error" };
	char *argv[RTE_DIM(args)];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(args); i++)
		argv[i] = args[i];
	if (rte_eal_init(RTE_DIM(args), argv) < 0)
		return -1;
	pool = rte_pktmbuf_pool_create(
			"fx", 1023, 0, SL_PKT_PRIV_SIZE, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	return pool == NULL ? -1 : 0;
}

void fx_begin(void)
{
	struct sl_router *r;

	memset(&fx, 0, sizeof(fx));
	fixture_init(&fx.net);
	r = &fx.net.r;
	r->pool = pool;
	for (unsigned int i = 1; i <= 3; i++) {
		struct sl_port *p = &r->ports[i];
		struct sl_link *link = &fx.links[i == DMZ ? WAN : i];

		p->mac.addr_bytes[0] = 2;
		p->mac.addr_bytes[5] = (uint8_t)i;
		p->link = link;
	}
	r->ports[DMZ].mtu = 132;
	r->ports[DMZ].vlan = 7;
	fx.links[WAN].port = WAN;
	fx.links[LAN].port = LAN;
	fx.vlan_port[7] = DMZ;
	fx.links[WAN].vlan_port = fx.vlan_port;
	fixture_address(&fx.net, WAN, "10.0.1.1/24");
	fixture_address(&fx.net, LAN, "10.0.2.1/24");
	fixture_address(&fx.net, DMZ, "10.0.3.1/24");
	fx.net.ports[DMZ - 1].mtu = 132;
	fixture_route(&fx.net, "192.0.2.0/24", "10.0.1.2");
	fixture_route(&fx.net, "198.51.100.0/24", "10.0.2.2");
	fixture_route(&fx.net, "198.51.101.0/24", "10.0.3.2");
	fixture_route(&fx.net, "203.0.113.0/24", NULL)->type = SL_ROUTE_UNREACHABLE;
	fixture_route(&fx.net, "203.0.114.0/24", NULL)->type = SL_ROUTE_PROHIBIT;
	fixture_route(&fx.net, "203.0.115.0/24", NULL)->type = SL_ROUTE_BLACKHOLE;
}

void fx_build(void)
{
	fx.w = rte_zmalloc(NULL, sizeof(*fx.w), RTE_CACHE_LINE_SIZE);
	assert_non_null(fx.w);
	if (fixture_build(&fx.net) != 0)
		fail_msg("%s", fx.net.err);
	assert_int_equal(sl_icmp_limits_create(&fx.net.r.icmp_limits), 0);
	fx.w->r = &fx.net.r;
	fx.w->net = fx.net.net;
	fx.w->stage = &fx.w->outside;
	fx.w->now_ns = 1000000000;
	/* 12:34:56.789 */
	fx.w->wall_ns = 1700000000000000000 / 86400000000000 * 86400000000000 + 45296789000000;
}

int fx_setup(void **state)
{
	(void)state;
	fx_begin();
	fx_build();
	return 0;
}

int fx_teardown(void **state)
{
	(void)state;
	fx_reset();
	fx_assert_balance();
	sl_icmp_limits_free(fx.net.r.icmp_limits);
	fixture_free(&fx.net);
	rte_free(fx.w);
	return 0;
}

uint32_t fx_frame(uint16_t port, const struct fx_ip *s, uint8_t *frame)
{
	struct rte_ether_hdr *eth = (void *)frame;
	struct rte_ipv4_hdr *ip = (void *)(eth + 1);
	uint16_t hdr_len = (uint16_t)(sizeof(*ip) + s->opt_len);
	uint8_t *data = (uint8_t *)ip + hdr_len;

	memset(frame, 0, sizeof(*eth) + hdr_len);
	eth->dst_addr = fx.net.r.ports[port].mac;
	eth->src_addr.addr_bytes[0] = 2;
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = (uint8_t)(0x40 | hdr_len / 4);
	ip->type_of_service = s->tos;
	ip->total_length = rte_cpu_to_be_16((uint16_t)(hdr_len + s->len));
	ip->packet_id = RTE_BE16(0x1234);
	ip->fragment_offset = rte_cpu_to_be_16(s->frag);
	ip->time_to_live = s->ttl == 0 && !s->ttl_zero ? 64 : s->ttl;
	ip->next_proto_id = s->proto == 0 ? 17 : s->proto;
	ip->src_addr = addr_of(s->src == NULL ? "192.0.2.7" : s->src).v4;
	ip->dst_addr = addr_of(s->dst == NULL ? "198.51.100.7" : s->dst).v4;
	if (s->opt_len > 0)
		memcpy(ip + 1, s->opt, s->opt_len);
	ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, hdr_len);
	for (unsigned int i = 0; i < s->len; i++)
		data[i] = s->data == NULL ? (uint8_t)i : ((const uint8_t *)s->data)[i];
	return (uint32_t)sizeof(*eth) + hdr_len + s->len;
}

struct rte_mbuf *fx_mbuf(uint16_t port, const void *frame, uint32_t len, uint32_t split)
{
	struct rte_mbuf *m = NULL;

	for (uint32_t off = 0; m == NULL || off < len;) {
		struct rte_mbuf *seg = rte_pktmbuf_alloc(pool);
		uint32_t n = split == 0 ? len - off : RTE_MIN(split, len - off);

		assert_non_null(seg);
		memcpy(rte_pktmbuf_append(seg, (uint16_t)n), (const uint8_t *)frame + off, n);
		off += n;
		if (m == NULL)
			m = seg;
		else
			assert_int_equal(rte_pktmbuf_chain(m, seg), 0);
	}
	memset(sl_pkt(m), 0, sizeof(struct sl_pkt));
	sl_pkt(m)->in_port = port;
	sl_pkt(m)->out_port = SL_PORT_NONE;
	return m;
}

static void transmit(struct rte_mbuf *m)
{
	struct rte_mbuf *frags[64];
	const struct sl_pkt *p = sl_pkt(m);
	uint16_t mtu = fx.net.r.ports[p->out_port].mtu;
	unsigned int n = 1;

	frags[0] = m;
	if (p->l3_len > mtu)
		n = sl_ip4_fragment(fx.w, m, mtu, frags, RTE_DIM(frags));
	for (unsigned int i = 0; i < n; i++)
		keep(frags[i]);
}

unsigned int fx_rx(uint16_t port, struct rte_mbuf *m)
{
	unsigned int before = fx.n_out;

	fx.w->rx[port]++;
	fx.w->rx_bytes[port] += m->pkt_len;
	if (sl_parse_batch(fx.w, &m, 1) == 1 && sl_stage_route.process(fx.w, NULL, &m, 1) == 1
			&& sl_forward_batch(fx.w, &m, 1) == 1)
		transmit(m);
	return fx.n_out - before;
}

unsigned int fx_send(uint16_t port, const struct fx_ip *ip)
{
	uint8_t frame[1700];

	return fx_rx(port, fx_mbuf(port, frame, fx_frame(port, ip, frame), 0));
}

void fx_reset(void)
{
	rte_pktmbuf_free_bulk(fx.out, fx.n_out);
	fx.n_out = 0;
}

const uint8_t *fx_ip_of(unsigned int i, uint32_t *len)
{
	static uint8_t copy[2][2048];
	uint8_t *buf = copy[i & 1];

	assert_true(i < fx.n_out);
	*len = fx.out[i]->pkt_len - sl_pkt(fx.out[i])->l3_off;
	assert_true(*len <= sizeof(copy[0]));
	assert_true(sl_pkt_copy(fx.out[i], sl_pkt(fx.out[i])->l3_off, *len, buf));
	return buf;
}

uint64_t fx_drops(enum sl_drop_reason reason)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < SL_PORTS_MAX; i++)
		n += fx.w->drops[i][reason];
	return n;
}

void fx_assert_balance(void)
{
	for (unsigned int i = 0; i < SL_PORTS_MAX; i++) {
		uint64_t ends = fx.w->forwarded[i] + fx.w->delivered[i];

		for (unsigned int r = 0; r < SL_DROP_NB; r++)
			ends += fx.w->drops[i][r];
		assert_int_equal(fx.w->rx[i], ends);
	}
	assert_int_equal(rte_mempool_avail_count(pool) + fx.n_out, 1023);
}
