/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * time. A span of the day whose start is not below its stop goes over midnight; with --contiguous
 * the part behind midnight belongs to the day on which the span began.
 */
#include "classifier/match_ext.h"
#include "lib/worker.h"

#include <sys/time.h>
#include <time.h>

#define DAY_S 86400
#define ALL_MONTHDAYS 0xfffffffeU

/* --kerneltz: the system's own, which is 0 unless somebody has set it */
static int time_create(
		__rte_unused struct ipt_env *env, const struct ipt_match *match, void **state)
{
	struct timezone tz = { 0 };

	if (match->set & IPT_TIME_KERNELTZ)
		gettimeofday(&(struct timeval){ 0 }, &tz);
	*state = (void *)(intptr_t)(tz.tz_minuteswest * 60);
	return 0;
}

static int day_of_month(int64_t days)
{
	time_t t = (time_t)(days * DAY_S);
	struct tm tm;

	return gmtime_r(&t, &tm) == NULL ? 0 : tm.tm_mday;
}

static bool time_match(struct ipt_ctx *c, const struct ipt_match *match, void *state)
{
	const struct ipt_m_time *t = match->data;
	int64_t now = (int64_t)(c->w->wall_ns / UINT64_C(1000000000)) - (intptr_t)state;
	int64_t days = now / DAY_S, of_day = now % DAY_S;
	bool after_start, before_stop;

	if (now < t->date_start_s || now > t->date_stop_s)
		return false;
	after_start = of_day >= t->day_start_s;
	before_stop = of_day <= t->day_stop_s;
	if (t->day_start_s < t->day_stop_s) {
		if (!after_start || !before_stop)
			return false;
	} else {
		if (!after_start && !before_stop)
			return false;
		if (match->set & IPT_TIME_CONTIGUOUS && before_stop)
			days--;
	}
	/* day 0 was a Thursday; Sunday is 7 */
	if (!(t->weekdays & 1U << ((days + 3) % 7 + 1)))
		return false;
	return (t->monthdays & ALL_MONTHDAYS) == ALL_MONTHDAYS
			|| t->monthdays & 1U << day_of_month(days);
}

const struct ipt_match_ops ipt_match_time_ops = {
	.kind = IPT_M_TIME,
	.create = time_create,
	.match = time_match,
};
