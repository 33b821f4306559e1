/* SPDX-License-Identifier: BSD-3-Clause */
/* What a helper does with the packets of its connection. [worker] */
#pragma once

#include "conntrack/expect.h"
#include "conntrack/proto.h"

/* how FTP writes an address and a port */
enum ct_ftp_form {
	CT_FTP_PORT, /* also 227 */
	CT_FTP_EPRT4,
	CT_FTP_EPRT6,
	CT_FTP_EPSV,
};

/* the text that announced a connection, for whoever has to write another one */
struct ct_announced {
	uint32_t off; /* from the start of the data */
	uint32_t len;
	enum ct_ftp_form form; /* FTP's */
};

/**
 * ct_help() - a packet of a connection with a helper, behind all rules and before it is confirmed
 * @c: p->ct and ct_info are set, conf and s as well
 *
 * Return: false: the packet is to be dropped: an announcement that is cut, or one too many.
 */
bool ct_help(const struct ct_pkt *c, struct ct_entry *e);

/* of a TCP segment or UDP datagram: where data begins. Return: false: there is none */
bool ct_help_data(const struct ct_pkt *c, uint32_t *off, uint32_t *len);

/* what is announced */
struct ct_coming {
	const struct sl_addr *src; /* NULL: from anywhere */
	const struct sl_addr *dst;
	rte_be16_t port_be; /* of dst; the source's is any */
	enum ct_dir dir; /* of the announcement */
	uint32_t max; /* that one connection may announce */
	/* NAT: the port that the announcer listens at, which is another one only if its own packets
	 * say something else than it does */
	rte_be16_t own_port_be;
	/* NAT: another port than port_be is as good, since the announcement will be rewritten */
	bool any_port;
};

/**
 * ct_help_expect() - expect what @e has announced
 * @port_be: out: the port of the expectation
 *
 * If @e is translated what comes will be translated alike. Return: false: it cannot be expected.
 */
bool ct_help_expect(const struct ct_pkt *c, const struct ct_entry *e,
		const struct ct_coming *coming, rte_be16_t *port_be);

/**
 * ct_help_rewrite() - another text for an announcement
 * @at: where the old one stands
 *
 * Lengths and checksum follow, and from now on so do sequence numbers (conntrack/seqadj.h). Return:
 * false if there is no room in the packet.
 */
bool ct_help_rewrite(const struct ct_pkt *c, struct ct_entry *e, const struct ct_announced *at,
		const char *text, uint32_t len);

bool ct_ftp_help(const struct ct_pkt *c, struct ct_entry *e);
bool ct_tftp_help(const struct ct_pkt *c, struct ct_entry *e);
bool ct_irc_help(const struct ct_pkt *c, struct ct_entry *e);

/**
 * ct_ftp_parse() - an announcement at the beginning of a segment's data
 * @addr: in: what counts where none is written (EPSV); out: what is written
 * @at:   where the text of it stands in @data
 *
 * Return: 1: found; 0: none; -1: it is cut, or is no address.
 */
int ct_ftp_parse(const uint8_t *data, uint32_t len, enum ct_dir dir, enum sl_family family,
		struct sl_addr *addr, rte_be16_t *port_be, struct ct_announced *at);

/* the same for "PRIVMSG x :\1DCC SEND name addr port". Return: whether there is one */
bool ct_irc_parse(const uint8_t *data, uint32_t len, uint32_t *addr, uint16_t *port,
		struct ct_announced *at);
