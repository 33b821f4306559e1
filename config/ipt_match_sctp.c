/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_sctp.c - sctp: ports, and lists of chunk types with their flags */
#include "config/ipt_list.h"

#include <netinet/in.h>
#include <string.h>
#include <strings.h>

/* A chunk type, and the letters of its flags from bit 7 to bit 0 ('-': none). */
static const struct chunk {
	const char *name;
	uint8_t type;
	const char *flags;
} chunks[] = {
	{ "DATA", 0, "----IUBE" },
	{ "INIT", 1, "--------" },
	{ "INIT_ACK", 2, "--------" },
	{ "SACK", 3, "--------" },
	{ "HEARTBEAT", 4, "--------" },
	{ "HEARTBEAT_ACK", 5, "--------" },
	{ "ABORT", 6, "-------T" },
	{ "SHUTDOWN", 7, "--------" },
	{ "SHUTDOWN_ACK", 8, "--------" },
	{ "ERROR", 9, "--------" },
	{ "COOKIE_ECHO", 10, "--------" },
	{ "COOKIE_ACK", 11, "--------" },
	{ "ECN_ECNE", 12, "--------" },
	{ "ECN_CWR", 13, "--------" },
	{ "SHUTDOWN_COMPLETE", 14, "-------T" },
	{ "I_DATA", 64, "----IUBE" },
	{ "RE_CONFIG", 130, "--------" },
	{ "PAD", 132, "--------" },
	{ "ASCONF", 193, "--------" },
	{ "ASCONF_ACK", 128, "--------" },
	{ "FORWARD_TSN", 192, "--------" },
	{ "I_FORWARD_TSN", 194, "--------" },
};
#define N_CHUNKS (sizeof(chunks) / sizeof(chunks[0]))

static const struct ipt_name hows[] = {
	{ "any", IPT_SCTP_ANY },
	{ "all", IPT_SCTP_ALL },
	{ "only", IPT_SCTP_ONLY },
	{ NULL, 0 },
};

/* Flags of one chunk: an upper-case letter has to be set, a lower-case one has to be clear. */
static int chunk_flags(struct ipt_ctx *cx, struct ipt_m_sctp *m, const struct chunk *c,
		const char *letters)
{
	uint8_t mask = 0, value = 0;
	const char *p;

	for (const char *s = letters; *s != '\0'; s++) {
		char upper = *s & ~0x20;

		p = upper >= 'A' && upper <= 'Z' ? strchr(c->flags, upper) : NULL;
		if (p == NULL)
			return ipt_fail(cx, "--chunk-types: chunk %s has no flag \"%c\"", c->name,
					*s);
		mask |= 0x80 >> (p - c->flags);
		if (*s == upper)
			value |= 0x80 >> (p - c->flags);
	}
	for (int i = 0; i < m->n_flags; i++)
		if (m->flags[i].type == c->type) {
			m->flags[i].mask |= mask;
			m->flags[i].value |= value;
			return 0;
		}
	if (m->n_flags == IPT_SCTP_FLAGS_MAX)
		return ipt_fail(cx, "--chunk-types: flags for more than %d chunk types",
				IPT_SCTP_FLAGS_MAX);
	m->flags[m->n_flags].type = c->type;
	m->flags[m->n_flags].mask = mask;
	m->flags[m->n_flags].value = value;
	m->n_flags++;
	return 0;
}

static int chunk_word(struct ipt_ctx *cx, struct ipt_m_sctp *m, char *word)
{
	char *colon = strchr(word, ':');

	if (colon != NULL)
		*colon++ = '\0';
	for (size_t i = 0; i < N_CHUNKS; i++) {
		if (strcasecmp(chunks[i].name, word) != 0)
			continue;
		m->types[chunks[i].type / 32] |= 1u << (chunks[i].type % 32);
		return colon != NULL ? chunk_flags(cx, m, &chunks[i], colon) : 0;
	}
	return ipt_fail(cx, "--chunk-types: unknown chunk \"%s\"", word);
}

