/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket: a request is one line of JSON, {"command": "ports", ...}, and so is the
 * answer, {"ok": true, "result": ..., "next": N} or {"ok": false, "error": "..."}. "next" is there
 * if a list goes on: ask again with "from": N. Behind the answers to "capture" and "trace" comes what
 * they tell, until either side closes; who closes his own half only gets the rest first.
 */
#pragma once

#include <stddef.h>

struct app;
struct server;

/**
 * server_open() - listen on a unix socket and serve it from @epoll_fd
 *
 * A file that a killed program left is replaced; one that somebody answers on is refused.
 * Return: 0, -EADDRINUSE, or -errno, with one line in @err.
 */
int server_open(const char *path, int epoll_fd, struct server **out, char *err, size_t err_size);

/* removes the socket file */
void server_close(struct server *s);

/* answers go to @app's commands */
void server_event(struct server *s, struct app *app, int fd, unsigned int events);

/**
 * server_poll() - what streams have to tell, to their readers
 *
 * Return: milliseconds until it should be called again, at most @max_ms.
 */
int server_poll(struct server *s, int max_ms);

/* ends all streams; while workers and router are still there */
void server_end_streams(struct server *s);
