/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log: one line for one event, with time, level and object. Not for the packet path, which
 * counts instead.
 *
 *   2026-03-01T12:00:00.123Z warning port wan: link down
 */
#pragma once

#include <rte_common.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* by urgency; what is above the level in force is not written */
enum sl_log_level {
	SL_LOG_ERR, /* something that was asked for will not happen */
	SL_LOG_WARNING, /* it will, but somebody should look */
	SL_LOG_NOTICE, /* rare and normal: start, stop, reload, link changes */
	SL_LOG_INFO,
	SL_LOG_DEBUG,
	SL_LOG_LEVEL_NB,
};

/* once a file: the object in front of its messages */
#define SL_LOG_TYPE(name) static const char sl_log_object[] __rte_unused = name

#define SL_LOG(level, ...) sl_log(SL_LOG_##level, sl_log_object, __VA_ARGS__)

/* one line; a newline inside of it becomes a blank */
void sl_log(enum sl_log_level level, const char *object, const char *format, ...)
		__rte_format_printf(3, 4);
void sl_vlog(enum sl_log_level level, const char *object, const char *format, va_list args)
		__rte_format_printf(3, 0);

/**
 * sl_log_packet() - a line about a packet, at whatever level: a rule asked for it
 * @stream: NULL: the log
 * @level:  as syslog's: 0 emergency .. 7 debug
 *
 * The time has microseconds. Control characters are written as \xNN. Return: false if the stream did not take it.
 */
bool sl_log_packet(FILE *stream, uint64_t wall_ns, unsigned int level, const char *text);

/* where lines go (stderr unless set) and the last level that is written (NOTICE unless set) */
void sl_log_set(FILE *stream, enum sl_log_level last);

const char *sl_log_level_name(enum sl_log_level level);

/* level by name, or -EINVAL */
int sl_log_level_parse(const char *name, enum sl_log_level *level);
