/* SPDX-License-Identifier: BSD-3-Clause */
/* FTP, TFTP and IRC: which text announces what. */
#include "conntrack/help.h"
#include "conntrack/helper.h"
#include "lib/ip.h"
#include "tests/conntrack/table_fixture.h"

#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define CLIENT "10.0.1.2"
#define SERVER "10.0.2.2"

static struct rte_mempool *pool;
static struct ct_table *t;
static struct ct_shard *s;
static struct ct_conf conf;
static struct ct_entry *e;

static int group(void **state)
{
	tf_eal(state);
	pool = sl_pool_create("packets", 511, RTE_MBUF_DEFAULT_DATAROOM);
	return pool == NULL ? -1 : 0;
}

static int setup(void **state)
{
	(void)state;
	t = tf_table(100, 1, 5000);
	s = t->shard[0];
	ct_conf_init(&conf);
	return 0;
}

static void connection(uint8_t proto, uint16_t port, uint16_t helper)
{
	struct ct_tuple tuple = tf_tuple(CLIENT, SERVER, proto, 40000, port);

	e = tf_add(s, &tuple, 1000);
	assert_non_null(e);
	e->helper = helper;
}

/* a packet of the connection; Return: whether it may go on */
static bool packet(enum sl_ct_info info, uint32_t seq, const void *data, uint32_t len)
{
	uint8_t frame[1600] = { 0 };
	struct rte_ipv4_hdr *ip = (void *)(frame + 14);
	struct rte_tcp_hdr *tcp = (void *)(ip + 1);
	bool is_tcp = e->orig.proto == IPPROTO_TCP;
	uint32_t hdr = is_tcp ? sizeof(*tcp) : sizeof(struct rte_udp_hdr);
	struct ct_pkt c = { .s = s, .conf = &conf };
	bool ok;

	ip->version_ihl = 0x45;
	ip->next_proto_id = e->orig.proto;
	ip->total_length = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) + hdr + len));
	if (is_tcp) {
		tcp->sent_seq = rte_cpu_to_be_32(seq);
		tcp->data_off = 0x50;
	}
	memcpy((uint8_t *)tcp + hdr, data, len);
	c.m = rte_pktmbuf_alloc(pool);
	assert_non_null(c.m);
	len += 14 + (uint32_t)sizeof(*ip) + hdr;
	memcpy(rte_pktmbuf_append(c.m, (uint16_t)len), frame, len);
	c.p = sl_pkt(c.m);
	memset(c.p, 0, sizeof(*c.p));
	assert_true(sl_pkt_parse_ip(c.m, 14));
	c.p->ct = e;
	c.p->ct_info = (uint8_t)info;
	ok = ct_help(&c, e);
	rte_pktmbuf_free(c.m);
	return ok;
}

static bool text(enum sl_ct_info info, uint32_t seq, const char *line)
{
	return packet(info, seq, line, (uint32_t)strlen(line));
}

static bool is_expected(const char *src, uint8_t proto, const char *dst, uint16_t port)
{
	struct ct_tuple tuple = tf_tuple(src, dst, proto, 20, port);
	struct ct_expect out;

	return ct_expect_take(s, &tuple, &out);
}

/* ------------------------------------------------------------------------------------- FTP */

/* one line from each side, so that the next ones begin at 1000 */
static void ftp(void)
{
	connection(IPPROTO_TCP, 21, CT_HELPER_FTP);
	assert_true(text(SL_CT_ESTABLISHED, 998, "x\n"));
	assert_true(text(SL_CT_ESTABLISHED_REPLY, 998, "x\n"));
}

static void test_ftp_client_announces(void **state)
{
	(void)state;
	ftp();
	assert_true(text(SL_CT_ESTABLISHED, 1000, "PORT 10,0,1,2,200,10\r\n"));
	assert_int_equal(ct_expects_count(t->expects), 1);
	assert_true(is_expected(SERVER, IPPROTO_TCP, CLIENT, 200 * 256 + 10));
	assert_true(text(SL_CT_ESTABLISHED, 1022, "eprt |1|10.0.1.2|2001|\r\n"));
	assert_true(is_expected(SERVER, IPPROTO_TCP, CLIENT, 2001));
}

