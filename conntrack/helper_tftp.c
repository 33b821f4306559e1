/* SPDX-License-Identifier: BSD-3-Clause */
/* TFTP (RFC 1350): the server answers a request from a port of its own choice. */
#include "conntrack/help.h"
#include "conntrack/proto_priv.h"

#include <rte_udp.h>

#define MAX_EXPECTED 1

enum {
	READ_REQUEST = 1,
	WRITE_REQUEST = 2,
};

bool ct_tftp_help(const struct ct_pkt *c, struct ct_entry *e)
{
	const rte_be16_t *code;
	const struct ct_coming coming = {
		.src = &e->reply.src,
		.dst = &e->reply.dst,
		.port_be = e->reply.dport_be,
		.dir = CT_ORIGINAL,
		.max = MAX_EXPECTED,
		.own_port_be = e->orig.sport_be,
	};
	rte_be16_t buf, as_be;

	code = ct_l4_at(c, sizeof(struct rte_udp_hdr), sizeof(*code), &buf);
	if (code == NULL || (*code != RTE_BE16(READ_REQUEST) && *code != RTE_BE16(WRITE_REQUEST)))
		return true;
	return ct_help_expect(c, e, &coming, &as_be);
}
