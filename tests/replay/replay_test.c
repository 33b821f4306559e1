/* SPDX-License-Identifier: BSD-3-Clause */
/* `sluice replay` as a program. Usage: replay_test SLUICE */
#include "frame.h"
#include "frames.h"
#include "rig.h"
#include "topo.h"

#include <pcap/pcap.h>

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SEED 20260301
#define CASES 1200
#define A FRAME_IP4(192, 0, 2, 2)
#define B FRAME_IP4(10, 0, 0, 2)

static const char *const ports[] = { "wan", "lan", NULL };
static const char config[] = "ports:\n"
			     "  - {name: wan, device: d0, mtu: 9000, addresses: [192.0.2.1/24]}\n"
			     "  - {name: lan, device: d1, mtu: 9000, addresses: [10.0.0.1/24]}\n"
			     "neighbours:\n"
			     "  - {ip: 192.0.2.2, mac: \"02:00:00:00:01:02\", port: wan}\n"
			     "  - {ip: 10.0.0.2, mac: \"02:00:00:00:02:02\", port: lan}\n";

static struct frame frame;

/* ---- arguments and captures ------------------------------------------------------------------- */

/* runs `sluice replay ARGS`, a line of words */
static int run_line(struct rig *rig, const char *line)
{
	char words[512], *args[24], *save = NULL;
	unsigned int n = 0;

	snprintf(words, sizeof(words), "replay %s", line);
	for (char *w = strtok_r(words, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
		args[n++] = w;
	args[n] = NULL;
	return rig_exec(rig, args);
}

static void test_replay_when_arguments_are_wrong_then_2(void **state)
{
	static const struct {
		const char *line;
		const char *error;
	} wrong[] = {
		{ "", "usage: sluice replay" },
		{ "-c sluice.yaml --in wan=wan.pcap", "usage: sluice replay" },
		{ "-c sluice.yaml --out out", "usage: sluice replay" },
		{ "-c no.yaml --in wan=wan.pcap --out out", "no.yaml: No such file or directory" },
		{ "-c sluice.yaml --in dmz=wan.pcap --out out",
				"--in dmz=wan.pcap: expected PORT=PCAP with a port of sluice.yaml" },
		{ "-c sluice.yaml --in wan.pcap --out out", "expected PORT=PCAP" },
		{ "-c sluice.yaml --in wan=no.pcap --out out", "no.pcap: No such file" },
		{ "-c sluice.yaml --in wan=sluice.yaml --out out", "unknown file format" },
		{ "-c sluice.yaml --in wan=wan.pcap --out out --workers 0", "expected 1 to" },
		{ "-c sluice.yaml --in wan=wan.pcap --out out --workers two", "expected 1 to" },
		{ "-c sluice.yaml --in wan=wan.pcap --out out --colour", "usage: sluice replay" },
		{ "-c sluice.yaml --in wan=wan.pcap --out no/such/out", "no/such/out: No such" },
		{ "-c sluice.yaml --in wan=lan.pcap --out .",
				"--out .: would overwrite the input ./lan.pcap" },
	};
	struct rig *rig = rig_open(config, ports);

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(run_line(rig, wrong[i].line), 2);
		if (strstr(rig_err(rig), wrong[i].error) == NULL)
			fail_msg("%s: said '%s', not '%s'", wrong[i].line, rig_err(rig),
					wrong[i].error);
		assert_int_equal(access(rig_path(rig, "out/wan.pcap"), F_OK), -1);
	}
	rig_close(rig);
}

static void write_bytes(struct rig *rig, const char *name, const void *data, size_t len)
{
	FILE *f = fopen(rig_path(rig, name), "we");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void test_replay_when_link_type_is_foreign_then_2(void **state)
{
	struct rig *rig = rig_open(config, ports);
	pcap_t *raw = pcap_open_dead(DLT_RAW, 65535);
	pcap_dumper_t *out = pcap_dump_open(raw, rig_path(rig, "raw.pcap"));

	(void)state;
	assert_non_null(out);
	pcap_dump_close(out);
	pcap_close(raw);
	assert_int_equal(run_line(rig, "-c sluice.yaml --in wan=raw.pcap --out out"), 2);
	assert_string_equal(
			rig_err(rig), "raw.pcap: link type is RAW, expected Ethernet (EN10MB)\n");
	rig_close(rig);
}

/* a capture cut at every length from nothing to all of it: never a crash, always a word */
static void test_replay_when_capture_is_cut_then_told(void **state)
{
	uint8_t whole[2048];
	struct rig *rig = rig_open(config, ports);
	size_t n;
	FILE *f;

	(void)state;
	frame_eth(&frame, 1, 0, 0x0800);
	frame_udp4(&frame, A, B, 1, 0, 60);
	rig_add(rig, "wan", 1000000, frame.data, frame.len);
	rig_add(rig, "wan", 2000000, frame.data, frame.len);
	assert_int_equal(run_line(rig, "-c sluice.yaml --in wan=wan.pcap --out out -q"), 0);
	f = fopen(rig_path(rig, "wan.pcap"), "re");
	assert_non_null(f);
	n = fread(whole, 1, sizeof(whole), f);
	fclose(f);
	assert_int_equal(n, 24 + 2 * (16 + 74));
	for (size_t cut = 0; cut < n; cut += cut < 30 ? 3 : 29) {
		int status;

		write_bytes(rig, "cut.pcap", whole, cut);
		status = run_line(rig, "-c sluice.yaml --in wan=cut.pcap --out out -q");
		/* the empty capture, and the one of whole frames, are good */
		if (cut == 24 || cut == 24 + 90) {
			assert_int_equal(status, 0);
		} else {
			assert_in_range(status, 1, 2);
			assert_non_null(strstr(rig_err(rig), "cut.pcap: "));
		}
	}
	rig_close(rig);
}

/* nothing of a pipe may be read before libpcap does */
static void test_replay_takes_a_pipe(void **state)
{
	uint8_t whole[512];
	struct rig *rig = rig_open(config, ports);
	struct rig_frames out;
	FILE *f;
	size_t n;
	pid_t writer;

	(void)state;
	frame_eth(&frame, 1, 0, 0x0800);
	frame_udp4(&frame, A, B, 1, 0, 60);
	rig_add(rig, "wan", 1000000, frame.data, frame.len);
	rig_run(rig, 1);
	f = fopen(rig_path(rig, "wan.pcap"), "re");
	assert_non_null(f);
	n = fread(whole, 1, sizeof(whole), f);
	fclose(f);
	assert_int_equal(mkfifo(rig_path(rig, "pipe"), 0600), 0);
	writer = fork();
	assert_true(writer >= 0);
	if (writer == 0) {
		write_bytes(rig, "pipe", whole, n);
		_exit(0);
	}
	assert_int_equal(run_line(rig, "-c sluice.yaml --in wan=pipe --out out -q"), 0);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	out = rig_out(rig, "lan");
	assert_int_equal(out.n, 1);
	rig_free(&out);
	rig_close(rig);
}

static void test_replay_takes_pcapng(void **state)
{
	static const uint32_t head[] = { 0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28,
		1, 20, 1, 65535, 20 };
	struct rig *rig = rig_open(config, ports);
	uint32_t block[8] = { 6, 32 + 76, 0, 0, 1000000, 74, 74 };
	uint8_t file[sizeof(head) + 32 + 76];
	struct rig_frames out;

	(void)state;
	frame_eth(&frame, 1, 0, 0x0800);
	frame_udp4(&frame, A, B, 1, 0, 60);
	memset(file, 0, sizeof(file));
	memcpy(file, head, sizeof(head));
	memcpy(file + sizeof(head), block, 28);
	memcpy(file + sizeof(head) + 28, frame.data, 74);
	memcpy(file + sizeof(file) - 4, &block[1], 4);
	write_bytes(rig, "in.pcapng", file, sizeof(file));
	assert_int_equal(run_line(rig, "-c sluice.yaml --in wan=in.pcapng --out out -q"), 0);
	out = rig_out(rig, "lan");
	assert_int_equal(out.n, 1);
	assert_int_equal(out.v[0].time_us, 1000000);
	rig_free(&out);
	rig_close(rig);
}

/* ---- frames ----------------------------------------------------------------------------------- */

/* @in as the router must send it: new MACs, TTL 63, checksum of the header */
static void assert_forwarded(const struct frame *in, const struct rig_frame *out, size_t l3)
{
	static const uint8_t macs[12] = { 2, 0, 0, 0, 2, 2, 2, 0, 0, 0, 0, 2 };
	uint8_t head[20];
	uint16_t sum;

	assert_int_equal(out->len, in->len);
	assert_memory_equal(out->data, macs, sizeof(macs));
	memcpy(head, in->data + l3, sizeof(head));
	head[8]--;
	memset(head + 10, 0, 2);
	sum = frame_sum_be(head, sizeof(head), 0);
	memcpy(head + 10, &sum, sizeof(sum));
	assert_memory_equal(out->data + l3, head, sizeof(head));
	assert_memory_equal(out->data + l3 + 20, in->data + l3 + 20, in->len - l3 - 20);
}

/* buffers hold 2 KB: these are chains of up to five */
static void test_replay_forwards_jumbo_frames_intact(void **state)
{
	static const size_t sizes[] = { 28, 1500, 2033, 2034, 2035, 4082, 5000, 8999, 9000 };
	struct rig *rig = rig_open(config, ports);
	struct rig_frames out;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		frame_eth(&frame, 1, 0, 0x0800);
		frame_udp4(&frame, A, B, 1, 0x4000, sizes[i]);
		rig_add(rig, "wan", 1000000 + i, frame.data, frame.len);
	}
	rig_run(rig, 1);
	out = rig_out(rig, "lan");
	assert_int_equal(out.n, sizeof(sizes) / sizeof(sizes[0]));
	for (size_t i = 0; i < out.n; i++) {
		frame_eth(&frame, 1, 0, 0x0800);
		frame_udp4(&frame, A, B, 1, 0x4000, sizes[i]);
		assert_forwarded(&frame, &out.v[i], 14);
	}
	rig_free(&out);
	rig_close(rig);
}

static void test_replay_takes_vlans_where_configured(void **state)
{
	static const char vlans[] =
			"ports:\n"
			"  - {name: wan, device: d0, addresses: [192.0.2.1/24]}\n"
			"  - {name: lan, device: d1, vlan: 7, addresses: [10.0.0.1/24]}\n"
			"  - {name: v5, parent: wan, vlan: 5, addresses: [10.5.0.1/24]}\n"
			"neighbours:\n"
			"  - {ip: 10.0.0.2, mac: \"02:00:00:00:02:02\", port: lan}\n";
	static const unsigned int vids[] = { 0, 5, 6, 4095 };
	struct rig *rig = rig_open(vlans, ports);
	struct rig_frames out;
	json_t *root;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		frame_eth(&frame, 1, vids[i], 0x0800);
		frame_udp4(&frame, vids[i] == 5 ? FRAME_IP4(10, 5, 0, 2) : A, B, 1, 0, 60);
		rig_add(rig, "wan", 1000000 + i, frame.data, frame.len);
	}
	/* without the tag that the port asks for */
	frame_eth(&frame, 2, 0, 0x0800);
	frame_udp4(&frame, B, A, 1, 0, 60);
	rig_add(rig, "lan", 1000004, frame.data, frame.len);
	rig_run(rig, 1);
	out = rig_out(rig, "lan");
	assert_int_equal(out.n, 2);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(out.v[i].len, 78);
		assert_memory_equal(out.v[i].data + 12, "\x81\x00\x00\x07\x08\x00", 6);
	}
	rig_free(&out);
	assert_int_equal(rig_dropped(rig, "vlan_unexpected"), 2);
	assert_int_equal(rig_dropped(rig, "vlan_missing"), 1);
	root = rig_json(rig);
	assert_int_equal(json_integer_value(json_object_get(
					 json_object_get(json_object_get(root, "ports"), "v5"),
					 "rx")),
			1);
	json_decref(root);
	rig_close(rig);
}

