/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/router.h"

#include "lib/ip.h"
#include "lib/neigh.h"
#include "lib/net.h"
#include "lib/pktlog.h"

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_jhash.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>
#include <rte_random.h>
#include <rte_time.h>

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define INBOX_SIZE 1024
#define MESSAGES_SIZE 16
#define POOL_CACHE 256 /* buffers in each lcore's cache */

/*
 * As rte_pktmbuf_pool_create(), which without hugepages would give each buffer a 4 kB page of its
 * own: all buffers would then begin at the same page offset and share a few sets of the first cache
 * (measured: 124 cycles a packet against 75). No device reads such memory by physical address, so
 * buffers may cross pages.
 */
struct rte_mempool *sl_pool_create(const char *name, unsigned int n, unsigned int room)
{
	struct rte_pktmbuf_pool_private priv = {
		.mbuf_data_room_size = (uint16_t)(RTE_PKTMBUF_HEADROOM + room),
		.mbuf_priv_size = SL_PKT_PRIV_SIZE,
	};
	unsigned int elt_size = (unsigned int)(sizeof(struct rte_mbuf) + SL_PKT_PRIV_SIZE
			+ RTE_PKTMBUF_HEADROOM + room);
	unsigned int flags = rte_eal_has_hugepages() ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
	struct rte_mempool *pool = rte_mempool_create_empty(
			name, n, elt_size, POOL_CACHE, sizeof(priv), (int)rte_socket_id(), flags);

	if (pool == NULL)
		return NULL;
	if (rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL) != 0)
		goto err_free;
	rte_pktmbuf_pool_init(pool, &priv);
	if (rte_mempool_populate_default(pool) < 0)
		goto err_free;
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;

err_free:
	rte_mempool_free(pool);
	rte_errno = ENOMEM;
	return NULL;
}

static void worker_free(struct sl_worker *w)
{
	if (w == NULL)
		return;
	for (unsigned int i = 0; i < SL_WORKERS_MAX; i++)
		rte_ring_free(w->inbox[i]);
	rte_ring_free(w->messages);
	sl_reasm_free(w, w->reasm);
	sl_reasm_free(w, atomic_load(&w->transit));
	rte_free(w);
}

