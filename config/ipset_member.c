/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipset_member.c - the word of an add line: its parts, and the members that its ranges stand for
 *
 * Addresses: a, a-b and a/len are all addresses in between, cut to the set's netmask. Nets: a-b is the
 * smallest number of nets that fill it: 10.0.0.0-10.0.0.9 is 10.0.0.0/29 and 10.0.0.8/31. Ports: a-b are
 * all of them. Several ranges in one word stand for each combination.
 */
#include "config/ipset_build.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define EXPAND_MAX (1u << 24) /* members that one line may stand for */

/* One part of a word: from lo to hi, both included. */
struct span {
	struct ipt_addr lo, hi;
	uint8_t len;
	bool as_net; /* written as one, with its length */
	bool done; /* all pieces were taken */
};

struct word {
	struct span first, second;
	struct ipt_range16 ports;
	uint8_t proto;
};

static uint32_t key_hash(const struct ipset_key *k)
{
	const unsigned char *p = (const unsigned char *)k;
	uint64_t h = 14695981039346656037u; /* FNV-1a, finished by a multiplication */

	for (size_t i = 0; i < sizeof(*k); i++)
		h = (h ^ p[i]) * 1099511628211u;
	return (h ^ h >> 32) * 0x9e3779b1u;
}

static int grow(struct ipset_bset *s)
{
	uint32_t cap = s->cap > 0 ? 2 * s->cap : 64, n = 2 * cap;
	struct ipset_member *members = realloc(s->set.members, cap * sizeof(*members));
	uint32_t *slots;

	if (members == NULL)
		return -ENOMEM;
	s->set.members = members;
	slots = calloc(n, sizeof(*slots));
	if (slots == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->set.n_members; i++) {
		uint32_t at = key_hash(&members[i].key) & (n - 1);

		while (slots[at] != 0)
			at = (at + 1) & (n - 1);
		slots[at] = i + 1;
	}
	free(s->slots);
	s->slots = slots;
	s->n_slots = n;
	s->cap = cap;
	return 0;
}

static int insert(struct ipset_build *b, struct ipset_bset *s, const struct ipset_member *m)
{
	uint32_t at;

	if (s->set.type == IPSET_HASH_IP && ipt_addr_zero(&m->key.addr))
		return ipt_fail(&b->cx, "the address 0 cannot be in set %s", s->set.name);
	if (s->set.n_members == s->set.maxelem)
		return ipt_fail(&b->cx, "set %s is full, it holds %u", s->set.name, s->set.maxelem);
	if (s->set.n_members == s->cap && grow(s) < 0)
		return -ENOMEM;
	at = key_hash(&m->key) & (s->n_slots - 1);
	for (; s->slots[at] != 0; at = (at + 1) & (s->n_slots - 1))
		if (memcmp(&s->set.members[s->slots[at] - 1].key, &m->key, sizeof(m->key)) == 0)
			return ipt_fail(&b->cx, "set %s has this member already", s->set.name);
	s->set.members[s->set.n_members++] = *m;
	s->slots[at] = s->set.n_members;
	return 0;
}

/* ---- parts ---- */

static int parse_span(
		struct ipset_build *b, const struct ipset *s, char *word, bool net, struct span *sp)
{
	struct ipt_ctx *cx = &b->cx;
	char *dash = strchr(word, '-'), *slash = strchr(word, '/');
	unsigned int bits = ipt_addr_bits(s->family);
	struct ipt_addr mask;
	uint64_t len = bits;

	if (dash != NULL && slash == NULL) {
		*dash++ = '\0';
		if (s->family == IPT_V6)
			return ipt_fail(cx, "range of IPv6 addresses, one address was expected");
		if (ipt_parse_host(cx, word, &sp->lo) < 0 || ipt_parse_host(cx, dash, &sp->hi) < 0)
			return -EINVAL;
		if (sp->lo.w[0] > sp->hi.w[0]) {
			struct ipt_addr swap = sp->lo;

			sp->lo = sp->hi;
			sp->hi = swap;
		}
		if (net && sp->lo.w[0] == 0 && sp->hi.w[0] == UINT32_MAX)
			return ipt_fail(cx, "range of all addresses");
		return 0;
	}
	if (slash != NULL) {
		*slash++ = '\0';
		if (!ipt_number(slash, NULL, &len, 0, bits))
			return ipt_fail(cx, "prefix length \"%s\", 0-%u was expected", slash, bits);
		if (s->family == IPT_V6 && !net && len != bits)
			return ipt_fail(cx, "net of IPv6 addresses, one address was expected");
	}
	if (ipt_parse_host(cx, word, &sp->lo) < 0)
		return -EINVAL;
	ipt_mask_of(s->family, len, &mask);
	for (int i = 0; i < 4; i++) {
		sp->lo.w[i] &= mask.w[i];
		sp->hi.w[i] = sp->lo.w[i];
	}
	if (s->family == IPT_V4)
		sp->hi.w[0] |= ~mask.w[0];
	sp->len = len;
	sp->as_net = true;
	if (net && len == 0 && s->type != IPSET_HASH_NET_IFACE && s->type != IPSET_HASH_NET_NET
			&& s->type != IPSET_HASH_NET_PORT_NET)
		return ipt_fail(cx, "%s/0: a length of 1-%u was expected", word, bits);
	return 0;
}

