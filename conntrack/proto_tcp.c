/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP. Two tables say from the present state and the kind of segment what comes next; what they
 * cannot say stands in the functions behind them. RFC 9293 for the states; they are those of a box in
 * the middle: SYN_SENT2 is a second SYN from the other side (simultaneous open), CLOSE a reset.
 */
#include "conntrack/tcp_window.h"

#include <rte_tcp.h>

#include <netinet/in.h>

#define NO CT_TCP_NONE
#define SS CT_TCP_SYN_SENT
#define SR CT_TCP_SYN_RECV
#define ES CT_TCP_ESTABLISHED
#define FW CT_TCP_FIN_WAIT
#define CW CT_TCP_CLOSE_WAIT
#define LA CT_TCP_LAST_ACK
#define TW CT_TCP_TIME_WAIT
#define CL CT_TCP_CLOSE
#define S2 CT_TCP_SYN_SENT2
#define IG CT_TCP_IGNORE
#define IV CT_TCP_INVALID

/* clang-format off */
static const uint8_t next_state[CT_DIR_NB][CT_TCP_KINDS][CT_TCP_STATES] = {
	[CT_ORIGINAL] = {
		/*                          NO  SS  SR  ES  FW  CW  LA  TW  CL  S2 */
		[CT_TCP_KIND_NONE] =      { IV, IV, IV, IV, IV, IV, IV, IV, IV, IV },
		/* opens, or opens anew; where the connection is known it may be out of step: let pass */
		[CT_TCP_KIND_SYN] =       { SS, SS, IG, IG, IG, IG, IG, SS, SS, S2 },
		/* answers the other side's SYN */
		[CT_TCP_KIND_SYNACK] =    { IV, IV, SR, IV, IV, IV, IV, IV, IV, SR },
		/* closes its half; the second one waits for the last acknowledgement */
		[CT_TCP_KIND_FIN] =       { IV, IV, FW, FW, LA, LA, LA, TW, CL, IV },
		/* NONE: picked up half-way */
		[CT_TCP_KIND_ACK] =       { ES, IV, ES, ES, CW, CW, TW, TW, CL, IV },
		[CT_TCP_KIND_RST] =       { IV, CL, CL, CL, CL, CL, CL, CL, CL, CL },
	},
	[CT_REPLY] = {
		/*                          NO  SS  SR  ES  FW  CW  LA  TW  CL  S2 */
		[CT_TCP_KIND_NONE] =      { IV, IV, IV, IV, IV, IV, IV, IV, IV, IV },
		/* simultaneous open, or a connection the other way round */
		[CT_TCP_KIND_SYN] =       { IV, S2, IV, IV, IV, IV, IV, SS, IV, S2 },
		/* once more, or of a connection of which only the SYN was seen */
		[CT_TCP_KIND_SYNACK] =    { IV, SR, IG, IG, IG, IG, IG, IG, IG, SR },
		[CT_TCP_KIND_FIN] =       { IV, IV, FW, FW, LA, LA, LA, TW, CL, IV },
		/* in SYN_SENT: the other side knows an older connection, and is going to be reset */
		[CT_TCP_KIND_ACK] =       { IV, IG, SR, ES, CW, CW, TW, TW, CL, IG },
		[CT_TCP_KIND_RST] =       { IV, CL, CL, CL, CL, CL, CL, CL, CL, CL },
	},
};
/* clang-format on */

static const char *const state_names[CT_TCP_STATES] = {
	[CT_TCP_NONE] = "NONE",
	[CT_TCP_SYN_SENT] = "SYN_SENT",
	[CT_TCP_SYN_RECV] = "SYN_RECV",
	[CT_TCP_ESTABLISHED] = "ESTABLISHED",
	[CT_TCP_FIN_WAIT] = "FIN_WAIT",
	[CT_TCP_CLOSE_WAIT] = "CLOSE_WAIT",
	[CT_TCP_LAST_ACK] = "LAST_ACK",
	[CT_TCP_TIME_WAIT] = "TIME_WAIT",
	[CT_TCP_CLOSE] = "CLOSE",
	[CT_TCP_SYN_SENT2] = "SYN_SENT2",
};

