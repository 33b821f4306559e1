/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/traffic.h"
#include "app/bench/traffic_pcap.h"

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define IP_AT RTE_ETHER_HDR_LEN
#define L4_AT (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))

static struct rte_ipv4_hdr ip_of(const uint8_t *frame)
{
	struct rte_ipv4_hdr ip;

	memcpy(&ip, frame + IP_AT, sizeof(ip));
	return ip;
}

static struct rte_tcp_hdr tcp_of(const uint8_t *frame)
{
	struct rte_tcp_hdr tcp;

	memcpy(&tcp, frame + L4_AT, sizeof(tcp));
	return tcp;
}

static void test_frame_is_a_packet_with_right_checksums(void **state)
{
	const struct traffic t = { .tcp = true, .ttl = 9, .size = 90, .flows = 20000 };
	uint8_t frame[TRAFFIC_SIZE_MAX];
	struct rte_ipv4_hdr ip;

	(void)state;
	assert_int_equal(traffic_frame(&t, 16385, frame), 90);
	ip = ip_of(frame);
	assert_int_equal(rte_be_to_cpu_32(ip.src_addr), RTE_IPV4(10, 1, 0, 3));
	assert_int_equal(rte_be_to_cpu_16(ip.total_length), 76);
	assert_int_equal(ip.time_to_live, 9);
	assert_int_equal(rte_raw_cksum(&ip, sizeof(ip)), 0xffff);
	assert_int_equal(rte_ipv4_udptcp_cksum_verify((void *)(frame + IP_AT), frame + L4_AT), 0);
	assert_int_equal(tcp_of(frame).tcp_flags, RTE_TCP_ACK_FLAG);
	assert_int_equal(tcp_of(frame).src_port, RTE_BE16(1025));
	assert_int_equal(tcp_of(frame).dst_port, RTE_BE16(10));
}

static void test_answer_turns_round_what_nat_has_made(void **state)
{
	const struct traffic t = { .tcp = true, .ttl = 64, .size = 64, .flows = 1 };
	uint8_t frame[TRAFFIC_SIZE_MAX], answer[TRAFFIC_SIZE_MAX];
	struct rte_ipv4_hdr ip;
	struct rte_tcp_hdr tcp;

	(void)state;
	traffic_opening(&t, 0, frame);
	assert_int_equal(tcp_of(frame).tcp_flags, RTE_TCP_SYN_FLAG);
	ip = ip_of(frame);
	ip.src_addr = RTE_BE32(RTE_IPV4(10, 2, 0, 1)); /* translated */
	memcpy(frame + IP_AT, &ip, sizeof(ip));
	frame[L4_AT + 1] ^= 0x55;
	assert_int_equal(traffic_answer(&t, frame, answer), 64);
	tcp = tcp_of(answer);
	assert_int_equal(ip_of(answer).dst_addr, RTE_BE32(RTE_IPV4(10, 2, 0, 1)));
	assert_int_equal(ip_of(answer).src_addr, ip.dst_addr);
	assert_int_equal(tcp.dst_port, tcp_of(frame).src_port);
	assert_int_equal(tcp.src_port, tcp_of(frame).dst_port);
	assert_int_equal(tcp.tcp_flags, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG);
	assert_int_equal(rte_be_to_cpu_32(tcp.recv_ack),
			rte_be_to_cpu_32(tcp_of(frame).sent_seq) + 1);
	assert_int_equal(rte_ipv4_udptcp_cksum_verify((void *)(answer + IP_AT), answer + L4_AT), 0);
}

static void test_new_flows_open_connections(void **state)
{
	const struct traffic t = {
		.tcp = true, .ttl = 64, .size = 64, .flows = 2, .state = TRAFFIC_NEW
	};
	uint8_t frame[TRAFFIC_SIZE_MAX];

	(void)state;
	traffic_frame(&t, 1, frame);
	assert_int_equal(tcp_of(frame).tcp_flags, RTE_TCP_SYN_FLAG);
}

