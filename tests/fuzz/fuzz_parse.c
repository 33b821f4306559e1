/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as a frame through the whole IPv4 layer. The first byte says how it comes in: port, how
 * it lies in segments, what its link is like, and whether header and checksums are made right first,
 * without which no change would come past the first check.
 */
#include "tests/lib/ip4_fixture.h"

#include <rte_ip.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FRAME_MAX 1600

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* total length and header checksum of whatever looks like IPv4 */
static void mend(uint8_t *frame, uint32_t len)
{
	struct rte_ipv4_hdr *ip = (void *)(frame + 14);
	uint32_t hdr_len;

	if (len < 34 || frame[12] != 8 || frame[13] != 0)
		return;
	ip->version_ihl = (uint8_t)(0x40 | RTE_MAX(ip->version_ihl & 0xf, 5));
	hdr_len = (ip->version_ihl & 0xfU) * 4;
	if (len < 14 + hdr_len)
		return;
	ip->total_length = rte_cpu_to_be_16((uint16_t)(len - 14));
	ip->hdr_checksum = 0;
	ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, hdr_len);
}

/* whatever leaves is a packet that the next router would take */
static void check_out(void)
{
	for (unsigned int i = 0; i < fx.n_out; i++) {
		const struct sl_pkt *p = sl_pkt(fx.out[i]);
		uint32_t len;
		const uint8_t *ip = fx_ip_of(i, &len);

		require(p->l3_off == 14 && p->l3_len == len && p->out_port != SL_PORT_NONE);
		require(len >= 20 && ip[0] >= 0x45 && ip[0] < 0x50 && (ip[0] & 0xfU) * 4 <= len);
		require((uint32_t)(ip[2] << 8 | ip[3]) == len);
		require(rte_raw_cksum(ip, (ip[0] & 0xfU) * 4) == 0xffff);
		require(ip[8] > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool started;
	uint8_t frame[FRAME_MAX], how;
	uint32_t len;

	if (!started) {
		require(fx_group_setup(NULL) == 0);
		fx_begin();
		fixture_sysctl(&fx.net, "net.ipv4.conf.all.accept_source_route", 1);
		fixture_sysctl(&fx.net, "net.ipv4.conf.default.accept_source_route", 1);
		fx_build();
		started = true;
	}
	if (size < 2 || size > FRAME_MAX)
		return 0;
	how = data[0];
	len = (uint32_t)(size - 1);
	memcpy(frame, data + 1, len);
	if (how & 0x80)
		mend(frame, len);
	fx.links[WAN].csum_partial = how & 0x40;
	fx.links[WAN].segments = how & 0x20;
	/* never held back by a limit */
	fx.w->now_ns += 10000000000;
	fx_rx(how & 1 ? LAN : WAN,
			fx_mbuf(how & 1 ? LAN : WAN, frame, len,
					how & 0x1e ? 8 + (how & 0x1eU) : 0));
	check_out();
	fx_reset();
	fx_assert_balance();
	return 0;
}
