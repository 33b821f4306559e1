/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replay: the whole router without a device. Time is the captures' own, and one thread drives all
 * workers in turn, so the same input gives the same output. A batch holds frames of one port with
 * one time, since frames that came one after the other must see each other's effects (rate limits,
 * neighbours, later connections).
 */
#include "app/sluice/replay.h"

#include "app/sluice/apply.h"
#include "app/sluice/capture.h"
#include "app/sluice/exit.h"
#include "app/sluice/offline.h"
#include "app/sluice/packet_log.h"
#include "app/sluice/report.h"
#include "config/build.h"
#include "config/ipset_live.h"
#include "config/yaml.h"
#include "conntrack/text.h"
#include "lib/router.h"

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* now_ns of the first frame: differences to times before it must not run below zero */
#define CLOCK_BASE_NS (1000ULL * NS_PER_S)
/* timers run at this step through pauses (the kernel's own resolution at HZ=250) */
#define TICK_NS (4 * 1000000ULL)
/* a pause longer than this is jumped over after so much of it: every timer of ours has fired */
#define PAUSE_MAX_NS (600ULL * NS_PER_S)
/* how long what is held at the end may take to be resolved */
#define LINGER_NS (70ULL * NS_PER_S)

static const char usage[] =
		"usage: sluice replay -c FILE --in PORT=PCAP... --out DIR [OPTION...]\n"
		"\n"
		"  -c, --config FILE      configuration; devices are ignored\n"
		"  -i, --in PORT=PCAP     frames that the port receives; may be given often\n"
		"  -o, --out DIR          what every port sends, as DIR/PORT.pcap\n"
		"  -w, --workers N        instead of the configuration's number\n"
		"      --json FILE        counters, drops and stages as JSON\n"
		"      --log FILE         lines of LOG and TRACE instead of to stderr\n"
		"      --nflog FILE       packets of all NFLOG groups as pcapng\n"
		"      --sets FILE        sets as ipset save, as the packets left them\n"
		"      --rules FILE       rules with counters as iptables-save -c; IPv6 to FILE.v6\n"
		"      --conntrack FILE   connections as /proc/net/nf_conntrack\n"
		"  -q, --quiet            no tables\n";

struct input {
	uint16_t port;
	struct capture_in *file;
};

struct replay {
	const char *conf_path;
	const char *out_dir;
	const char *json_path;
	const char *rules_path;
	const char *sets_path;
	const char *conntrack_path;
	const char *log_path;
	const char *nflog_path;
	unsigned int n_workers; /* 0: the configuration's */
	bool quiet;
	char *in[2 * SL_PORTS_MAX]; /* PORT=PCAP */
	unsigned int n_in;

	struct sl_conf *conf;
	struct sl_router *r;
	struct sl_firewall *fw;
	struct packet_log *packet_log;
	FILE *log, *nflog; /* NULL: not asked for */
	struct input inputs[2 * SL_PORTS_MAX];
	uint64_t first_ns, time_ns; /* of captures */
	uint64_t cut; /* frames that the capture holds only in part */
	bool nano;
	char err[512];
};

static void set_clock(struct replay *p, uint64_t time_ns)
{
	p->time_ns = time_ns;
	for (unsigned int i = 0; i < p->r->n_workers; i++) {
		p->r->workers[i]->now_ns = CLOCK_BASE_NS + time_ns - p->first_ns;
		p->r->workers[i]->wall_ns = time_ns;
	}
}

/* until nobody has anything to do at this time */
static void settle(struct replay *p)
{
	unsigned int moved;

	do {
		moved = 0;
		for (unsigned int i = 0; i < p->r->n_workers; i++)
			moved += sl_worker_poll(p->r->workers[i]);
		packet_log_drain(p->packet_log);
	} while (moved > 0);
}

static void advance(struct replay *p, uint64_t to_ns)
{
	uint64_t stop = RTE_MIN(to_ns, p->time_ns + PAUSE_MAX_NS);

	while (p->time_ns + TICK_NS < stop) {
		set_clock(p, p->time_ns + TICK_NS);
		settle(p);
	}
	if (to_ns > p->time_ns)
		set_clock(p, to_ns);
	settle(p);
}

static uint64_t held(const struct sl_router *r)
{
	int64_t sum = 0;

	for (uint16_t i = 0; i <= r->n_ports; i++) {
		struct sl_port_stats s;

		sl_router_port_stats(r, i, &s);
		sum += s.held;
	}
	return (uint64_t)sum;
}

static void linger(struct replay *p)
{
	uint64_t end = p->time_ns + LINGER_NS;

	while (held(p->r) > 0 && p->time_ns < end)
		advance(p, p->time_ns + TICK_NS);
}

