/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_regex.c - regex: expressions in the bytes of a packet, which only sluice has */
#include "classifier/regex.h"
#include "config/ipt_list.h"

static int regex_init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_m_regex *m = in->data;

	(void)cx;
	m->to = UINT16_MAX;
	return 0;
}

static int regex_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_m_regex *m = in->data;
	char why[2048];

	if (m->from >= m->to)
		return ipt_fail(cx, "match \"regex\": --from %u --to %u: no byte is between them",
				m->from, m->to);
	if (ipt_regex_check(m->pattern, (in->set & IPT_REGEX_ICASE) != 0, why, sizeof(why)) < 0)
		return ipt_fail(cx, "%s", why);
	if (m->from == 0)
		in->set &= ~IPT_REGEX_FROM;
	if (m->to == UINT16_MAX)
		in->set &= ~IPT_REGEX_TO;
	return 0;
}

#define REGEX(field) offsetof(struct ipt_m_regex, field)
static const struct ipt_opt regex_opts[] = {
	IPT_OPT("regex", &ipt_t_string, IPT_REGEX_REGEX, IPT_O_INV, REGEX(pattern), 1),
	IPT_OPT("from", &ipt_t_u16, IPT_REGEX_FROM, 0, REGEX(from)),
	IPT_OPT("to", &ipt_t_u16, IPT_REGEX_TO, 0, REGEX(to)),
	IPT_OPT("icase", &ipt_t_flag, IPT_REGEX_ICASE),
	{ 0 },
};

const struct ipt_ext ipt_match_regex = {
	.name = "regex",
	.kind = IPT_M_REGEX,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_regex),
	.opts = regex_opts,
	.need = IPT_REGEX_REGEX,
	.init = regex_init,
	.finish = regex_finish,
};
