/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/doctor_report.h"
#include "app/sluice/pci.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static unsigned int entries(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	unsigned int n = 0;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		n += e->d_name[0] != '.';
	if (dir != NULL)
		closedir(dir);
	return n;
}

static void check_vfio(json_t *report)
{
	bool vfio = access("/sys/bus/pci/drivers/vfio-pci", F_OK) == 0;
	unsigned int groups = entries("/sys/kernel/iommu_groups");

	if (groups > 0)
		doctor_found(report, FINDING_OK, "iommu", NULL, "%u groups of devices", groups);
	else
		doctor_found(report, FINDING_WARN, "iommu",
				"switch it on in the firmware, and intel_iommu=on on the kernel's "
				"command line; without one, at your own risk: echo 1 > "
				"/sys/module/vfio/parameters/enable_unsafe_noiommu_mode",
				"there is none: PCI devices can only be taken in the unsafe mode");
	if (vfio)
		doctor_found(report, FINDING_OK, "vfio", NULL, "vfio-pci is loaded");
	else
		doctor_found(report, FINDING_WARN, "vfio", "modprobe vfio-pci",
				"vfio-pci is not loaded: most PCI devices cannot be taken");
}

static void check_xdp(json_t *report)
{
	glob_t found = { 0 };
	bool driver = glob("/usr/lib/*/dpdk/pmds-*/librte_net_af_xdp.so*", 0, NULL, &found) == 0
			|| glob("/usr/local/lib/*/dpdk/pmds-*/librte_net_af_xdp.so*", 0, NULL,
					   &found)
					== 0;
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	int error = fd < 0 ? errno : 0;

	globfree(&found);
	if (fd >= 0)
		close(fd);
	if (error == EAFNOSUPPORT)
		doctor_found(report, FINDING_WARN, "af_xdp", "a kernel with CONFIG_XDP_SOCKETS",
				"this kernel has no AF_XDP; net_af_packet works, slower");
	else if (error != 0)
		doctor_found(report, FINDING_WARN, "af_xdp", "run it as root",
				"a socket cannot be opened: %s", strerror(error));
	else if (!driver)
		doctor_found(report, FINDING_WARN, "af_xdp", "apt-get install librte-net-af-xdp23",
				"the kernel has it, DPDK's driver was not found");
	else
		doctor_found(report, FINDING_OK, "af_xdp", NULL, "kernel and DPDK have it");
}

static void check_nics(json_t *report)
{
	char list[512];

	pci_list(list, sizeof(list));
	if (strcmp(list, "none") == 0)
		doctor_found(report, FINDING_OK, "nics", NULL,
				"no network card on PCI; interfaces of the kernel can be used by "
				"net_af_xdp and net_af_packet");
	else
		doctor_found(report, FINDING_OK, "nics",
				"to give one to sluice: dpdk-devbind.py --bind=vfio-pci ADDRESS; or "
				"leave it to the kernel and use net_af_xdp0,iface=NAME",
				"%s", list);
}

void doctor_devices(json_t *report)
{
	check_nics(report);
	check_vfio(report);
	check_xdp(report);
}
