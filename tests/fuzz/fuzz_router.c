/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as a sequence of frames through a whole router of two workers, as a replay does it. Each
 * frame begins with four bytes: port and segment size, how far the clock goes first, length. At the
 * end every packet must be accounted for and every buffer back in the pool.
 */
#include "tests/lib/router_fixture.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint64_t pauses_ns[8] = { 0, 0, 0, 0, 1000000, 100000000, 1200000000, 31000000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool started;
	size_t at = 0;

	if (!started)
		rf_start(2);
	started = true;
	while (size - at >= 4) {
		uint8_t how = data[at];
		uint32_t len = (uint32_t)(data[at + 2] << 8 | data[at + 3]);

		rf_pass(pauses_ns[data[at + 1] & 7]);
		at += 4;
		len = (uint32_t)RTE_MIN(RTE_MIN(len, size - at), (size_t)RF_FRAME_MAX);
		if (len > 0)
			rf_in((uint16_t)(RF_WAN + how % 3), data + at, len,
					how & 0x80 ? 1U + (how >> 2 & 31) : 0);
		at += len;
	}
	rf_clear();
	if (!rf_is_whole())
		abort();
	return 0;
}
