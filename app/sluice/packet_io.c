/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/packet.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>

#define MACS_LEN (2UL * RTE_ETHER_ADDR_LEN)

/* an mbuf chain that grows at its end */
struct chain {
	struct rte_mempool *pool;
	struct rte_mbuf *head;
	struct rte_mbuf *tail;
};

static bool chain_append(struct chain *c, const void *data, uint32_t len)
{
	const uint8_t *from = data;

	while (len > 0) {
		uint16_t room = rte_pktmbuf_tailroom(c->tail);
		uint16_t part = (uint16_t)RTE_MIN(len, (uint32_t)room);

		if (part == 0) {
			struct rte_mbuf *m = rte_pktmbuf_alloc(c->pool);

			if (m == NULL)
				return false;
			/* later segments need no room in front */
			m->data_off = 0;
			c->tail->next = m;
			c->tail = m;
			c->head->nb_segs++;
			continue;
		}
		memcpy(rte_pktmbuf_mtod_offset(c->tail, uint8_t *, c->tail->data_len), from, part);
		c->tail->data_len += part;
		c->head->pkt_len += part;
		from += part;
		len -= part;
	}
	return true;
}

/* @vlan: TPID and TCI that stand behind the MAC addresses, in network order; TPID 0: none */
static struct rte_mbuf *copy_frame(
		struct rte_mempool *pool, const uint8_t *frame, uint32_t len, const uint16_t *vlan)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct chain c = { .pool = pool, .head = m, .tail = m };
	bool ok;

	if (m == NULL)
		return NULL;
	if (vlan[0] != 0 && len >= MACS_LEN)
		ok = chain_append(&c, frame, MACS_LEN) && chain_append(&c, vlan, 4)
				&& chain_append(&c, frame + MACS_LEN, len - (uint32_t)MACS_LEN);
	else
		ok = chain_append(&c, frame, len);
	if (!ok) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	return m;
}

/**
 * fetch_whole() - the frame that did not fit its slot, to q->copy
 *
 * The socket queues them in the order of the ring. A link that went down leaves one error in front;
 * a frame of another length belongs to a slot that was given up. Return: bytes, 0 if it is lost.
 */
static uint32_t fetch_whole(struct packet_queue *q, uint32_t len)
{
	for (unsigned int i = 0; i < SL_BURST; i++) {
		ssize_t n = recv(q->rx_fd, q->copy, PACKET_COPY_SIZE, MSG_DONTWAIT | MSG_TRUNC);

		if (n == (ssize_t)(len + sizeof(struct virtio_net_hdr))
				&& n <= (ssize_t)PACKET_COPY_SIZE)
			return len;
		if (n < 0 && errno == EAGAIN)
			break;
	}
	return 0;
}

/**
 * take_slot() - the frame of a slot
 * @m: the packet, or NULL if there is none: it began a cut, or was an error
 *
 * Return: false if there was no buffer for it; the slot stays as it is then.
 */
static bool take_slot(struct packet_link *l, struct packet_queue *q, struct tpacket2_hdr *h,
		uint32_t status, struct rte_mbuf **m)
{
	uint8_t *frame = (uint8_t *)h + h->tp_mac;
	struct virtio_net_hdr vh;
	uint32_t len = h->tp_snaplen;
	uint16_t vlan[2] = { 0, 0 };

	*m = NULL;
	memcpy(&vh, frame - sizeof(vh), sizeof(vh));
	if (h->tp_len > h->tp_snaplen) {
		len = (status & TP_STATUS_COPY) != 0 ? fetch_whole(q, h->tp_len) : 0;
		if (len == 0) {
			q->rx_errors++;
			return true;
		}
		memcpy(&vh, q->copy, sizeof(vh));
		frame = q->copy + sizeof(vh);
	}
	if ((status & TP_STATUS_VLAN_VALID) != 0) {
		vlan[0] = rte_cpu_to_be_16((status & TP_STATUS_VLAN_TPID_VALID) != 0
						? h->tp_vlan_tpid
						: RTE_ETHER_TYPE_VLAN);
		vlan[1] = rte_cpu_to_be_16(h->tp_vlan_tci);
	}
	if (vh.gso_type != VIRTIO_NET_HDR_GSO_NONE) {
		/* the slot is given back, the pieces come from the copy */
		if (frame != q->copy + sizeof(vh))
			frame = memcpy(q->copy + sizeof(vh), frame, len);
		if (gso_start(&q->gso, frame, len, &vh) < 0)
			q->rx_errors++;
		memcpy(q->cut_vlan, vlan, sizeof(vlan));
		return true;
	}
	if ((vh.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) != 0
			&& !gso_complete_checksum(frame, len, &vh)) {
		q->rx_errors++;
		return true;
	}
	*m = copy_frame(l->pool, frame, len, vlan);
	if (*m != NULL)
		return true;
	q->rx_no_buffer++;
	/* what was fetched is gone from the socket; a slot can be read again, its sum is whole now */
	if (frame == q->copy + sizeof(vh))
		return true;
	vh.flags = 0;
	memcpy(frame - sizeof(vh), &vh, sizeof(vh));
	return false;
}

