/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages there and back, in the manner of NetPIPE (Snell, Mikler and Gustafson, 1996): small ones
 * show what a packet takes, large ones what a byte takes.
 */
#include "app/bench/stats.h"
#include "app/bench/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT 5202
#define PATIENCE_S 3

const unsigned int wire_sizes[WIRE_SIZES] = { 1, 16, 64, 256, 1024, 4096, 16384, 65536, 262144 };

static bool transfer(int fd, char *buffer, size_t size, bool in)
{
	while (size > 0) {
		ssize_t n = in ? recv(fd, buffer, size, 0) : send(fd, buffer, size, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		buffer += n;
		size -= (size_t)n;
	}
	return true;
}

/* messages that take longer than this are taken for lost */
static void prepare(int fd)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

/* the far end: the size of the messages comes first, then they do */
static _Noreturn void echo(int listener, pid_t parent)
{
	char *buffer = malloc(wire_sizes[WIRE_SIZES - 1]);
	uint32_t size;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || buffer == NULL)
		_exit(1);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		prepare(fd);
		if (transfer(fd, (char *)&size, sizeof(size), true)
				&& size <= wire_sizes[WIRE_SIZES - 1])
			while (transfer(fd, buffer, size, true)
					&& transfer(fd, buffer, size, false))
				;
		close(fd);
	}
	_exit(0);
}

static pid_t start_echo(const struct wire_net *n, char *why)
{
	const struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	pid_t parent = getpid(), child = -1;
	int fd;

	wire_enter(n, WIRE_SERVER_HOST);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && bind(fd, (const void *)&any, sizeof(any)) == 0 && listen(fd, 4) == 0)
		child = fork();
	if (child == 0)
		echo(fd, parent);
	if (child < 0)
		side_fail(why, 0, "no server for messages: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	wire_leave(n);
	return child;
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* median of what fits into @us microseconds, 0 if none came back */
static double converse(int fd, char *buffer, uint32_t size, double us)
{
	static double took[100000];
	double end = now_us() + us;
	size_t n = 0;

	if (!transfer(fd, (char *)&size, sizeof(size), false))
		return 0;
	while (n < sizeof(took) / sizeof(took[0]) && (n == 0 || now_us() < end)) {
		double begin = now_us();

		if (!transfer(fd, buffer, size, false) || !transfer(fd, buffer, size, true))
			return 0;
		took[n++] = now_us() - begin;
	}
	qsort(took, n, sizeof(took[0]), by_value);
	return took[n / 2];
}

static double measure(uint32_t size, char *buffer, double us)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	double median = 0;

	inet_pton(AF_INET, WIRE_SERVER, &to.sin_addr);
	if (fd >= 0) {
		prepare(fd);
		if (connect(fd, (const void *)&to, sizeof(to)) == 0)
			median = converse(fd, buffer, size, us);
		close(fd);
	}
	return median;
}

bool wire_measure_messages(const struct wire_net *n, double seconds, double *out_us, char *why)
{
	char *buffer = calloc(1, wire_sizes[WIRE_SIZES - 1]);
	pid_t server = buffer == NULL ? -1 : start_echo(n, why);
	bool ok = true;

	if (server < 0) {
		free(buffer);
		return false;
	}
	wire_enter(n, WIRE_CLIENT);
	for (unsigned int i = 0; i < WIRE_SIZES; i++) {
		out_us[i] = measure(wire_sizes[i], buffer, seconds * 1e6 / WIRE_SIZES);
		if (out_us[i] <= 0)
			ok = side_fail(why, false, "messages of %u bytes do not come back",
					wire_sizes[i]);
	}
	wire_leave(n);
	kill(server, SIGKILL);
	while (waitpid(server, NULL, 0) < 0 && errno == EINTR)
		;
	free(buffer);
	return ok;
}
