/* SPDX-License-Identifier: BSD-3-Clause */
/* TCPOPTSTRIP: options become NOPs */
#include "classifier/match_ext.h"
#include "classifier/tcp_header.h"
#include "lib/ip.h"

#define OPT_NOP 1

/* one byte at @off of the header, which starts at an even place of the sum */
static void set_byte(struct rte_tcp_hdr *tcp, uint32_t off, uint8_t value)
{
	uint8_t *b = (uint8_t *)tcp;
	unsigned int shift = off % 2 == 0 ? 8 : 0;

	tcp->cksum = sl_csum_update16(tcp->cksum, rte_cpu_to_be_16((uint16_t)(b[off] << shift)),
			rte_cpu_to_be_16((uint16_t)(value << shift)));
	b[off] = value;
}

static int strip_run(struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	const struct ipt_t_tcpoptstrip *t = target->data;
	struct rte_tcp_hdr *tcp;
	uint32_t len, opt_len;
	const uint8_t *b;

	if (c->fragoff != 0)
		return IPT_CONTINUE;
	tcp = ipt_tcp_header(c, &len);
	if (tcp == NULL)
		return IPT_DROP;
	b = (const uint8_t *)tcp;
	for (uint32_t i = sizeof(*tcp); i + 1 < len; i += opt_len) {
		uint8_t kind = b[i];

		opt_len = ipt_tcp_option_len(b, i);
		if (i + opt_len > len)
			break;
		if (!(t->options[kind / 32] >> (kind % 32) & 1))
			continue;
		for (uint32_t j = 0; j < opt_len; j++)
			set_byte(tcp, i + j, OPT_NOP);
	}
	return IPT_CONTINUE;
}

const struct ipt_target_ops ipt_target_tcpoptstrip_ops = { .kind = IPT_T_TCPOPTSTRIP,
	.run = strip_run };
