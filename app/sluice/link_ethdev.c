/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports on a DPDK device. */
#include "app/sluice/eal.h"
#include "app/sluice/ethdev.h"
#include "app/sluice/link.h"
#include "app/sluice/netdev.h"
#include "lib/log.h"
#include "lib/router.h"

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mempool.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

SL_LOG_TYPE("ethdev");

#define DESCRIPTORS 1024
#define XDP_HEADROOM 256U /* the kernel's, inside every AF_XDP buffer */
#define PAGE_BYTES 4096U
#define FRAME_OVERHEAD (RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN)
#define RSS_KEY_MAX 64

struct ethdev_link {
	struct port_link pl; /* first */
	uint16_t dev; /* [const] */
	bool flat; /* [const] the driver sends only whole frames in one segment of its own */
	bool is_xdp; /* [const] */
	struct rte_mempool *pool; /* [const] for rx and flat copies */
	struct rte_mempool *own_pool; /* [const] the same if it is ours to free */
	uint64_t tx_errors[SL_WORKERS_MAX]; /* [worker] */
};

static struct ethdev_link *ethdev_link(struct sl_link *link)
{
	return (struct ethdev_link *)(void *)link;
}

static uint16_t ethdev_rx(struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	return rte_eth_rx_burst(ethdev_link(link)->dev, queue, pkts, n);
}

static uint16_t ethdev_tx(struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	return rte_eth_tx_burst(ethdev_link(link)->dev, queue, pkts, n);
}

/* @m as one segment with data of its own; NULL if there is no buffer or it is too long */
static struct rte_mbuf *flatten(struct ethdev_link *l, struct rte_mbuf *m)
{
	struct rte_mbuf *copy;

	if (likely(m->nb_segs == 1 && RTE_MBUF_DIRECT(m)))
		return m;
	copy = rte_pktmbuf_copy(m, l->pool, 0, UINT32_MAX);
	rte_pktmbuf_free(m);
	if (copy != NULL && copy->nb_segs > 1) {
		rte_pktmbuf_free(copy);
		copy = NULL;
	}
	return copy;
}

static uint16_t ethdev_tx_flat(
		struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct ethdev_link *l = ethdev_link(link);
	uint16_t done = 0;

	/* one at a time only where something has to be changed */
	while (done < n) {
		uint16_t first = done;
		uint16_t sent;

		while (done < n && pkts[done]->nb_segs == 1 && RTE_MBUF_DIRECT(pkts[done]))
			done++;
		if (done == first) {
			struct rte_mbuf *m = flatten(l, pkts[done]);

			/* taken either way */
			if (m == NULL || rte_eth_tx_burst(l->dev, queue, &m, 1) == 0) {
				l->tx_errors[queue]++;
				rte_pktmbuf_free(m);
			}
			done++;
			continue;
		}
		sent = rte_eth_tx_burst(l->dev, queue, pkts + first, (uint16_t)(done - first));
		if (sent < done - first)
			return (uint16_t)(first + sent);
	}
	return done;
}

static void ethdev_close(struct sl_link *link)
{
	struct ethdev_link *l = ethdev_link(link);

	rte_eth_dev_stop(l->dev);
	rte_eth_dev_close(l->dev);
	if (l->pl.membership_fd >= 0)
		close(l->pl.membership_fd);
	rte_mempool_free(l->own_pool);
	rte_free(l);
}

static const struct sl_link_ops ethdev_ops = {
	.kind = "ethdev",
	.rx = ethdev_rx,
	.tx = ethdev_tx,
	.close = ethdev_close,
};

static const struct sl_link_ops ethdev_flat_ops = {
	.kind = "ethdev",
	.rx = ethdev_rx,
	.tx = ethdev_tx_flat,
	.close = ethdev_close,
};

