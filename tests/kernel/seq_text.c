/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sequences as text. Steps are separated by `;`, words by blanks:
 *
 *   > S ws=7; < SA; > A; < PA len=100 ; > R seq+1000; < err=3/1 of=3 cut=8; -
 *
 * `>` is sent by the client, `<` by the server, `-` is a step without a packet. Then what it is:
 * flags of TCP (SFRPAU, 0 for none), udp, udplite, icmp=TYPE/CODE, sctp=CHUNK,..., gre=VERSION,
 * proto=N, err=TYPE/CODE. seq=N and ack=N count from the initial numbers, seq+N and seq-N from what
 * would be next; without them they are what is next. A step with seq does not change what is next.
 */
#include "seq.h"

#include <stdlib.h>
#include <string.h>

static const char flag_letters[] = "FSRPAU";

static const char *const damages[SEQ_DAMAGES] = { "", "badsum", "nosum", "cut", "short", "long",
	"asudp" };
static const char *const orders[SEQ_ORDERS] = { "inorder", "reversed", "lastfirst", "doubled",
	"lacking", "overlap" };
static const char *const exts[SEQ_EXTS] = { "", "hopopts", "dstopts", "routing", "atomic",
	"twoext" };
static const char *const tags[SEQ_TAGS] = { "tagpeer", "tagown", "tagzero", "tagwrong" };
static const char *const chunks[] = { "data", "init", "initack", "sack", "hb", "hback", "abort",
	"shutdown", "shutack", "error", "cookie", "cookieack", "ecne", "cwr", "shutdone" };

/* ---- printing ------------------------------------------------------------------------------- */

static void print_tcp(FILE *f, const struct seq_tcp *h)
{
	fputc(' ', f);
	for (unsigned int i = 0; i < 6; i++)
		if (h->flags & 1U << i)
			fputc(flag_letters[i], f);
	if ((h->flags & 0x3f) == 0)
		fputc('0', f);
	fprintf(f, " seq=%u", h->seq);
	if (h->flags & SEQ_ACK || h->ack != 0)
		fprintf(f, " ack=%u", h->ack);
	fprintf(f, " win=%u", h->win);
	if (h->scale != SEQ_NO_SCALE)
		fprintf(f, " ws=%u", h->scale);
	if (h->sack_ok)
		fprintf(f, " sackok");
	if (h->n_sack > 0)
		fprintf(f, " sack=%u-%u", h->sack_from, h->sack_to);
}

static void print_sctp(FILE *f, const struct seq_sctp *h)
{
	fprintf(f, " sctp=");
	for (unsigned int i = 0; i < h->n; i++) {
		if (h->chunk[i].type < ARRAY_LEN(chunks))
			fprintf(f, "%s%s", i > 0 ? "," : "", chunks[h->chunk[i].type]);
		else
			fprintf(f, "%s%u", i > 0 ? "," : "", h->chunk[i].type);
		if (h->chunk[i].flags != 0)
			fprintf(f, "/%u", h->chunk[i].flags);
		if (h->chunk[i].empty)
			fprintf(f, "!");
	}
	fprintf(f, " %s init=%u pinit=%u", tags[h->tag], h->init, h->peer_init);
}

static void print_error(FILE *f, const struct seq_step *t)
{
	fprintf(f, " err=%u/%u of=%u", t->error.type, t->error.code, t->error.of);
	if (t->error.cut > 0)
		fprintf(f, " quote=%u", t->error.cut);
	if (t->error.third)
		fprintf(f, " third");
	if (t->error.turned)
		fprintf(f, " turned");
}

