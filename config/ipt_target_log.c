/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_target_log.c - what answers, tells, copies or stores: REJECT LOG NFLOG NFQUEUE AUDIT TRACE TEE SET */
#include "classifier/ipt_target.h"
#include "config/ipt_hdr.h"
#include "config/ipt_list.h"

#include <netinet/in.h>
#include <string.h>
#include <strings.h>

/* ---- REJECT ---- */

/* the name that is printed, then the short one; a beginning of any of them will do */
static const struct ipt_name rejects4[] = {
	{ "icmp-net-unreachable", IPT_REJ_NET_UNREACH },
	{ "net-unreach", IPT_REJ_NET_UNREACH },
	{ "icmp-host-unreachable", IPT_REJ_HOST_UNREACH },
	{ "host-unreach", IPT_REJ_HOST_UNREACH },
	{ "icmp-proto-unreachable", IPT_REJ_PROTO_UNREACH },
	{ "proto-unreach", IPT_REJ_PROTO_UNREACH },
	{ "icmp-port-unreachable", IPT_REJ_PORT_UNREACH },
	{ "port-unreach", IPT_REJ_PORT_UNREACH },
	{ "icmp-net-prohibited", IPT_REJ_NET_PROHIBITED },
	{ "net-prohib", IPT_REJ_NET_PROHIBITED },
	{ "icmp-host-prohibited", IPT_REJ_HOST_PROHIBITED },
	{ "host-prohib", IPT_REJ_HOST_PROHIBITED },
	{ "tcp-reset", IPT_REJ_TCP_RESET },
	{ "tcp-rst", IPT_REJ_TCP_RESET },
	{ "icmp-admin-prohibited", IPT_REJ_ADMIN_PROHIBITED },
	{ "admin-prohib", IPT_REJ_ADMIN_PROHIBITED },
	{ NULL, 0 },
};

static const struct ipt_name rejects6[] = {
	{ "icmp6-no-route", IPT_REJ6_NO_ROUTE },
	{ "no-route", IPT_REJ6_NO_ROUTE },
	{ "icmp6-adm-prohibited", IPT_REJ6_ADM_PROHIBITED },
	{ "adm-prohibited", IPT_REJ6_ADM_PROHIBITED },
	{ "icmp6-addr-unreachable", IPT_REJ6_ADDR_UNREACH },
	{ "addr-unreach", IPT_REJ6_ADDR_UNREACH },
	{ "icmp6-port-unreachable", IPT_REJ6_PORT_UNREACH },
	{ "port-unreach", IPT_REJ6_PORT_UNREACH },
	{ "tcp-reset", IPT_REJ_TCP_RESET },
	{ "icmp6-policy-fail", IPT_REJ6_POLICY_FAIL },
	{ "policy-fail", IPT_REJ6_POLICY_FAIL },
	{ "icmp6-reject-route", IPT_REJ6_REJECT_ROUTE },
	{ "reject-route", IPT_REJ6_REJECT_ROUTE },
	{ NULL, 0 },
};

static int parse_reject(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	const struct ipt_name *n = cx->family == IPT_V4 ? rejects4 : rejects6;
	size_t len = strlen(arg);

	(void)inv;
	for (; n->name != NULL; n++)
		if (len > 0 && strncasecmp(n->name, arg, len) == 0) {
			*(uint8_t *)ipt_field(in, o) = n->value;
			return 0;
		}
	return ipt_fail(cx, "--%s %s: unknown kind, one like %s was expected", o->name, arg,
			cx->family == IPT_V4 ? "icmp-port-unreachable" : "icmp6-port-unreachable");
}

static void print_reject(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	fprintf(f, " %s",
			ipt_name_of(v->family == IPT_V4 ? rejects4 : rejects6,
					*(const uint8_t *)ipt_cfield(v, o)));
}

static int reject_init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_t_reject *t = in->data;

	t->with = cx->family == IPT_V4 ? IPT_REJ_PORT_UNREACH : IPT_REJ6_PORT_UNREACH;
	in->set = IPT_REJECT_WITH;
	return 0;
}

static const char *reject_check(enum ipt_family family, const struct ipt_rule *rule, uint32_t set,
		const void *data, uint8_t hooks)
{
	const struct ipt_t_reject *t = data;

	(void)family, (void)set, (void)hooks;
	if (t->with == IPT_REJ_TCP_RESET && (rule->proto != IPPROTO_TCP || rule->proto_inv))
		return "--reject-with tcp-reset needs -p tcp";
	return NULL;
}

