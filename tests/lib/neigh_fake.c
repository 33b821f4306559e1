/* SPDX-License-Identifier: BSD-3-Clause */
#include "neigh_fake.h"

#include "lib/builtin.h"
#include "lib/ip.h"

#include <rte_arp.h>
#include <rte_eal.h>
#include <rte_ip.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct fake fake;
static struct sl_prefix addr4[3][2], addr6[3][2];
static struct sl_stage_stats stats;
static unsigned int n_free;

/* ---- the edges of lib/ ---------------------------------------------------------------------- */

void __wrap_sl_worker_send(struct sl_worker *w, struct rte_mbuf *m);
void __wrap_sl_worker_send_bulk(
		struct sl_worker *w, uint16_t port, struct rte_mbuf **pkts, unsigned int n);
void __wrap_sl_worker_deliver(struct sl_worker *w, struct rte_mbuf *m);
void __wrap_sl_worker_originate(struct sl_worker *w, struct rte_mbuf *m);
void __wrap_sl_handoff(struct sl_worker *w, struct rte_mbuf *m, uint16_t to, enum sl_handoff kind);
void __wrap_sl_worker_call(
		struct sl_worker *w, void (*fn)(struct sl_worker *w, void *arg), void *arg);
uint32_t __wrap_sl_worker_random(struct sl_worker *w);
uint16_t __wrap_sl_router_port(const struct sl_router *r, const char *name);
bool __wrap_sl_icmp4_error(
		struct sl_worker *w, struct rte_mbuf *m, uint8_t type, uint8_t code, uint32_t info);
bool __wrap_sl_icmp6_error(
		struct sl_worker *w, struct rte_mbuf *m, uint8_t type, uint8_t code, uint32_t info);
unsigned int __wrap_sl_ip4_fragment(struct sl_worker *w, struct rte_mbuf *m, uint16_t mtu,
		struct rte_mbuf **out, unsigned int max);
const struct sl_nexthop *__wrap_sl_net_route(
		const struct sl_net *net, const struct sl_route_key *key);
bool __wrap_sl_net_is_local(const struct sl_net *net, enum sl_family family,
		const struct sl_addr *addr, uint16_t port);
bool __wrap_sl_net_is_broadcast4(const struct sl_net *net, rte_be32_t addr_be);
bool __wrap_sl_net_source(const struct sl_net *net, enum sl_family family,
		const struct sl_nexthop *nh, const struct sl_addr *dst, struct sl_addr *src);
enum sl_source_verdict __wrap_sl_net_validate_source4(const struct sl_net *net,
		const struct sl_pkt *p, const struct sl_nexthop *dst_nh, bool *onlink);
bool __wrap_sl_pkt_parse_ip(struct rte_mbuf *m, uint16_t l3_off);

void __wrap_sl_worker_send(struct sl_worker *w, struct rte_mbuf *m)
{
	assert_ptr_equal(w, fake.w);
	assert_true(fake.n_sent < FAKE_SENT_MAX);
	fake.sent[fake.n_sent++] = m;
}

void __wrap_sl_worker_send_bulk(
		struct sl_worker *w, uint16_t port, struct rte_mbuf **pkts, unsigned int n)
{
	assert_int_not_equal(n, 0);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(sl_pkt(pkts[i])->out_port, port);
		__wrap_sl_worker_send(w, pkts[i]);
	}
}

void __wrap_sl_worker_deliver(struct sl_worker *w, struct rte_mbuf *m)
{
	w->delivered[sl_pkt(m)->in_port]++;
	fake.n_delivered++;
	rte_pktmbuf_free(m);
}

void __wrap_sl_worker_originate(struct sl_worker *w, struct rte_mbuf *m)
{
	w->rx[SL_PORT_HOST]++;
	assert_int_equal(sl_pkt(m)->in_port, SL_PORT_HOST);
	assert_non_null(sl_pkt(m)->nh);
	assert_true(fake.n_output < FAKE_SENT_MAX);
	fake.output[fake.n_output++] = m;
}

void __wrap_sl_handoff(struct sl_worker *w, struct rte_mbuf *m, uint16_t to, enum sl_handoff kind)
{
	(void)w;
	fake.n_handed[kind]++;
	fake.handed_to = to;
	rte_pktmbuf_free(fake.handed);
	fake.handed = m;
}

