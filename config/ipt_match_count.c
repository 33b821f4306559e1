/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_count.c - quota, statistic, recent, set */
#include "config/ipt.h"
#include "config/ipt_arena.h"
#include "config/ipt_hdr.h"
#include "config/ipt_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct ipt_opt quota_opts[] = {
	IPT_OPT("quota", &ipt_t_u64, IPT_QUOTA_QUOTA, IPT_O_INV,
			offsetof(struct ipt_m_quota, bytes)),
	{ 0 },
};

const struct ipt_ext ipt_match_quota = {
	.name = "quota",
	.kind = IPT_M_QUOTA,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_quota),
	.opts = quota_opts,
	.need = IPT_QUOTA_QUOTA,
};

/* ---- statistic ---- */

#define PROBABILITY_ONE 0x80000000u

static int parse_stat_mode(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_statistic *m = in->data;

	(void)inv;
	m->nth = strcmp(arg, "nth") == 0;
	if (!m->nth && strcmp(arg, "random") != 0)
		return ipt_fail(cx, "--%s %s: random or nth was expected", o->name, arg);
	return 0;
}

static void print_stat_mode(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_statistic *m = v->data;

	(void)o;
	fputs(m->nth ? " nth" : " random", f);
}

static int parse_probability(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_statistic *m = in->data;
	char *end;
	double p = strtod(arg, &end);

	(void)inv;
	if (end == arg || *end != '\0' || !(p >= 0 && p <= 1))
		return ipt_fail(cx, "--%s %s: a number 0-1 was expected", o->name, arg);
	m->probability = lround(PROBABILITY_ONE * p);
	return 0;
}

static void print_probability(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_statistic *m = v->data;

	(void)o;
	fprintf(f, " %.11f", (double)m->probability / PROBABILITY_ONE);
}

static int statistic_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_m_statistic *m = in->data;
	uint32_t need = m->nth ? IPT_STATISTIC_EVERY : IPT_STATISTIC_PROBABILITY;

	if (!(in->set & need))
		return ipt_fail(cx, "match \"statistic\": %s was expected",
				m->nth ? "--every" : "--probability");
	if (m->nth && m->packet >= m->every)
		return ipt_fail(cx, "--packet %u: 0-%u was expected", m->packet, m->every - 1);
	return 0;
}

static const struct ipt_type t_stat_mode = { .parse = parse_stat_mode, .print = print_stat_mode };
static const struct ipt_type t_probability = { .parse = parse_probability,
	.print = print_probability };

#define STATISTIC(field) offsetof(struct ipt_m_statistic, field)
static const struct ipt_opt statistic_opts[] = {
	IPT_OPT("mode", &t_stat_mode, IPT_STATISTIC_MODE),
	IPT_OPT("probability", &t_probability, IPT_STATISTIC_PROBABILITY, IPT_O_INV,
			.excl = IPT_STATISTIC_EVERY | IPT_STATISTIC_PACKET),
	IPT_OPT("every", &ipt_t_u32, IPT_STATISTIC_EVERY, IPT_O_INV, STATISTIC(every), 1,
			.also = IPT_STATISTIC_PACKET),
	IPT_OPT("packet", &ipt_t_u32, IPT_STATISTIC_PACKET, 0, STATISTIC(packet),
			.also = IPT_STATISTIC_EVERY),
	{ 0 },
};

const struct ipt_ext ipt_match_statistic = {
	.name = "statistic",
	.kind = IPT_M_STATISTIC,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_statistic),
	.opts = statistic_opts,
	.need = IPT_STATISTIC_MODE,
	.finish = statistic_finish,
};

/* ---- recent ---- */

#define RECENT_DO (IPT_RECENT_SET | IPT_RECENT_RCHECK | IPT_RECENT_UPDATE | IPT_RECENT_REMOVE)
#define RECENT_HITCOUNT_MAX 65535
#define RECENT_SIDES (IPT_RECENT_RSOURCE | IPT_RECENT_RDEST)

