/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_words.c - single words into numbers, addresses, ports, protocols, and back */
#include "config/ipt_ext.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* As strtoull with base 0 and an upper limit: 10, 0xa, 012, also blanks in front. */
bool ipt_number(const char *s, const char **end, uint64_t *v, uint64_t min, uint64_t max)
{
	unsigned long long n;
	char *e;

	errno = 0;
	n = strtoull(s, &e, 0);
	if (e == s || errno == ERANGE || n < min || n > max)
		return false;
	/* strtoull takes "-1" for a large number; nothing that we read may be negative */
	while (isspace((unsigned char)*s))
		s++;
	if (*s == '-' && n != 0)
		return false;
	if (end != NULL)
		*end = e;
	else if (*e != '\0')
		return false;
	*v = n;
	return true;
}

/* Protocols that iptables knows also where /etc/protocols does not. */
static const struct ipt_name builtin_protos[] = {
	{ "tcp", IPPROTO_TCP },
	{ "udp", IPPROTO_UDP },
	{ "udplite", IPPROTO_UDPLITE },
	{ "icmp", IPPROTO_ICMP },
	{ "icmpv6", IPPROTO_ICMPV6 },
	{ "ipv6-icmp", IPPROTO_ICMPV6 },
	{ "esp", IPPROTO_ESP },
	{ "ah", IPPROTO_AH },
	{ "sctp", IPPROTO_SCTP },
	{ "ipv6-mh", IPPROTO_MH },
	{ "mh", IPPROTO_MH },
	{ "all", 0 },
	{ NULL, 0 },
};

/* The name of a protocol, from /etc/protocols where it has one; each is looked up once. */
const char *ipt_proto_name(uint16_t proto)
{
	static char *names[256];
	static bool known[256];
	const struct protoent *pe;

	if (proto > 255)
		return NULL;
	if (!known[proto]) {
		pe = getprotobynumber(proto);
		if (pe != NULL) {
			names[proto] = strdup(pe->p_name);
		} else {
			const char *s = ipt_name_of(builtin_protos, proto);

			names[proto] = s != NULL ? strdup(s) : NULL;
		}
		known[proto] = true;
	}
	return names[proto];
}

int ipt_parse_proto(struct ipt_ctx *cx, const char *s, uint16_t *proto)
{
	const struct ipt_name *n;
	const struct protoent *pe;
	uint64_t v;
	char lower[32];
	size_t i;

	if (ipt_number(s, NULL, &v, 0, UINT8_MAX)) {
		*proto = v;
		return 0;
	}
	for (i = 0; i < sizeof(lower) - 1 && s[i] != '\0'; i++)
		lower[i] = tolower((unsigned char)s[i]);
	lower[i] = '\0';
	if (s[i] != '\0' || i == 0)
		goto unknown;
	n = ipt_name_find(builtin_protos, lower, false);
	if (n != NULL) {
		*proto = n->value;
		return 0;
	}
	pe = getprotobyname(lower);
	if (pe != NULL && pe->p_proto >= 0 && pe->p_proto <= UINT8_MAX) {
		*proto = pe->p_proto;
		return 0;
	}
unknown:
	return ipt_fail(cx, "unknown protocol \"%s\", a number 0-255 or a name was expected", s);
}

bool ipt_service_port(const char *name, uint16_t proto, uint16_t *port)
{
	const struct servent *se = getservbyname(name, proto != 0 ? ipt_proto_name(proto) : NULL);

	if (se == NULL)
		return false;
	*port = ntohs(se->s_port);
	return true;
}

int ipt_parse_port(struct ipt_ctx *cx, const char *s, uint16_t *port)
{
	uint64_t v;

	if (ipt_number(s, NULL, &v, 0, UINT16_MAX)) {
		*port = v;
		return 0;
	}
	if (*s != '\0' && ipt_service_port(s, cx->rule->proto, port))
		return 0;
	return ipt_fail(cx, "invalid port \"%s\", a number 0-65535 or a service name was expected",
			s);
}

bool ipt_addr_zero(const struct ipt_addr *a)
{
	return (a->w[0] | a->w[1] | a->w[2] | a->w[3]) == 0;
}

void ipt_mask_of(enum ipt_family family, unsigned int len, struct ipt_addr *mask)
{
	unsigned int words = ipt_addr_bits(family) / 32;

	*mask = (struct ipt_addr){ 0 };
	for (unsigned int i = 0; i < words && len > 0; i++) {
		unsigned int n = len < 32 ? len : 32;

		mask->w[i] = UINT32_MAX << (32 - n);
		len -= n;
	}
}

