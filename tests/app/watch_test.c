/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures: the files that come out are read back with libpcap, filters compared with its own. */
#include "app/sluice/pcapng.h"
#include "app/sluice/watch_filter.h"
#include "app/sluice/watch_stream.h"
#include "lib/router.h"
#include "lib/watch.h"
#include "tests/lib/router_fixture.h"

#include <pcap/pcap.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* 98 bytes of Ethernet, IPv4 and ICMP echo from 192.0.2.2 to 198.51.100.2 by the fixture's wan */
static uint32_t echo_frame(uint8_t *f, uint8_t ttl)
{
	static const uint8_t head[] = { 0x02, 0, 0, 0, 0x01, 0x01, 0x02, 0, 0, 0, 0x01, 0x02, 0x08,
		0x00, 0x45, 0, 0, 84, 0, 1, 0, 0, 64, 1, 0, 0, 192, 0, 2, 2, 198, 51, 100, 2, 8, 0,
		0, 0, 0, 1, 0, 1 };
	const struct sl_port *wan = &rf.r->ports[RF_WAN];
	uint32_t sum = 0;

	memset(f, 0, 98);
	memcpy(f, head, sizeof(head));
	memcpy(f, wan->mac.addr_bytes, sizeof(wan->mac.addr_bytes));
	f[22] = ttl;
	for (unsigned int i = 14; i < 34; i += 2)
		sum += (uint32_t)f[i] << 8 | f[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	f[24] = (uint8_t)(sum >> 8);
	f[25] = (uint8_t)sum;
	return 98;
}

static struct watch_stream *new_stream(void)
{
	struct watch_stream *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->r = rf.r;
	s->watch.port = SL_PORT_NONE;
	return s;
}

/* everything of a stream up to now, and its end; the caller's to free */
static char *read_all(struct watch_stream *s, size_t *len)
{
	char *all = NULL, *part;
	FILE *f = open_memstream(&all, len);
	size_t n;

	assert_non_null(f);
	watch_stream_stop(s);
	while (watch_stream_read(s, &part, &n)) {
		if (part != NULL)
			fwrite(part, 1, n, f);
		free(part);
	}
	fclose(f);
	return all;
}

static bool holds(const char *data, size_t len, const char *text)
{
	return memmem(data, len, text, strlen(text)) != NULL;
}

/* packets of a pcapng as libpcap reads it */
static unsigned int count_packets(char *data, size_t len, uint32_t frame_len)
{
	char err[PCAP_ERRBUF_SIZE];
	FILE *f = fmemopen(data, len, "r");
	pcap_t *p = pcap_fopen_offline(f, err);
	struct pcap_pkthdr *head;
	const u_char *bytes;
	unsigned int n = 0;
	int ret;

	assert_non_null(p);
	assert_int_equal(pcap_datalink(p), DLT_EN10MB);
	while ((ret = pcap_next_ex(p, &head, &bytes)) == 1) {
		assert_int_equal(head->len, frame_len);
		assert_int_equal(head->caplen, frame_len);
		n++;
	}
	assert_int_equal(ret, PCAP_ERROR_BREAK);
	pcap_close(p);
	return n;
}

static void test_capture_of_a_forwarded_packet_has_it_twice(void **state)
{
	struct watch_stream *s = new_stream();
	uint8_t frame[128];
	uint32_t n = echo_frame(frame, 64);
	size_t len;
	char *data;

	(void)state;
	s->watch.rx = s->watch.tx = true;
	s->watch.drop_hooks = UINT8_MAX;
	assert_int_equal(sl_watch_add(rf.r, &s->watch), 0);
	rf_in(RF_WAN, frame, n, 0);
	assert_int_equal(rf.n_out, 1);
	data = read_all(s, &len);
	assert_int_equal(count_packets(data, len, n), 2);
	assert_true(holds(data, len, "port=wan dir=in verdict=received"));
	assert_true(holds(data, len, "port=lan dir=out verdict=sent in=wan"));
	free(data);
	watch_stream_end(s);
	assert_null(atomic_load(&rf.r->watchers));
	rf_clear();
}

static void test_capture_of_drops_names_reason_and_stage(void **state)
{
	struct watch_stream *s = new_stream();
	uint8_t frame[128];
	uint32_t n = echo_frame(frame, 1);
	size_t len;
	char *data;

	(void)state;
	s->watch.drop_hooks = UINT8_MAX;
	assert_int_equal(sl_watch_add(rf.r, &s->watch), 0);
	rf_in(RF_WAN, frame, n, 30);
	data = read_all(s, &len);
	assert_int_equal(count_packets(data, len, n), 1);
	assert_true(holds(data, len,
			"verdict=dropped reason=ttl_exceeded hook=forward stage=forward out=lan"));
	free(data);
	watch_stream_end(s);
	rf_clear();
}

static void test_capture_beyond_its_ring_counts_what_it_missed(void **state)
{
	struct watch_stream *s = new_stream();
	/* more than the ring has room for */
	unsigned int sent = SL_WATCH_RING / 128;
	uint8_t frame[128];
	uint32_t n = echo_frame(frame, 64);
	unsigned int found;
	uint64_t missed;
	size_t len;
	char *data;

	(void)state;
	s->watch.rx = true;
	assert_int_equal(sl_watch_add(rf.r, &s->watch), 0);
	for (unsigned int i = 0; i < sent; i++) {
		rf_in(RF_WAN, frame, n, 0);
		rf_clear();
	}
	missed = sl_watch_missed(&s->watch, RF_WAN);
	data = read_all(s, &len);
	found = count_packets(data, len, n);
	assert_true(missed > 0);
	assert_int_equal(found + missed, sent);
	/* and its ring goes on behind the end */
	assert_true(found > sent / 4);
	free(data);
	watch_stream_end(s);
}

static void test_readers_beyond_the_limit_are_refused(void **state)
{
	struct sl_watch many[SL_WATCH_MAX + 1];

	(void)state;
	memset(many, 0, sizeof(many));
	many[0].trace = true;
	many[1].trace = true;
	assert_int_equal(sl_watch_add(rf.r, &many[0]), 0);
	assert_int_equal(sl_watch_add(rf.r, &many[1]), -EBUSY);
	many[1].trace = false;
	for (unsigned int i = 1; i < SL_WATCH_MAX; i++)
		assert_int_equal(sl_watch_add(rf.r, &many[i]), 0);
	assert_int_equal(sl_watch_add(rf.r, &many[SL_WATCH_MAX]), -ENOSPC);
	for (unsigned int i = 0; i < SL_WATCH_MAX; i++) {
		sl_watch_remove(rf.r, &many[i]);
		sl_watch_free_rings(&many[i]);
	}
	assert_null(atomic_load(&rf.r->watchers));
}

static void test_trace_tells_stages_and_end(void **state)
{
	struct watch_stream *s = new_stream();
	uint8_t frame[128];
	uint32_t n = echo_frame(frame, 64);
	size_t len;
	char *data;

	(void)state;
	s->watch.trace = true;
	s->watch.last_id = atomic_load(&rf.r->trace_id) + 1;
	assert_int_equal(sl_watch_add(rf.r, &s->watch), 0);
	rf_in(RF_WAN, frame, n, 0);
	rf_in(RF_WAN, frame, n, 0);
	data = read_all(s, &len);
	assert_true(holds(data, len, "\"at\":\"received\""));
	assert_true(holds(data, len, "\"hook\":\"forward\",\"stage\":\"forward\""));
	assert_true(holds(data, len, "\"ttl\":63"));
	assert_true(holds(data, len, "\"at\":\"sent\""));
	assert_true(holds(data, len, "{\"at\":\"end\",\"packets\":1,\"missed\":0}"));
	free(data);
	watch_stream_end(s);
	rf_clear();
}

/* frames whose headers are right, wrong, and cut; every filter says of each what libpcap says */
static void test_filters_agree_with_libpcap(void **state)
{
	static const char *const texts[] = { "icmp", "ip", "ip6", "arp", "tcp port 80", "udp",
		"host 192.0.2.2", "src net 192.0.2.0/24", "net 198.51.100.0/25", "port 53",
		"portrange 10-3000", "tcp[13] & 2 != 0", "icmp[0] = 8", "ip[8] < 5", "len > 60",
		"less 50", "not icmp", "ip6 and udp port 53", "ether host 02:00:00:00:01:02",
		"vlan 1285", "ip[6:2] & 0x1fff != 0", "tcp[((tcp[12] & 0xf0) >> 2):4] = 0x47455420",
		"ip proto 132", "ip[2:2] / 2 = 42", "ether[20] = len - 97",
		"(tcp or udp) and (dst port 80 or src port 53)" };
	uint32_t seed = 1;

	(void)state;
	for (unsigned int t = 0; t < RTE_DIM(texts); t++) {
		struct watch_filter *f = NULL;
		watch_match_fn match;
		char err[256];
		unsigned int hits = 0;

		assert_int_equal(watch_filter_compile(texts[t], &f, err, sizeof(err)), 0);
		match = watch_filter_match(f);
		for (unsigned int k = 0; k < 3000; k++) {
			static const uint8_t protos[] = { 1, 6, 17, 132 };
			static const uint8_t ports[] = { 0, 80, 53, 22 };
			uint8_t frame[128];
			uint32_t len = echo_frame(frame, 64), x;
			struct rte_mbuf *m;
			bool plain;

			seed = seed * 1664525 + 1013904223;
			x = seed >> 8;
			frame[23] = protos[x & 3];
			frame[35] = ports[x >> 2 & 3];
			frame[37] = ports[x >> 4 & 3];
			frame[34] = frame[36] = 0;
			frame[22] = (uint8_t)(x >> 6 & 15);
			frame[47] = (uint8_t)(x >> 10 & 2);
			if ((x >> 11 & 7) == 0)
				frame[21] = 1;
			if ((x >> 14 & 7) == 0)
				frame[12] = 0x81, frame[13] = 0, frame[15] = 5;
			if ((x >> 17 & 3) == 0)
				len = 14 + (x >> 4) % 84;
			m = rf_mbuf(frame, len, (x >> 19 & 3) == 0 ? 16 : 0);
			plain = watch_filter_plain(f, m);
			if (match(f, m) != plain)
				fail_msg("filter '%s' (%s), frame %u: libpcap says %d", texts[t],
						watch_filter_kind(f), k, plain);
			hits += plain;
			rte_pktmbuf_free(m);
		}
		print_message("%-48s %s, %u of 3000\n", texts[t], watch_filter_kind(f), hits);
		watch_filter_free(f);
	}
}

static void test_filter_that_is_none_says_why(void **state)
{
	struct watch_filter *f = NULL;
	char err[256];

	(void)state;
	assert_int_equal(watch_filter_compile("tcp prot 80", &f, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "filter 'tcp prot 80': "));
	assert_null(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture_of_a_forwarded_packet_has_it_twice),
		cmocka_unit_test(test_capture_of_drops_names_reason_and_stage),
		cmocka_unit_test(test_capture_beyond_its_ring_counts_what_it_missed),
		cmocka_unit_test(test_readers_beyond_the_limit_are_refused),
		cmocka_unit_test(test_trace_tells_stages_and_end),
		cmocka_unit_test(test_filters_agree_with_libpcap),
		cmocka_unit_test(test_filter_that_is_none_says_why),
	};

	rf_start(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
