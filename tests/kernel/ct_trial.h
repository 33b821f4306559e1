/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ct_trial: many sequences at once, step by step: step k of all of them to both sides, then what both
 * know is compared.
 */
#pragma once

#include "ct_side.h"
#include "seq.h"

#define CT_ALL_WELL UINT32_MAX

struct ct_member {
	struct seq seq;
	struct seq_view view[2]; /* of the kernel's hosts and of sluice's */
	struct seq_pairs pairs; /* where something is translated */
	uint32_t bad; /* the step after which they differed, or CT_ALL_WELL */
	char *why; /* how; of open_memstream() */
};

struct ct_trial {
	const struct ct_setting *setting;
	unsigned int n;
	struct ct_member *v;
	FILE *shown; /* every step and what both know after it; NULL: not wanted */
	uint64_t packets; /* frames sent */
	uint64_t entries; /* lines compared */
	bool counters_bad;
	char *counters; /* how they differ */
};

/* the sequences are there, everything else is made. Return: how many differ, or -errno */
int ct_trial_run(struct ct_trial *t);
void ct_trial_reset(struct ct_trial *t);
