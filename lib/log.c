/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

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

static FILE *stream_of_log(void)
{
	FILE *stream = atomic_load(&out);

	return stream == NULL ? stderr : stream;
}

/* "2026-03-01T12:00:00.123Z", with @digits of a second */
static void time_text(char *text, size_t size, time_t seconds, unsigned int fraction, int digits)
{
	char day[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, size, "%s.%0*uZ", day, digits, fraction);
}

static void escape(const char *text, char *escaped, size_t size)
{
	size_t n = 0;

	for (; *text != '\0' && n + 5 < size; text++) {
		if ((unsigned char)*text >= ' ' && *text != 0x7f)
			escaped[n++] = *text;
		else
			n += (size_t)sprintf(escaped + n, "\\x%02x", (unsigned char)*text);
	}
	escaped[n] = '\0';
}

bool sl_log_packet(FILE *stream, uint64_t wall_ns, unsigned int level, const char *text)
{
	static const char *const names[] = { "emergency", "alert", "critical", "error", "warning",
		"notice", "info", "debug" };
	FILE *f = stream == NULL ? stream_of_log() : stream;
	char when[64], escaped[4096];

	time_text(when, sizeof(when), (time_t)(wall_ns / NS_PER_S),
			(unsigned int)(wall_ns % NS_PER_S / 1000), 6);
	escape(text, escaped, sizeof(escaped));
	return fprintf(f, "%s %s packet: %s\n", when, names[level & 7], escaped) > 0;
}

void sl_vlog(enum sl_log_level level, const char *object, const char *format, va_list args)
{
	FILE *stream = stream_of_log();
	char text[1024], when[64];
	struct timespec ts;

	if ((int)level > atomic_load(&last_level))
		return;
	if (vsnprintf(text, sizeof(text), format, args) < 0)
		return;
	for (char *p = text; *p != '\0'; p++) {
		if (*p == '\n')
			*p = ' ';
	}
	clock_gettime(CLOCK_REALTIME, &ts);
	time_text(when, sizeof(when), ts.tv_sec, (unsigned int)(ts.tv_nsec / 1000000), 3);
	/* one call: lines of several threads do not mix */
	fprintf(stream, "%s %s %s: %s\n", when, level_names[level], object, text);
	fflush(stream);
}

void sl_log(enum sl_log_level level, const char *object, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sl_vlog(level, object, format, args);
	va_end(args);
}
