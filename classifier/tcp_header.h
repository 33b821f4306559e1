/* SPDX-License-Identifier: BSD-3-Clause */
/* The TCP header of a packet, options included, for targets that write to it. */
#pragma once

#include "classifier/ext.h"

#include <rte_tcp.h>

/* the option at @off of @tcp has this many bytes; a length of 0 counts as 1 */
static inline uint32_t ipt_tcp_option_len(const uint8_t *tcp, uint32_t off)
{
	return tcp[off] < 2 || tcp[off + 1] == 0 ? 1 : tcp[off + 1];
}

/**
 * ipt_tcp_header() - the header in one piece
 * @len: of the header with its options
 *
 * Return: NULL if it is cut or says that it is shorter than 20 bytes.
 */
static inline struct rte_tcp_hdr *ipt_tcp_header(struct ipt_ctx *c, uint32_t *len)
{
	struct rte_tcp_hdr *tcp;
	uint8_t *frame = sl_pkt_pull(c->m, c->thoff + (uint32_t)sizeof(*tcp));

	if (frame == NULL)
		return NULL;
	tcp = (struct rte_tcp_hdr *)(void *)(frame + c->thoff);
	*len = (tcp->data_off >> 4) * 4U;
	if (*len < sizeof(*tcp))
		return NULL;
	frame = sl_pkt_pull(c->m, c->thoff + *len);
	return frame == NULL ? NULL : (struct rte_tcp_hdr *)(void *)(frame + c->thoff);
}
