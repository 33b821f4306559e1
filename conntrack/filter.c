/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/filter.h"

#include "conntrack/proto.h"
#include "conntrack/text.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	F_FAMILY,
	F_PROTO,
	F_STATE,
	F_STATUS,
	F_SRC, /* the next eight in the order of struct ct_filter */
	F_DST,
	F_REPLY_SRC,
	F_REPLY_DST,
	F_SPORT,
	F_DPORT,
	F_REPLY_SPORT,
	F_REPLY_DPORT,
	F_ID,
	F_MARK,
	F_ZONE,
	F_NB,
};

static const struct {
	const char *name, *expected;
} words[F_NB] = {
	[F_FAMILY] = { "family", "4 or 6" },
	[F_PROTO] = { "proto", "a protocol by name or number" },
	[F_STATE] = { "state", "a state of TCP or SCTP, as ESTABLISHED" },
	[F_STATUS] = { "status", "ASSURED, SEEN_REPLY, UNREPLIED or EXPECTED" },
	[F_SRC] = { "src", "an address or network" },
	[F_DST] = { "dst", "an address or network" },
	[F_REPLY_SRC] = { "reply-src", "an address or network" },
	[F_REPLY_DST] = { "reply-dst", "an address or network" },
	[F_SPORT] = { "sport", "a port" },
	[F_DPORT] = { "dport", "a port" },
	[F_REPLY_SPORT] = { "reply-sport", "a port" },
	[F_REPLY_DPORT] = { "reply-dport", "a port" },
	[F_ID] = { "id", "a number of ICMP" },
	[F_MARK] = { "mark", "a number, or number/mask" },
	[F_ZONE] = { "zone", "0 to 65535" },
};

static bool parse_number(const char *s, const char *stop, unsigned long max, unsigned long *n)
{
	char *end;

	errno = 0;
	*n = strtoul(s, &end, 0);
	return errno == 0 && isdigit((unsigned char)s[0]) && end == stop && *n <= max;
}

static bool parse_u16(const char *s, uint16_t *out)
{
	unsigned long n;

	if (!parse_number(s, s + strlen(s), UINT16_MAX, &n))
		return false;
	*out = (uint16_t)n;
	return true;
}

static bool parse_mark(const char *s, struct ct_filter *f)
{
	const char *slash = strchr(s, '/');
	unsigned long value, mask = UINT32_MAX;

	if (!parse_number(s, slash == NULL ? s + strlen(s) : slash, UINT32_MAX, &value))
		return false;
	if (slash != NULL && !parse_number(slash + 1, s + strlen(s), UINT32_MAX, &mask))
		return false;
	f->mark = (uint32_t)value;
	f->mark_mask = (uint32_t)mask;
	return true;
}

static bool parse_proto(const char *s, uint8_t *proto)
{
	const struct protoent *p;
	unsigned long n;

	if (parse_number(s, s + strlen(s), UINT8_MAX, &n)) {
		*proto = (uint8_t)n;
		return true;
	}
	for (unsigned int i = 0; i <= UINT8_MAX; i++) {
		const char *name = ct_proto_name((uint8_t)i);

		if (name != NULL && strcasecmp(name, s) == 0) {
			*proto = (uint8_t)i;
			return true;
		}
	}
	p = getprotobyname(s);
	*proto = p == NULL ? 0 : (uint8_t)p->p_proto;
	return p != NULL;
}

static bool parse_status(const char *s, struct ct_filter *f)
{
	static const struct {
		const char *name;
		uint32_t bit;
		bool not ;
	} statuses[] = {
		{ "ASSURED", CT_ASSURED, false },
		{ "SEEN_REPLY", CT_SEEN_REPLY, false },
		{ "UNREPLIED", CT_SEEN_REPLY, true },
		{ "EXPECTED", CT_EXPECTED, false },
	};

	for (unsigned int i = 0; i < RTE_DIM(statuses); i++) {
		if (strcasecmp(statuses[i].name, s) != 0)
			continue;
		*(statuses[i].not ? &f->status_not : &f->status) |= statuses[i].bit;
		return true;
	}
	return false;
}

static bool parse_family(const char *s, uint8_t *family)
{
	*family = s[0] == '4' ? SL_AF_INET : SL_AF_INET6;
	return (s[0] == '4' || s[0] == '6') && s[1] == '\0';
}

