/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab_priv.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

/* a request to delete that names no connection is about all of them */
static int ask(int fd)
{
	const struct {
		struct nlmsghdr h;
		struct nfgenmsg g;
	} request = { .h = { .nlmsg_len = sizeof(request),
				      .nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8
						      | IPCTNL_MSG_CT_DELETE,
				      .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK } };
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char rest[256];
	} answer;

	if (send(fd, &request, sizeof(request), 0) < 0
			|| recv(fd, &answer, sizeof(answer), 0) < (ssize_t)NLMSG_LENGTH(4))
		return -errno;
	return answer.h.nlmsg_type == NLMSG_ERROR ? answer.e.error : -EPROTO;
}

int lab_forget(struct lab *lab)
{
	int ret = lab_enter(lab, LAB_ROUTER), fd;

	if (ret < 0)
		return ret;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	ret = fd < 0 ? -errno : ask(fd);
	if (fd >= 0)
		close(fd);
	lab_leave(lab);
	return ret;
}
