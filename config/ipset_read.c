/* SPDX-License-Identifier: BSD-3-Clause */
/* ipset_read.c - the lines of `ipset save` text: create and add, and their options */
#include "config/ipset_build.h"
#include "config/ipt_arena.h"
#include "config/ipt_lex.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 31
#define HASHSIZE_DEFAULT 1024
#define HASHSIZE_MIN 64
#define MAXELEM_DEFAULT 65536
#define LIST_SIZE_DEFAULT 8
#define TIMEOUT_MAX (UINT32_MAX / 1000 / 2)

static const struct type {
	const char *name;
	enum ipset_part parts[IPSET_PARTS_MAX];
} types[] = {
#define IP IPSET_IP
#define NET IPSET_NET
#define PORT IPSET_PORT
#define IP2 IPSET_IP2
#define NET2 IPSET_NET2
#define MAC IPSET_MAC
#define IFACE IPSET_IFACE
#define MARK IPSET_MARK
#define SET IPSET_SET
#define X(id, word, ...) [IPSET_##id] = { .name = word, .parts = { __VA_ARGS__ } },
	IPSET_TYPES(X)
#undef X
#undef IP
#undef NET
#undef PORT
#undef IP2
#undef NET2
#undef MAC
#undef IFACE
#undef MARK
#undef SET
};

const char *ipset_type_name(enum ipset_type type)
{
	return types[type].name;
}

const enum ipset_part *ipset_parts(enum ipset_type type)
{
	return types[type].parts;
}

int ipset_build_find(const struct ipset_build *b, const char *name)
{
	for (uint32_t i = 0; i < b->n_sets; i++)
		if (strcmp(b->sets[i].set.name, name) == 0)
			return i;
	return -ENOENT;
}

/* ---- options ---- */

static bool is_hash(const struct ipset *s)
{
	return strncmp(types[s->type].name, "hash:", 5) == 0;
}

static bool is_bitmap_ip(const struct ipset *s)
{
	return s->type == IPSET_BITMAP_IP || s->type == IPSET_BITMAP_IP_MAC;
}

static int option_number(
		struct ipset_build *b, const char *option, uint64_t min, uint64_t max, uint64_t *v)
{
	const char *arg = ipt_next_arg(&b->cx);

	if (arg == NULL || !ipt_number(arg, NULL, v, min, max))
		return ipt_fail(&b->cx, "%s %s: a number %llu-%llu was expected", option,
				arg != NULL ? arg : "", (unsigned long long)min,
				(unsigned long long)max);
	return 0;
}

static int option_u32(
		struct ipset_build *b, const char *option, uint32_t min, uint32_t max, uint32_t *v)
{
	uint64_t n;

	if (option_number(b, option, min, max, &n) < 0)
		return -EINVAL;
	*v = n;
	return 0;
}

static int option_range(struct ipset_build *b, struct ipset *s)
{
	const char *arg = ipt_next_arg(&b->cx);
	char copy[IPT_ARG_MAX + 1], *dash, *slash;
	struct ipt_addr mask;
	uint64_t len;

	if (arg == NULL)
		return ipt_fail(&b->cx, "range: a-b was expected");
	strcpy(copy, arg); /* no word is longer than IPT_ARG_MAX */
	dash = strchr(copy, '-');
	slash = strchr(copy, '/');
	if (dash != NULL)
		*dash++ = '\0';
	if (s->type == IPSET_BITMAP_PORT) {
		if (dash == NULL || ipt_parse_port(&b->cx, copy, &s->ports.lo) < 0
				|| ipt_parse_port(&b->cx, dash, &s->ports.hi) < 0
				|| s->ports.lo > s->ports.hi)
			return ipt_fail(&b->cx, "range %s: a rising range of ports was expected",
					arg);
		return 0;
	}
	if (slash != NULL)
		*slash++ = '\0';
	if (ipt_parse_host(&b->cx, copy, &s->lo) < 0)
		return -EINVAL;
	if (slash != NULL) {
		if (!ipt_number(slash, NULL, &len, 1, 32))
			return ipt_fail(&b->cx, "range %s: a length of 1-32 was expected", arg);
		ipt_mask_of(IPT_V4, len, &mask);
		s->lo.w[0] &= mask.w[0];
		s->hi.w[0] = s->lo.w[0] | ~mask.w[0];
	} else if (dash == NULL || ipt_parse_host(&b->cx, dash, &s->hi) < 0
			|| s->lo.w[0] > s->hi.w[0]) {
		return ipt_fail(&b->cx, "range %s: a rising range was expected", arg);
	}
	return 0;
}

