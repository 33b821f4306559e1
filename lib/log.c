/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static const char *const level_names[SL_LOG_LEVEL_NB] = {
	[SL_LOG_ERR] = "error",
	[SL_LOG_WARNING] = "warning",
	[SL_LOG_NOTICE] = "notice",
	[SL_LOG_INFO] = "info",
	[SL_LOG_DEBUG] = "debug",
};

static _Atomic(FILE *) out; /* NULL: stderr */
static _Atomic int last_level = SL_LOG_NOTICE;

void sl_log_set(FILE *stream, enum sl_log_level last)
{
	atomic_store(&out, stream);
	atomic_store(&last_level, (int)last);
}

const char *sl_log_level_name(enum sl_log_level level)
{
	return level_names[level];
}

int sl_log_level_parse(const char *name, enum sl_log_level *level)
{
	for (unsigned int i = 0; i < SL_LOG_LEVEL_NB; i++) {
		if (strcmp(name, level_names[i]) == 0) {
			*level = (enum sl_log_level)i;
			return 0;
		}
	}
	return -EINVAL;
}

void sl_vlog(enum sl_log_level level, const char *object, const char *format, va_list args)
{
	FILE *stream = atomic_load(&out);
	char text[1024];
	char time_text[32];
	struct timespec ts;
	struct tm tm;

	if ((int)level > atomic_load(&last_level))
		return;
	if (vsnprintf(text, sizeof(text), format, args) < 0)
		return;
	for (char *p = text; *p != '\0'; p++) {
		if (*p == '\n')
			*p = ' ';
	}
	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	strftime(time_text, sizeof(time_text), "%Y-%m-%dT%H:%M:%S", &tm);
	/* one call: lines of several threads do not mix */
	fprintf(stream == NULL ? stderr : stream, "%s.%03ldZ %s %s: %s\n", time_text,
			ts.tv_nsec / 1000000, level_names[level], object, text);
	if (stream != NULL)
		fflush(stream);
}

void sl_log(enum sl_log_level level, const char *object, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sl_vlog(level, object, format, args);
	va_end(args);
}