static int recent_init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_m_recent *m = in->data;

	m->name = "DEFAULT";
	ipt_mask_of(cx->family, ipt_addr_bits(cx->family), &m->mask);
	in->set = IPT_RECENT_NAME | IPT_RECENT_MASK | IPT_RECENT_RSOURCE;
	return 0;
}

/* of --rsource and --rdest the last one counts */
static int parse_side(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	(void)cx, (void)arg, (void)inv;
	in->set = (in->set & ~RECENT_SIDES) | o->bit;
	return 0;
}

static int recent_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_m_recent *m = in->data;
	uint32_t doing = in->set & RECENT_DO;

	if ((doing & (IPT_RECENT_SET | IPT_RECENT_REMOVE))
			&& (in->seen & (IPT_RECENT_SECONDS | IPT_RECENT_HITCOUNT)))
		return ipt_fail(cx,
				"match \"recent\": --seconds and --hitcount go with --rcheck or --update");
	if (m->hitcount == 0)
		in->set &= ~IPT_RECENT_HITCOUNT;
	if (m->name[0] == '\0' || strchr(m->name, '/') != NULL)
		return ipt_fail(cx, "--name \"%s\": a name without / was expected", m->name);
	return 0;
}

static const struct ipt_type t_side = { .no_arg = true, .parse = parse_side };

#define RECENT(field) offsetof(struct ipt_m_recent, field)
#define DO(name, bit, more) \
	IPT_OPT(name, &ipt_t_flag, bit, IPT_O_INV, .excl = (RECENT_DO & ~(bit)) | (more))
static const struct ipt_opt recent_opts[] = {
	DO("set", IPT_RECENT_SET, IPT_RECENT_RTTL),
	DO("rcheck", IPT_RECENT_RCHECK, 0),
	DO("update", IPT_RECENT_UPDATE, 0),
	DO("remove", IPT_RECENT_REMOVE, IPT_RECENT_RTTL),
	IPT_OPT("seconds", &ipt_t_u32, IPT_RECENT_SECONDS, 0, RECENT(seconds), 1),
	IPT_OPT("reap", &ipt_t_flag, IPT_RECENT_REAP, .also = IPT_RECENT_SECONDS),
	IPT_OPT("hitcount", &ipt_t_u32, IPT_RECENT_HITCOUNT, 0, RECENT(hitcount), 0,
			RECENT_HITCOUNT_MAX),
	IPT_OPT("rttl", &ipt_t_flag, IPT_RECENT_RTTL, .excl = IPT_RECENT_SET | IPT_RECENT_REMOVE),
	IPT_OPT("name", &ipt_t_name, IPT_RECENT_NAME, 0, RECENT(name), 0, 199),
	IPT_OPT("mask", &ipt_t_addr, IPT_RECENT_MASK, 0, RECENT(mask)),
	IPT_OPT("rsource", &t_side, IPT_RECENT_RSOURCE),
	IPT_OPT("rdest", &t_side, IPT_RECENT_RDEST),
	{ 0 },
};

const struct ipt_ext ipt_match_recent = {
	.name = "recent",
	.kind = IPT_M_RECENT,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_recent),
	.opts = recent_opts,
	.one_of = RECENT_DO,
	.init = recent_init,
	.finish = recent_finish,
};

/* ---- set ---- */

#define SET_NAME_MAX 31

static int parse_dirs(struct ipt_ctx *cx, const struct ipt_opt *o, const char *dirs,
		struct ipt_set_ref *ref)
{
	const char *s = dirs;
	size_t len;

	for (;;) {
		len = strcspn(s, ",");
		if (len != 3 || (strncasecmp(s, "src", 3) != 0 && strncasecmp(s, "dst", 3) != 0))
			return ipt_fail(cx,
					"--%s %s %s: src or dst was expected for each dimension",
					o->name, ref->name, dirs);
		if (ref->n == IPT_SET_DIM_MAX)
			return ipt_fail(cx, "--%s %s: more than %d dimensions", o->name, ref->name,
					IPT_SET_DIM_MAX);
		if (strncasecmp(s, "src", 3) == 0)
			ref->src |= 1 << ref->n;
		ref->n++;
		if (s[len] == '\0')
			return 0;
		s += len + 1;
	}
}