static int option_family(struct ipset_build *b, struct ipset *s)
{
	const char *arg = ipt_next_arg(&b->cx);

	if (arg != NULL && strcmp(arg, "inet") == 0)
		s->family = IPT_V4;
	else if (arg != NULL && strcmp(arg, "inet6") == 0)
		s->family = IPT_V6;
	else
		return ipt_fail(&b->cx, "family %s: inet or inet6 was expected",
				arg != NULL ? arg : "");
	return 0;
}

static int option_netmask(struct ipset_build *b, struct ipset *s)
{
	uint32_t len;

	if (option_u32(b, "netmask", 1, ipt_addr_bits(s->family), &len) < 0)
		return -EINVAL;
	s->netmask = len;
	s->has_netmask = len != ipt_addr_bits(s->family);
	return 0;
}

static int create_option(struct ipset_build *b, struct ipset *s, const char *o)
{
	bool hash = is_hash(s);

	if (strcmp(o, "timeout") == 0) {
		s->timeout = true;
		return option_u32(b, o, 0, TIMEOUT_MAX, &s->timeout_s);
	}
	if (strcmp(o, "counters") == 0)
		return s->counters = true, 0;
	if (strcmp(o, "comment") == 0)
		return s->comment = true, 0;
	if (strcmp(o, "skbinfo") == 0)
		return s->skbinfo = true, 0;
	if (strcmp(o, "range") == 0 && !hash && s->type != IPSET_LIST_SET)
		return option_range(b, s);
	if (strcmp(o, "size") == 0 && s->type == IPSET_LIST_SET)
		return option_u32(b, o, 1, UINT16_MAX, &s->maxelem);
	if (strcmp(o, "netmask") == 0
			&& (s->type == IPSET_BITMAP_IP || s->type == IPSET_HASH_IP
					|| s->type == IPSET_HASH_IP_PORT))
		return option_netmask(b, s);
	if (strcmp(o, "family") == 0 && s->has_family)
		return option_family(b, s);
	if (strcmp(o, "hashsize") == 0 && hash)
		return option_u32(b, o, 1, INT32_MAX, &s->hashsize);
	if (strcmp(o, "maxelem") == 0 && hash)
		return option_u32(b, o, 0, UINT32_MAX, &s->maxelem);
	if (strcmp(o, "bucketsize") == 0 && hash)
		return option_u32(b, o, 2, 12, &s->bucketsize);
	if (strcmp(o, "initval") == 0 && hash)
		return option_u32(b, o, 0, UINT32_MAX, &s->initval);
	if (strcmp(o, "markmask") == 0
			&& (s->type == IPSET_HASH_MARK || s->type == IPSET_HASH_IP_MARK))
		return option_u32(b, o, 1, UINT32_MAX, &s->markmask);
	if (strcmp(o, "forceadd") == 0 && hash)
		return s->forceadd = true, 0;
	return ipt_fail(&b->cx, "unknown option \"%s\" of type %s", o, types[s->type].name);
}

/* ---- create ---- */

static int find_type(const char *name)
{
	for (int i = 0; i < IPSET_TYPE_NB; i++)
		if (strcmp(types[i].name, name) == 0)
			return i;
	return -ENOENT;
}