int ipt_mask_len(enum ipt_family family, const struct ipt_addr *mask)
{
	unsigned int bits = ipt_addr_bits(family), len = 0;
	struct ipt_addr want;

	while (len < bits && (mask->w[len / 32] << (len % 32) & 0x80000000u))
		len++;
	ipt_mask_of(family, len, &want);
	return memcmp(&want, mask, sizeof(want)) == 0 ? (int)len : -1;
}

static bool parse_v6(const char *s, struct ipt_addr *a)
{
	uint32_t be[4];

	while (isspace((unsigned char)*s))
		s++;
	if (inet_pton(AF_INET6, s, be) != 1)
		return false;
	for (int i = 0; i < 4; i++)
		a->w[i] = ntohl(be[i]);
	return true;
}

/*
 * Up to four bytes between dots, each a number of any base. Fewer than four stand for a network, so
 * that 10.1 is 10.1.0.0; a mask has to have all four. One number above 255 is the whole address.
 */
static bool parse_v4(const char *s, bool whole, struct ipt_addr *a)
{
	uint32_t addr = 0;
	uint64_t byte;
	int i;

	for (i = 0; i < 4; i++) {
		if (!ipt_number(s, &s, &byte, 0, UINT8_MAX))
			break;
		addr |= (uint32_t)byte << (24 - 8 * i);
		if (*s == '\0') {
			*a = (struct ipt_addr){ .w = { addr } };
			return i == 3 || !whole;
		}
		if (*s++ != '.')
			return false;
	}
	if (i == 0 && !whole && ipt_number(s, NULL, &byte, 256, UINT32_MAX)) {
		*a = (struct ipt_addr){ .w = { (uint32_t)byte } };
		return true;
	}
	return false;
}

static int bad_addr(struct ipt_ctx *cx, const char *s)
{
	struct ipt_addr other;
	const char *want = cx->family == IPT_V4 ? "an IPv4 address" : "an IPv6 address";

	if (cx->family == IPT_V4 ? parse_v6(s, &other) : parse_v4(s, true, &other))
		return ipt_fail(cx, "address \"%s\" is of the other family, %s was expected", s,
				want);
	if (isalpha((unsigned char)*s) && strchr(s, ':') == NULL)
		return ipt_fail(cx, "host name \"%s\": names are not looked up, %s was expected", s,
				want);
	return ipt_fail(cx, "invalid address \"%s\", %s was expected", s, want);
}

int ipt_parse_addr(struct ipt_ctx *cx, const char *s, struct ipt_addr *a)
{
	if (cx->family == IPT_V4 ? parse_v4(s, false, a) : parse_v6(s, a))
		return 0;
	return bad_addr(cx, s);
}

/* An address of which no part may be left out. */
int ipt_parse_host(struct ipt_ctx *cx, const char *s, struct ipt_addr *a)
{
	if (cx->family == IPT_V4 ? parse_v4(s, true, a) : parse_v6(s, a))
		return 0;
	return bad_addr(cx, s);
}

int ipt_parse_mask(struct ipt_ctx *cx, const char *s, struct ipt_addr *mask)
{
	uint64_t len;

	if (cx->family == IPT_V4 ? parse_v4(s, true, mask) : parse_v6(s, mask))
		return 0;
	if (ipt_number(s, NULL, &len, 0, ipt_addr_bits(cx->family))) {
		ipt_mask_of(cx->family, len, mask);
		return 0;
	}
	return ipt_fail(cx, "invalid mask \"%s\", a length 0-%u or a mask was expected", s,
			ipt_addr_bits(cx->family));
}

int ipt_parse_hostmask(struct ipt_ctx *cx, const char *s, bool whole, struct ipt_addr *a,
		struct ipt_addr *mask)
{
	const char *slash = strchr(s, '/');
	char host[IPT_ARG_MAX + 1];
	size_t len;

