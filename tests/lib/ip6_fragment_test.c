/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments of IPv6: sizes, offsets, which headers each of them has, and that no byte is lost. */
#include "lib/ip.h"
#include "lib/worker.h"
#include "tests/lib/router_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MTU 1284U /* not a multiple of 8 behind 48 bytes of headers */
#define ETH 14U

static uint8_t data[RF_FRAME_MAX], whole[RF_FRAME_MAX];
static struct rte_mbuf *out[64];

/* a packet that is on its way to lan: the router's own, or one that came in on wan */
static struct rte_mbuf *make(uint8_t proto, const void *front, uint32_t front_len, uint32_t len,
		uint16_t in_port, uint32_t segment)
{
	struct rf_ip ip = { .port = RF_WAN,
		.src = "2001:db8::2",
		.dst = "2001:db8:1::2",
		.proto = proto,
		.payload = data,
		.len = front_len + len };
	struct rte_mbuf *m;

	for (uint32_t i = 0; i < len; i++)
		data[front_len + i] = (uint8_t)(i * 31 >> 3);
	memcpy(data, front, front_len);
	m = rf_mbuf(whole, rf_build(&ip, whole), segment);
	assert_true(sl_pkt_parse_ip(m, ETH));
	sl_pkt(m)->in_port = in_port;
	sl_pkt(m)->out_port = RF_LAN;
	rf.r->workers[0]->rx[in_port]++;
	return m;
}

static unsigned int fragment(struct rte_mbuf *m, unsigned int max)
{
	return sl_ip6_fragment(rf.r->workers[0], m, MTU, out, max);
}

static void end_all(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sl_drop(rf.r->workers[0], out[i], SL_DROP_SHUTDOWN);
	assert_true(rf_is_whole());
}

/*
 * The fragments in out[0..n) together are what is in whole[] behind @front bytes of headers that
 * each of them has; @next names what follows. Return: bytes of data in the last one
 */
static uint32_t assert_joins(unsigned int n, uint32_t front, uint32_t next_at, uint8_t next,
		uint32_t len, uint16_t in_port)
{
	uint8_t frame[ETH + MTU];
	uint32_t off = 0, size = 0, id = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct sl_pkt *p = sl_pkt(out[i]);
		const uint8_t *frag = frame + ETH + front;
		uint32_t word;

		assert_true(out[i]->pkt_len <= sizeof(frame));
		assert_true(sl_pkt_copy(out[i], 0, out[i]->pkt_len, frame));
		size = out[i]->pkt_len - ETH - front - 8;
		/* headers as they were, but for length and the byte that names the fragment header */
		assert_int_equal((uint32_t)(frame[18] << 8 | frame[19]), front - 40 + 8 + size);
		assert_int_equal(frame[ETH + next_at], 44);
		frame[18] = whole[18];
		frame[19] = whole[19];
		frame[ETH + next_at] = whole[ETH + next_at];
		assert_memory_equal(frame + ETH, whole + ETH, front);
		assert_int_equal(frag[0], next);
		assert_int_equal(frag[1], 0);
		assert_int_equal((uint32_t)(frag[2] << 8 | frag[3]), off | (i + 1 < n));
		memcpy(&word, frag + 4, sizeof(word));
		assert_true(word != 0 && (i == 0 || word == id));
		id = word;
		if (i + 1 < n)
			assert_int_equal(size, (MTU - front - 8) & ~7U);
		assert_memory_equal(frag + 8, whole + ETH + front + off, size);
		off += size;
		assert_int_equal(p->in_port, i == 0 ? in_port : SL_PORT_HOST);
		assert_int_equal(p->out_port, RF_LAN);
		assert_int_equal(p->l3_len, out[i]->pkt_len - ETH);
		assert_true(p->flags & SL_PKT_FRAG);
	}
	assert_int_equal(off, len);
	return size;
}

