/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/conntrack/proto_fixture.h"

#include "lib/ip.h"

#include <rte_eal.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <stdlib.h>

#define FRAME_MAX 4096
#define L3_OFF 14

struct fx fx;

static struct rte_mempool *pool;

/* the table's, of which there is none here */
void __wrap_ct_kill(struct ct_shard *s, struct ct_entry *e);
void __wrap_ct_kill(struct ct_shard *s, struct ct_entry *e)
{
	assert_ptr_equal(s, &fx.s);
	assert_ptr_equal(e, fx.e);
	assert_true(fx.there);
	fx.there = false;
}

int fx_group(__rte_unused void **state)
{
	static char args[][20] = { "fx", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
		"-m", "64", "--log-level=error" };
	char *argv[RTE_DIM(args) + 1] = { NULL };

	for (unsigned int i = 0; i < RTE_DIM(args); i++)
		argv[i] = args[i];
	if (rte_eal_init((int)RTE_DIM(args), argv) < 0)
		return -1;
	pool = rte_pktmbuf_pool_create("fx", 1023, 0, SL_PKT_PRIV_SIZE, 2048 + 128, SOCKET_ID_ANY);
	return pool == NULL ? -1 : 0;
}

int fx_setup(__rte_unused void **state)
{
	fx = (struct fx){ .family = SL_AF_INET, .verify = true };
	ct_conf_init(&fx.conf);
	fx.s.conf = &fx.conf;
	fx.s.now_ms = UINT32_MAX - 5000; /* the clock wraps in the middle of a test */
	fx.s.entries = aligned_alloc(64, sizeof(*fx.s.entries));
	fx.s.cold = aligned_alloc(64, sizeof(*fx.s.cold));
	if (fx.s.entries == NULL || fx.s.cold == NULL)
		return -1;
	memset(fx.s.cold, 0, sizeof(*fx.s.cold));
	fx.e = fx.s.entries;
	return 0;
}

int fx_teardown(__rte_unused void **state)
{
	free(fx.s.entries);
	free(fx.s.cold);
	return rte_mempool_avail_count(pool) == 1023 ? 0 : -1;
}

void fx_pass(uint32_t ms)
{
	fx.s.now_ms += ms;
}

static struct rte_mbuf *mbuf_of(const uint8_t *frame, uint32_t len)
{
	uint32_t piece = fx.split == 0 ? 2048 : fx.split;
	struct rte_mbuf *first = NULL;

	for (uint32_t off = 0; off < len || first == NULL; off += piece) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		uint32_t n = RTE_MIN(piece, len - off);
		void *at;

		assert_non_null(m);
		at = rte_pktmbuf_append(m, (uint16_t)n);
		assert_non_null(at);
		memcpy(at, frame + off, n);
		if (first == NULL)
			first = m;
		else
			assert_int_equal(rte_pktmbuf_chain(first, m), 0);
	}
	return first;
}

/* what the entry has been made of; only what protocols read */
static void make(enum fx_host from, const struct ct_pkt *c)
{
	uint8_t head[8] = { 0 };

	sl_pkt_copy(c->m, c->p->l4_off, sizeof(head), head);
	memset(fx.e, 0, sizeof(*fx.e));
	fx.e->orig.family = c->p->family;
	fx.e->orig.proto = c->p->proto;
	fx.e->orig.type = head[0];
	fx.e->created_ms = fx.s.now_ms;
	fx.origin = from;
	fx.there = true;
	fx.made++;
}

static enum fx_state track(enum fx_host from, struct ct_pkt *c)
{
	enum ct_verdict verdict = CT_REPEAT;

	if (!ct_proto_check(c))
		return FX_INVALID;
	while (verdict == CT_REPEAT) {
		if (fx.there && ct_is_expired(fx.e, fx.s.now_ms))
			fx.there = false;
		c->is_new = !fx.there;
		c->dir = fx.there && from != fx.origin ? CT_REPLY : CT_ORIGINAL;
		if (c->is_new) {
			make(from, c);
			if (!ct_proto_new(c, fx.e)) {
				fx.there = false;
				return FX_INVALID;
			}
		}
		verdict = ct_proto_packet(c, fx.e);
		assert_int_equal(fx.there, verdict != CT_REPEAT);
		if (c->is_new && verdict != CT_PASS && verdict != CT_PASS_KILLED)
			fx.there = false;
	}
	if (verdict == CT_DROP)
		return FX_DROP;
	if (verdict == CT_INVALID)
		return FX_INVALID;
	if (verdict == CT_PASS_KILLED)
		fx.there = false;
	else
		fx.e->status |= CT_CONFIRMED;
	if (c->dir == CT_REPLY)
		fx.e->status |= CT_SEEN_REPLY;
	return fx.e->status & CT_SEEN_REPLY ? FX_ESTABLISHED : FX_NEW;
}

enum fx_state fx_ip(enum fx_host from, const void *packet, uint32_t len)
{
	uint8_t frame[FRAME_MAX] = { 0 };
	struct ct_pkt c = { .s = &fx.s, .conf = &fx.conf, .verify = fx.verify };
	enum fx_state state;

	memcpy(frame + L3_OFF, packet, len);
	c.m = mbuf_of(frame, L3_OFF + len);
	c.p = sl_pkt(c.m);
	memset(c.p, 0, sizeof(*c.p));
	assert_true(sl_pkt_parse_ip(c.m, L3_OFF));
	state = track(from, &c);
	rte_pktmbuf_free(c.m);
	return state;
}

