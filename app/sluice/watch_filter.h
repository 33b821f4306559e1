/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A filter in the language of tcpdump. libpcap compiles it; what looks only
 * at fixed places of a frame (hosts, protocols, EtherTypes) DPDK's BPF library turns into machine
 * code, or interprets. All else, and what DPDK refuses, libpcap's own interpreter runs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct rte_mbuf;
struct watch_filter;

/* Return: 0, -EINVAL with the reason in @err, -ENOMEM */
int watch_filter_compile(const char *text, struct watch_filter **out, char *err, size_t err_size);
/* NULL is allowed */
void watch_filter_free(struct watch_filter *f);

/* [worker] to be called with the filter */
typedef bool (*watch_match_fn)(const void *filter, struct rte_mbuf *m);
watch_match_fn watch_filter_match(const struct watch_filter *f);

/* libpcap's interpreter, whatever else there is; of any filter */
bool watch_filter_plain(const void *filter, struct rte_mbuf *m);

/* "compiled", "interpreted" or "by libpcap" */
const char *watch_filter_kind(const struct watch_filter *f);
