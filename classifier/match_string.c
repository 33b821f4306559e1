/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * string: Horspool's search. A table says for each byte how far the window may move when that byte
 * stands under the pattern's last one: in "abcab", 'b' moves by 3, 'a' by 1, 'c' by 2, all others by
 * 5. Every text is found, as by the kernel's kmp, which both --algo take. The kernel's bm does not
 * find all: see the known differences in docs/config.md.
 *
 * This search is for a pattern that Hyperscan cannot hold, see patterns.h, and to hold that one against.
 *
 * Horspool, Practical fast searching in strings, Software: Practice and Experience 10, 1980.
 */
#include "classifier/match_ext.h"
#include "classifier/patterns.h"

#include <errno.h>
#include <stdlib.h>

/* packets that lie in several buffers are searched through a window of this many bytes */
#define WINDOW 1024U
static_assert(WINDOW > 2 * IPT_STRING_MAX, "the window moves on by more than it keeps");

struct finder {
	struct ipt_pattern in; /* first */
	uint8_t len;
	uint8_t pattern[IPT_STRING_MAX]; /* folded */
	uint8_t move[256];
	uint8_t fold[256]; /* what a byte of the packet counts as */
};

static int string_create(
		__rte_unused struct ipt_env *env, const struct ipt_match *match, void **state)
{
	const struct ipt_m_string *s = match->data;
	struct finder *f = calloc(1, sizeof(*f));
	uint8_t move[256];

	if (f == NULL)
		return -ENOMEM;
	f->len = s->len;
	for (unsigned int i = 0; i < 256; i++)
		f->fold[i] = match->set & IPT_STRING_ICASE ? ipt_string_upper((uint8_t)i)
							   : (uint8_t)i;
	memset(move, s->len, sizeof(move));
	for (unsigned int i = 0; i < s->len; i++) {
		f->pattern[i] = f->fold[s->pattern[i]];
		if (i + 1U < s->len)
			move[f->pattern[i]] = (uint8_t)(s->len - 1U - i);
	}
	for (unsigned int i = 0; i < 256; i++)
		f->move[i] = move[f->fold[i]];
	*state = f;
	return 0;
}

static bool find(const struct finder *f, const uint8_t *text, uint32_t len)
{
	uint32_t last = f->len - 1U;

	for (uint32_t at = 0; at + last < len; at += f->move[text[at + last]]) {
		uint32_t i = last;

		while (f->fold[text[at + i]] == f->pattern[i]) {
			if (i-- == 0)
				return true;
		}
	}
	return false;
}

/* in the @len bytes at @off of the frame */
static bool find_in_frame(const struct finder *f, struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	const uint8_t *whole = sl_pkt_at(m, off, len);
	uint8_t window[WINDOW];

	if (whole != NULL)
		return find(f, whole, len);
	while (len >= f->len) {
		uint32_t n = RTE_MIN(len, WINDOW);

		if (!sl_pkt_copy(m, off, n, window))
			return false;
		if (find(f, window, n))
			return true;
		if (n == len)
			return false;
		off += n - (f->len - 1U);
		len -= n - (f->len - 1U);
	}
	return false;
}

static bool find_alone(
		const struct ipt_ctx *c, const struct ipt_m_string *s, const struct finder *f)
{
	uint32_t off, len = ipt_patterns_window(c, s->from, s->to, &off);

	return len > 0 && find_in_frame(f, c->m, off, len);
}

static bool string_match(struct ipt_ctx *c, const struct ipt_match *match, void *state)
{
	const struct finder *f = state;
	enum ipt_patterns_answer answer = ipt_patterns_ask(c, &f->in);
	bool found = answer == IPT_PATTERN_UNKNOWN ? find_alone(c, match->data, f)
						   : answer == IPT_PATTERN_FOUND;

	return found != !!(match->inv & (IPT_STRING_STRING | IPT_STRING_HEX));
}

const struct ipt_match_ops ipt_match_string_ops = {
	.kind = IPT_M_STRING,
	.create = string_create,
	.destroy = free,
	.match = string_match,
};
