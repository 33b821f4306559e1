/* SPDX-License-Identifier: BSD-3-Clause */
/* Rewritten packets have right checksums: by difference where they had them, none where they had none. */
#include "conntrack/nat.h"
#include "conntrack/seqadj.h"
#include "lib/ip.h"
#include "tests/conntrack/table_fixture.h"

#include <rte_ip.h>

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define L3 14U

static struct rte_mempool *pool;

static int group(void **state)
{
	tf_eal(state);
	pool = sl_pool_create("packets", 511, RTE_MBUF_DEFAULT_DATAROOM);
	return pool == NULL ? -1 : 0;
}

/* sum of the transport header with its pseudo header: 0xffff if the checksum is right */
static uint16_t sum_of(struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	uint32_t len = m->pkt_len - p->l4_off;
	uint32_t sum = sl_csum_bytes(m, p->l4_off, len);

	if (p->proto != IPPROTO_ICMP)
		sum += sl_csum_pseudo(p, p->proto, len);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

static uint8_t *l4_of(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, uint8_t *, sl_pkt(m)->l4_off);
}

static void set16(uint8_t *at, uint16_t v)
{
	memcpy(at, &v, sizeof(v));
}

static uint16_t get16(const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* a packet of @t with @len bytes from the transport header on, its checksum at @csum right */
static struct rte_mbuf *packet(
		const struct ct_tuple *t, const uint8_t *l4, uint32_t len, uint32_t csum)
{
	bool v4 = t->family == SL_AF_INET;
	uint32_t hdr = v4 ? 20 : 40;
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *frame;

	assert_non_null(m);
	frame = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(L3 + hdr + len));
	memset(frame, 0, L3 + hdr);
	memcpy(frame + L3 + hdr, l4, len);
	if (v4) {
		struct rte_ipv4_hdr *ip = (void *)(frame + L3);

		ip->version_ihl = 0x45;
		ip->time_to_live = 64;
		ip->next_proto_id = t->proto;
		ip->total_length = rte_cpu_to_be_16((uint16_t)(hdr + len));
		ip->src_addr = t->src.v4;
		ip->dst_addr = t->dst.v4;
		ip->hdr_checksum = rte_ipv4_cksum(ip);
	} else {
		struct rte_ipv6_hdr *ip = (void *)(frame + L3);

		frame[L3] = 0x60;
		ip->proto = t->proto;
		ip->hop_limits = 64;
		ip->payload_len = rte_cpu_to_be_16((uint16_t)len);
		memcpy(ip->src_addr, &t->src, 16);
		memcpy(ip->dst_addr, &t->dst, 16);
	}
	memset(sl_pkt(m), 0, sizeof(struct sl_pkt));
	assert_true(sl_pkt_parse_ip(m, L3));
	if (csum != 0) {
		set16(l4_of(m) + csum, 0);
		set16(l4_of(m) + csum, (uint16_t)~sum_of(m));
		assert_int_equal(sum_of(m), 0xffff);
	}
	return m;
}

/* rewritten on both sides; checksums hold afterwards */
static void both_sides(const struct ct_tuple *from, const struct ct_tuple *to, const uint8_t *l4,
		uint32_t len, uint32_t csum)
{
	struct rte_mbuf *m = packet(from, l4, len, csum);
	struct ct_tuple got;

	assert_true(ct_nat_rewrite(m, to, CT_MANIP_SRC));
	assert_int_equal(sum_of(m), 0xffff);
	assert_true(ct_nat_rewrite(m, to, CT_MANIP_DST));
	assert_int_equal(sum_of(m), 0xffff);
	if (from->family == SL_AF_INET)
		assert_int_equal(rte_raw_cksum(rte_pktmbuf_mtod_offset(m, void *, L3), 20), 0xffff);
	/* the bytes, and what was parsed of them */
	assert_true(ct_tuple_get(m, 0, &got));
	assert_true(ct_tuple_eq(&got, to));
	assert_true(sl_pkt_parse_ip(m, L3));
	assert_true(ct_tuple_get(m, 0, &got));
	assert_true(ct_tuple_eq(&got, to));
	rte_pktmbuf_free(m);
}

static void fill_ports(uint8_t *l4, const struct ct_tuple *t)
{
	memcpy(l4, &t->sport_be, 2);
	memcpy(l4 + 2, &t->dport_be, 2);
}

