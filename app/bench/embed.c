/* SPDX-License-Identifier: BSD-3-Clause */
/* A file as a C array, for the build: embed NAME FILE */
#include <stdio.h>

int main(int argc, char **argv)
{
	FILE *in = argc == 3 ? fopen(argv[2], "rb") : NULL;
	int c;

	if (in == NULL) {
		fprintf(stderr, "usage: embed NAME FILE\n");
		return 2;
	}
	printf("_Alignas(8) static const unsigned char %s[] = {", argv[1]);
	for (unsigned int n = 0; (c = getc(in)) != EOF; n++)
		printf("%s%d,", n % 20 == 0 ? "\n" : "", c);
	printf("\n};\n");
	return ferror(in) != 0;
}
