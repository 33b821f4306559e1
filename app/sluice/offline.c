/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/offline.h"

#include "lib/conf.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include <stdio.h>

/* address space, not memory: only what is touched is used */
#define MEMORY_MB "4096"
#define BUFFERS 32768
#define BUFFER_ROOM 2048

bool offline_start(void)
{
	char lcores[32];
	int cpu = sched_getcpu();
	char *argv[] = { (char *)(uintptr_t) "sluice", (char *)(uintptr_t) "--no-huge",
		(char *)(uintptr_t) "--no-shconf", (char *)(uintptr_t) "--no-pci",
		(char *)(uintptr_t) "--no-telemetry", (char *)(uintptr_t) "--log-level=error",
		(char *)(uintptr_t) "-m", (char *)(uintptr_t)MEMORY_MB,
		(char *)(uintptr_t) "--lcores", lcores, NULL };

	snprintf(lcores, sizeof(lcores), "0@%d", cpu < 0 ? 0 : cpu);
	if (rte_eal_init((int)RTE_DIM(argv) - 1, argv) >= 0)
		return true;
	fprintf(stderr, "sluice: DPDK does not start: %s\n", rte_strerror(rte_errno));
	return false;
}

struct sl_router *offline_router(unsigned int n_workers)
{
	struct rte_mempool *pool = sl_pool_create("packets", BUFFERS, BUFFER_ROOM);
	struct sl_router *r;
	int ret;

	if (pool == NULL) {
		fprintf(stderr, "sluice: no memory for %d packet buffers: %s\n", BUFFERS,
				rte_strerror(rte_errno));
		return NULL;
	}
	ret = sl_router_create(pool, n_workers, &r);
	if (ret < 0) {
		fprintf(stderr, "sluice: no memory for %u workers: %s\n", n_workers,
				strerror(-ret));
		return NULL;
	}
	sl_router_fix(r);
	return r;
}

static unsigned int index_of(const struct sl_conf *conf, const char *name)
{
	unsigned int i = 0;

	while (i < conf->n_ports && strcmp(conf->ports[i].name, name) != 0)
		i++;
	return i;
}

struct rte_ether_addr offline_mac(const struct sl_conf *conf, unsigned int port)
{
	struct rte_ether_addr mac = { { 2, 0, 0, 0, 0, (uint8_t)(port + 1) } };
	const struct sl_port_conf *pc = &conf->ports[port];

	if (pc->has_mac)
		return pc->mac;
	/* a VLAN port has its parent's */
	return pc->parent == NULL ? mac : offline_mac(conf, index_of(conf, pc->parent));
}

bool offline_ports(struct sl_router *r, const struct sl_conf *conf,
		struct sl_link *(*make)(unsigned int port, void *arg), void *arg)
{
	struct sl_link *links[SL_PORTS_MAX] = { NULL };

	/* parents may stand behind their VLAN ports in the file, and ids follow the file */
	for (unsigned int i = 0; i < conf->n_ports; i++) {
		if (conf->ports[i].parent != NULL)
			continue;
		links[i] = make(i, arg);
		if (links[i] == NULL)
			return false;
	}
	for (unsigned int i = 0; i < conf->n_ports; i++) {
		const struct sl_port_conf *pc = &conf->ports[i];
		struct rte_ether_addr mac = offline_mac(conf, i);
		struct sl_link *link =
				pc->parent == NULL ? links[i] : links[index_of(conf, pc->parent)];
		int ret = sl_router_add_port(r, pc->name, link, &mac, pc->mtu, pc->vlan);

		if (ret < 0) {
			fprintf(stderr, "%s:%u:%u: port '%s': %s\n", conf->path, pc->at.line,
					pc->at.column, pc->name, strerror(-ret));
			return false;
		}
	}
	return true;
}