static const struct ipt_type t_reject = { .parse = parse_reject, .print = print_reject };

static const struct ipt_opt reject_opts[] = {
	IPT_OPT("reject-with", &t_reject, IPT_REJECT_WITH, 0, offsetof(struct ipt_t_reject, with)),
	{ 0 },
};

#define REJECT(id, fam)                                                             \
	const struct ipt_ext id = {                                                 \
		.name = "REJECT",                                                   \
		.kind = IPT_T_REJECT,                                               \
		.families = fam,                                                    \
		.tables = 1 << IPT_FILTER,                                          \
		.hooks = (1 << IPT_INPUT) | (1 << IPT_FORWARD) | (1 << IPT_OUTPUT), \
		.size = sizeof(struct ipt_t_reject),                                \
		.opts = reject_opts,                                                \
		.init = reject_init,                                                \
		.check = reject_check,                                              \
	}

REJECT(ipt_target_reject4, IPT_F4);
REJECT(ipt_target_reject6, IPT_F6);

/* ---- LOG ---- */

#define LOG_WARNING 4

static const struct ipt_name levels[] = {
	{ "alert", 1 },
	{ "crit", 2 },
	{ "debug", 7 },
	{ "emerg", 0 },
	{ "error", 3 },
	{ "info", 6 },
	{ "notice", 5 },
	{ "panic", 0 },
	{ "warning", LOG_WARNING },
	{ NULL, 0 },
};

static int parse_level(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	const struct ipt_name *n = ipt_name_find(levels, arg, true);
	uint64_t v;

	(void)inv;
	if (n != NULL)
		v = n->value;
	else if (!ipt_number(arg, NULL, &v, 0, 7))
		return ipt_fail(cx, "--%s %s: 0-7 or a name like warning was expected", o->name,
				arg);
	*(uint8_t *)ipt_field(in, o) = v;
	return 0;
}

static void print_level(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	fprintf(f, " %u", *(const uint8_t *)ipt_cfield(v, o));
}

static int log_init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_t_log *t = in->data;

	(void)cx;
	t->level = LOG_WARNING;
	return 0;
}

static int log_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_t_log *t = in->data;

	(void)cx;
	if (t->level == LOG_WARNING)
		in->set &= ~IPT_LOG_LEVEL;
	return 0;
}

static const struct ipt_type t_level = { .parse = parse_level, .print = print_level };

static const struct ipt_opt log_opts[] = {
	IPT_OPT("log-prefix", &ipt_t_string, IPT_LOG_PREFIX, 0, offsetof(struct ipt_t_log, prefix),
			1, 29),
	IPT_OPT("log-level", &t_level, IPT_LOG_LEVEL, 0, offsetof(struct ipt_t_log, level)),
	IPT_OPT("log-tcp-sequence", &ipt_t_flag, IPT_LOG_TCP_SEQUENCE),
	IPT_OPT("log-tcp-options", &ipt_t_flag, IPT_LOG_TCP_OPTIONS),
	IPT_OPT("log-ip-options", &ipt_t_flag, IPT_LOG_IP_OPTIONS),
	IPT_OPT("log-uid", &ipt_t_flag, IPT_LOG_UID),
	IPT_OPT("log-macdecode", &ipt_t_flag, IPT_LOG_MACDECODE),
	{ 0 },
};

const struct ipt_ext ipt_target_log = {
	.name = "LOG",
	.kind = IPT_T_LOG,
	.families = IPT_F46,
	.size = sizeof(struct ipt_t_log),
	.opts = log_opts,
	.init = log_init,
	.finish = log_finish,
};

/* ---- NFLOG ---- */

static int nflog_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_t_nflog *t = in->data;

	(void)cx;
	if (t->group == 0)
		in->set &= ~IPT_NFLOG_GROUP;
	if (t->threshold == 0)
		in->set &= ~IPT_NFLOG_THRESHOLD;
	return 0;
}