static bool ethdev_is_up(struct port_link *pl)
{
	struct rte_eth_link state;

	return rte_eth_link_get_nowait(ethdev_link(&pl->link)->dev, &state) == 0
			&& state.link_status == RTE_ETH_LINK_UP;
}

static void device_stats(struct port_link *pl, struct link_device_stats *out)
{
	struct ethdev_link *l = ethdev_link(&pl->link);
	struct rte_eth_stats stats;

	memset(out, 0, sizeof(*out));
	if (rte_eth_stats_get(l->dev, &stats) == 0) {
		out->missed = stats.imissed;
		out->rx_errors = stats.ierrors;
		out->rx_no_buffer = stats.rx_nombuf;
		out->tx_errors = stats.oerrors;
	}
	for (unsigned int i = 0; i < pl->link.n_txq; i++)
		out->tx_errors += l->tx_errors[i];
}

/* a pool with buffers that take the port's frames in one piece, if the common one does not */
static int choose_pool(struct ethdev_link *l, const struct link_want *want, uint32_t room,
		bool scatter, char *err, size_t err_size)
{
	uint32_t have = (uint32_t)rte_pktmbuf_data_room_size(want->pool) - RTE_PKTMBUF_HEADROOM;
	char name[RTE_MEMPOOL_NAMESIZE];
	unsigned int n;

	l->pool = want->pool;
	if (room <= have || scatter)
		return 0;
	n = (uint32_t)(l->pl.link.n_rxq + l->pl.link.n_txq) * 2 * DESCRIPTORS + 4096;
	snprintf(name, sizeof(name), "rx %u", l->dev);
	l->own_pool = sl_pool_create(name, n, RTE_ALIGN_CEIL(room, (uint32_t)RTE_CACHE_LINE_SIZE));
	if (l->own_pool == NULL) {
		snprintf(err, err_size, "device %s: no memory for %u buffers of %u bytes",
				want->device, n, room);
		return -ENOMEM;
	}
	l->pool = l->own_pool;
	return 0;
}

/* symmetric: both directions of a flow come to the same queue */
static void want_rss(const struct rte_eth_dev_info *info, struct rte_eth_conf *conf, uint8_t *key)
{
	const uint64_t kinds =
			RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_SCTP;
	unsigned int len = info->hash_key_size == 0 ? 40 : info->hash_key_size;

	if (len > RSS_KEY_MAX || (info->flow_type_rss_offloads & kinds) == 0)
		return;
	/* Woo and Park, Scalable TCP Session Monitoring with Symmetric RSS, 2012 */
	for (unsigned int i = 0; i < len; i++)
		key[i] = i % 2 == 0 ? 0x6d : 0x5a;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf.rss_key = key;
	conf->rx_adv_conf.rss_conf.rss_key_len = (uint8_t)len;
	conf->rx_adv_conf.rss_conf.rss_hf = info->flow_type_rss_offloads & kinds;
}

static int configure(struct ethdev_link *l, const struct link_want *want,
		const struct rte_eth_dev_info *info, char *err, size_t err_size)
{
	struct sl_link *link = &l->pl.link;
	uint32_t room = want->mtu + FRAME_OVERHEAD + (l->is_xdp ? XDP_HEADROOM : 0);
	bool scatter = (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) != 0;
	struct rte_eth_conf conf = { .rxmode.mtu = want->mtu };
	uint8_t key[RSS_KEY_MAX];
	int ret;

	link->n_rxq = (uint16_t)RTE_MIN(want->n_workers, info->max_rx_queues);
	link->n_txq = (uint16_t)RTE_MIN(want->n_workers, info->max_tx_queues);
	ret = choose_pool(l, want, room, scatter, err, err_size);
	if (ret < 0)
		return ret;
	if (scatter && room + RTE_PKTMBUF_HEADROOM > rte_pktmbuf_data_room_size(l->pool))
		conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
	conf.txmode.offloads |= info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	l->flat = (info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) == 0;
	if (link->n_rxq > 1)
		want_rss(info, &conf, key);
	ret = rte_eth_dev_configure(l->dev, link->n_rxq, link->n_txq, &conf);
	if (ret < 0 && conf.rxmode.mq_mode == RTE_ETH_MQ_RX_RSS) {
		/* no key of ours: the device spreads, but not symmetrically */
		conf.rx_adv_conf.rss_conf.rss_key = NULL;
		ret = rte_eth_dev_configure(l->dev, link->n_rxq, link->n_txq, &conf);
	}
	if (ret < 0) {
		snprintf(err, err_size, "device %s: mtu %u with %u queues: %s (%s)", want->device,
				want->mtu, link->n_rxq, strerror(-ret), eal_errors());
		return ret;
	}
	link->spreads = link->n_rxq == want->n_workers
			&& (link->n_rxq == 1 || conf.rx_adv_conf.rss_conf.rss_key != NULL);
	return 0;
}

