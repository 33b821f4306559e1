/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as packets of connections through a router of two workers that tracks them. A packet is
 * told by eight bytes: who sends it, how long after the one before, what it is, flags or type, port,
 * distance of its sequence number, length. After every packet no connection may be without a time
 * that runs out, and as many as are counted must be there; when all times have run out nothing may be
 * left, neither a connection nor a buffer.
 */
#include "tests/cases/ct_rig.h"

#include <stdlib.h>

#define RECORD 8
#define MAX 64 /* connections: few, so that the table is full now and then */
#define LONGEST_MS (432000U * 1000)
#define DAYS_NS (432100ULL * 1000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint64_t pauses_ns[8] = { 0, 0, 0, 0, 1000000, 300000000, 2100000000, 61000000000 };

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz_ct: %s\n", what);
	abort();
}

static void fragment(enum cr_host from, const uint8_t *r, bool last)
{
	static uint8_t payload[1024], frame[RF_FRAME_MAX];
	struct rf_ip ip = { .port = from == CR_CLIENT ? RF_LAN : RF_WAN,
		.src = from == CR_CLIENT ? "198.51.100.2" : "192.0.2.2",
		.dst = from == CR_CLIENT ? "192.0.2.2" : "198.51.100.2",
		.proto = r[3] & 1 ? IPPROTO_UDP : IPPROTO_ICMP,
		.id = r[4] & 3,
		.frag = (uint16_t)((last ? 0 : 0x2000) | (r[5] & 7)),
		.payload = payload,
		.len = 8U * (1U + (r[6] & 15)) + (last ? r[7] & 7 : 0) };

	rf_in_at(cr_worker, ip.port, frame, rf_build(&ip, frame), 0);
	rf_settle();
}

static void packet(const uint8_t *r, const uint8_t *rest, size_t left)
{
	enum cr_host from = r[0] & 1 ? CR_SERVER : CR_CLIENT;
	uint16_t port = (uint16_t)(1024 + r[4]);
	uint32_t seq = 1000 + (uint32_t)(int8_t)r[5] * (r[0] & 4 ? 1000 : 1);
	uint32_t ack = 1000 + (uint32_t)(int8_t)r[6] * (r[0] & 8 ? 1000 : 1);

	switch (r[2] % 6) {
	case 0:
	case 1:
		cr_tcp(from, port, r[3], seq, ack, r[7] % 100);
		break;
	case 2:
		cr_udp(from, port, r[7]);
		break;
	case 3:
		cr_echo(from, port, r[3]);
		break;
	case 4:
		fragment(from, r, r[7] & 0x80);
		break;
	default:
		if (left > 0)
			rf_in(from == CR_CLIENT ? RF_LAN : RF_WAN, rest, (uint32_t)left, 0);
		break;
	}
}

struct tally {
	unsigned int n;
};

static void look_at(struct ct_shard *s, struct ct_entry *e, void *arg)
{
	struct tally *t = arg;

	t->n++;
	require((e->status & CT_CONFIRMED) != 0, "a connection that nobody confirmed");
	require(e->expires_ms - s->now_ms <= LONGEST_MS, "a connection that lives for ever");
	require(e->orig.family == SL_AF_INET || e->orig.family == SL_AF_INET6, "of no family");
}

/* between bursts: nothing unconfirmed is left */
static void check(void)
{
	const struct ct_table *table = ct_table_of(rf.r);

	for (unsigned int i = 0; i < table->n_shards; i++) {
		struct ct_shard *s = table->shard[i];
		struct tally t = { 0 };

		for (uint32_t at = 0; at != CT_NONE;)
			at = ct_walk(s, at, MAX, look_at, &t);
		require(t.n <= s->count, "more connections than are counted");
		require(s->count <= s->room, "more connections than there is room for");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool started;

	if (!started)
		cr_start(2, MAX);
	started = true;
	for (size_t at = 0; at + RECORD <= size; at += RECORD) {
		const uint8_t *r = data + at;

		rf_pass(pauses_ns[r[1] & 7]);
		cr_worker = r[0] >> 1 & 1;
		packet(r, r + RECORD, size - at - RECORD);
		check();
		rf_clear();
	}
	rf_jump(DAYS_NS);
	rf_pass(100000000);
	rf_clear();
	require(cr_count() == 0, "connections that never end");
	require(rf_is_whole(), "packets that are not accounted for");
	return 0;
}
