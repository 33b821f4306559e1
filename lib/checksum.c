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

/* DPDK 22.11's rte_raw_cksum_mbuf() loses carries where a segment ends at an odd byte */
uint16_t sl_csum_bytes(const struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	uint64_t sum = 0;
	bool odd = false;

	for (; m != NULL && len > 0; m = m->next) {
		uint32_t n;
		uint16_t part;

		if (off >= m->data_len) {
			off -= m->data_len;
			continue;
		}
		n = RTE_MIN(len, m->data_len - off);
		part = rte_raw_cksum(rte_pktmbuf_mtod_offset(m, const uint8_t *, off), n);
		sum += odd ? rte_bswap16(part) : part;
		odd ^= n & 1;
		len -= n;
		off = 0;
	}
	return fold(sum);
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
