/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums: whole, incremental, and those that a peer left to hardware. */
#include "tests/lib/ip4_fixture.h"

#include <rte_ip.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint32_t seed = 1;

static uint32_t next(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

/* RFC 1071 in its plainest form: big-endian words one by one */
static uint16_t slow_sum(const uint8_t *data, uint32_t len)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < len; i++)
		sum += i & 1 ? data[i] : (uint32_t)data[i] << 8;
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return rte_cpu_to_be_16((uint16_t)sum);
}

static void test_sum_over_segments_equals_the_plain_one(void **state)
{
	uint8_t data[301];

	(void)state;
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)next();
	for (uint32_t split = 1; split < 40; split++) {
		struct rte_mbuf *m = fx_mbuf(WAN, data, sizeof(data), split + 10);

		for (uint32_t off = 0; off < 20; off++)
			assert_int_equal(sl_csum_bytes(m, off, sizeof(data) - off - split),
					slow_sum(data + off, sizeof(data) - off - split));
		rte_pktmbuf_free(m);
	}
}

static void test_update_equals_a_new_sum(void **state)
{
	uint16_t words[8];

	(void)state;
	for (unsigned int round = 0; round < 100000; round++) {
		unsigned int at = next() % 8;
		uint16_t value, old, csum;

		/* few values: ends of the range are where one's complement has two zeros */
		for (unsigned int i = 0; i < 8; i++)
			words[i] = next() % 4 == 0 ? (uint16_t)(next() % 2 ? 0xffff : 0)
						   : (uint16_t)next();
		words[7] = 1; /* never all zero */
		csum = (uint16_t)~rte_raw_cksum(words, sizeof(words));
		old = words[at];
		value = next() % 3 == 0 ? 0xffff : (uint16_t)next();
		words[at] = value;
		words[7] = at == 7 ? value : 1;
		if (rte_raw_cksum(words, sizeof(words)) == 0)
			continue;
		assert_int_equal(sl_csum_update16(csum, old, value),
				(uint16_t)~rte_raw_cksum(words, sizeof(words)));
	}
}

static void test_update32_equals_two_updates(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 10000; round++) {
		uint16_t csum = (uint16_t)next();
		uint32_t old = next() << 8 ^ next(), value = next() << 8 ^ next();
		uint16_t twice = sl_csum_update16(csum, (uint16_t)old, (uint16_t)value);

		twice = sl_csum_update16(twice, (uint16_t)(old >> 16), (uint16_t)(value >> 16));
		assert_int_equal(sl_csum_update32(csum, old, value), twice);
	}
}

/* RFC 1624, section 4: the example that equation 2 gets wrong */
static void test_update_of_rfc1624_example(void **state)
{
	(void)state;
	assert_int_equal(sl_csum_update16(RTE_BE16(0xdd2f), RTE_BE16(0x5555), RTE_BE16(0x3285)), 0);
}

static void test_pseudo_of_both_families(void **state)
{
	struct sl_pkt p = { .family = SL_AF_INET };
	const uint8_t v4[] = { 10, 0, 1, 2, 10, 0, 2, 3, 0, 17, 1, 44 };
	const uint8_t v6[] = { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xfd, 1, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 58 };

	(void)state;
	p.src = addr_of("10.0.1.2");
	p.dst = addr_of("10.0.2.3");
	assert_int_equal(sl_csum_pseudo(&p, 17, 300), slow_sum(v4, sizeof(v4)));
	p.family = SL_AF_INET6;
	p.src = addr_of("2001:db8::1");
	p.dst = addr_of("fd01::2");
	assert_int_equal(sl_csum_pseudo(&p, 58, 65536), slow_sum(v6, sizeof(v6)));
}

/* a packet whose L4 field holds @value; Return: the field behind parse */
static uint16_t behind_parse(uint8_t proto, unsigned int at, uint16_t value, uint32_t split)
{
	uint8_t data[64] = { 0 }, frame[128];
	uint16_t field;

	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	memcpy(data + at, &value, sizeof(value));
	if (proto == 6)
		data[12] = 0x50;
	fx_rx(WAN,
			fx_mbuf(WAN, frame,
					fx_frame(WAN,
							&(struct fx_ip){ .proto = proto,
									.data = data,
									.len = sizeof(data) },
							frame),
					split));
	assert_int_equal(fx.n_out, 1);
	assert_true(sl_pkt_copy(fx.out[0], 34 + at, sizeof(field), &field));
	fx_reset();
	return field;
}

static void test_partial_checksum_is_completed_only_where_the_peer_may_leave_it(void **state)
{
	static const struct {
		uint8_t proto, at;
	} forms[] = { { 6, 16 }, { 17, 6 } };
	struct sl_pkt p = { .family = SL_AF_INET };

	(void)state;
	p.src = addr_of("192.0.2.7");
	p.dst = addr_of("198.51.100.7");
	for (unsigned int i = 0; i < RTE_DIM(forms); i++) {
		uint16_t partial = sl_csum_pseudo(&p, forms[i].proto, 64), full;

		fx.links[WAN].csum_partial = false;
		assert_int_equal(behind_parse(forms[i].proto, forms[i].at, partial, 0), partial);
		fx.links[WAN].csum_partial = true;
		full = behind_parse(forms[i].proto, forms[i].at, partial, 0);
		assert_int_not_equal(full, partial);
		/* right, so it stays; and it is the same over segments */
		assert_int_equal(behind_parse(forms[i].proto, forms[i].at, full, 0), full);
		assert_int_equal(behind_parse(forms[i].proto, forms[i].at, partial, 40), full);
		/* wrong is not ours to mend */
		assert_int_equal(behind_parse(forms[i].proto, forms[i].at, 0x1234, 0), 0x1234);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
				test_sum_over_segments_equals_the_plain_one, fx_setup, fx_teardown),
		cmocka_unit_test(test_update_equals_a_new_sum),
		cmocka_unit_test(test_update32_equals_two_updates),
		cmocka_unit_test(test_update_of_rfc1624_example),
		cmocka_unit_test(test_pseudo_of_both_families),
		cmocka_unit_test_setup_teardown(
				test_partial_checksum_is_completed_only_where_the_peer_may_leave_it,
				fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, fx_group_setup, NULL);
}
