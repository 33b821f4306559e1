/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/match_ext.h"

#include <rte_tcp.h>

#define TCP_OPTIONS_MAX 40
#define OPT_MSS 2
#define OPT_MSS_LEN 4

static bool hotdrop(struct ipt_ctx *c)
{
	c->hotdrop = true;
	return false;
}

/* Without an MSS option the match is false, or true behind `!`. */
static bool tcpmss_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_tcpmss *t = match->data;
	bool inv = match->inv & IPT_TCPMSS_MSS;
	uint8_t opt[TCP_OPTIONS_MAX + OPT_MSS_LEN] = { 0 };
	struct rte_tcp_hdr tcp;
	uint32_t len;

	if (!sl_pkt_copy(c->m, c->thoff, sizeof(tcp), &tcp))
		return hotdrop(c);
	len = (tcp.data_off >> 4) * 4U;
	if (len < sizeof(tcp))
		return hotdrop(c);
	len -= (uint32_t)sizeof(tcp);
	if (len == 0)
		return inv;
	if (!sl_pkt_copy(c->m, c->thoff + sizeof(tcp), len, opt))
		return hotdrop(c);
	for (uint32_t i = 0; i < len;) {
		if (opt[i] == OPT_MSS && len - i >= OPT_MSS_LEN && opt[i + 1] == OPT_MSS_LEN) {
			uint16_t mss = (uint16_t)(opt[i + 2] << 8 | opt[i + 3]);

			return (mss >= t->mss.lo && mss <= t->mss.hi) != inv;
		}
		i += opt[i] < 2 || opt[i + 1] == 0 ? 1 : opt[i + 1];
	}
	return inv;
}

const struct ipt_match_ops ipt_match_tcpmss_ops = { .kind = IPT_M_TCPMSS, .match = tcpmss_match };
