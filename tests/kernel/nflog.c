/* SPDX-License-Identifier: BSD-3-Clause */
#include "nflog.h"

#include "lab_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <stdlib.h>
#include <sys/socket.h>

#define ROOM 65536

struct nflog {
	struct mnl_socket *sock;
	uint8_t buf[ROOM];
	/* while nflog_read() runs */
	uint32_t *marks;
	size_t n, room;
};

static struct nlmsghdr *begin(void *buf, uint8_t family, uint16_t group)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(h, sizeof(*nfg));

	h->nlmsg_type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	nfg->nfgen_family = family;
	nfg->version = NFNETLINK_V0;
	nfg->res_id = htons(group);
	return h;
}

/* Return: 0 or -errno, the kernel's too */
static int ask(struct nflog *log, const struct nlmsghdr *h)
{
	ssize_t n;

	if (mnl_socket_sendto(log->sock, h, h->nlmsg_len) < 0)
		return -errno;
	n = mnl_socket_recvfrom(log->sock, log->buf, sizeof(log->buf));
	if (n < 0
			|| mnl_cb_run(log->buf, (size_t)n, 0, mnl_socket_get_portid(log->sock),
					   NULL, NULL)
					< 0)
		return -errno;
	return 0;
}

static int configure(struct nflog *log, uint16_t group, uint32_t each)
{
	struct nfulnl_msg_config_cmd bind = { .command = NFULNL_CFG_CMD_BIND };
	struct nfulnl_msg_config_mode mode = { .copy_mode = NFULNL_COPY_META };
	struct nlmsghdr *h = begin(log->buf, AF_UNSPEC, group);
	int ret;

	mnl_attr_put(h, NFULA_CFG_CMD, sizeof(bind), &bind);
	ret = ask(log, h);
	if (ret < 0)
		return ret;
	h = begin(log->buf, AF_UNSPEC, group);
	mnl_attr_put(h, NFULA_CFG_MODE, sizeof(mode), &mode);
	mnl_attr_put_u32(h, NFULA_CFG_NLBUFSIZ, htonl(ROOM / 2));
	mnl_attr_put_u32(h, NFULA_CFG_QTHRESH, htonl(each));
	mnl_attr_put_u32(h, NFULA_CFG_TIMEOUT, htonl(1000));
	return ask(log, h);
}

int nflog_open(struct lab *lab, uint16_t group, uint32_t each, struct nflog **out)
{
	static const int size = 16 << 20;
	struct nflog *log = calloc(1, sizeof(*log));
	int ret;

	if (log == NULL)
		return -ENOMEM;
	ret = lab_enter(lab, LAB_ROUTER);
	if (ret == 0) {
		log->sock = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
		ret = log->sock == NULL ? -errno : 0;
		lab_leave(lab);
	}
	if (ret == 0
			&& (mnl_socket_bind(log->sock, 0, MNL_SOCKET_AUTOPID) < 0
					|| setsockopt(mnl_socket_get_fd(log->sock), SOL_SOCKET,
							   SO_RCVBUFFORCE, &size, sizeof(size))
							< 0))
		ret = -errno;
	if (ret == 0)
		ret = configure(log, group, each);
	if (ret < 0) {
		nflog_close(log);
		return ret;
	}
	*out = log;
	return 0;
}

void nflog_close(struct nflog *log)
{
	if (log->sock != NULL)
		mnl_socket_close(log->sock);
	free(log);
}

static int take(const struct nlmsghdr *h, void *arg)
{
	struct nflog *log = arg;
	const struct nlattr *attr;
	uint32_t mark = 0; /* the kernel does not speak of this one */

	if (h->nlmsg_type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET))
		return MNL_CB_OK;
	mnl_attr_for_each(attr, h, sizeof(struct nfgenmsg))
	{
		if (mnl_attr_get_type(attr) == NFULA_MARK)
			mark = ntohl(mnl_attr_get_u32(attr));
	}
	if (log->n < log->room)
		log->marks[log->n] = mark;
	log->n++;
	return MNL_CB_OK;
}

ssize_t nflog_read(struct nflog *log, uint32_t *marks, size_t room)
{
	ssize_t n;

	log->marks = marks;
	log->room = room;
	log->n = 0;
	while ((n = recv(mnl_socket_get_fd(log->sock), log->buf, sizeof(log->buf), MSG_DONTWAIT))
			> 0) {
		if (mnl_cb_run(log->buf, (size_t)n, 0, 0, take, log) < 0)
			return -errno;
	}
	return n < 0 && errno != EAGAIN ? -errno : (ssize_t)log->n;
}
