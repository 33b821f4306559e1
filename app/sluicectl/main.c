/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluicectl/capture.h"
#include "app/sluicectl/client.h"
#include "app/sluicectl/conntrack.h"
#include "app/sluicectl/set.h"
#include "app/sluicectl/show.h"
#include "app/sluicectl/top.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SOCKET "/run/sluice/control.sock"
#define EXIT_FAILED 1
#define EXIT_INPUT 2

static const char usage[] =
		"usage: sluicectl [-s SOCKET] [-j] [-4|-6] COMMAND [OPTION...]\n"
		"\n"
		"  status            version, uptime, workers, memory\n"
		"  ports             ports and their counters\n"
		"  stages            what each stage of the pipeline did and cost\n"
		"  drops [all]       packets dropped, by reason; with `all` every reason\n"
		"  routes [TABLE]    route tables; TABLE is a number (main is 254)\n"
		"  routes --marks    packets by rule of the policy and by equal-cost path\n"
		"  neighbours        ARP and ND entries\n"
		"  rules             the firewall as iptables-save prints it; IPv6 with -6\n"
		"  set [list [NAME]] the sets as ipset save prints them\n"
		"  set add|del|test|create|flush|swap|destroy ...\n"
		"                    as ipset does; of test status 1: it is not in the set\n"
		"  recent [NAME]     addresses that rules with -m recent have seen\n"
		"  hashlimit [NAME]  rates by key of -m hashlimit; with -6 those of IPv6\n"
		"  set restore       such lines from standard input\n"
		"  conntrack [list] [NAME=VALUE...]\n"
		"                    connections as /proc/net/nf_conntrack shows them; NAME is proto,\n"
		"                    state, status, src, dst, sport, dport, reply-src, reply-dst,\n"
		"                    reply-sport, reply-dport, id, mark or zone\n"
		"  conntrack count|delete NAME=VALUE...\n"
		"                    how many there are; end some\n"
		"  conntrack flush   end all\n"
		"  conntrack stats   counters of each worker\n"
		"  conntrack expect  what helpers have heard of, as /proc/net/nf_conntrack_expect\n"
		"  conntrack events [NAME=VALUE...]\n"
		"                    what begins, changes and ends, as it happens\n"
		"  nat               ports that NAT has given away, by address and worker, and how\n"
		"                    many packets found none that was free\n"
		"  top               rates, busy workers, costs of stages, again each second until q;\n"
		"                    once with --once, or if the output is no terminal\n"
		"  capture [-w FILE|-] [--hook HOOK] [--port P] [--dropped] [--count N] [FILTER]\n"
		"                    packets as pcapng to FILE or standard output (-), or without -w a\n"
		"                    line for each; as they come in, leave and are dropped, or at a\n"
		"                    hook; FILTER as of tcpdump; ends at an interrupt\n"
		"  trace [--count N] [--port P] [--marked] [FILTER]\n"
		"                    the way of packets through stages and rules; --marked: only of\n"
		"                    those that a TRACE target chooses\n"
		"  reload            read the configuration file again\n"
		"  stop              end sluice\n"
		"\n"
		"  -s, --socket PATH   control socket (" DEFAULT_SOCKET ")\n"
		"  -j, --json          the answer as JSON\n"
		"  -4, -6              of routes, neighbours and connections only IPv4, only IPv6\n"
		"  -t, --table TABLE   of rules only this table\n"
		"  -c, --counters      of rules also packets and bytes\n"
		"  -Z, --zero          set the counters of rules to zero\n"
		"  -!, --exist         of set: no error if it is there already, or gone\n"
		"      --once          of top: one frame\n"
		"      --marks         of routes: packets by rule and by path\n"
		"  -h, --help          this text\n";

struct options {
	const char *socket;
	bool json;
	int family; /* 0: both */
	const char *table; /* of rules; NULL: all */
	bool counters;
	bool zero;
	bool exist; /* of set */
	bool marks; /* of routes */
	bool once; /* of top */
	struct watch_options watch; /* of capture and trace */
};

