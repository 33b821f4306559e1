/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interface tests as one 16-bit lane. Names are known when rules are loaded, so `-i eth+` is a set
 * of ports, and a pair (in, out) of ports fulfils some of the tests of a table and not others. Pairs
 * that fulfil the same tests are one class. Classes are numbered in the order of what they fulfil,
 * so that each test is true for few runs of numbers, and a run is a range in a box.
 */
#include "classifier/chain.h"
#include "lib/router.h"

#include <errno.h>
#include <stdlib.h>

uint64_t chain_iface_mask(const struct sl_router *r, const struct ipt_iface *iface)
{
	uint64_t mask = 0;

	for (unsigned int id = 0; id <= r->n_ports; id++) {
		/* no device has the name "" */
		const char *name = id == 0 ? "" : r->ports[id].name;
		bool same = strncmp(name, iface->name, iface->len) == 0
				&& (iface->wild || name[iface->len] == '\0');

		if (iface->len == 0)
			same = true;
		if (same != (iface->given && iface->inv))
			mask |= UINT64_C(1) << id;
	}
	return mask;
}

static uint64_t all_ports(const struct sl_router *r)
{
	return UINT64_MAX >> (63 - r->n_ports);
}

static void collect_tests(
		struct chain_ifaces *f, uint64_t all, const struct chain_rule *rules, uint32_t n)
{
	for (uint32_t i = 0; i < n && f->n_tests < CHAIN_IFACE_TESTS; i++) {
		unsigned int t = 0;

		if (rules[i].in == all && rules[i].out == all)
			continue;
		while (t < f->n_tests && (f->in[t] != rules[i].in || f->out[t] != rules[i].out))
			t++;
		f->in[t] = rules[i].in;
		f->out[t] = rules[i].out;
		f->n_tests += t == f->n_tests;
	}
}

static uint64_t fulfils(const struct chain_ifaces *f, unsigned int in, unsigned int out)
{
	uint64_t bits = 0;

	for (unsigned int t = 0; t < f->n_tests; t++)
		bits |= (f->in[t] >> in & f->out[t] >> out & 1) << t;
	return bits;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int chain_ifaces_build(struct sl_router *r, const struct chain_rule *rules, uint32_t n,
		struct chain_ifaces **out)
{
	struct chain_ifaces *f = calloc(1, sizeof(*f));
	unsigned int side = r->n_ports + 1, n_pairs = side * side;

	if (f == NULL)
		return -ENOMEM;
	f->holds = calloc(n_pairs, sizeof(*f->holds));
	if (f->holds == NULL) {
		free(f);
		return -ENOMEM;
	}
	collect_tests(f, all_ports(r), rules, n);
	for (unsigned int i = 0; i < n_pairs; i++)
		f->holds[i] = fulfils(f, i / side, i % side);
	qsort(f->holds, n_pairs, sizeof(*f->holds), compare);
	for (unsigned int i = 0; i < n_pairs; i++)
		if (i == 0 || f->holds[i] != f->holds[f->n_classes - 1])
			f->holds[f->n_classes++] = f->holds[i];
	for (unsigned int i = 0; i < n_pairs; i++) {
		uint64_t bits = fulfils(f, i / side, i % side);
		const uint64_t *at =
				bsearch(&bits, f->holds, f->n_classes, sizeof(*f->holds), compare);

		f->class[i / side][i % side] = (uint16_t)(at - f->holds);
	}
	*out = f;
	return 0;
}

void chain_ifaces_free(struct chain_ifaces *ifaces)
{
	if (ifaces == NULL)
		return;
	free(ifaces->holds);
	free(ifaces);
}
