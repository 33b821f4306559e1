/* SPDX-License-Identifier: BSD-3-Clause */
#include "ct_lines.h"

#include "seq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct ct_line *add(struct ct_lines *l)
{
	if (l->n == l->room) {
		size_t room = l->room * 2 + 256;
		struct ct_line *v = realloc(l->v, room * sizeof(*v));

		if (v == NULL)
			return NULL;
		l->v = v;
		l->room = room;
	}
	return &l->v[l->n++];
}

/* of the first two addresses; either may be the router's own or a stranger's */
static uint32_t number_of(const char *line)
{
	const char *at = line;
	char word[64];
	uint32_t number = UINT32_MAX;

	for (int i = 0; i < 2 && number == UINT32_MAX; i++) {
		at = strstr(at, i == 0 ? "src=" : "dst=");
		if (at == NULL || sscanf(at + 4, "%63s", word) != 1)
			return UINT32_MAX;
		number = seq_number_of(word);
	}
	return number;
}

/* "ipv4     2 tcp      6 431999 ESTABLISHED src=... mark=0 zone=0 use=2" */
static void take(struct ct_line *line, const char *text, size_t len)
{
	char copy[CT_LINE_MAX], *save = NULL, *word;
	unsigned int i = 0;
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%.*s", (int)len, text);
	line->text[0] = '\0';
	for (word = strtok_r(copy, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
		if (i++ == 4)
			line->seconds = (uint32_t)strtoul(word, NULL, 10);
		else if (strncmp(word, "use=", 4) != 0 && n < sizeof(line->text))
			n += (size_t)snprintf(line->text + n, sizeof(line->text) - n, "%s ", word);
	}
}

static int order(const void *left, const void *right)
{
	const struct ct_line *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return strcmp(a->text, b->text);
}

int ct_lines_read(struct ct_lines *l, const char *text)
{
	l->n = 0;
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");
		uint32_t number = number_of(text);

		if (number != UINT32_MAX) {
			struct ct_line *line = add(l);

			if (line == NULL)
				return -ENOMEM;
			line->number = number;
			take(line, text, len);
		}
		text += len + (text[len] == '\n');
	}
	if (l->n > 0)
		qsort(l->v, l->n, sizeof(l->v[0]), order);
	return 0;
}

void ct_lines_free(struct ct_lines *l)
{
	free(l->v);
	*l = (struct ct_lines){ 0 };
}

size_t ct_lines_of(const struct ct_lines *l, uint32_t number, const struct ct_line **first)
{
	size_t lo = 0, hi = l->n, n = 0;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (l->v[mid].number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = l->v + lo;
	while (lo + n < l->n && l->v[lo + n].number == number)
		n++;
	return n;
}

/* "sport=", "dport=" or "id=" at the beginning of @text: its value, -1: neither */
static long number_at(const char *text, const char *name)
{
	size_t n = strlen(name);

	return strncmp(text, name, n) == 0 ? strtol(text + n, NULL, 10) : -1;
}

/* ports and ids of the reply that are not the original's were drawn, or are seen in the packets */
static void even(const char *text, char *out)
{
	static const char *const names[] = { "sport=", "dport=", "id=" },
				 *turned[] = { "dport=", "sport=", "id=" };
	const char *from = strstr(text, "src="),
		   *reply = from == NULL ? NULL : strstr(from + 1, "src=");
	char *to = out;

	while (*text != '\0') {
		bool drawn = false;

		for (unsigned int i = 0; reply != NULL && text > reply && i < 3; i++) {
			const char *other = strstr(from, turned[i]);

			drawn |= number_at(text, names[i]) >= 0 && text[-1] == ' ' && other != NULL
					&& number_at(text, names[i]) != number_at(other, turned[i]);
		}
		if (drawn) {
			*to++ = '*';
			text += strcspn(text, " ");
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

bool ct_lines_equal(const struct ct_line *a, size_t n_a, const struct ct_line *b, size_t n_b,
		bool translated)
{
	char x[CT_LINE_MAX], y[CT_LINE_MAX];

	for (size_t i = 0; n_a == n_b && i < n_a; i++) {
		uint32_t late = a[i].seconds - b[i].seconds + 1;

		if (late > 2)
			return false;
		if (translated) {
			even(a[i].text, x);
			even(b[i].text, y);
		}
		if (translated ? strcmp(x, y) != 0 : strcmp(a[i].text, b[i].text) != 0)
			return false;
	}
	return n_a == n_b;
}

void ct_lines_print(FILE *f, const char *who, const struct ct_line *v, size_t n)
{
	if (n == 0)
		fprintf(f, "    %s no entry\n", who);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "    %s %6u %s\n", who, v[i].seconds, v[i].text);
}