static int set_up_queues(struct ethdev_link *l)
{
	uint16_t n_rxd = DESCRIPTORS;
	uint16_t n_txd = DESCRIPTORS;
	int ret;

	ret = rte_eth_dev_adjust_nb_rx_tx_desc(l->dev, &n_rxd, &n_txd);
	for (uint16_t q = 0; q < l->pl.link.n_rxq && ret == 0; q++)
		ret = rte_eth_rx_queue_setup(l->dev, q, n_rxd, SOCKET_ID_ANY, NULL, l->pool);
	for (uint16_t q = 0; q < l->pl.link.n_txq && ret == 0; q++)
		ret = rte_eth_tx_queue_setup(l->dev, q, n_txd, SOCKET_ID_ANY, NULL);
	return ret;
}

/* all multicast and our own address, by what the device offers */
static int set_filters(struct ethdev_link *l, const struct link_want *want)
{
	bool kernel = l->pl.iface[0] != '\0' && !l->pl.may_move;
	int ret = 0;

	if (want->has_mac) {
		struct rte_ether_addr mac = want->mac;

		ret = rte_eth_dev_default_mac_addr_set(l->dev, &mac);
		/* the frames reach us all the same: by membership, or no filter is there */
		if (ret == -ENOTSUP)
			ret = 0;
		l->pl.mac = want->mac;
	} else {
		ret = rte_eth_macaddr_get(l->dev, &l->pl.mac);
	}
	if (ret < 0)
		return ret;
	if (kernel) {
		ret = netdev_join(l->pl.iface, want->has_mac ? &want->mac : NULL, want->has_vlans);
		if (ret < 0)
			return ret;
		l->pl.membership_fd = ret;
		return netdev_set_up(l->pl.iface);
	}
	if (rte_eth_allmulticast_enable(l->dev) < 0)
		rte_eth_promiscuous_enable(l->dev);
	return 0;
}

static int set_mtu(struct ethdev_link *l, uint16_t mtu)
{
	unsigned int now = 0;
	int ret;

	if (l->pl.iface[0] != '\0' && netdev_mtu(l->pl.iface, &now) == 0 && now >= mtu)
		return 0;
	ret = rte_eth_dev_set_mtu(l->dev, mtu);
	/* devices without one, such as rings and captures, take what comes */
	return ret == -ENOTSUP ? 0 : ret;
}

/* largest MTU that one buffer of an AF_XDP port can hold: no more than a page with its headers */
static uint16_t xdp_mtu_max(const struct rte_eth_dev_info *info)
{
	struct rte_mempool_objsz size;
	uint32_t headers = sizeof(struct rte_mbuf) + SL_PKT_PRIV_SIZE + RTE_PKTMBUF_HEADROOM;
	uint32_t max;

	rte_mempool_calc_obj_size(headers, 0, &size);
	max = PAGE_BYTES - size.header_size - size.trailer_size - headers - XDP_HEADROOM
			- FRAME_OVERHEAD - RTE_CACHE_LINE_SIZE;
	return (uint16_t)RTE_MIN(max, (uint32_t)info->max_mtu);
}

