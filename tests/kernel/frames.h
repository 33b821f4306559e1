/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frames: cases for a router, a function of seed and index alone. A case is one frame, or a few that
 * belong together (fragments of a datagram to the router itself). The classes take turns, so that
 * any few hundred cases in a row hold some of every class. Most come in at pa.
 */
#pragma once

#include <stdint.h>

#define FRAMES_LEN_MAX 9216
#define FRAMES_CASE_MAX 4

struct frames_case {
	const char *class;
	unsigned int index;
	unsigned int n;
	struct {
		unsigned int port;
		uint32_t len;
		uint8_t data[FRAMES_LEN_MAX];
	} v[FRAMES_CASE_MAX];
};

/* @class: NULL for all in turn, else this one alone. Return: 0, -ENOENT if there is no such class */
int frames_make(uint64_t seed, unsigned int index, const char *class, struct frames_case *c);

/* Return: the name of class i, or NULL behind the last */
const char *frames_class_name(unsigned int i);
