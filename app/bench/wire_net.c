/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/wire_net.h"

#include "app/bench/exec.h"
#include "app/bench/side.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONF "/run/sluice-bench.yaml"
#define RULES "/run/sluice-bench.rules"

const char *const wire_router_names[] = { "kernel", "sluice, AF_XDP", "sluice, AF_PACKET", NULL };

int wire_prepare(char *why)
{
	if (unshare(CLONE_NEWNS) < 0)
		return side_fail(why, -ENOTSUP, "no mount namespace: %s%s", strerror(errno),
				errno == EPERM ? " (root is needed)" : "");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
			|| mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0)
		return side_fail(why, -ENOTSUP, "no /run of its own: %s", strerror(errno));
	return 0;
}

/* a process that does nothing but keep a namespace alive, in which it says that it is */
static pid_t hold(int ready)
{
	pid_t parent = getpid(), child;

	fflush(NULL);
	child = fork();
	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || unshare(CLONE_NEWNET) < 0 || write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static int make_host(struct wire_net *n, enum wire_host host, char *why)
{
	char path[64], byte;
	int fds[2], ret = 0;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return side_fail(why, -ENOTSUP, "pipe: %s", strerror(errno));
	n->holder[host] = hold(fds[1]);
	close(fds[1]);
	if (n->holder[host] < 0 || read(fds[0], &byte, 1) != 1)
		ret = side_fail(why, -ENOTSUP, "no network namespace (root is needed)");
	close(fds[0]);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", n->holder[host]);
	if (ret == 0)
		n->ns[host] = open(path, O_RDONLY | O_CLOEXEC);
	return n->ns[host] < 0 ? -ENOTSUP : ret;
}

void wire_enter(const struct wire_net *n, enum wire_host host)
{
	if (setns(n->ns[host], CLONE_NEWNET) < 0)
		abort(); /* it is there, and root may */
}

void wire_leave(const struct wire_net *n)
{
	if (setns(n->home, CLONE_NEWNET) < 0)
		abort();
}

static int ip_batch(const char *text, char *why)
{
	static const char *const ip[] = { "ip", "-batch", "-", NULL };

	return exec_run(ip, text, NULL, why, SIDE_TEXT_MAX) < 0 ? -ENOTSUP : 0;
}

/* checksums, segments and their joining by nobody but the hosts' own stacks */
static int no_offloads(const char *interface, char *why)
{
	static const uint32_t commands[] = { ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO,
		ETHTOOL_STXCSUM };
	struct ethtool_value value = { 0 };
	struct ifreq request = { .ifr_data = (void *)&value };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = fd < 0 ? -errno : 0;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	for (unsigned int i = 0; ret == 0 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		value.cmd = commands[i];
		value.data = 0;
		if (ioctl(fd, SIOCETHTOOL, &request) < 0)
			ret = side_fail(why, -ENOTSUP, "%s: offloads stay on: %s", interface,
					strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

static int set_switch(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = fd < 0 || write(fd, value, strlen(value)) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return ret;
}

static int make_end(const struct wire_net *n, enum wire_host host, const char *link,
		const char *address, const char *gateway, char *why)
{
	char text[256];
	int ret;

	snprintf(text, sizeof(text),
			"link set lo up\naddr add %s dev %s\nlink set %s up\n"
			"route add default via %s\n",
			address, link, link, gateway);
	wire_enter(n, host);
	ret = ip_batch(text, why);
	if (ret == 0)
		ret = no_offloads(link, why);
	wire_leave(n);
	return ret;
}

static int make_links(const struct wire_net *n, char *why)
{
	char text[512];
	int ret;

	snprintf(text, sizeof(text),
			"link add in type veth peer name c0 netns %d\n"
			"link add out type veth peer name s0 netns %d\n"
			"link set lo up\nlink set in up\nlink set out up\n",
			n->holder[WIRE_CLIENT], n->holder[WIRE_SERVER_HOST]);
	wire_enter(n, WIRE_ROUTER);
	set_switch("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	ret = ip_batch(text, why);
	if (ret == 0)
		ret = no_offloads("in", why);
	if (ret == 0)
		ret = no_offloads("out", why);
	wire_leave(n);
	if (ret == 0)
		ret = make_end(n, WIRE_CLIENT, "c0", "10.1.0.2/16", "10.1.0.1", why);
	if (ret == 0)
		ret = make_end(n, WIRE_SERVER_HOST, "s0", WIRE_SERVER "/24", "10.2.0.1", why);
	return ret;
}

static int write_text(const char *path, const char *text, char *why)
{
	FILE *f = fopen(path, "we");
	bool ok = f != NULL && fputs(text, f) != EOF;

	if (f != NULL && fclose(f) != 0)
		ok = false;
	return ok ? 0 : side_fail(why, -ENOTSUP, "%s: %s", path, strerror(errno));
}

static int start_kernel(const struct ruleset *rules, char *why)
{
	static const char *const restore[] = { "iptables-legacy-restore", NULL };
	char *text;
	int ret = ip_batch("addr add 10.1.0.1/16 dev in\naddr add 10.2.0.1/24 dev out\n", why);

	if (ret == 0 && set_switch("/proc/sys/net/ipv4/ip_forward", "1") < 0)
		ret = side_fail(why, -ENOTSUP, "ip_forward cannot be set");
	if (ret < 0 || rules->kind == RULES_NONE)
		return ret;
	text = ruleset_iptables(rules);
	ret = text == NULL ? -ENOMEM : exec_run(restore, text, NULL, why, SIDE_TEXT_MAX);
	free(text);
	return ret < 0 ? -ENOTSUP : 0;
}

/* beside this program: installed, or where it was built */
static const char *sluice_program(void)
{
	static char path[PATH_MAX + 32];
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n < 0 ? 0 : n] = '\0';
	if (strrchr(exe, '/') != NULL)
		*strrchr(exe, '/') = '\0';
	snprintf(path, sizeof(path), "%s/sluice", exe);
	if (access(path, X_OK) < 0)
		snprintf(path, sizeof(path), "%s/../sluice/sluice", exe);
	return path;
}

static int start_sluice(
		struct wire_net *n, enum wire_router router, const struct ruleset *rules, char *why)
{
	const char *kind = router == WIRE_AF_XDP ? "af_xdp" : "af_packet";
	const char *const argv[] = { sluice_program(), "run", "-c", CONF, "-l", "info", NULL };
	char *text = ruleset_iptables(rules);
	char conf[1024];
	int ret;

	snprintf(conf, sizeof(conf),
			"hugepages: off\nports:\n"
			"  - {name: in, device: \"net_%s0,iface=in\", addresses: [10.1.0.1/16]}\n"
			"  - {name: out, device: \"net_%s1,iface=out\", addresses: [10.2.0.1/24]}\n"
			"control: {socket: /run/sluice-bench.sock}\n%s",
			kind, kind,
			rules->kind == RULES_NONE ? "" : "firewall: {iptables: " RULES "}\n");
	ret = write_text(CONF, conf, why);
	if (ret == 0)
		ret = write_text(RULES, text == NULL ? "" : text, why);
	free(text);
	/* DPDK looks for the interfaces of this namespace */
	if (ret == 0 && mount("sysfs", "/sys", "sysfs", 0, NULL) < 0)
		ret = side_fail(why, -ENOTSUP, "no /sys of its own: %s", strerror(errno));
	if (ret < 0)
		return ret;
	n->sluice = exec_start(argv, "sluice: ready", why, SIDE_TEXT_MAX);
	umount2("/sys", MNT_DETACH);
	if (n->sluice > 0)
		return 0;
	n->sluice = 0;
	return -ENOTSUP;
}

int wire_create(struct wire_net *n, enum wire_router router, const struct ruleset *rules, char *why)
{
	int ret = 0;

	*n = (struct wire_net){ .ns = { -1, -1, -1 } };
	n->home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (n->home < 0)
		return side_fail(why, -ENOTSUP, "no network namespaces: %s", strerror(errno));
	for (unsigned int i = 0; ret == 0 && i < WIRE_HOST_NB; i++)
		ret = make_host(n, (enum wire_host)i, why);
	if (ret == 0)
		ret = make_links(n, why);
	if (ret == 0) {
		wire_enter(n, WIRE_ROUTER);
		ret = router == WIRE_KERNEL ? start_kernel(rules, why)
					    : start_sluice(n, router, rules, why);
		wire_leave(n);
	}
	if (ret < 0)
		wire_destroy(n);
	return ret;
}

static void end(pid_t pid, int signal)
{
	kill(pid, signal);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void wire_destroy(struct wire_net *n)
{
	if (n->sluice > 0)
		end(n->sluice, SIGTERM);
	for (unsigned int i = 0; i < WIRE_HOST_NB; i++) {
		if (n->holder[i] > 0)
			end(n->holder[i], SIGKILL);
		if (n->ns[i] >= 0)
			close(n->ns[i]);
	}
	close(n->home);
}
