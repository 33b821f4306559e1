/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/conntrack/table_fixture.h"

#include <rte_eal.h>

#include <netinet/in.h>
#include <stdlib.h>

static struct rte_mempool *pool;
static struct sl_router *router;

static void need(bool ok)
{
	if (!ok)
		abort();
}

int tf_eal(void **state)
{
	char *argv[] = { (char *)(uintptr_t) "test", (char *)(uintptr_t) "--no-huge",
		(char *)(uintptr_t) "--no-shconf", (char *)(uintptr_t) "--no-pci",
		(char *)(uintptr_t) "--no-telemetry", (char *)(uintptr_t) "--log-level=error",
		(char *)(uintptr_t) "-m", (char *)(uintptr_t) "64", NULL };

	(void)state;
	need(rte_eal_init(RTE_DIM(argv) - 1, argv) >= 0);
	pool = sl_pool_create("test", 511, RTE_MBUF_DEFAULT_DATAROOM);
	need(pool != NULL);
	return 0;
}

struct ct_table *tf_table(uint32_t max, unsigned int n_workers, uint32_t now_ms)
{
	struct ct_conf conf;
	struct ct_table *t;

	ct_conf_init(&conf);
	conf.max = max;
	need(sl_router_create(pool, n_workers, &router) == 0);
	sl_router_fix(router);
	t = ct_table_get(router, &conf);
	need(t != NULL);
	for (unsigned int i = 0; i < n_workers; i++)
		ct_tick(t->shard[i], now_ms);
	return t;
}

int tf_teardown(void **state)
{
	(void)state;
	sl_router_free(router);
	router = NULL;
	return 0;
}

static struct ct_tuple addresses(const char *src, const char *dst, uint8_t proto)
{
	struct ct_tuple t = { .proto = proto };

	t.family = sl_addr_parse(src, &t.src);
	need(t.family != SL_AF_NONE && sl_addr_parse(dst, &t.dst) == t.family);
	return t;
}

struct ct_tuple tf_tuple(
		const char *src, const char *dst, uint8_t proto, uint16_t sport, uint16_t dport)
{
	struct ct_tuple t = addresses(src, dst, proto);

	t.sport_be = rte_cpu_to_be_16(sport);
	t.dport_be = rte_cpu_to_be_16(dport);
	return t;
}

struct ct_tuple tf_icmp(const char *src, const char *dst, uint16_t id, uint8_t type)
{
	struct ct_tuple t = addresses(src, dst, IPPROTO_ICMP);

	t.id_be = rte_cpu_to_be_16(id);
	t.type = type;
	return t;
}

struct ct_tuple tf_many(uint32_t i)
{
	return (struct ct_tuple){ .src = sl_addr_v4(rte_cpu_to_be_32(0x0a000000 + i / 50000)),
		.dst = sl_addr_v4(rte_cpu_to_be_32(0xc0a80001)),
		.sport_be = rte_cpu_to_be_16((uint16_t)(1024 + i % 50000)),
		.dport_be = RTE_BE16(53),
		.family = SL_AF_INET,
		.proto = IPPROTO_UDP };
}

struct ct_entry *tf_add(struct ct_shard *s, const struct ct_tuple *t, uint32_t timeout_s)
{
	struct ct_tuple answer;
	struct ct_entry *e;

	need(ct_tuple_invert(t, &answer));
	e = ct_create(s, t, &answer);
	if (e == NULL)
		return NULL;
	ct_refresh(s, e, timeout_s);
	ct_confirm(s, e);
	return e;
}

void tf_pass(struct ct_table *t, uint32_t ms)
{
	for (uint32_t gone = 0; gone < ms; gone += 100)
		for (unsigned int i = 0; i < t->n_shards; i++)
			ct_tick(t->shard[i], t->shard[i]->now_ms + 100);
}
