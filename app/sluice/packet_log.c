/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/packet_log.h"

#include "app/sluice/pcapng.h"
#include "classifier/log_text.h"
#include "lib/conf.h"
#include "lib/log.h"
#include "lib/router.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

SL_LOG_TYPE("packet log");

#define SECOND_NS UINT64_C(1000000000)
/* what was not written is said at most so often */
#define COMPLAIN_NS (5 * SECOND_NS)
/* records of one worker in one go; others wait as well */
#define DRAIN_MAX 8192
/* between looks at the rings, where a rule writes at all */
#define BUSY_MS 2
#define QUIET_MS 20

/* a file; complains once when it does not take what it is given */
struct output {
	FILE *f; /* NULL: none */
	char *path;
	bool failed;
};

struct group {
	uint16_t group;
	struct output pcap, text;
};

struct packet_log_outputs {
	struct output lines;
	bool to_log; /* lines go to the program's log */
	uint32_t rate, burst; /* of lines; rate 0: no limit */
	struct group *groups;
	unsigned int n_groups;
	struct output all; /* packets of all groups, in replay */
	bool borrowed; /* the files belong to somebody else */
};

struct packet_log {
	struct sl_router *r;
	struct packet_log_outputs *out; /* NULL: nothing was configured yet */
	struct packet_log_stats stats;
	uint64_t credit_ns, credit_at_ns; /* of the limit */
	uint64_t complained_ns;
	uint64_t suppressed_said, lost_said;
};

static void output_close(struct output *o, bool borrowed)
{
	if (o->f != NULL && !borrowed)
		fclose(o->f);
	free(o->path);
}

static int output_open(struct output *o, const char *path, char *err, size_t err_size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	int ret;

	o->f = fd < 0 ? NULL : fdopen(fd, "a");
	o->path = strdup(path);
	if (o->f != NULL && o->path != NULL)
		return 0;
	ret = errno == 0 ? -ENOMEM : -errno;
	if (o->f == NULL && fd >= 0)
		close(fd);
	snprintf(err, err_size, "%s: %s", path, strerror(-ret));
	return ret;
}

/* Return: whether it is on the file, or on its way there */
static bool output_done(struct output *o, bool ok)
{
	if (ok)
		return true;
	if (!o->failed)
		SL_LOG(ERR, "%s: %s", o->path == NULL ? "output" : o->path, strerror(errno));
	o->failed = true;
	if (o->f != NULL)
		clearerr(o->f);
	return false;
}

void packet_log_outputs_free(struct packet_log_outputs *o)
{
	if (o == NULL)
		return;
	output_close(&o->lines, o->borrowed);
	output_close(&o->all, o->borrowed);
	for (unsigned int i = 0; i < o->n_groups; i++) {
		output_close(&o->groups[i].pcap, false);
		output_close(&o->groups[i].text, false);
	}
	free(o->groups);
	free(o);
}

static int group_open(struct group *g, const struct sl_router *r, const struct sl_nflog_conf *c,
		char *err, size_t err_size)
{
	int ret = 0;

	g->group = c->group;
	if (c->text != NULL)
		ret = output_open(&g->text, c->text, err, err_size);
	if (ret == 0 && c->pcap != NULL)
		ret = output_open(&g->pcap, c->pcap, err, err_size);
	if (ret == 0 && c->pcap != NULL && !pcapng_start(g->pcap.f, r)) {
		ret = -errno;
		snprintf(err, err_size, "%s: %s", c->pcap, strerror(-ret));
	}
	return ret;
}

int packet_log_open(const struct sl_router *r, const struct sl_conf *conf,
		struct packet_log_outputs **out, char *err, size_t err_size)
{
	const struct sl_firewall_conf *fw = &conf->firewall;
	struct packet_log_outputs *o = calloc(1, sizeof(*o));
	int ret = 0;

