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

/* a word that is a port or an id: its number, -1: another */
static long number_of_word(const char *word)
{
	static const char *const names[] = { "sport=", "dport=", "id=" };

	for (unsigned int i = 0; i < 3; i++)
		if (strncmp(word, names[i], strlen(names[i])) == 0)
			return strtol(word + strlen(names[i]), NULL, 10);
	return -1;
}

/* word by word; numbers by @pairs */
static bool same_text(const char *a, const char *b, struct seq_pairs *pairs)
{
	while (*a != '\0' && *b != '\0') {
		size_t n = strcspn(a, " ="), k = strcspn(b, " =");
		long x = number_of_word(a), y = number_of_word(b);

		if (n != k || memcmp(a, b, n) != 0)
			return false;
		n = strcspn(a, " ");
		k = strcspn(b, " ");
		if (x >= 0 && y >= 0 ? !seq_pair(pairs, (unsigned int)x, (unsigned int)y)
				     : n != k || memcmp(a, b, n) != 0)
			return false;
		a += n + (a[n] == ' ');
		b += k + (b[k] == ' ');
	}
	return *a == *b;
}

static bool same_line(const struct ct_line *a, const struct ct_line *b, struct seq_pairs *pairs)
{
	struct seq_pairs all;

	if (a->seconds - b->seconds + 1 > 2)
		return false;
	if (pairs == NULL)
		return strcmp(a->text, b->text) == 0;
	all = *pairs;
	if (!same_text(a->text, b->text, &all))
		return false;
	*pairs = all;
	return true;
}

#define LINES_MAX 64

bool ct_lines_equal(const struct ct_line *a, size_t n_a, const struct ct_line *b, size_t n_b,
		struct seq_pairs *pairs)
{
	uint64_t taken = 0, found = 0;

	if (n_a != n_b || n_a > LINES_MAX)
		return false;
	/* first those that are the same to the letter, so that none of them stands for another */
	for (unsigned int by_pairs = 0; by_pairs < (pairs == NULL ? 1U : 2U); by_pairs++)
		for (size_t i = 0; i < n_a; i++)
			for (size_t k = 0; k < n_b && !(found >> i & 1); k++) {
				if (taken >> k & 1
						|| !same_line(&a[i], &b[k],
								by_pairs ? pairs : NULL))
					continue;
				taken |= UINT64_C(1) << k;
				found |= UINT64_C(1) << i;
			}
	return found == (n_a == 0 ? 0 : UINT64_MAX >> (LINES_MAX - n_a));
}

void ct_lines_print(FILE *f, const char *who, const struct ct_line *v, size_t n)
{
	if (n == 0)
		fprintf(f, "    %s no entry\n", who);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "    %s %6u %s\n", who, v[i].seconds, v[i].text);
}
