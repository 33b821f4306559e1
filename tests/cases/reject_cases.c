/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of a firewall that made others cut a line, or that did not fit the connection. */
#include "app/sluice/extensions.h"
#include "config/build.h"
#include "lib/conf.h"
#include "lib/stage.h"
#include "tests/lib/router_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define L4 34U

static char path[] = "/tmp/sluice-reject-XXXXXX";
static struct sl_firewall *fw;

static uint32_t long_at(const struct rf_frame *f, unsigned int off)
{
	const uint8_t *b = f->data + off;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* a TCP segment without data from lan to wan's neighbour */
static void send_tcp(uint8_t flags, uint32_t seq, uint32_t ack)
{
	uint8_t tcp[20] = { 0x9c, 0x40, 0, 80, (uint8_t)(seq >> 24), (uint8_t)(seq >> 16),
		(uint8_t)(seq >> 8), (uint8_t)seq, (uint8_t)(ack >> 24), (uint8_t)(ack >> 16),
		(uint8_t)(ack >> 8), (uint8_t)ack, 0x50, flags, 0x10 };
	struct rf_ip ip = { .port = RF_LAN,
		.src = "198.51.100.2",
		.dst = "192.0.2.2",
		.proto = IPPROTO_TCP,
		.payload = tcp,
		.len = sizeof(tcp) };

	rf_seal(&ip, tcp, 16);
	rf_send(&ip);
}

/* O23: a reset answers a SYN with sequence 0 and acknowledges it, in the name of the destination */
static void test_o23_reset_of_a_syn(void **state)
{
	const struct rf_frame *f = &rf.out[0];

	(void)state;
	rf_clear();
	send_tcp(0x02, 1000, 0);
	assert_int_equal(rf.n_out, 1);
	assert_int_equal(f->port, RF_LAN);
	assert_int_equal(long_at(f, 26), 0xc0000202); /* 192.0.2.2 */
	assert_int_equal(long_at(f, 30), 0xc6336402);
	assert_int_equal(long_at(f, L4), 80U << 16 | 0x9c40);
	assert_int_equal(long_at(f, L4 + 4), 0);
	assert_int_equal(long_at(f, L4 + 8), 1001);
	assert_int_equal(f->data[L4 + 13], 0x14);
}

/* O23: of an ACK it takes its sequence number from there, and acknowledges nothing */
static void test_o23_reset_of_an_ack(void **state)
{
	const struct rf_frame *f = &rf.out[0];

	(void)state;
	rf_clear();
	send_tcp(0x10, 1000, 5000);
	assert_int_equal(rf.n_out, 1);
	assert_int_equal(long_at(f, L4 + 4), 5000);
	assert_int_equal(long_at(f, L4 + 8), 0);
	assert_int_equal(f->data[L4 + 13], 0x04);
}

/* O23: a reset is never answered; and of a flood few get an error */
static void test_o23_answers_are_bounded(void **state)
{
	static const uint8_t udp[] = { 0x03, 0xe8, 0, 53, 0, 8, 0, 0 };
	const struct rf_ip ip = { .port = RF_LAN,
		.src = "198.51.100.2",
		.dst = "192.0.2.2",
		.proto = IPPROTO_UDP,
		.payload = udp,
		.len = sizeof(udp) };

	(void)state;
	rf_clear();
	send_tcp(0x04, 1000, 0);
	assert_int_equal(rf.n_out, 0);
	rf_pass(100000000000ULL);
	for (unsigned int i = 0; i < 100; i++)
		rf_send(&ip);
	assert_in_range(rf.n_out, 1, 6);
	for (unsigned int i = 0; i < rf.n_out; i++)
		assert_int_equal(rf.out[i].data[L4], 3);
}

static int start(void **state)
{
	static const char rules[] =
			"*filter\n:FORWARD ACCEPT\n"
			"-A FORWARD -p tcp -j REJECT --reject-with tcp-reset\n"
			"-A FORWARD -p udp -j REJECT --reject-with icmp-port-unreachable\nCOMMIT\n";
	const struct sl_conf conf = { .path = "conf", .firewall = { .iptables = path } };
	const struct sl_firewall_args args = { .conf = &conf, .exts = &sl_extensions };
	struct sl_firewall_args with = args;
	struct sl_stage_spec *specs;
	unsigned int n;
	char err[256];
	int fd = mkstemp(path);

	(void)state;
	rf_start(1);
	with.r = rf.r;
	if (fd < 0 || write(fd, rules, sizeof(rules) - 1) != sizeof(rules) - 1
			|| sl_firewall_create(&with, &fw, err, sizeof(err)) < 0
			|| sl_firewall_specs(fw, NULL, 0, &specs, &n) < 0)
		return -1;
	close(fd);
	rf_apply(specs, n);
	free(specs);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	unlink(path);
	assert_true(rf_is_whole());
	rf_apply(NULL, 0);
	sl_firewall_free(fw);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_o23_reset_of_a_syn),
		cmocka_unit_test(test_o23_reset_of_an_ack),
		cmocka_unit_test(test_o23_answers_are_bounded),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
