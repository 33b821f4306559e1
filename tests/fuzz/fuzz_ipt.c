/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iptables-save text: whatever is read is printed, and what was printed is read back to the same text.
 * The first byte says which family.
 */
#include "config/ipt.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *text_of(const struct ipt_ruleset *rs, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (f == NULL)
		abort();
	ipt_print(f, rs, NULL, true);
	fclose(f);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ipt_load args = { .path = "fuzz", .counters = true };
	struct ipt_ruleset *rs = NULL, *again = NULL;
	struct ipt_errors errors;
	char *first, *second;
	size_t len, len2;

	if (size == 0)
		return 0;
	args.family = data[0] & 1 ? IPT_V6 : IPT_V4;
	args.text = (const char *)data + 1;
	args.text_len = size - 1;
	if (ipt_load(&args, &rs, &errors) < 0) {
		ipt_errors_free(&errors);
		return 0;
	}
	first = text_of(rs, &len);
	args.text = first;
	args.text_len = len;
	if (ipt_load(&args, &again, &errors) < 0) {
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
	ipt_ruleset_free(rs);
	ipt_ruleset_free(again);
	return 0;
}