static void test_ftp_server_announces(void **state)
{
	(void)state;
	ftp();
	assert_true(text(SL_CT_ESTABLISHED_REPLY, 1000,
			"227 Entering Passive Mode (10,0,2,2,7,208).\r\n"));
	assert_true(is_expected(CLIENT, IPPROTO_TCP, SERVER, 2000));
	assert_true(text(SL_CT_ESTABLISHED_REPLY, 1045,
			"229 Entering Extended Passive Mode (|||2001|)\r\n"));
	assert_true(is_expected(CLIENT, IPPROTO_TCP, SERVER, 2001));
	/* each side has its own words */
	assert_true(text(SL_CT_ESTABLISHED, 1000, "227 x (10,0,1,2,7,208).\r\n"));
	assert_int_equal(ct_expects_count(t->expects), 0);
}

static void test_ftp_looks_at_beginnings_of_lines_only(void **state)
{
	(void)state;
	ftp();
	assert_true(text(SL_CT_ESTABLISHED, 1001, "PORT 10,0,1,2,200,10\r\n"));
	assert_int_equal(ct_expects_count(t->expects), 0);
	/* that was a line's end, and so was the one before it; older ones are forgotten */
	assert_true(text(SL_CT_ESTABLISHED, 1023, "NOOP\r\n"));
	assert_true(text(SL_CT_ESTABLISHED, 1000, "PORT 10,0,1,2,200,10\r\n"));
	assert_int_equal(ct_expects_count(t->expects), 0);
	assert_true(text(SL_CT_ESTABLISHED, 1023, "PORT 10,0,1,2,200,10\r\n"));
	assert_int_equal(ct_expects_count(t->expects), 1);
}

static void test_ftp_new_connections_are_not_read(void **state)
{
	(void)state;
	ftp();
	assert_true(text(SL_CT_NEW, 1000, "PORT 10,0,1,2,200,10\r\n"));
	assert_int_equal(ct_expects_count(t->expects), 0);
}

static void test_ftp_third_parties_are_ignored(void **state)
{
	(void)state;
	ftp();
	assert_true(text(SL_CT_ESTABLISHED, 1000, "PORT 10,0,1,3,200,10\r\n"));
	assert_true(text(SL_CT_ESTABLISHED_REPLY, 1000, "227 (10,0,2,3,200,10)\r\n"));
	assert_int_equal(ct_expects_count(t->expects), 0);
}

static void test_ftp_cut_announcements_are_dropped(void **state)
{
	static const struct {
		enum sl_ct_info info;
		const char *line;
		bool goes_on;
	} lines[] = {
		{ SL_CT_ESTABLISHED, "POR", false },
		{ SL_CT_ESTABLISHED, "P", false },
		{ SL_CT_ESTABLISHED, "PORT", false },
		{ SL_CT_ESTABLISHED, "PORT 10,0,1,2,7", false },
		{ SL_CT_ESTABLISHED, "PORT 10,0,1,2,7,208", false },
		{ SL_CT_ESTABLISHED, "PORT 10.0.1.2.7.208\r\n", false },
		{ SL_CT_ESTABLISHED, "PORT 10,0,1,2,7,208 \r\n", false },
		{ SL_CT_ESTABLISHED, "EPRT |2|fd01::2|2000|\r\n", false },
		{ SL_CT_ESTABLISHED, "EPRT |1|10.0.1.2|0|\r\n", false },
		{ SL_CT_ESTABLISHED, "EPRT 11110.0.1.2120001\r\n", false },
		{ SL_CT_ESTABLISHED, "PASS PORT\r\n", true },
		{ SL_CT_ESTABLISHED, "XPORT 1\r\n", true },
		{ SL_CT_ESTABLISHED_REPLY, "22", false },
		{ SL_CT_ESTABLISHED_REPLY, "227 nothing", false },
		{ SL_CT_ESTABLISHED_REPLY, "229 (|||2000", false },
		{ SL_CT_ESTABLISHED_REPLY, "229 x", false },
		{ SL_CT_ESTABLISHED_REPLY, "220 hello\r\n", true },
	};

	for (unsigned int i = 0; i < RTE_DIM(lines); i++) {
		ftp();
		assert_int_equal(text(lines[i].info, 1000, lines[i].line), lines[i].goes_on);
		assert_int_equal(ct_expects_count(t->expects), 0);
		tf_teardown(state);
		setup(state);
	}
}

