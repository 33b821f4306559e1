/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/exec.h"
#include "app/bench/wire.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* seconds that all CPUs of the machine have worked */
static double worked(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	FILE *f = fopen("/proc/stat", "re");
	int n = 0;

	if (f != NULL) {
		n = fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
				&idle, &iowait, &irq, &softirq);
		fclose(f);
	}
	return n == 7 ? (double)(user + nice + system + irq + softirq)
					/ (double)sysconf(_SC_CLK_TCK)
		      : 0;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* {"end": {"sum_received": {"bits_per_second": ..}, "sum": {"lost_percent": ..}}} */
static bool read_result(const char *text, bool udp, struct wire_stream *out, char *why)
{
	json_t *root = text == NULL ? NULL : json_loads(text, 0, NULL);
	const json_t *end = json_object_get(root, "end");
	const json_t *sum = json_object_get(end, udp ? "sum" : "sum_received");
	const char *error = json_string_value(json_object_get(root, "error"));
	bool ok = json_is_object(sum);

	if (ok) {
		out->lost = udp ? json_number_value(json_object_get(sum, "lost_percent")) / 100 : 0;
		out->mbit_s = json_number_value(json_object_get(sum, "bits_per_second")) / 1e6
				* (1 - out->lost);
	} else {
		side_fail(why, 0, "iperf3: %s", error == NULL ? "no result" : error);
	}
	json_decref(root);
	return ok;
}

bool wire_measure_stream(const struct wire_net *n, bool udp, double seconds,
		struct wire_stream *out, char *why)
{
	/* the server's first words, once it listens, go to its standard output */
	static const char *const server[] = { "iperf3", "-s", "-1", "--forceflush", NULL };
	char time[16], *text = NULL;
	const char *const tcp_client[] = { "iperf3", "-c", WIRE_SERVER, "-J", "-t", time, NULL };
	const char *const udp_client[] = { "iperf3", "-c", WIRE_SERVER, "-J", "-t", time, "-u",
		"-b", "0", "-l", "1400", NULL };
	double work, begin;
	pid_t pid;
	int ret;

	snprintf(time, sizeof(time), "%.0f", seconds < 1 ? 1 : seconds);
	wire_enter(n, WIRE_SERVER_HOST);
	pid = exec_start(server, "Server listening", why, SIDE_TEXT_MAX);
	wire_leave(n);
	if (pid < 0)
		return false;
	wire_enter(n, WIRE_CLIENT);
	work = worked();
	begin = now();
	ret = exec_run(udp ? udp_client : tcp_client, NULL, &text, why, SIDE_TEXT_MAX);
	out->busy = (worked() - work) / (now() - begin);
	wire_leave(n);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (ret == 0 && !read_result(text, udp, out, why))
		ret = -EIO;
	free(text);
	return ret == 0;
}
