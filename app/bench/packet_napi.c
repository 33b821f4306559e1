/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/packet_napi.h"

#include "app/bench/side.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

static int set_offload(const char *interface, uint32_t command, uint32_t on, char *why)
{
	struct ethtool_value value = { .cmd = command, .data = on };
	struct ifreq request = { .ifr_data = (void *)&value };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = 0;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	if (fd < 0 || ioctl(fd, SIOCETHTOOL, &request) < 0)
		ret = side_fail(why, -ENOTSUP, "%s: no NAPI: %s", interface, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

int packet_napi_enable(const char *interface, const char *peer, char *why)
{
	char path[64];
	int ret;
	int fd;

	/* a veth has a poll of its own only with GRO, and uses it only for peers without TSO */
	ret = set_offload(peer, ETHTOOL_STSO, 0, why);
	if (ret == 0)
		ret = set_offload(interface, ETHTOOL_SGRO, 1, why);
	if (ret < 0)
		return ret;
	/* the interfaces of this namespace */
	if (mount("sysfs", "/sys", "sysfs", 0, NULL) < 0)
		return side_fail(why, -ENOTSUP, "no /sys of its own: %s", strerror(errno));
	snprintf(path, sizeof(path), "/sys/class/net/%s/threaded", interface);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "1", 1) != 1)
		ret = side_fail(why, -ENOTSUP, "%s: %s (it needs Linux 5.12)", path,
				strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

static bool has_name(const char *pid, const char *name)
{
	char path[64], found[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	if (fgets(found, sizeof(found), f) == NULL)
		found[0] = '\0';
	fclose(f);
	found[strcspn(found, "\n")] = '\0';
	return strcmp(found, name) == 0;
}

int packet_napi_find(
		const char *interface, unsigned int id, unsigned int core, pid_t *thread, char *why)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct sched_param param;
	cpu_set_t set;
	char name[32];

	snprintf(name, sizeof(name), "napi/%s-%u", interface, id);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9'
				|| !has_name(entry->d_name, name))
			continue;
		*thread = atoi(entry->d_name);
		break;
	}
	if (dir != NULL)
		closedir(dir);
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	if (*thread == 0 || sched_setaffinity(*thread, sizeof(set), &set) < 0)
		return side_fail(why, -ENOTSUP, "no thread '%s' to measure", name);
	/* as this side's own thread, with which it takes turns */
	sched_getparam(0, &param);
	sched_setscheduler(*thread, sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, &param);
	return 0;
}

double packet_napi_ns(pid_t thread)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", thread);
	f = thread == 0 ? NULL : fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	fclose(f);
	return (double)ns;
}