void seq_print_step(FILE *f, const struct seq *s, unsigned int i)
{
	const struct seq_step *t = &s->step[i];

	if (t->kind == SEQ_NONE || t->off) {
		fputc('-', f);
		return;
	}
	fputc(t->from == SEQ_CLIENT ? '>' : '<', f);
	if (t->kind == SEQ_TCP)
		print_tcp(f, &t->tcp);
	else if (t->kind == SEQ_SCTP)
		print_sctp(f, &t->sctp);
	else if (t->kind == SEQ_ERROR)
		print_error(f, t);
	else if (t->kind == SEQ_UDP || t->kind == SEQ_UDPLITE)
		fprintf(f, t->kind == SEQ_UDP ? " udp" : " udplite");
	else if (t->kind == SEQ_ICMP)
		fprintf(f, " icmp=%u/%u", t->icmp.type, t->icmp.code);
	else if (t->kind == SEQ_GRE)
		fprintf(f, " gre=%u/%u gproto=%u", t->gre.version, t->gre.flags, t->gre.proto);
	else
		fprintf(f, " proto=%u", t->other.proto);
	if (t->len > 0)
		fprintf(f, " len=%u", t->len);
	if (t->flow > 0)
		fprintf(f, " flow=%u", t->flow);
	if (t->damage != SEQ_WHOLE)
		fprintf(f, " %s", damages[t->damage]);
	if (t->pieces > 1)
		fprintf(f, " pieces=%u %s", t->pieces, orders[t->order]);
	if (t->ext != SEQ_NO_EXT)
		fprintf(f, " %s", exts[t->ext]);
}

void seq_print(FILE *f, const struct seq *s)
{
	fprintf(f, "%s%s", s->v6 ? "v6 " : "v4 ", s->to_router ? "router " : "");
	for (unsigned int e = 0; e < SEQ_ENDS * SEQ_FLOWS; e++)
		fprintf(f, "%s%u=%u,%u ", e % 2 == 0 ? "client" : "server", e / 2,
				s->port[e / 2][e % 2], s->isn[e / 2][e % 2]);
	for (unsigned int i = 0; i < s->n; i++) {
		fprintf(f, "; ");
		seq_print_step(f, s, i);
	}
}

/* ---- reading -------------------------------------------------------------------------------- */

struct reader {
	struct seq *s;
	struct seq_step *t;
	uint32_t next[SEQ_FLOWS][SEQ_ENDS];
	bool has_seq, has_ack;
	uint32_t seq, ack; /* from what is next unless is_abs */
	bool seq_abs, ack_abs;
};

static bool index_in(const char *word, const char *const *list, unsigned int n, uint8_t *out)
{
	for (unsigned int i = 0; i < n; i++) {
		if (list[i][0] != '\0' && strcmp(list[i], word) == 0) {
			*out = (uint8_t)i;
			return true;
		}
	}
	return false;
}

static bool read_flags(const char *word, struct seq_step *t)
{
	uint8_t flags = 0;

	if (strspn(word, "FSRPAU0") != strlen(word))
		return false;
	for (; *word != '\0'; word++)
		if (*word != '0')
			flags |= (uint8_t)(1U << (strchr(flag_letters, *word) - flag_letters));
	t->kind = SEQ_TCP;
	t->tcp.flags = flags;
	t->tcp.win = 10000;
	t->tcp.scale = SEQ_NO_SCALE;
	return true;
}

static bool read_chunks(char *list, struct seq_sctp *h)
{
	char *save = NULL;

	for (char *w = strtok_r(list, ",", &save); w != NULL; w = strtok_r(NULL, ",", &save)) {
		char *bang = strchr(w, '!'), *slash = strchr(w, '/');
		uint8_t type;

		if (h->n == SEQ_CHUNKS_MAX)
			return false;
		if (bang != NULL)
			*bang = '\0';
		if (slash != NULL)
			*slash = '\0';
		if (!index_in(w, chunks, ARRAY_LEN(chunks), &type))
			type = (uint8_t)strtoul(w, NULL, 0);
		h->chunk[h->n].type = type;
		h->chunk[h->n].empty = bang != NULL;
		if (slash != NULL)
			h->chunk[h->n].flags = (uint8_t)strtoul(slash + 1, NULL, 0);
		h->n++;
	}
	return true;
}

/* "A/B" */
static void read_pair(const char *v, uint8_t *a, uint8_t *b)
{
	char *end;

	*a = (uint8_t)strtoul(v, &end, 0);
	if (*end == '/')
		*b = (uint8_t)strtoul(end + 1, NULL, 0);
}

