/* SPDX-License-Identifier: BSD-3-Clause */
#include "ct_trial.h"

#include "compare.h"
#include "ct_lines.h"
#include "describe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct ct_side *const sides[2] = { &ct_kernel, &ct_sluice };

/* addresses that have been used are not used again, so nothing of an earlier run is met */
static uint32_t next_number = 1;

uint64_t ct_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void pause_ms(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&ts, NULL);
}

/* the kernel draws the number of IPv6 fragments that it makes */
static void even_fragment(struct lab_frame *f)
{
	if (f->len >= 14 + 48 && f->data[12] == 0x86 && f->data[14 + 6] == 44)
		memset(f->data + 14 + 44, 0, 4);
}

/* fragments that lacked some have waited long enough: it may come at any step of any sequence */
static bool is_late(const struct lab_frame *f)
{
	const uint8_t *ip = f->data + 14;

	if (f->len < 14 + 42)
		return false;
	if (f->data[12] == 0x86)
		return ip[6] == 58 && ip[8] == 0xfd && ip[40] == 3 && ip[41] == 1;
	/* of the router itself: 10.0.x.1 */
	return ip[9] == 1 && ip[12] == 10 && ip[13] == 0 && ip[20] == 11 && ip[21] == 1;
}

/* the k-th frames at a port are about the same */
static void even(struct ct_member *m, struct lab_frames out[2])
{
	for (size_t i = 0; i < out[0].n; i++) {
		struct lab_frame *a = &out[0].v[i];
		unsigned int nth = 0, k = 0;

		for (size_t j = 0; j < i; j++)
			nth += out[0].v[j].port == a->port;
		for (size_t j = 0; j < out[1].n; j++) {
			struct lab_frame *b = &out[1].v[j];

			if (b->port != a->port || k++ != nth)
				continue;
			if (b->len == a->len)
				seq_even(&m->seq, &m->pairs, a->data, b->data, a->len);
		}
	}
}

/* what came out of both; describes what has no partner. Return: whether all have one, or -errno */
static int same_frames(const struct ct_trial *t, const struct ct_member *m,
		struct lab_frames out[2], FILE *why)
{
	static const char *const only[] = { "only kernel", "only sluice" };
	struct cmp_set set[2] = { { 0 }, { 0 } };
	int ret = 0;

	for (unsigned int i = 0; i < 2; i++)
		for (size_t k = 0; ret == 0 && k < out[i].n; k++) {
			if (is_late(&out[i].v[k]))
				continue;
			even_fragment(&out[i].v[k]);
			if (ct_setting_translates(t->setting))
				seq_even_own(&m->seq, out[i].v[k].data, out[i].v[k].len);
			ret = cmp_add(&set[i], out[i].v[k].port, 0, lab_now_ns(), out[i].v[k].data,
					out[i].v[k].len);
		}
	if (ret == 0)
		ret = cmp_match(&set[0], &set[1]) == 0;
	for (unsigned int i = 0; ret == 0 && i < 2; i++)
		for (size_t k = 0; k < set[i].n; k++) {
			if (set[i].v[k].matched)
				continue;
			fprintf(why, "    %s at %s: ", only[i],
					topo_spec.ports[set[i].v[k].port].name);
			describe(why, set[i].v[k].data, set[i].v[k].len);
			fputc('\n', why);
			describe_hex(why, set[i].v[k].even,
					set[i].v[k].len < 96 ? set[i].v[k].len : 96, NULL, 0);
		}
	cmp_reset(&set[0]);
	cmp_reset(&set[1]);
	return ret;
}

static FILE *blame(struct ct_member *m, unsigned int k, size_t *size)
{
	m->bad = k;
	free(m->why);
	m->why = NULL;
	return open_memstream(&m->why, size);
}