static void test_n09_tcp_and_udp_on_both_sides(void **state)
{
	static const char *const addr[][4] = {
		{ "192.168.1.2", "198.51.100.9", "203.0.113.7", "10.0.0.250" },
		{ "fd01::2", "2001:db8::9", "2001:db8:7::1", "fd00::250" },
	};

	(void)state;
	for (unsigned int f = 0; f < RTE_DIM(addr); f++) {
		for (unsigned int k = 0; k < 2; k++) {
			uint8_t proto = k == 0 ? IPPROTO_TCP : IPPROTO_UDP;
			struct ct_tuple from = tf_tuple(addr[f][0], addr[f][1], proto, 40000, 53);
			struct ct_tuple to = tf_tuple(addr[f][2], addr[f][3], proto, 1025, 5353);
			uint8_t l4[33] = { [12] = 0x50, [13] = 0x10, [30] = 1, [32] = 7 };

			fill_ports(l4, &from);
			if (k == 1)
				set16(l4 + 4, rte_cpu_to_be_16(sizeof(l4)));
			both_sides(&from, &to, l4, sizeof(l4), k == 0 ? 16 : 6);
		}
	}
}

static void test_icmp_ids(void **state)
{
	struct ct_tuple from = tf_icmp("192.168.1.2", "198.51.100.9", 0x1234, 8);
	struct ct_tuple to = tf_icmp("203.0.113.7", "10.0.0.250", 0x4321, 8);
	uint8_t echo[12] = { 8, 0, 0, 0, 0x12, 0x34, 0, 1, 'x' };

	(void)state;
	both_sides(&from, &to, echo, sizeof(echo), 2);
	from = tf_tuple("fd01::2", "2001:db8::9", IPPROTO_ICMPV6, 0, 0);
	from.id_be = RTE_BE16(0x1234);
	from.type = 128;
	to = tf_tuple("2001:db8:7::1", "fd00::250", IPPROTO_ICMPV6, 0, 0);
	to.id_be = RTE_BE16(0x4321);
	to.type = 128;
	echo[0] = 128;
	both_sides(&from, &to, echo, sizeof(echo), 2);
}

static void test_n07_no_udp_checksum_stays_none(void **state)
{
	struct ct_tuple from = tf_tuple("192.168.1.2", "198.51.100.9", IPPROTO_UDP, 40000, 53);
	struct ct_tuple to = tf_tuple("203.0.113.7", "10.0.0.250", IPPROTO_UDP, 1025, 5353);
	uint8_t udp[12] = { [5] = 12, [8] = 'x' };
	struct rte_mbuf *m;

	(void)state;
	fill_ports(udp, &from);
	m = packet(&from, udp, sizeof(udp), 0);
	assert_true(ct_nat_rewrite(m, &to, CT_MANIP_SRC));
	assert_int_equal(get16(l4_of(m) + 6), 0);
	assert_true(ct_nat_rewrite(m, &to, CT_MANIP_DST));
	assert_int_equal(get16(l4_of(m) + 6), 0);
	rte_pktmbuf_free(m);
}

static void test_n08_a_checksum_of_0_is_written_as_its_twin(void **state)
{
	struct ct_tuple from = tf_tuple("192.168.1.2", "198.51.100.9", IPPROTO_UDP, 40000, 53);
	struct ct_tuple to = tf_tuple("203.0.113.7", "198.51.100.9", IPPROTO_UDP, 1025, 53);
	unsigned int n_twins = 0;

	(void)state;
	for (uint32_t word = 0; word < 65536; word++) {
		uint8_t udp[10] = { [5] = 10 };
		struct rte_mbuf *m;
		uint16_t csum;

		fill_ports(udp, &from);
		set16(udp + 8, (uint16_t)word);
		m = packet(&from, udp, sizeof(udp), 6);
		/* a sender would have written the twin as well */
		if (get16(l4_of(m) + 6) == 0)
			set16(l4_of(m) + 6, 0xffff);
		assert_true(ct_nat_rewrite(m, &to, CT_MANIP_SRC));
		csum = get16(l4_of(m) + 6);
		assert_int_not_equal(csum, 0);
		assert_int_equal(sum_of(m), 0xffff);
		n_twins += csum == 0xffff;
		rte_pktmbuf_free(m);
	}
	assert_int_not_equal(n_twins, 0);
}

