/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sctp and dccp. A chunk whose header is not there, or whose length is 0, drops the packet, if the
 * ports matched and the rule asks for chunks.
 */
#include "classifier/match_ext.h"

#include <rte_sctp.h>

struct chunk {
	uint8_t type;
	uint8_t flags;
	rte_be16_t len_be;
};

static bool hotdrop(struct ipt_ctx *c)
{
	c->hotdrop = true;
	return false;
}

static bool in_range(struct ipt_range16 r, rte_be16_t port_be, bool inv)
{
	uint16_t port = rte_be_to_cpu_16(port_be);

	return (port >= r.lo && port <= r.hi) != inv;
}

/* is the chunk in the list, flags included? */
static bool is_listed(const struct ipt_m_sctp *s, const struct chunk *chunk)
{
	if (!(s->types[chunk->type / 32] >> (chunk->type % 32) & 1))
		return false;
	for (unsigned int i = 0; i < s->n_flags; i++) {
		if (s->flags[i].type == chunk->type)
			return (chunk->flags & s->flags[i].mask) == s->flags[i].value;
	}
	return true;
}

static bool chunks_hold(struct ipt_ctx *c, const struct ipt_m_sctp *s)
{
	uint32_t off = c->thoff + (uint32_t)sizeof(struct rte_sctp_hdr);
	uint32_t missing[8], left = 0;
	struct chunk chunk;

	memcpy(missing, s->types, sizeof(missing));
	do {
		bool listed;

		if (!sl_pkt_copy(c->m, off, sizeof(chunk), &chunk) || chunk.len_be == 0)
			return hotdrop(c);
		off += RTE_ALIGN_CEIL((uint32_t)rte_be_to_cpu_16(chunk.len_be), 4U);
		listed = is_listed(s, &chunk);
		if (listed && s->how == IPT_SCTP_ANY)
			return true;
		if (!listed && s->how == IPT_SCTP_ONLY)
			return false;
		if (listed)
			missing[chunk.type / 32] &= ~(1U << (chunk.type % 32));
	} while (off < c->m->pkt_len);
	for (unsigned int i = 0; i < RTE_DIM(missing); i++)
		left |= missing[i];
	return s->how == IPT_SCTP_ONLY || (s->how == IPT_SCTP_ALL && left == 0);
}

static bool sctp_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_sctp *s = match->data;
	struct rte_sctp_hdr h;

	if (c->fragoff != 0)
		return false;
	if (!sl_pkt_copy(c->m, c->thoff, sizeof(h), &h))
		return hotdrop(c);
	if (!in_range(s->sport, h.src_port, match->inv & IPT_PORTS_SPORT)
			|| !in_range(s->dport, h.dst_port, match->inv & IPT_PORTS_DPORT))
		return false;
	return !(match->set & IPT_SCTP_CHUNKS)
			|| chunks_hold(c, s) != !!(match->inv & IPT_SCTP_CHUNKS);
}

#define DCCP_LEN 12 /* of the fixed header; 4 more with the bit X */

static unsigned int dccp_type(const uint8_t *h)
{
	return h[8] >> 1 & 0xf;
}

/* what stands between the fixed header and the options */
static uint32_t dccp_type_len(unsigned int type)
{
	switch (type) {
	case 0: /* request */
		return 4;
	case 2: /* data */
		return 0;
	case 3: /* ack, data+ack, closereq, close, sync, syncack */
	case 4:
	case 5:
	case 6:
	case 8:
	case 9:
		return 8;
	default: /* response, reset */
		return 12;
	}
}

static bool dccp_has_option(struct ipt_ctx *c, const uint8_t *h, uint8_t option)
{
	uint32_t off = DCCP_LEN + (h[8] & 1 ? 4U : 0U) + dccp_type_len(dccp_type(h));
	uint32_t len = h[4] * 4U;
	uint8_t opt[UINT8_MAX * 4 + 1] = { 0 };

	if (len < off)
		return hotdrop(c);
	len -= off;
	if (len == 0)
		return false;
	if (!sl_pkt_copy(c->m, c->thoff + off, len, opt))
		return hotdrop(c);
	for (uint32_t i = 0; i < len;) {
		if (opt[i] == option)
			return true;
		i += opt[i] < 2 || opt[i + 1] == 0 ? 1 : opt[i + 1];
	}
	return false;
}

static bool dccp_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_dccp *d = match->data;
	uint8_t h[DCCP_LEN];
	rte_be16_t ports[2];

	if (c->fragoff != 0)
		return false;
	if (!sl_pkt_copy(c->m, c->thoff, sizeof(h), h))
		return hotdrop(c);
	memcpy(ports, h, sizeof(ports));
	if (!in_range(d->sport, ports[0], match->inv & IPT_PORTS_SPORT)
			|| !in_range(d->dport, ports[1], match->inv & IPT_PORTS_DPORT))
		return false;
	if (match->set & IPT_DCCP_TYPES
			&& (d->types >> dccp_type(h) & 1) == !!(match->inv & IPT_DCCP_TYPES))
		return false;
	return !(match->set & IPT_DCCP_OPTION)
			|| dccp_has_option(c, h, d->option) != !!(match->inv & IPT_DCCP_OPTION);
}

const struct ipt_match_ops ipt_match_sctp_ops = { .kind = IPT_M_SCTP, .match = sctp_match };
const struct ipt_match_ops ipt_match_dccp_ops = { .kind = IPT_M_DCCP, .match = dccp_match };