	if (o != NULL)
		o->groups = calloc(fw->n_nflog + 1, sizeof(*o->groups));
	if (o == NULL || o->groups == NULL) {
		free(o);
		snprintf(err, err_size, "%s: out of memory", conf->path);
		return -ENOMEM;
	}
	o->rate = fw->log.rate;
	o->burst = fw->log.burst;
	o->to_log = fw->log.file == NULL;
	if (fw->log.file != NULL)
		ret = output_open(&o->lines, fw->log.file, err, err_size);
	for (unsigned int i = 0; ret == 0 && i < fw->n_nflog; i++) {
		ret = group_open(&o->groups[i], r, &fw->nflog[i], err, err_size);
		o->n_groups++;
	}
	if (ret < 0) {
		packet_log_outputs_free(o);
		return ret;
	}
	*out = o;
	return 0;
}

struct packet_log_outputs *packet_log_streams(const struct sl_router *r, FILE *lines, FILE *groups)
{
	struct packet_log_outputs *o = calloc(1, sizeof(*o));

	if (o == NULL)
		return NULL;
	o->borrowed = true;
	o->lines.f = lines;
	o->all.f = groups;
	if (groups != NULL)
		output_done(&o->all, pcapng_start(groups, r));
	return o;
}

struct packet_log *packet_log_new(struct sl_router *r)
{
	struct packet_log *l = calloc(1, sizeof(*l));

	if (l != NULL)
		l->r = r;
	return l;
}

/* what nobody will find in the files */
static void complain(struct packet_log *l)
{
	uint64_t lost = sl_pktlog_lost(l->r);

	if (l->stats.suppressed != l->suppressed_said)
		SL_LOG(WARNING, "%" PRIu64 " lines were suppressed: more than %" PRIu32 " a second",
				l->stats.suppressed - l->suppressed_said, l->out->rate);
	if (lost != l->lost_said)
		SL_LOG(WARNING, "%" PRIu64 " records were lost: they came too fast to be written",
				lost - l->lost_said);
	l->suppressed_said = l->stats.suppressed;
	l->lost_said = lost;
	l->complained_ns = l->r->workers[0]->wall_ns;
}

void packet_log_free(struct packet_log *l)
{
	if (l == NULL)
		return;
	complain(l);
	packet_log_outputs_free(l->out);
	free(l);
}

static void subscribe(struct packet_log *l, bool on)
{
	const struct packet_log_outputs *o = l->out;

	if (o == NULL)
		return;
	for (unsigned int i = 0; i < o->n_groups; i++)
		sl_pktlog_subscribe(l->r, o->groups[i].group, on);
	for (unsigned int i = 0; o->all.f != NULL && i < SL_PKTLOG_GROUPS; i++)
		sl_pktlog_subscribe(l->r, (uint16_t)i, on);
}

void packet_log_use(struct packet_log *l, struct packet_log_outputs *o)
{
	packet_log_drain(l);
	subscribe(l, false);
	packet_log_outputs_free(l->out);
	l->out = o;
	l->credit_ns = UINT64_MAX; /* cut to the burst by the next line */
	subscribe(l, true);
}

/* a bucket of time: every line takes the time that is between two at the limit */
static bool may_write(struct packet_log *l, uint64_t now_ns)
{
	uint64_t cost_ns, full_ns;

	if (l->out->rate == 0)
		return true;
	cost_ns = SECOND_NS / l->out->rate;
	full_ns = cost_ns * l->out->burst;
	if (now_ns > l->credit_at_ns && l->credit_ns < full_ns)
		l->credit_ns += now_ns - l->credit_at_ns;
	l->credit_at_ns = RTE_MAX(now_ns, l->credit_at_ns);
	l->credit_ns = RTE_MIN(l->credit_ns, full_ns);
	if (l->credit_ns < cost_ns)
		return false;
	l->credit_ns -= cost_ns;
	return true;
}

static void write_line(struct packet_log *l, const struct sl_pktlog_rec *rec)
{
	struct packet_log_outputs *o = l->out;
	char text[LOG_TEXT_MAX];

	if (!may_write(l, rec->wall_ns)) {
		l->stats.suppressed++;
		return;
	}
	sl_log_text(l->r, rec, text, sizeof(text));
	if (output_done(&o->lines,
			    sl_log_packet(o->to_log ? NULL : o->lines.f, rec->wall_ns, rec->level,
					    text)))
		l->stats.lines++;
	else
		l->stats.failed++;
}