static int parse_icmp(struct ipset_build *b, bool v6, const char *s, struct ipt_range16 *r)
{
	uint64_t type, code = 0;
	const char *end;
	uint8_t t, c;

	if (ipt_icmp_type(v6, s, &t, &c)) {
		r->lo = r->hi = t << 8 | c;
		return 0;
	}

	if (!ipt_number(s, &end, &type, 0, UINT8_MAX) || (*end != '\0' && *end != '/')
			|| (*end == '/' && !ipt_number(end + 1, NULL, &code, 0, UINT8_MAX)))
		return ipt_fail(&b->cx, "ICMP type \"%s\", a name or type/code was expected", s);
	r->lo = r->hi = type << 8 | code;
	return 0;
}

/* [proto:]port[-port]; tcp where no protocol is given */
static int parse_port(struct ipset_build *b, const struct ipset *s, char *word, struct word *w)
{
	char *colon = strchr(word, ':'), *dash;
	uint16_t proto = IPPROTO_TCP;

	if (colon != NULL) {
		*colon++ = '\0';
		if (ipt_parse_proto(&b->cx, word, &proto) < 0)
			return -EINVAL;
		word = colon;
	}
	w->proto = s->type == IPSET_BITMAP_PORT ? 0 : proto;
	if (proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6)
		return parse_icmp(b, proto == IPPROTO_ICMPV6, word, &w->ports);
	b->cx.rule->proto = proto;
	dash = strchr(word, '-');
	if (dash != NULL && word[0] >= '0' && word[0] <= '9')
		*dash++ = '\0';
	else
		dash = NULL;
	if (ipt_parse_port(&b->cx, word, &w->ports.lo) < 0)
		return -EINVAL;
	w->ports.hi = w->ports.lo;
	if (dash != NULL && ipt_parse_port(&b->cx, dash, &w->ports.hi) < 0)
		return -EINVAL;
	if (w->ports.lo > w->ports.hi)
		return ipt_fail(&b->cx, "range of ports %s-%s is not rising", word, dash);
	if (proto != IPPROTO_TCP && proto != IPPROTO_UDP && proto != IPPROTO_SCTP
			&& proto != IPPROTO_UDPLITE && w->ports.hi != 0)
		return ipt_fail(&b->cx, "protocol without ports, port 0 was expected");
	return 0;
}

static int parse_mac(struct ipset_build *b, const char *word, struct ipset_member *m)
{
	unsigned int v[6];
	int end = -1;

	if (sscanf(word, "%2x:%2x:%2x:%2x:%2x:%2x%n", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
			    &end) != 6
			|| word[end] != '\0')
		return ipt_fail(&b->cx, "link address \"%s\", XX:XX:XX:XX:XX:XX was expected",
				word);
	for (int i = 0; i < 6; i++)
		m->key.mac[i] = v[i];
	m->has_mac = true;
	return 0;
}

static int parse_iface(struct ipset_build *b, const char *word, struct ipset_member *m)
{
	if (strncmp(word, "physdev:", 8) == 0) {
		m->key.physdev = 1;
		word += 8;
	}
	if (*word == '\0' || strlen(word) >= sizeof(m->key.iface))
		return ipt_fail(&b->cx, "interface \"%s\", a name of 1-%d bytes was expected", word,
				IPT_IFNAME_LEN - 1);
	strcpy(m->key.iface, word);
	return 0;
}

static int parse_part(struct ipset_build *b, const struct ipset *s, enum ipset_part part,
		char *text, struct word *w, struct ipset_member *m)
{
	uint64_t mark;
	int set;

	switch (part) {
	case IPSET_IP:
	case IPSET_NET:
		return parse_span(b, s, text, part == IPSET_NET, &w->first);
	case IPSET_IP2:
	case IPSET_NET2:
		return parse_span(b, s, text, part == IPSET_NET2, &w->second);
	case IPSET_PORT:
		return parse_port(b, s, text, w);
	case IPSET_MAC:
		return parse_mac(b, text, m);
	case IPSET_IFACE:
		return parse_iface(b, text, m);
	case IPSET_MARK:
		if (!ipt_number(text, NULL, &mark, 0, UINT32_MAX))
			return ipt_fail(&b->cx, "mark \"%s\", a number was expected", text);
		m->key.mark = mark & s->markmask;
		return 0;
	case IPSET_SET:
		set = ipset_build_find(b, text);
		if (set < 0)
			return ipt_fail(&b->cx, "there is no set %s", text);
		if (b->sets[set].set.type == IPSET_LIST_SET)
			return ipt_fail(&b->cx, "set %s is a list itself", text);
		m->key.set = set;
		return 0;
	case IPSET_END:
		break;
	}
	return -EINVAL;
}

