/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/lab.h"

#include "app/bench/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* IPv6 would chatter on its own: it is on only where it is measured */
static const char links[] =
		"link set lo up\n"
		"link add " LAB_IN " address " TRAFFIC_IN_MAC " type veth peer name " LAB_IN_PEER
		"\n"
		"link add " LAB_OUT " address " TRAFFIC_OUT_MAC " type veth peer name out-peer\n"
		"link set " LAB_IN_PEER " up\n"
		"link set out-peer up\n"
		"link set " LAB_IN " up\n"
		"link set " LAB_OUT " up\n";

static const char addresses4[] = "addr add " TRAFFIC_IN_V4 " dev " LAB_IN "\n"
				 "addr add " TRAFFIC_OUT_V4 " dev " LAB_OUT "\n"
				 "neigh add " TRAFFIC_SINK_V4 " lladdr " TRAFFIC_SINK_MAC
				 " dev " LAB_OUT " nud permanent\n"
				 "neigh add " TRAFFIC_OTHER_V4 " lladdr " TRAFFIC_SINK_MAC
				 " dev " LAB_OUT " nud permanent\n";

static const char addresses6[] = "addr add " TRAFFIC_IN_V6 " dev " LAB_IN " nodad\n"
				 "addr add " TRAFFIC_OUT_V6 " dev " LAB_OUT " nodad\n"
				 "neigh add " TRAFFIC_SINK_V6 " lladdr " TRAFFIC_SINK_MAC
				 " dev " LAB_OUT " nud permanent\n"
				 "neigh add " TRAFFIC_OTHER_V6 " lladdr " TRAFFIC_SINK_MAC
				 " dev " LAB_OUT " nud permanent\n";

static int set_switch(const char *name, const char *value, char *why)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0) {
		side_fail(why, -errno, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -ENOTSUP;
	}
	close(fd);
	return 0;
}

static int set_switches(bool v6, char *why)
{
	static const char *const v4_off[] = {
		"ipv4/conf/all/rp_filter",
		"ipv4/conf/" LAB_IN "/rp_filter",
		"ipv4/conf/" LAB_OUT "/rp_filter",
	};
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < sizeof(v4_off) / sizeof(v4_off[0]); i++)
		ret = set_switch(v4_off[i], "0", why);
	if (ret == 0)
		ret = set_switch("ipv4/ip_forward", "1", why);
	if (ret < 0 || !v6)
		return ret;
	ret = set_switch("ipv6/conf/" LAB_IN "/disable_ipv6", "0", why);
	if (ret == 0)
		ret = set_switch("ipv6/conf/" LAB_OUT "/disable_ipv6", "0", why);
	if (ret == 0)
		ret = set_switch("ipv6/conf/all/forwarding", "1", why);
	return ret;
}

static int ip_batch(const char *text, char *why)
{
	static const char *const ip[] = { "ip", "-batch", "-", NULL };

	return exec_run(ip, text, NULL, why, SIDE_TEXT_MAX) < 0 ? -ENOTSUP : 0;
}

/* addresses, neighbours, and routes where packets go anywhere */
static int configure(const struct traffic *t, char *why)
{
	char *text = NULL, addr[64];
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int ret;

	if (out == NULL)
		return side_fail(why, -ENOMEM, "no memory");
	fputs(t->v6 ? addresses6 : addresses4, out);
	if (t->addresses != TRAFFIC_NEAR)
		fprintf(out, "route add default via %s\n",
				t->v6 ? TRAFFIC_SINK_V6 : TRAFFIC_SINK_V4);
	/* answers go to them */
	for (uint32_t i = 0; t->state == TRAFFIC_ESTABLISHED && i < traffic_sources(t); i++) {
		traffic_source(t, i, addr, sizeof(addr));
		fprintf(out,
				"neigh add %s lladdr " TRAFFIC_SOURCE_MAC " dev " LAB_IN
				" nud permanent\n",
				addr);
	}
	fclose(out);
	ret = ip_batch(text, why);
	free(text);
	return ret;
}

