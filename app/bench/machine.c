/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/machine.h"

#include "app/bench/exec.h"

#include <rte_cycles.h>
#include <rte_version.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* first line of a file, without the newline; false if there is none */
static bool read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");
	bool ok = f != NULL && fgets(line, size, f) != NULL;

	if (f != NULL)
		fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

static void put(json_t *m, const char *key, const char *value)
{
	json_object_set_new(m, key, json_string(value));
}

static void put_file(json_t *m, const char *key, const char *path, const char *missing)
{
	char line[256];

	put(m, key, read_line(path, line, sizeof(line)) ? line : missing);
}

static void put_cpu(json_t *m)
{
	char line[512];
	FILE *f = fopen("/proc/cpuinfo", "re");
	bool hypervisor = false;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		char *value = strchr(line, ':');

		if (value == NULL)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "model name", 10) == 0 && json_object_get(m, "cpu") == NULL)
			put(m, "cpu", value + 2);
	}
	if (f != NULL) {
		char *flags = NULL;
		size_t size = 0;

		rewind(f);
		while (!hypervisor && getline(&flags, &size, f) > 0)
			hypervisor = strncmp(flags, "flags", 5) == 0
					&& strstr(flags, " hypervisor") != NULL;
		free(flags);
		fclose(f);
	}
	json_object_set_new(m, "virtual", json_boolean(hypervisor));
	json_object_set_new(m, "cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	json_object_set_new(m, "memory_mb",
			json_integer(sysconf(_SC_PHYS_PAGES) / 1024 * sysconf(_SC_PAGESIZE)
					/ 1024));
}

static void put_mitigations(json_t *m)
{
	static const char dir[] = "/sys/devices/system/cpu/vulnerabilities";
	json_t *all = json_object();
	struct dirent **entries;
	char path[512];
	int n = scandir(dir, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
			put_file(all, entries[i]->d_name, path, "unknown");
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	json_object_set_new(m, "mitigations", all);
}

static void put_version(json_t *m, const char *key, const char *program, const char *option)
{
	const char *const argv[] = { program, option, NULL };
	char why[256];
	char *text = NULL;

	if (exec_run(argv, NULL, &text, why, sizeof(why)) == 0 && text != NULL)
		text[strcspn(text, "\n")] = '\0';
	put(m, key, text == NULL ? "none" : text);
	free(text);
}

static void put_kernel(json_t *m)
{
	struct utsname u;

	uname(&u);
	put(m, "kernel", u.release);
	put(m, "kernel_build", u.version);
	put(m, "architecture", u.machine);
	put_file(m, "command_line", "/proc/cmdline", "unknown");
	put_file(m, "bpf_jit", "/proc/sys/net/core/bpf_jit_enable", "unknown");
	put_file(m, "conntrack_buckets", "/proc/sys/net/netfilter/nf_conntrack_buckets", "none");
	put_file(m, "load", "/proc/loadavg", "unknown");
}

double machine_tsc_ghz(void)
{
	struct timespec a, b, pause = { .tv_nsec = 20000000 };
	uint64_t first, last;

	/* 20 ms are enough for four digits, and need no DPDK environment */
	clock_gettime(CLOCK_MONOTONIC_RAW, &a);
	first = rte_rdtsc();
	nanosleep(&pause, NULL);
	clock_gettime(CLOCK_MONOTONIC_RAW, &b);
	last = rte_rdtsc();
	return (double)(last - first)
			/ ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec));
}

json_t *machine_describe(unsigned int core)
{
	json_t *m = json_object();
	time_t now = time(NULL);
	char text[128];
	struct tm utc;

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	put(m, "time", text);
	put_cpu(m);
	put_kernel(m);
	json_object_set_new(m, "core", json_integer(core));
	snprintf(text, sizeof(text), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
			core);
	put_file(m, "governor", text, "none");
	put_mitigations(m);
	put(m, "sluice", SLUICE_VERSION);
	put(m, "dpdk", rte_version());
	put(m, "compiler", "gcc or clang " __VERSION__);
	put_version(m, "iptables_legacy", "iptables-legacy", "--version");
	put_version(m, "iptables_nft", "iptables-nft", "--version");
	put_version(m, "nft", "nft", "--version");
	put_version(m, "ipset", "ipset", "--version");
	return m;
}