static void addresses(enum fx_host from, uint8_t *src, uint8_t *dst, unsigned int len)
{
	static const uint8_t host[2][16] = { { 10, 0, 1, 2 }, { 10, 0, 2, 2 } };

	memcpy(src, host[from], len);
	memcpy(dst, host[!from], len);
	if (len == 16) {
		src[0] = 0xfd;
		dst[0] = 0xfd;
	}
}

enum fx_state fx_l4(enum fx_host from, uint8_t proto, const void *l4, uint32_t len)
{
	uint8_t packet[FRAME_MAX - L3_OFF] = { 0 };
	struct rte_ipv4_hdr *ip4 = (void *)packet;
	struct rte_ipv6_hdr *ip6 = (void *)packet;
	uint32_t hdr = fx.family == SL_AF_INET ? sizeof(*ip4) : sizeof(*ip6);

	if (fx.family == SL_AF_INET) {
		ip4->version_ihl = 0x45;
		ip4->total_length = rte_cpu_to_be_16((uint16_t)(hdr + len));
		ip4->time_to_live = 64;
		ip4->next_proto_id = proto;
		addresses(from, (uint8_t *)&ip4->src_addr, (uint8_t *)&ip4->dst_addr, 4);
		ip4->hdr_checksum = rte_ipv4_cksum(ip4);
	} else {
		ip6->vtc_flow = RTE_BE32(0x60000000);
		ip6->payload_len = rte_cpu_to_be_16((uint16_t)len);
		ip6->hop_limits = 64;
		ip6->proto = proto;
		addresses(from, ip6->src_addr, ip6->dst_addr, 16);
	}
	memcpy(packet + hdr, l4, len);
	return fx_ip(from, packet, hdr + len);
}

void fx_seal(enum fx_host from, uint8_t proto, uint8_t *l4, uint32_t len, uint32_t covered,
		unsigned int at)
{
	struct sl_pkt p = { .family = (uint8_t)fx.family };
	uint32_t sum = 0;
	uint16_t csum;

	addresses(from, p.src.b, p.dst.b, fx.family == SL_AF_INET ? 4 : 16);
	memset(l4 + at, 0, sizeof(csum));
	if (proto != IPPROTO_ICMP)
		sum = sl_csum_pseudo(&p, proto, len);
	sum += rte_raw_cksum(l4, covered);
	csum = (uint16_t) ~((sum & 0xffff) + (sum >> 16));
	if (csum == 0 && proto != IPPROTO_ICMP)
		csum = 0xffff;
	if (fx.bad_csum)
		csum ^= RTE_BE16(1);
	memcpy(l4 + at, &csum, sizeof(csum));
}

static uint8_t flag_bits(const char *flags)
{
	static const char letters[] = "FSRPAUEC"; /* from bit 0 */
	uint8_t bits = 0;

	for (; *flags != '\0'; flags++) {
		const char *at = strchr(letters, *flags);

		assert_non_null(at);
		bits |= (uint8_t)(1U << (at - letters));
	}
	return bits;
}

enum fx_state fx_tcp(enum fx_host from, const struct fx_tcp *t)
{
	uint8_t l4[2048] = { 0 };
	struct rte_tcp_hdr *tcp = (void *)l4;
	uint32_t hdr = (uint32_t)sizeof(*tcp) + t->opt_len, len = hdr + t->len;
	uint16_t win = t->win == 0 && !t->no_win ? 1000 : t->win;

	assert_true(len <= sizeof(l4));
	tcp->src_port = from == A ? RTE_BE16(40000) : RTE_BE16(80);
	tcp->dst_port = from == A ? RTE_BE16(80) : RTE_BE16(40000);
	tcp->sent_seq = rte_cpu_to_be_32(t->seq);
	tcp->recv_ack = rte_cpu_to_be_32(t->ack);
	tcp->data_off = (uint8_t)(hdr / 4 << 4);
	tcp->tcp_flags = flag_bits(t->flags);
	tcp->rx_win = rte_cpu_to_be_16(win);
	if (t->opt_len > 0)
		memcpy(tcp + 1, t->opt, t->opt_len);
	fx_seal(from, IPPROTO_TCP, l4, len, len, offsetof(struct rte_tcp_hdr, cksum));
	return fx_l4(from, IPPROTO_TCP, l4, len);
}

enum fx_state fx_udp(enum fx_host from, uint32_t len)
{
	uint8_t l4[2048] = { 0 };
	struct rte_udp_hdr *udp = (void *)l4;

	len += (uint32_t)sizeof(*udp);
	assert_true(len <= sizeof(l4));
	udp->src_port = from == A ? RTE_BE16(40000) : RTE_BE16(53);
	udp->dst_port = from == A ? RTE_BE16(53) : RTE_BE16(40000);
	udp->dgram_len = rte_cpu_to_be_16((uint16_t)len);
	fx_seal(from, IPPROTO_UDP, l4, len, len, offsetof(struct rte_udp_hdr, dgram_cksum));
	return fx_l4(from, IPPROTO_UDP, l4, len);
}

const char *fx_tcp_state(void)
{
	return fx.there ? ct_proto_state(fx.e) : "gone";
}

unsigned int fx_time(void)
{
	return fx.there ? ct_seconds_left(fx.e, fx.s.now_ms) : 0;
}

bool fx_is(uint32_t status)
{
	return fx.there && (fx.e->status & status) == status;
}
