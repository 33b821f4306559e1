/* SPDX-License-Identifier: BSD-3-Clause */
#include "describe.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

static unsigned int be16(const uint8_t *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

static void ip4(FILE *f, const uint8_t *p, size_t len);
static void ip6(FILE *f, const uint8_t *p, size_t len);

static void icmp(FILE *f, const uint8_t *p, size_t len, bool v6)
{
	bool error = v6 ? p[0] < 128 : p[0] == 3 || p[0] == 5 || p[0] == 11 || p[0] == 12;

	if (len < 8)
		return;
	fprintf(f, " icmp %u/%u rest %02x%02x%02x%02x", p[0], p[1], p[4], p[5], p[6], p[7]);
	if (!error)
		return;
	fprintf(f, " quotes %zu {", len - 8);
	if (v6)
		ip6(f, p + 8, len - 8);
	else
		ip4(f, p + 8, len - 8);
	fprintf(f, " }");
}

static void layer4(FILE *f, unsigned int proto, const uint8_t *p, size_t len)
{
	if ((proto == IPPROTO_UDP || proto == 136) && len >= 8)
		fprintf(f, " %s %u>%u len %u sum %04x", proto == IPPROTO_UDP ? "udp" : "udplite",
				be16(p), be16(p + 2), be16(p + 4), be16(p + 6));
	else if (proto == IPPROTO_TCP && len >= 20)
		fprintf(f, " tcp %u>%u flags %02x doff %u", be16(p), be16(p + 2), p[13],
				p[12] >> 4);
	else if (proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6)
		icmp(f, p, len, proto == IPPROTO_ICMPV6);
	else
		fprintf(f, " proto %u", proto);
}

static void ip4(FILE *f, const uint8_t *p, size_t len)
{
	char src[INET_ADDRSTRLEN], dst[INET_ADDRSTRLEN];
	size_t ihl = (p[0] & 15) * 4u;

	if (len < 20) {
		fprintf(f, " ip cut at %zu", len);
		return;
	}
	inet_ntop(AF_INET, p + 12, src, sizeof(src));
	inet_ntop(AF_INET, p + 16, dst, sizeof(dst));
	fprintf(f, " ip %s>%s", src, dst);
	if (p[0] >> 4 != 4)
		fprintf(f, " version %u", p[0] >> 4);
	if (ihl != 20)
		fprintf(f, " ihl %zu", ihl);
	fprintf(f, " total %u/%zu ttl %u tos %02x id %04x", be16(p + 2), len, p[8], p[1],
			be16(p + 4));
	if (be16(p + 6) != 0)
		fprintf(f, " frag %s%s%u", p[6] & 0x40 ? "DF " : "", p[6] & 0x20 ? "MF " : "",
				(be16(p + 6) & 0x1fff) * 8);
	if (ihl > 20 && ihl <= len) {
		fprintf(f, " options ");
		for (size_t i = 20; i < ihl; i++)
			fprintf(f, "%02x", p[i]);
	}
	if (ihl >= 20 && ihl <= len && (be16(p + 6) & 0x1fff) == 0)
		layer4(f, p[9], p + ihl, len - ihl);
}

static void ip6(FILE *f, const uint8_t *p, size_t len)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	unsigned int next;
	size_t at = 40;

	if (len < 40) {
		fprintf(f, " ip6 cut at %zu", len);
		return;
	}
	next = p[6];
	inet_ntop(AF_INET6, p + 8, src, sizeof(src));
	inet_ntop(AF_INET6, p + 24, dst, sizeof(dst));
	fprintf(f, " ip6 %s>%s payload %u/%zu hops %u class %x", src, dst, be16(p + 4), len - 40,
			p[7], be16(p) >> 4 & 0xff);
	while ((next == 0 || next == 43 || next == 44 || next == 51 || next == 60)
			&& at + 8 <= len) {
		size_t size = (p[at + 1] + 1u) * 8;

		if (next == 44)
			size = 8;
		else if (next == 51)
			size = (p[at + 1] + 2u) * 4;
		fprintf(f, " [%u:", next);
		for (size_t i = at; i < at + size && i < len && i < at + 24; i++)
			fprintf(f, "%02x", p[i]);
		fprintf(f, "]");
		if (next == 44 && (be16(p + at + 2) & 0xfff8) != 0)
			return;
		next = p[at];
		at += size;
	}
	if (at <= len)
		layer4(f, next, p + at, len - at);
}

void describe(FILE *f, const uint8_t *p, size_t len)
{
	unsigned int type;

	if (len < 14) {
		fprintf(f, "frame of %zu bytes", len);
		return;
	}
	type = be16(p + 12);
	fprintf(f, "%02x:%02x>%02x:%02x", p[10], p[11], p[4], p[5]);
	if (type == 0x0800)
		ip4(f, p + 14, len - 14);
	else if (type == 0x86dd)
		ip6(f, p + 14, len - 14);
	else
		fprintf(f, " type %04x, %zu bytes", type, len - 14);
}

void describe_hex(FILE *f, const uint8_t *p, size_t len, const uint8_t *other, size_t other_len)
{
	for (size_t row = 0; row < len; row += 16) {
		size_t n = len - row < 16 ? len - row : 16;
		bool same = other == NULL
				|| (row + n <= other_len && memcmp(p + row, other + row, n) == 0);

		fprintf(f, "    %c %04zx ", same ? ' ' : '*', row);
		for (size_t i = row; i < row + n; i++)
			fprintf(f, " %02x", p[i]);
		fprintf(f, "\n");
	}
}