/* the only one that has no switch */
#define SYN_SENT2_S 120

static const uint16_t time_of[CT_TCP_STATES] = {
	[CT_TCP_SYN_SENT] = offsetof(struct ct_conf, tcp_syn_sent_s),
	[CT_TCP_SYN_RECV] = offsetof(struct ct_conf, tcp_syn_recv_s),
	[CT_TCP_ESTABLISHED] = offsetof(struct ct_conf, tcp_established_s),
	[CT_TCP_FIN_WAIT] = offsetof(struct ct_conf, tcp_fin_wait_s),
	[CT_TCP_CLOSE_WAIT] = offsetof(struct ct_conf, tcp_close_wait_s),
	[CT_TCP_LAST_ACK] = offsetof(struct ct_conf, tcp_last_ack_s),
	[CT_TCP_TIME_WAIT] = offsetof(struct ct_conf, tcp_time_wait_s),
	[CT_TCP_CLOSE] = offsetof(struct ct_conf, tcp_close_s),
};

static uint32_t time_in(const struct ct_conf *conf, unsigned int state)
{
	uint32_t s;

	if (unlikely(state == CT_TCP_SYN_SENT2))
		return SYN_SENT2_S;
	memcpy(&s, (const char *)conf + time_of[state], sizeof(s));
	return s;
}

/* bit FIN, SYN, RST, ACK, URG of the flags that may stand together; PSH, ECE and CWR say nothing */
#define FLAGS_MASK                                                                 \
	(RTE_TCP_FIN_FLAG | RTE_TCP_SYN_FLAG | RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG \
			| RTE_TCP_URG_FLAG)
#define GOOD(flags) (1ULL << (flags))

static bool flags_are_good(uint8_t flags)
{
	static const uint64_t good = GOOD(RTE_TCP_SYN_FLAG)
			| GOOD(RTE_TCP_SYN_FLAG | RTE_TCP_URG_FLAG)
			| GOOD(RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG) | GOOD(RTE_TCP_RST_FLAG)
			| GOOD(RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG)
			| GOOD(RTE_TCP_FIN_FLAG | RTE_TCP_ACK_FLAG)
			| GOOD(RTE_TCP_FIN_FLAG | RTE_TCP_ACK_FLAG | RTE_TCP_URG_FLAG)
			| GOOD(RTE_TCP_ACK_FLAG) | GOOD(RTE_TCP_ACK_FLAG | RTE_TCP_URG_FLAG);

	return good >> (flags & FLAGS_MASK) & 1;
}

bool ct_tcp_check(const struct ct_pkt *c)
{
	uint32_t there = ct_l4_len(c), hdr_len;
	const struct rte_tcp_hdr *tcp;
	struct rte_tcp_hdr buf;

	tcp = ct_l4_at(c, 0, sizeof(*tcp), &buf);
	if (unlikely(tcp == NULL))
		return ct_is_invalid(c, CT_INVALID_SHORT);
	hdr_len = (tcp->data_off >> 4) * 4U;
	if (unlikely(hdr_len < sizeof(*tcp) || hdr_len > there))
		return ct_is_invalid(c, CT_INVALID_LENGTH);
	if (unlikely(!ct_csum_is_right(c, IPPROTO_TCP, there, there)))
		return ct_is_invalid(c, CT_INVALID_CHECKSUM);
	if (unlikely(!flags_are_good(tcp->tcp_flags)))
		return ct_is_invalid(c, CT_INVALID_TCP_FLAGS);
	return true;
}

