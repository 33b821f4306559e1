/* SPDX-License-Identifier: BSD-3-Clause */
/* What both families of classifier/log_text*.c write with. */
#pragma once

#include "classifier/ipt_target.h"
#include "classifier/log_text.h"

#include <stdbool.h>

struct log_text {
	const struct sl_pktlog_rec *rec;
	char *out;
	size_t size, len;
};

void log_add(struct log_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_add_bytes(struct log_text *t, const uint8_t *bytes, uint32_t n);

/* @len bytes at @off of the packet; NULL: they are not there */
static inline const uint8_t *log_at(const struct log_text *t, uint32_t off, uint32_t len)
{
	if ((uint64_t)off + len > t->rec->captured)
		return NULL;
	return t->rec->data + off;
}

static inline bool log_wants(const struct log_text *t, uint8_t option)
{
	return (t->rec->options & option) != 0;
}

static inline uint16_t log_be16(const uint8_t *b)
{
	return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint32_t log_be32(const uint8_t *b)
{
	return (uint32_t)log_be16(b) << 16 | log_be16(b + 2);
}

/* "INCOMPLETE [n bytes] ": what there is from @off on */
void log_incomplete(struct log_text *t, uint32_t off);
/* Return: false: nothing may follow */
bool log_tcp(struct log_text *t, uint32_t off, bool fragment);
bool log_udp(struct log_text *t, uint32_t off, bool fragment, bool lite);
/* " MARK=" and an end */
void log_mark(struct log_text *t);

/* the packet at @off; one within another is @quoted */
void log_ip4(struct log_text *t, uint32_t off, bool quoted);
void log_ip6(struct log_text *t, uint32_t off, bool quoted);
