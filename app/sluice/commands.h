/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be asked of a running router: one function for each command, which answers with JSON.
 * Further commands are further lines of the table at the end of commands.c.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct app;

struct command {
	const char *name;
	const char *help;
	/**
	 * @args:  the request, an object
	 * @next:  of a long list: where the next page starts, 0 if this was the last
	 *
	 * Return: the result, or NULL and the reason in @err.
	 */
	json_t *(*run)(struct app *app, const json_t *args, json_int_t *next, char *err,
			size_t err_size);
	bool telemetry; /* reads counters only: also offered as /sluice/NAME to DPDK's telemetry */
};

extern const struct command commands[];
extern const unsigned int n_commands;

const struct command *command_find(const char *name);

/* commands_lists.c: those whose answers are long */
json_t *command_routes(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size);
/* commands_conntrack.c */
json_t *command_conntrack(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size);
/* watch_stream.c: the answer is followed by a stream, see there */
json_t *command_capture(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size);
json_t *command_trace(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size);
/* commands_nat.c */
json_t *command_nat(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size);
/* commands_rules.c */
json_t *command_rules(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size);
/* commands_named.c */
json_t *command_recent(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size);
json_t *command_hashlimit(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size);
/* commands_sets.c */
json_t *command_set(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size);
json_t *command_neighbours(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size);