static int play_frames(
		struct ct_trial *t, struct ct_member *m, unsigned int k, struct lab_frames out[2])
{
	static struct seq_frames in;
	uint64_t at_ns[SEQ_PIECES_MAX + 1] = { 0 };
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < 2; i++) {
		seq_build(&m->seq, k, &m->view[i], &in);
		for (unsigned int j = 0; ret == 0 && j < in.n; j++) {
			ret = sides[i]->send(in.port, in.v[j].b, in.v[j].n, at_ns[j], &out[i]);
			if (i == 0)
				at_ns[j] = ct_clock_ns();
			t->packets += i == 0;
		}
		for (size_t j = 0; ret == 0 && j < out[i].n; j++)
			seq_saw(&m->seq, k, &m->view[i], out[i].v[j].port, out[i].v[j].data,
					out[i].v[j].len);
	}
	return ret;
}

/* step @k of a member on both sides. Return: 0 or -errno */
static int play(struct ct_trial *t, struct ct_member *m, unsigned int k)
{
	struct lab_frames out[2] = { { 0 }, { 0 } };
	size_t size;
	FILE *why;
	int ret = play_frames(t, m, k, out);

	if (ret == 0) {
		why = blame(m, k, &size);
		if (ct_setting_translates(t->setting)) {
			/* an error is of the flow of what it quotes, or of that one's */
			seq_pairs_flow(&m->pairs, &m->seq,
					m->seq.step[k].kind == SEQ_ERROR ? SEQ_FLOWS
									 : m->seq.step[k].flow);
			even(m, out);
			seq_pairs_flow(&m->pairs, &m->seq, SEQ_FLOWS);
		}
		ret = why == NULL ? -ENOMEM : same_frames(t, m, out, why);
		if (why != NULL)
			fclose(why);
		if (ret == 1)
			m->bad = CT_ALL_WELL;
	}
	lab_frames_reset(&out[0]);
	lab_frames_reset(&out[1]);
	return ret < 0 ? ret : 0;
}

static int compare_entries(struct ct_trial *t, unsigned int k)
{
	static struct ct_lines lines[2];
	uint64_t at_ns = 0;
	const char *text;
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < 2; i++) {
		ret = sides[i]->connections(at_ns, &text);
		at_ns = ct_clock_ns();
		if (ret == 0)
			ret = ct_lines_read(&lines[i], text);
	}
	for (unsigned int i = 0; ret == 0 && i < t->n; i++) {
		struct ct_member *m = &t->v[i];
		const struct ct_line *a, *b;
		size_t n_a, n_b, size;
		FILE *why;

		if (m->bad != CT_ALL_WELL || k >= m->seq.n)
			continue;
		n_a = ct_lines_of(&lines[0], m->view[0].at, &a);
		n_b = ct_lines_of(&lines[1], m->view[1].at, &b);
		t->entries += n_a;
		if (t->shown != NULL) {
			seq_print_step(t->shown, &m->seq, k);
			fputc('\n', t->shown);
			ct_lines_print(t->shown, "kernel", a, n_a);
			ct_lines_print(t->shown, "sluice", b, n_b);
		}
		if (ct_lines_equal(a, n_a, b, n_b,
				    ct_setting_translates(t->setting) ? &m->pairs : NULL))
			continue;
		why = blame(m, k, &size);
		if (why == NULL)
			return -ENOMEM;
		ct_lines_print(why, "kernel", a, n_a);
		ct_lines_print(why, "sluice", b, n_b);
		fclose(why);
	}
	return ret;
}

/* lines of both that differ; comments with the date left out */
static bool same_rules(const char *a, const char *b, FILE *why)
{
	bool same = true;

	while (*a != '\0' || *b != '\0') {
		size_t n, k;

		while (*a == '#')
			a += strcspn(a, "\n") + 1;
		while (*b == '#')
			b += strcspn(b, "\n") + 1;
		n = strcspn(a, "\n");
		k = strcspn(b, "\n");
		if (n != k || memcmp(a, b, n) != 0) {
			fprintf(why, "    kernel %.*s\n    sluice %.*s\n", (int)n, a, (int)k, b);
			same = false;
		}
		a += n + (a[n] == '\n');
		b += k + (b[k] == '\n');
	}
	return same;
}

