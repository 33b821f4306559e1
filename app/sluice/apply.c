/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/apply.h"

#include "app/sluice/extensions.h"
#include "app/sluice/stages.h"
#include "config/build.h"
#include "lib/conf.h"
#include "lib/router.h"

#include <errno.h>
#include <stdlib.h>

static int swap(struct sl_router *r, const struct sl_conf *conf, struct sl_firewall *fw, char *err,
		size_t err_size)
{
	struct sl_stage_spec *user, *all;
	unsigned int n_user, n_all;
	int ret;

	ret = sl_stages_from_conf(conf, &user, &n_user, err, err_size);
	if (ret < 0)
		return ret;
	ret = sl_firewall_specs(fw, user, n_user, &all, &n_all);
	if (ret < 0) {
		snprintf(err, err_size, "%s: out of memory", conf->path);
	} else {
		ret = sl_router_apply(r, conf, all, n_all, err, err_size);
		free(all);
	}
	free(user);
	return ret;
}

int apply_conf(struct sl_router *r, const struct sl_conf *conf, struct sl_firewall **fw,
		FILE *report, char *err, size_t err_size)
{
	const struct sl_firewall_args args = {
		.r = r, .conf = conf, .exts = &sl_extensions, .prev = *fw, .report = report
	};
	struct sl_firewall *new;
	int ret;

	ret = sl_firewall_create(&args, &new, err, err_size);
	if (ret < 0)
		return ret;
	ret = swap(r, conf, new, err, err_size);
	if (ret < 0) {
		sl_firewall_free(new);
		return ret;
	}
	/* no worker can hold the old one any more */
	sl_firewall_carry(new, *fw);
	sl_firewall_free(*fw);
	*fw = new;
	return 0;
}
