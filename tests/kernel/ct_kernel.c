/* SPDX-License-Identifier: BSD-3-Clause */
#include "ct_side.h"
#include "lab_priv.h"
#include "topo.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SWITCH "net.netfilter.nf_conntrack_"
/* new IPv6 ports report their groups for a while, and rules would count that */
#define SETTLE_MS 3000

static struct lab *lab;
static int netlink = -1;
static char *text;
static char *rules_text;
/* switches of the setting in force, as they were before */
static struct {
	char name[128];
	char value[32];
} was[CT_SYSCTLS_MAX];
static unsigned int n_was;

static int read_file(const char *path, char *out, size_t size)
{
	int ret = lab_enter(lab, LAB_ROUTER), fd;
	size_t used = 0;
	ssize_t n = 0;

	if (ret < 0)
		return ret;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		ret = -errno;
	while (ret == 0 && used + 1 < size && (n = read(fd, out + used, size - 1 - used)) > 0)
		used += (size_t)n;
	if (ret == 0 && n < 0)
		ret = -errno;
	out[used] = '\0';
	if (fd >= 0)
		close(fd);
	lab_leave(lab);
	if (ret == 0 && used + 1 == size)
		ret = -EFBIG;
	if (ret < 0)
		fprintf(stderr, "%s: %s\n", path, strerror(-ret));
	return ret;
}

static int open_netlink(void)
{
	int ret = lab_enter(lab, LAB_ROUTER);

	if (ret < 0)
		return ret;
	netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	ret = netlink < 0 ? -errno : 0;
	lab_leave(lab);
	return ret;
}

/* all connections go */
static int flush(void)
{
	struct {
		struct nlmsghdr h;
		struct nfgenmsg g;
	} msg = { .h = { .nlmsg_len = sizeof(msg),
				  .nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE,
				  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK } };
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char rest[256];
	} answer;

	if (send(netlink, &msg, sizeof(msg), 0) < 0
			|| recv(netlink, &answer, sizeof(answer), 0) < (ssize_t)NLMSG_LENGTH(4))
		return -errno;
	return answer.h.nlmsg_type == NLMSG_ERROR ? answer.e.error : -EPROTO;
}

static int kernel_open(unsigned int n_workers)
{
	struct lab_frames frames = { 0 };
	int ret;

	(void)n_workers;
	text = malloc(CT_TEXT_MAX);
	rules_text = malloc(CT_TEXT_MAX);
	if (text == NULL || rules_text == NULL)
		return -ENOMEM;
	ret = lab_open(&topo_spec, &lab);
	if (ret == 0)
		ret = open_netlink();
	if (ret == 0)
		ret = lab_wait(lab, SETTLE_MS, &frames);
	lab_frames_reset(&frames);
	return ret;
}

static void kernel_close(void)
{
	if (netlink >= 0)
		close(netlink);
	lab_close(lab);
	free(text);
	free(rules_text);
}

/* "a.b" to /proc/sys/a/b */
static void path_of(const char *name, char *path, size_t size)
{
	snprintf(path, size, "/proc/sys/%s", name);
	for (char *p = path; *p != '\0'; p++)
		if (*p == '.')
			*p = '/';
}

static int set_switch(const char *setting)
{
	const char *eq = strchr(setting, '=');
	char path[256];
	int ret;

	snprintf(was[n_was].name, sizeof(was[n_was].name), SWITCH "%.*s", (int)(eq - setting),
			setting);
	path_of(was[n_was].name, path, sizeof(path));
	ret = read_file(path, was[n_was].value, sizeof(was[n_was].value));
	if (ret == 0)
		ret = lab_sysctl(lab, LAB_ROUTER, was[n_was].name, eq + 1);
	if (ret < 0)
		fprintf(stderr, "%s%s: %s\n", SWITCH, setting, strerror(-ret));
	n_was += ret == 0;
	return ret;
}

static int load_family(const struct ct_setting *s, bool v6)
{
	char *rules = NULL;
	size_t size;
	FILE *f = open_memstream(&rules, &size);
	int ret;

	if (f == NULL)
		return -ENOMEM;
	ct_setting_print_rules(f, s, v6);
	fclose(f);
	ret = lab_feed(lab, LAB_ROUTER, rules, "%s-legacy-restore -w",
			v6 ? "ip6tables" : "iptables");
	if (ret != 0)
		fprintf(stderr, "setting %s: the kernel refuses its rules\n%s", s->name, rules);
	free(rules);
	return ret == 0 ? 0 : -EINVAL;
}

static int kernel_load(const struct ct_setting *s)
{
	int ret = 0;

	while (ret == 0 && n_was > 0) {
		n_was--;
		ret = lab_sysctl(lab, LAB_ROUTER, was[n_was].name, was[n_was].value);
	}
	/* before the rules: connbytes switches accounting on, and it stays so */
	for (unsigned int i = 0; ret == 0 && i < CT_SYSCTLS_MAX && s->sysctls[i] != NULL; i++)
		ret = set_switch(s->sysctls[i]);
	if (ret == 0)
		ret = load_family(s, false);
	if (ret == 0)
		ret = load_family(s, true);
	return ret == 0 ? flush() : ret;
}

static int kernel_send(unsigned int port, const void *frame, size_t len, uint64_t at_ns,
		struct lab_frames *out)
{
	int ret = lab_send(lab, port, frame, len);

	(void)at_ns;
	return ret == 0 ? lab_collect(lab, port, out) : ret;
}

static int kernel_connections(uint64_t at_ns, const char **out)
{
	(void)at_ns;
	*out = text;
	return read_file("/proc/thread-self/net/nf_conntrack", text, CT_TEXT_MAX);
}

static int kernel_rules(bool v6, const char **out)
{
	*out = rules_text;
	return lab_read(lab, LAB_ROUTER, rules_text, CT_TEXT_MAX, "%s-legacy-save -c",
			v6 ? "ip6tables" : "iptables");
}

const struct ct_side ct_kernel = {
	.name = "kernel",
	.open = kernel_open,
	.close = kernel_close,
	.load = kernel_load,
	.send = kernel_send,
	.connections = kernel_connections,
	.rules = kernel_rules,
};
