/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A router of sluice, whole, with links of the test's own. Its clock follows the kernel's.
 */
#include "app/sluice/apply.h"
#include "app/sluice/offline.h"
#include "config/build.h"
#include "config/yaml.h"
#include "conntrack/text.h"
#include "ct_side.h"
#include "lib/router.h"
#include "topo.h"

#include <rte_eal.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define CLOCK_BASE_NS 1000000000000ULL
#define TICK_NS 4000000ULL
#define CONNECTIONS 65536U
#define WALK 1024
#define BUFFERS 16383U
#define BUFFER_ROOM 2048U

struct test_link {
	struct sl_link link; /* first */
};

static unsigned int n_workers;
static struct rte_mempool *pool;
static struct sl_router *r;
static struct sl_firewall *fw;
static struct sl_conf *conf;
static struct lab_frames *sink;
static uint64_t start_ns, clock_ns;
static char dir[64];
static char *text;
static unsigned int turn; /* which worker gets the next frame */

static uint16_t link_rx(__rte_unused struct sl_link *link, __rte_unused uint16_t queue,
		__rte_unused struct rte_mbuf **pkts, __rte_unused uint16_t n)
{
	return 0;
}

static uint16_t link_tx(__rte_unused struct sl_link *link, __rte_unused uint16_t queue,
		struct rte_mbuf **pkts, uint16_t n)
{
	uint8_t data[LAB_FRAME_MAX + 1];

	for (uint16_t i = 0; i < n; i++) {
		uint32_t len = RTE_MIN(pkts[i]->pkt_len, (uint32_t)LAB_FRAME_MAX);

		sl_pkt_copy(pkts[i], 0, len, data);
		if (sink != NULL)
			lab_frames_add(sink, sl_pkt(pkts[i])->out_port - 1U, 0, data, len);
		rte_pktmbuf_free(pkts[i]);
	}
	return n;
}

static void link_close(struct sl_link *link)
{
	free(link);
}

static const struct sl_link_ops link_ops = {
	.kind = "test",
	.rx = link_rx,
	.tx = link_tx,
	.close = link_close,
};

static struct sl_link *make_link(__rte_unused unsigned int port, __rte_unused void *arg)
{
	struct test_link *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->link.ops = &link_ops;
	l->link.n_rxq = 1;
	l->link.n_txq = (uint16_t)n_workers;
	atomic_store(&l->link.up, true);
	return &l->link;
}

static void set_clock(uint64_t ns)
{
	clock_ns = ns;
	for (unsigned int i = 0; i < r->n_workers; i++) {
		r->workers[i]->now_ns = CLOCK_BASE_NS + ns - start_ns;
		r->workers[i]->wall_ns = lab_now_ns();
	}
}

static void settle(void)
{
	unsigned int moved;

	do {
		moved = 0;
		for (unsigned int i = 0; i < r->n_workers; i++)
			moved += sl_worker_poll(r->workers[i]);
	} while (moved > 0);
}

/* what is due on the way happens */
static void go_to(uint64_t now)
{
	while (clock_ns + TICK_NS < now) {
		set_clock(clock_ns + TICK_NS);
		settle();
	}
	if (now > clock_ns)
		set_clock(now);
	settle();
}