static void test_replay_json_accounts_for_every_packet(void **state)
{
	struct rig *rig = rig_open(config, ports);
	json_int_t rx, sum, drops = 0;
	json_t *root, *port, *value;
	const char *key;

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		frame_eth(&frame, 1, 0, 0x0800);
		/* every fourth has no route, every other fourth is for the router */
		frame_udp4(&frame, A,
				i % 4 == 0                   ? FRAME_IP4(10, 9, 9, 9)
						: i % 4 == 1 ? FRAME_IP4(192, 0, 2, 1)
							     : B,
				(uint16_t)i, 0, 60);
		rig_add(rig, "wan", 1000000 + i * 10, frame.data, frame.len);
	}
	rig_run(rig, 1);
	root = rig_json(rig);
	port = json_object_get(json_object_get(root, "ports"), "wan");
	rx = json_integer_value(json_object_get(port, "rx"));
	sum = json_integer_value(json_object_get(port, "forwarded"))
			+ json_integer_value(json_object_get(port, "delivered"))
			+ json_integer_value(json_object_get(port, "dropped"));
	assert_int_equal(rx, 100);
	assert_int_equal(json_integer_value(json_object_get(port, "rx_bytes")), 100 * 74);
	assert_int_equal(json_integer_value(json_object_get(port, "forwarded")), 50);
	assert_int_equal(json_integer_value(json_object_get(port, "delivered")), 25);
	assert_int_equal(sum, rx);
	port = json_object_get(json_object_get(root, "ports"), "lan");
	assert_int_equal(json_integer_value(json_object_get(port, "tx")), 50);
	assert_int_equal(json_integer_value(json_object_get(port, "tx_bytes")), 50 * 74);
	json_object_foreach(json_object_get(root, "drops"), key, value) drops +=
			json_integer_value(value);
	assert_true(drops >= 25);
	assert_int_equal(rig_dropped(rig, "no_route"), 25);
	value = json_array_get(json_object_get(root, "stages"), 0);
	assert_true(json_is_string(json_object_get(value, "hook")));
	assert_string_equal(json_string_value(json_object_get(value, "stage")), "parse");
	assert_int_equal(json_integer_value(json_object_get(value, "packets")), 100);
	assert_true(json_integer_value(json_object_get(value, "cycles")) > 0);
	json_decref(root);
	rig_close(rig);
}

