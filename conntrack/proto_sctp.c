/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SCTP (RFC 9260). One packet carries several chunks, and each may move the state. Who knows the
 * verification tag of a direction belongs to the association; the tag of one direction is what the
 * INIT or INIT ACK of the other one has asked for.
 */
#include "conntrack/proto_priv.h"
#include "lib/ip.h"

#include <rte_hash_crc.h>
#include <rte_sctp.h>

enum chunk_type {
	DATA = 0,
	INIT = 1,
	INIT_ACK = 2,
	HEARTBEAT = 4,
	HEARTBEAT_ACK = 5,
	ABORT = 6,
	SHUTDOWN = 7,
	SHUTDOWN_ACK = 8,
	ERROR = 9,
	COOKIE_ECHO = 10,
	COOKIE_ACK = 11,
	SHUTDOWN_COMPLETE = 14,
	CHUNK_TYPES, /* those behind it change nothing */
};

/* chunk_flag T of ABORT and SHUTDOWN COMPLETE: the tag is the other direction's */
#define FLAG_T 1

enum ct_sctp_state {
	NONE,
	CLOSED,
	COOKIE_WAIT,
	COOKIE_ECHOED,
	ESTABLISHED,
	SHUTDOWN_SENT,
	SHUTDOWN_RECD,
	SHUTDOWN_ACK_SENT,
	HEARTBEAT_SENT,
	STATES,
	INVALID = STATES,
};

/* flags of struct ct_sctp */
#define HEARTBEAT_FAILED 1U /* one with another tag has passed: a restart may follow */

#define NO NONE
#define CL CLOSED
#define CW COOKIE_WAIT
#define CE COOKIE_ECHOED
#define ES ESTABLISHED
#define SS SHUTDOWN_SENT
#define SR SHUTDOWN_RECD
#define SA SHUTDOWN_ACK_SENT
#define HS HEARTBEAT_SENT
#define IV INVALID

/* clang-format off */
static const uint8_t next_state[CT_DIR_NB][CHUNK_TYPES][STATES] = {
	[CT_ORIGINAL] = {
		/*                      NO  CL  CW  CE  ES  SS  SR  SA  HS */
		[INIT] =              { CL, CL, CW, CE, ES, CL, CL, SA, CW },
		[INIT_ACK] =          { CL, CL, CW, CE, ES, SS, SR, SA, CL },
		[ABORT] =             { CL, CL, CL, CL, CL, CL, CL, CL, CL },
		[SHUTDOWN] =          { CL, CL, CW, CE, SS, SS, SR, SA, CL },
		[SHUTDOWN_ACK] =      { SA, CL, CW, CE, ES, SA, SA, SA, SA },
		[ERROR] =             { CL, CL, CW, CE, ES, SS, SR, SA, CL },
		[COOKIE_ECHO] =       { CL, CL, CE, CE, ES, SS, SR, SA, CL },
		[COOKIE_ACK] =        { CL, CL, CW, ES, ES, SS, SR, SA, CL },
		[SHUTDOWN_COMPLETE] = { CL, CL, CW, CE, ES, SS, SR, CL, CL },
		[HEARTBEAT] =         { HS, CL, CW, CE, ES, SS, SR, SA, HS },
		[HEARTBEAT_ACK] =     { CL, CL, CW, CE, ES, SS, SR, SA, HS },
	},
	[CT_REPLY] = {
		/*                      NO  CL  CW  CE  ES  SS  SR  SA  HS */
		[INIT] =              { IV, CL, CW, CE, ES, SS, SR, SA, IV },
		[INIT_ACK] =          { IV, CW, CW, CE, ES, SS, SR, SA, IV },
		[ABORT] =             { IV, CL, CL, CL, CL, CL, CL, CL, IV },
		[SHUTDOWN] =          { IV, CL, CW, CE, SR, SS, SR, SA, IV },
		[SHUTDOWN_ACK] =      { IV, CL, CW, CE, ES, SA, SA, SA, IV },
		[ERROR] =             { IV, CL, CW, CL, ES, SS, SR, SA, IV },
		[COOKIE_ECHO] =       { IV, CL, CE, CE, ES, SS, SR, SA, IV },
		[COOKIE_ACK] =        { IV, CL, CW, ES, ES, SS, SR, SA, IV },
		[SHUTDOWN_COMPLETE] = { IV, CL, CW, CE, ES, SS, SR, CL, IV },
		[HEARTBEAT] =         { IV, CL, CW, CE, ES, SS, SR, SA, HS },
		[HEARTBEAT_ACK] =     { IV, CL, CW, CE, ES, SS, SR, SA, ES },
	},
};
/* clang-format on */