static bool read_kind(struct seq_step *t, char *word)
{
	char *v = strchr(word, '=');

	if (read_flags(word, t))
		return true;
	v = v == NULL ? word + strlen(word) : v + 1;
	if (strcmp(word, "udp") == 0) {
		t->kind = SEQ_UDP;
	} else if (strcmp(word, "udplite") == 0) {
		t->kind = SEQ_UDPLITE;
	} else if (strncmp(word, "icmp=", 5) == 0) {
		t->kind = SEQ_ICMP;
		read_pair(v, &t->icmp.type, &t->icmp.code);
	} else if (strncmp(word, "sctp=", 5) == 0) {
		t->kind = SEQ_SCTP;
		return read_chunks(v, &t->sctp);
	} else if (strncmp(word, "gre=", 4) == 0) {
		t->kind = SEQ_GRE;
		t->gre.proto = 0x0800;
		read_pair(v, &t->gre.version, &t->gre.flags);
	} else if (strncmp(word, "proto=", 6) == 0) {
		t->kind = SEQ_OTHER;
		t->other.proto = (uint8_t)strtoul(v, NULL, 0);
	} else if (strncmp(word, "err=", 4) == 0) {
		t->kind = SEQ_ERROR;
		read_pair(v, &t->error.type, &t->error.code);
	} else {
		return false;
	}
	return true;
}

/* seq=N seq+N seq-N, the same for ack */
static bool read_number(struct reader *r, const char *word)
{
	bool is_seq = strncmp(word, "seq", 3) == 0;
	uint32_t v = (uint32_t)strtoll(word + 4, NULL, 0);

	if (word[3] == '-')
		v = 0 - v;
	if (is_seq) {
		r->has_seq = true;
		r->seq_abs = word[3] == '=';
		r->seq = v;
	} else {
		r->has_ack = true;
		r->ack_abs = word[3] == '=';
		r->ack = v;
	}
	return word[3] == '=' || word[3] == '+' || word[3] == '-';
}

static bool read_value(struct seq_step *t, const char *word)
{
	const char *eq = strchr(word, '=');
	unsigned int v = eq == NULL ? 0 : (unsigned int)strtoul(eq + 1, NULL, 0);
	size_t n = eq == NULL ? strlen(word) : (size_t)(eq - word);
	const struct {
		const char *name;
		uint8_t *small;
		uint16_t *big;
	} names[] = { { "len", NULL, &t->len }, { "win", NULL, &t->tcp.win },
		{ "ws", &t->tcp.scale, NULL }, { "flow", &t->flow, NULL },
		{ "pieces", &t->pieces, NULL }, { "of", &t->error.of, NULL },
		{ "quote", NULL, &t->error.cut }, { "init", &t->sctp.init, NULL },
		{ "pinit", &t->sctp.peer_init, NULL }, { "gproto", NULL, &t->gre.proto } };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strlen(names[i].name) != n || strncmp(names[i].name, word, n) != 0)
			continue;
		if (names[i].small != NULL)
			*names[i].small = (uint8_t)v;
		else
			*names[i].big = (uint16_t)v;
		return eq != NULL;
	}
	return false;
}

static bool read_word(struct reader *r, const char *word)
{
	struct seq_step *t = r->t;
	char *end;

	if (strncmp(word, "seq", 3) == 0 || strncmp(word, "ack", 3) == 0)
		return read_number(r, word);
	if (strcmp(word, "sackok") == 0 && t->kind == SEQ_TCP)
		return t->tcp.sack_ok = true;
	if (strncmp(word, "sack=", 5) == 0 && t->kind == SEQ_TCP) {
		t->tcp.n_sack = 1;
		t->tcp.sack_from = (uint32_t)strtoul(word + 5, &end, 0);
		t->tcp.sack_to = *end == '-' ? (uint32_t)strtoul(end + 1, NULL, 0) : 0;
		return true;
	}
	if (strcmp(word, "third") == 0 && t->kind == SEQ_ERROR)
		return t->error.third = true;
	if (strcmp(word, "turned") == 0 && t->kind == SEQ_ERROR)
		return t->error.turned = true;
	return index_in(word, damages, SEQ_DAMAGES, &t->damage)
			|| index_in(word, orders, SEQ_ORDERS, &t->order)
			|| index_in(word, exts, SEQ_EXTS, &t->ext)
			|| (t->kind == SEQ_SCTP && index_in(word, tags, SEQ_TAGS, &t->sctp.tag))
			|| read_value(t, word);
}

