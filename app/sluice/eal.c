/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/eal.h"

#include "app/sluice/pci.h"
#include "lib/conf.h"
#include "lib/log.h"
#include "lib/memory.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

SL_LOG_TYPE("eal");

#define MB (1024ULL * 1024)
#define QUEUE_BUFFERS 2048U /* AF_XDP's rings; NICs take less */
#define WORKER_BUFFERS 2048U /* cache, packets of a burst, the router's own */
#define HELD_BUFFERS 8192U /* at neighbours, in reassembly, in rings */
#define BUFFER_BYTES 2624ULL
#define BASE_BYTES (48 * MB) /* DPDK, workers, small tables */
#define ROUTE_BYTES 256ULL
/*
 * Without hugepages memory is one mapping of fixed size. What is not touched costs DPDK 12 kB for
 * each MB, so there is room for tables that grow on a reload.
 */
#define ANONYMOUS_BYTES (1024 * MB)

static char errors[512];

const char *eal_errors(void)
{
	return errors;
}

void eal_clear_errors(void)
{
	errors[0] = '\0';
}

/* DPDK's messages are ours at level debug; its errors are kept for whoever gives the reason */
static void take_message(const char *object, bool error, const char *text, size_t len)
{
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	if (len == 0)
		return;
	if (error) {
		size_t used = strlen(errors);

		/* the first one is the cause, the others say whom it stopped */
		snprintf(errors + used, sizeof(errors) - used, "%s%.*s", used == 0 ? "" : "; ",
				(int)len, text);
	}
	sl_log(SL_LOG_DEBUG, object, "%.*s", (int)len, text);
}

static ssize_t dpdk_message(void *cookie, const char *text, size_t len)
{
	(void)cookie;
	take_message("dpdk", rte_log_cur_msg_loglevel() <= (int)RTE_LOG_ERR, text, len);
	return (ssize_t)len;
}

static void open_dpdk_log(void)
{
	cookie_io_functions_t io = { .write = dpdk_message };
	FILE *stream = fopencookie(NULL, "w", io);

	if (stream == NULL)
		return;
	setvbuf(stream, NULL, _IOLBF, 1024);
	rte_openlog_stream(stream);
}

/* libxdp and libbpf write to stderr unless they are told otherwise; levels: 0 is a warning */
static int bpf_message(int level, const char *format, va_list args)
{
	char text[256];
	int n = vsnprintf(text, sizeof(text), format, args);

	if (n > 0 && level <= 0)
		take_message("libxdp", true, text, strnlen(text, sizeof(text)));
	return n;
}

/* only there if DPDK's driver loaded them, so not linked */
static void quiet_bpf(const char *library, const char *function)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
	void *(*set_print)(int (*)(int, const char *, va_list));
	void *symbol;

	if (handle == NULL)
		return;
	symbol = dlsym(handle, function);
	/* ISO C has no cast from an object's address to a function's, POSIX has */
	memcpy(&set_print, &symbol, sizeof(set_print));
	if (set_print != NULL)
		set_print(bpf_message);
}

static unsigned long read_number(const char *path)
{
	unsigned long n = 0;
	FILE *f = fopen(path, "re");

	if (f == NULL)
		return 0;
	if (fscanf(f, "%lu", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

/* free hugepages of the default size in bytes, and that size in kB */
static uint64_t hugepages_free(unsigned long *size_kb)
{
	char path[128];
	char line[128];
	unsigned long kb = 2048;
	FILE *f = fopen("/proc/meminfo", "re");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "Hugepagesize: %lu kB", &kb) == 1)
			break;
	}
	if (f != NULL)
		fclose(f);
	*size_kb = kb;
	snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-%lukB/free_hugepages", kb);
	return (uint64_t)read_number(path) * kb * 1024;
}

unsigned int eal_buffers(const struct sl_conf *conf)
{
	/* each queue: what the device holds for rx, and what it has not yet sent */
	unsigned int queues = conf->n_ports * conf->n_workers * 2;

	return queues * QUEUE_BUFFERS + conf->n_workers * WORKER_BUFFERS + HELD_BUFFERS;
}

uint64_t eal_memory_needed(const struct sl_conf *conf)
{
	return BASE_BYTES + eal_buffers(conf) * BUFFER_BYTES + conf->n_routes * ROUTE_BYTES;
}

/* whether memory comes from hugepages; -EINVAL if it would have to but there are too few */
static int choose_memory(
		const struct sl_conf *conf, struct eal_setup *setup, char *err, size_t err_size)
{
	uint64_t needed = eal_memory_needed(conf);
	unsigned long size_kb;
	uint64_t free_bytes = hugepages_free(&size_kb);
	uint64_t page = size_kb * 1024;
	unsigned long needed_pages = (unsigned long)((needed + page - 1) / page);

	setup->hugepages = conf->hugepages != SL_HUGEPAGES_OFF && free_bytes >= needed;
	if (setup->hugepages || conf->hugepages == SL_HUGEPAGES_OFF)
		return 0;
	for (unsigned int i = 0; i < conf->n_ports; i++) {
		const struct sl_port_conf *p = &conf->ports[i];

		if (p->device == NULL || !pci_is_address(p->device))
			continue;
		snprintf(err, err_size,
				"port %s: device %s needs %lu hugepages of %lu kB, %lu are free: "
				"sysctl -w vm.nr_hugepages=%lu",
				p->name, p->device, needed_pages, size_kb,
				(unsigned long)(free_bytes / page),
				read_number("/proc/sys/vm/nr_hugepages") + needed_pages
						- (unsigned long)(free_bytes / page));
		return -EINVAL;
	}
	SL_LOG(NOTICE, "%lu hugepages of %lu kB are free, %lu would be used: going without",
			(unsigned long)(free_bytes / page), size_kb, needed_pages);
	return 0;
}

