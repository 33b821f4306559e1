/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/netdev.h"
#include "app/sluice/packet.h"
#include "lib/log.h"

#include <rte_malloc.h>

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

SL_LOG_TYPE("af_packet");

#define SLOTS 2048U
#define SLOTS_JUMBO 512U
#define SLOT_OVERHEAD 128U /* bytes that the kernel puts in front of the IP header, and a tag */
#define SOCKET_BUFFER (8 << 20)

static void device_stats(struct port_link *pl, struct link_device_stats *out)
{
	struct packet_link *l = packet_link(&pl->link);

	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < l->n_queues; i++) {
		struct packet_queue *q = &l->queues[i];
		struct tpacket_stats stats;
		socklen_t len = sizeof(stats);

		/* reading sets the kernel's counter to zero */
		if (q->rx_fd >= 0
				&& getsockopt(q->rx_fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len)
						== 0)
			atomic_fetch_add(&q->missed, stats.tp_drops);
		out->missed += atomic_load(&q->missed);
		out->rx_errors += q->rx_errors;
		out->rx_no_buffer += q->rx_no_buffer;
		out->tx_errors += q->tx_errors;
	}
}

static void packet_close(struct sl_link *link)
{
	struct packet_link *l = packet_link(link);

	for (unsigned int i = 0; i < l->n_queues; i++) {
		struct packet_queue *q = &l->queues[i];

		if (q->ring != NULL)
			munmap(q->ring, (size_t)l->n_slots / l->block_slots * PACKET_BLOCK_SIZE);
		if (q->rx_fd >= 0)
			close(q->rx_fd);
		if (q->tx_fd >= 0)
			close(q->tx_fd);
		free(q->copy);
		free(q->piece);
	}
	if (l->pl.membership_fd >= 0)
		close(l->pl.membership_fd);
	rte_free(l);
}

static const struct sl_link_ops packet_ops = {
	.kind = "af_packet",
	.rx = packet_rx,
	.tx = packet_tx,
	.close = packet_close,
};

static int set_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int bind_socket(unsigned int ifindex, uint16_t protocol, int fd)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = rte_cpu_to_be_16(protocol),
		.sll_ifindex = (int)ifindex,
	};

	if (bind(fd, (const void *)&addr, sizeof(addr)) < 0)
		return -errno;
	return 0;
}

/* large enough for bursts; without the privilege up to the system's limit */
static void grow_buffer(int fd, int forced, int plain)
{
	if (set_option(fd, SOL_SOCKET, forced, SOCKET_BUFFER) < 0)
		set_option(fd, SOL_SOCKET, plain, SOCKET_BUFFER);
}

static int open_tx(struct packet_queue *q, unsigned int ifindex, bool qdisc_bypass)
{
	/* protocol 0: receives nothing */
	q->tx_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (q->tx_fd < 0)
		return -errno;
	grow_buffer(q->tx_fd, SO_SNDBUFFORCE, SO_SNDBUF);
	if (qdisc_bypass)
		set_option(q->tx_fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1);
	return bind_socket(ifindex, 0, q->tx_fd);
}

static int open_ring(struct packet_link *l, struct packet_queue *q)
{
	struct tpacket_req req = {
		.tp_block_size = PACKET_BLOCK_SIZE,
		.tp_block_nr = l->n_slots / l->block_slots,
		.tp_frame_size = l->slot_size,
		.tp_frame_nr = l->n_slots,
	};
	void *ring;

	if (setsockopt(q->rx_fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)) < 0)
		return -errno;
	ring = mmap(NULL, (size_t)req.tp_block_nr * PACKET_BLOCK_SIZE, PROT_READ | PROT_WRITE,
			MAP_SHARED, q->rx_fd, 0);
	if (ring == MAP_FAILED)
		return -errno;
	q->ring = ring;
	return 0;
}

