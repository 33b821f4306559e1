/* SPDX-License-Identifier: BSD-3-Clause */
#include "ct_rig.h"

#include "conntrack/stage.h"

#include <stdlib.h>

#define SPECS_MAX (3 * SL_HOOK_NB)

unsigned int cr_worker;

static const struct sl_stage_ops *const stages[] = {
	&sl_stage_defrag,
	&sl_stage_conntrack,
	&sl_stage_confirm,
};

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "connection rig: %s\n", what);
	abort();
}

static void plug(uint32_t max)
{
	static struct ct_stage_conf confs[SPECS_MAX];
	struct sl_stage_spec specs[SPECS_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < RTE_DIM(stages); i++)
		for (unsigned int hook = 0; hook < SL_HOOK_NB; hook++) {
			struct ct_stage_conf *c = &confs[n];

			if ((stages[i]->hooks & SL_HOOK_BIT(hook)) == 0)
				continue;
			*c = (struct ct_stage_conf){ .family = { true, true } };
			c->conf.hook = (enum sl_hook)hook;
			ct_conf_init(&c->ct);
			c->ct.max = max;
			c->ct.log_invalid = 255;
			specs[n++] = (struct sl_stage_spec){ .ops = stages[i],
				.conf = &c->conf,
				.hook = (enum sl_hook)hook,
				.order = stages[i]->order };
		}
	rf_apply(specs, n);
}

void cr_start(unsigned int n_workers, uint32_t max)
{
	rf_start(n_workers);
	plug(max);
}

unsigned int cr_count(void)
{
	const struct ct_table *t = ct_table_of(rf.r);
	unsigned int n = 0;

	for (unsigned int i = 0; i < t->n_shards; i++)
		n += t->shard[i]->count;
	return n;
}

struct ct_stats cr_stats(void)
{
	const struct ct_table *t = ct_table_of(rf.r);
	struct ct_stats sum = { 0 };

	for (unsigned int i = 0; i < t->n_shards; i++) {
#define X(name) sum.name += t->shard[i]->stats.name;
		CT_STATS(X)
#undef X
	}
	return sum;
}

struct search {
	uint16_t port;
	const struct ct_entry *e;
	uint32_t seconds;
};

static void meet(struct ct_shard *s, struct ct_entry *e, void *arg)
{
	struct search *a = arg;

	if (e->orig.sport_be != rte_cpu_to_be_16(a->port))
		return;
	a->e = e;
	a->seconds = ct_seconds_left(e, s->now_ms);
}

static struct search find(uint16_t port)
{
	const struct ct_table *t = ct_table_of(rf.r);
	struct search a = { .port = port };

	for (unsigned int i = 0; i < t->n_shards; i++)
		for (uint32_t at = 0; at != CT_NONE;)
			at = ct_walk(t->shard[i], at, 1000, meet, &a);
	return a;
}

const struct ct_entry *cr_entry(uint16_t port)
{
	return find(port).e;
}

const char *cr_state(uint16_t port)
{
	const struct ct_entry *e = cr_entry(port);
	const char *name = e == NULL ? NULL : ct_proto_state(e);

	return name == NULL ? "" : name;
}

uint32_t cr_seconds(uint16_t port)
{
	return find(port).seconds;
}

static void emit(enum cr_host from, uint8_t proto, uint8_t *l4, uint32_t len, unsigned int csum_off)
{
	static uint8_t frame[RF_FRAME_MAX];
	struct rf_ip ip = { .port = from == CR_CLIENT ? RF_LAN : RF_WAN,
		.src = from == CR_CLIENT ? "198.51.100.2" : "192.0.2.2",
		.dst = from == CR_CLIENT ? "192.0.2.2" : "198.51.100.2",
		.proto = proto,
		.payload = l4,
		.len = len };

	rf_seal(&ip, l4, csum_off);
	rf_in_at(cr_worker, ip.port, frame, rf_build(&ip, frame), 0);
	rf_settle();
}

static void put16(uint8_t *at, uint32_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static void put_ports(uint8_t *l4, enum cr_host from, uint16_t port)
{
	put16(l4, from == CR_CLIENT ? port : 80);
	put16(l4 + 2, from == CR_CLIENT ? 80 : port);
}

void cr_tcp(enum cr_host from, uint16_t port, uint8_t flags, uint32_t seq, uint32_t ack,
		uint32_t len)
{
	uint8_t l4[2000] = { 0 };

	must(len <= sizeof(l4) - 20, "segment");
	put_ports(l4, from, port);
	put16(l4 + 4, seq >> 16);
	put16(l4 + 6, seq);
	put16(l4 + 8, ack >> 16);
	put16(l4 + 10, ack);
	l4[12] = 5 << 4;
	l4[13] = flags;
	put16(l4 + 14, 10000);
	emit(from, IPPROTO_TCP, l4, 20 + len, 16);
}

void cr_udp(enum cr_host from, uint16_t port, uint32_t len)
{
	uint8_t l4[2000] = { 0 };

	must(len <= sizeof(l4) - 8, "datagram");
	put_ports(l4, from, port);
	put16(l4 + 4, 8 + len);
	emit(from, IPPROTO_UDP, l4, 8 + len, 6);
}

void cr_echo(enum cr_host from, uint16_t id, uint8_t type)
{
	uint8_t l4[16] = { type };

	put16(l4 + 4, id);
	emit(from, IPPROTO_ICMP, l4, sizeof(l4), 2);
}
