/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protocols: what a connection of each is, one file each (proto_tcp.c, proto_udp.c, ...). The stage
 * calls the three functions below; they go to the protocol's own by its number. [worker]
 */
#pragma once

#include "conntrack/table.h"

#include <stdio.h>

/* a packet on its way through tracking */
struct ct_pkt {
	struct sl_worker *w;
	struct ct_shard *s;
	const struct ct_conf *conf;
	struct rte_mbuf *m;
	struct sl_pkt *p; /* of m */
	enum ct_dir dir; /* in its connection */
	bool verify; /* checksums: at PREROUTING with nf_conntrack_checksum */
	bool is_new; /* the entry was made for this packet */
};

enum ct_verdict {
	CT_PASS,
	CT_PASS_IGNORED, /* passes, and counts for nothing */
	CT_PASS_KILLED, /* passes, and the entry is to go at once */
	CT_INVALID, /* the packet loses its connection and goes on */
	CT_DROP,
	CT_REPEAT, /* the entry was killed: look the packet up again */
};

/**
 * ct_proto_check() - header, lengths, checksum: what makes a packet invalid whatever is known of it
 *
 * Return: false: INVALID.
 */
bool ct_proto_check(const struct ct_pkt *c);

/**
 * ct_proto_new() - may this packet be the first of a connection
 * @e: made for it; the protocol's line is filled
 *
 * Return: false: INVALID.
 */
bool ct_proto_new(const struct ct_pkt *c, struct ct_entry *e);

/**
 * ct_proto_packet() - a packet of the connection, the first one included
 *
 * State, window, timeout (ct_refresh), CT_ASSURED. CT_SEEN_REPLY is the stage's.
 */
enum ct_verdict ct_proto_packet(const struct ct_pkt *c, struct ct_entry *e);

/* whether an assured entry may go when the table is full: TCP and SCTP that are ending */
bool ct_proto_can_early_drop(const struct ct_entry *e);

/* NULL if it is unknown to the kernel's tracker ("unknown" in its listings) */
const char *ct_proto_name(uint8_t proto);
/* "ESTABLISHED" and the like, of TCP and SCTP; else NULL */
const char *ct_proto_state(const struct ct_entry *e);
/* the private part of a line of /proc/net/nf_conntrack, e.g. "ESTABLISHED " */
void ct_proto_print(const struct ct_entry *e, FILE *f);

/* a reset that REJECT sent for a packet of @e: the connection is closed */
void ct_tcp_set_closing(struct ct_shard *s, struct ct_entry *e);
