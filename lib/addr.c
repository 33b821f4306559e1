/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum sl_family sl_addr_parse(const char *text, struct sl_addr *addr)
{
	struct sl_addr a = { .q = { 0, 0 } };

	if (inet_pton(AF_INET, text, a.b) == 1) {
		*addr = a;
		return SL_AF_INET;
	}
	if (inet_pton(AF_INET6, text, a.b) == 1) {
		*addr = a;
		return SL_AF_INET6;
	}
	return SL_AF_NONE;
}

int sl_prefix_parse(const char *text, struct sl_prefix *prefix)
{
	const char *slash = strchr(text, '/');
	size_t addr_len = slash == NULL ? strlen(text) : (size_t)(slash - text);
	char addr[SL_ADDR_STRLEN];
	struct sl_prefix p = { .len = 0 };
	unsigned long len;
	char *end;

	if (addr_len >= sizeof(addr))
		return -EINVAL;
	memcpy(addr, text, addr_len);
	addr[addr_len] = '\0';
	p.family = sl_addr_parse(addr, &p.addr);
	if (p.family == SL_AF_NONE)
		return -EINVAL;
	len = sl_addr_bits(p.family);
	if (slash != NULL) {
		/* strtoul would take a sign or blanks */
		if (slash[1] < '0' || slash[1] > '9')
			return -EINVAL;
		len = strtoul(slash + 1, &end, 10);
		if (*end != '\0' || len > sl_addr_bits(p.family))
			return -EINVAL;
	}
	p.len = (uint8_t)len;
	*prefix = p;
	return 0;
}

const char *sl_addr_str(enum sl_family family, const struct sl_addr *addr, char *buf)
{
	if (family == SL_AF_NONE)
		snprintf(buf, SL_ADDR_STRLEN, "-");
	else
		inet_ntop(family == SL_AF_INET ? AF_INET : AF_INET6, addr->b, buf, SL_ADDR_STRLEN);
	return buf;
}

const char *sl_prefix_str(const struct sl_prefix *prefix, char *buf)
{
	size_t n;

	sl_addr_str(prefix->family, &prefix->addr, buf);
	n = strlen(buf);
	snprintf(buf + n, SL_ADDR_STRLEN - n, "/%u", prefix->len);
	return buf;
}

struct sl_addr sl_addr_mask(const struct sl_addr *addr, enum sl_family family, unsigned int len)
{
	unsigned int bytes = sl_addr_bits(family) / 8;
	struct sl_addr a = *addr;

	for (unsigned int i = 0; i < bytes; i++) {
		unsigned int keep = len > i * 8 ? len - i * 8 : 0;

		if (keep < 8)
			a.b[i] &= (uint8_t)(0xff00 >> keep);
	}
	return a;
}

bool sl_prefix_contains(const struct sl_prefix *prefix, const struct sl_addr *addr)
{
	struct sl_addr a = sl_addr_mask(addr, prefix->family, prefix->len);
	struct sl_addr b = sl_addr_mask(&prefix->addr, prefix->family, prefix->len);

	return sl_addr_eq(&a, &b);
}
