/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK's environment: its arguments from the configuration, memory, lcores, its log. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sl_conf;

struct eal_setup {
	bool hugepages; /* memory comes from hugepages */
	unsigned int n_cpus; /* that this process may use */
	unsigned int cpus[128];
	/* worker i runs on lcore i + 1; lcore 0 is the control thread */
	unsigned int worker_cpu[128];
	bool worker_shares[128]; /* another worker is on the same CPU */
};

/* packet buffers that the ports and workers of a configuration need */
unsigned int eal_buffers(const struct sl_conf *conf);

/* bytes of packet buffers and tables that a configuration takes at start, about */
uint64_t eal_memory_needed(const struct sl_conf *conf);

/**
 * eal_start() - rte_eal_init() for a configuration
 *
 * Return: 0; -EINVAL: the configuration asks for what is not there; or what DPDK said. One line in
 * @err.
 */
int eal_start(const struct sl_conf *conf, struct eal_setup *setup, char *err, size_t err_size);

void eal_stop(void);

/* complaints of DPDK and libxdp since eal_clear_errors(), for the end of an error line; "": none */
const char *eal_errors(void);
void eal_clear_errors(void);
