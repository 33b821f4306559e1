/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/doctor_report.h"
#include "app/sluice/eal.h"
#include "app/sluice/link.h"
#include "app/sluice/netdev.h"
#include "app/sluice/pci.h"
#include "config/yaml.h"
#include "lib/conf.h"

#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static void check_interface(json_t *report, const struct sl_port_conf *p, const char *iface)
{
	char names[256], mend[128], addr[64];

	if (netdev_index(iface) == 0) {
		doctor_found(report, FINDING_FAIL, "port",
				"name one of those, or make it: ip link add ...",
				"%s: no interface '%s' here; there are: %s", p->name, iface,
				netdev_names(names, sizeof(names)));
		return;
	}
	if (!netdev_is_set_up(iface)) {
		snprintf(mend, sizeof(mend), "ip link set %s up", iface);
		doctor_found(report, FINDING_WARN, "port", mend, "%s: %s is down", p->name, iface);
	} else if (netdev_address4(iface, addr, sizeof(addr)) != NULL) {
		snprintf(mend, sizeof(mend), "ip addr flush dev %s", iface);
		doctor_found(report, FINDING_WARN, "port", mend,
				"%s: the kernel has %s on %s and answers beside sluice", p->name,
				addr, iface);
	} else {
		doctor_found(report, FINDING_OK, "port", NULL, "%s: %s is up", p->name, iface);
	}
}

static void check_port(json_t *report, const struct sl_port_conf *p)
{
	char iface[IF_NAMESIZE], err[512];

	if (p->device == NULL)
		return;
	if (pci_is_address(p->device)) {
		if (pci_check(p->device, err, sizeof(err)) < 0)
			doctor_found(report, FINDING_FAIL, "port", NULL, "%s: %s", p->name, err);
		else
			doctor_found(report, FINDING_OK, "port", NULL, "%s: %s", p->name,
					p->device);
	} else if (link_device_arg(p->device, "iface", iface, sizeof(iface))) {
		check_interface(report, p, iface);
	} else {
		doctor_found(report, FINDING_OK, "port", NULL, "%s: %s", p->name, p->device);
	}
}

static void check_workers(json_t *report, const struct sl_conf *conf)
{
	cpu_set_t set;
	unsigned int n;

	CPU_ZERO(&set);
	n = sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (unsigned int)CPU_COUNT(&set);
	for (unsigned int i = 0; conf->lcores != NULL && i < conf->n_workers; i++)
		if (!CPU_ISSET(conf->lcores[i], &set)) {
			doctor_found(report, FINDING_FAIL, "workers",
					"name CPUs of `taskset -pc $$`",
					"CPU %u is not there for this process", conf->lcores[i]);
			return;
		}
	if (conf->n_workers > n)
		doctor_found(report, FINDING_WARN, "workers", "fewer workers, or more CPUs",
				"%u on %u CPUs", conf->n_workers, n);
	else
		doctor_found(report, FINDING_OK, "workers", NULL, "%u on %u CPUs", conf->n_workers,
				n);
}

static uint64_t available_bytes(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long kb = 0;
	char line[128];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "MemAvailable:", 13) == 0)
			kb = strtoul(line + 13, NULL, 10);
	if (f != NULL)
		fclose(f);
	return (uint64_t)kb << 10;
}

void doctor_conf(json_t *report, const char *path)
{
	uint64_t need, have = available_bytes();
	struct sl_conf *conf = NULL;
	char *err = NULL;
	size_t len;
	FILE *f = open_memstream(&err, &len);
	int ret;

	if (f == NULL)
		return;
	ret = sl_conf_read(path, &conf, f);
	fclose(f);
	if (ret < 0) {
		err[strcspn(err, "\n")] = '\0';
		doctor_found(report, FINDING_FAIL, "config", "docs/config.md, sluice.yaml(5)", "%s",
				err);
		free(err);
		return;
	}
	free(err);
	doctor_found(report, FINDING_OK, "config", "of its rules: sluice check", "%s", path);
	for (unsigned int i = 0; i < conf->n_ports; i++)
		check_port(report, &conf->ports[i]);
	check_workers(report, conf);
	need = eal_memory_needed(conf);
	doctor_found(report, need > have ? FINDING_FAIL : FINDING_OK, "memory",
			need > have ? "a smaller conntrack: max, fewer ports or workers" : NULL,
			"about %lu MB for buffers and tables, %lu MB are there",
			(unsigned long)(need >> 20), (unsigned long)(have >> 20));
	sl_conf_free(conf);
}
