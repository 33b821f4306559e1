/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_time.c - time: dates, hours of the day, days of week and month */
#include "config/ipt_list.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define DAY_STOP_S (24 * 60 * 60 - 1)
#define ALL_MONTHDAYS 0xfffffffeu
#define ALL_WEEKDAYS 0xfe

static const char *const weekdays[] = { NULL, "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };
static const char *const long_weekdays[] = { NULL, "Monday", "Tuesday", "Wednesday", "Thursday",
	"Friday", "Saturday", "Sunday" };

/* Up to @n numbers with these separators between them; the rest of the text is in *end. */
static unsigned int numbers(
		const char *s, const char *separators, unsigned int n, long *v, const char **end)
{
	unsigned int i;
	char *e;

	for (i = 0; i < n; i++) {
		if (i > 0 && *s++ != separators[i - 1]) {
			s--;
			break;
		}
		if (*s < '0' || *s > '9')
			return 0;
		v[i] = strtol(s, &e, 10);
		if (e - s > 4)
			return 0;
		s = e;
	}
	*end = s;
	return i;
}

/* YYYY[-MM[-DD[Thh[:mm[:ss]]]]], universal time */
static int parse_date(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	long v[] = { 0, 1, 1, 0, 0, 0 };
	const char *end;
	struct tm tm;
	time_t t;

	(void)inv;
	if (numbers(arg, "--T::", 6, v, &end) == 0 || *end != '\0' || v[0] < 1970 || v[0] > 2038
			|| v[1] < 1 || v[1] > 12 || v[2] < 1 || v[2] > 31 || v[3] > 23 || v[4] > 59
			|| v[5] > 59)
		goto bad;
	tm = (struct tm){ .tm_year = v[0] - 1900,
		.tm_mon = v[1] - 1,
		.tm_mday = v[2],
		.tm_hour = v[3],
		.tm_min = v[4],
		.tm_sec = v[5] };
	t = timegm(&tm);
	if (t < 0 || t > INT32_MAX)
		goto bad;
	*(uint32_t *)ipt_field(in, o) = t;
	return 0;
bad:
	return ipt_fail(cx,
			"--%s %s: YYYY[-MM[-DD[Thh[:mm[:ss]]]]] from 1970 to 2038-01-19T03:14:07 was "
			"expected",
			o->name, arg);
}

static void print_date(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	time_t t = *(const uint32_t *)ipt_cfield(v, o);
	char buf[32];
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%S", &tm);
	fprintf(f, " %s", buf);
}

static int parse_hour(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	long v[] = { 0, 0, 0 };
	const char *end;

	(void)inv;
	if (numbers(arg, "::", 3, v, &end) < 2 || *end != '\0' || v[0] > 23 || v[1] > 59
			|| v[2] > 59)
		return ipt_fail(cx, "--%s %s: hh:mm[:ss] was expected", o->name, arg);
	*(uint32_t *)ipt_field(in, o) = (v[0] * 60 + v[1]) * 60 + v[2];
	return 0;
}

static void print_hour(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	uint32_t s = *(const uint32_t *)ipt_cfield(v, o);

	fprintf(f, " %02u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
}

static unsigned int weekday(const char *word)
{
	uint64_t v;

	if (ipt_number(word, NULL, &v, 1, 7))
		return v;
	for (unsigned int i = 1; i <= 7; i++)
		if (strcasecmp(word, weekdays[i]) == 0 || strcasecmp(word, long_weekdays[i]) == 0)
			return i;
	return 0;
}

static unsigned int monthday(const char *word)
{
	uint64_t v;

	return ipt_number(word, NULL, &v, 1, 31) ? v : 0;
}

/* A list of days; behind `!` it is turned into all the others. */
static int day_list(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv, uint32_t all, uint32_t *days)
{
	char copy[IPT_ARG_MAX + 1], *next = copy, *word;
	bool week = o->bit == IPT_TIME_WEEKDAYS;
	unsigned int day;

	strcpy(copy, arg); /* no word is longer than IPT_ARG_MAX */
	*days = 0;
	while ((word = strsep(&next, ",")) != NULL) {
		day = week ? weekday(word) : monthday(word);
		if (day == 0)
			return ipt_fail(cx, "--%s: unknown day \"%s\", %s was expected", o->name,
					word, week ? "Mon to Sun or 1-7" : "1-31");
		*days |= 1u << day;
	}
	if (inv)
		*days = all & ~*days;
	in->inv &= ~o->bit;
	return *days != 0 ? 0 : ipt_fail(cx, "--%s: no day is left", o->name);
}

static int parse_monthdays(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_time *m = in->data;

	return day_list(cx, in, o, arg, inv, ALL_MONTHDAYS, &m->monthdays);
}

static int parse_weekdays(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_time *m = in->data;
	uint32_t days;

	if (day_list(cx, in, o, arg, inv, ALL_WEEKDAYS, &days) < 0)
		return -EINVAL;
	m->weekdays = days;
	return 0;
}

static void print_monthdays(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_time *m = v->data;
	char sep = ' ';

	(void)o;
	for (int i = 1; i <= 31; i++)
		if (m->monthdays & (1u << i)) {
			fprintf(f, "%c%d", sep, i);
			sep = ',';
		}
}

static void print_weekdays(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_time *m = v->data;
	char sep = ' ';

	(void)o;
	for (int i = 1; i <= 7; i++)
		if (m->weekdays & (1 << i)) {
			fprintf(f, "%c%s", sep, weekdays[i]);
			sep = ',';
		}
}

static int init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	(void)cx;
	*(struct ipt_m_time *)in->data = (struct ipt_m_time){
		.date_stop_s = INT32_MAX,
		.day_stop_s = DAY_STOP_S,
		.monthdays = ALL_MONTHDAYS,
		.weekdays = ALL_WEEKDAYS,
	};
	return 0;
}

static int finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_m_time *m = in->data;
	const uint32_t hours = IPT_TIME_TIMESTART | IPT_TIME_TIMESTOP;

	if ((in->set & IPT_TIME_CONTIGUOUS) && m->day_start_s < m->day_stop_s)
		return ipt_fail(cx, "--contiguous: --timestop before --timestart was expected");
	in->set |= hours | IPT_TIME_MONTHDAYS | IPT_TIME_WEEKDAYS | IPT_TIME_DATESTART
			| IPT_TIME_DATESTOP;
	if (m->day_start_s == 0 && m->day_stop_s == DAY_STOP_S)
		in->set &= ~hours;
	if (m->monthdays == ALL_MONTHDAYS)
		in->set &= ~IPT_TIME_MONTHDAYS;
	if (m->weekdays == ALL_WEEKDAYS)
		in->set &= ~IPT_TIME_WEEKDAYS;
	if (m->date_start_s == 0)
		in->set &= ~IPT_TIME_DATESTART;
	return 0;
}

