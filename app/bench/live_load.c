/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/live_load.h"

#include "app/bench/lab.h"
#include "live_bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* frames that a run takes through the kernel together, unless it is told: kind to the kernel */
#define BATCH 64
/* frames of one system call, so that a signal need not wait long */
#define RUN_MAX (1U << 20)

static int program(struct live *l, const char *name)
{
	const struct bpf_program *p = bpf_object__find_program_by_name(l->object, name);

	return p == NULL ? -1 : bpf_program__fd(p);
}

static void *map_memory(struct live *l, const char *name, size_t size)
{
	int fd = bpf_object__find_map_fd_by_name(l->object, name);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, (size + page - 1) / page * page, PROT_READ | PROT_WRITE, MAP_SHARED,
			fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int no_message(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* the constant of the program, before it is loaded */
static int set_options(struct live *l, const struct traffic *t)
{
	struct bpf_map *constants = bpf_object__find_map_by_name(l->object, ".rodata");
	unsigned int options = (traffic_is_whole(t) ? LIVE_WHOLE : 0)
			| (traffic_is_mixed(t) ? LIVE_MIXED : 0);

	if (constants == NULL)
		return -EINVAL;
	return bpf_map__set_initial_value(constants, &options, sizeof(options));
}

static int set_sizes(struct live *l, const struct traffic *t)
{
	struct bpf_map *templates = bpf_object__find_map_by_name(l->object, "templates");
	struct bpf_map *captures = bpf_object__find_map_by_name(l->object, "captures");
	int ret;

	if (templates == NULL || captures == NULL)
		return -EINVAL;
	l->n_frames = traffic_count(t);
	l->n_captures = t->state == TRAFFIC_ESTABLISHED ? t->flows : 0;
	if (l->n_captures < LIVE_CAPTURES)
		l->n_captures = LIVE_CAPTURES;
	l->stride = traffic_is_whole(t) ? LIVE_FRAME_MAX : LIVE_HEADER_LEN;
	ret = bpf_map__set_max_entries(templates, l->n_frames);
	if (ret == 0)
		ret = bpf_map__set_value_size(templates, (uint32_t)l->stride);
	if (ret == 0)
		ret = bpf_map__set_max_entries(captures, l->n_captures);
	return ret < 0 ? ret : set_options(l, t);
}

void live_feed(struct live *l, const struct traffic *t, live_make *make)
{
	uint8_t frame[LIVE_FRAME_MAX] = { 0 };

	for (uint32_t i = 0; i < l->n_frames; i++) {
		make(l, t, i, frame);
		/* behind its header the longest has what the shorter ones have, and more */
		if (i == 0 || traffic_is_mixed(t))
			memcpy(l->frame, frame, sizeof(l->frame));
		memcpy(l->templates + i * l->stride, frame, l->stride);
	}
	l->counts->next = 0;
}

static void make_data(const struct live *l, const struct traffic *t, uint32_t i, uint8_t *frame)
{
	(void)l;
	traffic_frame(t, i, frame);
}

int live_load(struct live *l, const struct side_setup *setup, char *why)
{
	const struct traffic *t = &setup->traffic;
	int ret;

	l->batch = setup->batch == 0 ? BATCH : setup->batch;
	libbpf_set_print(no_message);
	l->in = if_nametoindex(LAB_IN);
	l->out = if_nametoindex(LAB_OUT);
	l->object = bpf_object__open_mem(live_bpf, sizeof(live_bpf), NULL);
	if (l->object == NULL)
		return side_fail(why, -ENOTSUP, "the built-in BPF object cannot be read");
	ret = set_sizes(l, t);
	if (ret == 0)
		ret = bpf_object__load(l->object);
	if (ret < 0)
		return side_fail(why, -ENOTSUP, "BPF programs do not load: %s", strerror(-ret));
	l->source = program(l, "source");
	l->source_alone = program(l, "source_alone");
	l->sink = program(l, "sink");
	l->capture = program(l, "capture");
	l->identify = program(l, "identify");
	l->templates = map_memory(l, "templates", l->n_frames * l->stride);
	l->captures = map_memory(l, "captures", l->n_captures * sizeof(*l->captures));
	l->counts = map_memory(l, "counts", sizeof(*l->counts));
	if (l->templates == NULL || l->captures == NULL || l->counts == NULL)
		return side_fail(why, -ENOTSUP, "BPF maps cannot be mapped: %s", strerror(errno));
	l->counts->flows = l->n_frames;
	live_feed(l, t, make_data);
	return 0;
}

static int attach(unsigned int interface, enum bpf_tc_attach_point point, int prog, char *why)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)interface, .attach_point = point);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = prog, .handle = 1, .priority = 1,
			.flags = BPF_TC_F_REPLACE);
	int ret = bpf_tc_hook_create(&hook);

	if (ret == 0 || ret == -EEXIST)
		ret = bpf_tc_attach(&hook, &opts);
	if (ret < 0)
		return side_fail(
				why, -ENOTSUP, "no classifier on an interface: %s", strerror(-ret));
	return 0;
}

int live_attach(struct live *l, enum live_way way, int sink, char *why)
{
	return attach(way == LIVE_FORWARD ? l->out : l->in, BPF_TC_EGRESS, sink, why);
}

int live_shut(struct live *l, int prog, char *why)
{
	return attach(l->in, BPF_TC_INGRESS, prog, why);
}

int live_reopen(struct live *l, char *why)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)l->in, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = 1, .priority = 1);
	int ret = bpf_tc_detach(&hook, &opts);

	return ret < 0 ? side_fail(why, ret, "a classifier stays: %s", strerror(-ret)) : 0;
}

int live_run(struct live *l, enum live_way way, int prog, uint64_t packets, uint16_t size,
		char *why)
{
	struct xdp_md ctx = { .data_end = size,
		.ingress_ifindex = way == LIVE_FORWARD ? l->in : l->out };

	while (packets > 0) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = l->frame, .data_size_in = size,
				.ctx_in = &ctx, .ctx_size_in = sizeof(ctx),
				.repeat = (int)(packets < RUN_MAX ? packets : RUN_MAX),
				.flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = l->batch);
		int ret = bpf_prog_test_run_opts(prog, &opts);

		if (ret < 0)
			return side_fail(why, -ENOTSUP, "no live frames: %s%s", strerror(-ret),
					ret == -EINVAL ? " (they need Linux 5.18)" : "");
		packets -= (uint64_t)opts.repeat;
	}
	return 0;
}

void live_forget(struct live *l)
{
	memset(l->captures, 0, l->n_captures * sizeof(*l->captures));
	l->counts->captured = 0;
}

void live_captured(struct live *l, struct side_probe *out)
{
	out->n = l->counts->captured < SIDE_PROBES ? l->counts->captured : SIDE_PROBES;
	for (uint32_t i = 0; i < out->n; i++) {
		out->frames[i].len = l->captures[i].len;
		memcpy(out->frames[i].header, l->captures[i].header, SIDE_HEADER_LEN);
	}
}
