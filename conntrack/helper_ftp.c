/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FTP (RFC 959, 2428): PORT and EPRT of the client, 227 and 229 of the server say where the other
 * side shall connect to. A command counts only at the beginning of a line, so of each direction the
 * places where lines have ended are kept: the last two, since a segment may be sent again.
 */
#include "conntrack/help.h"
#include "conntrack/proto_priv.h"
#include "conntrack/tcp_window.h"

#include <rte_tcp.h>

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#define MAX_EXPECTED 1
/* of a segment's beginning; commands are much shorter */
#define TEXT_MAX 512
#define LINES 2
/* the longest that is written: EPRT of IPv6 */
#define TEXT_NEW 64

struct lines {
	uint32_t end[CT_DIR_NB][LINES]; /* sequence numbers behind a newline */
	uint8_t n[CT_DIR_NB];
};
static_assert(sizeof(struct lines) <= sizeof(((struct ct_cold *)NULL)->help), "fits the helper");

/* where an argument stands, and what it says */
struct argument {
	const uint8_t *text;
	uint32_t len; /* up to the end of the data */
	uint8_t term; /* what ends it; 0: anything */
	enum sl_family family;
	struct sl_addr *addr;
	rte_be16_t *port_be;
};

/**
 * numbers() - @n numbers of a byte each with @sep between them
 *
 * Return: bytes up to the terminator, 0: not so, or the terminator is not there.
 */
static uint32_t numbers(const uint8_t *text, uint32_t len, uint32_t *out, unsigned int n,
		uint8_t sep, uint8_t term)
{
	unsigned int i = 0;

	memset(out, 0, n * sizeof(*out));
	for (uint32_t at = 0; at < len && i < n; at++) {
		if (isdigit(text[at]))
			out[i] = out[i] * 10 + (text[at] - '0');
		else if (text[at] == sep)
			i++;
		else
			return (text[at] == term || term == 0) && i == n - 1 ? at : 0;
	}
	return 0;
}

static void set_v4(struct sl_addr *addr, const uint32_t *n)
{
	addr->v4 = rte_cpu_to_be_32(n[0] << 24 | n[1] << 16 | n[2] << 8 | n[3]);
}

/* h,h,h,h,p,p. Return: bytes of it */
static uint32_t host_port(const struct argument *a)
{
	uint32_t n[6], len = numbers(a->text, a->len, n, 6, ',', a->term);

	if (len == 0)
		return 0;
	set_v4(a->addr, n);
	*a->port_be = rte_cpu_to_be_16((uint16_t)(n[4] << 8 | n[5]));
	return len;
}

/* a port and the delimiter behind it. Return: bytes from the beginning to behind the delimiter */
static uint32_t port(const struct argument *a, uint32_t from, uint8_t delim)
{
	uint32_t v = 0;

	for (uint32_t i = from; i < a->len; i++) {
		if (a->text[i] == delim) {
			*a->port_be = rte_cpu_to_be_16((uint16_t)v);
			return v == 0 ? 0 : i + 1;
		}
		if (!isdigit(a->text[i]))
			return 0;
		v = v * 10 + (a->text[i] - '0');
	}
	return 0;
}

static bool is_delimiter(uint8_t c)
{
	return !isdigit(c) && c >= 33 && c <= 126;
}

/* an IPv6 address up to @delim */
static uint32_t address6(const struct argument *a, uint32_t from, uint8_t delim)
{
	char text[INET6_ADDRSTRLEN];
	uint32_t n = 0;

	while (from + n < a->len && a->text[from + n] != delim && n < sizeof(text) - 1) {
		text[n] = (char)a->text[from + n];
		n++;
	}
	text[n] = '\0';
	if (from + n == a->len || a->text[from + n] != delim)
		return 0;
	return inet_pton(AF_INET6, text, a->addr->b) == 1 ? n : 0;
}