#define NL(field) offsetof(struct ipt_t_nflog, field)
static const struct ipt_opt nflog_opts[] = {
	IPT_OPT("nflog-prefix", &ipt_t_string, IPT_NFLOG_PREFIX, 0, NL(prefix), 1, 63),
	IPT_OPT("nflog-group", &ipt_t_u16, IPT_NFLOG_GROUP, 0, NL(group)),
	IPT_OPT("nflog-range", &ipt_t_u32, IPT_NFLOG_RANGE, 0, NL(size_bytes),
			.excl = IPT_NFLOG_SIZE),
	IPT_OPT("nflog-size", &ipt_t_u32, IPT_NFLOG_SIZE, 0, NL(size_bytes),
			.excl = IPT_NFLOG_RANGE),
	IPT_OPT("nflog-threshold", &ipt_t_u16, IPT_NFLOG_THRESHOLD, 0, NL(threshold)),
	{ 0 },
};

const struct ipt_ext ipt_target_nflog = {
	.name = "NFLOG",
	.kind = IPT_T_NFLOG,
	.families = IPT_F46,
	.size = sizeof(struct ipt_t_nflog),
	.opts = nflog_opts,
	.finish = nflog_finish,
};

/* ---- NFQUEUE ---- */

static int parse_queue_num(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_t_nfqueue *t = in->data;

	if (ipt_t_u16.parse(cx, in, o, arg, inv) < 0)
		return -EINVAL;
	t->queues.hi = t->queues.lo;
	return 0;
}

static void print_queue_num(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	ipt_t_u16.print(f, v, o);
}

static int nfqueue_init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	(void)cx;
	in->set = IPT_NFQUEUE_NUM;
	return 0;
}

static int nfqueue_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_t_nfqueue *t = in->data;

	if (in->set & IPT_NFQUEUE_BALANCE) {
		in->set &= ~IPT_NFQUEUE_NUM;
		if (t->queues.lo >= t->queues.hi)
			return ipt_fail(cx, "--queue-balance %u:%u: a rising range was expected",
					t->queues.lo, t->queues.hi);
	}
	return 0;
}

static const struct ipt_type t_queue_num = { .parse = parse_queue_num, .print = print_queue_num };

#define NQ(field) offsetof(struct ipt_t_nfqueue, field)
static const struct ipt_opt nfqueue_opts[] = {
	IPT_OPT("queue-num", &t_queue_num, IPT_NFQUEUE_NUM, 0, NQ(queues.lo),
			.excl = IPT_NFQUEUE_BALANCE),
	IPT_OPT("queue-balance", &ipt_t_range16, IPT_NFQUEUE_BALANCE, 0, NQ(queues),
			.excl = IPT_NFQUEUE_NUM),
	IPT_OPT("queue-bypass", &ipt_t_flag, IPT_NFQUEUE_BYPASS),
	IPT_OPT("queue-cpu-fanout", &ipt_t_flag, IPT_NFQUEUE_CPU_FANOUT,
			.also = IPT_NFQUEUE_BALANCE),
	{ 0 },
};

const struct ipt_ext ipt_target_nfqueue = {
	.name = "NFQUEUE",
	.kind = IPT_T_NFQUEUE,
	.families = IPT_F46,
	.size = sizeof(struct ipt_t_nfqueue),
	.opts = nfqueue_opts,
	.init = nfqueue_init,
	.finish = nfqueue_finish,
};

/* ---- AUDIT, TRACE ---- */

static const struct ipt_name audits[] = {
	{ "accept", IPT_AUDIT_ACCEPT },
	{ "drop", IPT_AUDIT_DROP },
	{ "reject", IPT_AUDIT_REJECT },
	{ NULL, 0 },
};

static int parse_audit(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	const struct ipt_name *n = ipt_name_find(audits, arg, true);

	(void)inv;
	if (n == NULL)
		return ipt_fail(cx, "--%s %s: accept, drop or reject was expected", o->name, arg);
	*(uint8_t *)ipt_field(in, o) = n->value;
	return 0;
}

static void print_audit(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	fprintf(f, " %s", ipt_name_of(audits, *(const uint8_t *)ipt_cfield(v, o)));
}

static const struct ipt_type t_audit = { .parse = parse_audit, .print = print_audit };

static const struct ipt_opt audit_opts[] = {
	IPT_OPT("type", &t_audit, IPT_AUDIT_TYPE, 0, offsetof(struct ipt_t_audit, type)),
	{ 0 },
};

const struct ipt_ext ipt_target_audit = {
	.name = "AUDIT",
	.kind = IPT_T_AUDIT,
	.families = IPT_F46,
	.size = sizeof(struct ipt_t_audit),
	.opts = audit_opts,
	.need = IPT_AUDIT_TYPE,
};