static const char *const commands[] = { "status", "ports", "stages", "drops", "routes",
	"neighbours", "rules", "set", "recent", "hashlimit", "conntrack", "nat", "capture", "trace",
	"reload", "stop" };

static bool is_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i], name) == 0)
			return true;
	}
	return false;
}

/* what only rules understand. Return: false if another command got it */
static bool add_rules_options(const struct options *o, const char *command, json_t *request)
{
	if (o->table != NULL)
		json_object_set_new(request, "table", json_string(o->table));
	if (o->counters)
		json_object_set_new(request, "counters", json_true());
	if (o->zero)
		json_object_set_new(request, "zero", json_true());
	return strcmp(command, "rules") == 0 || (o->table == NULL && !o->counters && !o->zero);
}

/* the request of a command line, or NULL if it is wrong */
static json_t *make_request(const struct options *o, int argc, char **argv)
{
	json_t *request;
	char *end = NULL;

	if (!is_command(argv[0])) {
		fprintf(stderr, "sluicectl: no command '%s'\n%s", argv[0], usage);
		return NULL;
	}
	if (strcmp(argv[0], "set") == 0) {
		request = set_request(argc - 1, argv + 1, o->exist);
		if (request == NULL)
			fprintf(stderr, "sluicectl: set: '%s' means nothing here\n%s", argv[1],
					usage);
		return request;
	}
	if (strcmp(argv[0], "capture") == 0 || strcmp(argv[0], "trace") == 0)
		return watch_request(argc, argv, &o->watch);
	if (watch_option_given(&o->watch) != NULL) {
		fprintf(stderr, "sluicectl: %s: %s is for capture and trace\n%s", argv[0],
				watch_option_given(&o->watch), usage);
		return NULL;
	}
	if (strcmp(argv[0], "conntrack") == 0)
		return conntrack_request(argc - 1, argv + 1, o->family, o->json);
	request = json_object();
	json_object_set_new(request, "command", json_string(argv[0]));
	if (o->family != 0)
		json_object_set_new(request, "family", json_integer(o->family));
	if (!add_rules_options(o, argv[0], request)) {
		fprintf(stderr, "sluicectl: %s: -t, -c and -Z are for rules\n%s", argv[0], usage);
		json_decref(request);
		return NULL;
	}
	if (o->marks && (strcmp(argv[0], "routes") != 0 || argc != 1)) {
		fprintf(stderr, "sluicectl: %s: --marks is for routes, without a table\n%s",
				argv[0], usage);
		json_decref(request);
		return NULL;
	}
	if (o->marks)
		json_object_set_new(request, "marks", json_true());
	if (argc == 1)
		return request;
	if (argc == 2 && strcmp(argv[0], "drops") == 0 && strcmp(argv[1], "all") == 0) {
		json_object_set_new(request, "all", json_true());
		return request;
	}
	if (argc == 2 && (strcmp(argv[0], "recent") == 0 || strcmp(argv[0], "hashlimit") == 0)) {
		json_object_set_new(request, "name", json_string(argv[1]));
		return request;
	}
	if (argc == 2 && strcmp(argv[0], "routes") == 0) {
		unsigned long table = strtoul(argv[1], &end, 10);

		if (*end == '\0' && argv[1][0] >= '0' && argv[1][0] <= '9') {
			json_object_set_new(request, "table", json_integer((json_int_t)table));
			return request;
		}
	}
	fprintf(stderr, "sluicectl: %s: '%s' means nothing here\n%s", argv[0], argv[1], usage);
	json_decref(request);
	return NULL;
}

static int no_sluice(const char *socket, int error)
{
	fprintf(stderr, "sluicectl: %s: %s%s\n", socket, strerror(error),
			error == ENOENT || error == ECONNREFUSED
					? ": no sluice runs there (see --socket)"
					: "");
	return EXIT_FAILED;
}

