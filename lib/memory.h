/* SPDX-License-Identifier: BSD-3-Clause */
/* Large pages for memory that was not reserved as hugepages. */
#pragma once

#include <stddef.h>

/**
 * sl_memory_advise() - ask for transparent huge pages in all of DPDK's anonymous memory
 *
 * For EAL's --no-huge: packet buffers and tables of 4 kB pages cost a TLB miss per packet and stage.
 * A kernel without transparent huge pages goes on as before. Right after rte_eal_init(), before
 * anything is allocated. Return: bytes that were asked for.
 */
size_t sl_memory_advise(void);
