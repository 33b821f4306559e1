/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum (RFC 1071) and its incremental update (RFC 1624). Sums are taken over bytes
 * as they lie in memory, so neither order needs a swap.
 */
#include "lib/ip.h"

#include <rte_ip.h>

static uint16_t fold(uint64_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

uint16_t sl_csum_bytes(const struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	uint16_t sum;

	/* fails only for a range outside of the packet */
	if (rte_raw_cksum_mbuf(m, off, len, &sum) != 0)
		return 0;
	return sum;
}

uint16_t sl_csum_pseudo(const struct sl_pkt *p, uint8_t proto, uint32_t len)
{
	unsigned int words = p->family == SL_AF_INET ? 1 : 4;
	uint64_t sum = (uint64_t)rte_cpu_to_be_32(len) + rte_cpu_to_be_32(proto);

	for (unsigned int i = 0; i < words; i++)
		sum += (uint64_t)p->src.w[i] + p->dst.w[i];
	return fold(sum);
}

/* RFC 1624, equation 3: HC' = ~(~HC + ~m + m') */
uint16_t sl_csum_update16(uint16_t csum_be, uint16_t old_be, uint16_t new_be)
{
	return (uint16_t)~fold((uint64_t)(uint16_t)~csum_be + (uint16_t)~old_be + new_be);
}

uint16_t sl_csum_update32(uint16_t csum_be, uint32_t old_be, uint32_t new_be)
{
	return (uint16_t)~fold((uint64_t)(uint16_t)~csum_be + (uint32_t)~old_be + new_be);
}