static int parse_utc(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	(void)cx, (void)arg, (void)inv;
	in->set &= ~o->bit; /* the default, never printed */
	return 0;
}

static const struct ipt_type t_date = { .parse = parse_date, .print = print_date };
static const struct ipt_type t_hour = { .parse = parse_hour, .print = print_hour };
static const struct ipt_type t_monthdays = { .parse = parse_monthdays, .print = print_monthdays };
static const struct ipt_type t_weekdays = { .parse = parse_weekdays, .print = print_weekdays };
static const struct ipt_type t_utc = { .no_arg = true, .parse = parse_utc };

#define UTC (1 << 8) /* a bit of its own, never in `set` */
#define OFF(field) offsetof(struct ipt_m_time, field)
static const struct ipt_opt opts[] = {
	IPT_OPT("timestart", &t_hour, IPT_TIME_TIMESTART, 0, OFF(day_start_s)),
	IPT_OPT("timestop", &t_hour, IPT_TIME_TIMESTOP, 0, OFF(day_stop_s)),
	IPT_OPT("monthdays", &t_monthdays, IPT_TIME_MONTHDAYS, IPT_O_INV),
	IPT_OPT("weekdays", &t_weekdays, IPT_TIME_WEEKDAYS, IPT_O_INV),
	IPT_OPT("days", &t_weekdays, IPT_TIME_WEEKDAYS, IPT_O_QUIET),
	IPT_OPT("datestart", &t_date, IPT_TIME_DATESTART, 0, OFF(date_start_s)),
	IPT_OPT("datestop", &t_date, IPT_TIME_DATESTOP, 0, OFF(date_stop_s)),
	IPT_OPT("kerneltz", &ipt_t_flag, IPT_TIME_KERNELTZ, .excl = UTC),
	IPT_OPT("localtz", &ipt_t_flag, IPT_TIME_KERNELTZ, IPT_O_QUIET, .excl = UTC),
	IPT_OPT("contiguous", &ipt_t_flag, IPT_TIME_CONTIGUOUS),
	IPT_OPT("utc", &t_utc, UTC, IPT_O_QUIET, .excl = IPT_TIME_KERNELTZ),
	{ 0 },
};

const struct ipt_ext ipt_match_time = {
	.name = "time",
	.kind = IPT_M_TIME,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_time),
	.opts = opts,
	.init = init,
	.finish = finish,
};