static int finish_create(struct ipset_build *b, struct ipset *s)
{
	uint32_t size = HASHSIZE_MIN;

	while (size < s->hashsize && size < 1u << 31)
		size *= 2;
	s->hashsize = size; /* the kernel rounds it up to a power of two */
	if (is_bitmap_ip(s) && s->hi.w[0] == 0)
		return ipt_fail(&b->cx, "type %s: range was expected", types[s->type].name);
	if (s->type == IPSET_BITMAP_PORT && s->ports.hi == 0)
		return ipt_fail(&b->cx, "type %s: range was expected", types[s->type].name);
	if (is_bitmap_ip(s)) {
		if (s->has_netmask)
			s->lo.w[0] &= UINT32_MAX << (32 - s->netmask);
		if ((s->hi.w[0] - s->lo.w[0]) >> (32 - s->netmask) > UINT16_MAX)
			return ipt_fail(&b->cx, "range of more than 65536 members");
		s->maxelem = UINT32_MAX;
	}
	if (s->type == IPSET_BITMAP_PORT)
		s->maxelem = UINT32_MAX;
	return 0;
}

static int create_line(struct ipset_build *b)
{
	const char *name = ipt_next_arg(&b->cx), *word = ipt_next_arg(&b->cx);
	struct ipset s = { .line = b->cx.line, .netmask = 32, .markmask = UINT32_MAX };
	struct ipset_bset *sets;
	int type;

	if (word == NULL || strlen(name) > NAME_MAX_LEN)
		return ipt_fail(&b->cx,
				"create NAME TYPE was expected, the name with at most %d bytes",
				NAME_MAX_LEN);
	type = find_type(word);
	if (type < 0)
		return ipt_fail(&b->cx, "unknown type \"%s\"", word);
	if (ipset_build_find(b, name) >= 0)
		return ipt_fail(&b->cx, "set %s exists", name);
	s.type = type;
	s.has_family = is_hash(&s) && type != IPSET_HASH_MAC && type != IPSET_HASH_MARK;
	s.hashsize = HASHSIZE_DEFAULT;
	s.maxelem = type == IPSET_LIST_SET ? LIST_SIZE_DEFAULT : MAXELEM_DEFAULT;
	b->cx.family = IPT_V4; /* bitmaps know no other */
	for (unsigned int i = b->cx.pos; i + 1 < b->cx.n_words; i++)
		if (strcmp(b->cx.words[i], "family") == 0
				&& strcmp(b->cx.words[i + 1], "inet6") == 0)
			s.netmask = 128;
	s.family = s.netmask == 128 ? IPT_V6 : IPT_V4; /* so that netmask may stand before family */
	while (b->cx.pos < b->cx.n_words)
		if (create_option(b, &s, b->cx.words[b->cx.pos++]) < 0)
			return -EINVAL;
	if (finish_create(b, &s) < 0)
		return -EINVAL;
	if (b->n_sets == b->cap_sets) {
		sets = realloc(b->sets, (2 * b->cap_sets + 8) * sizeof(*sets));
		if (sets == NULL)
			return -ENOMEM;
		b->sets = sets;
		b->cap_sets = 2 * b->cap_sets + 8;
	}
	s.name = ipt_arena_strndup(b->cx.arena, name, strlen(name));
	if (s.name == NULL)
		return -ENOMEM;
	b->sets[b->n_sets++] = (struct ipset_bset){ .set = s };
	return 0;
}

/* ---- add ---- */

static int skb_option(struct ipset_build *b, struct ipset_member *m, const char *o)
{
	static const struct ipt_opt skbmark = IPT_OPT("skbmark", NULL, 0);
	const char *arg = ipt_next_arg(&b->cx);
	unsigned int major, minor;
	uint64_t value, mask;
	int end = -1;

	if (arg == NULL)
		return ipt_fail(&b->cx, "%s: an argument was expected", o);
	if (strcmp(o, "skbmark") == 0) {
		if (ipt_parse_value_mask(&b->cx, &skbmark, arg, UINT32_MAX, &value, &mask) < 0)
			return -EINVAL;
		m->skb |= IPSET_SKB_MARK;
		m->skb_mark = value;
		m->skb_mask = mask;
		return 0;
	}
	if (strcmp(o, "skbprio") == 0) {
		if (sscanf(arg, "%4x:%4x%n", &major, &minor, &end) != 2 || arg[end] != '\0')
			return ipt_fail(&b->cx, "skbprio %s: major:minor was expected", arg);
		m->skb |= IPSET_SKB_PRIO;
		m->skb_prio = major << 16 | minor;
		return 0;
	}
	if (!ipt_number(arg, NULL, &value, 0, UINT16_MAX))
		return ipt_fail(&b->cx, "skbqueue %s: a number 0-65535 was expected", arg);
	m->skb |= IPSET_SKB_QUEUE;
	m->skb_queue = value;
	return 0;
}