static const char *const state_names[STATES] = {
	[NONE] = "NONE",
	[CLOSED] = "CLOSED",
	[COOKIE_WAIT] = "COOKIE_WAIT",
	[COOKIE_ECHOED] = "COOKIE_ECHOED",
	[ESTABLISHED] = "ESTABLISHED",
	[SHUTDOWN_SENT] = "SHUTDOWN_SENT",
	[SHUTDOWN_RECD] = "SHUTDOWN_RECD",
	[SHUTDOWN_ACK_SENT] = "SHUTDOWN_ACK_SENT",
	[HEARTBEAT_SENT] = "HEARTBEAT_SENT",
};

static const uint16_t time_of[STATES] = {
	[CLOSED] = offsetof(struct ct_conf, sctp_closed_s),
	[COOKIE_WAIT] = offsetof(struct ct_conf, sctp_cookie_wait_s),
	[COOKIE_ECHOED] = offsetof(struct ct_conf, sctp_cookie_echoed_s),
	[ESTABLISHED] = offsetof(struct ct_conf, sctp_established_s),
	[SHUTDOWN_SENT] = offsetof(struct ct_conf, sctp_shutdown_sent_s),
	[SHUTDOWN_RECD] = offsetof(struct ct_conf, sctp_shutdown_recd_s),
	[SHUTDOWN_ACK_SENT] = offsetof(struct ct_conf, sctp_shutdown_ack_sent_s),
	[HEARTBEAT_SENT] = offsetof(struct ct_conf, sctp_heartbeat_sent_s),
};

struct chunk {
	uint8_t type;
	uint8_t flags;
	rte_be16_t len_be;
};

#define INIT_LEN 16 /* behind the chunk's header */
/* in a bit mask of the chunks of a packet */
#define HAS(type) (1U << (type))

/**
 * chunk_at() - the chunk at @off from the transport header
 * @next: where the one behind it begins
 */
static bool chunk_at(const struct ct_pkt *c, uint32_t off, struct chunk *chunk, uint32_t *next)
{
	struct chunk buf;
	const struct chunk *at = ct_l4_at(c, off, sizeof(*at), &buf);

	if (at == NULL)
		return false;
	*chunk = *at;
	*next = off + RTE_ALIGN_CEIL((uint32_t)rte_be_to_cpu_16(at->len_be), 4U);
	return true;
}

#define FIRST_CHUNK ((uint32_t)sizeof(struct rte_sctp_hdr))

/* CRC32c with zeros for the checksum itself (RFC 9260 appendix A) */
static bool crc_is_right(const struct ct_pkt *c, const struct rte_sctp_hdr *sctp)
{
	uint32_t at = c->p->l4_off, sum_off = offsetof(struct rte_sctp_hdr, cksum), crc;

	crc = sl_crc32c_more(c->m, at, sum_off, UINT32_MAX);
	crc = rte_hash_crc_4byte(0, crc);
	crc = sl_crc32c_more(c->m, at + FIRST_CHUNK, ct_l4_len(c) - FIRST_CHUNK, crc);
	return rte_cpu_to_le_32(~crc) == sctp->cksum;
}

bool ct_sctp_check(const struct ct_pkt *c)
{
	const struct rte_sctp_hdr *sctp;
	uint32_t off = FIRST_CHUNK;
	struct rte_sctp_hdr buf;
	struct chunk chunk;
	bool alone = false;
	unsigned int n;

	sctp = ct_l4_at(c, 0, sizeof(*sctp), &buf);
	if (sctp == NULL)
		return ct_is_invalid(c, CT_INVALID_SHORT);
	if (c->verify && !crc_is_right(c, sctp))
		return ct_is_invalid(c, CT_INVALID_CHECKSUM);
	for (n = 0; chunk_at(c, off, &chunk, &off); n++) {
		if (chunk.type == INIT || chunk.type == INIT_ACK || chunk.type == SHUTDOWN_COMPLETE)
			alone = true;
		if ((n > 0 && (alone || chunk.type == COOKIE_ECHO || chunk.type == COOKIE_ACK))
				|| chunk.len_be == 0)
			return ct_is_invalid(c, CT_INVALID_SCTP_CHUNK);
	}
	return n > 0 || ct_is_invalid(c, CT_INVALID_SCTP_CHUNK);
}

static unsigned int next_of(enum ct_dir dir, unsigned int state, uint8_t type)
{
	switch (type) {
	case INIT:
	case INIT_ACK:
	case ABORT:
	case SHUTDOWN:
	case SHUTDOWN_ACK:
	case ERROR:
	case COOKIE_ECHO:
	case COOKIE_ACK:
	case SHUTDOWN_COMPLETE:
	case HEARTBEAT:
	case HEARTBEAT_ACK:
		return next_state[dir][type][state];
	default:
		return state; /* data and its acknowledgements */
	}
}