static int parse_chunks(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_sctp *m = in->data;
	const struct ipt_name *how = ipt_name_find(hows, arg, true);
	const char *list = ipt_next_arg(cx);
	char copy[IPT_ARG_MAX + 1], *next = copy, *word;

	(void)inv;
	if (how == NULL || list == NULL)
		return ipt_fail(cx, "--%s %s: any, all or only, then a list of chunks was expected",
				o->name, arg);
	m->how = how->value;
	if (strcasecmp(list, "ALL") == 0) {
		memset(m->types, 0xff, sizeof(m->types));
		return 0;
	}
	if (strcasecmp(list, "NONE") == 0)
		return 0;
	strcpy(copy, list); /* no word is longer than IPT_ARG_MAX */
	while ((word = strsep(&next, ",")) != NULL)
		if (chunk_word(cx, m, word) < 0)
			return -EINVAL;
	return 0;
}

static bool has_type(const struct ipt_m_sctp *m, unsigned int type)
{
	return m->types[type / 32] & (1u << (type % 32));
}

static void print_flags(FILE *f, const struct ipt_m_sctp *m, const struct chunk *c)
{
	for (int i = 0; i < m->n_flags; i++) {
		if (m->flags[i].type != c->type)
			continue;
		fputc(':', f);
		for (int bit = 7; bit >= 0; bit--) {
			char letter = c->flags[7 - bit];

			if (m->flags[i].mask & (1 << bit))
				fputc(m->flags[i].value & (1 << bit) ? letter : letter | 0x20, f);
		}
	}
}

static void print_chunks(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_sctp *m = v->data;
	bool all = true;
	char sep = ' ';

	(void)o;
	fprintf(f, " %s", ipt_name_of(hows, m->how));
	for (unsigned int t = 0; t < 256; t++)
		all = all && has_type(m, t);
	if (all) {
		fputs(" ALL", f);
		return;
	}
	for (unsigned int t = 0; t < 256; t++) {
		if (!has_type(m, t))
			continue;
		for (size_t i = 0; i < N_CHUNKS; i++) {
			if (chunks[i].type != t)
				continue;
			fprintf(f, "%c%s", sep, chunks[i].name);
			print_flags(f, m, &chunks[i]);
		}
		sep = ',';
	}
	if (sep == ' ')
		fputs(" NONE", f);
}

static const struct ipt_type t_chunks = { .parse = parse_chunks, .print = print_chunks };

#define OFF(field) offsetof(struct ipt_m_sctp, field)
static const struct ipt_opt opts[] = {
	IPT_OPT("sport", &ipt_t_ports, IPT_PORTS_SPORT, IPT_O_INV, OFF(sport)),
	IPT_OPT("dport", &ipt_t_ports, IPT_PORTS_DPORT, IPT_O_INV, OFF(dport)),
	IPT_OPT("source-port", &ipt_t_ports, IPT_PORTS_SPORT, IPT_O_INV | IPT_O_QUIET, OFF(sport)),
	IPT_OPT("destination-port", &ipt_t_ports, IPT_PORTS_DPORT, IPT_O_INV | IPT_O_QUIET,
			OFF(dport)),
	IPT_OPT("chunk-types", &t_chunks, IPT_SCTP_CHUNKS, IPT_O_INV),
	{ 0 },
};

static int init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_m_sctp *m = in->data;

	(void)cx;
	m->sport = m->dport = (struct ipt_range16){ 0, UINT16_MAX };
	return 0;
}

const struct ipt_ext ipt_match_sctp = {
	.name = "sctp",
	.kind = IPT_M_SCTP,
	.families = IPT_F46,
	.proto = IPPROTO_SCTP,
	.size = sizeof(struct ipt_m_sctp),
	.opts = opts,
	.init = init,
};