static int run_top(const struct options *o, int argc)
{
	int fd, ret;

	if (argc != 1) {
		fprintf(stderr, "sluicectl: top: no further word was expected\n%s", usage);
		return EXIT_INPUT;
	}
	fd = client_connect(o->socket);
	if (fd < 0)
		return no_sluice(o->socket, -fd);
	ret = top(fd, o->once, o->json);
	close(fd);
	if (ret == 0)
		return fflush(stdout) == 0 ? 0 : EXIT_FAILED;
	fprintf(stderr, "sluicectl: top: %s\n",
			ret == -EPIPE ? "sluice has ended" : strerror(-ret));
	return EXIT_FAILED;
}

/* @request: NULL: lines of sets from standard input */
static int ask(const struct options *o, const char *command, json_t *request)
{
	bool restore = request == NULL, missing;
	bool follows = strcmp(command, "capture") == 0 || strcmp(command, "trace") == 0;
	json_t *result = NULL;
	int fd = client_connect(o->socket);
	int ret;

	if (fd < 0) {
		json_decref(request);
		return no_sluice(o->socket, -fd);
	}
	if (restore)
		ret = set_restore(fd, o->exist, &result);
	else if (follows)
		ret = watch_follow(fd, request, &o->watch, o->json, &result);
	else if (conntrack_follows(request))
		ret = conntrack_follow(fd, request, &result);
	else
		ret = client_ask(fd, request, &result);
	close(fd);
	if (ret < 0) {
		fprintf(stderr, "sluicectl: %s: %s\n", command,
				ret == -EREMOTEIO ? json_string_value(result) : strerror(-ret));
		json_decref(result);
		return EXIT_FAILED;
	}
	if (follows)
		return 0;
	missing = strcmp(command, "set") == 0 && set_is_missing(result);
	if (o->json && result != NULL) {
		json_dumpf(result, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
		putchar('\n');
	} else if (!restore) {
		show(command, result);
	}
	json_decref(result);
	return fflush(stdout) == 0 && !missing ? 0 : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ "table", required_argument, NULL, 't' },
		{ "counters", no_argument, NULL, 'c' },
		{ "zero", no_argument, NULL, 'Z' },
		{ "exist", no_argument, NULL, '!' },
		{ "marks", no_argument, NULL, 'm' },
		{ "once", no_argument, NULL, 'o' },
		{ "write", required_argument, NULL, 'w' },
		{ "hook", required_argument, NULL, 'k' },
		{ "port", required_argument, NULL, 'p' },
		{ "dropped", no_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'n' },
		{ "marked", no_argument, NULL, 'M' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct options o = { .socket = DEFAULT_SOCKET };
	json_t *request;
	int opt;

	while ((opt = getopt_long(argc, argv, "s:j46t:cZ!w:h", long_options, NULL)) != -1) {
		switch (opt) {
		case 's':
			o.socket = optarg;
			break;
		case 'j':
			o.json = true;
			break;
		case 't':
			o.table = optarg;
			break;
		case 'c':
			o.counters = true;
			break;
		case 'Z':
			o.zero = true;
			break;
		case '!':
			o.exist = true;
			break;
		case 'm':
			o.marks = true;
			break;
		case 'o':
			o.once = true;
			break;
		case 'w':
			o.watch.file = optarg;
			break;
		case 'k':
			o.watch.hook = optarg;
			break;
		case 'p':
			o.watch.port = optarg;
			break;
		case 'd':
			o.watch.dropped = true;
			break;
		case 'n':
			o.watch.count = optarg;
			break;
		case 'M':
			o.watch.marked = true;
			break;
		case '4':
		case '6':
			o.family = opt - '0';
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return EXIT_INPUT;
		}
	}
	if (optind == argc) {
		fputs(usage, stderr);
		return EXIT_INPUT;
	}
	if (argc - optind == 2 && strcmp(argv[optind], "set") == 0
			&& strcmp(argv[optind + 1], "restore") == 0)
		return ask(&o, argv[optind], NULL);
	if (strcmp(argv[optind], "top") == 0)
		return run_top(&o, argc - optind);
	if (o.once) {
		fprintf(stderr, "sluicectl: %s: --once is for top\n%s", argv[optind], usage);
		return EXIT_INPUT;
	}
	request = make_request(&o, argc - optind, argv + optind);
	if (request == NULL)
		return EXIT_INPUT;
	return ask(&o, argv[optind], request);
}
