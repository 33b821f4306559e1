/* SPDX-License-Identifier: BSD-3-Clause */
/* IRC: "PRIVMSG nick :\1DCC SEND file address port\1" tells a third one where to connect to. */
#include "conntrack/help.h"

#include <stdio.h>
#include <strings.h>

#define MAX_EXPECTED 8
#define TEXT_MAX 2048 /* of a segment's beginning; lines have 512 bytes */

static const char *const words[] = { "SEND ", "CHAT ", "MOVE ", "TSEND ", "SCHAT " };
/* from " :" to the end: nothing shorter is looked at, "\1DCC SEND " and "x AAAAAAAA P\1\n" are 26 */
#define MESSAGE_MIN 27U
#define ARGUMENT_MIN 12U

/* a decimal number; wraps as strtoul of 64 bits does not for what fits a line */
static uint64_t number(const uint8_t *data, uint32_t len, uint32_t *at)
{
	uint64_t v = 0;

	while (*at < len && data[*at] >= '0' && data[*at] <= '9')
		v = v * 10 + (data[(*at)++] - '0');
	return v;
}

/* "file address port", and a newline somewhere behind it */
static bool arguments(const uint8_t *data, uint32_t len, uint32_t at, uint32_t *addr,
		uint16_t *port, struct ct_announced *where)
{
	do {
		if (at + ARGUMENT_MIN > len)
			return false;
	} while (data[at++] != ' ');
	if (memchr(data + at, '\n', len - at) == NULL)
		return false;
	where->off = at;
	*addr = (uint32_t)number(data, len, &at);
	while (at < len && data[at] == ' ')
		at++;
	*port = (uint16_t)number(data, len, &at);
	where->len = at - where->off;
	return true;
}

bool ct_irc_parse(const uint8_t *data, uint32_t len, uint32_t *addr, uint16_t *port,
		struct ct_announced *at)
{
	uint32_t i = 0;

	while (i < len && (data[i] == ' ' || data[i] == '\r' || data[i] == '\n'))
		i++;
	if (i + 8 > len || strncasecmp((const char *)data + i, "PRIVMSG ", 8) != 0)
		return false;
	for (i += 8; i + MESSAGE_MIN <= len; i++) {
		if (memcmp(data + i, " :", 2) != 0)
			continue;
		i += 2;
		if (memcmp(data + i, "\1DCC ", 5) != 0)
			return false;
		i += 5;
		for (unsigned int k = 0; k < RTE_DIM(words); k++) {
			uint32_t n = (uint32_t)strlen(words[k]);

			if (i + n <= len && memcmp(data + i, words[k], n) == 0)
				return arguments(data, len, i + n, addr, port, at);
		}
		return false;
	}
	return false;
}

bool ct_irc_help(const struct ct_pkt *c, struct ct_entry *e)
{
	struct ct_coming coming = { .dir = CT_ORIGINAL, .max = MAX_EXPECTED, .any_port = true };
	struct ct_announced at;
	uint8_t text[TEXT_MAX];
	char new[sizeof("4294967295 65535")];
	rte_be16_t as_be;
	uint32_t off, len, v;
	struct sl_addr addr;
	uint16_t port;

	if (c->p->ct_info != SL_CT_ESTABLISHED || !ct_help_data(c, &off, &len))
		return true;
	len = RTE_MIN(len, TEXT_MAX);
	if (!sl_pkt_copy(c->m, c->p->l4_off + off, len, text)
			|| !ct_irc_parse(text, len, &v, &port, &at) || port == 0)
		return true;
	addr = sl_addr_v4(rte_cpu_to_be_32(v));
	/* the client's own address, before or behind NAT */
	if (!sl_addr_eq(&addr, &e->orig.src) && !sl_addr_eq(&addr, &e->reply.dst))
		return true;
	coming.dst = &e->reply.dst;
	coming.port_be = coming.own_port_be = rte_cpu_to_be_16(port);
	if (!ct_help_expect(c, e, &coming, &as_be))
		return false;
	if ((e->status & CT_NAT_MASK) == 0)
		return true;
	snprintf(new, sizeof(new), "%u %u", rte_be_to_cpu_32(e->reply.dst.v4),
			rte_be_to_cpu_16(as_be));
	return ct_help_rewrite(c, e, &at, new, (uint32_t)strlen(new));
}
