/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_jump.c - -m, -j and -g: matches and targets by name, verdicts, chains */
#include "config/ipt.h"
#include "config/ipt_arena.h"
#include "config/ipt_line.h"

#include <string.h>

static const char *const refused_matches[] = { "cgroup", "ipcomp", "ipvs", "l2tp", "nfacct", "osf",
	"policy", "rateest", "socket", "srh", "layer7", "ipp2p", "geoip", "condition", "tcpmss6",
	"unclean", NULL };
static const char *const refused_targets[] = { "CLUSTERIP", "CONNSECMARK", "DNPT", "SNPT",
	"IDLETIMER", "LED", "RATEEST", "SECMARK", "SYNPROXY", "TPROXY", "ULOG", "IMQ", "ROUTE",
	"TARPIT", "SAME", NULL };

static bool listed(const char *const *list, const char *name)
{
	for (; *list != NULL; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static int inst_new(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_ext *ext)
{
	*in = (struct ipt_inst){ .ext = ext };
	in->data = ipt_arena_alloc(cx->arena, ext->size > 0 ? ext->size : 1);
	if (in->data == NULL)
		return -ENOMEM;
	return ext->init != NULL ? ext->init(cx, in) : 0;
}

int ipt_line_match(struct ipt_line *l, const char *name)
{
	const struct ipt_load *args = l->cx->args;
	const struct ipt_ext *ext = ipt_match_find(name, l->cx->family);

	if (ext == NULL) {
		if (ipt_match_find(name, l->cx->family == IPT_V4 ? IPT_V6 : IPT_V4) != NULL)
			return ipt_fail(l->cx, "match \"%s\" is for the other family", name);
		return ipt_fail(l->cx, "match \"%s\" is %s", name,
				listed(refused_matches, name) ? "not supported" : "unknown");
	}
	if (args->caps != NULL && !args->caps->match[ext->kind])
		return ipt_fail(l->cx, "match \"%s\" is not built into this sluice", name);
	if (l->n_matches == IPT_MATCHES_MAX)
		return ipt_fail(l->cx, "more than %d matches", IPT_MATCHES_MAX);
	return inst_new(l->cx, &l->matches[l->n_matches++], ext);
}

static int set_verdict(struct ipt_line *l, const char *name)
{
	static const struct ipt_name verdicts[] = {
		{ "ACCEPT", IPT_ACCEPT },
		{ "DROP", IPT_DROP },
		{ "QUEUE", IPT_QUEUE },
		{ "RETURN", IPT_RETURN },
		{ NULL, 0 },
	};
	const struct ipt_load *args = l->cx->args;
	const struct ipt_name *n = ipt_name_find(verdicts, name, false);

	if (n == NULL)
		return -ENOENT;
	if (n->value == IPT_DROP && l->cx->table == IPT_NAT)
		return ipt_fail(l->cx, "-j DROP in table nat, which is not for filtering");
	if (n->value == IPT_QUEUE && args->caps != NULL && !args->caps->queue)
		return ipt_fail(l->cx, "-j QUEUE is not built into this sluice");
	l->p->rule.target.verdict = n->value;
	return 0;
}

static int load_target(struct ipt_line *l, const char *name)
{
	const struct ipt_load *args = l->cx->args;
	const struct ipt_ext *ext = ipt_target_find(name, l->cx->family);

	if (ext == NULL) {
		if (ipt_target_find(name, l->cx->family == IPT_V4 ? IPT_V6 : IPT_V4) != NULL)
			return ipt_fail(l->cx, "target \"%s\" is for the other family", name);
		if (listed(refused_targets, name))
			return ipt_fail(l->cx, "target \"%s\" is not supported", name);
		return ipt_fail(l->cx, "there is no chain and no target \"%s\"", name);
	}
	if (args->caps != NULL && !args->caps->target[ext->kind])
		return ipt_fail(l->cx, "target \"%s\" is not built into this sluice", name);
	return inst_new(l->cx, &l->target, ext);
}

int ipt_line_jump(struct ipt_line *l, const char *name, bool is_goto)
{
	struct ipt_target *t = &l->p->rule.target;
	bool builtin;
	int chain, ret;

	if (l->jumped)
		return ipt_fail(l->cx, "a second -j or -g");
	l->jumped = true;
	chain = l->chains->find(l->chains->arg, name, &builtin);
	if (chain >= 0) {
		if (builtin)
			return ipt_fail(l->cx, "jump to the built-in chain %s", name);
		t->verdict = is_goto ? IPT_GOTO : IPT_JUMP;
		t->chain = chain;
		return 0;
	}
	if (is_goto)
		return ipt_fail(l->cx, "-g %s: there is no such chain", name);
	ret = set_verdict(l, name);
	return ret == -ENOENT ? load_target(l, name) : ret;
}
