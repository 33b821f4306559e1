/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/tcp_window.h"

#include <rte_tcp.h>

#include <string.h>

#define MAX_SCALE 14 /* RFC 7323 */

enum {
	OPT_EOL,
	OPT_NOP,
	OPT_SCALE = 3,
	OPT_SACK_PERM = 4,
	OPT_SACK = 5,
};

#define OPT_SCALE_LEN 3
#define OPT_SACK_PERM_LEN 2
#define SACK_BLOCK_LEN 8
static enum ct_tcp_kind kind_of(uint8_t flags)
{
	if (flags & RTE_TCP_RST_FLAG)
		return CT_TCP_KIND_RST;
	if (flags & RTE_TCP_SYN_FLAG)
		return flags & RTE_TCP_ACK_FLAG ? CT_TCP_KIND_SYNACK : CT_TCP_KIND_SYN;
	if (flags & RTE_TCP_FIN_FLAG)
		return CT_TCP_KIND_FIN;
	return flags & RTE_TCP_ACK_FLAG ? CT_TCP_KIND_ACK : CT_TCP_KIND_NONE;
}

bool ct_seg_read(const struct ct_pkt *c, struct ct_seg *seg)
{
	uint32_t there = ct_l4_len(c), hdr_len;
	const struct rte_tcp_hdr *tcp;

	tcp = ct_l4_at(c, 0, sizeof(*tcp), seg->buf);
	if (unlikely(tcp == NULL))
		return false;
	hdr_len = (tcp->data_off >> 4) * 4U;
	if (unlikely(hdr_len < sizeof(*tcp) || hdr_len > there))
		return false;
	if (unlikely(hdr_len > sizeof(*tcp))) {
		tcp = ct_l4_at(c, 0, hdr_len, seg->buf);
		if (unlikely(tcp == NULL))
			return false;
	}
	seg->seq = rte_be_to_cpu_32(tcp->sent_seq);
	seg->ack = rte_be_to_cpu_32(tcp->recv_ack);
	seg->win = rte_be_to_cpu_16(tcp->rx_win);
	seg->flags = tcp->tcp_flags;
	seg->kind = (uint8_t)kind_of(tcp->tcp_flags);
	seg->end = seg->seq + (there - hdr_len) + ((tcp->tcp_flags & RTE_TCP_SYN_FLAG) != 0)
			+ ((tcp->tcp_flags & RTE_TCP_FIN_FLAG) != 0);
	seg->dir = (uint8_t)c->dir;
	seg->opt = (const uint8_t *)(tcp + 1);
	seg->opt_len = (uint8_t)(hdr_len - sizeof(*tcp));
	return true;
}

/**
 * next_option() - the option at @at and the one behind it
 * @len: of the option with its two bytes
 *
 * Return: false at the end, or where an option is torn.
 */
static bool next_option(const struct ct_seg *seg, unsigned int *at, unsigned int *len)
{
	while (*at < seg->opt_len && seg->opt[*at] == OPT_NOP)
		(*at)++;
	if (*at + 2 > seg->opt_len || seg->opt[*at] == OPT_EOL)
		return false;
	*len = seg->opt[*at + 1];
	return *len >= 2 && *at + *len <= seg->opt_len;
}

void ct_seg_options(const struct ct_seg *seg, struct ct_tcp_side *side)
{
	unsigned int len;

	if (seg->opt_len == 0)
		return;
	side->scale = 0;
	side->flags &= CT_TCP_LIBERAL;
	for (unsigned int at = 0; next_option(seg, &at, &len); at += len) {
		const uint8_t *opt = seg->opt + at;

		if (opt[0] == OPT_SACK_PERM && len == OPT_SACK_PERM_LEN) {
			side->flags |= CT_TCP_SACK_PERM;
		} else if (opt[0] == OPT_SCALE && len == OPT_SCALE_LEN) {
			side->flags |= CT_TCP_WSCALE;
			side->scale = (uint8_t)RTE_MIN(opt[2], MAX_SCALE);
		}
	}
}

static uint32_t read32(const uint8_t *at)
{
	rte_be32_t v;

	memcpy(&v, at, sizeof(v));
	return rte_be_to_cpu_32(v);
}

