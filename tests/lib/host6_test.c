/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extension headers of packets for the router itself, groups, and redirects, through the whole
 * router. Pointers count from the IPv6 header.
 */
#include "tests/lib/router_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define L4 54U /* of what the router sends: Ethernet and fixed header */

static uint8_t frame[RF_FRAME_MAX];

/* a header of 8 bytes, padded; and one that nothing is wrong with */
#define EXT(next, ...) next, 0, __VA_ARGS__
#define PAD(next) EXT(next, 1, 4, 0, 0, 0, 0)
/* UDP to a port where nothing listens; the checksum is put in */
#define UDP 0x13, 0x88, 0, 9, 0, 8, 0, 0
/* an ICMPv6 message */
#define ECHO 128, 0, 0, 0, 0, 1, 0, 1

enum {
	SILENT = 0
};

struct packet {
	const char *what;
	uint8_t proto, len, data[48];
	uint8_t upper; /* protocol of the last 8 bytes, whose checksum is made right; 0: none */
	uint8_t type, code; /* of the answer */
	uint32_t info;
};

#define BYTES(...)                                \
	sizeof((const uint8_t[]){ __VA_ARGS__ }), \
	{                                         \
		__VA_ARGS__                       \
	}

static const struct packet packets[] = {
	{ "udp", 17, BYTES(UDP), 17, 1, 4, 0 },
	{ "all that is skipped", 0,
			BYTES(PAD(60), PAD(43), EXT(60, 253, 0, 0, 0, 0, 0), PAD(17), UDP), 17, 1,
			4, 0 },
	{ "no next header", 59, BYTES(UDP), 0, SILENT, 0, 0 },
	{ "no next header behind options", 60, BYTES(PAD(59), UDP), 0, SILENT, 0, 0 },
	{ "pim", 103, BYTES(UDP), 0, SILENT, 0, 0 },
	{ "unknown", 253, BYTES(UDP), 0, 4, 1, 6 },
	{ "unknown behind options", 60, BYTES(PAD(60), PAD(253), UDP), 0, 4, 1, 48 },
	{ "ah", 51, BYTES(PAD(17), UDP), 0, 4, 1, 6 },
	{ "hop-by-hop that is not the first", 60, BYTES(PAD(0), PAD(17), UDP), 0, 4, 1, 40 },
	{ "option to skip", 60, BYTES(EXT(17, 0x1e, 4, 1, 2, 3, 4), UDP), 17, 1, 4, 0 },
	{ "option to drop", 60, BYTES(EXT(17, 0x5e, 4, 1, 2, 3, 4), UDP), 17, SILENT, 0, 0 },
	{ "option to report", 60, BYTES(EXT(17, 0x9e, 4, 1, 2, 3, 4), UDP), 17, 4, 2, 42 },
	{ "option that is cut", 60, BYTES(EXT(17, 0x1e, 5, 1, 2, 3, 4), UDP), 17, SILENT, 0, 0 },
	{ "padding that is not 0", 60, BYTES(EXT(17, 1, 4, 0, 0, 1, 0), UDP), 17, SILENT, 0, 0 },
	{ "options longer than the packet", 60, BYTES(17, 9, 1, 4, 0, 0, 0, 0, UDP), 0, SILENT, 0,
			0 },
	{ "routing with segments left", 43, BYTES(EXT(17, 253, 1, 0, 0, 0, 0), UDP), 17, 4, 0, 42 },
	{ "segment routing", 43, BYTES(EXT(17, 4, 0, 0, 0, 0, 0), UDP), 17, SILENT, 0, 0 },
	{ "rpl", 43, BYTES(EXT(17, 3, 0, 0, 0, 0, 0), UDP), 17, SILENT, 0, 0 },
	{ "routing longer than the packet", 43, BYTES(17, 2, 253, 0, 0, 0, 0, 0, UDP), 0, SILENT, 0,
			0 },
	{ "fragment that is whole", 44, BYTES(EXT(17, 0, 0, 0, 0, 0, 1), UDP), 17, 1, 4, 0 },
	{ "two that are whole", 44,
			BYTES(EXT(44, 0, 0, 0, 0, 0, 1), EXT(17, 0, 0, 0, 0, 0, 1), UDP), 17, 4, 0,
			48 },
	{ "first fragment without all headers", 44,
			BYTES(EXT(60, 0, 1, 0, 0, 0, 1), 17, 9, 1, 4, 0, 0, 0, 0), 0, 4, 3, 0 },
	{ "udp longer than the packet", 17, BYTES(0x13, 0x88, 0, 9, 0, 9, 0, 0), 17, SILENT, 0, 0 },
	{ "udp without checksum", 17, BYTES(UDP), 0, SILENT, 0, 0 },
	{ "udp-lite, all covered", 136, BYTES(0x13, 0x88, 0, 9, 0, 0, 0, 0), 136, 1, 4, 0 },
	{ "tcp that is cut", 6, BYTES(UDP), 0, SILENT, 0, 0 },
	{ "echo behind options", 60, BYTES(PAD(58), ECHO), 58, 129, 0, 0x00010001 },
	{ "echo with a wrong checksum", 58, BYTES(ECHO), 0, SILENT, 0, 0 },
	{ "echo that is cut", 58, BYTES(128, 0, 0x7f, 0), 0, SILENT, 0, 0 },
	{ "reply that nobody waits for", 58, BYTES(129, 0, 0, 0, 0, 1, 0, 1), 58, SILENT, 0, 0 },
};

