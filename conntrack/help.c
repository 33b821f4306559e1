/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/help.h"

#include "conntrack/helper.h"
#include "conntrack/proto_priv.h"
#include "lib/worker.h"

#include <rte_tcp.h>
#include <rte_udp.h>

#include <errno.h>
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

/* another port for what comes, if somebody else expects the same */
#define PORT_TRIES 128

static int expect_at_any_port(const struct ct_pkt *c, struct ct_expect *x)
{
	uint16_t first = rte_be_to_cpu_16(x->tuple.dport_be);
	uint32_t range = UINT16_MAX - first;
	int ret;

	for (uint32_t tries = RTE_MIN(range, PORT_TRIES);; tries--) {
		ret = ct_expect_add(c->s, x, c->conf->expect_max);
		if (ret != -EBUSY || tries == 0)
			return ret;
		x->tuple.dport_be = rte_cpu_to_be_16(
				(uint16_t)(first + sl_worker_random(c->w) % range));
	}
}

bool ct_help_expect(const struct ct_pkt *c, const struct ct_entry *e,
		const struct ct_coming *coming, rte_be16_t *port_be)
{
	const struct ct_tuple *own = ct_tuple_of(e, coming->dir);
	struct ct_expect x = {
		.tuple = {
			.dst = *coming->dst,
			.dport_be = coming->port_be,
			.family = e->orig.family,
			.proto = e->orig.proto,
			.zone = e->orig.zone,
		},
		.mask = { .dport_be = UINT16_MAX },
		.master = ct_ref(c->s, e),
		.expires_ms = c->s->now_ms + EXPECT_S * 1000,
		.max = coming->max,
		.helper = e->helper,
		.dir = (uint8_t)coming->dir,
		.follows = (e->status & CT_NAT_MASK) != 0,
		.to_src = own->dst,
		.to_dst = own->src,
		.to_port_be = coming->own_port_be,
	};
	int ret;

	if (coming->src != NULL) {
		x.tuple.src = *coming->src;
		memset(&x.mask.src, 0xff, sizeof(x.mask.src));
	}
	memset(&x.mask.dst, 0xff, sizeof(x.mask.dst));
	if (x.follows && coming->any_port)
		ret = expect_at_any_port(c, &x);
	else
		ret = ct_expect_add(c->s, &x, c->conf->expect_max);
	*port_be = x.tuple.dport_be;
	return ret == 0;
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