static bool may_use(const struct eal_setup *setup, unsigned int cpu)
{
	for (unsigned int i = 0; i < setup->n_cpus; i++) {
		if (setup->cpus[i] == cpu)
			return true;
	}
	return false;
}

/* a number of workers: from the last CPU down, since the first ones have most of the interrupts */
static int place_workers(
		const struct sl_conf *conf, struct eal_setup *setup, char *err, size_t err_size)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE && setup->n_cpus < RTE_DIM(setup->cpus);
			cpu++) {
		if (CPU_ISSET(cpu, &set))
			setup->cpus[setup->n_cpus++] = cpu;
	}
	for (unsigned int i = 0; i < conf->n_workers; i++) {
		unsigned int cpu = setup->cpus[setup->n_cpus - 1 - i % setup->n_cpus];

		if (conf->lcores != NULL) {
			cpu = conf->lcores[i];
			if (!may_use(setup, cpu)) {
				snprintf(err, err_size,
						"%s: workers: CPU %u is not one of the %u that "
						"this process may use (%u..%u)",
						conf->path, cpu, setup->n_cpus, setup->cpus[0],
						setup->cpus[setup->n_cpus - 1]);
				return -EINVAL;
			}
		}
		setup->worker_cpu[i] = cpu;
		for (unsigned int j = 0; j < i; j++) {
			if (setup->worker_cpu[j] == cpu)
				setup->worker_shares[i] = setup->worker_shares[j] = true;
		}
	}
	return 0;
}

/* "0@(0,1),1@1,2@0": control anywhere, workers where they were placed */
static void lcores_text(
		const struct sl_conf *conf, const struct eal_setup *setup, char *buf, size_t size)
{
	size_t n = (size_t)snprintf(buf, size, "0@(");

	for (unsigned int i = 0; i < setup->n_cpus; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%u", i == 0 ? "" : ",", setup->cpus[i]);
	n += (size_t)snprintf(buf + n, size - n, ")");
	for (unsigned int i = 0; i < conf->n_workers; i++)
		n += (size_t)snprintf(buf + n, size - n, ",%u@%u", i + 1, setup->worker_cpu[i]);
}

static bool wants_pci(const struct sl_conf *conf)
{
	for (unsigned int i = 0; i < conf->n_ports; i++) {
		if (conf->ports[i].device != NULL && pci_is_address(conf->ports[i].device))
			return true;
	}
	return false;
}

int eal_start(const struct sl_conf *conf, struct eal_setup *setup, char *err, size_t err_size)
{
	char lcores[2048];
	char megabytes[16];
	/* rte_eal_init() takes char * but changes only the order */
	char *argv[24];
	int argc = 0;
	int ret;

	memset(setup, 0, sizeof(*setup));
	ret = choose_memory(conf, setup, err, err_size);
	if (ret == 0)
		ret = place_workers(conf, setup, err, err_size);
	if (ret < 0)
		return ret;
	open_dpdk_log();
	lcores_text(conf, setup, lcores, sizeof(lcores));
	snprintf(megabytes, sizeof(megabytes), "%" PRIu64,
			(uint64_t)((ANONYMOUS_BYTES + eal_memory_needed(conf)) / MB));
#define ARG(text) argv[argc++] = (char *)(uintptr_t)(text)
	ARG("sluice");
	ARG("--lcores");
	ARG(lcores);
	ARG("--main-lcore=0");
	/* no files that a killed process would leave behind */
	if (setup->hugepages) {
		ARG("--in-memory");
	} else {
		ARG("--no-huge");
		ARG("--no-shconf");
		ARG("-m");
		ARG(megabytes);
	}
	/* an address that no machine has: nothing is probed but what a port names later */
	if (wants_pci(conf)) {
		ARG("-a");
		ARG("ffff:ff:1f.7");
	} else {
		ARG("--no-pci");
	}
	argv[argc] = NULL;
#undef ARG
	if (rte_eal_init(argc, argv) < 0) {
		snprintf(err, err_size, "DPDK does not start: %s%s%s", rte_strerror(rte_errno),
				errors[0] == '\0' ? "" : ": ", errors);
		return rte_errno == 0 ? -EIO : -rte_errno;
	}
	if (!setup->hugepages)
		sl_memory_advise();
	quiet_bpf("libxdp.so.1", "libxdp_set_print");
	quiet_bpf("libbpf.so.1", "libbpf_set_print");
	return 0;
}

void eal_stop(void)
{
	rte_eal_cleanup();
}