/* a mount namespace too: iptables' lock in /run is the host's, and its users may hold it */
static int enter(char *why)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0)
		return side_fail(why, -ENOTSUP, "no network namespace: %s%s", strerror(errno),
				errno == EPERM ? " (root is needed)" : "");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
			|| mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0)
		return side_fail(why, -ENOTSUP, "no /run of its own: %s", strerror(errno));
	return 0;
}

/* as somebody who looks at the traffic, and throws it away */
static int start_tap(char *why)
{
	static const char *const tcpdump[] = { "tcpdump", "-n", "-i", LAB_IN, "-w", "/dev/null",
		"-Z", "root", NULL };

	/* it says on stderr that it listens */
	return exec_start(tcpdump, "listening on", why, SIDE_TEXT_MAX) < 0 ? -ENOTSUP : 0;
}

int lab_create(const struct side_setup *setup, char *why)
{
	char ignored[SIDE_TEXT_MAX];
	int ret = enter(why);

	if (ret < 0)
		return ret;
	/* a kernel without IPv6 is as good */
	set_switch("ipv6/conf/default/disable_ipv6", "1", ignored);
	ret = ip_batch(links, why);
	if (ret == 0)
		ret = set_switches(setup->traffic.v6, why);
	if (ret == 0)
		ret = configure(&setup->traffic, why);
	if (ret == 0 && setup->tap)
		ret = start_tap(why);
	return ret;
}

/* runs a program on a text that was made for it, and frees the text */
static int load(const char *const *argv, char *text, char *why)
{
	int ret;

	if (text == NULL)
		return side_fail(why, -ENOMEM, "no memory for rules");
	ret = exec_run(argv, text, NULL, why, SIDE_TEXT_MAX);
	free(text);
	return ret < 0 ? -ENOTSUP : 0;
}

static const char *tool(const struct side_setup *setup, const char *kind, char buf[32])
{
	snprintf(buf, 32, "ip%stables-%s", setup->traffic.v6 ? "6" : "", kind);
	return buf;
}

static const char *kind_of(enum backend backend, bool save)
{
	if (backend == BACKEND_NFT)
		return save ? "nft-save" : "nft-restore";
	return save ? "legacy-save" : "legacy-restore";
}

int lab_load_rules(const struct side_setup *setup, char *why)
{
	static const char *const nft[] = { "nft", "-f", "-", NULL };
	static const char *const ipset[] = { "ipset", "restore", NULL };
	char name[32];
	const char *const iptables[] = { tool(setup, kind_of(setup->backend, false), name), NULL };
	int ret = 0;

	switch (setup->backend) {
	case BACKEND_PLAIN:
	case BACKEND_NB:
		return 0;
	case BACKEND_NATIVE:
		return load(nft, ruleset_nft(&setup->rules), why);
	case BACKEND_IPSET:
		ret = load(ipset, ruleset_ipset(&setup->rules), why);
		break;
	case BACKEND_LEGACY:
	case BACKEND_NFT:
		break;
	}
	return ret < 0 ? ret : load(iptables, ruleset_iptables(&setup->rules), why);
}

int lab_hash_rules(const struct side_setup *setup, struct side_probe *out, char *why)
{
	char name[32];
	const char *const save[] = { tool(setup, kind_of(setup->backend, true), name), "-c", NULL };
	char *text;
	int ret;

	if (setup->backend == BACKEND_PLAIN || setup->backend == BACKEND_NATIVE)
		return 0;
	ret = exec_run(save, NULL, &text, why, SIDE_TEXT_MAX);
	if (ret < 0 || text == NULL)
		return -EIO;
	out->rules_hash = ruleset_hash(text, &out->n_rules);
	out->counters_hash = ruleset_hash_counters(text);
	free(text);
	return 0;
}
