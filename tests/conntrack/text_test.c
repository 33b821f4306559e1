/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines that a kernel wrote into /proc/net/nf_conntrack, and the words that choose some of them. */
#include "conntrack/filter.h"
#include "conntrack/text.h"
#include "tests/conntrack/table_fixture.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct ct_shard *shard;
static struct ct_conf conf;

static void assert_line(const struct ct_entry *e, const char *expected)
{
	struct ct_view v;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	ct_view(&v, &conf, shard, e);
	ct_text_line(f, &v);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

static struct ct_entry *zoned(struct ct_tuple t, uint16_t orig, uint16_t reply, uint32_t timeout_s)
{
	struct ct_tuple answer;
	struct ct_entry *e;

	assert_true(ct_tuple_invert(&t, &answer));
	t.zone = orig;
	answer.zone = reply;
	e = ct_create(shard, &t, &answer);
	assert_non_null(e);
	ct_confirm(shard, e);
	ct_refresh(shard, e, timeout_s);
	return e;
}

static int start_test(void **state)
{
	(void)state;
	shard = tf_table(100, 1, 1000)->shard[0];
	shard->now_ms = 1000;
	ct_conf_init(&conf);
	return 0;
}

static void test_line_when_plain_is_the_kernels(void **state)
{
	struct ct_tuple tcp = tf_tuple("127.0.0.1", "127.0.0.1", IPPROTO_TCP, 46300, 7777);
	struct ct_tuple udp = tf_tuple("10.9.0.1", "10.9.0.2", IPPROTO_UDP, 2000, 7);
	struct ct_tuple esp = tf_tuple("127.0.0.1", "127.0.0.1", IPPROTO_ESP, 0, 0);
	struct ct_entry *e = zoned(tcp, 0, 0, 10);

	(void)state;
	e->status |= CT_ASSURED | CT_SEEN_REPLY;
	e->tcp.state = CT_TCP_CLOSE;
	assert_line(e,
			"ipv4     2 tcp      6 10 CLOSE src=127.0.0.1 dst=127.0.0.1 sport=46300 "
			"dport=7777 src=127.0.0.1 dst=127.0.0.1 sport=7777 dport=46300 [ASSURED] "
			"mark=0 zone=0 use=2\n");
	e = zoned(udp, 5, 5, 30);
	e->mark = 15;
	shard->now_ms += 500;
	assert_line(e,
			"ipv4     2 udp      17 29 src=10.9.0.1 dst=10.9.0.2 sport=2000 dport=7 "
			"[UNREPLIED] src=10.9.0.2 dst=10.9.0.1 sport=7 dport=2000 mark=15 zone=5 "
			"use=2\n");
	e = zoned(esp, 0, 0, 600);
	assert_line(e,
			"ipv4     2 unknown  50 600 src=127.0.0.1 dst=127.0.0.1 [UNREPLIED] "
			"src=127.0.0.1 dst=127.0.0.1 mark=0 zone=0 use=2\n");
}

static void test_line_when_ports_are_no_ports_is_the_kernels(void **state)
{
	struct ct_tuple gre = tf_tuple("127.0.0.1", "127.0.0.1", IPPROTO_GRE, 0, 0x1234);
	struct ct_tuple ping = tf_icmp("::1", "::1", 9, 128);
	struct ct_entry *e = zoned(gre, 0, 7, 28);

	ping.proto = IPPROTO_ICMPV6;

	(void)state;
	e->gre.timeout_s = 30;
	e->gre.stream_s = 180;
	assert_line(e,
			"ipv4     2 gre      47 28 timeout=30, stream_timeout=180 src=127.0.0.1 "
			"dst=127.0.0.1 srckey=0x0 dstkey=0x1234 [UNREPLIED] src=127.0.0.1 "
			"dst=127.0.0.1 srckey=0x1234 dstkey=0x0 zone-reply=7 mark=0 use=2\n");
	e = zoned(ping, 0, 0, 28);
	e->status |= CT_SEEN_REPLY;
	assert_line(e,
			"ipv6     10 icmpv6   58 28 src=0000:0000:0000:0000:0000:0000:0000:0001 "
			"dst=0000:0000:0000:0000:0000:0000:0000:0001 type=128 code=0 id=9 "
			"src=0000:0000:0000:0000:0000:0000:0000:0001 "
			"dst=0000:0000:0000:0000:0000:0000:0000:0001 type=129 code=0 id=9 mark=0 "
			"zone=0 use=2\n");
}

static void test_line_when_accounts_are_kept_has_them(void **state)
{
	struct ct_entry *e =
			zoned(tf_tuple("127.0.0.1", "127.0.0.1", IPPROTO_UDP, 37724, 9), 5, 5, 30);
	struct ct_cold *cold = ct_cold(shard, e);

	(void)state;
	e->mark = 15;
	cold->packets[CT_ORIGINAL] = 1;
	cold->bytes[CT_ORIGINAL] = 29;
	conf.acct = 1;
	conf.timestamp = 1;
	assert_line(e,
			"ipv4     2 udp      17 30 src=127.0.0.1 dst=127.0.0.1 sport=37724 dport=9 "
			"packets=1 bytes=29 [UNREPLIED] src=127.0.0.1 dst=127.0.0.1 sport=9 "
			"dport=37724 packets=0 bytes=0 mark=15 zone=5 delta-time=0 use=2\n");
}

static bool holds(const struct ct_entry *e, const char *const *words)
{
	struct ct_filter f = { 0 };
	char err[512];

	for (; *words != NULL; words++)
		if (ct_filter_add(&f, *words, err, sizeof(err)) < 0)
			fail_msg("%s", err);
	return ct_filter_holds(&f, e);
}

#define HOLDS(e, ...) holds(e, (const char *const[]){ __VA_ARGS__, NULL })

static void test_filter_when_every_word_fits_holds(void **state)
{
	struct ct_entry *e =
			zoned(tf_tuple("10.0.0.1", "192.0.2.5", IPPROTO_TCP, 1000, 80), 3, 3, 100);
	struct ct_entry *ping = zoned(tf_icmp("10.0.0.1", "192.0.2.5", 77, 8), 0, 0, 30);

	(void)state;
	e->tcp.state = CT_TCP_ESTABLISHED;
	e->status |= CT_SEEN_REPLY | CT_ASSURED;
	e->mark = 0x12;
	assert_true(HOLDS(e, "family=4", "proto=tcp"));
	assert_true(HOLDS(e, "src=10.0.0.0/8", "dst=192.0.2.5", "sport=1000", "dport=80"));
	assert_true(HOLDS(e, "reply-src=192.0.2.5", "reply-dst=10.0.0.1", "reply-sport=80",
			"reply-dport=1000"));
	assert_true(HOLDS(e, "state=established", "status=ASSURED", "status=seen_reply"));
	assert_true(HOLDS(e, "mark=0x12", "zone=3"));
	assert_true(HOLDS(e, "mark=0x2/0xf"));
	assert_true(HOLDS(ping, "proto=icmp", "id=77", "status=UNREPLIED"));
	assert_false(HOLDS(e, "id=1000"));
	assert_false(HOLDS(e, "family=6"));
	assert_false(HOLDS(e, "proto=17"));
	assert_false(HOLDS(e, "src=10.0.0.2"));
	assert_false(HOLDS(e, "src=::/0"));
	assert_false(HOLDS(e, "dport=81", "sport=1000"));
	assert_false(HOLDS(e, "reply-sport=1000"));
	assert_false(HOLDS(e, "state=SYN_SENT"));
	assert_false(HOLDS(ping, "state=ESTABLISHED"));
	assert_false(HOLDS(e, "status=UNREPLIED"));
	assert_false(HOLDS(e, "mark=2"));
	assert_false(HOLDS(e, "zone=0"));
}

static void test_filter_when_a_word_means_nothing_says_what_may_stand_there(void **state)
{
	static const struct {
		const char *word, *err;
	} cases[] = {
		{ "src=10.0.0.300", "src=10.0.0.300: an address or network was expected" },
		{ "sport=65536", "sport=65536: a port was expected" },
		{ "sport=", "sport=: a port was expected" },
		{ "mark=1/x", "mark=1/x: a number, or number/mask was expected" },
		{ "mark=-1", "mark=-1: a number, or number/mask was expected" },
		{ "family=5", "family=5: 4 or 6 was expected" },
		{ "proto=nosuch", "proto=nosuch: a protocol by name or number was expected" },
		{ "status=NEW", "status=NEW: ASSURED, SEEN_REPLY, UNREPLIED or EXPECTED was expected" },
	};
	struct ct_filter f = { 0 };
	char err[512];

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		assert_int_equal(ct_filter_add(&f, cases[i].word, err, sizeof(err)), -EINVAL);
		assert_string_equal(err, cases[i].err);
	}
	assert_int_equal(ct_filter_add(&f, "colour=red", err, sizeof(err)), -EINVAL);
	assert_int_equal(ct_filter_add(&f, "zone=1", err, sizeof(err)), 0);
	assert_int_equal(ct_filter_add(&f, "zone=2", err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "zone=2: was given before");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, start_test, tf_teardown)
		T(test_line_when_plain_is_the_kernels),
		T(test_line_when_ports_are_no_ports_is_the_kernels),
		T(test_line_when_accounts_are_kept_has_them),
		T(test_filter_when_every_word_fits_holds),
		T(test_filter_when_a_word_means_nothing_says_what_may_stand_there),
#undef T
	};

	return cmocka_run_group_tests(tests, tf_eal, NULL);
}
