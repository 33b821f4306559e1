/* SPDX-License-Identifier: BSD-3-Clause */
/* TEE: a copy to another gateway; the packet itself goes on. A copy is not copied again. */
#include "classifier/match_ext.h"
#include "lib/ip.h"
#include "lib/router.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int tee_create(struct ipt_env *env, const struct ipt_target *target, void **state)
{
	const struct ipt_t_tee *t = target->data;
	struct sl_copy *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		snprintf(env->err, env->err_size, "out of memory");
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < RTE_DIM(c->gateway.w); i++)
		c->gateway.w[i] = rte_cpu_to_be_32(t->gateway.w[i]);
	/* a device that is not there binds to nothing, in the kernel as well */
	c->port = target->set & IPT_TEE_OIF ? sl_router_port(env->r, t->oif) : 0;
	if (c->port == 0)
		c->port = SL_PORT_NONE;
	*state = c;
	return 0;
}

static int tee_run(struct ipt_ctx *c, __rte_unused const struct ipt_target *target, void *state)
{
	struct sl_copy copy = *(const struct sl_copy *)state;

	copy.hop = c->hook == IPT_PREROUTING || c->hook == IPT_INPUT;
	sl_copy_send(c->w, c->m, &copy);
	return IPT_CONTINUE;
}

const struct ipt_target_ops ipt_target_tee_ops = {
	.kind = IPT_T_TEE,
	.create = tee_create,
	.destroy = free,
	.run = tee_run,
};