/* ---- the same output -------------------------------------------------------------------------- */

static const char *const topo_names[] = { "pa", "pb", "pc", "pd", NULL };

/* everything that the kernel comparison knows how to make, 4 ms apart */
static struct rig *varied(void)
{
	static struct frames_case c;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct rig *rig;
	uint64_t at = 1000000;

	topo_write_config(f);
	fclose(f);
	rig = rig_open(text, topo_names);
	free(text);
	for (unsigned int i = 0; i < CASES; i++) {
		assert_int_equal(frames_make(SEED, i, NULL, &c), 0);
		for (unsigned int k = 0; k < c.n; k++)
			rig_add(rig, topo_names[c.v[k].port], at++, c.v[k].data, c.v[k].len);
		at += 4000;
	}
	return rig;
}

static int by_bytes(const void *a, const void *b)
{
	const struct rig_frame *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->data, y->data, x->len);
}

static void test_replay_gives_the_same_whatever_the_workers(void **state)
{
	static const unsigned int workers[] = { 1, 1, 2, 3, 7 };
	struct rig_frames first[4], out;
	size_t sent = 0;

	(void)state;
	for (unsigned int run = 0; run < 5; run++) {
		struct rig *rig = varied();

		rig_run(rig, workers[run]);
		for (unsigned int p = 0; p < 4; p++) {
			out = rig_out(rig, topo_names[p]);
			/* a second run is the same in its order, others as a set */
			if (run != 1)
				qsort(out.v, out.n, sizeof(out.v[0]), by_bytes);
			if (run == 0) {
				rig_free(&out);
				first[p] = rig_out(rig, topo_names[p]);
				sent += first[p].n;
				continue;
			}
			if (run == 2)
				qsort(first[p].v, first[p].n, sizeof(out.v[0]), by_bytes);
			assert_int_equal(out.n, first[p].n);
			for (size_t i = 0; i < out.n; i++) {
				assert_int_equal(out.v[i].len, first[p].v[i].len);
				assert_memory_equal(
						out.v[i].data, first[p].v[i].data, out.v[i].len);
			}
			rig_free(&out);
		}
		rig_close(rig);
	}
	assert_true(sent > CASES / 2);
	for (unsigned int p = 0; p < 4; p++)
		rig_free(&first[p]);
}