/* the tag that an INIT or INIT ACK at @off asks for. Return: false: cut */
static bool init_tag(const struct ct_pkt *c, uint32_t off, uint32_t *tag)
{
	uint8_t buf[INIT_LEN];
	const uint8_t *init = ct_l4_at(c, off + (uint32_t)sizeof(struct chunk), INIT_LEN, buf);

	if (init == NULL)
		return false;
	memcpy(tag, init, sizeof(*tag));
	return true;
}

/* bits of the chunks that are in the packet; what is above 31 nobody asks for */
static uint32_t chunks_of(const struct ct_pkt *c)
{
	uint32_t off = FIRST_CHUNK, has = 0;
	struct chunk chunk;

	while (chunk_at(c, off, &chunk, &off) && chunk.len_be != 0)
		if (chunk.type < 32)
			has |= HAS(chunk.type);
	return has;
}

bool ct_sctp_new(const struct ct_pkt *c, struct ct_entry *e)
{
	uint32_t off = FIRST_CHUNK, next, tag;
	const struct rte_sctp_hdr *sctp;
	struct rte_sctp_hdr buf;
	struct chunk chunk;

	sctp = ct_l4_at(c, 0, sizeof(*sctp), &buf);
	if (sctp == NULL)
		return ct_is_invalid(c, CT_INVALID_SHORT);
	/* out of the blue: RFC 9260 8.4 */
	if (chunks_of(c) & (HAS(ABORT) | HAS(SHUTDOWN_COMPLETE) | HAS(COOKIE_ACK)))
		return ct_is_invalid(c, CT_INVALID_SCTP_NEW);
	e->sctp = (struct ct_sctp){ .state = NONE };
	for (; chunk_at(c, off, &chunk, &next); off = next) {
		unsigned int state = next_of(CT_ORIGINAL, NONE, chunk.type);

		if (state == NONE || state == INVALID || chunk.len_be == 0)
			return ct_is_invalid(c, CT_INVALID_SCTP_NEW);
		if (chunk.type == INIT) {
			if (!init_tag(c, off, &tag))
				return ct_is_invalid(c, CT_INVALID_SHORT);
			e->sctp.vtag[CT_REPLY] = tag;
			e->sctp.init[CT_ORIGINAL] = 1;
		} else if (chunk.type == HEARTBEAT) {
			e->sctp.vtag[CT_ORIGINAL] = sctp->tag;
		} else if (chunk.type == SHUTDOWN_ACK) {
			/* answered with its own tag: RFC 9260 8.4 (5) */
			e->sctp.vtag[CT_REPLY] = sctp->tag;
		}
	}
	return true;
}

/* chunks with rules of their own about the tag */
#define OWN_TAG_RULES                                                                           \
	(HAS(INIT) | HAS(SHUTDOWN_COMPLETE) | HAS(COOKIE_ECHO) | HAS(ABORT) | HAS(SHUTDOWN_ACK) \
			| HAS(HEARTBEAT) | HAS(HEARTBEAT_ACK))

/* a packet of the association on its way through its chunks */
struct walk {
	const struct ct_pkt *c;
	struct ct_sctp *a;
	uint32_t tag; /* the packet's */
	uint32_t has; /* bits of its chunks */
	bool ignore; /* the time is not renewed */
};

enum tag_check {
	TAG_GOOD,
	TAG_SKIP, /* the chunk changes nothing */
	TAG_BAD,
};

/* path probing: a peer that has restarted asks with its old tag, and is found by the answer */
static enum tag_check heartbeat_tag(struct walk *w, uint8_t type, enum ct_dir dir)
{
	struct ct_sctp *a = w->a;

	if (a->vtag[dir] == 0) {
		a->vtag[dir] = w->tag;
		return TAG_GOOD;
	}
	if (a->vtag[dir] == w->tag) {
		a->flags &= (uint8_t)~HEARTBEAT_FAILED;
		return TAG_GOOD;
	}
	if (w->has & HAS(DATA) || w->ignore)
		return TAG_BAD;
	if (type == HEARTBEAT) {
		a->flags |= HEARTBEAT_FAILED;
		a->last_dir = (uint8_t)dir;
		w->ignore = true;
		return TAG_SKIP;
	}
	if ((a->flags & HEARTBEAT_FAILED) == 0 || a->last_dir == dir)
		return TAG_BAD;
	a->flags &= (uint8_t)~HEARTBEAT_FAILED;
	a->vtag[dir] = w->tag;
	a->vtag[!dir] = 0;
	return TAG_GOOD;
}

/* RFC 9260 8.5.1 */
static enum tag_check check_tag(struct walk *w, const struct chunk *chunk, enum ct_dir dir)
{
	const struct ct_sctp *a = w->a;
	bool good = true;

