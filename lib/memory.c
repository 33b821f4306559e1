/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/memory.h"

#include <rte_common.h>
#include <rte_eal_memconfig.h>
#include <rte_memory.h>

#include <stdint.h>
#include <sys/mman.h>

#define HUGE_BYTES (2UL << 20)

static int advise(const struct rte_memseg_list *msl, void *arg)
{
	/* the kernel makes huge only what is whole and aligned inside the range */
	uint8_t *start = RTE_PTR_ALIGN_CEIL((uint8_t *)msl->base_va, HUGE_BYTES);
	uint8_t *end = RTE_PTR_ALIGN_FLOOR((uint8_t *)msl->base_va + msl->len, HUGE_BYTES);
	size_t *bytes = arg;

	if (msl->external || msl->page_sz >= HUGE_BYTES || start >= end)
		return 0;
	if (madvise(start, (size_t)(end - start), MADV_HUGEPAGE) == 0)
		*bytes += (size_t)(end - start);
	return 0;
}

size_t sl_memory_advise(void)
{
	size_t bytes = 0;

	rte_memseg_list_walk(advise, &bytes);
	return bytes;
}