static int open_rx(struct packet_link *l, struct packet_queue *q)
{
	int ret;

	q->copy = malloc(PACKET_COPY_SIZE);
	q->piece = malloc(PACKET_COPY_SIZE);
	if (q->copy == NULL || q->piece == NULL)
		return -ENOMEM;
	q->rx_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (q->rx_fd < 0)
		return -errno;
	grow_buffer(q->rx_fd, SO_RCVBUFFORCE, SO_RCVBUF);
	ret = set_option(q->rx_fd, SOL_PACKET, PACKET_VERSION, TPACKET_V2);
	if (ret == 0)
		ret = set_option(q->rx_fd, SOL_PACKET, PACKET_VNET_HDR, 1);
	if (ret == 0)
		ret = set_option(q->rx_fd, SOL_PACKET, PACKET_COPY_THRESH, (int)l->slot_size);
	if (ret == 0)
		ret = set_option(q->rx_fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
	if (ret == 0)
		ret = open_ring(l, q);
	if (ret == 0)
		ret = bind_socket(l->pl.ifindex, ETH_P_ALL, q->rx_fd);
	return ret;
}

/* the kernel spreads by flow over the sockets of a group; the first one names the group */
static int join_fanout(struct packet_link *l)
{
	int group = (PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_UNIQUEID) << 16;
	socklen_t len = sizeof(group);
	int ret = 0;

	for (unsigned int i = 0; i < l->pl.link.n_rxq && ret == 0; i++) {
		ret = set_option(l->queues[i].rx_fd, SOL_PACKET, PACKET_FANOUT, group);
		if (ret == 0 && i == 0) {
			if (getsockopt(l->queues[0].rx_fd, SOL_PACKET, PACKET_FANOUT, &group, &len)
					< 0)
				return -errno;
			group &= ~(PACKET_FANOUT_FLAG_UNIQUEID << 16);
		}
	}
	return ret;
}

/* a number in the device string; @value keeps its default if the key is not there */
static int device_number(const char *device, const char *key, unsigned int min, unsigned int max,
		unsigned int *value)
{
	char text[16];
	char *end;
	unsigned long n;

	if (!link_device_arg(device, key, text, sizeof(text)))
		return 0;
	n = strtoul(text, &end, 10);
	if (*end != '\0' || text[0] < '0' || text[0] > '9' || n < min || n > max)
		return -EINVAL;
	*value = (unsigned int)n;
	return 0;
}

/* first key of the device string that is none of ours, or NULL */
static const char *unknown_key(const char *device, char *buf, size_t size)
{
	static const char *const keys[] = { "iface", "qpairs", "framesz", "framecnt", "blocksz",
		"qdisc_bypass" };

	for (const char *p = strchr(device, ','); p != NULL; p = strchr(p, ',')) {
		size_t len = strcspn(++p, "=,");
		bool known = false;

		for (unsigned int i = 0; i < RTE_DIM(keys); i++)
			known |= strlen(keys[i]) == len && strncmp(p, keys[i], len) == 0;
		if (!known) {
			snprintf(buf, size, "%.*s", (int)len, p);
			return buf;
		}
	}
	return NULL;
}

struct packet_args {
	unsigned int queues;
	unsigned int slot_size;
	unsigned int slots;
	unsigned int qdisc_bypass;
};

static int read_args(const struct link_want *want, struct packet_link *l, struct packet_args *args,
		char *err, size_t err_size)
{
	unsigned int slot_min = RTE_ALIGN_CEIL(want->mtu + SLOT_OVERHEAD, TPACKET_ALIGNMENT);
	char names[256];
	char key[32];

	args->queues = want->n_workers;
	args->slot_size = slot_min <= 2048 ? 2048 : slot_min;
	args->slots = args->slot_size <= 4096 ? SLOTS : SLOTS_JUMBO;
	args->qdisc_bypass = 1;
	if (unknown_key(want->device, key, sizeof(key)) != NULL) {
		snprintf(err, err_size,
				"device %s: unknown key '%s' (iface, qpairs, framesz, framecnt, blocksz "
				"and qdisc_bypass are known)",
				want->device, key);
		return -EINVAL;
	}
	if (!link_device_arg(want->device, "iface", l->pl.iface, sizeof(l->pl.iface))
			|| netdev_index(l->pl.iface) == 0) {
		snprintf(err, err_size, "device %s: no interface '%s' here; there are: %s",
				want->device, l->pl.iface, netdev_names(names, sizeof(names)));
		return -ENODEV;
	}
	if (device_number(want->device, "qpairs", 1, SL_WORKERS_MAX, &args->queues) < 0
			|| device_number(want->device, "framesz", 256, PACKET_BLOCK_SIZE,
					   &args->slot_size)
					< 0
			|| device_number(want->device, "framecnt", 16, 1U << 20, &args->slots) < 0
			|| device_number(want->device, "qdisc_bypass", 0, 1, &args->qdisc_bypass)
					< 0) {
		snprintf(err, err_size,
				"device %s: qpairs is 1..%d, framesz 256..%u, framecnt 16..1048576, "
				"qdisc_bypass 0 or 1",
				want->device, SL_WORKERS_MAX, PACKET_BLOCK_SIZE);
		return -EINVAL;
	}
	args->slot_size = RTE_ALIGN_CEIL(args->slot_size, (unsigned int)TPACKET_ALIGNMENT);
	return 0;
}

/* things about the interface that will surprise somebody */
static void warn(const struct link_want *want, const char *iface)
{
	char text[64];

	if (netdev_address4(iface, text, sizeof(text)) != NULL)
		SL_LOG(WARNING,
				"port %s: the kernel has address %s on %s and answers beside sluice: "
				"ip addr flush dev %s",
				want->port, text, iface, iface);
}

static int open_queues(struct packet_link *l, bool qdisc_bypass)
{
	int ret = 0;

	for (unsigned int i = 0; i < l->n_queues && ret == 0; i++) {
		ret = open_tx(&l->queues[i], l->pl.ifindex, qdisc_bypass);
		if (ret == 0 && i < l->pl.link.n_rxq)
			ret = open_rx(l, &l->queues[i]);
	}
	if (ret == 0 && l->pl.link.n_rxq > 1)
		ret = join_fanout(l);
	return ret;
}

static int fit_mtu(const char *iface, unsigned int mtu)
{
	unsigned int now = 0;
	int ret;

	ret = netdev_mtu(iface, &now);
	if (ret == 0 && now < mtu)
		ret = netdev_set_mtu(iface, mtu);
	return ret;
}

int link_packet_open(
		const struct link_want *want, struct port_link **out, char *err, size_t err_size)
{
	const char *step = "memory";
	struct packet_args args;
	struct packet_link *l;
	int ret = -ENOMEM;

	l = rte_zmalloc(NULL, sizeof(*l), RTE_CACHE_LINE_SIZE);
	if (l == NULL)
		goto err_message;
	l->pl.link.ops = &packet_ops;
	l->pl.membership_fd = -1;
	l->pl.device_stats = device_stats;
	l->pool = want->pool;
	l->n_queues = want->n_workers;
	for (unsigned int i = 0; i < l->n_queues; i++) {
		l->queues[i].rx_fd = -1;
		l->queues[i].tx_fd = -1;
	}
	snprintf(l->pl.driver, sizeof(l->pl.driver), "net_af_packet");
	ret = read_args(want, l, &args, err, err_size);
	if (ret < 0)
		goto err_close;
	l->slot_size = args.slot_size;
	l->block_slots = PACKET_BLOCK_SIZE / l->slot_size;
	l->n_slots = (args.slots + l->block_slots - 1) / l->block_slots * l->block_slots;
	l->pl.link.n_rxq = (uint16_t)RTE_MIN(args.queues, want->n_workers);
	l->pl.link.n_txq = (uint16_t)want->n_workers;
	/* the kernel's hash is the same for both directions, and for every port of this program */
	l->pl.link.spreads = l->pl.link.n_rxq == want->n_workers;

	step = "interface";
	ret = netdev_mac(l->pl.iface, &l->pl.mac);
	if (ret < 0)
		goto err_step;
	if (want->has_mac)
		l->pl.mac = want->mac;
	step = "mtu";
	ret = fit_mtu(l->pl.iface, want->mtu);
	if (ret < 0)
		goto err_step;
	step = "socket";
	ret = netdev_join(l->pl.iface, want->has_mac ? &want->mac : NULL, want->has_vlans);
	if (ret < 0)
		goto err_step;
	l->pl.membership_fd = ret;
	l->pl.ifindex = netdev_index(l->pl.iface);
	ret = open_queues(l, args.qdisc_bypass != 0);
	if (ret < 0)
		goto err_step;
	step = "link up";
	ret = netdev_set_up(l->pl.iface);
	if (ret < 0)
		goto err_step;
	warn(want, l->pl.iface);
	*out = &l->pl;
	return 0;

err_step:
	snprintf(err, err_size, "device %s: %s: %s%s", want->device, step, strerror(-ret),
			ret == -EPERM ? " (CAP_NET_RAW and CAP_NET_ADMIN are needed)" : "");
err_close:
	packet_close(&l->pl.link);
	return ret;
err_message:
	snprintf(err, err_size, "device %s: %s: %s", want->device, step, strerror(-ret));
	return ret;
}