static struct rte_ring *make_ring(const struct sl_router *r, const char *what, unsigned int to,
		unsigned int from, unsigned int size)
{
	char name[RTE_RING_NAMESIZE];

	/* the address keeps the names of several routers in one process apart */
	snprintf(name, sizeof(name), "%s%u_%u_%x", what, to, from, (unsigned int)(uintptr_t)r);
	return rte_ring_create(name, size, (int)rte_socket_id(), RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static void seed_worker(struct sl_worker *w)
{
	for (uint32_t i = 0; i < RTE_DIM(w->rand_state); i++)
		w->rand_state[i] = rte_jhash_2words(w->id, i, w->r->secret);
}

static int worker_create(struct sl_router *r, unsigned int id)
{
	struct sl_worker *w = rte_zmalloc("worker", sizeof(*w), RTE_CACHE_LINE_SIZE);
	int ret = -ENOMEM;

	if (w == NULL)
		return -ENOMEM;
	w->id = (uint16_t)id;
	w->r = r;
	w->stage = &w->outside;
	seed_worker(w);
	w->messages = make_ring(r, "msg", id, 0, MESSAGES_SIZE);
	if (w->messages == NULL)
		goto err_free;
	for (unsigned int i = 0; i < r->n_workers; i++) {
		if (i == id)
			continue;
		w->inbox[i] = make_ring(r, "inbox", id, i, INBOX_SIZE);
		if (w->inbox[i] == NULL)
			goto err_free;
	}
	ret = sl_reasm_create(w, &w->reasm);
	if (ret < 0)
		goto err_free;
	r->workers[id] = w;
	return 0;

err_free:
	worker_free(w);
	return ret;
}

static void read_clocks(struct sl_router *r)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	r->start_wall_ns = (uint64_t)wall.tv_sec * NSEC_PER_SEC + (uint64_t)wall.tv_nsec;
	r->start_tsc = rte_rdtsc();
	r->tsc_hz = rte_get_tsc_hz();
	r->tsc_to_ns = (uint64_t)(((unsigned __int128)NSEC_PER_SEC << 32) / r->tsc_hz);
}

static int rcu_create(struct sl_router *r)
{
	size_t size = rte_rcu_qsbr_get_memsize(r->n_workers);

	r->rcu = rte_zmalloc("rcu", size, RTE_CACHE_LINE_SIZE);
	if (r->rcu == NULL)
		return -ENOMEM;
	return rte_rcu_qsbr_init(r->rcu, r->n_workers) == 0 ? 0 : -EINVAL;
}

int sl_router_create(struct rte_mempool *pool, unsigned int n_workers, struct sl_router **out)
{
	struct sl_router *r;
	int ret;

	if (n_workers == 0 || n_workers > SL_WORKERS_MAX)
		return -EINVAL;
	r = rte_zmalloc("router", sizeof(*r), RTE_CACHE_LINE_SIZE);
	if (r == NULL)
		return -ENOMEM;
	r->pool = pool;
	r->n_workers = n_workers;
	read_clocks(r);
	r->secret = (uint32_t)rte_rand();
	ret = rcu_create(r);
	if (ret < 0)
		goto err_free_router;
	ret = sl_icmp_limits_create(&r->icmp_limits);
	if (ret < 0)
		goto err_free_rcu;
	ret = sl_neigh_table_create(r, &r->neigh);
	if (ret < 0)
		goto err_free_limits;
	for (unsigned int i = 0; i < n_workers; i++) {
		ret = worker_create(r, i);
		if (ret < 0)
			goto err_free_workers;
	}
	*out = r;
	return 0;

err_free_workers:
	for (unsigned int i = 0; i < n_workers; i++)
		worker_free(r->workers[i]);
	sl_neigh_table_free(r->neigh);
err_free_limits:
	sl_icmp_limits_free(r->icmp_limits);
err_free_rcu:
	rte_free(r->rcu);
err_free_router:
	rte_free(r);
	return ret;
}

void sl_router_fix(struct sl_router *r)
{
	r->manual_clock = true;
	r->secret = 0;
	sl_icmp_limits_fix(r->icmp_limits);
	for (unsigned int i = 0; i < r->n_workers; i++) {
		seed_worker(r->workers[i]);
		sl_reasm_fix(r->workers[i]->reasm);
	}
}

static void drain_inboxes(struct sl_worker *w)
{
	void *m;

	for (unsigned int i = 0; i < w->r->n_workers; i++) {
		while (w->inbox[i] != NULL && rte_ring_sc_dequeue(w->inbox[i], &m) == 0) {
			w->held[sl_pkt(m)->in_port]--;
			sl_drop(w, m, SL_DROP_SHUTDOWN);
		}
	}
}

void sl_router_drain(struct sl_router *r)
{
	for (unsigned int i = 0; i < r->n_workers; i++) {
		struct sl_worker *w = r->workers[i];

		sl_worker_begin(w);
		sl_worker_tx_flush(w);
		drain_inboxes(w);
		sl_reasm_flush(w, w->reasm);
		if (atomic_load(&w->transit) != NULL)
			sl_reasm_flush(w, atomic_load(&w->transit));
	}
	sl_neigh_flush(r->workers[0]);
}

static void snapshot_free(struct sl_router *r, struct sl_snapshot *s)
{
	if (s == NULL)
		return;
	sl_pipeline_free(s->pl);
	sl_net_free(r, s->net);
	free(s);
}

void sl_router_free(struct sl_router *r)
{
	if (r == NULL)
		return;
	snapshot_free(r, atomic_load(&r->snap));
	for (unsigned int i = r->n_attached; i-- > 0;)
		r->attached[i].destroy(r->attached[i].ptr);
	sl_neigh_table_free(r->neigh);
	sl_pktlog_free(r);
	for (unsigned int i = 0; i < r->n_workers; i++)
		worker_free(r->workers[i]);
	for (unsigned int i = 0; i < r->n_links; i++) {
		free(r->links[i]->vlan_port);
		r->links[i]->ops->close(r->links[i]);
	}
	sl_icmp_limits_free(r->icmp_limits);
	rte_free(r->rcu);
	rte_free(r);
}

int sl_router_join_transit(struct sl_router *r)
{
	for (unsigned int i = 0; i < r->n_workers; i++) {
		struct sl_worker *w = r->workers[i];
		struct sl_reasm *q;
		int ret;

		if (atomic_load_explicit(&w->transit, memory_order_relaxed) != NULL)
			continue;
		ret = sl_reasm_create(w, &q);
		if (ret < 0)
			return ret;
		if (r->manual_clock)
			sl_reasm_fix(q);
		sl_reasm_set_transit(q);
		atomic_store_explicit(&w->transit, q, memory_order_release);
	}
	return 0;
}

int sl_router_attach(struct sl_router *r, const void *key, void *ptr, void (*destroy)(void *ptr))
{
	if (sl_router_attached(r, key) != NULL)
		return -EEXIST;
	if (r->n_attached == SL_ATTACHMENTS_MAX)
		return -ENOSPC;
	r->attached[r->n_attached++] = (struct sl_attachment){ key, ptr, destroy };
	return 0;
}

void *sl_router_attached(const struct sl_router *r, const void *key)
{
	for (unsigned int i = 0; i < r->n_attached; i++)
		if (r->attached[i].key == key)
			return r->attached[i].ptr;
	return NULL;
}

/* RFC 4291 appendix A: the MAC with ff:fe in the middle and the universal bit turned */
static void eui64(const struct rte_ether_addr *mac, uint8_t *token)
{
	const uint8_t *b = mac->addr_bytes;
	const uint8_t id[8] = { b[0] ^ 2, b[1], b[2], 0xff, 0xfe, b[3], b[4], b[5] };

	memcpy(token, id, sizeof(id));
}

/* Return: 0, or -EEXIST if the link has a port for this VLAN */
static int link_attach(struct sl_link *link, uint16_t vlan, uint16_t id)
{
	if (vlan == 0) {
		if (link->port != SL_PORT_NONE)
			return -EEXIST;
		link->port = id;
		return 0;
	}
	if (link->vlan_port == NULL) {
		link->vlan_port = calloc(4096, sizeof(*link->vlan_port));
		if (link->vlan_port == NULL)
			return -ENOMEM;
	}
	if (link->vlan_port[vlan] != 0)
		return -EEXIST;
	link->vlan_port[vlan] = id;
	return 0;
}

int sl_router_add_port(struct sl_router *r, const char *name, struct sl_link *link,
		const struct rte_ether_addr *mac, uint16_t mtu, uint16_t vlan)
{
	uint16_t id = (uint16_t)(r->n_ports + 1);
	struct sl_port *port;
	unsigned int i;
	int ret;

	if (id >= SL_PORTS_MAX)
		return -ENOSPC;
	if (sl_router_port(r, name) != 0 || strlen(name) >= SL_PORT_NAME_MAX)
		return -EEXIST;
	for (i = 0; i < r->n_links && r->links[i] != link; i++)
		;
	if (i == r->n_links) {
		link->port = SL_PORT_NONE;
		link->home = id;
	}
	ret = link_attach(link, vlan, id);
	if (ret < 0)
		return ret;
	if (i == r->n_links)
		r->links[r->n_links++] = link;
	port = &r->ports[id];
	port->id = id;
	snprintf(port->name, sizeof(port->name), "%s", name);
	port->mac = *mac;
	port->mtu = mtu;
	port->vlan = vlan;
	port->link = link;
	eui64(mac, port->v6_token);
	r->n_ports = id;
	return id;
}

uint16_t sl_router_port(const struct sl_router *r, const char *name)
{
	for (uint16_t i = 1; i <= r->n_ports; i++)
		if (strcmp(r->ports[i].name, name) == 0)
			return i;
	return 0;
}

void sl_router_synchronize(struct sl_router *r)
{
	if (atomic_load_explicit(&r->threaded, memory_order_acquire))
		rte_rcu_qsbr_synchronize(r->rcu, RTE_QSBR_THRID_INVALID);
}

int sl_router_apply(struct sl_router *r, const struct sl_conf *conf,
		const struct sl_stage_spec *specs, unsigned int n_specs, char *err, size_t err_size)
{
	struct sl_snapshot *old = atomic_load(&r->snap);
	struct sl_snapshot *new = calloc(1, sizeof(*new));
	int ret;

	if (new == NULL) {
		snprintf(err, err_size, "%s: out of memory", conf->path);
		return -ENOMEM;
	}
	ret = sl_net_build(r, conf, &new->net, err, err_size);
	if (ret < 0)
		goto err_free;
	err[0] = '\0';
	r->err = err;
	r->err_size = err_size;
	ret = sl_pipeline_build(r, old == NULL ? NULL : old->pl, specs, n_specs, &new->pl);
	if (ret < 0) {
		if (err[0] == '\0')
			snprintf(err, err_size, "%s: pipeline: %s", conf->path, strerror(-ret));
		goto err_free_net;
	}
	ret = sl_neigh_apply(r, conf, err, err_size);
	if (ret < 0)
		goto err_free_pipeline;
	atomic_store_explicit(&r->snap, new, memory_order_release);
	sl_router_synchronize(r);
	sl_net_carry_counts(new->net, old == NULL ? NULL : old->net);
	snapshot_free(r, old);
	return 0;

err_free_pipeline:
	sl_pipeline_free(new->pl);
err_free_net:
	sl_net_free(r, new->net);
err_free:
	free(new);
	return ret;
}

void sl_router_port_stats(const struct sl_router *r, uint16_t port, struct sl_port_stats *out)
{
	struct sl_port_stats s = { 0 };

	for (unsigned int i = 0; i < r->n_workers; i++) {
		const struct sl_worker *w = r->workers[i];

		s.rx += w->rx[port];
		s.rx_bytes += w->rx_bytes[port];
		s.tx += w->tx[port];
		s.tx_bytes += w->tx_bytes[port];
		s.forwarded += w->forwarded[port];
		s.delivered += w->delivered[port];
		s.held += w->held[port];
		for (unsigned int d = 0; d < SL_DROP_NB; d++)
			s.dropped += w->drops[port][d];
	}
	*out = s;
}

uint64_t sl_router_drops(const struct sl_router *r, uint16_t port, enum sl_drop_reason reason)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < r->n_workers; i++)
		sum += r->workers[i]->drops[port][reason];
	return sum;
}

void sl_router_stage_stats(const struct sl_router *r, uint16_t slot, struct sl_stage_stats *out)
{
	struct sl_stage_stats s = { 0 };

	for (unsigned int i = 0; i < r->n_workers; i++) {
		const struct sl_stage_stats *part = &r->workers[i]->stages[slot];

		s.packets += part->packets;
		s.survivors += part->survivors;
		s.drops += part->drops;
		s.batches += part->batches;
		s.cycles += part->cycles;
	}
	*out = s;
}

int sl_router_balance(const struct sl_router *r, uint64_t *rx, uint64_t *accounted)
{
	for (uint16_t i = 0; i <= r->n_ports; i++) {
		struct sl_port_stats s;
		uint64_t sum;

		sl_router_port_stats(r, i, &s);
		sum = s.forwarded + s.delivered + s.dropped + (uint64_t)s.held;
		if (sum != s.rx) {
			*rx = s.rx;
			*accounted = sum;
			return i + 1;
		}
	}
	return 0;
}