	if (slash == NULL) {
		ipt_mask_of(cx->family, ipt_addr_bits(cx->family), mask);
		return whole ? ipt_parse_host(cx, s, a) : ipt_parse_addr(cx, s, a);
	}
	len = slash - s;
	if (len >= sizeof(host))
		return ipt_fail(cx, "address longer than %u bytes", IPT_ARG_MAX);
	memcpy(host, s, len);
	host[len] = '\0';
	if ((whole ? ipt_parse_host(cx, host, a) : ipt_parse_addr(cx, host, a)) < 0)
		return -EINVAL;
	return ipt_parse_mask(cx, slash + 1, mask);
}

int ipt_parse_iface(struct ipt_ctx *cx, const char *s, struct ipt_iface *i)
{
	size_t len = strlen(s);

	if (len == 0)
		return ipt_fail(cx, "empty interface name");
	if (len >= IPT_IFNAME_LEN)
		return ipt_fail(cx, "interface name \"%s\" is longer than %d bytes", s,
				IPT_IFNAME_LEN - 1);
	*i = (struct ipt_iface){ .given = true };
	if (s[len - 1] == '+') {
		i->wild = true;
		len--;
	}
	memcpy(i->name, s, len);
	i->len = len;
	return 0;
}

/* v or v/m. The mask is `max` where none is given. */
int ipt_parse_value_mask(struct ipt_ctx *cx, const struct ipt_opt *o, const char *s, uint64_t max,
		uint64_t *value, uint64_t *mask)
{
	const char *end;

	*mask = max;
	if (ipt_number(s, &end, value, 0, max)
			&& (*end == '\0'
					|| (*end == '/'
							&& ipt_number(end + 1, NULL, mask, 0,
									max))))
		return 0;
	return ipt_fail(cx, "--%s %s: value[/mask] was expected, each 0-0x%llx", o->name, s,
			(unsigned long long)max);
}

const struct ipt_name *ipt_name_find(const struct ipt_name *names, const char *s, bool any_case)
{
	for (; names->name != NULL; names++)
		if ((any_case ? strcasecmp(names->name, s) : strcmp(names->name, s)) == 0)
			return names;
	return NULL;
}

const char *ipt_name_of(const struct ipt_name *names, uint32_t value)
{
	for (; names->name != NULL; names++)
		if (names->value == value)
			return names->name;
	return NULL;
}

/* A list of names with commas between them, upper or lower case; values are ORed. */
int ipt_parse_bits(struct ipt_ctx *cx, const struct ipt_opt *o, const char *s,
		const struct ipt_name *names, uint32_t *bits)
{
	char word[IPT_ARG_MAX + 1];
	const struct ipt_name *n;
	size_t len;

	*bits = 0;
	for (;;) {
		len = strcspn(s, ",");
		if (len >= sizeof(word))
			return ipt_fail(cx, "--%s: word longer than %u bytes", o->name,
					IPT_ARG_MAX);
		memcpy(word, s, len);
		word[len] = '\0';
		n = ipt_name_find(names, word, true);
		if (n == NULL)
			return ipt_fail(cx,
					"--%s: unknown word \"%s\", a list of names like %s was expected",
					o->name, word, names->name);
		*bits |= n->value;
		if (s[len] == '\0')
			return 0;
		s += len + 1;
	}
}

/* The names whose bits are all in `bits`, each bit once. */
void ipt_print_bits(FILE *f, const struct ipt_name *names, uint32_t bits)
{
	const char *sep = " ";

	for (; names->name != NULL; names++) {
		if (names->value == 0 || (bits & names->value) != names->value)
			continue;
		fprintf(f, "%s%s", sep, names->name);
		bits &= ~names->value;
		sep = ",";
	}
}

void ipt_print_quoted(FILE *f, const char *s)
{
	fputs(" \"", f);
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\' || *s == '\'')
			fputc('\\', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

void ipt_print_string(FILE *f, const char *s)
{
	size_t bare = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	if (bare == 0 || s[bare] != '\0')
		ipt_print_quoted(f, s);
	else
		fprintf(f, " %s", s);
}

void ipt_print_addr(FILE *f, enum ipt_family family, const struct ipt_addr *a)
{
	char buf[INET6_ADDRSTRLEN];
	uint32_t be[4];

	for (int i = 0; i < 4; i++)
		be[i] = htonl(a->w[i]);
	inet_ntop(family == IPT_V4 ? AF_INET : AF_INET6, be, buf, sizeof(buf));
	fputs(buf, f);
}

void ipt_print_iface(FILE *f, const struct ipt_iface *i)
{
	fwrite(i->name, 1, i->len, f);
	if (i->wild)
		fputc('+', f);
}