/* |1|10.0.1.2|2000| or |2|2001:db8::1|2000| */
static uint32_t extended(const struct argument *a)
{
	uint32_t n[4], len;
	uint8_t delim;

	if (a->len <= 3)
		return 0;
	delim = a->text[0];
	if (!is_delimiter(delim) || a->text[2] != delim
			|| a->text[1] != (a->family == SL_AF_INET ? '1' : '2'))
		return 0;
	if (a->family == SL_AF_INET) {
		len = numbers(a->text + 3, a->len - 3, n, 4, '.', delim);
		if (len > 0)
			set_v4(a->addr, n);
	} else {
		len = address6(a, 3, delim);
	}
	return len == 0 ? 0 : port(a, 3 + len + 1, delim);
}

/* |||2000| */
static uint32_t extended_passive(const struct argument *a)
{
	uint8_t delim;

	if (a->len <= 3)
		return 0;
	delim = a->text[0];
	if (!is_delimiter(delim) || a->text[1] != delim || a->text[2] != delim)
		return 0;
	return port(a, 3, delim);
}

static const struct command {
	const char *name;
	uint8_t skip; /* the argument stands behind it; 0: it begins with the first digit */
	uint8_t term;
	uint32_t (*parse)(const struct argument *a);
	enum ct_ftp_form form;
} commands[CT_DIR_NB][2] = {
	[CT_ORIGINAL] = { { "PORT", ' ', '\r', host_port, CT_FTP_PORT },
			{ "EPRT", ' ', '\r', extended, CT_FTP_EPRT4 } },
	[CT_REPLY] = { { "227 ", 0, 0, host_port, CT_FTP_PORT },
			{ "229 ", '(', ')', extended_passive, CT_FTP_EPSV } },
};

/* Return: as ct_ftp_parse() */
static int parse_as(const struct command *cmd, const uint8_t *data, struct argument *a,
		struct ct_announced *where)
{
	uint32_t len = a->len, n = (uint32_t)strlen(cmd->name), at = n;

	if (len <= n)
		return strncasecmp((const char *)data, cmd->name, len) == 0 ? -1 : 0;
	if (strncasecmp((const char *)data, cmd->name, n) != 0)
		return 0;
	if (cmd->skip != 0) {
		while (data[at] != cmd->skip)
			if (at++ == len - 1)
				return -1;
		at++;
	} else {
		while (at < len && !isdigit(data[at]))
			at++;
	}
	a->text = data + at;
	a->len = len - at;
	a->term = cmd->term;
	where->off = at;
	where->len = cmd->parse(a);
	where->form = cmd->form;
	if (cmd->form == CT_FTP_EPRT4 && a->family == SL_AF_INET6)
		where->form = CT_FTP_EPRT6;
	return where->len > 0 ? 1 : -1;
}

int ct_ftp_parse(const uint8_t *data, uint32_t len, enum ct_dir dir, enum sl_family family,
		struct sl_addr *addr, rte_be16_t *port_be, struct ct_announced *at)
{
	if (len == 0)
		return 0;
	for (unsigned int i = 0; i < RTE_DIM(commands[dir]); i++) {
		struct argument a = {
			.len = len, .family = family, .addr = addr, .port_be = port_be
		};
		int found = parse_as(&commands[dir][i], data, &a, at);

		if (found != 0)
			return found;
	}
	return 0;
}

static bool begins_line(const struct lines *l, enum ct_dir dir, uint32_t seq)
{
	for (unsigned int i = 0; i < l->n[dir]; i++)
		if (l->end[dir][i] == seq)
			return true;
	return false;
}

static void note_end(struct lines *l, enum ct_dir dir, uint32_t seq)
{
	uint32_t *end = l->end[dir];
	unsigned int oldest = ct_seq_before(end[0], end[1]) ? 0 : 1;

	if (begins_line(l, dir, seq))
		return;
	if (l->n[dir] < LINES)
		end[l->n[dir]++] = seq;
	else if (ct_seq_after(seq, end[oldest]))
		end[oldest] = seq;
}

