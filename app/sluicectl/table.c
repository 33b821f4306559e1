/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluicectl/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 16
#define TEXT_SIZE 32

struct table {
	unsigned int n_columns;
	const char *titles[COLUMNS_MAX];
	bool number[COLUMNS_MAX];
	size_t width[COLUMNS_MAX];
	char **cells;
	size_t n_cells;
	size_t room;
};

static void out_of_memory(void)
{
	fputs("sluicectl: out of memory\n", stderr);
	exit(1);
}

struct table *table_new(const char *const *columns)
{
	struct table *t = calloc(1, sizeof(*t));

	if (t == NULL)
		out_of_memory();
	for (; columns[t->n_columns] != NULL && t->n_columns < COLUMNS_MAX; t->n_columns++) {
		const char *title = columns[t->n_columns];

		t->number[t->n_columns] = title[0] == '>';
		t->titles[t->n_columns] = title + (title[0] == '>');
		t->width[t->n_columns] = strlen(t->titles[t->n_columns]);
	}
	return t;
}

void table_cell(struct table *t, const char *format, ...)
{
	size_t column = t->n_cells % t->n_columns;
	char *text;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		out_of_memory();
	if (t->n_cells == t->room) {
		t->room = t->room * 2 + 64;
		t->cells = realloc(t->cells, t->room * sizeof(*t->cells));
		if (t->cells == NULL)
			out_of_memory();
	}
	t->cells[t->n_cells++] = text;
	if ((size_t)len > t->width[column])
		t->width[column] = (size_t)len;
}

static void print_row(const struct table *t, FILE *out, const char *const *cells)
{
	for (unsigned int c = 0; c < t->n_columns; c++) {
		bool last = c + 1 == t->n_columns;
		int width = (int)t->width[c];

		/* no blanks at the end of a line */
		if (t->number[c])
			fprintf(out, "%*s", width, cells[c]);
		else
			fprintf(out, "%-*s", last ? 0 : width, cells[c]);
		fputs(last ? "\n" : "  ", out);
	}
}

void table_print(struct table *t, FILE *out, const char *empty)
{
	if (t->n_cells < t->n_columns)
		fprintf(out, "%s\n", empty);
	else
		print_row(t, out, t->titles);
	for (size_t i = 0; i + t->n_columns <= t->n_cells; i += t->n_columns)
		print_row(t, out, (const char *const *)&t->cells[i]);
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t);
}

const char *group_digits(int64_t n, char *buf)
{
	char digits[TEXT_SIZE];
	size_t out = 0;
	size_t len;

	snprintf(digits, sizeof(digits), "%" PRId64, n);
	len = strlen(digits);
	for (size_t i = 0; i < len; i++) {
		if (i > 0 && digits[i - 1] != '-' && (len - i) % 3 == 0)
			buf[out++] = ',';
		buf[out++] = digits[i];
	}
	buf[out] = '\0';
	return buf;
}

const char *human_bytes(uint64_t n, char *buf)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	double value = (double)n;
	unsigned int u = 0;

	while (value >= 1000 && u + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1000;
		u++;
	}
	snprintf(buf, TEXT_SIZE, u == 0 ? "%.0f %s" : "%.1f %s", value, units[u]);
	return buf;
}

const char *human_seconds(uint64_t s, char *buf)
{
	snprintf(buf, TEXT_SIZE, "%" PRIu64 "d %02u:%02u:%02u", s / 86400,
			(unsigned int)(s / 3600 % 24), (unsigned int)(s / 60 % 60),
			(unsigned int)(s % 60));
	return buf;
}
