/* SPDX-License-Identifier: BSD-3-Clause */
/* ipset_build.h - sets under construction, inside of the reader */
#pragma once

#include "config/ipset.h"
#include "config/ipt_ext.h"

/* A set whose members are still coming. */
struct ipset_bset {
	struct ipset set; /* members: malloc() */
	uint32_t cap;
	uint32_t n_slots; /* a power of two */
	uint32_t *slots; /* number of the member + 1, by hash of its key */
};

struct ipset_build {
	struct ipt_ctx cx;
	uint32_t n_sets;
	uint32_t cap_sets;
	struct ipset_bset *sets;
};

/* Number of the set, -ENOENT. */
int ipset_build_find(const struct ipset_build *b, const char *name);

/* All members that the word stands for, each with what `m` says beside the key. */
int ipset_add_word(struct ipset_build *b, struct ipset_bset *s, const char *word,
		const struct ipset_member *m);