/* a frame in as many buffers as it needs */
static struct rte_mbuf *to_mbuf(struct rte_mempool *pool, const uint8_t *data, uint32_t len)
{
	struct rte_mbuf *head = NULL, *last = NULL;

	do {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		uint16_t n;

		if (m == NULL) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		n = (uint16_t)RTE_MIN(len, (uint32_t)rte_pktmbuf_tailroom(m));
		memcpy(rte_pktmbuf_append(m, n), data, n);
		data += n;
		len -= n;
		if (head == NULL) {
			head = m;
		} else {
			last->next = m;
			head->nb_segs++;
			head->pkt_len += n;
		}
		last = m;
	} while (len > 0);
	return head;
}

static struct input *next_input(struct replay *p)
{
	struct input *best = NULL;

	for (unsigned int i = 0; i < p->n_in; i++) {
		const struct capture_frame *f = capture_peek(p->inputs[i].file);

		if (f != NULL && (best == NULL || f->time_ns < capture_peek(best->file)->time_ns))
			best = &p->inputs[i];
	}
	return best;
}

/* frames of one input with one time; false after an error in p->err */
static bool feed(struct replay *p, struct input *in, uint64_t time_ns)
{
	struct rte_mbuf *pkts[SL_BURST];
	const struct capture_frame *f;
	unsigned int n = 0;

	while (n < SL_BURST && (f = capture_peek(in->file)) != NULL && f->time_ns == time_ns) {
		pkts[n] = to_mbuf(p->r->pool, f->data, f->len);
		if (pkts[n] == NULL) {
			snprintf(p->err, sizeof(p->err), "no free packet buffer");
			rte_pktmbuf_free_bulk(pkts, n);
			return false;
		}
		n++;
		p->cut += f->len < f->wire_len;
		if (!capture_next(in->file, p->err, sizeof(p->err))) {
			rte_pktmbuf_free_bulk(pkts, n);
			return false;
		}
	}
	sl_worker_begin(p->r->workers[0]);
	sl_pipeline_rx(p->r->workers[0], p->r->ports[in->port].link->home, pkts, n);
	sl_pipeline_flush(p->r->workers[0]);
	settle(p);
	return true;
}

static bool run(struct replay *p)
{
	struct input *in = next_input(p);

	if (in == NULL)
		return true; /* empty captures */
	p->first_ns = capture_peek(in->file)->time_ns;
	set_clock(p, p->first_ns);
	while (in != NULL) {
		uint64_t time_ns = capture_peek(in->file)->time_ns;

		/* captures of several cards can be a little out of order: time never goes back */
		if (time_ns > p->time_ns)
			advance(p, time_ns);
		if (!feed(p, in, time_ns))
			return false;
		in = next_input(p);
	}
	linger(p);
	sl_router_drain(p->r);
	return true;
}

static struct sl_link *make_link(__rte_unused unsigned int port, void *arg)
{
	struct replay *p = arg;
	struct sl_link *link = capture_link(p->r, &p->time_ns, p->nano);

	if (link == NULL)
		fprintf(stderr, "sluice: out of memory\n");
	return link;
}

static bool open_outputs(struct replay *p)
{
	if (mkdir(p->out_dir, 0777) < 0 && errno != EEXIST) {
		fprintf(stderr, "%s: %s\n", p->out_dir, strerror(errno));
		return false;
	}
	for (unsigned int i = 1; i <= p->r->n_ports; i++) {
		const struct sl_port *port = &p->r->ports[i];

		if (!capture_link_port(port->link, (uint16_t)i, p->out_dir, port->name, p->err,
				    sizeof(p->err))) {
			fprintf(stderr, "%s\n", p->err);
			return false;
		}
	}
	return true;
}

static bool open_log(const char *path, FILE **out)
{
	if (path == NULL)
		return true;
	*out = fopen(path, "we");
	if (*out == NULL)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	return *out != NULL;
}

/* what rules write down; the files of the configuration are a running router's */
static bool open_packet_log(struct replay *p)
{
	struct packet_log_outputs *o = NULL;

	if (!open_log(p->log_path, &p->log) || !open_log(p->nflog_path, &p->nflog))
		return false;
	p->packet_log = packet_log_new(p->r);
	if (p->packet_log != NULL)
		o = packet_log_streams(p->r, p->log == NULL ? stderr : p->log, p->nflog);
	if (o == NULL) {
		fprintf(stderr, "sluice: out of memory\n");
		return false;
	}
	packet_log_use(p->packet_log, o);
	return true;
}

static bool close_log(const char *path, FILE *f)
{
	if (f == NULL || fclose(f) == 0)
		return true;
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	return false;
}

