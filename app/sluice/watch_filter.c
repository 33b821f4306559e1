/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/watch_filter.h"

#include "lib/log.h"
#include "lib/pkt.h"

#include <pcap/pcap.h>
#include <rte_bpf.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include <errno.h>
#include <stdlib.h>

SL_LOG_TYPE("filter");

#define SNAP_LEN 262144
/* of a frame in several segments, as far as filters look; headers end far before */
#define FLAT_LEN 2048

struct watch_filter {
	struct bpf_program classic;
	struct rte_bpf *bpf; /* NULL: DPDK refused it */
	uint64_t (*code)(void *mbuf); /* NULL: not compiled for this machine */
};

/*
 * Whether DPDK is asked. Of DPDK 22.11.11, tests/app/watch_test.c saw `tcp[13] & 2 != 0` crash as
 * machine code and answer wrongly when interpreted. Cause not known, so only what is plain goes
 * there: loads from fixed places, comparisons with constants, a fixed answer.
 */
static bool is_plain(const struct bpf_program *p)
{
	for (unsigned int i = 0; i < p->bf_len; i++) {
		switch (p->bf_insns[i].code) {
		case BPF_LD | BPF_W | BPF_ABS:
		case BPF_LD | BPF_H | BPF_ABS:
		case BPF_LD | BPF_B | BPF_ABS:
		case BPF_JMP | BPF_JA:
		case BPF_JMP | BPF_JEQ | BPF_K:
		case BPF_JMP | BPF_JGT | BPF_K:
		case BPF_JMP | BPF_JGE | BPF_K:
		case BPF_RET | BPF_K:
			break;
		default:
			return false;
		}
	}
	return true;
}

/* what DPDK makes of it, if it can */
static void translate(struct watch_filter *f)
{
	struct rte_bpf_jit jit;
	struct rte_bpf_prm *prm;

	if (!is_plain(&f->classic))
		return;
	prm = rte_bpf_convert(&f->classic);
	if (prm == NULL) {
		SL_LOG(INFO, "DPDK cannot convert it (%s): libpcap runs it",
				rte_strerror(rte_errno));
		return;
	}
	f->bpf = rte_bpf_load(prm);
	rte_free(prm);
	if (f->bpf == NULL) {
		SL_LOG(INFO, "DPDK cannot load it (%s): libpcap runs it", rte_strerror(rte_errno));
		return;
	}
	if (rte_bpf_get_jit(f->bpf, &jit) == 0)
		f->code = jit.func;
}

int watch_filter_compile(const char *text, struct watch_filter **out, char *err, size_t err_size)
{
	pcap_t *p = pcap_open_dead(DLT_EN10MB, SNAP_LEN);
	struct watch_filter *f = calloc(1, sizeof(*f));
	int ret = -ENOMEM;

	if (p == NULL || f == NULL) {
		snprintf(err, err_size, "out of memory");
		goto out_close;
	}
	if (pcap_compile(p, &f->classic, text, 1, PCAP_NETMASK_UNKNOWN) < 0) {
		snprintf(err, err_size, "filter '%s': %s", text, pcap_geterr(p));
		ret = -EINVAL;
		goto out_close;
	}
	translate(f);
	*out = f;
	f = NULL;
	ret = 0;

out_close:
	free(f);
	if (p != NULL)
		pcap_close(p);
	return ret;
}

void watch_filter_free(struct watch_filter *f)
{
	if (f == NULL)
		return;
	rte_bpf_destroy(f->bpf);
	pcap_freecode(&f->classic);
	free(f);
}

static bool match_compiled(const void *filter, struct rte_mbuf *m)
{
	const struct watch_filter *f = filter;

	return f->code(m) != 0;
}

static bool match_interpreted(const void *filter, struct rte_mbuf *m)
{
	const struct watch_filter *f = filter;

	return rte_bpf_exec(f->bpf, m) != 0;
}

bool watch_filter_plain(const void *filter, struct rte_mbuf *m)
{
	const struct watch_filter *f = filter;
	uint32_t len = RTE_MIN(m->pkt_len, (uint32_t)FLAT_LEN);
	const uint8_t *flat = rte_pktmbuf_mtod(m, const uint8_t *);
	uint8_t copy[FLAT_LEN];

	if (m->nb_segs > 1) {
		sl_pkt_copy(m, 0, len, copy);
		flat = copy;
	} else {
		len = m->data_len;
	}
	return bpf_filter(f->classic.bf_insns, flat, m->pkt_len, len) != 0;
}

watch_match_fn watch_filter_match(const struct watch_filter *f)
{
	if (f->bpf == NULL)
		return watch_filter_plain;
	return f->code != NULL ? match_compiled : match_interpreted;
}

const char *watch_filter_kind(const struct watch_filter *f)
{
	if (f->bpf == NULL)
		return "by libpcap";
	return f->code != NULL ? "compiled" : "interpreted";
}
