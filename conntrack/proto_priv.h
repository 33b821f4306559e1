/* SPDX-License-Identifier: BSD-3-Clause */
/* What the protocols have in common, and what each gives to proto.c. [worker] */
#pragma once

#include "conntrack/note.h"
#include "conntrack/proto.h"

/* TCP */
bool ct_tcp_check(const struct ct_pkt *c);
bool ct_tcp_new(const struct ct_pkt *c, struct ct_entry *e);
enum ct_verdict ct_tcp_packet(const struct ct_pkt *c, struct ct_entry *e);
bool ct_tcp_can_early_drop(const struct ct_entry *e);
const char *ct_tcp_state_name(const struct ct_entry *e);

/* UDP and UDP-Lite */
bool ct_udp_check(const struct ct_pkt *c);
bool ct_udplite_check(const struct ct_pkt *c);
enum ct_verdict ct_udp_packet(const struct ct_pkt *c, struct ct_entry *e);
enum ct_verdict ct_udplite_packet(const struct ct_pkt *c, struct ct_entry *e);

/* ICMP and ICMPv6, each in its own family alone */
bool ct_icmp_check(const struct ct_pkt *c);
enum ct_verdict ct_icmp_packet(const struct ct_pkt *c, struct ct_entry *e);
bool ct_icmp6_check(const struct ct_pkt *c);
enum ct_verdict ct_icmp6_packet(const struct ct_pkt *c, struct ct_entry *e);

/* SCTP */
bool ct_sctp_check(const struct ct_pkt *c);
bool ct_sctp_new(const struct ct_pkt *c, struct ct_entry *e);
enum ct_verdict ct_sctp_packet(const struct ct_pkt *c, struct ct_entry *e);
bool ct_sctp_can_early_drop(const struct ct_entry *e);
const char *ct_sctp_state_name(const struct ct_entry *e);

/* GRE */
bool ct_gre_check(const struct ct_pkt *c);
enum ct_verdict ct_gre_packet(const struct ct_pkt *c, struct ct_entry *e);
void ct_gre_print(const struct ct_entry *e, FILE *f);

/* bytes from the transport header to the end of the packet */
static inline uint32_t ct_l4_len(const struct ct_pkt *c)
{
	uint32_t hdr = (uint32_t)(c->p->l4_off - c->p->l3_off);

	return unlikely(hdr > c->p->l3_len) ? 0 : c->p->l3_len - hdr;
}

/**
 * ct_l4_at() - @len bytes at @off from the transport header, wherever they lie
 * @buf: where they are copied to if they are not in one piece; at least @len bytes
 *
 * Return: NULL if the packet is shorter.
 */
static inline const void *ct_l4_at(const struct ct_pkt *c, uint32_t off, uint32_t len, void *buf)
{
	const void *at;

	if (unlikely((uint64_t)off + len > ct_l4_len(c)))
		return NULL;
	off += c->p->l4_off;
	at = sl_pkt_at(c->m, off, len);
	if (likely(at != NULL))
		return at;
	return sl_pkt_copy(c->m, off, len, buf) ? buf : NULL;
}

/* counts, and is the answer */
static inline bool ct_is_invalid(const struct ct_pkt *c, enum ct_invalid why)
{
	c->s->invalid[why]++;
	c->s->why = why;
	if (unlikely(c->conf->log_invalid != 0))
		ct_note_reason(c, why);
	return false;
}

static inline enum ct_verdict ct_invalid(const struct ct_pkt *c, enum ct_invalid why)
{
	ct_is_invalid(c, why);
	return CT_INVALID;
}

/* the Internet checksum over @len bytes from the transport header and a pseudo header that says
 * @pseudo_len bytes of @proto; true where nobody asks */
bool ct_csum_is_right(const struct ct_pkt *c, uint8_t proto, uint32_t len, uint32_t pseudo_len);