static void test_imix_has_seven_four_and_one(void **state)
{
	const struct traffic t = { .ttl = 64, .size = TRAFFIC_SIZE_MAX, .flows = 13, .imix = true };
	unsigned int small = 0, middle = 0, large = 0;
	uint8_t frame[TRAFFIC_SIZE_MAX];

	(void)state;
	assert_int_equal(traffic_count(&t), 24);
	for (uint32_t i = 0; i < 24; i++) {
		uint16_t len = traffic_frame(&t, i, frame);

		assert_int_equal(rte_be_to_cpu_16(ip_of(frame).total_length) + IP_AT, len);
		small += len == 64;
		middle += len == 590;
		large += len == 1514;
	}
	assert_int_equal(small, 14);
	assert_int_equal(middle, 8);
	assert_int_equal(large, 2);
}

static bool takes(const struct acl_rule *r, const struct acl_flow *f)
{
	uint32_t src = r->src_len == 0 ? 0 : UINT32_MAX << (32 - r->src_len);
	uint32_t dst = r->dst_len == 0 ? 0 : UINT32_MAX << (32 - r->dst_len);

	return (f->src & src) == r->src && (f->dst & dst) == r->dst && f->sport >= r->sport[0]
			&& f->sport <= r->sport[1] && f->dport >= r->dport[0]
			&& f->dport <= r->dport[1] && (r->proto == 0 || r->proto == f->proto);
}

static void test_generated_rules_match_what_is_drawn_from_them(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < ACL_KIND_NB; kind++) {
		struct acl_rule rules[300];
		struct acl acl = { .n = 300, .rules = rules };

		acl_generate((enum acl_kind)kind, &acl);
		for (uint32_t i = 0; i < 2000; i++) {
			struct acl_flow f;
			bool any = false;

			acl_draw(&acl, i, &f);
			for (uint32_t k = 0; k < acl.n && !any; k++)
				any = takes(&rules[k], &f);
			assert_true(any);
			assert_true(f.src >> 24 != 0 && f.src >> 24 < 224 && f.dst >> 24 != 127);
		}
	}
}

static void test_classbench_file_is_read_and_written_as_rules(void **state)
{
	char text[] = "@1.2.3.4/32\t5.6.0.0/16\t0 : 65535\t80 : 80\t0x06/0xFF\t0x0000/0x0200\n"
		      "@0.0.0.0/0\t5.6.7.8/31\t1 : 2\t0 : 65535\t0x00/0x00\n"
		      "@0.0.0.0/0\t0.0.0.0/0\t0 : 65535\t0 : 65535\t0x01/0xFF\n";
	FILE *in = fmemopen(text, strlen(text), "r");
	unsigned int line;
	struct acl acl;
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	(void)state;
	assert_int_equal(acl_read(in, &acl, &line), 0);
	assert_int_equal(acl.n, 3);
	acl_put(&acl, f);
	fclose(f);
	fclose(in);
	assert_string_equal(out,
			"-A FORWARD -s 1.2.3.4/32 -d 5.6.0.0/16 -p tcp -m tcp --dport 80 -j ACCEPT\n"
			"-A FORWARD -d 5.6.7.8/31 -p tcp -m tcp --sport 1:2 -j ACCEPT\n"
			"-A FORWARD -d 5.6.7.8/31 -p udp -m udp --sport 1:2 -j ACCEPT\n"
			"-A FORWARD -p 1 -j ACCEPT\n");
	free(out);
	free(acl.rules);
}