static void finish_tcp(struct reader *r)
{
	struct seq_step *t = r->t;
	uint32_t *next = r->next[t->flow % SEQ_FLOWS];
	uint32_t ack = next[!t->from];

	t->tcp.seq = next[t->from];
	if (r->has_seq)
		t->tcp.seq = r->seq_abs ? r->seq : next[t->from] + r->seq;
	t->tcp.ack = t->tcp.flags & SEQ_ACK ? ack : 0;
	if (r->has_ack)
		t->tcp.ack = r->ack_abs ? r->ack : ack + r->ack;
	if (!r->has_seq)
		next[t->from] += t->len + !!(t->tcp.flags & SEQ_SYN) + !!(t->tcp.flags & SEQ_FIN);
}

static bool read_step(struct reader *r, char *text)
{
	char *save = NULL;
	char *word = strtok_r(text, " ", &save);

	r->has_seq = r->has_ack = false;
	if (word == NULL)
		return false;
	if (strcmp(word, "-") == 0)
		return true;
	if (strcmp(word, ">") != 0 && strcmp(word, "<") != 0)
		return false;
	r->t->from = word[0] == '>' ? SEQ_CLIENT : SEQ_SERVER;
	word = strtok_r(NULL, " ", &save);
	if (word == NULL || !read_kind(r->t, word))
		return false;
	while ((word = strtok_r(NULL, " ", &save)) != NULL)
		if (!read_word(r, word))
			return false;
	if (r->t->kind == SEQ_TCP)
		finish_tcp(r);
	return r->t->flow < SEQ_FLOWS;
}

/* what stands in front of the first step: v4 v6 router clientF=PORT,ISN serverF=PORT,ISN */
static bool read_head(struct seq *s, char *text)
{
	char *save = NULL;

	for (char *w = strtok_r(text, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
		bool server = strncmp(w, "server", 6) == 0;
		char *end;
		unsigned int f;

		if (strcmp(w, "v4") == 0 || strcmp(w, "v6") == 0) {
			s->v6 = w[1] == '6';
		} else if (strcmp(w, "router") == 0) {
			s->to_router = true;
		} else if ((server || strncmp(w, "client", 6) == 0) && w[6] != '\0'
				&& w[7] == '=') {
			f = (unsigned int)(w[6] - '0') % SEQ_FLOWS;
			s->port[f][server] = (uint16_t)strtoul(w + 8, &end, 0);
			if (*end == ',')
				s->isn[f][server] = (uint32_t)strtoul(end + 1, NULL, 0);
		} else {
			return false;
		}
	}
	return true;
}

bool seq_read(struct seq *s, const char *text)
{
	struct reader r = { .s = s };
	char *copy = strdup(text), *save = NULL, *part;
	bool ok = copy != NULL;

	memset(s, 0, sizeof(*s));
	for (unsigned int f = 0; f < SEQ_FLOWS; f++) {
		s->port[f][SEQ_CLIENT] = (uint16_t)(40000 + f);
		s->port[f][SEQ_SERVER] = (uint16_t)(80 + f);
		s->isn[f][SEQ_CLIENT] = 1000000;
		s->isn[f][SEQ_SERVER] = 0xfffffff0;
	}
	part = ok ? strtok_r(copy, ";", &save) : NULL;
	if (part != NULL && part[strspn(part, " ")] != '>' && part[strspn(part, " ")] != '<'
			&& part[strspn(part, " ")] != '-') {
		ok = read_head(s, part);
		part = strtok_r(NULL, ";", &save);
	}
	for (; ok && part != NULL; part = strtok_r(NULL, ";", &save)) {
		ok = s->n < SEQ_STEPS_MAX;
		r.t = &s->step[s->n];
		ok = ok && read_step(&r, part);
		s->n += ok;
	}
	free(copy);
	return ok && s->n > 0;
}
