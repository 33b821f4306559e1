/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ip.h"

#include <rte_tcp.h>

/* the option that signs a segment; the kernel looks no further where it would not fit */
#define OPTION_MD5 19
#define MD5_LEN 18
#define OPTIONS_MAX 40

bool sl_tcp_may_reset(const struct rte_mbuf *m, uint32_t l4_off, const struct rte_tcp_hdr *tcp)
{
	uint32_t len = (tcp->data_off >> 4) * 4U - (uint32_t)sizeof(*tcp);
	uint8_t opt[OPTIONS_MAX];

	if (!sl_pkt_copy(m, l4_off + (uint32_t)sizeof(*tcp), len, opt))
		return false;
	for (uint32_t i = 0; len - i >= MD5_LEN && opt[i] != 0;) {
		if (opt[i] == 1) {
			i++;
			continue;
		}
		if (opt[i + 1] < 2 || opt[i + 1] > len - i || opt[i] == OPTION_MD5)
			return false;
		i += opt[i + 1];
	}
	return true;
}
