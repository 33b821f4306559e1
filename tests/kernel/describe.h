/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* one line on what a frame is, without a newline; for humans, so it is not complete */
void describe(FILE *f, const uint8_t *frame, size_t len);

/* rows of 16 bytes in hex, indented; those that differ from other (may be NULL) are marked */
void describe_hex(
		FILE *f, const uint8_t *frame, size_t len, const uint8_t *other, size_t other_len);