static int comment_option(struct ipset_build *b, struct ipset_member *m)
{
	const char *arg = b->cx.pos < b->cx.n_words ? b->cx.words[b->cx.pos++] : NULL;

	if (arg == NULL || strlen(arg) > 255 || strchr(arg, '"') != NULL)
		return ipt_fail(&b->cx, "comment: at most 255 bytes without \" were expected");
	m->comment = ipt_arena_strndup(b->cx.arena, arg, strlen(arg));
	return m->comment != NULL ? 0 : -ENOMEM;
}

static bool has_nomatch(enum ipset_type type)
{
	const enum ipset_part *part = types[type].parts;

	for (; *part != IPSET_END; part++)
		if (*part == IPSET_NET || *part == IPSET_NET2)
			return true;
	return false;
}

static int add_option(
		struct ipset_build *b, const struct ipset *s, struct ipset_member *m, const char *o)
{
	bool skb = strncmp(o, "skb", 3) == 0,
	     count = strcmp(o, "packets") == 0 || strcmp(o, "bytes") == 0;

	if ((strcmp(o, "timeout") == 0 && !s->timeout) || (count && !s->counters)
			|| (strcmp(o, "comment") == 0 && !s->comment) || (skb && !s->skbinfo))
		return ipt_fail(&b->cx, "set %s was created without what \"%s\" needs", s->name, o);
	if (strcmp(o, "timeout") == 0)
		return option_u32(b, o, 0, TIMEOUT_MAX, &m->timeout_s);
	if (strcmp(o, "packets") == 0)
		return option_number(b, o, 0, UINT64_MAX, &m->counters.packets);
	if (strcmp(o, "bytes") == 0)
		return option_number(b, o, 0, UINT64_MAX, &m->counters.bytes);
	if (strcmp(o, "comment") == 0)
		return comment_option(b, m);
	if (strcmp(o, "skbmark") == 0 || strcmp(o, "skbprio") == 0 || strcmp(o, "skbqueue") == 0)
		return skb_option(b, m, o);
	if (strcmp(o, "nomatch") == 0 && has_nomatch(s->type))
		return m->nomatch = true, 0;
	if (strcmp(o, "wildcard") == 0 && s->type == IPSET_HASH_NET_IFACE)
		return m->wildcard = true, 0;
	return ipt_fail(&b->cx, "unknown option \"%s\" of a member of type %s", o,
			types[s->type].name);
}

static int add_line(struct ipset_build *b)
{
	const char *name = ipt_next_arg(&b->cx), *word = ipt_next_arg(&b->cx);
	struct ipset_member m;
	struct ipset_bset *s;
	int i;

	if (word == NULL)
		return ipt_fail(&b->cx, "add NAME MEMBER was expected");
	i = ipset_build_find(b, name);
	if (i < 0)
		return ipt_fail(&b->cx, "there is no set %s", name);
	s = &b->sets[i];
	memset(&m, 0, sizeof(m)); /* also between the fields: keys are compared as bytes */
	m.timeout_s = s->set.timeout_s;
	while (b->cx.pos < b->cx.n_words)
		if (add_option(b, &s->set, &m, b->cx.words[b->cx.pos++]) < 0)
			return -EINVAL;
	return ipset_add_word(b, s, word, &m);
}

/* ---- the file ---- */

