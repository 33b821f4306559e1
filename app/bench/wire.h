/* SPDX-License-Identifier: BSD-3-Clause */
/* What real traffic through a router shows. */
#pragma once

#include "app/bench/side.h"
#include "app/bench/wire_net.h"

#define WIRE_SIZES 9

extern const unsigned int wire_sizes[WIRE_SIZES]; /* of messages, bytes */

struct wire_ping {
	unsigned int sent, received;
	double min_us, median_us, p99_us, p999_us;
};

/* one direction, client to server */
struct wire_stream {
	double mbit_s; /* that arrived */
	double lost; /* part of the datagrams */
	double busy; /* CPUs of the whole machine that were at work */
};

struct wire_result {
	char skipped[SIDE_TEXT_MAX]; /* "": measured */
	char fault[SIDE_TEXT_MAX]; /* the first test that failed; "": none */
	struct wire_ping ping;
	struct wire_stream tcp, udp; /* mbit_s 0: no figure */
	/* there and back, a message after the other; 0: no figure */
	double message_us[WIRE_SIZES];
};

/* everything of one router, which is made and ended; progress on a terminal */
void wire_measure(enum wire_router router, const struct ruleset *rules, double seconds,
		struct wire_result *r);

/* each takes about @seconds; false and a line in @why (SIDE_TEXT_MAX) */
bool wire_measure_ping(const struct wire_net *n, double seconds, struct wire_ping *out, char *why);
bool wire_measure_stream(const struct wire_net *n, bool udp, double seconds,
		struct wire_stream *out, char *why);
bool wire_measure_messages(const struct wire_net *n, double seconds, double *out_us, char *why);