bool ct_tcp_new(const struct ct_pkt *c, struct ct_entry *e)
{
	struct ct_tcp_side *own = &e->tcp.side[CT_ORIGINAL];
	unsigned int state;
	struct ct_seg seg;

	if (!ct_seg_read(c, &seg))
		return ct_is_invalid(c, CT_INVALID_SHORT);
	state = next_state[CT_ORIGINAL][seg.kind][CT_TCP_NONE];
	if (state == CT_TCP_INVALID || (state != CT_TCP_SYN_SENT && !c->conf->tcp_loose))
		return ct_is_invalid(c, CT_INVALID_TCP_NEW);
	e->tcp = (struct ct_tcp){ .state = CT_TCP_NONE, .last_index = CT_TCP_KIND_NONE };
	own->end = seg.end;
	own->maxwin = RTE_MAX(seg.win, 1U);
	own->maxend = seg.end;
	if (state == CT_TCP_SYN_SENT) {
		ct_seg_options(&seg, own);
		return true;
	}
	/* half-way: scales are not known, and may be large */
	own->maxend += own->maxwin;
	own->flags = CT_TCP_SACK_PERM | CT_TCP_LIBERAL;
	e->tcp.side[CT_REPLY].flags = CT_TCP_SACK_PERM | CT_TCP_LIBERAL;
	return true;
}

static bool is_closing(const struct ct_tcp *tcp)
{
	return tcp->state >= CT_TCP_FIN_WAIT && tcp->state <= CT_TCP_CLOSE;
}

static bool is_established(const struct ct_entry *e)
{
	return e->tcp.state == CT_TCP_ESTABLISHED && e->status & CT_ASSURED;
}

/* a kind's number in the kernel's lines */
static unsigned int kernel_index(uint8_t kind)
{
	return kind == CT_TCP_KIND_NONE ? CT_TCP_KIND_RST : kind - 1U;
}

/* a SYN for a connection that has ended: whether it may begin a new one at once */
static bool may_reopen(const struct ct_tcp *tcp, const struct ct_seg *seg)
{
	if ((tcp->side[CT_ORIGINAL].flags | tcp->side[CT_REPLY].flags) & CT_TCP_CLOSE_INIT)
		return true;
	return tcp->last_index == CT_TCP_KIND_RST && tcp->last_dir == seg->dir;
}

/* answers a SYN that was ignored: client and server are in step, and this entry was not */
static bool answers_ignored(const struct ct_tcp *tcp, const struct ct_seg *seg)
{
	return seg->kind == CT_TCP_KIND_SYNACK && tcp->last_index == CT_TCP_KIND_SYN
			&& tcp->last_dir != seg->dir && seg->ack == tcp->last_end;
}

/* the ignored SYN was the truth */
static void resynchronize(struct ct_tcp *tcp, const struct ct_seg *seg)
{
	struct ct_tcp_side *syn = &tcp->side[tcp->last_dir];

	tcp->last_flags &= (uint8_t)~CT_TCP_CHALLENGE;
	syn->end = tcp->last_end;
	syn->maxend = tcp->last_end;
	syn->maxwin = RTE_MAX(tcp->last_win, 1U);
	syn->scale = tcp->last_wscale;
	syn->flags = tcp->last_flags;
	tcp->side[seg->dir] = (struct ct_tcp_side){
		.flags = tcp->side[seg->dir].flags & CT_TCP_LIBERAL,
	};
}

/* let a segment pass that does not fit, and remember it: the answer tells who is right */
static void ignore(struct ct_tcp *tcp, const struct ct_seg *seg)
{
	tcp->last_index = seg->kind;
	tcp->last_dir = seg->dir;
	tcp->last_seq = seg->seq;
	tcp->last_end = seg->end;
	tcp->last_win = seg->win;
	if (seg->kind == CT_TCP_KIND_SYN && seg->dir == CT_ORIGINAL) {
		struct ct_tcp_side side = { .flags = 0 };

		ct_seg_options(seg, &side);
		tcp->last_flags = side.flags;
		tcp->last_wscale = side.scale;
		if (tcp->state == CT_TCP_LAST_ACK)
			tcp->last_flags |= CT_TCP_CHALLENGE;
	}
	if (seg->kind == CT_TCP_KIND_ACK && seg->dir == CT_REPLY && tcp->state == CT_TCP_SYN_SENT)
		tcp->last_ack = seg->ack;
}

/* RFC 5961: an acknowledgement in LAST_ACK that answers a SYN, not the FIN */
static bool is_challenge(const struct ct_tcp *tcp, const struct ct_seg *seg)
{
	return tcp->state == CT_TCP_LAST_ACK && seg->kind == CT_TCP_KIND_ACK
			&& tcp->last_dir != seg->dir && tcp->last_index == CT_TCP_KIND_SYN
			&& tcp->last_flags & CT_TCP_CHALLENGE;
}

