/* SPDX-License-Identifier: BSD-3-Clause */
/* ECN, IPv4 only: the codepoint of the IP header, ECE and CWR of TCP */
#include "classifier/ip_field.h"
#include "classifier/match_ext.h"
#include "lib/ip.h"

#include <rte_tcp.h>

#include <netinet/in.h>

static uint8_t with_bit(uint8_t flags, uint8_t bit, bool on)
{
	return (uint8_t)(on ? flags | bit : flags & ~bit);
}

/* There is no test for fragments: of a later one the payload is changed, as by the kernel. */
static bool set_tcp(struct ipt_ctx *c, const struct ipt_target *target)
{
	const struct ipt_t_ecn *t = target->data;
	bool clear = target->set & IPT_ECNT_TCP_REMOVE;
	struct rte_tcp_hdr *tcp;
	uint8_t *frame = sl_pkt_pull(c->m, c->thoff + (uint32_t)sizeof(*tcp));
	rte_be16_t was, now;

	if (frame == NULL)
		return false;
	tcp = (struct rte_tcp_hdr *)(void *)(frame + c->thoff);
	memcpy(&was, &tcp->data_off, sizeof(was));
	if (clear || target->set & IPT_ECNT_TCP_ECE)
		tcp->tcp_flags = with_bit(tcp->tcp_flags, RTE_TCP_ECE_FLAG, !clear && t->ece);
	if (clear || target->set & IPT_ECNT_TCP_CWR)
		tcp->tcp_flags = with_bit(tcp->tcp_flags, RTE_TCP_CWR_FLAG, !clear && t->cwr);
	memcpy(&now, &tcp->data_off, sizeof(now));
	if (now != was)
		tcp->cksum = sl_csum_update16(tcp->cksum, was, now);
	return true;
}

static int ecn_run(struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	const struct ipt_t_ecn *t = target->data;

	if (target->set & IPT_ECNT_IP_ECT)
		ipt_set_tos(c->m, (uint8_t)((ipt_tos(c->m) & ~3) | (t->ip_ect & 3)));
	if (target->set & (IPT_ECNT_TCP_REMOVE | IPT_ECNT_TCP_ECE | IPT_ECNT_TCP_CWR)
			&& c->p->proto == IPPROTO_TCP && !set_tcp(c, target))
		return IPT_DROP;
	return IPT_CONTINUE;
}

const struct ipt_target_ops ipt_target_ecn_ops = { .kind = IPT_T_ECN, .run = ecn_run };