static int parse_set_ref(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_set_ref *ref = ipt_field(in, o);
	const char *dirs = ipt_next_arg(cx);
	const struct ipt_load *args = cx->args;
	int ret = 0;

	(void)inv;
	if (dirs == NULL)
		return ipt_fail(cx, "--%s %s: src or dst was expected for each dimension", o->name,
				arg);
	if (*arg == '\0' || strlen(arg) > SET_NAME_MAX)
		return ipt_fail(cx, "--%s %s: a name of 1-%d bytes was expected", o->name, arg,
				SET_NAME_MAX);
	ref->name = ipt_arena_strndup(cx->arena, arg, strlen(arg));
	if (ref->name == NULL)
		return -ENOMEM;
	if (args->set != NULL)
		ret = args->set(args->set_arg, arg, cx->family);
	if (ret == -EAFNOSUPPORT)
		return ipt_fail(cx, "--%s: set %s is of the other family", o->name, arg);
	if (ret < 0)
		return ipt_fail(cx, "--%s: there is no set %s", o->name, arg);
	return parse_dirs(cx, o, dirs, ref);
}

static void print_set_ref(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_set_ref *ref = ipt_cfield(v, o);

	fprintf(f, " %s", ref->name);
	for (int i = 0; i < ref->n; i++)
		fprintf(f, "%c%s", i == 0 ? ' ' : ',', ref->src & (1 << i) ? "src" : "dst");
}

const struct ipt_type ipt_t_set_ref = { .parse = parse_set_ref, .print = print_set_ref };

#define SET(field) offsetof(struct ipt_m_set, field)
#define PACKETS (IPT_SET_PACKETS_EQ | IPT_SET_PACKETS_LT | IPT_SET_PACKETS_GT)
#define BYTES (IPT_SET_BYTES_EQ | IPT_SET_BYTES_LT | IPT_SET_BYTES_GT)
#define COUNT(name, bit, all, flags, field) \
	IPT_OPT(name, &ipt_t_u64, bit, flags, SET(field), .excl = (all) & ~(bit))
static const struct ipt_opt set_opts[] = {
	IPT_OPT("match-set", &ipt_t_set_ref, IPT_SET_MATCH_SET, IPT_O_INV, SET(ref)),
	IPT_OPT("set", &ipt_t_set_ref, IPT_SET_MATCH_SET, IPT_O_INV | IPT_O_QUIET, SET(ref)),
	IPT_OPT("return-nomatch", &ipt_t_flag, IPT_SET_RETURN_NOMATCH),
	IPT_OPT("update-counters", &ipt_t_flag, IPT_SET_UPDATE_COUNTERS,
			IPT_O_INV | IPT_O_ONLY_INV),
	IPT_OPT("update-subcounters", &ipt_t_flag, IPT_SET_UPDATE_SUBCOUNTERS,
			IPT_O_INV | IPT_O_ONLY_INV),
	COUNT("packets-eq", IPT_SET_PACKETS_EQ, PACKETS, IPT_O_INV, packets),
	COUNT("packets-lt", IPT_SET_PACKETS_LT, PACKETS, 0, packets),
	COUNT("packets-gt", IPT_SET_PACKETS_GT, PACKETS, 0, packets),
	COUNT("bytes-eq", IPT_SET_BYTES_EQ, BYTES, IPT_O_INV, bytes),
	COUNT("bytes-lt", IPT_SET_BYTES_LT, BYTES, 0, bytes),
	COUNT("bytes-gt", IPT_SET_BYTES_GT, BYTES, 0, bytes),
	{ 0 },
};

const struct ipt_ext ipt_match_set = {
	.name = "set",
	.kind = IPT_M_SET,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_set),
	.opts = set_opts,
	.need = IPT_SET_MATCH_SET,
};
