/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/connections.h"

#include "app/sluice/app.h"
#include "conntrack/state.h"
#include "conntrack/table.h"
#include "lib/log.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

SL_LOG_TYPE("conntrack");

#define FULL_INTERVAL_MS 5000 /* the kernel's net_ratelimit */

void connections_load(const struct app *app)
{
	struct ct_table *t = ct_table_of(app->r);
	struct ct_state_report report;
	char err[512];
	int ret;

	if (app->state_path == NULL)
		return;
	if (t == NULL) {
		SL_LOG(NOTICE, "%s: not read, no rule tracks connections", app->state_path);
		return;
	}
	ret = ct_state_load(t, app->state_path, &report, err, sizeof(err));
	if (ret == -ENOENT)
		SL_LOG(NOTICE, "%s: not there yet", app->state_path);
	else if (ret < 0)
		SL_LOG(WARNING, "%s; none of its connections is taken", err);
	else
		SL_LOG(NOTICE,
				"%s: %" PRIu64 " of %" PRIu64 " connections taken, %" PRIu64
				" have ended, %" PRIu64 " have no place",
				app->state_path, report.taken, report.n, report.ended, report.full);
}

void connections_save(const struct app *app)
{
	const struct ct_table *t = ct_table_of(app->r);
	char err[512];
	int64_t n;

	if (app->state_path == NULL || t == NULL)
		return;
	n = ct_state_save(t, app->state_path, err, sizeof(err));
	if (n < 0)
		SL_LOG(ERR, "%s", err);
	else
		SL_LOG(NOTICE, "%s: %" PRId64 " connections written", app->state_path, n);
}

void connections_watch(struct app *app)
{
	const struct ct_table *t = ct_table_of(app->r);
	struct timespec ts;
	uint64_t full = 0;
	uint64_t now_ms;

	if (t == NULL)
		return;
	for (unsigned int i = 0; i < t->n_shards; i++)
		full += t->shard[i]->full;
	if (full == app->table_full)
		return;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now_ms = (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
	if (now_ms - app->table_full_ms < FULL_INTERVAL_MS)
		return;
	SL_LOG(WARNING, "table full, dropping packets: %" PRIu64 " so far, %u of %u connections",
			full, ct_table_count(t), t->conf.max);
	app->table_full = full;
	app->table_full_ms = now_ms;
}
