/* SPDX-License-Identifier: BSD-3-Clause */
/* The CRC of SCTP (RFC 9260 appendix A), by SSE 4.2 where there is one. */
#include "lib/ip.h"

#include <rte_hash_crc.h>

uint32_t sl_crc32c(const struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	uint32_t crc = UINT32_MAX;

	for (; m != NULL && len > 0; m = m->next) {
		uint32_t n;

		if (off >= m->data_len) {
			off -= m->data_len;
			continue;
		}
		n = RTE_MIN(len, m->data_len - off);
		crc = rte_hash_crc(rte_pktmbuf_mtod_offset(m, const void *, off), n, crc);
		len -= n;
		off = 0;
	}
	return rte_cpu_to_le_32(~crc);
}
