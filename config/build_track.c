/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection tracking stands in the pipeline while some rule needs it, and tracks the families whose
 * rules do, as in the kernel. With a nat table connections are bound as well.
 */
#include "config/build_priv.h"
#include "lib/conf.h"
#include "lib/log.h"

SL_LOG_TYPE("rules");

static const struct {
	const struct sl_stage_ops *ops;
	bool nat; /* only with a nat table */
} stages[] = {
	{ &sl_stage_defrag, false },
	{ &sl_stage_conntrack, false },
	{ &sl_stage_dnat, true },
	{ &sl_stage_snat, true },
	{ &sl_stage_confirm, false },
};

/* an empty nat table binds connections too, once something else has them tracked */
static bool has_nat(const struct sl_firewall *fw, enum ipt_family family)
{
	return fw->prog[family] != NULL && ipt_prog_has(fw->prog[family], IPT_NAT, IPT_PREROUTING);
}

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

static void add(struct sl_firewall *fw, const struct sl_stage_ops *ops, enum sl_hook hook)
{
	struct build_track *t = &fw->track;
	struct ct_nat_conf *c = &t->confs[t->n];

	c->ct.conf.hook = hook;
	c->ct.conf.stage = ops->name;
	c->ct.ct = t->ct;
	memcpy(c->ct.family, t->family, sizeof(c->ct.family));
	for (unsigned int f = 0; f < IPT_FAMILY_NB; f++)
		c->prog[f] = has_nat(fw, (enum ipt_family)f) ? fw->prog[f] : NULL;
	t->specs[t->n++] = (struct sl_stage_spec){
		.ops = ops, .conf = &c->ct.conf, .hook = hook, .order = ops->order
	};
}

void build_track(struct sl_firewall *fw, const struct sl_conf *conf)
{
	struct build_track *t = &fw->track;
	bool nat = has_nat(fw, IPT_V4) || has_nat(fw, IPT_V6);
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
	for (unsigned int i = 0; i < RTE_DIM(stages); i++) {
		if (stages[i].nat && !nat)
			continue;
		for (unsigned int hook = 0; hook < SL_HOOK_NB; hook++)
			if (stages[i].ops->hooks & SL_HOOK_BIT(hook))
				add(fw, stages[i].ops, (enum sl_hook)hook);
	}
}