static int one_line(struct ipset_build *b, struct ipt_words *words, const char *line, size_t len)
{
	const char *wrong = ipt_lex(line, len, words), *command;
	struct ipt_rule rule = { 0 }; /* where the protocol of ports is noted */

	if (wrong != NULL)
		return ipt_fail(&b->cx, "%s", wrong);
	b->cx.rule = &rule;
	b->cx.words = words->v;
	b->cx.n_words = words->n;
	b->cx.pos = 1;
	if (words->n == 0)
		return 0;
	command = words->v[0];
	if (strcmp(command, "create") == 0 || strcmp(command, "-N") == 0)
		return create_line(b);
	if (strcmp(command, "add") == 0 || strcmp(command, "-A") == 0)
		return add_line(b);
	if (strcmp(command, "COMMIT") == 0 && words->n == 1)
		return 0;
	return ipt_fail(&b->cx, "unknown command \"%s\", create or add was expected", command);
}

static int all_lines(struct ipset_build *b, const char *text, size_t len)
{
	struct ipt_words *words = malloc(sizeof(*words));
	const char *end = text + len, *eol;
	int ret = words != NULL ? 0 : -ENOMEM, one;

	for (const char *line = text; words != NULL && line < end; line = eol + 1) {
		eol = memchr(line, '\n', end - line);
		if (eol == NULL)
			eol = end;
		b->cx.line++;
		if (line == eol || *line == '#')
			continue;
		one = one_line(b, words, line, eol - line);
		if (one < 0)
			ret = one;
		if (one == -ENOMEM)
			break;
	}
	free(words);
	return ret;
}

static int finish(struct ipset_build *b, struct ipset_file *file)
{
	file->sets = ipt_arena_alloc(b->cx.arena, b->n_sets * sizeof(*file->sets) + 1);
	if (file->sets == NULL)
		return -ENOMEM;
	file->n_sets = b->n_sets;
	for (uint32_t i = 0; i < b->n_sets; i++) {
		struct ipset *s = &file->sets[i];

		*s = b->sets[i].set;
		s->members = ipt_arena_dup(
				b->cx.arena, s->members, s->n_members * sizeof(*s->members));
		if (s->members == NULL)
			return -ENOMEM;
	}
	return 0;
}

int ipset_load(const char *path, const char *text, size_t text_len, struct ipset_file **file,
		struct ipt_errors *errors)
{
	struct ipt_load args = { .path = path, .text = text, .text_len = text_len };
	struct ipset_build b = { 0 };
	struct ipset_file *f;
	char *copy;
	size_t len;
	int ret = -ENOMEM;

	*errors = (struct ipt_errors){ 0 };
	b.cx = (struct ipt_ctx){ .args = &args, .errors = errors, .arena = ipt_arena_new() };
	if (b.cx.arena == NULL)
		return -ENOMEM;
	f = ipt_arena_alloc(b.cx.arena, sizeof(*f));
	if (f == NULL)
		goto out;
	ret = ipt_read_text(&args, b.cx.arena, &copy, &len);
	if (ret < 0) {
		ipt_error_add(errors, path, 0, "%s", strerror(-ret));
		goto out;
	}
	ret = all_lines(&b, copy, len);
	if (ret == 0)
		ret = finish(&b, f);
	f->arena = b.cx.arena;
out:
	for (uint32_t i = 0; i < b.n_sets; i++) {
		free(b.sets[i].set.members);
		free(b.sets[i].slots);
	}
	free(b.sets);
	if (ret < 0)
		ipt_arena_free(b.cx.arena);
	else
		*file = f;
	return ret;
}

void ipset_free(struct ipset_file *file)
{
	if (file != NULL)
		ipt_arena_free(file->arena);
}

const struct ipset *ipset_find(const struct ipset_file *file, const char *name)
{
	for (uint32_t i = 0; i < file->n_sets; i++)
		if (strcmp(file->sets[i].name, name) == 0)
			return &file->sets[i];
	return NULL;
}

int ipset_has(void *arg, const char *name, enum ipt_family family)
{
	const struct ipset *s = ipset_find(arg, name);

	if (s == NULL)
		return -ENOENT;
	return s->has_family && s->family != family ? -EAFNOSUPPORT : 0;
}