/* ---- from ranges to members ---- */

/* The largest net that begins at lo and does not reach behind hi. */
static uint8_t net_at(uint32_t lo, uint32_t hi)
{
	uint8_t len = 32;

	while (len > 1) {
		uint32_t size = UINT32_C(1) << (33 - len); /* of the next larger net */

		if ((lo & (size - 1)) != 0 || hi - lo < size - 1)
			break;
		len--;
	}
	return len;
}

static void cut(const struct ipset *s, struct ipt_addr *a)
{
	struct ipt_addr mask;

	ipt_mask_of(s->family, s->netmask, &mask);
	for (int i = 0; i < 4; i++)
		a->w[i] &= mask.w[i];
}

/* Take one piece off the front of a span. Return: false when nothing is left. */
static bool next_piece(const struct ipset *s, bool net, struct span *sp, struct ipt_addr *addr,
		uint8_t *len)
{
	uint64_t next;

	if (sp->done)
		return false;
	if (s->family == IPT_V6 || (net && sp->as_net)) {
		*addr = sp->lo;
		*len = net ? sp->len : s->netmask;
		if (!net)
			cut(s, addr);
		sp->done = true;
		return true;
	}
	*len = net ? net_at(sp->lo.w[0], sp->hi.w[0]) : s->netmask;
	*addr = sp->lo;
	if (!net)
		cut(s, addr);
	next = (uint64_t)addr->w[0] + (UINT64_C(1) << (32 - *len));
	sp->done = next > sp->hi.w[0];
	sp->lo.w[0] = next;
	return true;
}

/* Combine: each first address with each port with each second one. */
static int combine(struct ipset_build *b, struct ipset_bset *s, const struct word *w,
		struct ipset_member *m)
{
	const enum ipset_part *parts = ipset_parts(s->set.type);
	bool net1 = false, net2 = false, one = false, two = false;
	struct span first = w->first, second;
	uint32_t count = 0;
	int ret;

	for (; *parts != IPSET_END; parts++) {
		net1 |= *parts == IPSET_NET;
		one |= *parts == IPSET_NET || *parts == IPSET_IP;
		net2 |= *parts == IPSET_NET2;
		two |= *parts == IPSET_NET2 || *parts == IPSET_IP2;
	}
	do {
		if (one && !next_piece(&s->set, net1, &first, &m->key.addr, &m->key.len))
			return 0;
		for (uint32_t port = w->ports.lo; port <= w->ports.hi; port++) {
			m->key.port = port;
			m->key.proto = w->proto;
			second = w->second;
			do {
				if (two
						&& !next_piece(&s->set, net2, &second,
								&m->key.addr2, &m->key.len2))
					break;
				if (++count > EXPAND_MAX)
					return ipt_fail(&b->cx, "more than %u members in one line",
							EXPAND_MAX);
				ret = insert(b, s, m);
				if (ret < 0)
					return ret;
			} while (two);
		}
	} while (one);
	return 0;
}

static int check_bitmap(struct ipset_build *b, const struct ipset *s, const struct word *w)
{
	if ((s->type == IPSET_BITMAP_IP || s->type == IPSET_BITMAP_IP_MAC)
			&& (w->first.lo.w[0] < s->lo.w[0] || w->first.hi.w[0] > s->hi.w[0]))
		return ipt_fail(&b->cx, "address outside of the range of set %s", s->name);
	if (s->type == IPSET_BITMAP_PORT
			&& (w->ports.lo < s->ports.lo || w->ports.hi > s->ports.hi))
		return ipt_fail(&b->cx, "port outside of the range of set %s", s->name);
	return 0;
}

int ipset_add_word(struct ipset_build *b, struct ipset_bset *s, const char *word,
		const struct ipset_member *like)
{
	const enum ipset_part *part = ipset_parts(s->set.type);
	struct ipset_member m = *like;
	char copy[IPT_ARG_MAX + 1], *next = copy, *text;
	struct word w = { 0 };

	b->cx.family = s->set.family;
	strcpy(copy, word); /* no word is longer than IPT_ARG_MAX */
	while ((text = strsep(&next, ",")) != NULL) {
		if (*part == IPSET_END)
			return ipt_fail(&b->cx, "\"%s\": more parts than %s has", word,
					ipset_type_name(s->set.type));
		if (parse_part(b, &s->set, *part++, text, &w, &m) < 0)
			return -EINVAL;
	}
	if (*part != IPSET_END && !(s->set.type == IPSET_BITMAP_IP_MAC && *part == IPSET_MAC))
		return ipt_fail(&b->cx, "\"%s\": fewer parts than %s has", word,
				ipset_type_name(s->set.type));
	if (check_bitmap(b, &s->set, &w) < 0)
		return -EINVAL;
	return combine(b, s, &w, &m);
}