static int table_order(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* the tables of a save, by name: the two print them in other orders */
static char *sorted_tables(const char *text)
{
	char *copy = strdup(text), *out = copy == NULL ? NULL : calloc(1, strlen(text) + 16);
	char *table[8];
	size_t n = 0, used = 0;

	for (char *at = copy; out != NULL && at != NULL && n < 8; n++) {
		table[n] = strchr(at, '*');
		if (table[n] == NULL)
			break;
		at = strstr(table[n], "\nCOMMIT\n");
		if (at != NULL) {
			at[7] = '\0';
			at += 8;
		}
	}
	if (out != NULL)
		qsort(table, n, sizeof(table[0]), table_order);
	for (size_t i = 0; out != NULL && i < n; i++)
		used += (size_t)sprintf(out + used, "%s\n", table[i]);
	free(copy);
	return out;
}

static int compare_counters(struct ct_trial *t)
{
	size_t size;
	FILE *why;
	int ret;

	free(t->counters);
	why = open_memstream(&t->counters, &size);
	ret = why == NULL ? -ENOMEM : 0;
	t->counters_bad = false;
	for (unsigned int v6 = 0; ret == 0 && v6 < 2; v6++) {
		char *tables[2] = { NULL, NULL };
		const char *text;

		for (unsigned int i = 0; ret == 0 && i < 2; i++) {
			ret = sides[i]->rules(v6, &text);
			tables[i] = ret == 0 ? sorted_tables(text) : NULL;
			if (ret == 0 && tables[i] == NULL)
				ret = -ENOMEM;
		}
		if (ret == 0)
			t->counters_bad |= !same_rules(tables[0], tables[1], why);
		free(tables[0]);
		free(tables[1]);
	}
	if (why != NULL)
		fclose(why);
	return ret;
}

static unsigned int start(struct ct_trial *t)
{
	unsigned int steps = 0;

	if (next_number + t->n >= SEQ_ADDRESSES)
		next_number = 1;
	for (unsigned int i = 0; i < t->n; i++) {
		struct ct_member *m = &t->v[i];

		for (unsigned int k = 0; k < 2; k++)
			seq_view_init(&m->view[k], &m->seq, next_number);
		seq_pairs_init(&m->pairs, &m->seq);
		next_number++;
		m->bad = CT_ALL_WELL;
		if (m->seq.n > steps)
			steps = m->seq.n;
	}
	return steps;
}

int ct_trial_run(struct ct_trial *t)
{
	unsigned int steps = start(t), bad = 0;
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < 2; i++)
		ret = sides[i]->load(t->setting);
	for (unsigned int k = 0; ret == 0 && k < steps; k++) {
		for (unsigned int i = 0; i < CT_PAUSES_MAX; i++)
			if (t->setting->pause[i].ms > 0 && t->setting->pause[i].step == k)
				pause_ms(t->setting->pause[i].ms);
		for (unsigned int i = 0; ret == 0 && i < t->n; i++)
			if (t->v[i].bad == CT_ALL_WELL && k < t->v[i].seq.n)
				ret = play(t, &t->v[i], k);
		if (ret == 0)
			ret = compare_entries(t, k);
	}
	if (ret == 0)
		ret = compare_counters(t);
	for (unsigned int i = 0; i < t->n; i++)
		bad += t->v[i].bad != CT_ALL_WELL;
	return ret < 0 ? ret : (int)(bad + (bad == 0 && t->counters_bad));
}

void ct_trial_reset(struct ct_trial *t)
{
	for (unsigned int i = 0; i < t->n; i++)
		free(t->v[i].why);
	free(t->v);
	free(t->counters);
	*t = (struct ct_trial){ 0 };
}