	switch (chunk->type) {
	case INIT:
		good = w->tag == 0;
		break;
	case ABORT:
	case SHUTDOWN_COMPLETE:
		good = w->tag == a->vtag[chunk->flags & FLAG_T ? !dir : dir];
		break;
	case COOKIE_ECHO:
		good = w->tag == a->vtag[dir];
		break;
	case HEARTBEAT:
	case HEARTBEAT_ACK:
		return heartbeat_tag(w, chunk->type, dir);
	default:
		break;
	}
	return good ? TAG_GOOD : TAG_BAD;
}

/* INIT and INIT ACK of both sides may cross (RFC 9260 5.2). Return: false: of another association */
static bool note_init(struct walk *w, uint8_t type, uint32_t tag, enum ct_dir dir)
{
	struct ct_sctp *a = w->a;

	if (type == INIT) {
		/* one that is repeated, or an old one: no new beginning */
		if (a->vtag[!dir] != tag) {
			/* a second beginning: what the other side began is not about this one */
			if (a->init[dir])
				a->init[!dir] = 0;
			a->init[dir] = 1;
		}
	} else if (type == INIT_ACK && a->vtag[!dir] != tag) {
		if (a->vtag[!dir] != 0 && !a->init[!dir])
			return false;
		if (a->init[dir] && a->init[!dir])
			return false;
	}
	a->vtag[!dir] = tag;
	return true;
}

/* Return: what the packet is for this chunk alone */
static enum ct_verdict take_chunk(struct walk *w, struct ct_entry *e, const struct chunk *chunk,
		uint32_t off, bool is_new)
{
	enum ct_dir dir = w->c->dir;
	struct ct_sctp *a = w->a;
	unsigned int next;
	uint32_t tag;

	switch (check_tag(w, chunk, dir)) {
	case TAG_GOOD:
		break;
	case TAG_SKIP:
		return CT_PASS;
	case TAG_BAD:
		return ct_invalid(w->c, CT_INVALID_SCTP_VTAG);
	}
	if (chunk->type == COOKIE_ACK) {
		a->init[CT_ORIGINAL] = 0;
		a->init[CT_REPLY] = 0;
	}
	next = next_of(dir, a->state, chunk->type);
	if (next == INVALID)
		return ct_invalid(w->c, CT_INVALID_SCTP_STATE);
	if (chunk->type == INIT || chunk->type == INIT_ACK) {
		if (!init_tag(w->c, off, &tag))
			return ct_invalid(w->c, CT_INVALID_SHORT);
		if (!note_init(w, chunk->type, tag, dir))
			return ct_invalid(w->c, CT_INVALID_SCTP_VTAG);
		/* who repeats an INIT for ever does not keep its ports for ever */
		if (chunk->type == INIT && a->state == CLOSED && next == CLOSED && !is_new
				&& e->status & CT_CONFIRMED)
			w->ignore = true;
	}
	if (next == ESTABLISHED && a->state != ESTABLISHED)
		e->status |= CT_ASSURED;
	a->state = (uint8_t)next;
	return CT_PASS;
}

enum ct_verdict ct_sctp_packet(const struct ct_pkt *c, struct ct_entry *e)
{
	struct walk w = { .c = c, .a = &e->sctp, .has = chunks_of(c) };
	uint32_t off = FIRST_CHUNK, next, s;
	const struct rte_sctp_hdr *sctp;
	struct rte_sctp_hdr buf;
	struct chunk chunk;

	sctp = ct_l4_at(c, 0, sizeof(*sctp), &buf);
	if (sctp == NULL)
		return ct_invalid(c, CT_INVALID_SHORT);
	w.tag = sctp->tag;
	if ((w.has & OWN_TAG_RULES) == 0 && w.tag != e->sctp.vtag[c->dir])
		return ct_invalid(c, CT_INVALID_SCTP_VTAG);
	for (; chunk_at(c, off, &chunk, &next) && chunk.len_be != 0; off = next) {
		enum ct_verdict verdict = take_chunk(&w, e, &chunk, off, c->is_new);

		if (verdict != CT_PASS)
			return verdict;
	}
	if (w.ignore)
		return CT_PASS_IGNORED;
	memcpy(&s, (const char *)c->conf + time_of[e->sctp.state], sizeof(s));
	ct_refresh(c->s, e, s);
	return CT_PASS;
}

bool ct_sctp_can_early_drop(const struct ct_entry *e)
{
	return e->sctp.state >= SHUTDOWN_SENT && e->sctp.state <= SHUTDOWN_ACK_SENT;
}

const char *ct_sctp_state_name(const struct ct_entry *e)
{
	return e->sctp.state < STATES ? state_names[e->sctp.state] : NULL;
}
