/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/server.h"

#include "app/sluice/app.h"
#include "app/sluice/commands.h"
#include "app/sluice/watch_stream.h"
#include "lib/log.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

SL_LOG_TYPE("control");

#define CLIENTS_MAX 64
#define REQUEST_MAX 65536UL
/* between looks at what streams have to tell */
#define STREAM_MS 1

struct client {
	int fd; /* -1: free */
	char *in;
	size_t in_len;
	char *out; /* answer that is being sent, NULL: none */
	size_t out_len;
	size_t out_done;
	struct watch_stream *stream; /* what follows the answer; NULL: the next request */
};

struct server {
	int fd;
	int epoll_fd;
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	struct client clients[CLIENTS_MAX];
};

static int watch(int epoll_fd, int op, int fd, unsigned int events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(epoll_fd, op, fd, &ev) < 0 ? -errno : 0;
}

/* every directory above the socket, as mkdir -p */
static void make_directories(const char *path)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s", path);
	for (char *p = dir + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		mkdir(dir, 0755);
		*p = '/';
	}
}

/* whether somebody answers on the socket file */
static bool is_alive(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool alive;

	if (fd < 0)
		return false;
	/* EAGAIN: its queue is full, so it lives */
	alive = connect(fd, (const void *)addr, sizeof(*addr)) == 0 || errno == EAGAIN;
	close(fd);
	return alive;
}

static int listen_on(int fd, const struct sockaddr_un *addr)
{
	mode_t mask = umask(0117);
	int ret = bind(fd, (const void *)addr, sizeof(*addr)) < 0 ? -errno : 0;

	umask(mask);
	if (ret == 0 && listen(fd, CLIENTS_MAX) < 0)
		ret = -errno;
	return ret;
}

static const char *reason(int error)
{
	switch (error) {
	case -EADDRINUSE:
		return "a running sluice answers on it";
	case -EEXIST:
		return "something that is no socket is there";
	default:
		return strerror(-error);
	}
}

int server_open(const char *path, int epoll_fd, struct server **out, char *err, size_t err_size)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct server *s = calloc(1, sizeof(*s));
	struct stat st;
	int ret = -ENOMEM;

	if (s == NULL)
		goto err_message;
	s->epoll_fd = epoll_fd;
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		s->clients[i].fd = -1;
	ret = -ENAMETOOLONG;
	if (strlen(path) >= sizeof(addr.sun_path))
		goto err_free;
	strcpy(addr.sun_path, path);
	strcpy(s->path, path);
	make_directories(path);
	ret = -EADDRINUSE;
	if (is_alive(&addr))
		goto err_free;
	/* only a socket is taken away, never a file that happens to be there */
	if (lstat(path, &st) == 0) {
		ret = -EEXIST;
		if (!S_ISSOCK(st.st_mode))
			goto err_free;
		unlink(path);
	}
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0) {
		ret = -errno;
		goto err_free;
	}
	ret = listen_on(s->fd, &addr);
	if (ret == 0)
		ret = watch(epoll_fd, EPOLL_CTL_ADD, s->fd, EPOLLIN);
	if (ret < 0)
		goto err_close;
	*out = s;
	return 0;

err_close:
	close(s->fd);
err_free:
	free(s);
err_message:
	snprintf(err, err_size, "control: socket %s: %s", path, reason(ret));
	return ret;
}

static void drop_client(struct client *c)
{
	/* closing takes it out of the epoll set */
	close(c->fd);
	free(c->in);
	free(c->out);
	watch_stream_end(c->stream);
	*c = (struct client){ .fd = -1 };
}

void server_close(struct server *s)
{
	if (s == NULL)
		return;
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (s->clients[i].fd >= 0)
			drop_client(&s->clients[i]);
	}
	close(s->fd);
	unlink(s->path);
	free(s);
}

static struct client *find_client(struct server *s, int fd)
{
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (s->clients[i].fd == fd)
			return &s->clients[i];
	}
	return NULL;
}

static json_t *answer(struct app *app, const char *line, size_t len)
{
	json_error_t parse_error;
	json_t *request = json_loadb(line, len, 0, &parse_error);
	const char *name = json_string_value(json_object_get(request, "command"));
	const struct command *command = name == NULL ? NULL : command_find(name);
	json_t *reply = json_object();
	json_int_t next = 0;
	json_t *result = NULL;
	char err[1024] = "";

	if (request == NULL)
		snprintf(err, sizeof(err), "not JSON: %s", parse_error.text);
	else if (name == NULL)
		snprintf(err, sizeof(err), "a request is an object with a string \"command\"");
	else if (command == NULL)
		snprintf(err, sizeof(err), "no command '%s'", name);
	else
		result = command->run(app, request, &next, err, sizeof(err));
	json_object_set_new(reply, "ok", json_boolean(result != NULL));
	if (result != NULL)
		json_object_set_new(reply, "result", result);
	else
		json_object_set_new(reply, "error", json_string(err));
	if (next > 0)
		json_object_set_new(reply, "next", json_integer(next));
	json_decref(request);
	return reply;
}