static int check_mtu(const struct ethdev_link *l, const struct link_want *want,
		const struct rte_eth_dev_info *info, char *err, size_t err_size)
{
	uint16_t max = l->is_xdp ? xdp_mtu_max(info) : info->max_mtu;

	if (want->mtu <= max && want->mtu >= info->min_mtu)
		return 0;
	snprintf(err, err_size, "device %s: mtu %u is not within %u..%u, what %s takes%s",
			want->device, want->mtu, info->min_mtu, max, l->pl.driver,
			l->is_xdp ? " (net_af_packet takes more)" : "");
	return -EINVAL;
}

static int start(struct ethdev_link *l, const struct link_want *want, char *err, size_t err_size)
{
	const char *step = "information";
	struct rte_eth_dev_info info;
	int ret;

	ret = rte_eth_dev_info_get(l->dev, &info);
	if (ret < 0)
		goto err_step;
	snprintf(l->pl.driver, sizeof(l->pl.driver), "%s", info.driver_name);
	l->is_xdp = strcmp(info.driver_name, "net_af_xdp") == 0;
	/* the peer of such a device may be a kernel that leaves checksums to hardware */
	l->pl.link.csum_partial = l->is_xdp || strcmp(info.driver_name, "net_vhost") == 0;
	if (info.if_index == 0 || if_indextoname(info.if_index, l->pl.iface) == NULL)
		l->pl.iface[0] = '\0';
	else
		l->pl.ifindex = info.if_index;
	l->pl.may_move = strcmp(info.driver_name, "net_tap") == 0;
	ret = check_mtu(l, want, &info, err, err_size);
	if (ret == 0)
		ret = configure(l, want, &info, err, err_size);
	if (ret < 0)
		return ret;
	l->pl.link.ops = l->flat ? &ethdev_flat_ops : &ethdev_ops;
	step = "queues";
	ret = set_up_queues(l);
	if (ret < 0)
		goto err_step;
	step = "mtu";
	ret = set_mtu(l, want->mtu);
	if (ret < 0)
		goto err_step;
	step = "start";
	ret = rte_eth_dev_start(l->dev);
	if (ret < 0)
		goto err_step;
	step = "filters";
	ret = set_filters(l, want);
	if (ret < 0)
		goto err_step;
	return 0;

err_step:
	snprintf(err, err_size, "device %s: %s: %s%s%s%s", want->device, step, strerror(-ret),
			eal_errors()[0] == '\0' ? "" : ": ", eal_errors(),
			l->is_xdp ? " (AF_XDP needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF, and the "
				    "interface for itself)"
				  : "");
	return ret;
}

int link_ethdev_open(
		const struct link_want *want, struct port_link **out, char *err, size_t err_size)
{
	struct ethdev_link *l;
	int ret;

	l = rte_zmalloc(NULL, sizeof(*l), RTE_CACHE_LINE_SIZE);
	if (l == NULL) {
		snprintf(err, err_size, "device %s: no memory", want->device);
		return -ENOMEM;
	}
	l->pl.membership_fd = -1;
	l->pl.is_up = ethdev_is_up;
	l->pl.device_stats = device_stats;
	ret = ethdev_probe(want, &l->dev, err, err_size);
	if (ret < 0) {
		rte_free(l);
		return ret;
	}
	ret = start(l, want, err, err_size);
	if (ret < 0) {
		ethdev_close(&l->pl.link);
		return ret;
	}
	SL_LOG(INFO, "port %s: %s, %u rx and %u tx queues%s", want->port, l->pl.driver,
			l->pl.link.n_rxq, l->pl.link.n_txq,
			l->pl.link.spreads ? ", flows stay on their worker" : "");
	*out = &l->pl;
	return 0;
}
