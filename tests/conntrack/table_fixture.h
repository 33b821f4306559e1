/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection table in a test: its router, its clock, and short words for tuples. */
#pragma once

#include "conntrack/table.h"
#include "lib/router.h"

/* group setup: DPDK, once a process */
int tf_eal(void **state);

/* a table of @max entries for @n_workers workers, its clock at @now_ms; aborts where it fails */
struct ct_table *tf_table(uint32_t max, unsigned int n_workers, uint32_t now_ms);

/* test teardown: frees the table of the test, failed or not */
int tf_teardown(void **state);

/* addresses as text, ports in host order; an ICMP has an id and a type for them */
struct ct_tuple tf_tuple(
		const char *src, const char *dst, uint8_t proto, uint16_t sport, uint16_t dport);
struct ct_tuple tf_icmp(const char *src, const char *dst, uint16_t id, uint8_t type);
/* UDP number @i of many */
struct ct_tuple tf_many(uint32_t i);

/* an entry for @t and its answer, confirmed, that lives @timeout_s; NULL: the table is full */
struct ct_entry *tf_add(struct ct_shard *s, const struct ct_tuple *t, uint32_t timeout_s);

/* time goes by in turns of 100 ms, as on a worker at rest */
void tf_pass(struct ct_table *t, uint32_t ms);
