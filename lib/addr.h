/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses of both families in one 16-byte value, network byte order throughout. An IPv4 address
 * uses the first four bytes and the rest is zero, so that two values of one family compare whole.
 */
#pragma once

#include <rte_byteorder.h>
#include <rte_ether.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The values are the IP version numbers, so that the first nibble of a header is a family. */
enum sl_family {
	SL_AF_NONE = 0,
	SL_AF_INET = 4,
	SL_AF_INET6 = 6,
};

struct sl_addr {
	union {
		uint8_t b[16];
		uint32_t w[4];
		uint64_t q[2];
		rte_be32_t v4;
	};
};

static inline bool sl_addr_eq(const struct sl_addr *a, const struct sl_addr *b)
{
	return ((a->q[0] ^ b->q[0]) | (a->q[1] ^ b->q[1])) == 0;
}

static inline struct sl_addr sl_addr_v4(rte_be32_t v4_be)
{
	struct sl_addr a = { .q = { 0, 0 } };

	a.v4 = v4_be;
	return a;
}

/* an address with the length of its prefix: 0..32 or 0..128 */
struct sl_prefix {
	struct sl_addr addr;
	uint8_t family; /* enum sl_family */
	uint8_t len;
};

/* longest text: an IPv6 address, '/', three digits, NUL */
#define SL_ADDR_STRLEN 51

/**
 * sl_addr_parse() - text to address
 * @text:   dotted quad or RFC 4291 form; nothing else (no names, no short forms)
 * @addr:   result, unused bytes zero
 *
 * Return: the family, or SL_AF_NONE if @text is not an address.
 */
enum sl_family sl_addr_parse(const char *text, struct sl_addr *addr);

/**
 * sl_prefix_parse() - "address/len" to prefix; without "/len" the full length
 *
 * Host bits are kept as written. Return: 0, or -EINVAL.
 */
int sl_prefix_parse(const char *text, struct sl_prefix *prefix);

/* Both write at most SL_ADDR_STRLEN bytes to @buf and return it. */
const char *sl_addr_str(enum sl_family family, const struct sl_addr *addr, char *buf);
const char *sl_prefix_str(const struct sl_prefix *prefix, char *buf);

/* @addr with the bits behind the first @len cleared */
struct sl_addr sl_addr_mask(const struct sl_addr *addr, enum sl_family family, unsigned int len);

/* whether @addr lies in @prefix; the caller sees to it that the families are the same */
bool sl_prefix_contains(const struct sl_prefix *prefix, const struct sl_addr *addr);

static inline unsigned int sl_addr_bits(enum sl_family family)
{
	return family == SL_AF_INET ? 32 : 128;
}
