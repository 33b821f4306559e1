/* SPDX-License-Identifier: BSD-3-Clause */
/* As nf_ct_seqadj_set() and nf_ct_seq_adjust(). */
#include "conntrack/seqadj.h"

#include "conntrack/tcp_window.h"
#include "lib/ip.h"

#include <rte_tcp.h>

#include <netinet/in.h>

enum {
	OPT_EOL,
	OPT_NOP,
	OPT_SACK = 5,
};

#define SACK_BLOCK_LEN 8U

/* the fields of struct ct_cold */
struct side {
	uint32_t pos;
	int32_t before, after;
};

static struct side side_of(const struct ct_shard *s, const struct ct_entry *e, enum ct_dir dir)
{
	const struct ct_cold *cold = ct_cold_peek(s, e);

	return (struct side){ cold->seqadj[dir].pos, cold->seqadj[dir].before,
		cold->seqadj[dir].after };
}

void ct_seqadj_add(
		struct ct_shard *s, struct ct_entry *e, enum ct_dir dir, uint32_t seq, int32_t more)
{
	struct ct_cold *cold = ct_cold(s, e);
	struct side side = side_of(s, e, dir);

	if (more == 0)
		return;
	e->status |= CT_SEQ_ADJUST;
	/* what is sent again changed its length before */
	if (side.before != side.after && !ct_seq_before(side.pos, seq))
		return;
	cold->seqadj[dir].pos = seq;
	cold->seqadj[dir].before = side.after;
	cold->seqadj[dir].after = side.after + more;
}

/* a word of the header at @at becomes @to, and the checksum follows */
static void write32(struct rte_tcp_hdr *tcp, uint8_t *at, uint32_t to)
{
	rte_be32_t to_be = rte_cpu_to_be_32(to), was;

	memcpy(&was, at, sizeof(was));
	/* an odd place in the header has its bytes in the other halves of the sum's words */
	if ((at - (uint8_t *)tcp) % 2 == 0)
		tcp->cksum = sl_csum_update32(tcp->cksum, was, to_be);
	else
		tcp->cksum = rte_bswap16(sl_csum_update32(rte_bswap16(tcp->cksum), was, to_be));
	memcpy(at, &to_be, sizeof(to_be));
}

static uint32_t read32(const uint8_t *at)
{
	rte_be32_t v;

	memcpy(&v, at, sizeof(v));
	return rte_be_to_cpu_32(v);
}

/* a number that acknowledges what the other side has sent, as that side counts */
static uint32_t acknowledged(const struct side *other, uint32_t ack)
{
	bool behind = ct_seq_after(ack - (uint32_t)other->before, other->pos);

	return ack - (uint32_t)(behind ? other->after : other->before);
}

/* Return: false if an option is torn */
static bool adjust_sack(struct rte_tcp_hdr *tcp, uint32_t hdr_len, const struct side *other)
{
	uint8_t *at = (uint8_t *)(tcp + 1), *end = (uint8_t *)tcp + hdr_len;

	while (at < end && at[0] != OPT_EOL) {
		if (at[0] == OPT_NOP) {
			at++;
			continue;
		}
		if (end - at < 2 || at[1] < 2 || at[1] > end - at)
			return false;
		if (at[0] == OPT_SACK && at[1] >= 2 + SACK_BLOCK_LEN
				&& (at[1] - 2U) % SACK_BLOCK_LEN == 0)
			for (unsigned int i = 2; i < at[1]; i += 4)
				write32(tcp, at + i, acknowledged(other, read32(at + i)));
		at += at[1];
	}
	return true;
}

bool ct_seqadj_packet(const struct ct_pkt *c, const struct ct_entry *e)
{
	enum ct_dir dir = ct_info_dir(c->p->ct_info);
	struct side own = side_of(c->s, e, dir), other = side_of(c->s, e, !dir);
	uint32_t l4_off = c->p->l4_off, hdr_len, seq;
	struct rte_tcp_hdr *tcp;
	uint8_t *frame;

	if (c->p->proto != IPPROTO_TCP)
		return true;
	frame = sl_pkt_pull(c->m, l4_off + (uint32_t)sizeof(*tcp));
	if (frame == NULL)
		return false;
	hdr_len = (((struct rte_tcp_hdr *)(void *)(frame + l4_off))->data_off >> 4) * 4U;
	frame = sl_pkt_pull(c->m, l4_off + RTE_MAX(hdr_len, (uint32_t)sizeof(*tcp)));
	if (frame == NULL)
		return false;
	tcp = (void *)(frame + l4_off);
	seq = rte_be_to_cpu_32(tcp->sent_seq);
	seq += (uint32_t)(ct_seq_after(seq, own.pos) ? own.after : own.before);
	write32(tcp, (uint8_t *)&tcp->sent_seq, seq);
	if ((tcp->tcp_flags & RTE_TCP_ACK_FLAG) == 0)
		return true;
	write32(tcp, (uint8_t *)&tcp->recv_ack,
			acknowledged(&other, rte_be_to_cpu_32(tcp->recv_ack)));
	return adjust_sack(tcp, hdr_len, &other);
}
