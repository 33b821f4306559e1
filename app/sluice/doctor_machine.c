/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/doctor_report.h"

#include <rte_cpuflags.h>

#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define CPU "/sys/devices/system/cpu"
#define HUGEPAGES "/sys/kernel/mm/hugepages/hugepages-"
/* what umem and rings of a few AF_XDP ports take */
#define MEMLOCK_MIN (256UL << 20)

/* the first line of a file without its end; "" if there is none */
static const char *line_of(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");

	if (f == NULL || fgets(buf, (int)size, f) == NULL)
		buf[0] = '\0';
	if (f != NULL)
		fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}

/* whether a line of @path holds @word, between blanks */
static bool has_word(const char *path, const char *word)
{
	FILE *f = fopen(path, "re");
	char line[8192], *rest;
	bool found = false;

	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL)
		for (char *w = strtok_r(line, " \t\n", &rest); w != NULL && !found;
				w = strtok_r(NULL, " \t\n", &rest))
			found = strcmp(w, word) == 0;
	if (f != NULL)
		fclose(f);
	return found;
}

static void check_flags(json_t *report)
{
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_SSE4_2) != 1)
		doctor_found(report, FINDING_FAIL, "cpu", "a processor of 2008 or later is needed",
				"no SSE 4.2, which Debian's DPDK needs");
	else if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) != 1)
		doctor_found(report, FINDING_WARN, "cpu",
				"in a virtual machine: give it the host's processor (-cpu host)",
				"no AVX2: rules are matched by slower code");
	else
		doctor_found(report, FINDING_OK, "cpu", NULL, "SSE 4.2 and AVX2");
	if (has_word("/proc/cpuinfo", "constant_tsc"))
		doctor_found(report, FINDING_OK, "tsc", NULL, "counts at one rate");
	else
		doctor_found(report, FINDING_WARN, "tsc",
				"in a virtual machine: give it the host's processor (-cpu host)",
				"no constant_tsc: times and costs may be wrong");
}

static void check_cpus(json_t *report)
{
	char isolated[256], governor[64];
	cpu_set_t set;
	int n;

	CPU_ZERO(&set);
	n = sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : CPU_COUNT(&set);
	if (n < 2)
		doctor_found(report, FINDING_WARN, "cpus",
				"give it two: one for the control thread, one for each worker",
				"%d for this process: worker and control thread share it", n);
	else
		doctor_found(report, FINDING_OK, "cpus", NULL, "%d for this process", n);
	line_of(CPU "/isolated", isolated, sizeof(isolated));
	if (isolated[0] == '\0')
		doctor_found(report, FINDING_WARN, "isolation",
				"for workers that nobody interrupts: isolcpus=LIST nohz_full=LIST "
				"rcu_nocbs=LIST on the kernel's command line, and workers: [LIST]",
				"no CPU is kept for sluice alone");
	else
		doctor_found(report, FINDING_OK, "isolation", NULL, "CPUs %s", isolated);
	line_of(CPU "/cpu0/cpufreq/scaling_governor", governor, sizeof(governor));
	if (governor[0] == '\0')
		doctor_found(report, FINDING_OK, "governor", NULL,
				"the kernel does not set the clock of this processor");
	else if (strcmp(governor, "performance") != 0)
		doctor_found(report, FINDING_WARN, "governor",
				"echo performance | tee " CPU "/cpu*/cpufreq/scaling_governor",
				"'%s' of CPU 0: the clock may fall", governor);
	else
		doctor_found(report, FINDING_OK, "governor", NULL, "performance");
}

static unsigned long number_in(const char *path)
{
	char buf[64];

	return strtoul(line_of(path, buf, sizeof(buf)), NULL, 10);
}

static void check_hugepages(json_t *report)
{
	unsigned long small = number_in(HUGEPAGES "2048kB/free_hugepages");
	unsigned long large = number_in(HUGEPAGES "1048576kB/free_hugepages");

	if (small + large == 0)
		doctor_found(report, FINDING_WARN, "hugepages", "sysctl -w vm.nr_hugepages=512",
				"none is free: sluice runs without them, PCI devices mostly do not");
	else if (!has_word("/proc/mounts", "hugetlbfs"))
		doctor_found(report, FINDING_WARN, "hugepages",
				"mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages",
				"%lu of 2 MB and %lu of 1 GB are free, hugetlbfs is not mounted",
				small, large);
	else
		doctor_found(report, FINDING_OK, "hugepages", NULL,
				"%lu of 2 MB and %lu of 1 GB are free", small, large);
}

static uint64_t effective_capabilities(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long caps = 0;
	char line[256];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "CapEff:", 7) == 0)
			caps = strtoul(line + 7, NULL, 16);
	if (f != NULL)
		fclose(f);
	return caps;
}

static bool has_cap(uint64_t caps, unsigned int cap)
{
	return (caps >> cap & 1) != 0;
}

static void check_privileges(json_t *report)
{
	uint64_t caps = effective_capabilities();
	/* libxdp looks programs up by number, which CAP_BPF does not allow */
	bool xdp = has_cap(caps, CAP_SYS_ADMIN);
	bool lock = has_cap(caps, CAP_IPC_LOCK);
	struct rlimit limit = { 0 };

	if (!has_cap(caps, CAP_NET_RAW) || !has_cap(caps, CAP_NET_ADMIN))
		doctor_found(report, FINDING_FAIL, "privileges",
				"run it as root, or as a service by the unit that is installed",
				"without CAP_NET_RAW and CAP_NET_ADMIN no device can be opened");
	else if (!xdp)
		doctor_found(report, FINDING_WARN, "privileges", "for AF_XDP: add CAP_SYS_ADMIN",
				"enough for AF_PACKET, not for AF_XDP");
	else
		doctor_found(report, FINDING_OK, "privileges", NULL,
				"enough for AF_PACKET and AF_XDP");
	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (lock || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= MEMLOCK_MIN)
		doctor_found(report, FINDING_OK, "memlock", NULL,
				lock ? "CAP_IPC_LOCK: no limit counts" : "enough");
	else
		doctor_found(report, FINDING_WARN, "memlock",
				"ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit",
				"%lu kB may be locked: too little for AF_XDP",
				(unsigned long)limit.rlim_cur >> 10);
}

void doctor_machine(json_t *report)
{
	check_flags(report);
	check_cpus(report);
	check_hugepages(report);
	check_privileges(report);
}