static int sluice_open(unsigned int workers)
{
	n_workers = workers;
	snprintf(dir, sizeof(dir), "/tmp/sluice-ct-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -errno;
	if (!offline_start())
		return -EIO;
	pool = sl_pool_create("packets", BUFFERS, BUFFER_ROOM);
	return pool == NULL ? -ENOMEM : 0;
}

/* the router goes, and nothing of it may be left. Return: 0 or -EPROTO */
static int shut(void)
{
	uint64_t rx, accounted;
	int ret = 0;

	if (r == NULL)
		return 0;
	sink = NULL;
	sl_router_drain(r);
	if (sl_router_balance(r, &rx, &accounted) != 0) {
		fprintf(stderr, "sluice: %llu packets came, %llu are accounted for\n",
				(unsigned long long)rx, (unsigned long long)accounted);
		ret = -EPROTO;
	}
	sl_router_free(r);
	sl_firewall_free(fw);
	sl_conf_free(conf);
	if (rte_mempool_in_use_count(pool) != 0) {
		fprintf(stderr, "sluice: %u buffers are lost\n", rte_mempool_in_use_count(pool));
		ret = -EPROTO;
	}
	r = NULL;
	fw = NULL;
	conf = NULL;
	return ret;
}

static void sluice_close(void)
{
	static const char *const names[] = { "rules.v4", "rules.v6", "sluice.yaml" };

	shut();
	for (size_t i = 0; i < RTE_DIM(names); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
	rte_mempool_free(pool);
	free(text);
}

static FILE *file_in(const char *name)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (f == NULL)
		perror(path);
	return f;
}

static int write_files(const struct ct_setting *s)
{
	FILE *f;

	for (unsigned int v6 = 0; v6 < 2; v6++) {
		f = file_in(v6 ? "rules.v6" : "rules.v4");
		if (f == NULL)
			return -EIO;
		ct_setting_print_rules(f, s, v6);
		if (fclose(f) != 0)
			return -EIO;
	}
	f = file_in("sluice.yaml");
	if (f == NULL)
		return -EIO;
	topo_write_config(f);
	for (unsigned int i = 0; i < CT_SYSCTLS_MAX && s->sysctls[i] != NULL; i++)
		fprintf(f, "  net.netfilter.nf_conntrack_%.*s: %s\n",
				(int)strcspn(s->sysctls[i], "="), s->sysctls[i],
				strchr(s->sysctls[i], '=') + 1);
	fprintf(f, "conntrack: {max: %u}\n", CONNECTIONS);
	fprintf(f, "firewall: {iptables: rules.v4, ip6tables: rules.v6}\n");
	return fclose(f) == 0 ? 0 : -EIO;
}

static int start(void)
{
	char err[512], path[128];
	int ret;

	snprintf(path, sizeof(path), "%s/sluice.yaml", dir);
	ret = sl_conf_read(path, &conf, stderr);
	if (ret < 0)
		return ret;
	ret = sl_router_create(pool, n_workers, &r);
	if (ret < 0)
		return ret;
	sl_router_fix(r);
	if (!offline_ports(r, conf, make_link, NULL))
		return -EINVAL;
	start_ns = ct_clock_ns();
	set_clock(start_ns);
	ret = apply_conf(r, conf, &fw, NULL, err, sizeof(err));
	if (ret < 0)
		fprintf(stderr, "%s\n", err);
	return ret;
}

static int sluice_load(const struct ct_setting *s)
{
	int ret = shut();

	if (ret == 0)
		ret = write_files(s);
	return ret == 0 ? start() : ret;
}

static struct rte_mbuf *to_mbuf(const uint8_t *data, size_t len)
{
	struct rte_mbuf *head = NULL, *last = NULL;

	do {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		uint16_t n;

		if (m == NULL) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		n = (uint16_t)RTE_MIN(len, (size_t)rte_pktmbuf_tailroom(m));
		memcpy(rte_pktmbuf_append(m, n), data, n);
		data += n;
		len -= n;
		if (head == NULL) {
			head = m;
		} else {
			last->next = m;
			head->nb_segs++;
			head->pkt_len += n;
		}
		last = m;
	} while (len > 0);
	return head;
}

static int sluice_send(unsigned int port, const void *frame, size_t len, uint64_t at_ns,
		struct lab_frames *out)
{
	struct sl_worker *w = r->workers[turn++ % n_workers];
	struct rte_mbuf *m = to_mbuf(frame, len);

	if (m == NULL)
		return -ENOMEM;
	sink = out;
	go_to(at_ns);
	sl_worker_begin(w);
	sl_pipeline_rx(w, r->ports[port + 1].link->home, &m, 1);
	sl_pipeline_flush(w);
	settle();
	sink = NULL;
	return 0;
}

/* a new text of what a function prints */
static int print(int (*fn)(FILE *f, const void *arg), const void *arg, const char **out)
{
	size_t size;
	FILE *f;
	int ret;

	free(text);
	text = NULL;
	f = open_memstream(&text, &size);
	if (f == NULL)
		return -ENOMEM;
	ret = fn(f, arg);
	if (fclose(f) != 0 && ret == 0)
		ret = -ENOMEM;
	*out = text;
	return ret;
}

static void print_line(struct ct_shard *s, struct ct_entry *e, void *arg)
{
	struct ct_view v;

	ct_view(&v, s->conf, s, e);
	ct_text_line(arg, &v);
}

static int print_connections(FILE *f, __rte_unused const void *arg)
{
	const struct ct_table *t = ct_table_of(r);

	for (unsigned int i = 0; t != NULL && i < t->n_shards; i++)
		for (uint32_t at = 0; at != CT_NONE;)
			at = ct_walk(t->shard[i], at, WALK, print_line, f);
	return 0;
}

static int sluice_connections(uint64_t at_ns, const char **out)
{
	go_to(at_ns);
	return print(print_connections, NULL, out);
}

static int print_rules(FILE *f, const void *arg)
{
	return sl_firewall_print(fw, f, *(const bool *)arg ? IPT_V6 : IPT_V4, NULL, true);
}

static int sluice_rules(bool v6, const char **out)
{
	return print(print_rules, &v6, out);
}

const struct ct_side ct_sluice = {
	.name = "sluice",
	.open = sluice_open,
	.close = sluice_close,
	.load = sluice_load,
	.send = sluice_send,
	.connections = sluice_connections,
	.rules = sluice_rules,
};