static bool parse_state(const char *s, struct ct_filter *f)
{
	if (*s == '\0' || strlen(s) >= sizeof(f->state))
		return false;
	strcpy(f->state, s);
	return true;
}

static bool parse(struct ct_filter *f, unsigned int word, const char *s)
{
	switch (word) {
	case F_FAMILY:
		return parse_family(s, &f->family);
	case F_PROTO:
		return parse_proto(s, &f->proto);
	case F_STATE:
		return parse_state(s, f);
	case F_STATUS:
		return parse_status(s, f);
	case F_ID:
		return parse_u16(s, &f->id);
	case F_MARK:
		return parse_mark(s, f);
	case F_ZONE:
		return parse_u16(s, &f->zone);
	default:
		if (word < F_SPORT)
			return sl_prefix_parse(s, &f->addr[(word - F_SRC) / 2][(word - F_SRC) % 2])
					== 0;
		return parse_u16(s, &f->port[(word - F_SPORT) / 2][(word - F_SPORT) % 2]);
	}
}

int ct_filter_add(struct ct_filter *f, const char *word, char *err, size_t err_size)
{
	const char *eq = strchr(word, '=');
	size_t len = eq == NULL ? 0 : (size_t)(eq - word);

	for (unsigned int i = 0; eq != NULL && i < F_NB; i++) {
		if (strlen(words[i].name) != len || strncmp(words[i].name, word, len) != 0)
			continue;
		/* statuses add up, of all others the last would win silently */
		if (i != F_STATUS && f->set >> i & 1) {
			snprintf(err, err_size, "%s: was given before", word);
			return -EINVAL;
		}
		if (!parse(f, i, eq + 1)) {
			snprintf(err, err_size, "%s: %s was expected", word, words[i].expected);
			return -EINVAL;
		}
		f->set |= 1U << i;
		return 0;
	}
	snprintf(err, err_size,
			"%s: family, proto, state, status, src, dst, sport, dport, reply-src, reply-dst, "
			"reply-sport, reply-dport, id, mark or zone, each =VALUE, was expected",
			word);
	return -EINVAL;
}

static bool tuple_holds(const struct ct_filter *f, const struct ct_tuple *t, enum ct_dir dir)
{
	const struct sl_addr *addr[2] = { &t->src, &t->dst };
	const uint16_t port[2] = { rte_be_to_cpu_16(t->sport_be), rte_be_to_cpu_16(t->dport_be) };

	for (unsigned int i = 0; i < 2; i++) {
		unsigned int net = F_SRC + 2 * dir + i, number = F_SPORT + 2 * dir + i;
		const struct sl_prefix *p = &f->addr[dir][i];

		if (f->set >> net & 1
				&& (p->family != t->family || !sl_prefix_contains(p, addr[i])))
			return false;
		if (f->set >> number & 1 && f->port[dir][i] != port[i])
			return false;
	}
	return true;
}

static bool has(const struct ct_filter *f, unsigned int word)
{
	return (f->set >> word & 1) != 0;
}

bool ct_filter_holds(const struct ct_filter *f, const struct ct_entry *e)
{
	const char *state;

	if (f->set == 0)
		return true;
	if ((has(f, F_FAMILY) && f->family != e->orig.family)
			|| (has(f, F_PROTO) && f->proto != e->orig.proto)
			|| (has(f, F_MARK) && (e->mark & f->mark_mask) != f->mark)
			|| (has(f, F_ID)
					&& (ct_text_kind(e->orig.proto) != CT_TEXT_ICMP
							|| f->id != rte_be_to_cpu_16(e->orig.id_be)))
			|| (has(f, F_ZONE) && f->zone != e->orig.zone && f->zone != e->reply.zone))
		return false;
	if ((e->status & f->status) != f->status || (e->status & f->status_not) != 0)
		return false;
	if (!tuple_holds(f, &e->orig, CT_ORIGINAL) || !tuple_holds(f, &e->reply, CT_REPLY))
		return false;
	if (!has(f, F_STATE))
		return true;
	state = ct_proto_state(e);
	return state != NULL && strcasecmp(state, f->state) == 0;
}
