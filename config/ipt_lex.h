/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_lex.h - one line into words, as iptables-restore does it */
#pragma once

#include "config/ipt_ext.h"

#include <stddef.h>

/* The words of a line, and the memory that they lie in. */
struct ipt_words {
	char text[IPT_LINE_MAX + IPT_ARGS_MAX + 1];
	char *v[IPT_ARGS_MAX + 1]; /* ends in NULL */
	unsigned int n;
};

/**
 * ipt_lex() - split a line at blanks
 *
 * A `"` anywhere in a word begins quoting, and the word ends with the closing `"`. Inside of quotes a
 * `\` makes the next byte an ordinary one; outside `\` and `'` mean nothing.
 *
 * Return: NULL, or what is wrong with the line.
 */
const char *ipt_lex(const char *line, size_t len, struct ipt_words *w);
