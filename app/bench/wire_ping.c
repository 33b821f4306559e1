/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/exec.h"
#include "app/bench/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_MS 1

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* sorted */
static double at(const double *us, unsigned int n, double q)
{
	return us[(unsigned int)(q * (n - 1) + 0.5)];
}

/* "64 bytes from ...: icmp_seq=1 ttl=63 time=0.043 ms", a line for each */
static unsigned int read_times(const char *text, double *us, unsigned int max)
{
	unsigned int n = 0;
	double ms;

	for (const char *p = text; n < max && (p = strstr(p, " time=")) != NULL; p++)
		if (sscanf(p, " time=%lf", &ms) == 1)
			us[n++] = 1000 * ms;
	return n;
}

bool wire_measure_ping(const struct wire_net *n, double seconds, struct wire_ping *out, char *why)
{
	unsigned int count = (unsigned int)(seconds * 1000 / INTERVAL_MS);
	char number[16], deadline[16], *text = NULL;
	const char *const argv[] = { "ping", "-n", "-i", "0.001", "-W", "1", "-c", number, "-w",
		deadline, WIRE_SERVER, NULL };
	double *us = calloc(count + 1, sizeof(*us));
	int ret;

	if (us == NULL)
		return side_fail(why, false, "no memory");
	snprintf(number, sizeof(number), "%u", count);
	snprintf(deadline, sizeof(deadline), "%.0f", 3 * seconds + 2);
	wire_enter(n, WIRE_CLIENT);
	/* it fails if nobody answers */
	ret = exec_run(argv, NULL, &text, why, SIDE_TEXT_MAX);
	wire_leave(n);
	out->sent = count;
	out->received = text == NULL ? 0 : read_times(text, us, count);
	free(text);
	if (ret < 0 || out->received == 0) {
		free(us);
		return ret < 0 ? false : side_fail(why, false, "ping: no answer");
	}
	qsort(us, out->received, sizeof(*us), by_value);
	out->min_us = us[0];
	out->median_us = at(us, out->received, 0.5);
	out->p99_us = at(us, out->received, 0.99);
	out->p999_us = at(us, out->received, 0.999);
	free(us);
	return true;
}