/* Return: whether everything that was to be written is there */
static bool finish_packet_log(struct replay *p)
{
	struct packet_log_stats s;
	bool ok;

	packet_log_stats(p->packet_log, &s);
	packet_log_free(p->packet_log);
	ok = close_log(p->log_path, p->log) & close_log(p->nflog_path, p->nflog);
	return ok && s.failed == 0;
}

static bool finish_outputs(struct replay *p)
{
	for (unsigned int i = 0; i < p->r->n_links; i++) {
		if (!capture_link_finish(p->r->links[i], p->err, sizeof(p->err))) {
			fprintf(stderr, "%s\n", p->err);
			return false;
		}
	}
	return true;
}

/* before anything is written: no output may be one of the inputs */
static bool outputs_are_free(const struct replay *p)
{
	char path[4096];

	for (unsigned int i = 0; i < p->conf->n_ports * p->n_in; i++) {
		snprintf(path, sizeof(path), "%s/%s.pcap", p->out_dir,
				p->conf->ports[i / p->n_in].name);
		if (!capture_is_file(p->inputs[i % p->n_in].file, path))
			continue;
		fprintf(stderr, "sluice replay: --out %s: would overwrite the input %s\n",
				p->out_dir, path);
		return false;
	}
	return true;
}

/* before the router exists: a bad name must not leave output files behind */
static bool open_inputs(struct replay *p)
{
	for (unsigned int i = 0; i < p->n_in; i++) {
		char *eq = strchr(p->in[i], '=');
		struct input *in = &p->inputs[i];

		for (uint16_t j = 0; j < p->conf->n_ports && eq != NULL; j++) {
			const char *name = p->conf->ports[j].name;

			if (strlen(name) == (size_t)(eq - p->in[i])
					&& strncmp(name, p->in[i], strlen(name)) == 0)
				in->port = (uint16_t)(j + 1);
		}
		if (in->port == 0) {
			fprintf(stderr,
					"sluice replay: --in %s: expected PORT=PCAP with a port of "
					"%s\n",
					p->in[i], p->conf_path);
			return false;
		}
		in->file = capture_open(eq + 1, p->err, sizeof(p->err));
		if (in->file == NULL) {
			fprintf(stderr, "%s\n", p->err);
			return false;
		}
		p->nano |= capture_is_nano(in->file);
	}
	return true;
}

static bool apply(struct replay *p)
{
	/* members of sets begin to age when the first frame comes */
	set_clock(p, p->first_ns);
	if (apply_conf(p->r, p->conf, &p->fw, NULL, p->err, sizeof(p->err)) == 0)
		return true;
	fprintf(stderr, "%s\n", p->err);
	return false;
}

struct lines {
	FILE *f;
	const struct ct_conf *conf;
};

static void write_line(struct ct_shard *s, struct ct_entry *e, void *arg)
{
	const struct lines *lines = arg;
	struct ct_view v;

	ct_view(&v, lines->conf, s, e);
	ct_text_line(lines->f, &v);
}

/* the lines of /proc/net/nf_conntrack; none where nothing is tracked */
static bool write_conntrack(const struct replay *p)
{
	const struct ct_table *table = ct_table_of(p->r);
	struct lines lines = { fopen(p->conntrack_path, "we"), sl_firewall_tracking(p->fw) };

	for (unsigned int i = 0; lines.f != NULL && table != NULL && i < p->r->n_workers; i++) {
		struct ct_shard *s = table->shard[i];

		s->now_ms = ct_now(p->r->workers[i]->now_ns);
		for (uint32_t at = 0; at != CT_NONE;)
			at = ct_walk(s, at, UINT32_MAX, write_line, &lines);
	}
	if (lines.f != NULL && fclose(lines.f) == 0)
		return true;
	fprintf(stderr, "%s: %s\n", p->conntrack_path, strerror(errno));
	return false;
}

static bool write_rules(const struct replay *p, enum ipt_family family, const char *path)
{
	FILE *f = fopen(path, "we");
	int ret = -EIO;

	if (f != NULL) {
		ret = sl_firewall_print(p->fw, f, family, NULL, true);
		if (fclose(f) == 0 && ret == 0)
			return true;
	}
	fprintf(stderr, "%s: %s\n", path, strerror(f == NULL ? errno : -ret));
	return false;
}

static bool write_sets(const struct replay *p)
{
	FILE *f = fopen(p->sets_path, "we");
	int ret = -EIO;

	if (f != NULL) {
		ret = ipset_live_print(f, sl_firewall_sets(p->fw), NULL);
		if (fclose(f) == 0 && ret == 0)
			return true;
	}
	fprintf(stderr, "%s: %s\n", p->sets_path, strerror(f == NULL ? errno : -ret));
	return false;
}

