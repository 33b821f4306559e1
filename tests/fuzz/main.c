/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a fuzz target without a fuzzer: main FILE... feeds each file to it, then MUTATIONS altered
 * copies of each. The same files give the same run. With clang, -fsanitize=fuzzer takes this file's
 * place.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX 65536
#define MUTATIONS 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t state = 1;

static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % below;
}

/* a few bytes changed, now and then the end cut off or a stretch said twice */
static size_t mutate(const uint8_t *in, size_t size, uint8_t *out)
{
	memcpy(out, in, size);
	for (uint32_t n = 1 + draw(6); n > 0 && size > 0; n--) {
		static const uint8_t edges[] = { 0, 1, 2, 7, 0x7f, 0x80, 0xfe, 0xff };
		uint32_t at = draw((uint32_t)size);

		out[at] = draw(2) ? edges[draw(sizeof(edges))] : (uint8_t)draw(256);
	}
	if (draw(8) == 0 && size > 0)
		size = draw((uint32_t)size);
	if (draw(8) == 0 && size > 0 && 2 * size <= INPUT_MAX) {
		memcpy(out + size, out, size);
		size *= 2;
	}
	return size;
}

/* the copy is exactly as long as the input, so that a sanitizer sees what is read behind it */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);

	if (copy == NULL)
		exit(1);
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

int main(int argc, char **argv)
{
	static uint8_t in[INPUT_MAX], out[INPUT_MAX];

	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		size_t size;

		if (f == NULL) {
			perror(argv[i]);
			return 1;
		}
		size = fread(in, 1, sizeof(in), f);
		fclose(f);
		run(in, size);
		for (unsigned int n = 0; n < MUTATIONS; n++)
			run(out, mutate(in, size, out));
	}
	printf("%d files, %d runs\n", argc - 1, (argc - 1) * (1 + MUTATIONS));
	return argc > 1 ? 0 : 2;
}
