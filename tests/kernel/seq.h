/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * seq: a sequence of packets between a client behind pa and a server behind pb. A step is told by
 * what it means (flags, distance from the initial sequence number, which earlier packet an error
 * quotes), not by its bytes; so the same sequence can be played with any pair of addresses, steps can
 * be left out, and a step can be printed and read as text (seq_text.c).
 */
#pragma once

#include "frames_priv.h"

#include <stdio.h>

#define SEQ_STEPS_MAX 40
#define SEQ_FLOWS 2 /* pairs of ports */
#define SEQ_PIECES_MAX 8 /* frames of one step */
#define SEQ_SEEN_MAX 600 /* bytes that are kept of a packet, to be quoted */

enum seq_end {
	SEQ_CLIENT,
	SEQ_SERVER,
	SEQ_ENDS,
};

enum seq_kind {
	SEQ_NONE, /* nobody sends */
	SEQ_TCP,
	SEQ_UDP,
	SEQ_UDPLITE,
	SEQ_ICMP, /* of the family */
	SEQ_SCTP,
	SEQ_GRE,
	SEQ_OTHER,
	SEQ_ERROR,
	SEQ_KINDS,
};

enum seq_damage {
	SEQ_WHOLE,
	SEQ_BAD_SUM, /* of layer 4 */
	SEQ_NO_SUM, /* 0 */
	SEQ_CUT, /* behind 6 bytes of layer 4 */
	SEQ_SHORT, /* a length field that is too small */
	SEQ_LONG, /* one that is too large */
	SEQ_AS_UDP, /* UDP-Lite's sum, which the kernel expects to be UDP's */
	SEQ_DAMAGES,
};

enum seq_order {
	SEQ_IN_ORDER,
	SEQ_REVERSED,
	SEQ_LAST_FIRST,
	SEQ_DOUBLED, /* the first piece comes twice */
	SEQ_LACKING, /* the second piece never comes */
	SEQ_OVERLAP, /* the second begins 8 bytes early */
	SEQ_ORDERS,
};

enum seq_ext {
	SEQ_NO_EXT,
	SEQ_HOPOPTS,
	SEQ_DSTOPTS,
	SEQ_ROUTING,
	SEQ_ATOMIC, /* a fragment header that means nothing */
	SEQ_TWO_EXT,
	SEQ_EXTS,
};

#define SEQ_FIN 0x01
#define SEQ_SYN 0x02
#define SEQ_RST 0x04
#define SEQ_PSH 0x08
#define SEQ_ACK 0x10
#define SEQ_URG 0x20
#define SEQ_NO_SCALE 0xff

struct seq_tcp {
	uint8_t flags;
	uint8_t scale; /* option, or SEQ_NO_SCALE */
	bool sack_ok; /* option */
	uint8_t n_sack; /* 0 or 1 block */
	uint16_t win;
	uint32_t seq; /* from the sender's initial sequence number */
	uint32_t ack, sack_from, sack_to; /* from the other's */
};

#define SEQ_CHUNKS_MAX 3

enum seq_tag {
	SEQ_TAG_PEER, /* what the other side asked for in its INIT */
	SEQ_TAG_OWN,
	SEQ_TAG_ZERO,
	SEQ_TAG_WRONG,
	SEQ_TAGS,
};

struct seq_sctp {
	uint8_t tag; /* enum seq_tag */
	uint8_t init; /* number of this side's initial tag: a restart takes another */
	uint8_t peer_init; /* of the other's, for SEQ_TAG_PEER */
	uint8_t n;
	struct {
		uint8_t type, flags;
		bool empty; /* length 0 */
	} chunk[SEQ_CHUNKS_MAX];
};

struct seq_step {
	uint8_t kind; /* enum seq_kind */
	uint8_t from; /* enum seq_end */
	uint8_t flow;
	bool off; /* left out */
	uint8_t damage; /* enum seq_damage */
	uint8_t pieces; /* fragments; 0: whole */
	uint8_t order; /* enum seq_order */
	uint8_t ext; /* enum seq_ext, IPv6 */
	uint16_t len; /* payload */
	union {
		struct seq_tcp tcp;
		struct seq_sctp sctp;
		struct {
			uint8_t type, code;
		} icmp;
		struct {
			uint8_t version, flags;
			uint16_t proto;
		} gre;
		struct {
			uint8_t proto;
		} other;
		struct {
			uint8_t of; /* step that is quoted */
			uint8_t type, code;
			bool third; /* sent by a router on the way; not if turned */
			bool turned; /* to the wrong side */
			uint16_t cut; /* bytes of the quote behind its IP header; 0: all */
		} error;
	};
};

