/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/help.h"

#include "conntrack/helper.h"
#include "conntrack/proto_priv.h"

#include <rte_tcp.h>
#include <rte_udp.h>

#include <netinet/in.h>

#define EXPECT_S 300 /* of every helper */

bool ct_help_data(const struct ct_pkt *c, uint32_t *off, uint32_t *len)
{
	uint32_t there = ct_l4_len(c), hdr = (uint32_t)sizeof(struct rte_udp_hdr);
	const struct rte_tcp_hdr *tcp;
	struct rte_tcp_hdr buf;

	if (c->p->proto == IPPROTO_TCP) {
		tcp = ct_l4_at(c, 0, sizeof(*tcp), &buf);
		if (tcp == NULL)
			return false;
		hdr = (tcp->data_off >> 4) * 4U;
	}
	if (hdr >= there)
		return false;
	*off = hdr;
	*len = there - hdr;
	return true;
}

bool ct_help_expect(const struct ct_pkt *c, const struct ct_entry *e, const struct sl_addr *src,
		const struct sl_addr *dst, rte_be16_t port_be, uint32_t max)
{
	struct ct_expect x = {
		.tuple = { .family = e->orig.family, .proto = e->orig.proto, .zone = e->orig.zone },
		.mask = { .dport_be = UINT16_MAX },
		.master = ct_ref(c->s, e),
		.expires_ms = c->s->now_ms + EXPECT_S * 1000,
		.max = max,
		.helper = e->helper,
		.dir = (uint8_t)ct_info_dir(c->p->ct_info),
	};

	if (src != NULL) {
		x.tuple.src = *src;
		memset(&x.mask.src, 0xff, sizeof(x.mask.src));
	}
	x.tuple.dst = *dst;
	memset(&x.mask.dst, 0xff, sizeof(x.mask.dst));
	x.tuple.dport_be = port_be;
	return ct_expect_add(c->s, &x, c->conf->expect_max) == 0;
}

bool ct_help(const struct ct_pkt *c, struct ct_entry *e)
{
	switch ((enum ct_helper)e->helper) {
	case CT_HELPER_FTP:
		return ct_ftp_help(c, e);
	case CT_HELPER_TFTP:
		return ct_tftp_help(c, e);
	case CT_HELPER_IRC:
		return ct_irc_help(c, e);
	case CT_HELPER_NONE:
	case CT_HELPER_NB:
		break;
	}
	return true;
}
