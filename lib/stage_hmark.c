/* SPDX-License-Identifier: BSD-3-Clause */
/* HMARK without any ruleset: every packet of the hook gets the mark of its flow. */
#include "lib/stage_hmark.h"

#include "lib/hmark.h"
#include "lib/stage_conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* the options as they were given */
struct options {
	uint64_t src_len[2], dst_len[2]; /* IPv4, IPv6 */
	uint64_t sport_mask, dport_mask, spi_mask, proto_mask;
	uint64_t sport, dport, spi;
	uint64_t rnd, mod, offset;
};

/* words of `tuple`, and which option each sets to its largest value */
static const struct {
	const char *name;
	size_t field[2];
	uint64_t value[2];
} words[] = {
	{ "src", { offsetof(struct options, src_len[0]), offsetof(struct options, src_len[1]) },
			{ 32, 128 } },
	{ "dst", { offsetof(struct options, dst_len[0]), offsetof(struct options, dst_len[1]) },
			{ 32, 128 } },
	{ "sport", { offsetof(struct options, sport_mask) }, { UINT16_MAX } },
	{ "dport", { offsetof(struct options, dport_mask) }, { UINT16_MAX } },
	{ "proto", { offsetof(struct options, proto_mask) }, { UINT16_MAX } },
	{ "spi", { offsetof(struct options, spi_mask) }, { UINT32_MAX } },
};

static bool take_word(struct options *o, const char *word, size_t len)
{
	for (unsigned int i = 0; i < RTE_DIM(words); i++) {
		if (strlen(words[i].name) != len || strncmp(words[i].name, word, len) != 0)
			continue;
		for (unsigned int k = 0; k < 2 && words[i].value[k] != 0; k++)
			memcpy((uint8_t *)o + words[i].field[k], &words[i].value[k],
					sizeof(words[i].value[k]));
		return true;
	}
	return false;
}

static int read_tuple(struct sl_router *r, const struct sl_stage_conf *conf, unsigned int arg,
		void *object)
{
	const char *text = conf->args[arg].value;

	for (;;) {
		size_t len = strcspn(text, ",");

		if (!take_word(object, text, len))
			return sl_stage_error(r, conf, conf->args[arg].at,
					"tuple: found '%.*s', expected src, dst, sport, dport, proto "
					"or spi",
					(int)len, text);
		if (text[len] == '\0')
			return 0;
		text += len + 1;
	}
}

#define NUMBER(name, field, min, max)                                                             \
	static int read_##name(struct sl_router *r, const struct sl_stage_conf *conf,             \
			unsigned int arg, void *object)                                           \
	{                                                                                         \
		return sl_stage_uint(r, conf, arg, min, max, &((struct options *)object)->field); \
	}

NUMBER(src4, src_len[0], 0, 32)
NUMBER(src6, src_len[1], 0, 128)
NUMBER(dst4, dst_len[0], 0, 32)
NUMBER(dst6, dst_len[1], 0, 128)
NUMBER(sport_mask, sport_mask, 0, UINT16_MAX)
NUMBER(dport_mask, dport_mask, 0, UINT16_MAX)
NUMBER(spi_mask, spi_mask, 0, UINT32_MAX)
NUMBER(proto_mask, proto_mask, 0, UINT16_MAX)
NUMBER(sport, sport, 0, UINT16_MAX)
NUMBER(dport, dport, 0, UINT16_MAX)
NUMBER(spi, spi, 0, UINT32_MAX)
NUMBER(rnd, rnd, 0, UINT32_MAX)
NUMBER(mod, mod, 1, UINT32_MAX)
NUMBER(offset, offset, 0, UINT32_MAX)

static const struct sl_stage_key keys[] = {
	{ "tuple", read_tuple, false },
	{ "src-prefix", read_src4, false },
	{ "dst-prefix", read_dst4, false },
	{ "src-prefix6", read_src6, false },
	{ "dst-prefix6", read_dst6, false },
	{ "sport-mask", read_sport_mask, false },
	{ "dport-mask", read_dport_mask, false },
	{ "spi-mask", read_spi_mask, false },
	{ "proto-mask", read_proto_mask, false },
	{ "sport", read_sport, false },
	{ "dport", read_dport, false },
	{ "spi", read_spi, false },
	{ "mod", read_mod, true },
	{ "offset", read_offset, false },
	{ "rnd", read_rnd, false },
	{ NULL, NULL, false },
};

static int check(struct sl_router *r, const struct sl_stage_conf *conf, const struct options *o)
{
	if ((o->src_len[0] | o->src_len[1] | o->dst_len[0] | o->dst_len[1] | o->sport_mask
			    | o->dport_mask | o->spi_mask | o->proto_mask)
			== 0)
		return sl_stage_error(r, conf, conf->at,
				"nothing is hashed, 'tuple' or prefixes and masks were expected");
	if ((o->spi_mask | o->spi) != 0
			&& (o->sport_mask | o->dport_mask | o->sport | o->dport) != 0)
		return sl_stage_error(r, conf, conf->at, "the SPI and ports exclude each other");
	return 0;
}

static int hmark_create(struct sl_router *r, const struct sl_stage_conf *conf, void **priv)
{
	struct options o = { 0 };
	struct sl_hmark *h;
	int ret;

	ret = sl_stage_read(r, conf, keys, &o);
	if (ret == 0)
		ret = check(r, conf, &o);
	if (ret < 0)
		return ret;
	h = calloc(1, sizeof(*h));
	if (h == NULL)
		return -ENOMEM;
	for (unsigned int v6 = 0; v6 < 2; v6++) {
		enum sl_family family = v6 ? SL_AF_INET6 : SL_AF_INET;

		h->src_mask[v6] = sl_hmark_prefix(family, (unsigned int)o.src_len[v6]);
		h->dst_mask[v6] = sl_hmark_prefix(family, (unsigned int)o.dst_len[v6]);
	}
	h->port_mask = (uint32_t)(o.sport_mask << 16 | o.dport_mask | o.spi_mask);
	h->port_set = (uint32_t)(o.sport << 16 | o.dport | o.spi);
	h->proto_mask = (uint16_t)o.proto_mask;
	h->rnd = (uint32_t)o.rnd;
	h->mod = (uint32_t)o.mod;
	h->offset = (uint32_t)o.offset;
	*priv = h;
	return 0;
}

static unsigned int hmark_process(struct sl_worker *w __rte_unused, void *priv,
		struct rte_mbuf **pkts, unsigned int n)
{
	sl_hmark_bulk(priv, pkts, n);
	return n;
}

static void hmark_describe(const void *priv, FILE *out)
{
	const struct sl_hmark *h = priv;

	fprintf(out, "marks %u to %u", h->offset, h->offset + h->mod - 1);
}

const struct sl_stage_ops sl_stage_hmark = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "hmark",
	.help = "marks packets by the hash of their flow, as HMARK",
	.hooks = SL_HOOK_BIT(SL_HOOK_PREROUTING) | SL_HOOK_BIT(SL_HOOK_INPUT)
			| SL_HOOK_BIT(SL_HOOK_FORWARD) | SL_HOOK_BIT(SL_HOOK_OUTPUT)
			| SL_HOOK_BIT(SL_HOOK_POSTROUTING),
	.order = SL_ORDER_MANGLE,
	.create = hmark_create,
	.process = hmark_process,
	.destroy = free,
	.describe = hmark_describe,
};