void __wrap_sl_worker_call(
		struct sl_worker *w, void (*fn)(struct sl_worker *w, void *arg), void *arg)
{
	fn(w, arg);
}

/* the middle: reachable time is the base */
uint32_t __wrap_sl_worker_random(struct sl_worker *w)
{
	(void)w;
	return UINT32_MAX / 2 + 1;
}

uint16_t __wrap_sl_router_port(const struct sl_router *r, const char *name)
{
	for (uint16_t i = 1; i <= r->n_ports; i++) {
		if (strcmp(r->ports[i].name, name) == 0)
			return i;
	}
	return 0;
}

bool __wrap_sl_icmp4_error(
		struct sl_worker *w, struct rte_mbuf *m, uint8_t type, uint8_t code, uint32_t info)
{
	(void)w;
	assert_int_equal(sl_pkt(m)->family, SL_AF_INET);
	assert_int_equal(info, 0);
	fake.n_icmp4++;
	fake.icmp_type = type;
	fake.icmp_code = code;
	return true;
}

bool __wrap_sl_icmp6_error(
		struct sl_worker *w, struct rte_mbuf *m, uint8_t type, uint8_t code, uint32_t info)
{
	(void)w;
	assert_int_equal(sl_pkt(m)->family, SL_AF_INET6);
	assert_int_equal(info, 0);
	fake.n_icmp6++;
	fake.icmp_type = type;
	fake.icmp_code = code;
	return true;
}

/* two pieces: the packet itself, and a copy */
unsigned int __wrap_sl_ip4_fragment(struct sl_worker *w, struct rte_mbuf *m, uint16_t mtu,
		struct rte_mbuf **out, unsigned int max)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, w->r->pool, 0, UINT32_MAX);

	assert_non_null(copy);
	assert_true(max >= 1366);
	*sl_pkt(copy) = *sl_pkt(m);
	sl_pkt(m)->l3_len = mtu;
	out[0] = m;
	out[1] = copy;
	fake.n_fragmented++;
	return 2;
}

const struct sl_nexthop *__wrap_sl_net_route(
		const struct sl_net *net, const struct sl_route_key *key)
{
	if (__wrap_sl_net_is_local(net, key->family, &key->dst, key->in_port))
		return &fake.local;
	for (unsigned int i = 1; i <= 2; i++) {
		if (sl_prefix_contains(&addr4[i][0], &key->dst))
			return &fake.direct[i];
	}
	return NULL;
}

bool __wrap_sl_net_is_local(const struct sl_net *net, enum sl_family family,
		const struct sl_addr *addr, uint16_t port)
{
	(void)port;
	assert_int_equal(family, SL_AF_INET);
	for (unsigned int i = 1; i <= 2; i++) {
		for (unsigned int k = 0; k < net->ports[i].n_addr4; k++) {
			if (sl_addr_eq(&net->ports[i].addr4[k].addr, addr))
				return true;
		}
	}
	return false;
}

bool __wrap_sl_net_is_broadcast4(const struct sl_net *net, rte_be32_t addr_be)
{
	(void)net;
	return (addr_be & RTE_BE32(0xff)) == RTE_BE32(0xff);
}

bool __wrap_sl_net_source(const struct sl_net *net, enum sl_family family,
		const struct sl_nexthop *nh, const struct sl_addr *dst, struct sl_addr *src)
{
	assert_int_equal(family, SL_AF_INET6);
	/* by scope */
	*src = net->ports[nh->port].addr6[dst->b[0] == 0xfd].addr;
	return true;
}

/* a source of our own is a martian */
enum sl_source_verdict __wrap_sl_net_validate_source4(const struct sl_net *net,
		const struct sl_pkt *p, const struct sl_nexthop *dst_nh, bool *onlink)
{
	assert_non_null(dst_nh);
	*onlink = true;
	return __wrap_sl_net_is_local(net, SL_AF_INET, &p->src, p->in_port) ? SL_SOURCE_MARTIAN
									    : SL_SOURCE_OK;
}

