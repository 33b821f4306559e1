/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/side.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum order {
	ORDER_PROBE,
	ORDER_MEASURE,
	ORDER_RESET,
};

struct request {
	enum order order;
	bool alone;
	uint64_t packets;
};

struct answer {
	int ret;
	char why[SIDE_TEXT_MAX];
	struct side_sample sample;
	struct side_probe probe;
};

int side_fail(char *why, int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, SIDE_TEXT_MAX, fmt, ap);
	va_end(ap);
	return ret;
}

static double clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* since the thread began; sleeping of its own accord, as some calls do, is no waiting */
static double waited_ns(void)
{
	unsigned long long ran = 0, waited = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "re");

	if (f == NULL)
		return 0;
	if (fscanf(f, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	fclose(f);
	return (double)waited;
}

void side_clock_start(struct side_sample *s)
{
	s->wait_ns = -waited_ns();
	s->wall_ns = -clock_ns(CLOCK_MONOTONIC);
	s->cpu_ns = -clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void side_clock_stop(struct side_sample *s)
{
	s->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID);
	s->wall_ns += clock_ns(CLOCK_MONOTONIC);
	s->wait_ns += waited_ns();
}

/* alone on the core if that is allowed: whoever gets in between leaves cold caches behind */
static int pin(unsigned int core, char *why)
{
	const struct sched_param first = { .sched_priority = 1 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(core, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return side_fail(why, -errno, "core %u: %s", core, strerror(errno));
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
	return 0;
}

static bool tell(int fd, const void *data, size_t size)
{
	return send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool hear(int fd, void *data, size_t size)
{
	ssize_t n;

	do {
		n = recv(fd, data, size, 0);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

/* the side's process: orders until nobody gives any */
static _Noreturn void serve(int fd, const struct side_setup *setup)
{
	const struct side_ops *ops = setup->ops;
	const struct sched_param ordinary = { 0 };
	struct answer *a = calloc(1, sizeof(*a));
	struct request q;
	void *priv = NULL;

	if (a == NULL)
		_exit(1);
	/* until it is there it waits for threads and programs, which must come to run on any core */
	sched_setscheduler(0, SCHED_OTHER, &ordinary);
	a->ret = ops->open(setup, &priv, a->why);
	if (a->ret == 0)
		a->ret = pin(setup->core, a->why);
	while (tell(fd, a, sizeof(*a)) && a->ret == 0 && hear(fd, &q, sizeof(q))) {
		memset(a, 0, sizeof(*a));
		switch (q.order) {
		case ORDER_PROBE:
			a->ret = ops->probe(priv, &a->probe, a->why);
			break;
		case ORDER_MEASURE:
			a->ret = ops->measure(priv, q.packets, q.alone, &a->sample, a->why);
			break;
		case ORDER_RESET:
			a->ret = ops->reset(priv, a->why);
			break;
		}
	}
	_exit(0);
}

static int ask(struct side *s, const struct request *q, struct answer *a, char *why)
{
	if ((q != NULL && !tell(s->fd, q, sizeof(*q))) || !hear(s->fd, a, sizeof(*a)))
		return side_fail(why, -EPIPE, "the process that measures has died");
	if (a->ret < 0)
		snprintf(why, SIDE_TEXT_MAX, "%s", a->why);
	return a->ret;
}

int side_start(struct side *s, const struct side_setup *setup, char *why)
{
	pid_t parent = getpid();
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return side_fail(why, -errno, "socketpair: %s", strerror(errno));
	fflush(NULL);
	s->fd = fds[0];
	s->pid = fork();
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		close(fds[0]);
		serve(fds[1], setup);
	}
	close(fds[1]);
	if (s->pid < 0) {
		close(fds[0]);
		return side_fail(why, -errno, "fork: %s", strerror(errno));
	}
	return 0;
}

int side_wait(struct side *s, char *why)
{
	struct answer a;
	int ret = ask(s, NULL, &a, why);

	if (ret < 0)
		side_stop(s);
	return ret;
}

int side_probe(struct side *s, struct side_probe *out, char *why)
{
	struct request q = { .order = ORDER_PROBE };
	struct answer a;
	int ret = ask(s, &q, &a, why);

	if (ret == 0)
		*out = a.probe;
	return ret;
}

int side_measure(struct side *s, uint64_t packets, bool alone, struct side_sample *out, char *why)
{
	struct request q = { .order = ORDER_MEASURE, .alone = alone, .packets = packets };
	struct answer a;
	int ret = ask(s, &q, &a, why);

	if (ret == 0)
		*out = a.sample;
	return ret;
}

int side_reset(struct side *s, char *why)
{
	struct request q = { .order = ORDER_RESET };
	struct answer a;

	return ask(s, &q, &a, why);
}

void side_stop(struct side *s)
{
	close(s->fd);
	kill(s->pid, SIGKILL);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
