/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets enter by BPF_PROG_TEST_RUN with live frames: an XDP program lets them pass as if the first
 * veth had received them. They run through receive, netfilter, routing and forwarding inside of the
 * system call, on this core, and end in a classifier on egress of the second veth before any queue or
 * driver. So the thread's time over the count is the cost, with no driver on either end.
 *
 * Where flows shall be established, each is opened and answered first: what has left is turned round
 * and enters by the second veth, so that it fits whatever NAT has made of it.
 */
#include "app/bench/kernel.h"

#include "app/bench/kernel_conntrack.h"
#include "app/bench/kernel_priv.h"
#include "app/bench/lab.h"

#include <errno.h>
#include <stdlib.h>

/* packets go in bursts of as many, so both sides open a flow as often */
#define BURST 64

const char *kernel_missing(void)
{
	return NULL;
}

int kernel_run(struct kernel *k, int program, uint64_t packets, struct side_sample *out, char *why)
{
	uint64_t entered = k->live.counts->entered, left = k->live.counts->left;
	int ret;

	side_clock_start(out);
	ret = live_run(&k->live, LIVE_FORWARD, program, packets, k->setup->traffic.size, why);
	side_clock_stop(out);
	out->entered = k->live.counts->entered - entered;
	out->left = k->live.counts->left - left;
	return ret;
}

static void make_opening(const struct live *l, const struct traffic *t, uint32_t i, uint8_t *frame)
{
	(void)l;
	traffic_opening(t, i, frame);
}

static void make_answer(const struct live *l, const struct traffic *t, uint32_t i, uint8_t *frame)
{
	traffic_answer(t, l->captures[i].header, frame);
}

static void make_data(const struct live *l, const struct traffic *t, uint32_t i, uint8_t *frame)
{
	(void)l;
	traffic_frame(t, i, frame);
}

/*
 * Every frame once, and as many more as fill a burst. Not in one list: the kernel takes a whole list
 * through PREROUTING first, so packets of one flow in it would be connections of their own, for NAT
 * to find ports for.
 */
static int move_all(
		struct kernel *k, enum live_way way, live_make *make, const char *what, char *why)
{
	uint64_t n = (k->live.n_frames + BURST - 1) / BURST * BURST, left = k->live.counts->left;
	uint16_t size = k->setup->traffic.size;
	int ret;

	live_feed(&k->live, &k->setup->traffic, make);
	ret = live_run(&k->live, way, k->live.source, k->live.n_frames, size, why);
	if (ret == 0)
		ret = live_run(&k->live, way, k->live.source, n - k->live.n_frames, size, why);
	left = k->live.counts->left - left;
	if (ret == 0 && left != n)
		return side_fail(why, -EIO, "%llu %s entered, %llu left", (unsigned long long)n,
				what, (unsigned long long)left);
	return ret;
}

static int establish(struct kernel *k, char *why)
{
	struct live *l = &k->live;
	int ret = live_attach(l, LIVE_FORWARD, l->capture, why);

	if (ret == 0)
		ret = live_attach(l, LIVE_BACK, l->sink, why);
	if (ret == 0)
		ret = move_all(k, LIVE_FORWARD, make_opening, "opening packets", why);
	if (ret == 0)
		ret = move_all(k, LIVE_BACK, make_answer, "answers", why);
	live_forget(l);
	live_feed(l, &k->setup->traffic, make_data);
	return ret;
}

int kernel_create(const struct side_setup *setup, struct kernel **out, char *why)
{
	struct kernel *k = calloc(1, sizeof(*k));
	int ret;

	if (k == NULL)
		return side_fail(why, -ENOMEM, "no memory");
	k->setup = setup;
	ret = lab_create(setup, why);
	if (ret == 0)
		ret = live_load(&k->live, setup, why);
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
	struct live *l = &k->live;
	struct side_sample sample;
	int ret = 0;

	if (k->setup->traffic.state == TRAFFIC_ESTABLISHED)
		ret = establish(k, why);
	if (ret == 0)
		ret = live_attach(l, LIVE_FORWARD, l->capture, why);
	if (ret == 0)
		ret = move(k, SIDE_PROBES, &sample, why);
	if (ret == 0)
		ret = lab_hash_rules(k->setup, out, why);
	if (ret == 0)
		ret = live_attach(l, LIVE_FORWARD, l->sink, why);
	live_captured(l, out);
	out->n_tracked = kernel_conntrack_count();
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
	return kernel_run(k, k->live.source, packets, out, why);
}

static int kernel_probe(void *priv, struct side_probe *out, char *why)
{
	return kernel_probe_by(priv, move, out, why);
}

static int kernel_measure(
		void *priv, uint64_t packets, bool alone, struct side_sample *out, char *why)
{
	struct kernel *k = priv;

	return kernel_run(k, alone ? k->live.source_alone : k->live.source, packets, out, why);
}

static int kernel_reset(void *priv, char *why)
{
	(void)priv;
	return kernel_conntrack_flush(why);
}

const struct side_ops kernel_side = {
	.open = kernel_open,
	.probe = kernel_probe,
	.has_alone = true,
	.measure = kernel_measure,
	.reset = kernel_reset,
};

static int kernel_cut_probe(void *priv, struct side_probe *out, char *why)
{
	struct kernel *k = priv;
	int ret = kernel_probe(priv, out, why);

	return ret < 0 ? ret : live_shut(&k->live, k->live.identify, why);
}

const struct side_ops kernel_cut_side = {
	.open = kernel_open,
	.probe = kernel_cut_probe,
	.measure = kernel_measure,
};