bool __wrap_sl_pkt_parse_ip(struct rte_mbuf *m, uint16_t l3_off)
{
	struct sl_pkt *p = sl_pkt(m);
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, l3_off);

	memset(p, 0, sizeof(*p));
	p->l3_off = l3_off;
	p->l3_len = m->pkt_len - l3_off;
	p->family = ip[0] >> 4;
	if (p->family == SL_AF_INET6) {
		memcpy(&p->src, ip + 8, 16);
		memcpy(&p->dst, ip + 24, 16);
		p->proto = ip[6];
		p->l4_off = (uint16_t)(l3_off + 40);
	} else {
		memcpy(&p->src, ip + 12, 4);
		memcpy(&p->dst, ip + 16, 4);
		p->proto = ip[9];
		p->l4_off = (uint16_t)(l3_off + 20);
	}
	p->flags = SL_PKT_L4;
	return true;
}

/* ---- set-up --------------------------------------------------------------------------------- */

void fake_eal(void)
{
	static char args[][20] = { "neigh", "--no-huge", "--no-shconf", "--no-pci",
		"--no-telemetry", "-m", "64", "--log-level=error" };
	char *argv[RTE_DIM(args) + 1] = { NULL };

	for (unsigned int i = 0; i < RTE_DIM(args); i++)
		argv[i] = args[i];
	if (rte_eal_init(RTE_DIM(args), argv) < 0)
		exit(1);
	fake.r.pool = rte_pktmbuf_pool_create("neigh", 8191, 0, SL_PKT_PRIV_SIZE, 2048, 0);
	fake.r.rcu = aligned_alloc(64, RTE_ALIGN(rte_rcu_qsbr_get_memsize(1), 64));
	fake.w = aligned_alloc(64, sizeof(*fake.w));
	if (fake.r.pool == NULL || fake.r.rcu == NULL || fake.w == NULL)
		exit(1);
	rte_rcu_qsbr_init(fake.r.rcu, 1);
}

struct sl_addr fake_addr(const char *text)
{
	struct sl_addr addr;

	assert_int_not_equal(sl_addr_parse(text, &addr), SL_AF_NONE);
	return addr;
}

static void set_port(uint16_t id)
{
	struct sl_net_port *np = &fake.net.ports[id];
	char text[SL_ADDR_STRLEN];

	snprintf(fake.r.ports[id].name, SL_PORT_NAME_MAX, "p%u", id);
	fake.r.ports[id].id = id;
	fake.r.ports[id].mtu = 1500;
	fake.r.ports[id].mac = (struct rte_ether_addr){ { 2, 0, 0, 0, (uint8_t)id, 1 } };
	snprintf(text, sizeof(text), "10.0.%u.1/24", id);
	sl_prefix_parse(text, &addr4[id][0]);
	sl_prefix_parse("10.0.9.1/24", &addr4[id][1]);
	snprintf(text, sizeof(text), "fe80::ff:fe00:%u01/64", id);
	sl_prefix_parse(text, &addr6[id][0]);
	snprintf(text, sizeof(text), "fd0%u::1/64", id);
	sl_prefix_parse(text, &addr6[id][1]);
	np->n_addr4 = id == 1 ? 2 : 1;
	np->addr4 = addr4[id];
	np->n_addr6 = 2;
	np->addr6 = addr6[id];
#define X(field, family, name, def, min, max, combine) np->sysctl.field = def;
	SL_SYSCTL_PORT(X)
#undef X
	fake.direct[id] = (struct sl_nexthop){
		.type = SL_ROUTE_UNICAST, .port = id, .mtu = 1500, .n_paths = 1
	};
}

void fake_start(uint64_t now_ns)
{
	memset(fake.w, 0, sizeof(*fake.w));
	memset(&fake.net, 0, sizeof(fake.net));
	fake.w->r = &fake.r;
	fake.w->now_ns = now_ns;
	fake.w->net = &fake.net;
	fake.w->stage = &stats;
	fake.r.n_workers = 1;
	fake.r.workers[0] = fake.w;
	fake.r.n_ports = 2;
#define X(field, name, def, min, max) fake.net.sysctl.field = def;
	SL_SYSCTL_GLOBAL(X)
#undef X
	set_port(1);
	set_port(2);
	fake.local = (struct sl_nexthop){ .type = SL_ROUTE_LOCAL, .port = 1, .mtu = UINT16_MAX };
	memset(fake.n_handed, 0, sizeof(fake.n_handed));
	n_free = rte_mempool_avail_count(fake.r.pool);
	assert_int_equal(sl_neigh_table_create(&fake.r, &fake.r.neigh), 0);
	fake_reset();
}

