/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/kernel_conntrack.h"

#include "app/bench/side.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int64_t kernel_conntrack_count(void)
{
	FILE *f = fopen("/proc/sys/net/netfilter/nf_conntrack_count", "re");
	long long n = -1;

	if (f == NULL)
		return -1;
	if (fscanf(f, "%lld", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

/* the answer to a request with NLM_F_ACK; 0 or -errno */
static int answer(int fd)
{
	union {
		struct nlmsghdr h;
		char bytes[512];
	} in;
	struct nlmsgerr error;
	ssize_t n = recv(fd, &in, sizeof(in), 0);

	if (n < 0)
		return -errno;
	if ((size_t)n < NLMSG_HDRLEN + sizeof(error) || in.h.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	memcpy(&error, in.bytes + NLMSG_HDRLEN, sizeof(error));
	return error.error;
}

/* a deletion that names none deletes all */
int kernel_conntrack_flush(char *why)
{
	struct {
		struct nlmsghdr h;
		struct nfgenmsg g;
	} out = {
		.h = { .nlmsg_len = NLMSG_LENGTH(sizeof(out.g)),
				.nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE,
				.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.g = { .version = NFNETLINK_V0 },
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	int ret = 0;

	if (fd < 0 || send(fd, &out, sizeof(out), 0) < 0)
		ret = -errno;
	else
		ret = answer(fd);
	if (fd >= 0)
		close(fd);
	return ret < 0 ? side_fail(
			       why, -ENOTSUP, "connections cannot be flushed: %s", strerror(-ret))
		       : 0;
}
