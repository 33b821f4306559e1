/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/ipt_lex.h"

#include <string.h>

const char *ipt_lex(const char *line, size_t len, struct ipt_words *w)
{
	const char *end = line + len;
	char *out = w->text;

	w->n = 0;
	w->v[0] = NULL;
	if (len > IPT_LINE_MAX)
		return "line longer than 10239 bytes";
	if (memchr(line, '\0', len) != NULL)
		return "NUL byte in the line";
	for (;;) {
		bool quoted = false;
		char *word = out;

		while (line < end && (*line == ' ' || *line == '\t'))
			line++;
		if (line == end)
			return NULL;
		if (w->n == IPT_ARGS_MAX)
			return "more than 255 words";
		while (line < end && (quoted || (*line != ' ' && *line != '\t'))) {
			if (*line == '"') {
				line++;
				if (quoted)
					goto done;
				quoted = true;
				continue;
			}
			if (quoted && *line == '\\' && ++line == end)
				break;
			*out++ = *line++;
		}
		if (quoted)
			return "a quote is not closed";
	done:
		if (out - word > IPT_ARG_MAX)
			return "a word is longer than 1023 bytes";
		*out++ = '\0';
		w->v[w->n++] = word;
		w->v[w->n] = NULL;
	}
}