enum reset {
	RESET_IN, /* no question about its window */
	RESET_ASK, /* the window decides */
	RESET_KEEP, /* the window decides, and the connection goes on: not exactly in place */
	RESET_OUT,
};

/* a reset for what was let pass though it did not fit */
static enum reset answered_reset(const struct ct_entry *e, const struct ct_seg *seg)
{
	const struct ct_tcp *tcp = &e->tcp;
	bool to_syn = e->status & CT_SEEN_REPLY && tcp->last_index == CT_TCP_KIND_SYN
			&& tcp->last_dir != seg->dir;
	bool to_ack = (e->status & CT_ASSURED) == 0 && tcp->last_index == CT_TCP_KIND_ACK;

	if ((to_syn || to_ack) && seg->ack == tcp->last_end)
		return RESET_IN;
	if (tcp->state == CT_TCP_SYN_SENT && tcp->last_index == CT_TCP_KIND_ACK
			&& tcp->last_dir == CT_REPLY && seg->seq == tcp->last_ack)
		return RESET_IN;
	return RESET_ASK;
}

static enum reset judge_reset(
		const struct ct_pkt *c, const struct ct_entry *e, const struct ct_seg *seg)
{
	const struct ct_tcp *tcp = &e->tcp;
	const struct ct_tcp_side *other = &tcp->side[!seg->dir];

	/* the ports may long be another connection's, and what is known here is old */
	if (is_closing(tcp))
		return RESET_IN;
	if ((other->flags & CT_TCP_MAXACK) == 0 || tcp->last_index == CT_TCP_KIND_SYN)
		return answered_reset(e, seg);
	if (seg->seq == 0 && !is_established(e))
		return RESET_ASK;
	if (ct_seq_before(seg->seq, other->maxack) && !c->conf->tcp_ignore_rst)
		return RESET_OUT;
	if (!is_established(e) || seg->seq == other->maxack)
		return RESET_ASK;
	/* right behind data that was not acknowledged yet */
	if (tcp->last_index == CT_TCP_KIND_ACK && tcp->last_dir == seg->dir
			&& seg->seq == tcp->last_end)
		return RESET_ASK;
	return RESET_KEEP;
}

/* a time that is shorter is left alone */
#define LONG_TIME_S 120

/* One side ends what the other does not know of any more: an entry that is out of step does not stay
 * for days. */
static void refused_end(const struct ct_pkt *c, struct ct_entry *e, const struct ct_seg *seg)
{
	struct ct_tcp *tcp = &e->tcp;

	if ((e->status & (CT_ASSURED | CT_FIXED_TIMEOUT)) != CT_ASSURED
			|| (seg->kind != CT_TCP_KIND_RST && seg->kind != CT_TCP_KIND_FIN))
		return;
	if (tcp->last_dir != seg->dir
			&& (tcp->last_index == CT_TCP_KIND_FIN
					|| tcp->last_index == CT_TCP_KIND_RST)) {
		if (ct_seconds_left(e, c->s->now_ms) >= RTE_MAX(LONG_TIME_S, c->conf->tcp_unack_s))
			ct_refresh(c->s, e, c->conf->tcp_unack_s);
		return;
	}
	tcp->last_index = seg->kind;
	tcp->last_dir = seg->dir;
}

static uint32_t time_for(const struct ct_conf *conf, const struct ct_tcp *tcp, unsigned int kind)
{
	uint32_t s = time_in(conf, tcp->state);
	uint8_t flags = tcp->side[CT_ORIGINAL].flags | tcp->side[CT_REPLY].flags;

	if (tcp->retrans >= conf->tcp_max_retrans && s > conf->tcp_max_retrans_s)
		return conf->tcp_max_retrans_s;
	if (unlikely(kind == CT_TCP_KIND_RST))
		return conf->tcp_close_s;
	if (flags & CT_TCP_UNACKED && s > conf->tcp_unack_s)
		return conf->tcp_unack_s;
	if (tcp->last_win == 0 && s > conf->tcp_max_retrans_s)
		return conf->tcp_max_retrans_s;
	return s;
}

