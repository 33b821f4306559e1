/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/capture.h"
#include "lib/pkt.h"
#include "lib/router.h"

#include <pcap/pcap.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SNAPLEN 262144

struct capture_link {
	struct sl_link link; /* first */
	const uint64_t *time_ns;
	bool nano;
	pcap_dumper_t *out[SL_PORTS_MAX]; /* by port id */
	char *path[SL_PORTS_MAX];
};

static uint16_t capture_rx(__rte_unused struct sl_link *link, __rte_unused uint16_t queue,
		__rte_unused struct rte_mbuf **pkts, __rte_unused uint16_t n)
{
	return 0;
}

static void write_frame(const struct capture_link *l, pcap_dumper_t *out, const struct rte_mbuf *m)
{
	uint8_t frame[UINT16_MAX + 64];
	uint64_t fraction_ns = *l->time_ns % 1000000000ULL;
	struct pcap_pkthdr h = {
		.ts = { .tv_sec = (time_t)(*l->time_ns / 1000000000ULL),
				.tv_usec = (suseconds_t)(l->nano ? fraction_ns
								 : fraction_ns / 1000) },
		.caplen = RTE_MIN(m->pkt_len, (uint32_t)sizeof(frame)),
		.len = m->pkt_len,
	};

	if (sl_pkt_copy(m, 0, h.caplen, frame))
		pcap_dump((u_char *)out, &h, frame);
}

static uint16_t capture_tx(struct sl_link *link, __rte_unused uint16_t queue,
		struct rte_mbuf **pkts, uint16_t n)
{
	struct capture_link *l = (struct capture_link *)(void *)link;

	for (uint16_t i = 0; i < n; i++) {
		pcap_dumper_t *out = l->out[sl_pkt(pkts[i])->out_port];

		if (out != NULL)
			write_frame(l, out, pkts[i]);
		rte_pktmbuf_free(pkts[i]);
	}
	return n;
}

static void capture_close_link(struct sl_link *link)
{
	struct capture_link *l = (struct capture_link *)(void *)link;

	for (unsigned int i = 0; i < SL_PORTS_MAX; i++) {
		if (l->out[i] != NULL)
			pcap_dump_close(l->out[i]);
		free(l->path[i]);
	}
	free(l);
}

static const struct sl_link_ops capture_ops = {
	.kind = "pcap",
	.rx = capture_rx,
	.tx = capture_tx,
	.close = capture_close_link,
};

struct sl_link *capture_link(struct sl_router *r, const uint64_t *time_ns, bool nano)
{
	struct capture_link *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->link.ops = &capture_ops;
	l->link.n_rxq = 1;
	/* one thread drives all workers, so each may send */
	l->link.n_txq = (uint16_t)r->n_workers;
	l->time_ns = time_ns;
	l->nano = nano;
	atomic_store(&l->link.up, true);
	return &l->link;
}

bool capture_link_port(struct sl_link *link, uint16_t port, const char *dir, const char *name,
		char *err, size_t err_size)
{
	struct capture_link *l = (struct capture_link *)(void *)link;
	pcap_t *format;

	if (asprintf(&l->path[port], "%s/%s.pcap", dir, name) < 0) {
		l->path[port] = NULL;
		snprintf(err, err_size, "%s: out of memory", dir);
		return false;
	}
	format = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, SNAPLEN,
			l->nano ? PCAP_TSTAMP_PRECISION_NANO : PCAP_TSTAMP_PRECISION_MICRO);
	if (format == NULL) {
		snprintf(err, err_size, "%s: out of memory", l->path[port]);
		return false;
	}
	l->out[port] = pcap_dump_open(format, l->path[port]);
	if (l->out[port] == NULL)
		snprintf(err, err_size, "%s", pcap_geterr(format));
	pcap_close(format);
	return l->out[port] != NULL;
}

bool capture_link_finish(struct sl_link *link, char *err, size_t err_size)
{
	struct capture_link *l = (struct capture_link *)(void *)link;

	for (unsigned int i = 0; i < SL_PORTS_MAX; i++) {
		if (l->out[i] == NULL)
			continue;
		if (pcap_dump_flush(l->out[i]) != 0 || ferror(pcap_dump_file(l->out[i]))) {
			snprintf(err, err_size, "%s: %s", l->path[i], strerror(errno));
			return false;
		}
	}
	return true;
}
