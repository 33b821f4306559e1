/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two methods on the kernel's side share. */
#pragma once

#include "app/bench/live_load.h"

struct kernel {
	struct live live;
	const struct side_setup *setup;
};

typedef int kernel_move(struct kernel *k, uint64_t packets, struct side_sample *out, char *why);

/* namespace, programs and rules; -ENOTSUP: this machine lacks something */
int kernel_create(const struct side_setup *setup, struct kernel **out, char *why);

/* side_ops.probe with packets that @move sends */
int kernel_probe_by(struct kernel *k, kernel_move *move, struct side_probe *out, char *why);

/* side_ops.measure by live frames */
int kernel_run(struct kernel *k, int program, uint64_t packets, struct side_sample *out, char *why);
