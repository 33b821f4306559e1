/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/control.h"

#include "app/sluice/app.h"
#include "app/sluice/connections.h"
#include "app/sluice/links.h"
#include "app/sluice/listen.h"
#include "app/sluice/metrics.h"
#include "app/sluice/netdev.h"
#include "app/sluice/packet_log.h"
#include "app/sluice/reload.h"
#include "app/sluice/server.h"
#include "lib/conf.h"
#include "lib/log.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

SL_LOG_TYPE("control");

#define LINK_POLL_MS 100

struct control {
	int epoll_fd;
	int signal_fd;
	int watch_fd; /* changes of kernel interfaces; -1 if there is no netlink here */
	struct server *server;
	struct metrics *metrics; /* NULL: nobody wants them */
};

static void signal_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

void control_block_signals(void)
{
	sigset_t set;

	signal_set(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int watch(const struct control *c, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

int control_open(struct app *app, struct control **out, char *err, size_t err_size)
{
	struct control *c = calloc(1, sizeof(*c));
	sigset_t set;
	int ret;

	if (c == NULL) {
		snprintf(err, err_size, "control: out of memory");
		return -ENOMEM;
	}
	signal_set(&set);
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	c->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	c->watch_fd = netdev_watch_open();
	if (c->epoll_fd < 0 || c->signal_fd < 0) {
		ret = -errno;
		snprintf(err, err_size, "control: %s", strerror(-ret));
		goto err_close;
	}
	ret = watch(c, c->signal_fd);
	if (ret == 0 && c->watch_fd >= 0)
		ret = watch(c, c->watch_fd);
	if (ret < 0) {
		snprintf(err, err_size, "control: epoll: %s", strerror(-ret));
		goto err_close;
	}
	ret = server_open(app->conf->control_socket, c->epoll_fd, &c->server, err, err_size);
	if (ret == 0)
		ret = metrics_open(app, c->epoll_fd, &c->metrics, err, err_size);
	if (ret < 0)
		goto err_close;
	*out = c;
	return 0;

err_close:
	control_close(c);
	return ret;
}

void control_close(struct control *c)
{
	if (c == NULL)
		return;
	metrics_close(c->metrics);
	server_close(c->server);
	if (c->watch_fd >= 0)
		close(c->watch_fd);
	if (c->signal_fd >= 0)
		close(c->signal_fd);
	if (c->epoll_fd >= 0)
		close(c->epoll_fd);
	free(c);
}

static void take_signals(const struct control *c, struct app *app)
{
	struct signalfd_siginfo info;
	char err[1024];

	while (read(c->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			reload(app, err, sizeof(err));
			continue;
		}
		SL_LOG(NOTICE, "%s: stopping", strsignal((int)info.ssi_signo));
		app->stop = true;
	}
}

static void take_event(struct control *c, struct app *app, const struct epoll_event *ev)
{
	if (ev->data.fd == c->signal_fd)
		take_signals(c, app);
	else if (ev->data.fd == c->watch_fd)
		netdev_watch_drain(c->watch_fd);
	else if (metrics_has(c->metrics, ev->data.fd))
		metrics_run(c->metrics);
	else
		server_event(c->server, app, ev->data.fd, ev->events);
}

void control_run(struct control *c, struct app *app)
{
	struct epoll_event events[16];

	while (!app->stop) {
		int wait_ms = packet_log_poll(app->packet_log, LINK_POLL_MS);
		int n;

		wait_ms = server_poll(c->server, wait_ms);
		/* after every change that the kernel tells of, and for devices that tell nothing */
		links_refresh(app);
		listen_tick(app);
		connections_watch(app);
		metrics_run(c->metrics);
		n = epoll_wait(c->epoll_fd, events, RTE_DIM(events), wait_ms);
		for (int i = 0; i < n; i++)
			take_event(c, app, &events[i]);
	}
	listen_stop(app);
	server_end_streams(c->server);
}