void fake_reset(void)
{
	rte_pktmbuf_free_bulk(fake.sent, fake.n_sent);
	rte_pktmbuf_free_bulk(fake.output, fake.n_output);
	rte_pktmbuf_free(fake.handed);
	fake.handed = NULL;
	fake.n_sent = 0;
	fake.n_output = 0;
	fake.n_icmp4 = 0;
	fake.n_icmp6 = 0;
	fake.n_delivered = 0;
	fake.n_fragmented = 0;
}

void fake_stop(void)
{
	sl_neigh_flush(fake.w);
	for (unsigned int i = 0; i < SL_PORTS_MAX; i++)
		assert_int_equal(fake.w->held[i], 0);
	fake_reset();
	sl_neigh_table_free(fake.r.neigh);
	assert_int_equal(rte_mempool_avail_count(fake.r.pool), n_free);
}

void fake_flush(void)
{
	struct rte_mbuf *pkts[SL_BURST];

	while (fake.n_output > 0) {
		unsigned int n = RTE_MIN(fake.n_output, (unsigned int)SL_BURST);

		memcpy(pkts, fake.output, n * sizeof(pkts[0]));
		memmove(fake.output, fake.output + n, (fake.n_output - n) * sizeof(fake.output[0]));
		fake.n_output -= n;
		assert_int_equal(sl_stage_neighbour.process(fake.w, NULL, pkts, n), 0);
	}
}

void fake_run(uint64_t ns)
{
	uint64_t end = fake.w->now_ns + ns;

	for (;;) {
		uint64_t next;

		sl_neigh_tick(fake.w);
		fake_flush();
		next = sl_neigh_next_ns(fake.r.neigh);
		if (next > end)
			break;
		fake.w->now_ns = RTE_MAX(next, fake.w->now_ns);
	}
	fake.w->now_ns = end;
	sl_neigh_tick(fake.w);
	fake_flush();
}

/* ---- packets -------------------------------------------------------------------------------- */

/* @len zeros behind what is there */
static uint8_t *extend(struct rte_mbuf *m, uint16_t len)
{
	void *at = m != NULL ? rte_pktmbuf_append(m, len) : NULL;

	if (at == NULL)
		abort();
	return memset(at, 0, len);
}

struct rte_mbuf *fake_packet(const char *src, const char *via, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(fake.r.pool);
	struct sl_pkt *p = sl_pkt(m);
	struct sl_addr from, to;
	enum sl_family family = sl_addr_parse(src, &from);
	uint8_t *ip;

	to = fake_addr(via);
	ip = extend(m, (uint16_t)(RTE_ETHER_HDR_LEN + len)) + RTE_ETHER_HDR_LEN;
	ip[0] = (uint8_t)(family << 4 | 5);
	memcpy(ip + (family == SL_AF_INET ? 12 : 8), &from, family == SL_AF_INET ? 4 : 16);
	memcpy(ip + (family == SL_AF_INET ? 16 : 24), &to, family == SL_AF_INET ? 4 : 16);
	__wrap_sl_pkt_parse_ip(m, RTE_ETHER_HDR_LEN);
	p->in_port = 1;
	p->out_port = 2;
	p->via = to;
	p->nh = &fake.direct[2];
	return m;
}

void fake_forward(struct rte_mbuf *m)
{
	assert_int_equal(sl_stage_neighbour.process(fake.w, NULL, &m, 1), 0);
}

struct rte_mbuf *fake_frame(uint16_t port, uint16_t type, const void *data, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(fake.r.pool);
	struct rte_ether_hdr *eth;
	struct sl_pkt *p;

	eth = (void *)extend(m, (uint16_t)(sizeof(*eth) + len));
	eth->ether_type = rte_cpu_to_be_16(type);
	memcpy(eth + 1, data, len);
	p = sl_pkt(m);
	memset(p, 0, sizeof(*p));
	p->in_port = port;
	p->l3_off = RTE_ETHER_HDR_LEN;
	return m;
}

