/* SPDX-License-Identifier: BSD-3-Clause */
/* eui64: the source address was made of the source MAC. mh: the mobility header. */
#include "classifier/ipt_match_v6.h"
#include "classifier/match_ext.h"

#include <rte_ether.h>

#include <netinet/in.h>

static bool eui64_match(struct ipt_ctx *c, __rte_unused const struct ipt_match *match,
		__rte_unused void *state)
{
	const struct rte_ether_hdr *eth = sl_pkt_at(c->m, 0, sizeof(*eth));
	const uint8_t *mac;
	uint8_t id[8];

	/* the router's own packets came from no device */
	if (c->p->flags & SL_PKT_ORIGIN || eth == NULL)
		return false;
	mac = eth->src_addr.addr_bytes;
	memcpy(id,
			(const uint8_t[]){ mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4],
					mac[5] },
			sizeof(id));
	return memcmp(id, c->p->src.b + 8, sizeof(id)) == 0;
}

struct mobility_header {
	uint8_t next;
	uint8_t len;
	uint8_t type;
	uint8_t reserved;
	rte_be16_t checksum_be;
};

static bool mh_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_mh *m = match->data;
	struct mobility_header h;

	if (c->fragoff != 0)
		return false;
	/* nothing may follow it */
	if (!sl_pkt_copy(c->m, c->thoff, sizeof(h), &h) || h.next != IPPROTO_NONE) {
		c->hotdrop = true;
		return false;
	}
	return !(match->set & IPT_MH_TYPE)
			|| (h.type >= m->lo && h.type <= m->hi) != !!(match->inv & IPT_MH_TYPE);
}

const struct ipt_match_ops ipt_match_eui64_ops = { .kind = IPT_M_EUI64, .match = eui64_match };
const struct ipt_match_ops ipt_match_mh_ops = { .kind = IPT_M_MH, .match = mh_match };