/* the highest sequence number that the segment says has arrived */
static uint32_t highest_sack(const struct ct_seg *seg)
{
	uint32_t sack = seg->ack;
	unsigned int len;

	if (ct_seg_has_timestamps_alone(seg->opt, seg->opt_len))
		return sack;
	for (unsigned int at = 0; next_option(seg, &at, &len); at += len) {
		const uint8_t *opt = seg->opt + at;

		if (opt[0] != OPT_SACK || len < 2 + SACK_BLOCK_LEN
				|| (len - 2) % SACK_BLOCK_LEN != 0)
			continue;
		for (unsigned int i = 2; i < len; i += SACK_BLOCK_LEN) {
			uint32_t right = read32(opt + i + 4);

			if (ct_seq_after(right, sack))
				sack = right;
		}
		break;
	}
	return sack;
}

/* what NAT has added to the numbers of the other side in front of @ack */
static uint32_t adjusted(
		const struct ct_pkt *c, const struct ct_entry *e, unsigned int dir, uint32_t ack)
{
	const struct ct_cold *cold = ct_cold_peek(c->s, e);

	return (uint32_t)(ct_seq_after(ack - 1, cold->seqadj[dir].pos) ? cold->seqadj[dir].after
								       : cold->seqadj[dir].before);
}

/* a SYN says where its side begins */
static void start_side(struct ct_tcp *tcp, const struct ct_seg *seg)
{
	struct ct_tcp_side *own = &tcp->side[seg->dir], *other = &tcp->side[!seg->dir];

	own->end = seg->end;
	own->maxend = seg->end;
	own->maxwin = RTE_MAX(seg->win, 1U);
	ct_seg_options(seg, own);
	/* scaling is in force only if both have offered it */
	if (seg->dir == CT_REPLY && (own->flags & other->flags & CT_TCP_WSCALE) == 0) {
		own->scale = 0;
		other->scale = 0;
	}
}

/* the first that is seen of a side, and no SYN: its beginning was missed */
static void join_side(struct ct_tcp *tcp, const struct ct_seg *seg, uint32_t sack)
{
	struct ct_tcp_side *own = &tcp->side[seg->dir], *other = &tcp->side[!seg->dir];

	own->end = seg->end;
	own->maxwin = RTE_MAX((uint32_t)seg->win << own->scale, 1U);
	own->maxend = seg->end + own->maxwin;
	if (other->maxwin == 0) {
		other->end = sack;
		other->maxend = sack;
	} else if (sack == other->end + 1) {
		/* answers a keep-alive of the other side, whose byte we have not seen */
		other->end++;
	}
}

/* @text: with the bound's place */
static void note_bound(const struct ct_pkt *c, const char *text, uint32_t bound)
{
	const char *place = strchr(text, '#');

	ct_note_line(c, "%.*s%u%s", (int)(place - text), text, bound, place + 1);
}

#define SEQ_OVER "SEQ is over upper bound # (over the window of the receiver)"
#define SEQ_UNDER "SEQ is under lower bound # (already ACKed data retransmitted)"
#define ACK_OVER "ACK is over upper bound # (ACKed data not seen yet)"
#define ACK_UNDER "ignored ACK under lower bound # (possible overly delayed)"

/* whom the checks do not hold against */
static enum ct_window verdict(const struct ct_pkt *c, const struct ct_tcp_side *own,
		enum ct_window window, enum ct_invalid why, const char *text, uint32_t bound)
{
	if (c->conf->tcp_be_liberal || own->flags & CT_TCP_LIBERAL)
		return CT_WINDOW_IN;
	if (unlikely(c->conf->log_invalid != 0))
		note_bound(c, text, bound);
	if (window == CT_WINDOW_OUT)
		ct_is_invalid(c, why);
	return window;
}

