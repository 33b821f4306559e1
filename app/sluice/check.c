/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/check.h"

#include "app/sluice/apply.h"
#include "app/sluice/exit.h"
#include "app/sluice/offline.h"
#include "config/build.h"
#include "config/yaml.h"
#include "lib/conf.h"
#include "lib/router.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
		"usage: sluice check -c FILE\n"
		"\n"
		"Reads a configuration and everything that it names and reports the first "
		"error.\nOf the files of rules every rule line is reported, as exact or refused "
		"and why.\nTouches no device and needs no privilege.\n"
		"\n"
		"  -c, --config FILE   the configuration\n"
		"  -h, --help          this text\n";

static void close_nothing(struct sl_link *link)
{
	free(link);
}

static const struct sl_link_ops no_link = { .kind = "none", .close = close_nothing };

static struct sl_link *make_link(__rte_unused unsigned int port, __rte_unused void *arg)
{
	struct sl_link *link = calloc(1, sizeof(*link));

	if (link != NULL)
		link->ops = &no_link;
	return link;
}

static int build(struct sl_router *r, const struct sl_conf *conf, struct sl_firewall **fw)
{
	char err[512];

	if (!offline_ports(r, conf, make_link, NULL))
		return EXIT_INPUT;
	if (apply_conf(r, conf, fw, stdout, err, sizeof(err)) < 0) {
		fflush(stdout);
		fprintf(stderr, "%s\n", err);
		return EXIT_INPUT;
	}
	printf("%s: ok: %u ports, %u routes, %u neighbours, %u policy rules, %u + %u firewall "
	       "rules, %u workers\n",
			conf->path, conf->n_ports, conf->n_routes, conf->n_neighbours,
			conf->n_policy, sl_firewall_rules(*fw, IPT_V4),
			sl_firewall_rules(*fw, IPT_V6), conf->n_workers);
	return EXIT_DONE;
}

static int check(const char *path)
{
	struct sl_firewall *fw = NULL;
	struct sl_conf *conf;
	struct sl_router *r;
	int status = EXIT_FAILED;

	if (sl_conf_read(path, &conf, stderr) < 0)
		return EXIT_INPUT;
	if (offline_start()) {
		r = offline_router(conf->n_workers);
		if (r != NULL)
			status = build(r, conf, &fw);
		sl_router_free(r);
		sl_firewall_free(fw);
	}
	sl_conf_free(conf);
	return status;
}

int check_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *path = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			path = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_DONE;
		default:
			fputs(usage, stderr);
			return EXIT_INPUT;
		}
	}
	if (path == NULL || optind < argc) {
		fputs(usage, stderr);
		return EXIT_INPUT;
	}
	return check(path);
}
