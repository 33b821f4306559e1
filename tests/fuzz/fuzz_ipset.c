/* SPDX-License-Identifier: BSD-3-Clause */
/* `ipset save` text: what was printed is read back to the same text. */
#include "config/ipset.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *text_of(const struct ipset_file *file, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (f == NULL)
		abort();
	ipset_print(f, file);
	fclose(f);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ipset_file *file = NULL, *again = NULL;
	struct ipt_errors errors;
	char *first, *second;
	size_t len, len2;

	if (ipset_load("fuzz", (const char *)data, size, &file, &errors) < 0) {
		ipt_errors_free(&errors);
		return 0;
	}
	first = text_of(file, &len);
	if (ipset_load("fuzz", first, len, &again, &errors) < 0) {
		fprintf(stderr, "%s\n%s", errors.n > 0 ? errors.v[0].text : "?", first);
		abort();
	}
	second = text_of(again, &len2);
	if (len != len2 || memcmp(first, second, len) != 0) {
		fprintf(stderr, "printed:\n%sread back:\n%s", first, second);
		abort();
	}
	free(first);
	free(second);
	ipset_free(file);
	ipset_free(again);
	return 0;
}
