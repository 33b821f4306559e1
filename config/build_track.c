/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection tracking stands in the pipeline while some rule needs it, and tracks the families whose
 * rules do, as in the kernel.
 */
#include "config/build_priv.h"
#include "lib/conf.h"
#include "lib/log.h"

SL_LOG_TYPE("rules");

static const struct sl_stage_ops *const stages[] = {
	&sl_stage_defrag,
	&sl_stage_conntrack,
	&sl_stage_confirm,
};

static void fill_conf(struct ct_conf *ct, const struct sl_conf *conf, bool acct)
{
	ct_conf_init(ct);
	ct->max = conf->conntrack_max;
	for (unsigned int i = 0; i < conf->n_sysctls; i++)
		ct_sysctl_store(ct, conf->sysctls[i].name, conf->sysctls[i].value);
	if (acct && ct->acct == 0) {
		SL_LOG(NOTICE, "connbytes: net.netfilter.nf_conntrack_acct is switched on");
		ct->acct = 1;
	}
}

const struct ct_conf *sl_firewall_tracking(const struct sl_firewall *fw)
{
	return fw->track.n == 0 ? NULL : &fw->track.ct;
}

void build_track(struct sl_firewall *fw, const struct sl_conf *conf)
{
	struct build_track *t = &fw->track;
	bool acct = false;

	*t = (struct build_track){ 0 };
	for (unsigned int f = 0; f < IPT_FAMILY_NB; f++) {
		uint8_t needs = fw->prog[f] == NULL ? 0 : ipt_prog_needs(fw->prog[f]);

		t->family[f] = (needs & IPT_NEEDS_CT) != 0;
		acct |= (needs & IPT_NEEDS_CT_ACCT) != 0;
	}
	if (!t->family[IPT_V4] && !t->family[IPT_V6])
		return;
	fill_conf(&t->ct, conf, acct);
	for (unsigned int i = 0; i < RTE_DIM(stages); i++)
		for (unsigned int hook = 0; hook < SL_HOOK_NB; hook++) {
			struct ct_stage_conf *c = &t->confs[t->n];

			if ((stages[i]->hooks & SL_HOOK_BIT(hook)) == 0)
				continue;
			c->conf.hook = (enum sl_hook)hook;
			c->conf.stage = stages[i]->name;
			c->ct = t->ct;
			memcpy(c->family, t->family, sizeof(c->family));
			t->specs[t->n++] = (struct sl_stage_spec){ .ops = stages[i],
				.conf = &c->conf,
				.hook = (enum sl_hook)hook,
				.order = stages[i]->order };
		}
}
