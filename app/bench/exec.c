/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOT_FOUND 127 /* as the shell's */
#define START_TRIES 500 /* of 10 ms each */

/* files in memory instead of pipes: nobody waits for anybody */
struct streams {
	int fd[3];
};

static int write_whole(int fd, const char *text)
{
	size_t left = text == NULL ? 0 : strlen(text);

	while (left > 0) {
		ssize_t n = write(fd, text, left);

		if (n < 0)
			return -errno;
		text += n;
		left -= (size_t)n;
	}
	return lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

static char *read_whole(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = size < 0 ? NULL : malloc((size_t)size + 1);
	ssize_t n;

	if (text == NULL)
		return NULL;
	n = pread(fd, text, (size_t)size, 0);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

static void close_streams(struct streams *s)
{
	for (int i = 0; i < 3; i++)
		if (s->fd[i] >= 0)
			close(s->fd[i]);
}

static int open_streams(struct streams *s, const char *input)
{
	int ret = 0;

	for (int i = 0; i < 3; i++) {
		s->fd[i] = memfd_create("stream", MFD_CLOEXEC);
		if (s->fd[i] < 0)
			ret = -errno;
	}
	if (ret == 0)
		ret = write_whole(s->fd[0], input);
	if (ret < 0)
		close_streams(s);
	return ret;
}

static _Noreturn void become(const char *const *argv, const struct streams *s, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(NOT_FOUND);
	for (int i = 0; i < 3; i++)
		if (dup2(s->fd[i], i) < 0)
			_exit(NOT_FOUND);
	/* execvp() takes char * but changes nothing */
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(NOT_FOUND);
}

static void one_line(char *text)
{
	size_t n = strlen(text);

	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	for (char *end; (end = strchr(text, '\n')) != NULL;)
		*end = ' ';
}

static int judge(const char *name, int status, const struct streams *s, char *why, size_t size)
{
	char *text;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND) {
		snprintf(why, size, "no program '%s'", name);
		return -ENOENT;
	}
	text = read_whole(s->fd[2]);
	if (text != NULL)
		one_line(text);
	snprintf(why, size, "%s: %s", name, text == NULL || *text == '\0' ? "it failed" : text);
	free(text);
	return -EIO;
}

int exec_run(const char *const *argv, const char *input, char **output, char *why, size_t size)
{
	pid_t parent = getpid(), child;
	struct streams s;
	int status = 0;
	int ret;

	ret = open_streams(&s, input);
	if (ret < 0) {
		snprintf(why, size, "%s: %s", argv[0], strerror(-ret));
		return ret;
	}
	child = fork();
	if (child == 0)
		become(argv, &s, parent);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child < 0) {
		ret = -errno;
		snprintf(why, size, "%s: %s", argv[0], strerror(-ret));
	} else {
		ret = judge(argv[0], status, &s, why, size);
	}
	if (ret == 0 && output != NULL)
		*output = read_whole(s.fd[1]);
	close_streams(&s);
	return ret;
}

static bool has_said(int fd, const char *text)
{
	char *said = read_whole(fd);
	bool found = said != NULL && strstr(said, text) != NULL;

	free(said);
	return found;
}

int exec_start(const char *const *argv, const char *ready, char *why, size_t size)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	pid_t parent = getpid(), child;
	struct streams s;
	int status = 0;
	int ret = open_streams(&s, NULL);

	if (ret < 0) {
		snprintf(why, size, "%s: %s", argv[0], strerror(-ret));
		return ret;
	}
	child = fork();
	if (child == 0)
		become(argv, &s, parent);
	ret = child < 0 ? -errno : -ETIMEDOUT;
	for (unsigned int i = 0; ret == -ETIMEDOUT && i < START_TRIES; i++) {
		nanosleep(&pause, NULL);
		if (has_said(s.fd[1], ready) || has_said(s.fd[2], ready))
			ret = child;
		else if (waitpid(child, &status, WNOHANG) == child)
			ret = judge(argv[0], status, &s, why, size);
	}
	/* it ended, with or without an error: it does not run */
	if (ret == 0 || ret == -ETIMEDOUT) {
		snprintf(why, size, "%s: it does not start", argv[0]);
		ret = -EIO;
	}
	close_streams(&s);
	return ret;
}
