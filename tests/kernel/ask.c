/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ask: what does the kernel do with this frame? Reads "PORT HEX" lines, one frame each, and prints
 * what comes out where. "wait MS" waits for timers, "in COMMAND" runs a command in the router.
 *   echo 'pa 020000000001...' | build/tests/kernel/ask
 */
#include "topo.h"

#include <stdlib.h>
#include <string.h>

static size_t from_hex(const char *hex, uint8_t *out, size_t room)
{
	size_t n = 0;
	unsigned int byte;

	while (n < room && sscanf(hex, "%2x", &byte) == 1) {
		out[n++] = (uint8_t)byte;
		hex += 2;
	}
	return n;
}

static void print_frames(const struct lab_frames *frames)
{
	for (size_t i = 0; i < frames->n; i++) {
		printf("  out %s ", topo_spec.ports[frames->v[i].port].name);
		for (uint32_t j = 0; j < frames->v[i].len; j++)
			printf("%02x", frames->v[i].data[j]);
		printf("\n");
	}
	if (frames->n == 0)
		printf("  nothing\n");
	fflush(stdout);
}

static int ask(struct lab *lab, char *line)
{
	struct lab_frames out = { 0 };
	uint8_t data[LAB_FRAME_MAX];
	int ret = -1;

	line[strcspn(line, "\n")] = '\0';
	printf("%.120s\n", line);
	if (strncmp(line, "in ", 3) == 0)
		return lab_exec(lab, LAB_ROUTER, "%s", line + 3);
	if (strncmp(line, "wait ", 5) == 0) {
		ret = lab_wait(lab, (unsigned int)atoi(line + 5), &out);
	} else {
		for (unsigned int i = 0; i < TOPO_PORTS_NB; i++) {
			const char *name = topo_spec.ports[i].name;

			if (strncmp(line, name, strlen(name)) != 0)
				continue;
			ret = lab_send(lab, i, data,
					from_hex(line + strlen(name) + 1, data, sizeof(data)));
			if (ret == 0)
				ret = lab_collect(lab, i, &out);
		}
	}
	print_frames(&out);
	lab_frames_reset(&out);
	return ret;
}

int main(void)
{
	const char *why;
	struct lab *lab;
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	if (!lab_possible(&why)) {
		fprintf(stderr, "SKIP: %s\n", why);
		return 77;
	}
	topo_init();
	if (lab_open(&topo_spec, &lab) < 0)
		return 1;
	while (ret == 0 && getline(&line, &size, stdin) > 0)
		ret = ask(lab, line);
	if (ret < 0)
		fprintf(stderr, "ask: %s\n", strerror(-ret));
	free(line);
	lab_close(lab);
	return ret != 0;
}
