/* SPDX-License-Identifier: BSD-3-Clause */
/* Who follows what happens to connections: one client at a time, which has to ask often. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct app;
struct ct_filter;

/**
 * listen_take() - events since the last call
 * @session: chosen by the client, the same for each of its calls
 * @json:    objects, not lines
 *
 * The first call begins to listen. Return: an array, or NULL with the reason in @err.
 */
json_t *listen_take(struct app *app, json_int_t session, const struct ct_filter *filter, bool json,
		char *err, size_t err_size);

/* now and then: ends it if the client asks no more */
void listen_tick(struct app *app);
void listen_stop(struct app *app);