/* splitmix64 by Vigna */
static uint64_t draw(void)
{
	static uint64_t seed = 1;
	uint64_t z = seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static struct ct_tuple any_tuple(bool v4, uint8_t proto)
{
	struct ct_tuple t = { .family = v4 ? SL_AF_INET : SL_AF_INET6, .proto = proto };

	for (unsigned int i = 0; i < (v4 ? 1U : 4U); i++) {
		t.src.w[i] = (uint32_t)draw();
		t.dst.w[i] = (uint32_t)draw();
	}
	t.sport_be = (rte_be16_t)draw();
	t.dport_be = (rte_be16_t)draw();
	return t;
}

/* the short way of plain packets against the one for all: right, wrong and no checksums, cut headers */
static void test_both_ways_write_the_same(void **state)
{
	unsigned int n_changed = 0;

	(void)state;
	for (unsigned int i = 0; i < 40000; i++) {
		bool v4 = draw() % 4 != 0, tcp = draw() & 1;
		uint8_t proto = tcp ? IPPROTO_TCP : IPPROTO_UDP, l4[40];
		enum ct_manip manip = draw() & 1 ? CT_MANIP_SRC : CT_MANIP_DST;
		enum ct_dir dir = draw() & 1 ? CT_REPLY : CT_ORIGINAL;
		struct ct_tuple from = any_tuple(v4, proto), to;
		struct ct_entry e = { .orig = any_tuple(v4, proto),
			.reply = any_tuple(v4, proto),
			.status = (uint32_t)draw() & CT_NAT_MASK };
		uint32_t len = draw() % 8 == 0 ? 8 + (uint32_t)draw() % 12
					       : 20 + (uint32_t)draw() % 20;
		uint32_t bit = (manip == CT_MANIP_SRC) == (dir == CT_ORIGINAL) ? CT_SRC_NAT
									       : CT_DST_NAT;
		struct rte_mbuf *a, *b;

		for (unsigned int k = 0; k < sizeof(l4); k++)
			l4[k] = (uint8_t)draw();
		fill_ports(l4, &from);
		if (!tcp && draw() % 4 == 0)
			set16(l4 + 6, 0);
		a = packet(&from, l4, len, 0);
		b = packet(&from, l4, len, 0);
		sl_pkt(a)->ct_info = dir == CT_REPLY ? SL_CT_ESTABLISHED_REPLY : SL_CT_ESTABLISHED;
		sl_pkt(b)->ct_info = sl_pkt(a)->ct_info;
		assert_true(ct_tuple_invert(dir == CT_REPLY ? &e.orig : &e.reply, &to));
		assert_true(ct_nat_packet(a, &e, manip));
		if (e.status & bit) {
			assert_true(ct_nat_rewrite(b, &to, manip));
			n_changed++;
		}
		assert_memory_equal(rte_pktmbuf_mtod(a, void *), rte_pktmbuf_mtod(b, void *),
				a->pkt_len);
		assert_memory_equal(sl_pkt(a), sl_pkt(b), sizeof(struct sl_pkt));
		rte_pktmbuf_free(a);
		rte_pktmbuf_free(b);
	}
	assert_true(n_changed > 10000);
}

static void test_sctp_has_its_sum_anew(void **state)
{
	struct ct_tuple from = tf_tuple("192.168.1.2", "198.51.100.9", IPPROTO_SCTP, 40000, 53);
	struct ct_tuple to = tf_tuple("203.0.113.7", "10.0.0.250", IPPROTO_SCTP, 1025, 5353);
	uint8_t sctp[20] = { [12] = 1, [15] = 8 };
	struct rte_mbuf *m;
	uint32_t found, crc = 0;

	(void)state;
	fill_ports(sctp, &from);
	m = packet(&from, sctp, sizeof(sctp), 0);
	assert_true(ct_nat_rewrite(m, &to, CT_MANIP_SRC));
	assert_true(ct_nat_rewrite(m, &to, CT_MANIP_DST));
	memcpy(&found, l4_of(m) + 8, sizeof(found));
	memcpy(l4_of(m) + 8, &crc, sizeof(crc));
	crc = sl_crc32c(m, sl_pkt(m)->l4_off, sizeof(sctp));
	assert_int_equal(found, crc);
	rte_pktmbuf_free(m);
}

static void set32(uint8_t *at, uint32_t v)
{
	v = rte_cpu_to_be_32(v);
	memcpy(at, &v, sizeof(v));
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return rte_be_to_cpu_32(v);
}

/* of a connection whose client's line at 1000 was made 3 bytes longer */
static struct rte_mbuf *adjusted(struct ct_shard *s, struct ct_entry *e, enum ct_dir dir,
		uint32_t seq, uint32_t ack, unsigned int sack_at)
{
	uint8_t tcp[32] = { [12] = 0x80, [13] = 0x10, [15] = 99 };
	struct ct_pkt c = { .s = s };

	fill_ports(tcp, ct_tuple_of(e, dir));
	set32(tcp + 4, seq);
	set32(tcp + 8, ack);
	memset(tcp + 20, 1, 12);
	tcp[sack_at] = 5;
	tcp[sack_at + 1] = 10;
	set32(tcp + sack_at + 2, 1000);
	set32(tcp + sack_at + 6, 1023);
	c.m = packet(ct_tuple_of(e, dir), tcp, sizeof(tcp), 16);
	c.p = sl_pkt(c.m);
	c.p->ct_info = dir == CT_REPLY ? SL_CT_ESTABLISHED_REPLY : SL_CT_ESTABLISHED;
	assert_true(ct_seqadj_packet(&c, e));
	assert_int_equal(sum_of(c.m), 0xffff);
	return c.m;
}

static void test_n32_sequence_numbers_follow_both_ways(void **state)
{
	struct ct_shard *s = tf_table(100, 1, 5000)->shard[0];
	struct ct_tuple t = tf_tuple("192.168.1.2", "198.51.100.9", IPPROTO_TCP, 40000, 21);
	struct ct_entry *e = tf_add(s, &t, 100);
	struct rte_mbuf *m;

	(void)state;
	ct_seqadj_add(s, e, CT_ORIGINAL, 1000, 3);
	assert_true(e->status & CT_SEQ_ADJUST);
	/* the line itself, and once more */
	m = adjusted(s, e, CT_ORIGINAL, 1000, 500, 21);
	assert_int_equal(get32(l4_of(m) + 4), 1000);
	rte_pktmbuf_free(m);
	ct_seqadj_add(s, e, CT_ORIGINAL, 1000, 3);
	/* what comes behind it; what it acknowledges is as it was */
	m = adjusted(s, e, CT_ORIGINAL, 1020, 500, 21);
	assert_int_equal(get32(l4_of(m) + 4), 1023);
	assert_int_equal(get32(l4_of(m) + 8), 500);
	rte_pktmbuf_free(m);
	/* answers, with a SACK block at an even and at an odd place */
	for (unsigned int at = 21; at <= 22; at++) {
		m = adjusted(s, e, CT_REPLY, 500, 1023, at);
		assert_int_equal(get32(l4_of(m) + 4), 500);
		assert_int_equal(get32(l4_of(m) + 8), 1020);
		assert_int_equal(get32(l4_of(m) + at + 2), 1000);
		assert_int_equal(get32(l4_of(m) + at + 6), 1020);
		rte_pktmbuf_free(m);
	}
	/* a second line, shorter by 5 */
	ct_seqadj_add(s, e, CT_ORIGINAL, 1020, -5);
	m = adjusted(s, e, CT_ORIGINAL, 1040, 500, 21);
	assert_int_equal(get32(l4_of(m) + 4), 1038);
	rte_pktmbuf_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_n09_tcp_and_udp_on_both_sides),
		cmocka_unit_test(test_icmp_ids),
		cmocka_unit_test(test_n07_no_udp_checksum_stays_none),
		cmocka_unit_test(test_n08_a_checksum_of_0_is_written_as_its_twin),
		cmocka_unit_test(test_both_ways_write_the_same),
		cmocka_unit_test(test_sctp_has_its_sum_anew),
		cmocka_unit_test_teardown(test_n32_sequence_numbers_follow_both_ways, tf_teardown),
	};

	return cmocka_run_group_tests(tests, group, NULL);
}