/* state and time after a segment that is in the window */
static enum ct_verdict advance(const struct ct_pkt *c, struct ct_entry *e, const struct ct_seg *seg,
		unsigned int old, unsigned int new)
{
	struct ct_tcp *tcp = &e->tcp;
	uint32_t s;

	tcp->last_index = seg->kind;
	tcp->last_dir = seg->dir;
	tcp->state = (uint8_t) new;
	if (unlikely(old != new &&new == CT_TCP_FIN_WAIT))
		tcp->side[seg->dir].flags |= CT_TCP_CLOSE_INIT;
	s = time_for(c->conf, tcp, seg->kind);
	if (unlikely((e->status & CT_SEEN_REPLY) == 0)) {
		/* nobody has answered but with a reset: there never was a connection */
		if (seg->kind == CT_TCP_KIND_RST)
			return CT_PASS_KILLED;
		/* who repeats a SYN for ever does not keep its ports for ever */
		if (seg->kind == CT_TCP_KIND_SYN && old == CT_TCP_SYN_SENT)
			return CT_PASS_IGNORED;
		if (new == CT_TCP_ESTABLISHED)
			s = RTE_MIN(s, c->conf->tcp_unack_s);
	} else if (unlikely((e->status & CT_ASSURED) == 0) && new == CT_TCP_ESTABLISHED
			&& (old == CT_TCP_SYN_RECV || old == CT_TCP_ESTABLISHED)) {
		e->status |= CT_ASSURED;
	}
	ct_refresh(c->s, e, s);
	return CT_PASS;
}

static __rte_noinline enum ct_verdict any_segment(const struct ct_pkt *c, struct ct_entry *e)
{
	struct ct_tcp *tcp = &e->tcp;
	unsigned int old = tcp->state, new;
	enum reset reset = RESET_ASK;
	struct ct_seg seg;

	if (unlikely(!ct_seg_read(c, &seg)))
		return ct_invalid(c, CT_INVALID_SHORT);
	new = next_state[seg.dir][seg.kind][old];
	if (unlikely(new == CT_TCP_INVALID)) {
		ct_note(c, "packet (index %u) in dir %u invalid, state %s", kernel_index(seg.kind),
				seg.dir, state_names[old]);
		return ct_invalid(c, CT_INVALID_TCP_STATE);
	}
	if (unlikely(new == CT_TCP_SYN_SENT &&old >= CT_TCP_TIME_WAIT)) {
		if (may_reopen(tcp, &seg)) {
			ct_kill(c->s, e);
			return CT_REPEAT;
		}
		new = CT_TCP_IGNORE;
	}
	if (unlikely(new == CT_TCP_IGNORE)) {
		if (!answers_ignored(tcp, &seg)) {
			ignore(tcp, &seg);
			ct_note(c, "packet (index %u) in dir %u ignored, state %s",
					kernel_index(seg.kind), seg.dir, state_names[old]);
			return CT_PASS_IGNORED;
		}
		resynchronize(tcp, &seg);
		old = CT_TCP_SYN_SENT;
		new = CT_TCP_SYN_RECV;
	} else if (unlikely(new == CT_TCP_TIME_WAIT &&is_challenge(tcp, &seg))) {
		tcp->last_flags &= (uint8_t)~CT_TCP_CHALLENGE;
		return CT_PASS_IGNORED;
	} else if (unlikely(new == CT_TCP_SYN_SENT2)) {
		tcp->last_flags |= CT_TCP_SIMULTANEOUS;
	} else if (unlikely(new == CT_TCP_SYN_RECV &&seg.kind == CT_TCP_KIND_ACK
				   && tcp->last_flags &CT_TCP_SIMULTANEOUS)) {
		new = CT_TCP_ESTABLISHED;
	}
	if (unlikely(seg.kind == CT_TCP_KIND_RST)) {
		reset = judge_reset(c, e, &seg);
		if (reset == RESET_OUT)
			return ct_invalid(c, CT_INVALID_TCP_RST);
		if (reset == RESET_KEEP)
			new = old;
	}
	if (likely(reset != RESET_IN)) {
		enum ct_window window = ct_tcp_window(c, e, &seg);

		if (unlikely(window == CT_WINDOW_IGNORE))
			return CT_PASS_IGNORED;
		if (unlikely(window == CT_WINDOW_OUT)) {
			refused_end(c, e, &seg);
			return CT_INVALID;
		}
	}
	return advance(c, e, &seg, old, new);
}

