/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmicrohttpd without a thread of its own: its epoll descriptor is one of control's. So what is
 * read here is read by the thread that owns it, and a client that reads slowly keeps nobody waiting.
 */
#include "app/sluice/metrics.h"

#include "app/sluice/app.h"
#include "app/sluice/metrics_rows.h"
#include "app/sluice/metrics_text.h"
#include "lib/conf.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS_MAX 16
#define SILENT_S 15

struct metrics {
	struct app *app;
	struct MHD_Daemon *daemon;
	int epoll_fd; /* the daemon's */
	struct metrics_cache cache;
};

static enum MHD_Result answer(struct MHD_Connection *c, unsigned int status, const char *type,
		char *body, size_t len, enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(len, body, mode);
	enum MHD_Result ret;

	if (r == NULL) {
		if (mode == MHD_RESPMEM_MUST_FREE)
			free(body);
		return MHD_NO;
	}
	MHD_add_response_header(r, "Content-Type", type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, "Allow", "GET, HEAD");
	ret = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return ret;
}

static enum MHD_Result say(struct MHD_Connection *c, unsigned int status, char *text)
{
	return answer(c, status, "text/plain; charset=utf-8", text, strlen(text),
			MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer_metrics(struct metrics *m, struct MHD_Connection *c)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	json_t *rows;

	if (f == NULL)
		return MHD_NO;
	rows = metrics_rows(m->app, &m->cache);
	metrics_text(rows, f);
	json_decref(rows);
	fclose(f);
	return answer(c, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", text, len,
			MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result take_request(void *arg, struct MHD_Connection *c, const char *url,
		const char *method, const char *version __rte_unused,
		const char *upload __rte_unused, size_t *upload_size, void **state)
{
	static char here[] = "sluice: the metrics are at /metrics\n";
	static char nothing[] = "nothing is here: the metrics are at /metrics\n";
	static char wrong[] = "GET was expected\n";
	static int seen;

	/* refused at the first call, which comes before the body of the request */
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return say(c, MHD_HTTP_METHOD_NOT_ALLOWED, wrong);
	if (*state == NULL) {
		*state = &seen;
		return MHD_YES;
	}
	*upload_size = 0;
	if (strcmp(url, "/metrics") == 0)
		return answer_metrics(arg, c);
	return strcmp(url, "/") == 0 ? say(c, MHD_HTTP_OK, here)
				     : say(c, MHD_HTTP_NOT_FOUND, nothing);
}

/* Return: a socket or -errno */
static int listen_on(const struct sl_metrics_conf *conf)
{
	struct sockaddr_storage addr = { 0 };
	struct sockaddr_in *v4 = (void *)&addr;
	struct sockaddr_in6 *v6 = (void *)&addr;
	bool is6 = conf->family == SL_AF_INET6;
	socklen_t len = is6 ? sizeof(*v6) : sizeof(*v4);
	int fd = socket(is6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, ret;

	if (fd < 0)
		return -errno;
	if (is6) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(conf->port);
		memcpy(&v6->sin6_addr, &conf->addr, sizeof(v6->sin6_addr));
	} else {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(conf->port);
		memcpy(&v4->sin_addr, &conf->addr, sizeof(v4->sin_addr));
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const void *)&addr, len) == 0 && listen(fd, CLIENTS_MAX) == 0)
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

int metrics_open(struct app *app, int epoll_fd, struct metrics **out, char *err, size_t err_size)
{
	const struct sl_metrics_conf *conf = &app->conf->metrics;
	struct epoll_event ev = { .events = EPOLLIN };
	const union MHD_DaemonInfo *info = NULL;
	struct metrics *m;
	int fd;

	*out = NULL;
	if (conf->listen == NULL)
		return 0;
	m = calloc(1, sizeof(*m));
	fd = m == NULL ? -ENOMEM : listen_on(conf);
	if (fd < 0) {
		snprintf(err, err_size, "%s:%u:%u: metrics: %s: %s", app->conf->path, conf->at.line,
				conf->at.column, conf->listen, strerror(-fd));
		free(m);
		return fd;
	}
	m->app = app;
	m->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, take_request, m,
			MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
			(unsigned int)CLIENTS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
			(unsigned int)SILENT_S, MHD_OPTION_END);
	if (m->daemon == NULL)
		close(fd);
	else
		info = MHD_get_daemon_info(m->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	m->epoll_fd = info == NULL ? -1 : info->epoll_fd;
	ev.data.fd = m->epoll_fd;
	if (m->epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, m->epoll_fd, &ev) < 0) {
		snprintf(err, err_size, "%s:%u:%u: metrics: %s: the HTTP server does not start",
				app->conf->path, conf->at.line, conf->at.column, conf->listen);
		metrics_close(m);
		return -EIO;
	}
	*out = m;
	return 0;
}

void metrics_close(struct metrics *m)
{
	if (m == NULL)
		return;
	if (m->daemon != NULL)
		MHD_stop_daemon(m->daemon); /* closes the socket as well */
	metrics_cache_free(&m->cache);
	free(m);
}

int metrics_has(const struct metrics *m, int fd)
{
	return m != NULL && m->epoll_fd == fd;
}

void metrics_run(struct metrics *m)
{
	if (m != NULL)
		MHD_run(m->daemon);
}