/* nft takes it in every table, legacy in raw only */
const struct ipt_ext ipt_target_trace = {
	.name = "TRACE",
	.kind = IPT_T_TRACE,
	.families = IPT_F46,
};

/* ---- TEE ---- */

static int parse_oif(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_t_tee *t = in->data;

	(void)inv;
	if (*arg == '\0' || strlen(arg) >= sizeof(t->oif))
		return ipt_fail(cx, "--%s \"%s\": a name of 1-%d bytes was expected", o->name, arg,
				IPT_IFNAME_LEN - 1);
	strcpy(t->oif, arg);
	return 0;
}

static void print_oif(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_t_tee *t = v->data;

	(void)o;
	fprintf(f, " %s", t->oif);
}

static int tee_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_t_tee *t = in->data;

	return ipt_addr_zero(&t->gateway)
			? ipt_fail(cx, "--gateway: an address other than 0 was expected")
			: 0;
}

static const struct ipt_type t_oif = { .parse = parse_oif, .print = print_oif };

static const struct ipt_opt tee_opts[] = {
	IPT_OPT("gateway", &ipt_t_addr, IPT_TEE_GATEWAY, 0, offsetof(struct ipt_t_tee, gateway)),
	IPT_OPT("oif", &t_oif, IPT_TEE_OIF),
	{ 0 },
};

const struct ipt_ext ipt_target_tee = {
	.name = "TEE",
	.kind = IPT_T_TEE,
	.families = IPT_F46,
	.size = sizeof(struct ipt_t_tee),
	.opts = tee_opts,
	.need = IPT_TEE_GATEWAY,
	.finish = tee_finish,
};

/* ---- SET ---- */

static const char *set_check(enum ipt_family family, const struct ipt_rule *rule, uint32_t set,
		const void *data, uint8_t hooks)
{
	(void)family, (void)rule, (void)data;
	if ((set & IPT_SETT_MAP_PRIO)
			&& (hooks
					& ~((1 << IPT_FORWARD) | (1 << IPT_OUTPUT)
							| (1 << IPT_POSTROUTING))))
		return "--map-prio in a chain reached from PREROUTING or INPUT";
	return NULL;
}

static int set_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const uint32_t maps = IPT_SETT_MAP_MARK | IPT_SETT_MAP_PRIO | IPT_SETT_MAP_QUEUE;

	if ((in->set & IPT_SETT_MAP) && cx->table != IPT_MANGLE)
		return ipt_fail(cx, "SET --map-set: only in table mangle");
	if ((in->set & IPT_SETT_MAP) && !(in->set & maps))
		return ipt_fail(cx,
				"SET --map-set: --map-mark, --map-prio or --map-queue was expected");
	return 0;
}

#define SET(field) offsetof(struct ipt_t_set, field)
static const struct ipt_opt set_opts[] = {
	IPT_OPT("add-set", &ipt_t_set_ref, IPT_SETT_ADD, 0, SET(add), .excl = IPT_SETT_MAP),
	IPT_OPT("exist", &ipt_t_flag, IPT_SETT_EXIST, .also = IPT_SETT_ADD),
	IPT_OPT("timeout", &ipt_t_u32, IPT_SETT_TIMEOUT, 0, SET(timeout_s), 0, UINT32_MAX - 1,
			.also = IPT_SETT_ADD),
	IPT_OPT("del-set", &ipt_t_set_ref, IPT_SETT_DEL, 0, SET(del), .excl = IPT_SETT_MAP),
	IPT_OPT("map-set", &ipt_t_set_ref, IPT_SETT_MAP, 0, SET(map),
			.excl = IPT_SETT_ADD | IPT_SETT_DEL),
	IPT_OPT("map-mark", &ipt_t_flag, IPT_SETT_MAP_MARK, .also = IPT_SETT_MAP),
	IPT_OPT("map-prio", &ipt_t_flag, IPT_SETT_MAP_PRIO, .also = IPT_SETT_MAP),
	IPT_OPT("map-queue", &ipt_t_flag, IPT_SETT_MAP_QUEUE, .also = IPT_SETT_MAP),
	{ 0 },
};

const struct ipt_ext ipt_target_set = {
	.name = "SET",
	.kind = IPT_T_SET,
	.families = IPT_F46,
	.size = sizeof(struct ipt_t_set),
	.opts = set_opts,
	.one_of = IPT_SETT_ADD | IPT_SETT_DEL | IPT_SETT_MAP,
	.finish = set_finish,
	.check = set_check,
};
