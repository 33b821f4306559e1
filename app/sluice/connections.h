/* SPDX-License-Identifier: BSD-3-Clause */
/* What control does for tracked connections: keeps them in a file, and says when there are too many. */
#pragma once

struct app;

/* connections of the last run, before workers start; a file that is not right is left out whole */
void connections_load(const struct app *app);

/* to the same file, when they have stopped */
void connections_save(const struct app *app);

/* one line, at most each five seconds, while packets are dropped because the table is full */
void connections_watch(struct app *app);
