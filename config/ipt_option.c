/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_option.c - which option a word means: of iptables itself, of the target or of a match */
#include "config/ipt_line.h"

#include <string.h>

static const struct ipt_core_opt core_opts[] = {
	{ "append", 'A', true },
	{ "delete", 'D', true },
	{ "check", 'C', true },
	{ "insert", 'I', true },
	{ "replace", 'R', true },
	{ "list", 'L', false },
	{ "list-rules", 'S', false },
	{ "flush", 'F', false },
	{ "zero", 'Z', false },
	{ "new-chain", 'N', true },
	{ "delete-chain", 'X', false },
	{ "rename-chain", 'E', true },
	{ "policy", 'P', true },
	{ "source", 's', true },
	{ "destination", 'd', true },
	{ "src", 's', true },
	{ "dst", 'd', true },
	{ "protocol", 'p', true },
	{ "in-interface", 'i', true },
	{ "jump", 'j', true },
	{ "table", 't', true },
	{ "match", 'm', true },
	{ "numeric", 'n', false },
	{ "out-interface", 'o', true },
	{ "verbose", 'v', false },
	{ "wait", 'w', false },
	{ "wait-interval", 'W', false },
	{ "exact", 'x', false },
	{ "fragments", 'f', false },
	{ "version", 'V', false },
	{ "help", 'h', false },
	{ "line-numbers", '0', false },
	{ "modprobe", 'M', true },
	{ "set-counters", 'c', true },
	{ "goto", 'g', true },
	{ "ipv4", '4', false },
	{ "ipv6", '6', false },
};
#define N_CORE (sizeof(core_opts) / sizeof(core_opts[0]))

static bool same(const struct ipt_found *a, const struct ipt_found *b)
{
	if (a->core != NULL || b->core != NULL)
		return a->core != NULL && b->core != NULL && a->core->letter == b->core->letter;
	return a->in == b->in && a->opt->bit == b->opt->bit;
}

/* Offer one option for the word. An exact fit ends the search, two different beginnings spoil it. */
static bool offer(struct ipt_found *best, bool *ambiguous, const char *name, const char *word,
		size_t len, struct ipt_found f)
{
	if (strncmp(name, word, len) != 0)
		return false;
	if (name[len] == '\0') {
		*best = f;
		*ambiguous = false;
		return true;
	}
	if (best->core == NULL && best->opt == NULL)
		*best = f;
	else if (!same(best, &f))
		*ambiguous = true;
	return false;
}

static bool offer_all(struct ipt_found *best, bool *ambiguous, struct ipt_inst *in,
		const char *word, size_t len)
{
	const struct ipt_opt *o = in->ext != NULL ? in->ext->opts : NULL;

	for (; o != NULL && o->name != NULL; o++)
		if (offer(best, ambiguous, o->name, word, len,
				    (struct ipt_found){ .in = in, .opt = o }))
			return true;
	return false;
}

struct ipt_found ipt_option_find(struct ipt_line *l, const char *word, size_t len, bool *ambiguous)
{
	struct ipt_found best = { 0 };

	*ambiguous = false;
	for (size_t i = 0; i < N_CORE; i++)
		if (offer(&best, ambiguous, core_opts[i].name, word, len,
				    (struct ipt_found){ .core = &core_opts[i] }))
			return best;
	if (offer_all(&best, ambiguous, &l->target, word, len))
		return best;
	for (unsigned int i = l->n_matches; i-- > 0;)
		if (offer_all(&best, ambiguous, &l->matches[i], word, len))
			return best;
	return best;
}

const struct ipt_core_opt *ipt_option_letter(char letter)
{
	for (size_t i = 0; i < N_CORE; i++)
		if (core_opts[i].letter == letter && letter != '0')
			return &core_opts[i];
	return NULL;
}
