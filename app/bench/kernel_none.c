/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's side where the build had no clang or no libbpf. */
#include "app/bench/kernel.h"

#include <errno.h>

const char *kernel_missing(void)
{
	return "this build has no BPF programs: install clang and libbpf-dev, then build again "
	       "with -Dbench_kernel=enabled";
}

static int none_open(const struct side_setup *setup, void **priv, char *why)
{
	(void)setup;
	(void)priv;
	return side_fail(why, -ENOTSUP, "%s", kernel_missing());
}

const struct side_ops kernel_side = {
	.open = none_open,
};

const struct side_ops packet_side = {
	.open = none_open,
};

const struct side_ops kernel_cut_side = {
	.open = none_open,
};

const struct side_ops packet_cut_side = {
	.open = none_open,
};
