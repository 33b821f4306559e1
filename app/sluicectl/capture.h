/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands capture and trace, which go on until somebody ends them. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct watch_options {
	const char *file; /* -: standard output; NULL: lines of text */
	const char *hook;
	const char *port;
	const char *count;
	bool dropped;
	bool marked;
};

/* the first of them that is given, NULL: none */
const char *watch_option_given(const struct watch_options *o);

/* the request of a command line, or NULL if it is wrong, which has been said */
json_t *watch_request(int argc, char **argv, const struct watch_options *o);

/**
 * watch_follow() - begin, and show what comes until the end
 * @request: taken
 * @result:  why sluice refused, if it did
 *
 * Return: 0, or as client_ask(); -errno of the output file.
 */
int watch_follow(
		int fd, json_t *request, const struct watch_options *o, bool json, json_t **result);

/**
 * trace_show() - lines of JSON from @in as text, or packet by packet as JSON (trace.c)
 * @count: after so many packets watch_enough() is called; 0: never
 */
void trace_show(FILE *in, bool json, unsigned long count);

/* ends what watch_follow() follows, as an interrupt does: what is on its way still comes */
void watch_enough(void);

/* "10.0.0.1 > 10.0.0.2: icmp", of a frame of Ethernet */
void capture_summary(const uint8_t *frame, uint32_t len, char *buf, size_t size);
