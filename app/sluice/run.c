/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/run.h"

#include "app/sluice/app.h"
#include "app/sluice/apply.h"
#include "app/sluice/connections.h"
#include "app/sluice/control.h"
#include "app/sluice/eal.h"
#include "app/sluice/exit.h"
#include "app/sluice/links.h"
#include "app/sluice/notify.h"
#include "app/sluice/packet_log.h"
#include "app/sluice/telemetry.h"
#include "config/build.h"
#include "config/yaml.h"
#include "lib/conf.h"
#include "lib/drop.h"
#include "lib/log.h"

#include <rte_errno.h>
#include <rte_mempool.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

SL_LOG_TYPE("sluice");

#define BUFFER_ROOM 2048

static const char usage[] =
		"usage: sluice run -c FILE [-l LEVEL] [--state FILE]\n"
		"\n"
		"Route packets between the ports of FILE until SIGTERM, SIGINT or `sluicectl stop`;\n"
		"SIGHUP or `sluicectl reload` reads FILE again.\n"
		"\n"
		"  -c, --config FILE   the configuration\n"
		"  -l, --log LEVEL     error, warning, notice (default), info or debug\n"
		"      --state FILE    tracked connections: read at the start, written at the end\n"
		"  -h, --help          this text\n";

static uint64_t clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static int create_router(struct app *app, char *err, size_t err_size)
{
	unsigned int n = eal_buffers(app->conf);
	int ret;

	app->pool = sl_pool_create("packets", n, BUFFER_ROOM);
	if (app->pool == NULL) {
		ret = -rte_errno;
		snprintf(err, err_size, "%u packet buffers: %s", n, strerror(-ret));
		return ret;
	}
	ret = sl_router_create(app->pool, app->conf->n_workers, &app->r);
	if (ret < 0)
		snprintf(err, err_size, "router: %s", strerror(-ret));
	return ret;
}

static int open_packet_log(struct app *app, char *err, size_t err_size)
{
	struct packet_log_outputs *outputs;
	int ret;

	app->packet_log = packet_log_new(app->r);
	if (app->packet_log == NULL) {
		snprintf(err, err_size, "packet log: out of memory");
		return -ENOMEM;
	}
	ret = packet_log_open(app->r, app->conf, &outputs, err, err_size);
	if (ret == 0)
		packet_log_use(app->packet_log, outputs);
	return ret;
}

static void log_port(const struct sl_router *r, uint16_t id)
{
	const char *name = id == SL_PORT_HOST ? "router" : r->ports[id].name;
	struct sl_port_stats s;

	sl_router_port_stats(r, id, &s);
	SL_LOG(NOTICE,
			"%s: received %" PRIu64 " = transmitted %" PRIu64 " + delivered %" PRIu64
			" + held %" PRId64 " + dropped %" PRIu64,
			name, s.rx, s.forwarded, s.delivered, s.held, s.dropped);
	for (unsigned int i = 0; i < SL_DROP_NB; i++) {
		uint64_t n = sl_router_drops(r, id, (enum sl_drop_reason)i);

		if (n > 0)
			SL_LOG(NOTICE, "%s: dropped %" PRIu64 " as %s", name, n,
					sl_drop_name((enum sl_drop_reason)i));
	}
}

/* Return: the exit status: whether every packet is accounted for */
static int check_balance(const struct sl_router *r)
{
	uint64_t rx = 0;
	uint64_t accounted = 0;
	int ret;

	for (unsigned int i = 1; i <= r->n_ports; i++)
		log_port(r, (uint16_t)i);
	log_port(r, SL_PORT_HOST);
	ret = sl_router_balance(r, &rx, &accounted);
	if (ret == 0) {
		SL_LOG(NOTICE, "the balance holds");
		return EXIT_DONE;
	}
	SL_LOG(ERR, "%s: received %" PRIu64 " but %" PRIu64 " are accounted for",
			ret == 1 ? "router" : r->ports[ret - 1].name, rx, accounted);
	return EXIT_FAILED;
}

/* from a router with ports to its end */
static int route(struct app *app, struct control *control, uint64_t start_ms)
{
	/* before the first packet, whose answer would find its port down */
	links_refresh(app);
	connections_load(app);
	if (workers_start(app) < 0)
		return EXIT_FAILED;
	telemetry_offer(app);
	SL_LOG(NOTICE, "ready: %u ports, %u workers, %s, after %" PRIu64 " ms", app->r->n_ports,
			app->r->n_workers, app->eal.hugepages ? "hugepages" : "no hugepages",
			clock_ms() - start_ms);
	notify_manager("READY=1");
	control_run(control, app);
	notify_manager("STOPPING=1");
	telemetry_end();
	workers_stop(app);
	sl_router_drain(app->r);
	connections_save(app);
	while (packet_log_drain(app->packet_log))
		;
	return check_balance(app->r);
}

/* what keeps it from starting is the input, or what the input asks of this machine */
static int failed(int ret, const char *err)
{
	fprintf(stderr, "sluice: %s\n", err);
	return ret == -ENOMEM ? EXIT_FAILED : EXIT_INPUT;
}

static int run(struct app *app)
{
	uint64_t start_ms = clock_ms();
	struct control *control = NULL;
	char err[1536] = "";
	int status;
	int ret;

	ret = control_open(app, &control, err, sizeof(err));
	if (ret < 0)
		return failed(ret, err);
	ret = eal_start(app->conf, &app->eal, err, sizeof(err));
	if (ret < 0) {
		status = failed(ret, err);
		goto out_control;
	}
	ret = create_router(app, err, sizeof(err));
	if (ret == 0)
		ret = links_open(app, err, sizeof(err));
	if (ret == 0)
		ret = apply_conf(app->r, app->conf, &app->fw, NULL, err, sizeof(err));
	if (ret == 0)
		ret = open_packet_log(app, err, sizeof(err));
	status = ret < 0 ? failed(ret, err) : route(app, control, start_ms);
	packet_log_free(app->packet_log);
	sl_router_free(app->r);
	sl_firewall_free(app->fw);
	rte_mempool_free(app->pool);
	eal_stop();
out_control:
	control_close(control);
	return status;
}

int run_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "log", required_argument, NULL, 'l' },
		{ "state", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct app app = { .lock = PTHREAD_MUTEX_INITIALIZER };
	enum sl_log_level level = SL_LOG_NOTICE;
	int status;
	int opt;

	while ((opt = getopt_long(argc, argv, "c:l:h", options, NULL)) != -1) {
		switch (opt) {
		case 'c':
			app.conf_path = optarg;
			break;
		case 'l':
			if (sl_log_level_parse(optarg, &level) == 0)
				break;
			fprintf(stderr, "sluice: no log level '%s'\n%s", optarg, usage);
			return EXIT_INPUT;
		case 's':
			app.state_path = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_DONE;
		default:
			fputs(usage, stderr);
			return EXIT_INPUT;
		}
	}
	if (app.conf_path == NULL || optind != argc) {
		fputs(usage, stderr);
		return EXIT_INPUT;
	}
	sl_log_set(NULL, level);
	control_block_signals();
	if (sl_conf_read(app.conf_path, &app.conf, stderr) < 0)
		return EXIT_INPUT;
	status = run(&app);
	sl_conf_free(app.conf);
	return status;
}