/* what the other side has to read. Return: length */
static uint32_t format(char *text, size_t size, enum ct_ftp_form form, const struct sl_addr *addr,
		rte_be16_t port_be)
{
	unsigned int port = rte_be_to_cpu_16(port_be);
	const uint8_t *b = addr->b;
	int n = 0;

	switch (form) {
	case CT_FTP_PORT:
		n = snprintf(text, size, "%u,%u,%u,%u,%u,%u", b[0], b[1], b[2], b[3], port >> 8,
				port & 0xff);
		break;
	case CT_FTP_EPRT4:
		n = snprintf(text, size, "|1|%u.%u.%u.%u|%u|", b[0], b[1], b[2], b[3], port);
		break;
	case CT_FTP_EPRT6:
		/* in full, as the kernel writes it */
		n = snprintf(text, size, "|2|");
		for (unsigned int i = 0; i < 16; i += 2)
			n += snprintf(text + n, size - (size_t)n, "%02x%02x%c", b[i], b[i + 1],
					i == 14 ? '|' : ':');
		n += snprintf(text + n, size - (size_t)n, "%u|", port);
		break;
	case CT_FTP_EPSV:
		n = snprintf(text, size, "|||%u|", port);
		break;
	}
	return (uint32_t)n;
}

/* Return: false: drop */
static bool announced(const struct ct_pkt *c, struct ct_entry *e, enum ct_dir dir,
		const uint8_t *text, uint32_t len)
{
	const struct ct_tuple *own = ct_tuple_of(e, dir), *other = ct_tuple_of(e, !dir);
	struct sl_addr addr = own->src;
	struct ct_announced at;
	rte_be16_t port_be = 0, as_be;
	int found = ct_ftp_parse(text, len, dir, (enum sl_family)own->family, &addr, &port_be, &at);
	struct ct_coming coming = {
		.src = &other->src,
		.dst = &other->dst,
		.port_be = port_be,
		.dir = dir,
		.max = MAX_EXPECTED,
		.own_port_be = port_be,
		.any_port = true,
	};
	char new[TEXT_NEW];

	/* anybody else's address: third parties are none of our business */
	if (found <= 0 || !sl_addr_eq(&addr, &own->src))
		return found >= 0;
	if (!ct_help_expect(c, e, &coming, &as_be))
		return false;
	if ((e->status & CT_NAT_MASK) == 0)
		return true;
	return ct_help_rewrite(
			c, e, &at, new, format(new, sizeof(new), at.form, &other->dst, as_be));
}

bool ct_ftp_help(const struct ct_pkt *c, struct ct_entry *e)
{
	enum ct_dir dir = ct_info_dir(c->p->ct_info);
	uint8_t text[TEXT_MAX], last = 0, buf[4];
	uint32_t off, len, seq;
	const uint8_t *at;
	struct lines *l;

	if ((c->p->ct_info != SL_CT_ESTABLISHED && c->p->ct_info != SL_CT_ESTABLISHED_REPLY)
			|| !ct_help_data(c, &off, &len))
		return true;
	at = ct_l4_at(c, offsetof(struct rte_tcp_hdr, sent_seq), sizeof(buf), buf);
	if (at == NULL)
		return true;
	memcpy(&seq, at, sizeof(seq));
	seq = rte_be_to_cpu_32(seq);
	l = (struct lines *)(void *)ct_cold(c->s, e)->help;
	/* before another text makes the packet longer; its numbers stay the sender's */
	if (!sl_pkt_copy(c->m, c->p->l4_off + off + len - 1, 1, &last))
		return true;
	if (begins_line(l, dir, seq)) {
		uint32_t n = RTE_MIN(len, TEXT_MAX);

		if (!sl_pkt_copy(c->m, c->p->l4_off + off, n, text))
			return true;
		if (!announced(c, e, dir, text, n))
			return false;
	}
	if (last == '\n')
		note_end(l, dir, seq + len);
	return true;
}