static unsigned int count_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned int n = 0;

	assert_non_null(f);
	for (int c = fgetc(f); c != EOF; c = fgetc(f))
		n += c == '\n';
	fclose(f);
	return n;
}

/* N38: of a flood behind a limit only what the limit lets through has an entry */
static void test_n38_replay_when_a_limit_drops_then_no_entry(void **state)
{
	static const char limited[] = "ports:\n"
				      "  - {name: wan, device: d0, addresses: [192.0.2.1/24]}\n"
				      "  - {name: lan, device: d1, addresses: [10.0.0.1/24]}\n"
				      "neighbours:\n"
				      "  - {ip: 10.0.0.2, mac: \"02:00:00:00:02:02\", port: lan}\n"
				      "firewall: {iptables: rules.v4}\n"
				      "sysctl: {net.netfilter.nf_conntrack_checksum: 0}\n";
	uint8_t syn[20] = { 0, 0, 0, 80, [12] = 0x50, [13] = 0x02 };
	struct rig *rig = rig_open(limited, ports);
	FILE *f = fopen(rig_path(rig, "rules.v4"), "w");
	struct rig_frames out;

	(void)state;
	assert_non_null(f);
	fputs("*raw\n"
	      "-A PREROUTING -p tcp --syn -m limit --limit 1/min --limit-burst 5 -j ACCEPT\n"
	      "-A PREROUTING -p tcp --syn -j DROP\nCOMMIT\n"
	      "*filter\n:FORWARD DROP\n-A FORWARD -m conntrack --ctstate NEW -j ACCEPT\nCOMMIT\n",
			f);
	assert_int_equal(fclose(f), 0);
	for (unsigned int i = 0; i < 200; i++) {
		syn[0] = (uint8_t)(4 + i / 256);
		syn[1] = (uint8_t)i;
		frame_eth(&frame, 1, 0, 0x0800);
		frame_ip4(&frame, A, B, 6, (uint16_t)i, 0, sizeof(syn));
		frame_put(&frame, syn, sizeof(syn));
		rig_add(rig, "wan", 1000000 + i, frame.data, frame.len);
	}
	rig_run(rig, 1);
	out = rig_out(rig, "lan");
	assert_int_equal(out.n, 5);
	rig_free(&out);
	assert_int_equal(rig_dropped(rig, "rule_drop"), 195);
	assert_int_equal(
			run_line(rig,
					"-c sluice.yaml --in wan=wan.pcap --in lan=lan.pcap --out again "
					"--conntrack entries"),
			0);
	assert_int_equal(count_lines(rig_path(rig, "entries")), 5);
	rig_close(rig);
}