void fake_mac(const char *text, uint8_t *mac)
{
	struct rte_ether_addr addr;

	assert_int_equal(rte_ether_unformat_addr(text, &addr), 0);
	memcpy(mac, &addr, sizeof(addr));
}

void fake_arp(uint16_t port, bool request, bool broadcast, const char *sip, const char *sha,
		const char *tip, const char *tha)
{
	struct rte_arp_hdr arp = {
		.arp_hardware = RTE_BE16(1),
		.arp_protocol = RTE_BE16(0x0800),
		.arp_hlen = 6,
		.arp_plen = 4,
		.arp_opcode = request ? RTE_BE16(1) : RTE_BE16(2),
	};
	struct rte_mbuf *m;

	arp.arp_data.arp_sip = fake_addr(sip).v4;
	arp.arp_data.arp_tip = fake_addr(tip).v4;
	fake_mac(sha, arp.arp_data.arp_sha.addr_bytes);
	fake_mac(tha, arp.arp_data.arp_tha.addr_bytes);
	m = fake_frame(port, RTE_ETHER_TYPE_ARP, &arp, sizeof(arp));
	if (broadcast)
		sl_pkt(m)->flags |= SL_PKT_LINK_BCAST;
	sl_neigh_rx_arp(fake.w, m);
}

struct rte_mbuf *fake_nd(uint16_t port, uint8_t type, const char *src, const char *dst,
		const char *target, uint8_t flags, const void *opt, uint16_t opt_len)
{
	uint8_t buf[512] = { 0x60 };
	struct rte_ipv6_hdr *ip = (void *)buf;
	uint8_t *icmp = buf + sizeof(*ip);
	/* RS has 8 bytes, RA 16, NS and NA 24 */
	uint16_t fixed = type == 133 ? 8 : type == 134 ? 16 : 24;
	struct sl_addr from = fake_addr(src), to = fake_addr(dst), what = fake_addr(target);
	struct rte_mbuf *m;
	uint16_t sum;

	ip->payload_len = rte_cpu_to_be_16((uint16_t)(fixed + opt_len));
	ip->proto = 58;
	ip->hop_limits = 255;
	memcpy(ip->src_addr, &from, 16);
	memcpy(ip->dst_addr, &to, 16);
	icmp[0] = type;
	icmp[4] = flags;
	if (fixed == 24)
		memcpy(icmp + 8, &what, 16);
	if (opt_len > 0)
		memcpy(icmp + fixed, opt, opt_len);
	sum = rte_ipv6_udptcp_cksum(ip, icmp);
	memcpy(icmp + 2, &sum, sizeof(sum));
	m = fake_frame(port, RTE_ETHER_TYPE_IPV6, buf, (uint16_t)(sizeof(*ip) + fixed + opt_len));
	__wrap_sl_pkt_parse_ip(m, RTE_ETHER_HDR_LEN);
	sl_pkt(m)->in_port = port;
	return m;
}

enum sl_neigh_state fake_state(uint16_t port, const char *addr)
{
	static struct sl_neigh_info info[4096];
	unsigned int n = sl_neigh_list(&fake.r, info, RTE_DIM(info));
	struct sl_addr a = fake_addr(addr);

	assert_true(n <= RTE_DIM(info));
	for (unsigned int i = 0; i < n; i++) {
		if (info[i].port == port && sl_addr_eq(&info[i].addr, &a))
			return info[i].state;
	}
	return SL_NEIGH_NONE;
}

unsigned int fake_drops(enum sl_drop_reason reason)
{
	return (unsigned int)(fake.w->drops[0][reason] + fake.w->drops[1][reason]
			+ fake.w->drops[2][reason]);
}

void fake_assert_frame(unsigned int i, const char *hex)
{
	const uint8_t *found;
	unsigned int n = 0;

	assert_true(i < fake.n_sent);
	found = rte_pktmbuf_mtod(fake.sent[i], const uint8_t *);
	while (*hex != '\0') {
		unsigned int byte;

		if (*hex == ' ') {
			hex++;
			continue;
		}
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		assert_true(n < fake.sent[i]->pkt_len);
		assert_int_equal(found[n++], byte);
		hex += 2;
	}
	assert_int_equal(n, fake.sent[i]->pkt_len);
}