/* begins behind what the receiver can take */
static __rte_noinline enum ct_window over_window(const struct ct_pkt *c, struct ct_tcp_side *own,
		const struct ct_tcp_side *other, uint32_t end, uint32_t sack, uint32_t ack_window)
{
	uint32_t over = end - own->maxend + 1;

	/* Some send a little more than they may. If rules let that pass it will be acknowledged, so
	 * it has to be known. */
	if (other->maxwin != 0 && ct_seq_after(end, own->end - other->maxwin - 1)
			&& over <= other->maxwin && !ct_seq_after(sack, other->end)
			&& ct_seq_after(sack, other->end - ack_window - 1)) {
		own->end = end;
		own->flags |= CT_TCP_UNACKED;
		return verdict(c, own, CT_WINDOW_IGNORE, CT_INVALID_TCP_SEQ, SEQ_OVER,
				own->maxend + 1);
	}
	return verdict(c, own, CT_WINDOW_OUT, CT_INVALID_TCP_SEQ, SEQ_OVER, own->maxend + 1);
}

/*
 * Return: whether the segment is simultaneous open's SYN, which has nothing more to be checked
 */
static bool begin_side(struct ct_tcp *tcp, const struct ct_seg *seg, uint32_t sack)
{
	const struct ct_tcp_side *own = &tcp->side[seg->dir];
	bool syn = seg->flags & RTE_TCP_SYN_FLAG;
	bool lone = syn && (seg->flags & RTE_TCP_ACK_FLAG) == 0;

	if (own->maxwin == 0) {
		if (syn)
			start_side(tcp, seg);
		else
			join_side(tcp, seg, sack);
		return lone;
	}
	/* a new beginning, while the old one is not answered */
	if (syn && ct_seq_after(seg->end, own->end)
			&& (tcp->state == CT_TCP_SYN_SENT || tcp->state == CT_TCP_SYN_RECV)) {
		start_side(tcp, seg);
		return lone && seg->dir == CT_REPLY;
	}
	return false;
}

enum ct_window ct_tcp_window(const struct ct_pkt *c, struct ct_entry *e, const struct ct_seg *seg)
{
	struct ct_tcp *tcp = &e->tcp;
	struct ct_tcp_side *own = &tcp->side[seg->dir], *other = &tcp->side[!seg->dir];
	uint32_t seq = seg->seq, end = seg->end, ack = seg->ack, sack = ack, ack_window;

	if (unlikely(seg->opt_len > 0) && other->flags & CT_TCP_SACK_PERM)
		sack = highest_sack(seg);
	if (unlikely(e->status & CT_SEQ_ADJUST)) {
		uint32_t added = adjusted(c, e, !seg->dir, ack);

		ack -= added;
		sack -= added;
	}
	if (unlikely(own->maxwin == 0 || seg->flags & RTE_TCP_SYN_FLAG)
			&& begin_side(tcp, seg, sack))
		return CT_WINDOW_IN;
	if (unlikely((seg->flags & RTE_TCP_ACK_FLAG) == 0
			    || (seg->flags & RTE_TCP_RST_FLAG && ack == 0))) {
		ack = other->end;
		sack = ack;
	}
	/* a reset that answers a SYN */
	if (unlikely(seg->flags & RTE_TCP_RST_FLAG) && seq == 0 && tcp->state == CT_TCP_SYN_SENT) {
		seq = own->end;
		end = seq;
	}
	ack_window = RTE_MAX(own->maxwin, CT_TCP_ACK_WINDOW_MIN);
	if (unlikely(ct_seq_after(seq, own->maxend)))
		return over_window(c, own, other, end, sack, ack_window);
	if (unlikely(ct_seq_after(sack, other->end)))
		return verdict(c, own, CT_WINDOW_OUT, CT_INVALID_TCP_ACK, ACK_OVER, other->end + 1);
	if (unlikely(other->maxwin != 0 && ct_seq_before(end, own->end - other->maxwin)))
		return verdict(c, own, CT_WINDOW_IGNORE, CT_INVALID_TCP_SEQ, SEQ_UNDER,
				own->end - other->maxwin - 1);
	if (unlikely(ct_seq_before(sack, other->end - ack_window)))
		return verdict(c, own, CT_WINDOW_IGNORE, CT_INVALID_TCP_SEQ, ACK_UNDER,
				other->end - ack_window - 1);
	ct_seg_take(own, other, seg, end, ack, sack);
	if (likely(seg->kind == CT_TCP_KIND_ACK))
		ct_seg_count_retrans(tcp, seg, ack);
	return CT_WINDOW_IN;
}
