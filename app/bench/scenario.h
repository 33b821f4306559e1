/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario: rules, traffic, and who moves it. One YAML file each:
 *
 *   name: linear-1k
 *   title: 1,000 rules that do not match
 *   default: true                              # measured by `run` without names; quick: even
 *                                              # with --quick
 *   traffic: {family: 4, protocol: udp, flows: 1, size: 64, ttl: 64}
 *                                              # size: imix; addresses: any, rules;
 *                                              # state: established, new; or {pcap: PATH}
 *   rules: {generate: linear, count: 1000}     # or {file: PATH}, or {text: "*filter ..."}, with
 *                                              # ipset and nft beside; or {classbench: PATH}
 *   kernel: [legacy, nft]                      # plain, ipset, native
 *   sluice: [auto, forest]                     # engines; plain: no stage; []: not at all
 *   tap: true                                  # tcpdump reads along on the kernel's side
 *   baseline: forward                          # what the stage's own cost is told against
 */
#pragma once

#include "app/bench/ruleset.h"
#include "app/bench/traffic.h"

#include <stdio.h>

#define SCENARIO_NAME_MAX 32 /* with NUL */
#define SCENARIO_ENGINES_MAX 6

/* whether it is measured without being named */
enum scenario_choice {
	SCENARIO_QUICK, /* even where seconds count */
	SCENARIO_DEFAULT,
	SCENARIO_NAMED, /* no */
};

struct scenario {
	const char *path;
	const char *name;
	const char *title; /* "" unless given */
	const char *baseline; /* name of another scenario; NULL: none */
	enum scenario_choice choice;
	bool kernel_only;
	bool tap;
	struct traffic traffic;
	struct ruleset rules;
	enum backend kernel[BACKEND_NB];
	unsigned int n_kernel;
	const char *engines[SCENARIO_ENGINES_MAX];
	unsigned int n_engines;
	void *arena;
};

/**
 * scenario_read() - one file
 * @err: gets one line `FILE:LINE:COLUMN: what was found, what was expected`
 *
 * Return: 0 (free with scenario_free()), -EINVAL, or -errno of opening a file.
 */
int scenario_read(const char *path, struct scenario *out, FILE *err);
void scenario_free(struct scenario *s);

/* the directory of the scenarios that come with the program */
const char *scenario_dir(void);

/**
 * scenario_paths() - files of the scenarios that come with the program
 * @paths: to be freed, and each of them
 *
 * Return: how many, or -errno.
 */
int scenario_paths(char ***paths);

/* the file of a scenario by @name: one of ours, or a path (with '/' or ".yaml"); @size >= 1 */
void scenario_path(const char *name, char *path, size_t size);

/* order for lists: those without a baseline first, then by name, 100 < 1k < 10k */
int scenario_compare(const struct scenario *a, const struct scenario *b);