static void test_classbench_file_when_wrong_tells_the_line(void **state)
{
	static const char *const wrong[] = {
		"@1.2.3.4/33 5.6.0.0/16 0 : 65535 80 : 80 0x06/0xFF\n",
		"@1.2.3.4/32 5.6.0.0/16 9 : 8 80 : 80 0x06/0xFF\n",
		"@1.2.3.4/32 5.6.0.0/16 0 : 65535 80 : 80 0x06/0x0F\n",
		"1.2.3.4/32 5.6.0.0/16 0 : 65535 80 : 80 0x06/0xFF\n",
		"@1.2.3.400/32 5.6.0.0/16 0 : 65535 80 : 80 0x06/0xFF\n",
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		char text[256];
		unsigned int line = 0;
		struct acl acl;
		FILE *in;

		snprintf(text, sizeof(text), "# two\n%s", wrong[i]);
		in = fmemopen(text, strlen(text), "r");
		assert_true(acl_read(in, &acl, &line) < 0);
		assert_int_equal(line, 2);
		fclose(in);
	}
}

static void *allocate(void *arg, size_t n, size_t size)
{
	(void)arg;
	return calloc(n, size);
}

/* a capture of @n frames */
static void write_pcap(const char *path, const uint8_t frames[][64], unsigned int n)
{
	const uint32_t head[] = { 0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1 };
	const uint32_t record[] = { 0, 0, 64, 64 };
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fwrite(head, sizeof(head), 1, f);
	for (unsigned int i = 0; i < n; i++) {
		fwrite(record, sizeof(record), 1, f);
		fwrite(frames[i], 64, 1, f);
	}
	fclose(f);
}

static void test_pcap_leaves_out_what_no_router_passes_on(void **state)
{
	const struct traffic t = { .ttl = 64, .size = 64, .flows = 1 };
	char path[] = "/tmp/sluice-traffic.XXXXXX", why[256];
	uint8_t frames[4][64];
	struct traffic_pcap pcap;
	struct rte_ipv4_hdr ip;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (unsigned int i = 0; i < 4; i++) {
		traffic_frame(&t, 0, frames[i]);
		ip = ip_of(frames[i]);
		ip.src_addr = RTE_BE32(RTE_IPV4(192U, 0, 2, 1));
		ip.dst_addr = RTE_BE32(RTE_IPV4(192U, 0, 2, 2));
		ip.total_length = RTE_BE16(40); /* the rest of the frame is filling */
		memcpy(frames[i] + IP_AT, &ip, sizeof(ip));
	}
	frames[0][0] = 0x0a; /* somebody's address */
	frames[1][12] = 0x86; /* no IPv4 */
	frames[2][IP_AT + 8] = 1; /* TTL */
	frames[3][IP_AT + 16] = 224; /* multicast */
	write_pcap(path, (const uint8_t(*)[64])frames, 4);
	assert_int_equal(
			traffic_pcap_read(path, false, allocate, NULL, &pcap, why, sizeof(why)), 0);
	assert_int_equal(pcap.n, 1);
	assert_int_equal(pcap.left_out, 3);
	assert_int_equal(pcap.lens[0], 64);
	assert_int_equal(pcap.frames[0][0], 0x02);
	assert_int_equal(pcap.frames[0][63], 0);
	free((void *)(uintptr_t)pcap.frames[0]);
	free(pcap.frames);
	free(pcap.lens);
	write_pcap(path, (const uint8_t(*)[64])frames[1], 2);
	assert_true(traffic_pcap_read(path, false, allocate, NULL, &pcap, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "2 frames, none that a router passes on"));
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_is_a_packet_with_right_checksums),
		cmocka_unit_test(test_answer_turns_round_what_nat_has_made),
		cmocka_unit_test(test_new_flows_open_connections),
		cmocka_unit_test(test_imix_has_seven_four_and_one),
		cmocka_unit_test(test_generated_rules_match_what_is_drawn_from_them),
		cmocka_unit_test(test_classbench_file_is_read_and_written_as_rules),
		cmocka_unit_test(test_classbench_file_when_wrong_tells_the_line),
		cmocka_unit_test(test_pcap_leaves_out_what_no_router_passes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