static struct tpacket2_hdr *slot_header(const struct packet_link *l, const struct packet_queue *q)
{
	return (void *)(q->ring + (size_t)(q->slot / l->block_slots) * PACKET_BLOCK_SIZE
			+ (size_t)(q->slot % l->block_slots) * l->slot_size);
}

uint16_t packet_rx(struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct packet_link *l = packet_link(link);
	struct packet_queue *q = &l->queues[queue];
	uint16_t got = 0;

	while (got < n) {
		struct tpacket2_hdr *h;
		struct rte_mbuf *m;
		uint32_t status;

		if (gso_pending(&q->gso)) {
			struct gso before = q->gso;
			uint32_t len = gso_next(&q->gso, q->piece);

			m = copy_frame(l->pool, q->piece, len, q->cut_vlan);
			if (m == NULL) {
				q->gso = before;
				q->rx_no_buffer++;
				break;
			}
			pkts[got++] = m;
			continue;
		}
		h = slot_header(l, q);
		status = __atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE);
		if ((status & TP_STATUS_USER) == 0 || !take_slot(l, q, h, status, &m))
			break;
		__atomic_store_n(&h->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		if (++q->slot == l->n_slots)
			q->slot = 0;
		if (m != NULL)
			pkts[got++] = m;
	}
	return got;
}

/* iovecs of as many packets as fit; returns how many those are */
static unsigned int gather(
		struct rte_mbuf **pkts, unsigned int n, struct iovec *iov, struct mmsghdr *msgs)
{
	unsigned int used = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		unsigned int first = used;

		if (used + m->nb_segs > PACKET_TX_IOVECS)
			break;
		for (; m != NULL; m = m->next) {
			iov[used].iov_base = rte_pktmbuf_mtod(m, void *);
			iov[used++].iov_len = m->data_len;
		}
		msgs[i] = (struct mmsghdr){
			.msg_hdr = { .msg_iov = iov + first, .msg_iovlen = used - first },
		};
	}
	return i;
}

uint16_t packet_tx(struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct packet_queue *q = &packet_link(link)->queues[queue];
	struct iovec iov[PACKET_TX_IOVECS];
	struct mmsghdr msgs[SL_BURST];
	unsigned int done = 0;

	while (done < n) {
		unsigned int some = gather(
				pkts + done, RTE_MIN(n - done, (unsigned int)SL_BURST), iov, msgs);
		int sent = some == 0 ? 0 : sendmmsg(q->tx_fd, msgs, some, MSG_DONTWAIT);

		if (sent > 0) {
			rte_pktmbuf_free_bulk(pkts + done, (unsigned int)sent);
			done += (unsigned int)sent;
			continue;
		}
		/* no room or no device: the rest stays with the caller */
		if (some > 0 && errno != EMSGSIZE && errno != EINVAL)
			break;
		/* this one will never go: as a NIC would, take it and count an error */
		rte_pktmbuf_free(pkts[done++]);
		q->tx_errors++;
	}
	return (uint16_t)done;
}
