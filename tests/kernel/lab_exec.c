/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CMD_MAX 8192

/* the child: a shell in the namespace, which dies with us */
static void run_shell(int ns_fd, int in, int out, const char *cmd)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || setns(ns_fd, CLONE_NEWNET) < 0)
		_exit(127);
	if (in >= 0 && dup2(in, STDIN_FILENO) < 0)
		_exit(127);
	if (out >= 0 && dup2(out, STDOUT_FILENO) < 0)
		_exit(127);
	execl("/bin/sh", "sh", "-c", cmd, (char *)NULL);
	_exit(127);
}

static int reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void slurp(int fd, char *out, size_t size)
{
	char waste[512];
	size_t used = 0;
	ssize_t n;

	do {
		bool full = used + 1 >= size;

		n = full ? read(fd, waste, sizeof(waste)) : read(fd, out + used, size - 1 - used);
		if (n > 0 && !full)
			used += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	out[used] = '\0';
}

/* text goes through a file, since a pipe that both sides fill would hang */
static int text_file(const char *text)
{
	size_t len = strlen(text);
	int fd = memfd_create("lab", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) != 0) {
		close(fd);
		return -EIO;
	}
	return fd;
}

static int run(int ns_fd, const char *text, char *out, size_t size, const char *cmd)
{
	int in = -1, pipe_fd[2] = { -1, -1 };
	pid_t pid;
	int ret;

	if (text != NULL) {
		in = text_file(text);
		if (in < 0)
			return in;
	}
	if (out != NULL && pipe2(pipe_fd, O_CLOEXEC) < 0) {
		ret = -errno;
		goto close_in;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		run_shell(ns_fd, in, pipe_fd[1], cmd);
	if (pid < 0) {
		ret = -errno;
		goto close_pipe;
	}
	if (out != NULL) {
		close(pipe_fd[1]);
		pipe_fd[1] = -1;
		slurp(pipe_fd[0], out, size);
	}
	ret = reap(pid);

close_pipe:
	for (int i = 0; i < 2; i++) {
		if (pipe_fd[i] >= 0)
			close(pipe_fd[i]);
	}
close_in:
	if (in >= 0)
		close(in);
	return ret;
}

int lab_exec(struct lab *lab, enum lab_ns ns, const char *fmt, ...)
{
	char cmd[CMD_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	return n < (int)sizeof(cmd) ? run(lab->ns_fd[ns], NULL, NULL, 0, cmd) : -E2BIG;
}

int lab_feed(struct lab *lab, enum lab_ns ns, const char *text, const char *fmt, ...)
{
	char cmd[CMD_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	return n < (int)sizeof(cmd) ? run(lab->ns_fd[ns], text, NULL, 0, cmd) : -E2BIG;
}

int lab_read(struct lab *lab, enum lab_ns ns, char *out, size_t size, const char *fmt, ...)
{
	char cmd[CMD_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	return n < (int)sizeof(cmd) ? run(lab->ns_fd[ns], NULL, out, size, cmd) : -E2BIG;
}