static void test_ftp_where_the_address_stands(void **state)
{
	static const char line[] = "227 Passive (10,0,2,2,7,208).\r\n";
	static const char v6[] = "EPRT |2|2001:db8::5|65535|\r\n";
	struct ct_announced at;
	struct sl_addr addr;
	rte_be16_t port;

	(void)state;
	assert_int_equal(ct_ftp_parse((const uint8_t *)line, sizeof(line) - 1, CT_REPLY, SL_AF_INET,
					 &addr, &port, &at),
			1);
	assert_int_equal(at.off, 13);
	assert_int_equal(at.len, strlen("10,0,2,2,7,208"));
	assert_int_equal(ct_ftp_parse((const uint8_t *)v6, sizeof(v6) - 1, CT_ORIGINAL, SL_AF_INET6,
					 &addr, &port, &at),
			1);
	assert_int_equal(port, RTE_BE16(65535));
	assert_int_equal(addr.b[0], 0x20);
	assert_int_equal(addr.b[15], 5);
	assert_int_equal(at.len, strlen("|2|2001:db8::5|65535|"));
}

/* ------------------------------------------------------------------------------------ TFTP */

static void test_tftp_requests(void **state)
{
	static const uint8_t codes[][4] = { { 0, 1, 'f' }, { 0, 2, 'f' }, { 0, 3, 0, 1 },
		{ 0, 4, 0, 1 }, { 0, 5, 0, 1 }, { 1, 0 } };

	(void)state;
	connection(IPPROTO_UDP, 69, CT_HELPER_TFTP);
	for (unsigned int i = 0; i < RTE_DIM(codes); i++) {
		assert_true(packet(SL_CT_NEW, 0, codes[i], 4));
		assert_int_equal(is_expected(SERVER, IPPROTO_UDP, CLIENT, 40000), i < 2);
	}
	assert_true(packet(SL_CT_NEW, 0, codes[0], 1));
	assert_int_equal(ct_expects_count(t->expects), 0);
}

static void test_tftp_is_expected_once_confirmed(void **state)
{
	struct ct_tuple tuple = tf_tuple(CLIENT, SERVER, IPPROTO_UDP, 40000, 69), answer;
	static const uint8_t request[] = { 0, 1, 'f', 0 };

	(void)state;
	assert_true(ct_tuple_invert(&tuple, &answer));
	e = ct_create(s, &tuple, &answer);
	assert_non_null(e);
	e->helper = CT_HELPER_TFTP;
	ct_refresh(s, e, 30);
	assert_true(packet(SL_CT_NEW, 0, request, sizeof(request)));
	assert_false(is_expected(SERVER, IPPROTO_UDP, CLIENT, 40000));
	ct_confirm(s, e);
	assert_true(is_expected(SERVER, IPPROTO_UDP, CLIENT, 40000));
}

/* ------------------------------------------------------------------------------------- IRC */

