/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluicectl/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int client_connect(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int ret;
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const void *)&addr, sizeof(addr)) < 0) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

static int send_line(int fd, const json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	size_t len, done = 0;

	if (text == NULL)
		return -ENOMEM;
	len = strlen(text);
	text[len++] = '\n';
	while (done < len) {
		ssize_t n = send(fd, text + done, len - done, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	free(text);
	return done == len ? 0 : -EPIPE;
}

/* one line of any length; the answers to one request at a time need no buffer over calls */
static int receive_line(int fd, json_t **reply)
{
	char *line = NULL;
	size_t len = 0;
	size_t room = 0;
	int ret = -EPIPE;

	for (;;) {
		ssize_t n;

		if (room - len < 4096) {
			char *more = realloc(line, room * 2 + 65536);

			if (more == NULL) {
				ret = -ENOMEM;
				break;
			}
			line = more;
			room = room * 2 + 65536;
		}
		n = recv(fd, line + len, room - len, 0);
		if (n <= 0)
			break;
		len += (size_t)n;
		if (line[len - 1] == '\n') {
			*reply = json_loadb(line, len, 0, NULL);
			ret = *reply == NULL ? -EPROTO : 0;
			break;
		}
	}
	free(line);
	return ret;
}

/* adds one page to what there is */
static void append(json_t **whole, json_t *page)
{
	if (*whole == NULL)
		*whole = json_incref(page);
	else
		json_array_extend(*whole, page);
}

int client_ask(int fd, json_t *request, json_t **result)
{
	json_t *whole = NULL;
	json_int_t next;
	int ret;

	do {
		json_t *reply = NULL;
		const json_t *error;

		ret = send_line(fd, request);
		if (ret == 0)
			ret = receive_line(fd, &reply);
		if (ret < 0)
			break;
		error = json_object_get(reply, "error");
		next = json_integer_value(json_object_get(reply, "next"));
		if (json_is_true(json_object_get(reply, "ok"))) {
			append(&whole, json_object_get(reply, "result"));
			json_object_set_new(request, "from", json_integer(next));
		} else {
			ret = json_is_string(error) ? -EREMOTEIO : -EPROTO;
			*result = json_string(
					json_is_string(error) ? json_string_value(error) : "");
		}
		json_decref(reply);
	} while (ret == 0 && next > 0);
	json_decref(request);
	if (ret == 0)
		*result = whole;
	else
		json_decref(whole);
	return ret;
}

int client_begin(int fd, json_t *request, json_t **result)
{
	int ret = send_line(fd, request);
	size_t len = 0;
	char line[65536];
	json_t *reply;

	json_decref(request);
	if (ret < 0)
		return ret;
	/* byte by byte: what stands behind the newline is not ours */
	do {
		if (len == sizeof(line) || recv(fd, line + len, 1, 0) != 1)
			return -EPIPE;
	} while (line[len++] != '\n');
	reply = json_loadb(line, len, 0, NULL);
	if (reply == NULL)
		return -EPROTO;
	if (json_is_true(json_object_get(reply, "ok"))) {
		*result = json_incref(json_object_get(reply, "result"));
	} else {
		*result = json_incref(json_object_get(reply, "error"));
		ret = -EREMOTEIO;
	}
	json_decref(reply);
	return ret;
}