struct seq {
	char name[32];
	bool v6;
	bool to_router; /* the server is the router itself */
	uint32_t isn[SEQ_FLOWS][SEQ_ENDS];
	uint16_t port[SEQ_FLOWS][SEQ_ENDS];
	unsigned int n;
	struct seq_step step[SEQ_STEPS_MAX];
};

struct seq_ends {
	uint8_t src[16], dst[16]; /* IPv4: the first 4 bytes */
	uint16_t sport, dport; /* ICMP: both the id */
};

/* what the hosts have seen: addresses may be translated on the way */
struct seq_view {
	uint32_t at; /* number of the addresses */
	struct seq_ends ends[SEQ_FLOWS][SEQ_ENDS]; /* of packets that this end sends */
	struct {
		uint16_t len; /* 0: never came */
		uint8_t ip[SEQ_SEEN_MAX];
	} seen[SEQ_STEPS_MAX];
};

struct seq_frames {
	unsigned int n;
	unsigned int port;
	struct buf v[SEQ_PIECES_MAX + 1];
};

/* addresses number @at; the first SEQ_ADDRESSES numbers give different ones */
#define SEQ_ADDRESSES 131000U
void seq_view_init(struct seq_view *v, const struct seq *s, uint32_t at);

/* the number that an address of a sequence belongs to, or UINT32_MAX */
uint32_t seq_number_of(const char *address);

/* step @i as frames; none if it sends nothing */
void seq_build(const struct seq *s, unsigned int i, const struct seq_view *v,
		struct seq_frames *out);

/* a frame that came out because of step @i */
void seq_saw(const struct seq *s, unsigned int i, struct seq_view *v, unsigned int port,
		const uint8_t *frame, size_t len);

/*
 * What routers draw (ports, ids) differs, and is then the same for the rest of the sequence: each of
 * the kernel's numbers stands for one of sluice's, but for chance. What the flow at hand has itself
 * stands for itself.
 */
#define SEQ_PAIRS_MAX 128
struct seq_pairs {
	unsigned int n;
	uint16_t kept[SEQ_ENDS]; /* ports of the flow at hand, which stand for nothing else; 0: none */
	unsigned int met; /* numbers that were drawn twice, as happens by chance */
	struct {
		uint16_t kernel, sluice;
	} v[SEQ_PAIRS_MAX];
};
void seq_pairs_init(struct seq_pairs *p, const struct seq *s);
/* @flow: of the step; SEQ_FLOWS: of none */
void seq_pairs_flow(struct seq_pairs *p, const struct seq *s, unsigned int flow);
/* Return: whether the two may stand for each other; from now on they do */
bool seq_pair(struct seq_pairs *p, unsigned int kernel, unsigned int sluice);

/*
 * seq_even() - two frames of @len bytes that came out at the same place: in sluice's the kernel's numbers
 * are put, where the pair is a right one. Checksums follow, so that a wrong one stays wrong.
 */
void seq_even(const struct seq *s, struct seq_pairs *pairs, uint8_t *kernel, uint8_t *sluice,
		size_t len);
/* the router's own errors may bear another's address: the identification, which the kernel draws */
void seq_even_own(const struct seq *s, uint8_t *frame, size_t len);

/* SCTP's sum over @n bytes as if it were 0 there, and the sum that stands there */
uint32_t seq_crc32c(const uint8_t *sctp, size_t n);
uint32_t seq_crc_of(const uint8_t *sctp);

/* where layer 4 begins in a packet of @len bytes, 0: not in it, or it is a later fragment */
size_t seq_l4_at(bool v6, const uint8_t *ip, size_t len, unsigned int *proto);

/* a protocol's packet in a buffer (seq_l4.c); the checksum is in order but for the damage */
void seq_put_l4(struct buf *b, const struct seq *s, const struct seq_step *t,
		const struct seq_ends *e);
/* sum of the pseudo header, without the length */
uint32_t seq_pseudo(const struct seq *s, const struct seq_ends *e, unsigned int proto);
unsigned int seq_proto(const struct seq *s, const struct seq_step *t);

/* one line, without newline; and back */
void seq_print_step(FILE *f, const struct seq *s, unsigned int i);
void seq_print(FILE *f, const struct seq *s);

/* scripts (seq_script.c): NULL behind the last. Return: false if the text is wrong */
const char *seq_script_text(unsigned int i);
bool seq_read(struct seq *s, const char *text);

/* a random sequence */
void seq_make(struct seq *s, uint64_t seed);

/* of a random sequence, by protocol; all in seq_gen_*.c */
void seq_gen_tcp(struct gen *g, struct seq *s);
void seq_gen_sctp(struct gen *g, struct seq *s);
void seq_gen_plain(struct gen *g, struct seq *s);
void seq_gen_mixed(struct gen *g, struct seq *s);
/* an error on one of the steps before @i */
void seq_gen_error(struct gen *g, struct seq *s, unsigned int i);