static void test_irc_dcc(void **state)
{
	/* 10.0.1.2 = 167772418 */
	static const struct {
		const char *line;
		bool is_expected;
	} lines[] = {
		{ "PRIVMSG bob :\1DCC SEND file 167772418 2000\1\n", true },
		{ "privmsg bob :\1DCC CHAT chat 167772418 2000\1\r\n", true },
		{ " \nPRIVMSG bob :\1DCC MOVE x 167772418   2000\1\n", true },
		{ "PRIVMSG bob :\1DCC TSEND x 167772418 2000\1\n", true },
		{ "PRIVMSG bob :\1DCC SCHAT x 167772418 2000\1\n", true },
		{ "\r\nPRIVMSG bob :\1DCC SEND x 167772418 2000\1\n", true },
		{ "PRIVMSG bob :\1DCC SEND x 167772418 67536\1\n", true },
		{ "\tPRIVMSG bob :\1DCC SEND x 167772418 2000\1\n", false },
		{ "JOIN x\r\nPRIVMSG bob :\1DCC SEND x 167772418 2000\1\n", false },
		{ "PRIVMSG bob :hi :\1DCC SEND x 167772418 2000\1\n", false },
		{ "PRIVMSG bob :\1DCC GIVE x 167772418 2000\1\n", false },
		{ "PRIVMSG bob :DCC SEND x 167772418 2000\1\n", false },
		{ "NOTICE bob :\1DCC SEND x 167772418 2000\1\n", false },
		{ "PRIVMSG bob :\1DCC SEND x 167772419 2000\1\n", false },
		{ "PRIVMSG bob :\1DCC SEND x 167772418 0\1\n", false },
		{ "PRIVMSG bob :\1DCC SEND x 167772418 2000\1", false },
	};

	(void)state;
	connection(IPPROTO_TCP, 6667, CT_HELPER_IRC);
	for (unsigned int i = 0; i < RTE_DIM(lines); i++) {
		assert_true(text(SL_CT_ESTABLISHED, 1, lines[i].line));
		assert_int_equal(is_expected("192.0.2.9", IPPROTO_TCP, CLIENT, 2000),
				lines[i].is_expected);
	}
	/* the server announces nothing */
	assert_true(text(SL_CT_ESTABLISHED_REPLY, 1, lines[0].line));
	assert_int_equal(ct_expects_count(t->expects), 0);
}

static void test_irc_where_the_address_stands(void **state)
{
	static const char line[] = "PRIVMSG bob :\1DCC SEND file 167772418 2000\1\n";
	struct ct_announced at;
	uint32_t addr;
	uint16_t port;

	(void)state;
	assert_true(ct_irc_parse((const uint8_t *)line, sizeof(line) - 1, &addr, &port, &at));
	assert_int_equal(addr, 167772418);
	assert_int_equal(port, 2000);
	assert_memory_equal(line + at.off, "167772418 2000", at.len);
	assert_int_equal(at.len, strlen("167772418 2000"));
	/* no read goes over the end, wherever the text is cut */
	for (uint32_t len = 0; len < sizeof(line) - 1; len++)
		assert_false(ct_irc_parse((const uint8_t *)line, len, &addr, &port, &at));
}

static void test_without_helper_nothing_is_read(void **state)
{
	(void)state;
	connection(IPPROTO_TCP, 21, CT_HELPER_NONE);
	assert_true(text(SL_CT_ESTABLISHED, 998, "x\n"));
	assert_true(text(SL_CT_ESTABLISHED, 1000, "PORT 10,0,1,2,200,10\r\n"));
	assert_int_equal(ct_expects_count(t->expects), 0);
}

static void test_names(void **state)
{
	(void)state;
	assert_int_equal(ct_helper_find("ftp", SL_AF_INET6, IPPROTO_TCP), CT_HELPER_FTP);
	assert_int_equal(ct_helper_find("ftp", SL_AF_INET, IPPROTO_UDP), CT_HELPER_NONE);
	assert_int_equal(ct_helper_find("irc", SL_AF_INET6, IPPROTO_TCP), CT_HELPER_NONE);
	assert_string_equal(ct_helper_name(CT_HELPER_TFTP), "tftp");
}

#define UNIT(name) cmocka_unit_test_setup_teardown(name, setup, tf_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(test_ftp_client_announces),
		UNIT(test_ftp_server_announces),
		UNIT(test_ftp_looks_at_beginnings_of_lines_only),
		UNIT(test_ftp_new_connections_are_not_read),
		UNIT(test_ftp_third_parties_are_ignored),
		UNIT(test_ftp_cut_announcements_are_dropped),
		UNIT(test_ftp_where_the_address_stands),
		UNIT(test_tftp_requests),
		UNIT(test_tftp_is_expected_once_confirmed),
		UNIT(test_irc_dcc),
		UNIT(test_irc_where_the_address_stands),
		UNIT(test_without_helper_nothing_is_read),
		UNIT(test_names),
	};

	return cmocka_run_group_tests(tests, group, NULL);
}
