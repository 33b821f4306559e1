/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets enter by BPF_PROG_TEST_RUN with live frames: an XDP program lets them pass as if the first
 * veth had received them. They run through receive, netfilter, routing and forwarding inside of the
 * system call, on this core, and end in a classifier on egress of the second veth before any queue or
 * driver. So the thread's time over the count is the cost, with no driver on either end.
 */
#include "app/bench/kernel.h"

#include "app/bench/kernel_priv.h"
#include "app/bench/lab.h"

#include <errno.h>
#include <stdlib.h>

const char *kernel_missing(void)
{
	return NULL;
}

int kernel_create(const struct side_setup *setup, struct kernel **out, char *why)
{
	struct kernel *k = calloc(1, sizeof(*k));
	int ret;

	if (k == NULL)
		return side_fail(why, -ENOMEM, "no memory");
	k->setup = setup;
	traffic_frame(&setup->traffic, 0, k->frame);
	ret = lab_create(setup, why);
	if (ret == 0)
		ret = live_load(&k->live, &setup->traffic, why);
	if (ret == 0)
		ret = lab_load_rules(setup, why);
	if (ret < 0)
		free(k);
	else
		*out = k;
	return ret;
}

int kernel_probe_by(struct kernel *k, kernel_move *move, struct side_probe *out, char *why)
{
	struct side_sample sample;
	int ret = live_attach(&k->live, k->live.capture, why);

	if (ret == 0)
		ret = move(k, SIDE_PROBES, &sample, why);
	if (ret == 0)
		ret = lab_hash_rules(k->setup, &out->rules_hash, &out->n_rules, why);
	if (ret == 0)
		ret = live_attach(&k->live, k->live.sink, why);
	live_captured(&k->live, out);
	return ret;
}

static int run(struct kernel *k, int program, uint64_t packets, struct side_sample *out, char *why)
{
	uint64_t entered = k->live.counts->entered, left = k->live.counts->left;
	int ret;

	side_clock_start(out);
	ret = live_run(&k->live, program, packets, k->frame, k->setup->traffic.size, why);
	side_clock_stop(out);
	out->entered = k->live.counts->entered - entered;
	out->left = k->live.counts->left - left;
	return ret;
}

static int kernel_open(const struct side_setup *setup, void **priv, char *why)
{
	struct kernel *k = NULL;
	int ret = kernel_create(setup, &k, why);

	*priv = k;
	return ret;
}

static int move(struct kernel *k, uint64_t packets, struct side_sample *out, char *why)
{
	return run(k, k->live.source, packets, out, why);
}

static int kernel_probe(void *priv, struct side_probe *out, char *why)
{
	return kernel_probe_by(priv, move, out, why);
}

static int kernel_measure(
		void *priv, uint64_t packets, bool alone, struct side_sample *out, char *why)
{
	struct kernel *k = priv;

	return run(k, alone ? k->live.source_alone : k->live.source, packets, out, why);
}

const struct side_ops kernel_side = {
	.open = kernel_open,
	.probe = kernel_probe,
	.has_alone = true,
	.measure = kernel_measure,
};