/* UDP of @len bytes from fd01::2 to the router, fd01::1 */
static void frame_udp6(struct frame *f, uint16_t len)
{
	uint8_t ip[40] = { 0x60, [4] = (uint8_t)(len >> 8), [5] = (uint8_t)len, [6] = 17, [7] = 64,
		[8] = 0xfd, [9] = 1, [23] = 2, [24] = 0xfd, [25] = 1, [39] = 1 };
	uint8_t udp[256] = { 4, 0, 0, 9, (uint8_t)(len >> 8), (uint8_t)len };
	uint16_t sum;

	/* a pseudo header: both addresses, length and protocol */
	memset(udp + 8, 'u', len - 8U);
	sum = frame_sum_be(ip + 8, 32, 0);
	sum = frame_sum_be(udp, len, (uint16_t)~ntohs(sum) + len + 17U);
	memcpy(udp + 6, &sum, sizeof(sum));
	frame_eth(f, 1, 0, 0x86dd);
	frame_put(f, ip, sizeof(ip));
	frame_put(f, udp, len);
}

/*
 * Asked of the kernel: where conntrack has tested the checksum, and a rule has changed the header,
 * UDP of more than 76 bytes to a closed port is dropped as one with a wrong checksum.
 */
static void test_replay_when_rule_changes_ipv6_header_then_long_udp_is_dropped(void **state)
{
#define TOS "-A INPUT -j TOS --set-tos 0xff\n"
	static const struct {
		const char *mangle;
		unsigned int tested; /* nf_conntrack_checksum */
		uint16_t len;
		unsigned int answers;
	} cases[] = {
		{ TOS, 1, 76, 1 },
		{ TOS, 1, 77, 0 },
		{ TOS, 0, 77, 1 },
		{ "", 1, 77, 1 },
		{ TOS "-A INPUT -j TOS --set-tos 0\n", 1, 77, 1 },
		{ "-A INPUT -j TOS --set-tos 0\n", 1, 77, 1 },
		{ "-A PREROUTING -j HL --hl-set 9\n", 1, 77, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig_frames out;
		struct rig *rig;
		char conf[512];
		FILE *f;

		snprintf(conf, sizeof(conf),
				"ports:\n"
				"  - {name: wan, device: d0, addresses: [\"fd01::1/64\"]}\n"
				"  - {name: lan, device: d1, addresses: [10.0.0.1/24]}\n"
				"neighbours:\n"
				"  - {ip: \"fd01::2\", mac: \"02:00:00:00:01:02\", port: wan}\n"
				"firewall: {ip6tables: rules.v6}\n"
				"sysctl: {net.netfilter.nf_conntrack_checksum: %u}\n",
				cases[i].tested);
		rig = rig_open(conf, ports);
		f = fopen(rig_path(rig, "rules.v6"), "w");
		assert_non_null(f);
		fprintf(f,
				"*mangle\n%sCOMMIT\n"
				"*filter\n-A INPUT -m conntrack --ctstate NEW\nCOMMIT\n",
				cases[i].mangle);
		assert_int_equal(fclose(f), 0);
		frame_udp6(&frame, cases[i].len);
		rig_add(rig, "wan", 1000000, frame.data, frame.len);
		rig_run(rig, 1);
		out = rig_out(rig, "wan");
		if (out.n != cases[i].answers)
			fail_msg("case %u: %zu answers", i, out.n);
		rig_free(&out);
		rig_close(rig);
	}
#undef TOS
}

/* as the kernel: what would be the reply is another connection's, so this one cannot stay */
static void test_replay_when_a_zone_of_one_direction_makes_replies_clash_then_drops(void **state)
{
	static const char with_rules[] =
			"ports:\n"
			"  - {name: wan, device: d0, addresses: [192.0.2.1/24]}\n"
			"  - {name: lan, device: d1, addresses: [10.0.0.1/24]}\n"
			"neighbours:\n"
			"  - {ip: 192.0.2.2, mac: \"02:00:00:00:01:02\", port: wan}\n"
			"  - {ip: 10.0.0.2, mac: \"02:00:00:00:02:02\", port: lan}\n"
			"firewall: {iptables: rules.v4}\n";
	static const struct {
		const char *zone, *back; /* of the question and of what comes back; "": none */
		unsigned int answers;
	} cases[] = {
		{ "--zone-reply 7", "", 0 },
		{ "--zone-orig 7", "", 1 },
		{ "--zone 7", "", 1 },
		{ "--zone-reply 9", "-A PREROUTING -i lan -j CT --zone-orig 9\n", 1 },
		{ "--zone-orig 4", "-A PREROUTING -i lan -j CT --zone-reply 4\n", 1 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_open(with_rules, ports);
		FILE *f = fopen(rig_path(rig, "rules.v4"), "w");
		struct rig_frames out;

		assert_non_null(f);
		fprintf(f,
				"*raw\n-A PREROUTING -i wan -j CT %s\n%sCOMMIT\n"
				"*filter\n-A FORWARD -m conntrack --ctstate NEW\nCOMMIT\n",
				cases[i].zone, cases[i].back);
		assert_int_equal(fclose(f), 0);
		frame_eth(&frame, 1, 0, 0x0800);
		frame_ip4(&frame, A, B, 253, 1, 0, 8);
		frame_put(&frame, "question", 8);
		rig_add(rig, "wan", 1000000, frame.data, frame.len);
		frame_eth(&frame, 2, 0, 0x0800);
		frame_ip4(&frame, B, A, 253, 1, 0, 8);
		frame_put(&frame, "response", 8);
		rig_add(rig, "lan", 2000000, frame.data, frame.len);
		rig_run(rig, 1);
		out = rig_out(rig, "lan");
		assert_int_equal(out.n, 1);
		rig_free(&out);
		out = rig_out(rig, "wan");
		assert_int_equal(out.n, cases[i].answers);
		rig_free(&out);
		assert_int_equal(rig_dropped(rig, "conntrack_drop"), 1 - cases[i].answers);
		rig_close(rig);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay_when_arguments_are_wrong_then_2),
		cmocka_unit_test(test_replay_when_link_type_is_foreign_then_2),
		cmocka_unit_test(test_replay_when_capture_is_cut_then_told),
		cmocka_unit_test(test_replay_takes_a_pipe),
		cmocka_unit_test(test_replay_takes_pcapng),
		cmocka_unit_test(test_replay_forwards_jumbo_frames_intact),
		cmocka_unit_test(test_replay_takes_vlans_where_configured),
		cmocka_unit_test(test_replay_json_accounts_for_every_packet),
		cmocka_unit_test(test_replay_gives_the_same_whatever_the_workers),
		cmocka_unit_test(test_n38_replay_when_a_limit_drops_then_no_entry),
		cmocka_unit_test(
				test_replay_when_rule_changes_ipv6_header_then_long_udp_is_dropped),
		cmocka_unit_test(
				test_replay_when_a_zone_of_one_direction_makes_replies_clash_then_drops),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: replay_test SLUICE\n");
		return 2;
	}
	rig_sluice = argv[1];
	topo_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