static void test_every_length_is_cut_and_joins_again(void **state)
{
	uint32_t last_max[2] = { 0 };

	(void)state;
	for (uint32_t len = 1237; len < 3800; len += 3) {
		for (unsigned int own = 0; own < 2; own++) {
			uint16_t in_port = own ? SL_PORT_HOST : RF_WAN;
			uint32_t segment = len % 5 == 0 ? 100 : 0, last;
			struct rte_mbuf *m = make(IPPROTO_UDP, "", 0, len, in_port, segment);
			unsigned int n = fragment(m, RTE_DIM(out));

			assert_in_range(n, 2, 4);
			last = assert_joins(n, 40, 6, IPPROTO_UDP, len, in_port);
			last_max[own] = RTE_MAX(last_max[own], last);
			end_all(n);
		}
	}
	/* what is sent here leaves free what alignment takes, what goes through fills it */
	assert_in_range(last_max[0], 1233, 1236);
	assert_in_range(last_max[1], 1225, 1232);
}

/* RFC 8200 4.5: up to the routing header each fragment has them, behind it they are data */
static void test_headers_for_the_way_are_in_each(void **state)
{
	static const uint8_t chain[] = {
		60, 0, 1, 4, 0, 0, 0, 0, /* hop-by-hop */
		43, 0, 1, 4, 0, 0, 0, 0, /* destination options for each hop */
		60, 0, 253, 0, 0, 0, 0, 0, /* routing */
		17, 0, 1, 4, 0, 0, 0, 0, /* destination options */
	};
	unsigned int n;

	(void)state;
	n = fragment(make(0, chain, sizeof(chain), 3000, RF_WAN, 0), RTE_DIM(out));
	assert_joins(n, 40 + 24, 40 + 16, 60, 3000 + 8, RF_WAN);
	end_all(n);
	/* without a routing header the options in front are for each hop too */
	n = fragment(make(60, chain + 24, 8, 3000, RF_WAN, 0), RTE_DIM(out));
	assert_joins(n, 40 + 8, 40, 17, 3000, RF_WAN);
	end_all(n);
}

static uint32_t id_of(const struct rte_mbuf *m)
{
	uint32_t id = 0;

	assert_true(sl_pkt_copy(m, ETH + 44, sizeof(id), &id));
	return id;
}

static void test_datagrams_have_ids_of_their_own(void **state)
{
	uint32_t ids[8];
	unsigned int n;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(ids); i++) {
		uint8_t front[8] = { 0, 0, 0, 0, 0, 0, 0, (uint8_t)i };

		n = fragment(make(IPPROTO_ICMPV6, front, 8, 2000, SL_PORT_HOST, 0), RTE_DIM(out));
		ids[i] = id_of(out[0]);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(ids[i], ids[k]);
		end_all(n);
	}
}

static void test_too_many_are_none(void **state)
{
	uint64_t before = sl_router_drops(rf.r, RF_WAN, SL_DROP_FRAG_FAILED);

	(void)state;
	assert_int_equal(fragment(make(IPPROTO_UDP, "", 0, 3000, RF_WAN, 0), 2), 0);
	assert_int_equal(sl_router_drops(rf.r, RF_WAN, SL_DROP_FRAG_FAILED), before + 1);
	assert_true(rf_is_whole());
}

static void test_headers_that_fill_the_mtu_are_refused(void **state)
{
	static const uint8_t options[] = { 17, 154, 1, 4, 0, 0, 0, 0 }; /* 1,240 bytes */
	uint64_t before = sl_router_drops(rf.r, RF_WAN, SL_DROP_FRAG_FAILED);

	(void)state;
	assert_int_equal(fragment(make(60, options, 8, 3000, RF_WAN, 0), RTE_DIM(out)), 0);
	/* and a chain that is cut */
	assert_int_equal(fragment(make(60, options, 1, 0, RF_WAN, 0), RTE_DIM(out)), 0);
	assert_int_equal(sl_router_drops(rf.r, RF_WAN, SL_DROP_FRAG_FAILED), before + 2);
	assert_true(rf_is_whole());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_length_is_cut_and_joins_again),
		cmocka_unit_test(test_headers_for_the_way_are_in_each),
		cmocka_unit_test(test_datagrams_have_ids_of_their_own),
		cmocka_unit_test(test_too_many_are_none),
		cmocka_unit_test(test_headers_that_fill_the_mtu_are_refused),
	};

	rf_start(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
