/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/set.h"
#include "config/build_priv.h"
#include "config/ipset.h"
#include "lib/conf.h"

#include <string.h>

int build_sets(const struct sl_firewall_args *args, struct ipt_sets **sets, char *err,
		size_t err_size)
{
	const struct ipt_sets *prev = args->prev == NULL ? NULL : args->prev->sets;
	const char *path = args->conf->firewall.ipset;
	struct ipset_file *file = NULL;
	struct ipt_errors errors;
	int ret = 0;

	if (path != NULL) {
		ret = ipset_load(path, NULL, 0, &file, &errors);
		if (ret < 0)
			build_first_error(&errors, err, err_size);
		else if (args->report != NULL)
			fprintf(args->report, "%s: %u sets\n", path, file->n_sets);
		ipt_errors_free(&errors);
	}
	if (ret == 0) {
		ret = sl_sets_create(args->r, file, prev, sets);
		if (ret < 0)
			snprintf(err, err_size, "%s: %s", path == NULL ? "sets" : path,
					strerror(-ret));
	}
	ipset_free(file);
	return ret;
}
