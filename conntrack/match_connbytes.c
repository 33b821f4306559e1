/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/ext.h"

/* of the directions that are asked for */
static uint64_t count_of(const uint64_t n[CT_DIR_NB], uint8_t dir)
{
	switch ((enum ipt_connbytes_dir)dir) {
	case IPT_CONNBYTES_ORIGINAL:
		return n[CT_ORIGINAL];
	case IPT_CONNBYTES_REPLY:
		return n[CT_REPLY];
	case IPT_CONNBYTES_BOTH:
		return n[CT_ORIGINAL] + n[CT_REPLY];
	}
	return 0;
}

static uint64_t value_of(const struct ipt_m_connbytes *m, const struct ct_cold *cold)
{
	uint64_t packets = count_of(cold->packets, m->dir);
	uint64_t bytes = count_of(cold->bytes, m->dir);

	switch ((enum ipt_connbytes_mode)m->mode) {
	case IPT_CONNBYTES_PACKETS:
		return packets;
	case IPT_CONNBYTES_BYTES:
		return bytes;
	case IPT_CONNBYTES_AVGPKT:
		return packets == 0 ? 0 : bytes / packets;
	}
	return 0;
}

static bool connbytes_match(
		struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_connbytes *m = match->data;
	const struct ct_entry *e = ct_of(c->p);
	uint64_t value;

	if (e == NULL)
		return false;
	value = value_of(m, ct_cold_peek(ct_ext_shard(c), e));
	return (value >= m->from && value <= m->to) != (match->inv != 0);
}

const struct ipt_match_ops ipt_match_connbytes_ops = {
	.kind = IPT_M_CONNBYTES,
	.needs = IPT_NEEDS_CT | IPT_NEEDS_CT_ACCT,
	.match = connbytes_match,
};
