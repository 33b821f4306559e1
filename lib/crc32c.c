/* SPDX-License-Identifier: BSD-3-Clause */
/* The CRC of SCTP (RFC 9260 appendix A), by SSE 4.2 where there is one. */
#include "lib/ip.h"

#include <rte_hash_crc.h>

/* rte_hash_crc() reads words where they lie, aligned or not */
static uint32_t add(const uint8_t *data, uint32_t len, uint32_t crc)
{
	uint64_t word;

	for (; len >= sizeof(word); len -= (uint32_t)sizeof(word), data += sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		crc = rte_hash_crc_8byte(word, crc);
	}
	for (; len > 0; len--)
		crc = rte_hash_crc_1byte(*data++, crc);
	return crc;
}

uint32_t sl_crc32c_more(const struct rte_mbuf *m, uint32_t off, uint32_t len, uint32_t crc)
{
	for (; m != NULL && len > 0; m = m->next) {
		uint32_t n;

		if (off >= m->data_len) {
			off -= m->data_len;
			continue;
		}
		n = RTE_MIN(len, m->data_len - off);
		crc = add(rte_pktmbuf_mtod_offset(m, const uint8_t *, off), n, crc);
		len -= n;
		off = 0;
	}
	return crc;
}

uint32_t sl_crc32c(const struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	return rte_cpu_to_le_32(~sl_crc32c_more(m, off, len, UINT32_MAX));
}