/* of a stream, the end of its reader is looked for at any time */
static void wait_for(const struct server *s, const struct client *c, bool room)
{
	bool hear = c->stream == NULL ? !room : !watch_stream_is_stopped(c->stream);

	watch(s->epoll_fd, EPOLL_CTL_MOD, c->fd,
			(room ? (unsigned int)EPOLLOUT : 0) | (hear ? (unsigned int)EPOLLIN : 0));
}

/* Return: false if the client is gone */
static bool send_some(struct server *s, struct client *c)
{
	while (c->out_done < c->out_len) {
		ssize_t n = send(c->fd, c->out + c->out_done, c->out_len - c->out_done,
				MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN) {
			wait_for(s, c, true);
			return true;
		}
		if (n <= 0)
			return false;
		c->out_done += (size_t)n;
	}
	free(c->out);
	c->out = NULL;
	wait_for(s, c, false);
	return true;
}

/* whole lines that were received, one answer at a time */
static bool serve_lines(struct server *s, struct app *app, struct client *c)
{
	char *end;

	while (c->out == NULL && c->stream == NULL
			&& (end = memchr(c->in, '\n', c->in_len)) != NULL) {
		size_t len = (size_t)(end - c->in);
		json_t *reply = answer(app, c->in, len);

		c->in_len -= len + 1;
		memmove(c->in, end + 1, c->in_len);
		c->stream = app->stream;
		app->stream = NULL;
		c->out = json_dumps(reply, JSON_COMPACT);
		json_decref(reply);
		if (c->out == NULL)
			return false;
		c->out_len = strlen(c->out);
		c->out[c->out_len++] = '\n'; /* over the NUL: length counts from here on */
		c->out_done = 0;
		if (!send_some(s, c))
			return false;
	}
	return true;
}

/* chunks of a stream in one turn: others wait, too */
#define STREAM_CHUNKS 8

/* Return: false if the client is gone, or has got everything */
static bool serve_stream(struct server *s, struct client *c)
{
	for (unsigned int i = 0; i < STREAM_CHUNKS && c->out == NULL; i++) {
		if (!watch_stream_read(c->stream, &c->out, &c->out_len))
			return false;
		c->out_done = 0;
		if (c->out == NULL)
			return true;
		if (!send_some(s, c))
			return false;
	}
	return true;
}

/* whoever reads a stream says nothing more, but may say that it is enough by closing his half */
static bool hear_stream(struct server *s, struct client *c)
{
	char rest[64];
	ssize_t n = recv(c->fd, rest, sizeof(rest), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN;
	if (n == 0) {
		watch_stream_stop(c->stream);
		wait_for(s, c, c->out != NULL);
	}
	return true;
}

int server_poll(struct server *s, int max_ms)
{
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &s->clients[i];

		if (c->fd < 0 || c->stream == NULL)
			continue;
		max_ms = STREAM_MS;
		if (!serve_stream(s, c))
			drop_client(c);
	}
	return max_ms;
}

void server_end_streams(struct server *s)
{
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &s->clients[i];

		if (c->fd < 0 || c->stream == NULL)
			continue;
		/* as much as the reader takes at once */
		watch_stream_stop(c->stream);
		serve_stream(s, c);
		drop_client(c);
	}
}

static bool receive_some(struct server *s, struct app *app, struct client *c)
{
	ssize_t n = recv(c->fd, c->in + c->in_len, REQUEST_MAX - c->in_len, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN;
	if (n == 0)
		return false;
	c->in_len += (size_t)n;
	/* a line that does not end is no request */
	if (c->in_len == REQUEST_MAX && memchr(c->in, '\n', c->in_len) == NULL)
		return false;
	return serve_lines(s, app, c);
}

static void accept_client(struct server *s)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *c = find_client(s, -1);

	if (fd < 0)
		return;
	if (c == NULL) {
		SL_LOG(WARNING, "more than %d clients at once: refused one", CLIENTS_MAX);
		close(fd);
		return;
	}
	c->in = malloc(REQUEST_MAX);
	if (c->in == NULL || watch(s->epoll_fd, EPOLL_CTL_ADD, fd, EPOLLIN) < 0) {
		free(c->in);
		c->in = NULL;
		close(fd);
		return;
	}
	c->fd = fd;
}

void server_event(struct server *s, struct app *app, int fd, unsigned int events)
{
	struct client *c = fd == s->fd ? NULL : find_client(s, fd);
	bool keep = true;

	if (fd == s->fd) {
		accept_client(s);
		return;
	}
	if (c == NULL)
		return;
	if (c->stream != NULL && (events & (EPOLLHUP | EPOLLERR)) != 0)
		keep = false;
	else if (c->stream != NULL && (events & EPOLLIN) != 0)
		keep = hear_stream(s, c);
	else if ((events & EPOLLOUT) != 0 && c->out != NULL)
		keep = send_some(s, c) && serve_lines(s, app, c);
	else if ((events & EPOLLIN) != 0 && c->out == NULL)
		keep = receive_some(s, app, c);
	else if ((events & (EPOLLHUP | EPOLLERR)) != 0)
		keep = false;
	if (!keep)
		drop_client(c);
}
