/* SPDX-License-Identifier: BSD-3-Clause */
/* Another text in a packet, as nf_nat_mangle_tcp_packet(). */
#include "conntrack/help.h"
#include "conntrack/seqadj.h"
#include "lib/ip.h"

#include <rte_ip.h>
#include <rte_tcp.h>

#include <netinet/in.h>

/* @more bytes behind @off of the frame. Return: the frame, all of it in one piece; NULL: no room */
static uint8_t *resize(struct rte_mbuf *m, uint32_t off, int32_t more)
{
	uint32_t len = m->pkt_len;
	uint8_t *frame = sl_pkt_pull(m, len);

	if (frame == NULL || (more > 0 && rte_pktmbuf_tailroom(m) < more))
		return NULL;
	memmove(frame + (int32_t)off + more, frame + off, len - off);
	m->data_len = (uint16_t)(m->data_len + more);
	m->pkt_len = (uint32_t)((int32_t)len + more);
	return frame;
}

static void set_l3_len(struct sl_pkt *p, uint8_t *frame, int32_t more)
{
	p->l3_len = (uint32_t)((int32_t)p->l3_len + more);
	if (p->family == SL_AF_INET) {
		struct rte_ipv4_hdr *ip = (void *)(frame + p->l3_off);
		rte_be16_t len_be = rte_cpu_to_be_16((uint16_t)p->l3_len);

		ip->hdr_checksum = sl_csum_update16(ip->hdr_checksum, ip->total_length, len_be);
		ip->total_length = len_be;
	} else {
		struct rte_ipv6_hdr *ip = (void *)(frame + p->l3_off);

		ip->payload_len = rte_cpu_to_be_16((uint16_t)(p->l3_len - sizeof(*ip)));
	}
}

/* anew: what was wrong does not get here */
static void fill_checksum(struct rte_mbuf *m, const struct sl_pkt *p, struct rte_tcp_hdr *tcp)
{
	uint32_t len = m->pkt_len - p->l4_off, sum;

	tcp->cksum = 0;
	sum = sl_csum_bytes(m, p->l4_off, len);
	sum += sl_csum_pseudo(p, IPPROTO_TCP, len);
	sum = (sum & 0xffff) + (sum >> 16);
	tcp->cksum = (uint16_t)~sum;
}

bool ct_help_rewrite(const struct ct_pkt *c, struct ct_entry *e, const struct ct_announced *at,
		const char *text, uint32_t len)
{
	int32_t more = (int32_t)(len - at->len);
	struct sl_pkt *p = c->p;
	struct rte_tcp_hdr *tcp;
	uint32_t off, data_len;
	uint8_t *frame;

	if (!ct_help_data(c, &off, &data_len) || at->off + at->len > data_len
			|| (more > 0 && p->l3_len + (uint32_t)more > UINT16_MAX))
		return false;
	off += p->l4_off + at->off;
	frame = resize(c->m, off + at->len, more);
	if (frame == NULL)
		return false;
	memcpy(frame + off, text, len);
	tcp = (void *)(frame + p->l4_off);
	set_l3_len(p, frame, more);
	fill_checksum(c->m, p, tcp);
	ct_seqadj_add(c->s, e, ct_info_dir(p->ct_info), rte_be_to_cpu_32(tcp->sent_seq), more);
	return true;
}