/* the packet from wan's neighbour in frame[]; returns its length */
static uint32_t build(const struct packet *c, const char *dst)
{
	uint8_t data[sizeof(c->data)];
	struct rf_ip ip = { .port = RF_WAN,
		.src = "2001:db8::2",
		.dst = dst,
		.proto = c->upper,
		.payload = data,
		.len = 8 };

	memcpy(data, c->data, sizeof(data));
	if (c->upper != 0)
		rf_seal(&ip, data + c->len - 8, c->upper == IPPROTO_ICMPV6 ? 2 : 6);
	ip.proto = c->proto;
	ip.len = c->len;
	return rf_build(&ip, frame);
}

static uint32_t info_of(const struct rf_frame *f)
{
	const uint8_t *at = f->data + L4 + 4;

	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool answers_as(const struct packet *c, uint32_t len)
{
	const struct rf_frame *f = &rf.out[0];

	if (c->type == SILENT)
		return rf.n_out == 0;
	if (rf.n_out != 1 || f->data[20] != IPPROTO_ICMPV6 || f->data[21] != 64)
		return false;
	/* an error quotes the packet: all of it, but a whole fragment is quoted as it came too */
	if (c->type < 128
			&& (f->len != L4 + 8 + len - 14
					|| memcmp(f->data + L4 + 8, frame + 14, len - 14) != 0))
		return false;
	return f->data[L4] == c->type && f->data[L4 + 1] == c->code && info_of(f) == c->info;
}

static int begin(void **state)
{
	(void)state;
	rf_pass(10000000000ULL); /* the rate limits' buckets are full again */
	rf_clear();
	return 0;
}

static int end(void **state)
{
	(void)state;
	assert_true(rf_is_whole());
	rf_clear();
	return 0;
}

static void test_host_headers_get_the_kernels_answers(void **state)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < RTE_DIM(packets); i++) {
		/* in one segment, and in such that headers lie across them */
		for (uint32_t segment = 0; segment <= 60; segment += 30) {
			uint32_t len = build(&packets[i], "2001:db8::1");

			rf_in(RF_WAN, frame, len, segment);
			if (!answers_as(&packets[i], len)) {
				print_error("%s, segments of %u: %u frames\n", packets[i].what,
						segment, rf.n_out);
				wrong++;
			}
			begin(state);
		}
	}
	assert_int_equal(wrong, 0);
}

/* to a group: only echo, and options that ask for an answer even there; from the port's address */
static void test_host_group_gets_few_answers(void **state)
{
	for (unsigned int i = 0; i < RTE_DIM(packets); i++) {
		const struct packet *c = &packets[i];
		bool answered = c->type == 129 || (c->type == 4 && c->code == 2);
		uint32_t len = build(c, "ff02::1");

		memcpy(frame, ((const uint8_t[]){ 0x33, 0x33, 0, 0, 0, 1 }), 6);
		rf_in(RF_WAN, frame, len, 0);
		if (rf.n_out != (answered ? 1 : 0))
			fail_msg("%s: %u frames", c->what, rf.n_out);
		if (answered)
			assert_memory_equal(rf.out[0].data + 22,
					((const uint8_t[]){ 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0,
							0, 0, 0, 0, 0, 1 }),
					16);
		begin(state);
	}
}

/* RFC 4861 8.2: the destination is on the link on which the packet came */
static void test_redirect_names_the_destination(void **state)
{
	const struct packet c = { "", 17, BYTES(UDP), 17, 0, 0, 0 };
	uint32_t len = build(&c, "2001:db8::9"), redirects = 0;

	(void)state;
	for (unsigned int n = 0; n < 10; n++)
		rf_in(RF_WAN, frame, len, 0);
	for (unsigned int i = 0; i < rf.n_out; i++) {
		const uint8_t *f = rf.out[i].data, *icmp = f + L4;

		if (icmp[0] != 137)
			continue;
		redirects++;
		assert_int_equal(rf.out[i].port, RF_WAN);
		assert_int_equal(f[21], 255);
		assert_int_equal(f[22] << 8 | f[23], 0xfe80);
		assert_memory_equal(f + 38, frame + 22, 16); /* to the sender */
		assert_memory_equal(icmp + 8, frame + 38, 16); /* target */
		assert_memory_equal(icmp + 24, frame + 38, 16); /* destination */
		/* the target's link address is not known; the packet, cut to 8 bytes, hops as they came */
		assert_int_equal(icmp[40], 4);
		assert_int_equal(icmp[41], 1 + (len - 14) / 8);
		assert_memory_equal(icmp + 48, frame + 14, len - 14);
	}
	/* one a second, 6 at once */
	assert_int_equal(redirects, 6);
}

/* by a router with a global address: the kernel cannot say so */
static void test_redirect_not_to_a_global_gateway(void **state)
{
	const struct packet c = { "", 17, BYTES(UDP), 17, 0, 0, 0 };

	(void)state;
	rf_in(RF_WAN, frame, build(&c, "2001:db8:77::9"), 0);
	assert_int_equal(rf.n_out, 1);
	assert_int_equal(rf.out[0].data[20], IPPROTO_UDP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(test_##name, begin, end)
		T(host_headers_get_the_kernels_answers),
		T(host_group_gets_few_answers),
		T(redirect_names_the_destination),
		T(redirect_not_to_a_global_gateway),
#undef T
	};

	rf_start(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