/**
 * straight() - data or an acknowledgement of a connection that both sides have established
 *
 * What nearly all segments are. Says the same as any_segment(), and no more than the straight case.
 * Return: false: not such a one, and nothing has changed.
 */
static inline bool straight(const struct ct_pkt *c, struct ct_entry *e)
{
	const uint32_t status = CT_SEEN_REPLY | CT_ASSURED | CT_SEQ_ADJUST;
	const uint8_t flags =
			RTE_TCP_FIN_FLAG | RTE_TCP_SYN_FLAG | RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG;
	struct ct_tcp *tcp = &e->tcp;
	struct ct_tcp_side *own = &tcp->side[c->dir], *other = &tcp->side[!c->dir];
	const struct rte_tcp_hdr *h = sl_pkt_at(c->m, c->p->l4_off, sizeof(*h));
	uint32_t hdr_len, there = ct_l4_len(c);
	struct ct_seg seg;

	if (unlikely(h == NULL || (h->tcp_flags & flags) != RTE_TCP_ACK_FLAG
			    || tcp->state != CT_TCP_ESTABLISHED
			    || (e->status & status) != (CT_SEEN_REPLY | CT_ASSURED)
			    || own->maxwin == 0 || other->maxwin == 0))
		return false;
	hdr_len = (h->data_off >> 4) * 4U;
	if (unlikely(hdr_len > there))
		return false;
	if (hdr_len != sizeof(*h) && other->flags & CT_TCP_SACK_PERM
			&& (hdr_len != sizeof(*h) + 12
					|| sl_pkt_at(c->m, c->p->l4_off, hdr_len) == NULL
					|| !ct_seg_has_timestamps_alone(
							(const uint8_t *)(h + 1), 12)))
		return false;
	seg.seq = rte_be_to_cpu_32(h->sent_seq);
	seg.ack = rte_be_to_cpu_32(h->recv_ack);
	seg.win = rte_be_to_cpu_16(h->rx_win);
	seg.flags = h->tcp_flags;
	seg.kind = CT_TCP_KIND_ACK;
	seg.end = seg.seq + (there - hdr_len);
	seg.dir = (uint8_t)c->dir;
	if (unlikely(ct_seq_after(seg.seq, own->maxend) || ct_seq_after(seg.ack, other->end)
			    || ct_seq_before(seg.end, own->end - other->maxwin)
			    || ct_seq_before(seg.ack,
					    other->end
							    - RTE_MAX(own->maxwin,
									    CT_TCP_ACK_WINDOW_MIN))))
		return false;
	ct_seg_take(own, other, &seg, seg.end, seg.ack, seg.ack);
	ct_seg_count_retrans(tcp, &seg, seg.ack);
	tcp->last_index = CT_TCP_KIND_ACK;
	tcp->last_dir = seg.dir;
	ct_refresh(c->s, e, time_for(c->conf, tcp, CT_TCP_KIND_ACK));
	return true;
}

enum ct_verdict ct_tcp_packet(const struct ct_pkt *c, struct ct_entry *e)
{
	return likely(straight(c, e)) ? CT_PASS : any_segment(c, e);
}

bool ct_tcp_can_early_drop(const struct ct_entry *e)
{
	return is_closing(&e->tcp);
}

const char *ct_tcp_state_name(const struct ct_entry *e)
{
	return e->tcp.state < CT_TCP_STATES ? state_names[e->tcp.state] : NULL;
}

void ct_tcp_set_closing(struct ct_shard *s, struct ct_entry *e)
{
	if (e->orig.proto != IPPROTO_TCP || (e->status & CT_CONFIRMED) == 0)
		return;
	e->tcp.state = CT_TCP_CLOSE;
	ct_refresh(s, e, s->conf->tcp_close_s);
}