static bool write_state(const struct replay *p)
{
	char path6[4096];

	if (p->rules_path != NULL) {
		snprintf(path6, sizeof(path6), "%s.v6", p->rules_path);
		if (!write_rules(p, IPT_V4, p->rules_path) || !write_rules(p, IPT_V6, path6))
			return false;
	}
	if (p->sets_path != NULL && !write_sets(p))
		return false;
	return p->conntrack_path == NULL || write_conntrack(p);
}

static bool write_reports(const struct replay *p)
{
	bool ok;

	if (!p->quiet)
		report_print(p->r, stdout);
	if (p->cut > 0)
		fprintf(stderr,
				"sluice replay: %llu frames are cut in their capture: the rest of "
				"them was not seen\n",
				(unsigned long long)p->cut);
	ok = report_balance(p->r, stderr);
	if (p->json_path != NULL && !report_json(p->r, p->json_path)) {
		fprintf(stderr, "%s: %s\n", p->json_path, strerror(errno));
		ok = false;
	}
	return write_state(p) && ok;
}

static int replay(struct replay *p)
{
	int status = EXIT_INPUT;

	if (sl_conf_read(p->conf_path, &p->conf, stderr) < 0)
		return EXIT_INPUT;
	if (p->n_workers == 0)
		p->n_workers = p->conf->n_workers;
	if (!open_inputs(p) || !outputs_are_free(p))
		goto out_inputs;
	status = EXIT_FAILED;
	if (!offline_start())
		goto out_inputs;
	p->r = offline_router(p->n_workers);
	if (p->r == NULL)
		goto out_inputs;
	status = EXIT_INPUT;
	if (!offline_ports(p->r, p->conf, make_link, p) || !apply(p) || !open_packet_log(p)
			|| !open_outputs(p))
		goto out_log;
	status = EXIT_DONE;
	if (!run(p)) {
		fprintf(stderr, "%s\n", p->err);
		status = EXIT_FAILED;
	}
	if (!finish_outputs(p) || !write_reports(p))
		status = EXIT_FAILED;

out_log:
	if (!finish_packet_log(p))
		status = EXIT_FAILED;
	sl_router_free(p->r);
	sl_firewall_free(p->fw);
out_inputs:
	for (unsigned int i = 0; i < p->n_in; i++)
		capture_close(p->inputs[i].file);
	sl_conf_free(p->conf);
	return status;
}

static bool parse_workers(struct replay *p, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end != '\0' || text[0] < '0' || text[0] > '9' || n == 0 || n > SL_WORKERS_MAX) {
		fprintf(stderr, "sluice replay: --workers %s: expected 1 to %d\n", text,
				SL_WORKERS_MAX);
		return false;
	}
	p->n_workers = (unsigned int)n;
	return true;
}

static const struct option options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "in", required_argument, NULL, 'i' },
	{ "out", required_argument, NULL, 'o' },
	{ "workers", required_argument, NULL, 'w' },
	{ "json", required_argument, NULL, 'j' },
	{ "rules", required_argument, NULL, 'r' },
	{ "sets", required_argument, NULL, 's' },
	{ "conntrack", required_argument, NULL, 't' },
	{ "log", required_argument, NULL, 'l' },
	{ "nflog", required_argument, NULL, 'n' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* Return: an exit status, or -1 to go on */
static int parse_args(struct replay *p, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "c:i:o:w:qh", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			p->conf_path = optarg;
			break;
		case 'i':
			if (p->n_in == RTE_DIM(p->in)) {
				fprintf(stderr, "sluice replay: more than %zu inputs\n",
						RTE_DIM(p->in));
				return EXIT_INPUT;
			}
			p->in[p->n_in++] = optarg;
			break;
		case 'o':
			p->out_dir = optarg;
			break;
		case 'w':
			if (!parse_workers(p, optarg))
				return EXIT_INPUT;
			break;
		case 'j':
			p->json_path = optarg;
			break;
		case 'r':
			p->rules_path = optarg;
			break;
		case 's':
			p->sets_path = optarg;
			break;
		case 't':
			p->conntrack_path = optarg;
			break;
		case 'l':
			p->log_path = optarg;
			break;
		case 'n':
			p->nflog_path = optarg;
			break;
		case 'q':
			p->quiet = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_DONE;
		default:
			fputs(usage, stderr);
			return EXIT_INPUT;
		}
	}
	if (optind < argc || p->conf_path == NULL || p->out_dir == NULL || p->n_in == 0) {
		fputs(usage, stderr);
		return EXIT_INPUT;
	}
	return -1;
}

int replay_main(int argc, char **argv)
{
	struct replay *p = calloc(1, sizeof(*p));
	int status;

	if (p == NULL)
		return EXIT_FAILED;
	status = parse_args(p, argc, argv);
	if (status < 0)
		status = replay(p);
	free(p);
	return status;
}
