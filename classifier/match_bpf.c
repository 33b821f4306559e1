/* SPDX-License-Identifier: BSD-3-Clause */
/* bpf: --bytecode, a classic BPF program from the IP header on; what is not 0 is a match. */
#include "classifier/bpf.h"
#include "classifier/match_ext.h"

static int bpf_create(struct ipt_env *env, const struct ipt_match *match, void **state)
{
	const struct ipt_m_bpf *b = match->data;
	struct bpf_filter *f;
	int ret = bpf_filter_create(b->insns, b->n, &f, env->err, env->err_size);

	if (ret == 0)
		*state = f;
	return ret;
}

static void bpf_destroy(void *state)
{
	bpf_filter_free(state);
}

static bool bpf_match(struct ipt_ctx *c, __rte_unused const struct ipt_match *match, void *state)
{
	return bpf_filter_run(state, c) != 0;
}

const struct ipt_match_ops ipt_match_bpf_ops = {
	.kind = IPT_M_BPF,
	.create = bpf_create,
	.destroy = bpf_destroy,
	.match = bpf_match,
};
