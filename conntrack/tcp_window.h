/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which segments of a TCP connection its receiver can take. [worker]
 *
 * Guido van Rooij, "Real stateful TCP packet filtering in IP Filter" (2001): a box in the middle knows
 * of each side what it has sent (end), what it may send (maxend: the other's last acknowledgement plus
 * window) and the largest window it ever offered (maxwin). A segment is in the window if it
 *
 *   I    begins in front of what its sender may send,
 *   II   does not end before everything that its receiver may still want again,
 *   III  acknowledges nothing that was not sent,
 *   IV   and nothing that is a window older than what was sent.
 *
 * Example: A has sent up to 1001 (end), B acknowledged 1001 with a window of 500: A's maxend is 1501.
 * Data 1001-1200 is fine; seq 1501 is the last that passes I, with 1502 it is over the window.
 */
#pragma once

#include "conntrack/proto_priv.h"

#include <rte_tcp.h>

/* flags of a side, and of last_flags: what is kept of a SYN that was ignored */
#define CT_TCP_WSCALE (1U << 0) /* window scale option in its SYN */
#define CT_TCP_SACK_PERM (1U << 1)
#define CT_TCP_CLOSE_INIT (1U << 2) /* sent the first FIN */
#define CT_TCP_LIBERAL (1U << 3) /* picked up half-way: its scale is not known */
#define CT_TCP_UNACKED (1U << 4) /* has sent data that is not acknowledged */
#define CT_TCP_MAXACK (1U << 5) /* maxack holds something */
/* of last_flags alone */
#define CT_TCP_CHALLENGE (1U << 6) /* an ACK may answer the ignored SYN (RFC 5961), not a FIN */
#define CT_TCP_SIMULTANEOUS (1U << 7) /* both opened at once */

/* kinds of segments, by the first flag that is there in this order */
enum ct_tcp_kind {
	CT_TCP_KIND_NONE, /* of no packet: nothing remembered */
	CT_TCP_KIND_SYN,
	CT_TCP_KIND_SYNACK,
	CT_TCP_KIND_FIN,
	CT_TCP_KIND_ACK,
	CT_TCP_KIND_RST,
	CT_TCP_KINDS,
};

/* a segment as it came */
struct ct_seg {
	uint32_t seq, ack;
	uint32_t end; /* seq and what it takes of the sequence space */
	uint16_t win; /* unscaled */
	uint8_t flags; /* RTE_TCP_*_FLAG */
	uint8_t kind;
	uint8_t dir; /* enum ct_dir */
	uint8_t opt_len;
	const uint8_t *opt;
	uint8_t buf[60]; /* the header where the packet has it in pieces */
};

static inline bool ct_seq_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static inline bool ct_seq_after(uint32_t a, uint32_t b)
{
	return (int32_t)(b - a) < 0;
}

/* Return: false if there is no whole header */
bool ct_seg_read(const struct ct_pkt *c, struct ct_seg *seg);

/* window scale and SACK-permitted of a SYN; of the flags only CT_TCP_LIBERAL stays as it is. Without
 * any option everything does */
void ct_seg_options(const struct ct_seg *seg, struct ct_tcp_side *side);

/* NOP, NOP, 8, 10 and then 8 bytes: what most segments carry, and nothing else */
static inline bool ct_seg_has_timestamps_alone(const uint8_t *opt, unsigned int opt_len)
{
	static const uint8_t head[4] = { 1, 1, 8, 10 };

	return opt_len == 12 && memcmp(opt, head, sizeof(head)) == 0;
}

/* an acknowledgement is never so old that it counts for less than this */
#define CT_TCP_ACK_WINDOW_MIN 66000U

/* in the window: what each side has sent and may send */
static inline void ct_seg_take(struct ct_tcp_side *own, struct ct_tcp_side *other,
		const struct ct_seg *seg, uint32_t end, uint32_t ack, uint32_t sack)
{
	uint32_t win = seg->flags & RTE_TCP_SYN_FLAG ? seg->win : (uint32_t)seg->win << own->scale;

	own->maxwin = RTE_MAX(own->maxwin, win + (sack - ack));
	if (ct_seq_after(end, own->end)) {
		own->end = end;
		own->flags |= CT_TCP_UNACKED;
	}
	if (seg->flags & RTE_TCP_ACK_FLAG
			&& ((own->flags & CT_TCP_MAXACK) == 0 || ct_seq_after(ack, own->maxack))) {
		own->maxack = ack;
		own->flags |= CT_TCP_MAXACK;
	}
	if (other->maxwin != 0 && ct_seq_after(end, own->maxend))
		other->maxwin += end - own->maxend;
	if (!ct_seq_before(sack + win, other->maxend))
		other->maxend = sack + win + (win == 0);
	if (ack == other->end)
		other->flags &= (uint8_t)~CT_TCP_UNACKED;
}

/* the same acknowledgement again and again: nobody answers */
static inline void ct_seg_count_retrans(struct ct_tcp *tcp, const struct ct_seg *seg, uint32_t ack)
{
	if (tcp->last_dir == seg->dir && tcp->last_seq == seg->seq && tcp->last_ack == ack
			&& tcp->last_end == seg->end && tcp->last_win == seg->win) {
		tcp->retrans++;
		return;
	}
	tcp->last_dir = seg->dir;
	tcp->last_seq = seg->seq;
	tcp->last_ack = ack;
	tcp->last_end = seg->end;
	tcp->last_win = seg->win;
	tcp->retrans = 0;
}

enum ct_window {
	CT_WINDOW_IN,
	CT_WINDOW_IGNORE, /* old or a little too much: passes, and changes no state */
	CT_WINDOW_OUT, /* INVALID */
};

/**
 * ct_tcp_window() - is @seg in the window, and what does it tell of both sides
 *
 * The connection's state is still the one before @seg.
 */
enum ct_window ct_tcp_window(const struct ct_pkt *c, struct ct_entry *e, const struct ct_seg *seg);
