/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs that broke the NAT of others; names as in router_cases.c. What is expected the kernel does. */
#include "app/sluice/extensions.h"
#include "config/build.h"
#include "conntrack/table.h"
#include "lib/conf.h"
#include "lib/ip.h"
#include "lib/stage.h"
#include "tests/lib/router_fixture.h"

#include <rte_ip.h>

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define WORKERS 4
#define SECOND 1000000000ULL
#define L3 14U
#define L4 34U
#define QUOTE (L4 + 8)

static char path[] = "/tmp/sluice-nat-XXXXXX";
static struct sl_firewall *fw;

/* the LAN is behind wan's address */
static const char home[] = "*nat\n:PREROUTING ACCEPT\n:POSTROUTING ACCEPT\n"
			   "-A POSTROUTING -o wan -j MASQUERADE\nCOMMIT\n";

/* ---- rules ---------------------------------------------------------------------------------- */

static void load(const char *rules)
{
	const struct sl_conf conf = {
		.path = "conf", .firewall = { .iptables = path }, .conntrack_max = 4096
	};
	const struct sl_firewall_args args = { .r = rf.r, .conf = &conf, .exts = &sl_extensions };
	struct sl_firewall *old = fw;
	struct sl_stage_spec *specs;
	unsigned int n;
	char err[256] = "";
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(rules, f);
	assert_int_equal(fclose(f), 0);
	if (sl_firewall_create(&args, &fw, err, sizeof(err)) < 0)
		fail_msg("%s", err);
	assert_int_equal(sl_firewall_specs(fw, NULL, 0, &specs, &n), 0);
	rf_apply(specs, n);
	free(specs);
	sl_firewall_free(old);
	rf_clear();
}

static void kill_all(void)
{
	const struct ct_table *t = ct_table_of(rf.r);

	for (unsigned int i = 0; i < t->n_shards; i++)
		for (uint32_t at = 0; at < t->shard[i]->high; at++) {
			struct ct_entry *e = &t->shard[i]->entries[at];

			if (e->status & CT_CONFIRMED && !(e->status & (CT_DYING | CT_UNFOUND)))
				ct_kill(t->shard[i], e);
		}
	rf_pass(SECOND);
}

static int end(void **state)
{
	(void)state;
	rf_clear();
	kill_all();
	assert_int_equal(ct_table_count(ct_table_of(rf.r)), 0);
	assert_true(rf_is_whole());
	return 0;
}

/* ---- frames --------------------------------------------------------------------------------- */

