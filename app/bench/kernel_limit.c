/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/kernel_limit.h"

#include "app/bench/side.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH "/proc/sys/net/netfilter/nf_conntrack_max"

/* 0: unknown, or no limit */
static unsigned long get(void)
{
	FILE *f = fopen(PATH, "re");
	unsigned long n = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%lu", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

static int set(unsigned long n)
{
	FILE *f = fopen(PATH, "we");
	int ret = 0;

	if (f == NULL)
		return -errno;
	if (fprintf(f, "%lu\n", n) < 0 || fflush(f) != 0)
		ret = -errno;
	fclose(f);
	return ret;
}

/* who has changed it meanwhile knows better; signals are not for this process */
static _Noreturn void keep(int fd, unsigned long before, unsigned long raised)
{
	sigset_t all;
	char byte;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	if (get() == raised)
		set(before);
	_exit(0);
}

int kernel_limit_raise(struct kernel_limit *l, const struct traffic *t, char *why)
{
	unsigned long before = get(), wanted = t->flows + t->flows / 4;
	int fds[2];
	int ret;

	l->keeper = 0;
	if (t->state == TRAFFIC_STATELESS || before == 0 || before >= wanted)
		return 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return side_fail(why, -ENOTSUP, "pipe: %s", strerror(errno));
	fflush(NULL);
	l->keeper = fork();
	if (l->keeper == 0) {
		close(fds[1]);
		keep(fds[0], before, wanted);
	}
	close(fds[0]);
	l->fd = fds[1];
	/* only with somebody there who puts it back */
	ret = l->keeper < 0 ? -errno : set(wanted);
	if (ret == 0)
		return 0;
	if (l->keeper > 0)
		kernel_limit_restore(l);
	else
		close(fds[1]);
	return side_fail(why, -ENOTSUP,
			"%u connections, but nf_conntrack_max is %lu and cannot be raised: %s",
			t->flows, before, strerror(-ret));
}

void kernel_limit_restore(struct kernel_limit *l)
{
	if (l->keeper <= 0)
		return;
	close(l->fd);
	while (waitpid(l->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	l->keeper = 0;
}
