/* SPDX-License-Identifier: BSD-3-Clause */
/* Another text in a segment: its bytes, lengths and checksums, and the numbers of all that follow. */
#include "conntrack/help.h"
#include "conntrack/seqadj.h"
#include "lib/ip.h"
#include "tests/conntrack/table_fixture.h"

#include <rte_ip.h>
#include <rte_tcp.h>

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define L3 14U
#define TCP_LEN 32U /* with 12 bytes of options */
#define BEFORE "PORT 10,0,0,2,4,1\r\n"
#define AT 5U
#define AT_LEN 12U

static struct rte_mempool *pool;

static int group(void **state)
{
	tf_eal(state);
	pool = sl_pool_create("packets", 511, RTE_MBUF_DEFAULT_DATAROOM);
	return pool == NULL ? -1 : 0;
}

/* a segment; the SACK block, if there is one, covers [@left, @right) */
struct seg {
	uint32_t seq, ack, left, right;
	const char *data;
};

static struct rte_tcp_hdr *tcp_of(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct rte_tcp_hdr *, sl_pkt(m)->l4_off);
}

static uint32_t block(struct rte_mbuf *m, unsigned int i)
{
	rte_be32_t v;

	memcpy(&v, (uint8_t *)(tcp_of(m) + 1) + 4 + i * 4, sizeof(v));
	return rte_be_to_cpu_32(v);
}