static struct pcapng_packet to_packet(const struct sl_pktlog_rec *rec)
{
	bool in = rec->in != SL_PORT_NONE;
	uint16_t port = in ? rec->in : rec->out;
	struct pcapng_packet p = {
		.port = port == SL_PORT_NONE ? SL_PORT_HOST : port,
		.out = !in,
		.time_ns = rec->wall_ns,
		.len = rec->len,
		.captured = rec->captured,
		.data = rec->data,
		.remark = rec->prefix,
		.link = { [12] = rec->family == SL_AF_INET ? 0x08 : 0x86,
				[13] = rec->family == SL_AF_INET ? 0x00 : 0xdd },
	};

	/* what the router itself made has no addresses yet */
	if (rec->has_mac)
		memcpy(p.link, rec->mac, sizeof(rec->mac));
	return p;
}

static bool write_text(const struct packet_log *l, FILE *f, const struct sl_pktlog_rec *rec)
{
	char text[LOG_TEXT_MAX];

	sl_log_text(l->r, rec, text, sizeof(text));
	return sl_log_packet(f, rec->wall_ns, rec->level, text);
}

static void write_packet(struct packet_log *l, const struct sl_pktlog_rec *rec)
{
	struct packet_log_outputs *o = l->out;
	struct pcapng_packet p = to_packet(rec);
	bool ok = true, any = false;

	if (o->all.f != NULL) {
		ok = output_done(&o->all, pcapng_write(o->all.f, &p));
		any = true;
	}
	for (unsigned int i = 0; i < o->n_groups; i++) {
		struct group *g = &o->groups[i];

		if (g->group != rec->group)
			continue;
		if (g->pcap.f != NULL)
			ok &= output_done(&g->pcap, pcapng_write(g->pcap.f, &p));
		if (g->text.f != NULL)
			ok &= output_done(&g->text, write_text(l, g->text.f, rec));
		any = true;
	}
	if (!any) /* was still on its way when its reader went */
		l->stats.unread++;
	else if (ok)
		l->stats.packets++;
	else
		l->stats.failed++;
}

static void flush(struct output *o)
{
	if (o->f != NULL)
		output_done(o, fflush(o->f) == 0);
}

static void flush_all(struct packet_log_outputs *o)
{
	flush(&o->lines);
	flush(&o->all);
	for (unsigned int i = 0; i < o->n_groups; i++) {
		flush(&o->groups[i].pcap);
		flush(&o->groups[i].text);
	}
}

bool packet_log_drain(struct packet_log *l)
{
	const struct sl_pktlog_rec *rec;
	bool any = false;

	if (l->out == NULL)
		return false;
	for (unsigned int i = 0; i < l->r->n_workers; i++) {
		struct sl_worker *w = l->r->workers[i];

		for (unsigned int n = 0; n < DRAIN_MAX && (rec = sl_pktlog_peek(w)) != NULL; n++) {
			if (rec->kind == SL_PKTLOG_GROUP)
				write_packet(l, rec);
			else
				write_line(l, rec);
			sl_pktlog_pop(w, rec);
			any = true;
		}
	}
	if (any)
		flush_all(l->out);
	if (l->r->workers[0]->wall_ns >= l->complained_ns + COMPLAIN_NS)
		complain(l);
	return any;
}

int packet_log_poll(struct packet_log *l, int max_ms)
{
	/* a ring that had something is looked at soon again, before it is full */
	if (packet_log_drain(l))
		return BUSY_MS;
	return l->r->workers[0]->pktlog == NULL ? max_ms : RTE_MIN(max_ms, QUIET_MS);
}

void packet_log_stats(const struct packet_log *l, struct packet_log_stats *out)
{
	*out = (struct packet_log_stats){ 0 };
	if (l == NULL)
		return;
	*out = l->stats;
	out->unread += sl_pktlog_unread(l->r);
	out->lost = sl_pktlog_lost(l->r);
}