static uint32_t long_at(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static uint16_t short_at(const uint8_t *b)
{
	return (uint16_t)(b[0] << 8 | b[1]);
}

static void put16(uint8_t *b, unsigned int v)
{
	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

static uint32_t v4(const char *text)
{
	return rte_be_to_cpu_32(inet_addr(text));
}

/* 0xffff: the sum over these bytes and @more is right */
static uint16_t sum(const uint8_t *b, uint32_t len, uint32_t more)
{
	for (uint32_t i = 0; i + 1 < len; i += 2)
		more += short_at(b + i);
	if (len & 1)
		more += (uint32_t)b[len - 1] << 8;
	while (more >> 16)
		more = (more & 0xffff) + (more >> 16);
	return (uint16_t)more;
}

/* both checksums of a whole TCP, UDP or ICMP packet */
static void assert_sums(const struct rf_frame *f)
{
	const uint8_t *ip = f->data + L3;
	uint32_t len = short_at(ip + 2) - 20U, pseudo = 0;

	assert_int_equal(sum(ip, 20, 0), 0xffff);
	if (ip[9] != IPPROTO_ICMP)
		pseudo = sum(ip + 12, 8, ip[9] + len);
	if (ip[9] != IPPROTO_UDP || short_at(f->data + L4 + 6) != 0)
		assert_int_equal(sum(f->data + L4, len, pseudo), 0xffff);
}

static void assert_way(const struct rf_frame *f, uint16_t port, const char *src, const char *dst)
{
	assert_int_equal(f->port, port);
	assert_int_equal(long_at(f->data + L3 + 12), v4(src));
	assert_int_equal(long_at(f->data + L3 + 16), v4(dst));
}

static unsigned int worker;

static void give(const struct rf_ip *ip)
{
	static uint8_t frame[RF_FRAME_MAX];

	rf_in_at(worker, ip->port, frame, rf_build(ip, frame), 0);
	rf_settle();
}

static struct rf_ip from_lan(const char *dst, uint8_t proto, const void *l4, uint32_t len)
{
	return (struct rf_ip){ .port = RF_LAN,
		.src = "198.51.100.2",
		.dst = dst,
		.proto = proto,
		.payload = l4,
		.len = len };
}

static struct rf_ip from_wan(const char *dst, uint8_t proto, const void *l4, uint32_t len)
{
	return (struct rf_ip){ .port = RF_WAN,
		.src = "192.0.2.2",
		.dst = dst,
		.proto = proto,
		.payload = l4,
		.len = len };
}

static void send_udp(struct rf_ip ip, unsigned int sport, unsigned int dport, uint32_t len)
{
	static uint8_t udp[9000];

	memset(udp, 0, sizeof(udp));
	put16(udp, sport);
	put16(udp + 2, dport);
	put16(udp + 4, 8 + len);
	ip.proto = IPPROTO_UDP;
	ip.payload = udp;
	ip.len = 8 + len;
	rf_seal(&ip, udp, 6);
	give(&ip);
}

static void send_tcp(struct rf_ip ip, unsigned int sport, unsigned int dport, uint8_t flags,
		uint32_t seq, uint32_t ack, uint32_t len)
{
	uint8_t tcp[2000] = { 0 };

	put16(tcp, sport);
	put16(tcp + 2, dport);
	put16(tcp + 4, seq >> 16);
	put16(tcp + 6, seq & 0xffff);
	put16(tcp + 8, ack >> 16);
	put16(tcp + 10, ack & 0xffff);
	tcp[12] = 5 << 4;
	tcp[13] = flags;
	put16(tcp + 14, 10000);
	ip.proto = IPPROTO_TCP;
	ip.payload = tcp;
	ip.len = 20 + len;
	rf_seal(&ip, tcp, 16);
	give(&ip);
}

static void send_echo(struct rf_ip ip, uint8_t type, unsigned int id, uint32_t len)
{
	static uint8_t icmp[4000];

	memset(icmp, 0, sizeof(icmp));
	icmp[0] = type;
	put16(icmp + 4, id);
	ip.proto = IPPROTO_ICMP;
	ip.payload = icmp;
	ip.len = 8 + len;
	rf_seal(&ip, icmp, 2);
	give(&ip);
}

/* an error of 192.0.2.2 about a frame that left, quoting its header and 8 bytes */
static void send_error(const struct rf_frame *about, uint8_t type, uint8_t code, unsigned int word)
{
	uint8_t icmp[8 + 28] = { type, code };
	struct rf_ip ip = from_wan("192.0.2.1", IPPROTO_ICMP, icmp, sizeof(icmp));

	put16(icmp + 6, word);
	memcpy(icmp + 8, about->data + L3, 28);
	rf_seal(&ip, icmp, 2);
	give(&ip);
}

/* the error has come to the LAN and quotes what the LAN host sent */
static void assert_error(
		const struct rf_frame *f, uint8_t type, const char *from, unsigned int first)
{
	const uint8_t *quote = f->data + QUOTE;

	assert_way(f, RF_LAN, from, "198.51.100.2");
	assert_sums(f);
	assert_int_equal(f->data[L4], type);
	assert_int_equal(sum(quote, 20, 0), 0xffff);
	assert_int_equal(long_at(quote + 12), v4("198.51.100.2"));
	assert_int_equal(short_at(quote + 20 + (quote[9] == IPPROTO_ICMP ? 4 : 0)), first);
}

/* ---- cases ---------------------------------------------------------------------------------- */

/* N01: the error that comes back has a wrong checksum */
static void test_n01_time_exceeded_comes_back(void **state)
{
	(void)state;
	load(home);
	send_echo(from_lan("192.0.2.2", 0, NULL, 0), 8, 0x1234, 30);
	assert_int_equal(rf.n_out, 1);
	assert_way(&rf.out[0], RF_WAN, "192.0.2.1", "192.0.2.2");
	assert_sums(&rf.out[0]);
	send_error(&rf.out[0], 11, 0, 0);
	assert_int_equal(rf.n_out, 2);
	assert_error(&rf.out[1], 11, "192.0.2.2", 0x1234);
}

/* N02: the router's own Time Exceeded is taken for a forgery, or translated */
static void test_n02_own_time_exceeded(void **state)
{
	struct rf_ip ip = from_lan("192.0.2.2", 0, NULL, 0);

	(void)state;
	load(home);
	ip.ttl = 1;
	send_udp(ip, 4000, 33434, 20);
	assert_int_equal(rf.n_out, 1);
	assert_error(&rf.out[0], 11, "198.51.100.1", 4000);
}

/* N03: what is too large is answered to the translated source */
static void test_n03_too_large_for_the_way_out(void **state)
{
	struct rf_ip ip = from_lan("192.0.2.2", 0, NULL, 0);

	(void)state;
	load(home);
	ip.frag = 0x4000;
	send_udp(ip, 4000, 53, 1600);
	assert_int_equal(rf.n_out, 1);
	assert_error(&rf.out[0], 3, "198.51.100.1", 4000);
	assert_int_equal(rf.out[0].data[L4 + 1], 4);
	assert_int_equal(short_at(rf.out[0].data + L4 + 6), 1500);
	assert_int_equal(ct_table_count(ct_table_of(rf.r)), 0);
}

/* N05: a quote of 8 bytes is all that the standard asks for */
static void test_n05_eight_bytes_of_tcp(void **state)
{
	(void)state;
	load(home);
	send_tcp(from_lan("192.0.2.2", 0, NULL, 0), 4000, 80, 0x02, 1000, 0, 0);
	send_tcp(from_wan("192.0.2.1", 0, NULL, 0), 80, 4000, 0x12, 5000, 1001, 0);
	send_tcp(from_lan("192.0.2.2", 0, NULL, 0), 4000, 80, 0x10, 1001, 5001, 1000);
	assert_int_equal(rf.n_out, 3);
	send_error(&rf.out[2], 3, 4, 1400);
	assert_int_equal(rf.n_out, 4);
	assert_error(&rf.out[3], 3, "192.0.2.2", 4000);
	assert_int_equal(short_at(rf.out[3].data + L4 + 6), 1400);
}

/* N10: of fragments only the first is translated, or rules do not see the port of the others */
static void test_n10_second_fragment_first(void **state)
{
	static uint8_t data[1608];
	struct rf_ip whole = from_lan("192.0.2.2", IPPROTO_UDP, data, sizeof(data));
	struct rf_ip first, later;

	(void)state;
	load("*nat\n-A POSTROUTING -o wan -j SNAT --to-source 192.0.2.77\nCOMMIT\n"
	     "*filter\n:FORWARD DROP\n-A FORWARD -p udp --dport 9000 -j ACCEPT\nCOMMIT\n");
	put16(data, 4000);
	put16(data + 2, 9000);
	put16(data + 4, sizeof(data));
	rf_seal(&whole, data, 6);
	whole.id = 77;
	first = later = whole;
	first.frag = 0x2000;
	first.len = 800;
	later.frag = 100;
	later.payload = data + 800;
	later.len = sizeof(data) - 800;
	worker = 1;
	give(&later);
	assert_int_equal(rf.n_out, 0);
	worker = 2;
	give(&first);
	worker = 0;
	assert_int_equal(rf.n_out, 2);
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int frag = short_at(rf.out[i].data + L3 + 6);

		assert_way(&rf.out[i], RF_WAN, "192.0.2.77", "192.0.2.2");
		assert_int_equal(sum(rf.out[i].data + L3, 20, 0), 0xffff);
		assert_int_equal(frag, i == 0 ? 0x2000 : 100);
		assert_int_equal(short_at(rf.out[i].data + L3 + 2), 20 + (i == 0 ? 800 : 808));
	}
}

/* N12: an echo in fragments */
static void test_n12_large_echo(void **state)
{
	static uint8_t icmp[3008];
	struct rf_ip ip;
	unsigned int n;

	(void)state;
	load(home);
	for (unsigned int reply = 0; reply < 2; reply++) {
		ip = reply ? from_wan("192.0.2.1", IPPROTO_ICMP, icmp, sizeof(icmp))
			   : from_lan("192.0.2.2", IPPROTO_ICMP, icmp, sizeof(icmp));
		memset(icmp, 0, sizeof(icmp));
		icmp[0] = reply ? 0 : 8;
		put16(icmp + 4, 0x4321);
		rf_seal(&ip, icmp, 2);
		for (unsigned int at = 0; at < sizeof(icmp); at += 1480) {
			struct rf_ip piece = ip;

			piece.id = (uint16_t)(100 + reply);
			piece.payload = icmp + at;
			piece.len = RTE_MIN(1480U, (uint32_t)sizeof(icmp) - at);
			piece.frag = (uint16_t)(at / 8 | (at + 1480 < sizeof(icmp) ? 0x2000 : 0));
			give(&piece);
		}
		n = rf.n_out;
		assert_int_equal(n, 3);
		for (unsigned int i = 0; i < n; i++) {
			if (reply)
				assert_way(&rf.out[i], RF_LAN, "192.0.2.2", "198.51.100.2");
			else
				assert_way(&rf.out[i], RF_WAN, "192.0.2.1", "192.0.2.2");
		}
		/* the first one has the header, which says that it is of one echo */
		assert_int_equal(short_at(rf.out[0].data + L4 + 4), 0x4321);
		rf_clear();
	}
}

/* N19: what is out of the window leaks untranslated, and a reset answers it */
static void test_n19_out_of_window_of_a_translated_flow(void **state)
{
	const struct rf_ip client = from_wan("192.0.2.1", 0, NULL, 0);
	const struct rf_ip server = from_lan("192.0.2.2", 0, NULL, 0);

	(void)state;
	load("*nat\n-A PREROUTING -i wan -p tcp --dport 8080 -j DNAT --to-destination 198.51.100.2:80\n"
	     "COMMIT\n*filter\n:FORWARD ACCEPT\n"
	     "-A FORWARD -m conntrack --ctstate INVALID -j DROP\nCOMMIT\n");
	send_tcp(client, 4000, 8080, 0x02, 1000, 0, 0);
	send_tcp(server, 80, 4000, 0x12, 5000, 1001, 0);
	send_tcp(client, 4000, 8080, 0x10, 1001, 5001, 0);
	assert_int_equal(rf.n_out, 3);
	assert_way(&rf.out[0], RF_LAN, "192.0.2.2", "198.51.100.2");
	assert_way(&rf.out[1], RF_WAN, "192.0.2.1", "192.0.2.2");
	rf_clear();
	send_tcp(server, 80, 4000, 0x10, 505001, 1001, 100);
	assert_int_equal(rf.n_out, 0);
	/* the session goes on */
	send_tcp(server, 80, 4000, 0x10, 5001, 1001, 100);
	assert_int_equal(rf.n_out, 1);
	assert_way(&rf.out[0], RF_WAN, "192.0.2.1", "192.0.2.2");
	assert_int_equal(short_at(rf.out[0].data + L4), 8080);
	assert_sums(&rf.out[0]);
}

/* N27: two first packets of one connection on two workers */
static void test_n27_two_first_packets(void **state)
{
	static uint8_t udp[16], frame[RF_FRAME_MAX];
	struct rf_ip ip = from_wan("192.0.2.1", IPPROTO_UDP, udp, sizeof(udp));

	(void)state;
	load("*nat\n-A PREROUTING -i wan -p udp --dport 53 -j DNAT --to-destination "
	     "198.51.100.2-198.51.100.3 --random\nCOMMIT\n");
	for (unsigned int i = 0; i < 200; i++) {
		uint32_t len, before = ct_table_count(ct_table_of(rf.r));

		put16(udp, 1024 + i);
		put16(udp + 2, 53);
		put16(udp + 4, sizeof(udp));
		put16(udp + 6, 0);
		rf_seal(&ip, udp, 6);
		len = rf_build(&ip, frame);
		rf_in_at(i % WORKERS, RF_WAN, frame, len, 0);
		rf_in_at((i + 1) % WORKERS, RF_WAN, frame, len, 0);
		rf_settle();
		assert_int_equal(ct_table_count(ct_table_of(rf.r)), before + 1);
		/* .3 is asked for, once; to .2 both go */
		if (rf.n_out == 2) {
			assert_memory_equal(rf.out[0].data, rf.out[1].data, rf.out[0].len);
			assert_way(&rf.out[0], RF_LAN, "192.0.2.2", "198.51.100.2");
		} else {
			assert_true(rf.n_out <= 1);
			for (unsigned int k = 0; k < rf.n_out; k++)
				assert_int_equal(short_at(rf.out[k].data + 12), 0x0806);
		}
		rf_clear();
	}
}

/* 198.51.100.9 tells the router where it is */
static void arp_of_9(void)
{
	uint8_t arp[42] = { 0x02, 0, 0, 0, 0, RF_LAN, 2, 0, 0, 0, 9, 9, 0x08, 0x06, 0, 1, 8, 0, 6,
		4, 0, 2, 2, 0, 0, 0, 9, 9, 198, 51, 100, 9, 2, 0, 0, 0, 0, RF_LAN, 198, 51, 100,
		1 };

	for (unsigned int i = 0; i < rf.n_out; i++)
		if (short_at(rf.out[i].data + 12) == 0x0806) {
			memcpy(arp, rf.out[i].data + 6, 6);
			memcpy(arp + 32, rf.out[i].data + 6, 6);
		}
	rf_in(RF_LAN, arp, sizeof(arp), 0);
}

/* N28: a LAN host asks for another one by the router's outer address */
static void test_n28_hairpin(void **state)
{
	struct rf_ip a = from_lan("192.0.2.1", 0, NULL, 0);

	(void)state;
	load("*nat\n-A PREROUTING -d 192.0.2.1 -p udp --dport 53 -j DNAT --to-destination "
	     "198.51.100.2:5353\n"
	     "-A POSTROUTING -s 198.51.100.0/24 -d 198.51.100.0/24 -j MASQUERADE\nCOMMIT\n");
	a.src = "198.51.100.9";
	send_udp(a, 4400, 53, 20);
	assert_int_equal(rf.n_out, 1);
	assert_way(&rf.out[0], RF_LAN, "198.51.100.1", "198.51.100.2");
	assert_int_equal(short_at(rf.out[0].data + L4), 4400);
	assert_int_equal(short_at(rf.out[0].data + L4 + 2), 5353);
	assert_sums(&rf.out[0]);
	rf_clear();
	send_udp(from_lan("198.51.100.1", 0, NULL, 0), 5353, 4400, 30);
	arp_of_9();
	assert_true(rf.n_out > 0);
	assert_way(&rf.out[rf.n_out - 1], RF_LAN, "192.0.2.1", "198.51.100.9");
	assert_int_equal(short_at(rf.out[rf.n_out - 1].data + L4), 53);
	assert_int_equal(short_at(rf.out[rf.n_out - 1].data + L4 + 2), 4400);
	assert_sums(&rf.out[rf.n_out - 1]);
}

/* N29: a range of ports catches others */
static void test_n29_range_of_ports(void **state)
{
	(void)state;
	load("*nat\n-A PREROUTING -p tcp --dport 22:23 -j DNAT --to-destination "
	     "198.51.100.2:22-23\nCOMMIT\n");
	send_tcp(from_wan("198.51.100.2", 0, NULL, 0), 4000, 2323, 0x02, 1, 0, 0);
	assert_int_equal(rf.n_out, 1);
	assert_way(&rf.out[0], RF_LAN, "192.0.2.2", "198.51.100.2");
	assert_int_equal(short_at(rf.out[0].data + L4 + 2), 2323);
	rf_clear();
	for (unsigned int port = 22; port <= 23; port++) {
		send_tcp(from_wan("203.0.113.2", 0, NULL, 0), 4000, port, 0x02, 1, 0, 0);
		assert_int_equal(rf.n_out, 1);
		assert_way(&rf.out[0], RF_LAN, "192.0.2.2", "198.51.100.2");
		assert_in_range(short_at(rf.out[0].data + L4 + 2), 22, 23);
		rf_clear();
	}
}

/* N33: data that nobody announced is a connection of its own; a helper that a rule gives announces it */
static void test_n33_tftp_data(void **state)
{
	static const char *const raws[] = { "",
		"*raw\n-A PREROUTING -p udp --dport 69 -j CT --helper tftp\nCOMMIT\n" };
	static const char filter[] =
			"*filter\n:FORWARD DROP\n-A FORWARD -i lan -j ACCEPT\n"
			"-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"
			"COMMIT\n";
	static uint8_t udp[8 + 14] = { 0, 0, 0, 69, 0, 22, 0, 0, 0, 1, 'f', 'i', 'l', 'e', 0, 'o',
		'c', 't', 'e', 't', 0, 0 };

	(void)state;
	for (unsigned int helper = 0; helper < 2; helper++) {
		struct rf_ip ip = from_lan("192.0.2.2", IPPROTO_UDP, udp, sizeof(udp));
		char rules[600];

		snprintf(rules, sizeof(rules), "%s%s", raws[helper], filter);
		load(rules);
		put16(udp, 4000 + helper);
		put16(udp + 6, 0);
		rf_seal(&ip, udp, 6);
		give(&ip);
		assert_int_equal(rf.n_out, 1);
		send_udp(from_wan("198.51.100.2", 0, NULL, 0), 50303, 4000 + helper, 100);
		assert_int_equal(rf.n_out, 1 + helper);
		rf_clear();
	}
}

/* N35: the error comes by another queue than its flow */
static void test_n35_error_at_another_worker(void **state)
{
	(void)state;
	load(home);
	for (unsigned int i = 0; i < 64; i++) {
		struct rf_frame sent;

		worker = i % WORKERS;
		send_udp(from_lan("192.0.2.2", 0, NULL, 0), 4000 + i, 33434, 20);
		assert_int_equal(rf.n_out, 1);
		sent = rf.out[0];
		worker = i / WORKERS % WORKERS;
		send_error(&sent, 11, 0, 0);
		assert_int_equal(rf.n_out, 2);
		assert_error(&rf.out[1], 11, "192.0.2.2", 4000 + i);
		rf_clear();
	}
	worker = 0;
}

static int start(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	rf_start(WORKERS);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	unlink(path);
	rf_apply(NULL, 0);
	sl_firewall_free(fw);
	return 0;
}

#define CASE(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_n01_time_exceeded_comes_back),
		CASE(test_n02_own_time_exceeded),
		CASE(test_n03_too_large_for_the_way_out),
		CASE(test_n05_eight_bytes_of_tcp),
		CASE(test_n10_second_fragment_first),
		CASE(test_n12_large_echo),
		CASE(test_n19_out_of_window_of_a_translated_flow),
		CASE(test_n27_two_first_packets),
		CASE(test_n28_hairpin),
		CASE(test_n29_range_of_ports),
		CASE(test_n33_tftp_data),
		CASE(test_n35_error_at_another_worker),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
