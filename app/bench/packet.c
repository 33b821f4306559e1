/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second way to the kernel's figure, with another source in front and another clock. An AF_PACKET
 * ring without queueing discipline hands frames to the first pair's far end. The near end receives
 * them in batches, by NAPI, as a network card's driver does; its receive softirq runs as a thread of
 * its own on the core under test, whose CPU time the kernel counts to the nanosecond.
 */
#include "app/bench/kernel.h"
#include "app/bench/kernel_priv.h"
#include "app/bench/lab.h"
#include "app/bench/packet_napi.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#define SLOTS 192U /* frames of one system call; the veth's own ring has 256 */
#define SLOT_SIZE 2048U
#define BLOCK_SIZE 65536U
#define PATIENCE_NS 2e8 /* for packets that do not arrive */

struct packet {
	struct kernel *k;
	int fd;
	uint8_t *ring;
	unsigned int slot; /* the next one to fill */
	uint32_t flow; /* of the next frame */
	pid_t receiver; /* the thread that receives; 0 until it is known */
};

static int open_ring(struct packet *p, char *why)
{
	/* protocol 0: nothing is received */
	union {
		struct sockaddr_ll ll;
		struct sockaddr any;
	} to = { .ll = { .sll_family = AF_PACKET,
				 .sll_ifindex = (int)if_nametoindex(LAB_IN_PEER) } };
	struct tpacket_req ring = { .tp_block_size = BLOCK_SIZE,
		.tp_block_nr = SLOTS * SLOT_SIZE / BLOCK_SIZE,
		.tp_frame_size = SLOT_SIZE,
		.tp_frame_nr = SLOTS };
	int version = TPACKET_V2, on = 1;

	p->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	/* the virtio header says how much of a frame shall be linear: all, as from a driver */
	if (p->fd < 0
			|| setsockopt(p->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version))
					< 0
			|| setsockopt(p->fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) < 0
			|| setsockopt(p->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) < 0
			|| setsockopt(p->fd, SOL_PACKET, PACKET_TX_RING, &ring, sizeof(ring)) < 0)
		return side_fail(why, -ENOTSUP, "no packet ring: %s", strerror(errno));
	if (bind(p->fd, &to.any, sizeof(to)) < 0)
		return side_fail(why, -ENOTSUP, "%s: %s", LAB_IN_PEER, strerror(errno));
	p->ring = mmap(NULL, SLOTS * SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (p->ring == MAP_FAILED)
		return side_fail(why, -ENOTSUP, "no packet ring: %s", strerror(errno));
	return 0;
}

static void fill(struct packet *p)
{
	const struct traffic *t = &p->k->setup->traffic;
	uint8_t *slot = p->ring + (size_t)p->slot * SLOT_SIZE;
	struct tpacket2_hdr *h = (struct tpacket2_hdr *)(void *)slot;
	uint8_t *data = slot + TPACKET2_HDRLEN - sizeof(struct sockaddr_ll);
	uint16_t len;
	struct virtio_net_hdr vnet = { .gso_type = VIRTIO_NET_HDR_GSO_NONE };

	len = traffic_frame(t, p->flow, data + sizeof(vnet));
	vnet.hdr_len = len;
	memcpy(data, &vnet, sizeof(vnet));
	h->tp_len = (uint32_t)sizeof(vnet) + len;
	__atomic_store_n(&h->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
	p->slot = (p->slot + 1) % SLOTS;
	p->flow = p->flow + 1 == traffic_count(t) ? 0 : p->flow + 1;
}

/* the receiver is on this core: it runs when this thread gives way */
static void wait_for(const volatile struct live_counts *c, uint64_t left)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (c->left < left) {
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((double)(now.tv_sec - start.tv_sec) * 1e9
						+ (double)(now.tv_nsec - start.tv_nsec)
				> PATIENCE_NS)
			return;
	}
}

static int send_packets(struct packet *p, uint64_t packets, struct side_sample *out, char *why)
{
	volatile struct live_counts *c = p->k->live.counts;
	uint64_t left = c->left;
	double start_ns = packet_napi_ns(p->receiver);

	out->entered = 0;
	side_clock_start(out);
	while (out->entered < packets && c->left - left == out->entered) {
		uint64_t n = packets - out->entered < SLOTS ? packets - out->entered : SLOTS;

		for (uint64_t i = 0; i < n; i++)
			fill(p);
		if (send(p->fd, "", 0, 0) < 0)
			return side_fail(why, -EIO, "packet ring: %s", strerror(errno));
		out->entered += n;
		wait_for(c, left + out->entered);
	}
	side_clock_stop(out);
	out->left = c->left - left;
	out->cpu_ns = packet_napi_ns(p->receiver) - start_ns;
	/* this thread waits for that one, which is no disturbance */
	out->wait_ns = 0;
	return 0;
}

static int packet_open(const struct side_setup *setup, void **priv, char *why)
{
	struct packet *p = calloc(1, sizeof(*p));
	int ret;

	if (p == NULL)
		return side_fail(why, -ENOMEM, "no memory");
	ret = kernel_create(setup, &p->k, why);
	if (ret == 0)
		ret = packet_napi_enable(LAB_IN, LAB_IN_PEER, why);
	if (ret == 0)
		ret = open_ring(p, why);
	*priv = p; /* ends with the process */
	return ret;
}

/* the probe's packets go the same way; there is one side in a process */
static struct packet *probed;

static int move(struct kernel *k, uint64_t packets, struct side_sample *out, char *why)
{
	(void)k;
	return send_packets(probed, packets, out, why);
}

/* one packet tells by whom it was received; the flows begin again behind it */
static int find_receiver(struct packet *p, char *why)
{
	struct live *l = &p->k->live;
	struct side_sample sample;
	int ret = live_shut(l, l->identify, why);

	if (ret == 0)
		ret = send_packets(p, 1, &sample, why);
	if (ret == 0)
		ret = live_reopen(l, why);
	if (ret == 0)
		ret = packet_napi_find(
				LAB_IN, l->counts->napi, p->k->setup->core, &p->receiver, why);
	p->flow = 0;
	return ret;
}

static int packet_probe(void *priv, struct side_probe *out, char *why)
{
	struct packet *p = priv;
	int ret;

	probed = p;
	ret = find_receiver(p, why);
	return ret < 0 ? ret : kernel_probe_by(p->k, move, out, why);
}

static int packet_measure(
		void *priv, uint64_t packets, bool alone, struct side_sample *out, char *why)
{
	(void)alone;
	return send_packets(priv, packets, out, why);
}

const struct side_ops packet_side = {
	.open = packet_open,
	.probe = packet_probe,
	.measure = packet_measure,
};

static int packet_cut_probe(void *priv, struct side_probe *out, char *why)
{
	struct packet *p = priv;
	int ret = packet_probe(priv, out, why);

	return ret < 0 ? ret : live_shut(&p->k->live, p->k->live.identify, why);
}

const struct side_ops packet_cut_side = {
	.open = packet_open,
	.probe = packet_cut_probe,
	.measure = packet_measure,
};