static uint16_t sum_of(struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	uint32_t len = m->pkt_len - p->l4_off;
	uint32_t sum = sl_csum_bytes(m, p->l4_off, len) + sl_csum_pseudo(p, IPPROTO_TCP, len);

	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

static void fill_ip(uint8_t *ip, const struct ct_tuple *t, uint32_t len)
{
	struct rte_ipv4_hdr *v4 = (void *)ip;
	struct rte_ipv6_hdr *v6 = (void *)ip;

	if (t->family == SL_AF_INET) {
		v4->version_ihl = 0x45;
		v4->time_to_live = 64;
		v4->next_proto_id = IPPROTO_TCP;
		v4->total_length = rte_cpu_to_be_16((uint16_t)(20 + len));
		v4->src_addr = t->src.v4;
		v4->dst_addr = t->dst.v4;
		v4->hdr_checksum = rte_ipv4_cksum(v4);
		return;
	}
	ip[0] = 0x60;
	v6->proto = IPPROTO_TCP;
	v6->hop_limits = 64;
	v6->payload_len = rte_cpu_to_be_16((uint16_t)len);
	memcpy(v6->src_addr, &t->src, 16);
	memcpy(v6->dst_addr, &t->dst, 16);
}

static struct ct_pkt segment(struct ct_shard *s, const struct ct_entry *e, enum ct_dir dir,
		const struct seg *seg)
{
	const struct ct_tuple *t = ct_tuple_of(e, dir);
	uint32_t hdr = t->family == SL_AF_INET ? 20 : 40;
	uint32_t data_len = (uint32_t)strlen(seg->data), len = TCP_LEN + data_len;
	uint8_t options[12] = { 1, 1, 5, 10 };
	rte_be32_t left = rte_cpu_to_be_32(seg->left), right = rte_cpu_to_be_32(seg->right);
	struct ct_pkt c = { .s = s, .m = rte_pktmbuf_alloc(pool), .dir = dir };
	struct rte_tcp_hdr *tcp;
	uint8_t *frame;

	assert_non_null(c.m);
	frame = (uint8_t *)rte_pktmbuf_append(c.m, (uint16_t)(L3 + hdr + len));
	assert_non_null(frame);
	memset(frame, 0, L3 + hdr + len);
	fill_ip(frame + L3, t, len);
	tcp = (void *)(frame + L3 + hdr);
	tcp->src_port = t->sport_be;
	tcp->dst_port = t->dport_be;
	tcp->sent_seq = rte_cpu_to_be_32(seg->seq);
	tcp->recv_ack = rte_cpu_to_be_32(seg->ack);
	tcp->data_off = (TCP_LEN / 4) << 4;
	tcp->tcp_flags = RTE_TCP_ACK_FLAG;
	if (seg->right == 0)
		memset(options, 1, sizeof(options));
	else {
		memcpy(options + 4, &left, 4);
		memcpy(options + 8, &right, 4);
	}
	memcpy(tcp + 1, options, sizeof(options));
	memcpy(frame + L3 + hdr + TCP_LEN, seg->data, data_len);
	memset(sl_pkt(c.m), 0, sizeof(struct sl_pkt));
	assert_true(sl_pkt_parse_ip(c.m, L3));
	c.p = sl_pkt(c.m);
	c.p->ct_info = dir == CT_REPLY ? SL_CT_ESTABLISHED_REPLY : SL_CT_ESTABLISHED;
	tcp->cksum = (uint16_t)~sum_of(c.m);
	assert_int_equal(sum_of(c.m), 0xffff);
	return c;
}

/* the segment has @data and nothing else, and all that is said of its length and sum is true */
static void expect_data(struct rte_mbuf *m, const char *data)
{
	const struct sl_pkt *p = sl_pkt(m);
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t hdr = p->family == SL_AF_INET ? 20 : 40, len = (uint32_t)strlen(data);

	assert_int_equal(m->pkt_len, L3 + hdr + TCP_LEN + len);
	assert_int_equal(m->data_len, m->pkt_len);
	assert_int_equal(p->l3_len, hdr + TCP_LEN + len);
	assert_memory_equal(frame + L3 + hdr + TCP_LEN, data, len);
	if (p->family == SL_AF_INET) {
		const struct rte_ipv4_hdr *ip = (const void *)(frame + L3);

		assert_int_equal(rte_be_to_cpu_16(ip->total_length), hdr + TCP_LEN + len);
		/* over a right one as well */
		assert_int_equal(rte_ipv4_cksum(ip), 0);
	} else {
		const struct rte_ipv6_hdr *ip = (const void *)(frame + L3);

		assert_int_equal(rte_be_to_cpu_16(ip->payload_len), TCP_LEN + len);
	}
	assert_int_equal(sum_of(m), 0xffff);
}

static bool rewrite(const struct ct_pkt *c, struct ct_entry *e, const char *text)
{
	struct ct_announced at = { .off = AT, .len = AT_LEN };

	return ct_help_rewrite(c, e, &at, text, (uint32_t)strlen(text));
}

/* a line from @dir at 1000 gets @text; @more: by how much it grows */
static void line(const struct ct_tuple *t, enum ct_dir dir, const char *text, const char *after,
		int32_t more)
{
	struct ct_shard *s = tf_table(100, 1, 5000)->shard[0];
	struct ct_entry *e = tf_add(s, t, 100);
	uint32_t end = 1000 + (uint32_t)strlen(BEFORE), end_out = end + (uint32_t)more;
	struct ct_pkt c;

	/* the line twice: who sends it again has not made it longer by as much again */
	for (unsigned int i = 0; i < 2; i++) {
		c = segment(s, e, dir, &(struct seg){ .seq = 1000, .ack = 500, .data = BEFORE });
		/* the sum is made anew, whatever it was */
		tcp_of(c.m)->cksum ^= 0x5555;
		assert_true(rewrite(&c, e, text));
		expect_data(c.m, after);
		assert_int_equal(!!(e->status & CT_SEQ_ADJUST), more != 0);
		assert_true(ct_seqadj_packet(&c, e));
		expect_data(c.m, after);
		assert_int_equal(rte_be_to_cpu_32(tcp_of(c.m)->sent_seq), 1000);
		rte_pktmbuf_free(c.m);
	}
	/* what follows; the other side's numbers in it are as they were */
	c = segment(s, e, dir,
			&(struct seg){ .seq = end,
					.ack = 500,
					.left = 600,
					.right = 700,
					.data = "LIST\r\n" });
	assert_true(ct_seqadj_packet(&c, e));
	expect_data(c.m, "LIST\r\n");
	assert_int_equal(rte_be_to_cpu_32(tcp_of(c.m)->sent_seq), end_out);
	assert_int_equal(rte_be_to_cpu_32(tcp_of(c.m)->recv_ack), 500);
	assert_int_equal(block(c.m, 0), 600);
	assert_int_equal(block(c.m, 1), 700);
	rte_pktmbuf_free(c.m);
	/* the answer acknowledges the line, and a segment behind a gap */
	c = segment(s, e, !dir,
			&(struct seg){ .seq = 500,
					.ack = end_out,
					.left = end_out + 6,
					.right = end_out + 16,
					.data = "200 ok\r\n" });
	assert_true(ct_seqadj_packet(&c, e));
	expect_data(c.m, "200 ok\r\n");
	assert_int_equal(rte_be_to_cpu_32(tcp_of(c.m)->sent_seq), 500);
	assert_int_equal(rte_be_to_cpu_32(tcp_of(c.m)->recv_ack), end);
	assert_int_equal(block(c.m, 0), end + 6);
	assert_int_equal(block(c.m, 1), end + 16);
	rte_pktmbuf_free(c.m);
	tf_teardown(NULL);
}

static void every_length(const struct ct_tuple *t)
{
	for (enum ct_dir dir = CT_ORIGINAL; dir <= CT_REPLY; dir++) {
		line(t, dir, "198,51,100,200,156,64", "PORT 198,51,100,200,156,64\r\n", 9);
		line(t, dir, "1,1,1,1,4,1", "PORT 1,1,1,1,4,1\r\n", -1);
		line(t, dir, "20,0,0,3,5,2", "PORT 20,0,0,3,5,2\r\n", 0);
	}
}

static void test_n32_ipv4_grows_shrinks_and_stays(void **state)
{
	struct ct_tuple t = tf_tuple("192.168.1.2", "198.51.100.9", IPPROTO_TCP, 40000, 21);

	(void)state;
	every_length(&t);
}

static void test_n32_ipv6_grows_shrinks_and_stays(void **state)
{
	struct ct_tuple t = tf_tuple("fd00::2", "2001:db8::9", IPPROTO_TCP, 40000, 21);

	(void)state;
	every_length(&t);
}

static void test_no_room_changes_nothing(void **state)
{
	struct ct_shard *s = tf_table(100, 1, 5000)->shard[0];
	struct ct_tuple t = tf_tuple("192.168.1.2", "198.51.100.9", IPPROTO_TCP, 40000, 21);
	struct ct_entry *e = tf_add(s, &t, 100);
	struct ct_pkt c = segment(s, e, CT_ORIGINAL,
			&(struct seg){ .seq = 1000, .ack = 500, .data = BEFORE });
	struct ct_announced beyond = { .off = AT, .len = sizeof(BEFORE) };
	uint16_t buf_len = c.m->buf_len;

	(void)state;
	c.m->buf_len = (uint16_t)(c.m->data_off + c.m->data_len + 8);
	assert_false(rewrite(&c, e, "198,51,100,200,156,64"));
	expect_data(c.m, BEFORE);
	assert_false(ct_help_rewrite(&c, e, &beyond, "x", 1));
	expect_data(c.m, BEFORE);
	assert_false(e->status & CT_SEQ_ADJUST);
	/* one byte more is enough */
	c.m->buf_len++;
	assert_true(rewrite(&c, e, "198,51,100,200,156,64"));
	expect_data(c.m, "PORT 198,51,100,200,156,64\r\n");
	c.m->buf_len = buf_len;
	rte_pktmbuf_free(c.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_n32_ipv4_grows_shrinks_and_stays),
		cmocka_unit_test(test_n32_ipv6_grows_shrinks_and_stays),
		cmocka_unit_test_teardown(test_no_room_changes_nothing, tf_teardown),
	};

	return cmocka_run_group_tests(tests, group, NULL);
}
