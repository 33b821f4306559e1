/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's text of a logged packet, as its LOG target writes it, byte for byte:
 *
 *   IN=wan OUT=lan MAC=02:... SRC=192.0.2.1 DST=10.0.0.2 LEN=60 TOS=0x00 PREC=0x00 TTL=63 ID=7 DF
 *   PROTO=TCP SPT=40000 DPT=22 WINDOW=64240 RES=0x00 SYN URGP=0
 */
#pragma once

#include "lib/pktlog.h"

#include <stddef.h>

#define LOG_TEXT_MAX 2048

/* the line with its prefix, without a newline, ended by NUL; @size: LOG_TEXT_MAX will do */
void sl_log_text(
		const struct sl_router *r, const struct sl_pktlog_rec *rec, char *out, size_t size);
