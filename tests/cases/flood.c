/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A SYN flood from a million sources at a table of 100,000 places: connections that are established
 * lose nothing, the table takes no more memory than it had, and empties afterwards.
 *
 *   flood [PACKETS]     FLOOD_PACKETS stands in for the argument
 */
#include "ct_rig.h"
#include "lib/ip.h"

#include <rte_ip.h>
#include <rte_tcp.h>

#include <stdlib.h>

#define PLACES 100000
#define TALKING 1000
#define SOURCES (1U << 20)
#define PACKETS_DEFAULT 1000000
#define PACKET_NS 1000 /* a million packets a second */
#define TALK_EVERY 100000 /* packets of the flood between two of each connection */
#define SYN_SENT_S 120

/* AddressSanitizer keeps what is freed, and shadows of it */
#ifdef __SANITIZE_ADDRESS__
#define SLACK_KB (256 * 1024)
#else
#define SLACK_KB 1024
#endif

static uint8_t syn[128];
static uint32_t syn_len;
static unsigned int failures;

static void expect(bool holds, const char *what)
{
	if (holds)
		return;
	printf("not so: %s\n", what);
	failures++;
}

static void build_syn(void)
{
	uint8_t tcp[20] = { 0x04, 0x00, 0x00, 80, [12] = 5 << 4, [13] = CR_SYN, [14] = 0x20 };
	const struct rf_ip ip = {
		.port = RF_LAN,
		.src = "10.0.0.0",
		.dst = "192.0.2.2",
		.proto = IPPROTO_TCP,
		.payload = tcp,
		.len = sizeof(tcp),
	};

	rf_seal(&ip, tcp, 16);
	syn_len = rf_build(&ip, syn);
}

/* the frame with a source of its own; both checksums stay right */
static struct rte_mbuf *next_syn(struct sl_worker *w)
{
	struct rte_mbuf *m = rf_mbuf(syn, syn_len, 0);
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, void *, RTE_ETHER_HDR_LEN);
	struct rte_tcp_hdr *tcp = (void *)(ip + 1);
	rte_be32_t src = rte_cpu_to_be_32(0x0a000000 + (sl_worker_random(w) & (SOURCES - 1)));
	rte_be16_t port = (rte_be16_t)(sl_worker_random(w) | 1);

	tcp->cksum = sl_csum_update32(tcp->cksum, ip->src_addr, src);
	tcp->cksum = sl_csum_update16(tcp->cksum, tcp->src_port, port);
	ip->hdr_checksum = sl_csum_update32(ip->hdr_checksum, ip->src_addr, src);
	ip->src_addr = src;
	tcp->src_port = port;
	return m;
}

static void flood(unsigned int n)
{
	struct sl_worker *w = rf.r->workers[0];
	struct rte_mbuf *pkts[SL_BURST];

	for (unsigned int i = 0; i < n; i += SL_BURST) {
		w->now_ns += SL_BURST * PACKET_NS;
		sl_worker_begin(w);
		for (unsigned int k = 0; k < SL_BURST; k++)
			pkts[k] = next_syn(w);
		sl_pipeline_rx(w, RF_LAN, pkts, SL_BURST);
		sl_pipeline_flush(w);
		sl_worker_tick(w);
		rf_clear();
	}
}

static void handshake(uint16_t port)
{
	cr_tcp(CR_CLIENT, port, CR_SYN, 1000, 0, 0);
	cr_tcp(CR_SERVER, port, CR_SYN | CR_ACK, 5000, 1001, 0);
	cr_tcp(CR_CLIENT, port, CR_ACK, 1001, 5001, 0);
	rf_clear();
}

/* Return: segments that came through */
static unsigned int talk(void)
{
	unsigned int through = 0;

	for (uint16_t i = 0; i < TALKING; i++) {
		cr_tcp(CR_SERVER, (uint16_t)(1024 + i), CR_ACK, 5001, 1001, 100);
		through += rf.n_out;
		rf_clear();
	}
	return through;
}

static unsigned int resident_kb(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (unsigned int)(pages * 4);
}

static unsigned int how_many(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : getenv("FLOOD_PACKETS");

	return text == NULL ? PACKETS_DEFAULT : (unsigned int)strtoul(text, NULL, 0);
}

int main(int argc, char **argv)
{
	unsigned int packets = how_many(argc, argv), sent = 0, talked = 0, lost = 0, most = 0;
	unsigned int full_kb = 0;

	cr_start(1, PLACES);
	build_syn();
	for (uint16_t i = 0; i < TALKING; i++)
		handshake((uint16_t)(1024 + i));
	expect(cr_count() == TALKING, "every handshake made a connection");
	while (sent < packets) {
		flood(TALK_EVERY);
		sent += TALK_EVERY;
		most = RTE_MAX(most, cr_count());
		lost += TALKING - talk();
		talked += TALKING;
		if (full_kb == 0 && most >= PLACES)
			full_kb = resident_kb();
	}
	printf("%u SYNs, at most %u connections, %u of %u segments of the established lost\n", sent,
			most, lost, talked);
	printf("memory when the table was first full %u kB, at the end %u kB\n", full_kb,
			resident_kb());
	expect(most <= PLACES, "the table holds no more than it has places");
	expect(lost == 0, "who talks loses nothing");
	expect(full_kb == 0 || resident_kb() <= full_kb + SLACK_KB, "memory does not grow");
	for (unsigned int s = 0; s < SYN_SENT_S + 10; s++)
		rf_pass(UINT64_C(1000000000));
	printf("%u connections are left two minutes later\n", cr_count());
	expect(cr_count() == TALKING, "the table empties");
	expect(talk() == TALKING, "and who talks still does");
	return failures == 0 ? 0 : 1;
}
