/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/config/rules_rig.h"

#include "app/sluice/extensions.h"
#include "classifier/classifier.h"
#include "config/ipt.h"
#include "lib/ip.h"

#include <rte_eal.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct sl_router *rig;
static struct rte_mempool *pool;

static void close_link(struct sl_link *link)
{
	free(link);
}

static const struct sl_link_ops no_link = { .kind = "none", .close = close_link };

int rig_start(void **state)
{
	static const char *const ports[] = { "pa", "pb" };
	char *argv[] = { (char[]){ "test" }, (char[]){ "--no-huge" }, (char[]){ "--no-shconf" },
		(char[]){ "--no-pci" }, (char[]){ "--no-telemetry" }, (char[]){ "-m" },
		(char[]){ "64" }, (char[]){ "--log-level=error" }, NULL };
	struct rte_ether_addr mac = { { 2 } };

	(void)state;
	if (rte_eal_init((int)RTE_DIM(argv) - 1, argv) < 0)
		return -1;
	pool = sl_pool_create("rig", 1023, RTE_MBUF_DEFAULT_DATAROOM);
	assert_non_null(pool);
	assert_int_equal(sl_router_create(pool, 1, &rig), 0);
	for (unsigned int i = 0; i < RTE_DIM(ports); i++) {
		struct sl_link *link = calloc(1, sizeof(*link));

		assert_non_null(link);
		link->ops = &no_link;
		assert_true(sl_router_add_port(rig, ports[i], link, &mac, 1500, 0) > 0);
	}
	return 0;
}

int rig_stop(void **state)
{
	(void)state;
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	sl_router_free(rig);
	rte_mempool_free(pool);
	return 0;
}

struct ipt_ruleset *rig_load(enum ipt_family family, const char *text)
{
	const struct ipt_load load = {
		.path = "rules", .text = text, .text_len = strlen(text), .family = family
	};
	struct ipt_errors errors;
	struct ipt_ruleset *rs = NULL;

	if (ipt_load(&load, &rs, &errors) < 0)
		fail_msg("%s", errors.n > 0 ? errors.v[0].text : "?");
	ipt_errors_free(&errors);
	return rs;
}

struct ipt_prog *rig_compile(const struct ipt_ruleset *rs, const char *engine)
{
	const struct ipt_prog_spec spec = {
		.r = rig,
		.rs = rs,
		.exts = &sl_extensions,
		.engine = engine == NULL ? NULL : sl_cls_find(engine),
	};
	struct ipt_prog_error err;
	struct ipt_prog *prog = NULL;

	if (ipt_prog_create(&spec, &prog, &err) < 0)
		fail_msg("line %u: %s", err.line, err.text);
	return prog;
}

static unsigned int digit(char c)
{
	return c <= '9' ? (unsigned int)(c - '0') : (unsigned int)(c - 'a' + 10);
}

struct rte_mbuf *rig_buffer(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (m == NULL)
		abort();
	memset(sl_pkt(m), 0, sizeof(struct sl_pkt));
	return m;
}

struct rte_mbuf *rig_frame(const uint8_t *data, size_t len, bool split)
{
	struct rte_mbuf *m = rig_buffer(), *last = m;
	uint32_t rng = (uint32_t)len;
	size_t at = 0;

	while (at < len) {
		size_t n = len - at;

		rng = rng * 1664525 + 1013904223;
		if (split || n > 2000)
			n = RTE_MIN(n, (at == 0 ? 62 : 1) + (rng >> 16) % 900);
		if (at > 0) {
			last->next = rig_buffer();
			last = last->next;
			m->nb_segs++;
		}
		memcpy(rte_pktmbuf_mtod(last, void *), data + at, n);
		last->data_len = (uint16_t)n;
		at += n;
	}
	m->pkt_len = (uint32_t)len;
	assert_true(sl_pkt_parse_ip(m, 14));
	sl_pkt(m)->in_port = 1;
	sl_pkt(m)->out_port = 2;
	return m;
}

struct rte_mbuf *rig_packet(const char *hex)
{
	struct rte_mbuf *m = rig_buffer();
	struct sl_pkt *p = sl_pkt(m);
	uint16_t n = 14; /* bytes: an Ethernet header of zeroes first */

	memset(rte_pktmbuf_mtod(m, uint8_t *), 0, 14);
	for (; *hex != '\0'; hex++) {
		if (*hex == ' ')
			continue;
		rte_pktmbuf_mtod(m, uint8_t *)[n++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
		hex++;
	}
	assert_non_null(rte_pktmbuf_append(m, n));
	assert_true(sl_pkt_parse_ip(m, 14));
	p->in_port = 1;
	p->out_port = 2;
	return m;
}
