/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/pci.h"

#include <rte_common.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PCI_DEVICES "/sys/bus/pci/devices"

bool pci_is_address(const char *device)
{
	unsigned int part[4];
	char end;
	size_t len = strcspn(device, ",");

	if (len == 0 || len > 16 || !isxdigit((unsigned char)device[0]))
		return false;
	if (sscanf(device, "%x:%x:%x.%u%c", &part[0], &part[1], &part[2], &part[3], &end) >= 4)
		return true;
	return sscanf(device, "%x:%x.%u%c", &part[0], &part[1], &part[2], &end) >= 3;
}

static bool is_network(const char *address)
{
	char path[PATH_MAX];
	char class[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), PCI_DEVICES "/%s/class", address);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	if (fgets(class, sizeof(class), f) == NULL)
		class[0] = '\0';
	fclose(f);
	return strncmp(class, "0x02", 4) == 0;
}

/* name of the kernel driver that holds the device, "" if none does */
static const char *bound_driver(const char *address, char *buf, size_t size)
{
	char path[PATH_MAX];
	char target[PATH_MAX];
	const char *name;
	ssize_t n;

	snprintf(path, sizeof(path), PCI_DEVICES "/%s/driver", address);
	n = readlink(path, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = '\0';
	name = strrchr(target, '/');
	snprintf(buf, size, "%s", name == NULL ? "" : name + 1);
	return buf;
}

void pci_list(char *buf, size_t size)
{
	DIR *dir = opendir(PCI_DEVICES);
	const struct dirent *e;
	size_t n = 0;

	snprintf(buf, size, "none");
	while (dir != NULL && (e = readdir(dir)) != NULL) {
		char driver[64];
		int len;

		if (e->d_name[0] == '.' || !is_network(e->d_name))
			continue;
		bound_driver(e->d_name, driver, sizeof(driver));
		len = snprintf(buf + n, size - n, "%s%s (%s)", n == 0 ? "" : ", ", e->d_name,
				driver[0] == '\0' ? "free" : driver);
		if (len < 0 || (size_t)len >= size - n)
			break;
		n += (size_t)len;
	}
	if (dir != NULL)
		closedir(dir);
}

int pci_check(const char *device, char *err, size_t err_size)
{
	/* the last two share the device with the kernel */
	static const char *const usable[] = { "", "vfio-pci", "igb_uio", "uio_pci_generic",
		"mlx5_core", "mlx4_core" };
	int len = (int)strcspn(device, ",");
	char path[PATH_MAX];
	char address[32];
	char driver[64];
	char list[256];

	snprintf(address, sizeof(address), "%s%.*s", len < 10 ? "0000:" : "", len, device);
	snprintf(path, sizeof(path), PCI_DEVICES "/%s", address);
	if (access(path, F_OK) < 0) {
		pci_list(list, sizeof(list));
		snprintf(err, err_size, "device %s: no such PCI device; network devices here: %s",
				address, list);
		return -ENODEV;
	}
	bound_driver(address, driver, sizeof(driver));
	for (unsigned int i = 0; i < RTE_DIM(usable); i++) {
		if (strcmp(driver, usable[i]) == 0)
			return 0;
	}
	snprintf(err, err_size,
			"device %s: the kernel's %s has it; to give it to sluice: "
			"dpdk-devbind.py --bind=vfio-pci %s",
			address, driver, address);
	return -EBUSY;
}
