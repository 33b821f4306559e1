/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/measure.h"

#include <string.h>
#include <unistd.h>

#define FIRST_PACKETS 1024
#define PACKETS_MAX (1ULL << 28)
#define CALIBRATE_NS 5e6 /* a run this long tells how many packets a round takes */
#define ALONE_RUNS 3 /* of source and sink; the fastest counts */
#define ALONE_NS 10e6

/* one side while it is measured */
struct lane {
	const struct side_setup *setup;
	struct result_side *result;
	struct side side;
	struct side_probe probe;
	bool runs;
	bool probed;
	bool resting; /* its rounds are moved, but no longer kept */
	uint64_t packets; /* of a round */
	double cpu_ns, wait_ns; /* of all rounds */
};

static bool usable(const struct lane *l)
{
	return l->runs && l->result->fault[0] == '\0';
}

static void begin(struct lane *l)
{
	l->runs = side_start(&l->side, l->setup, l->result->skipped) == 0;
}

static void probe(struct lane *l)
{
	struct result_side *r = l->result;

	l->runs = l->runs && side_wait(&l->side, r->skipped) == 0;
	if (!l->runs)
		return;
	l->probed = side_probe(&l->side, &l->probe, r->fault) == 0;
	if (l->probed && l->probe.n != SIDE_PROBES)
		snprintf(r->fault, sizeof(r->fault), "%d packets entered, %u left", SIDE_PROBES,
				l->probe.n);
}

static bool has_iptables_rules(const struct side_setup *s)
{
	return s->ours || s->backend != BACKEND_NATIVE;
}

/* what @a and @b did differently; NULL: nothing */
static const char *difference(const struct lane *a, const struct lane *b)
{
	if (has_iptables_rules(a->setup) && has_iptables_rules(b->setup)
			&& (a->probe.rules_hash != b->probe.rules_hash
					|| a->probe.n_rules != b->probe.n_rules))
		return "other rules than";
	if (has_iptables_rules(a->setup) && has_iptables_rules(b->setup)
			&& a->probe.counters_hash != b->probe.counters_hash)
		return "other rules match than on";
	if (a->setup->traffic.state == TRAFFIC_ESTABLISHED && a->probe.n_tracked >= 0
			&& b->probe.n_tracked >= 0 && a->probe.n_tracked != b->probe.n_tracked)
		return "knows another number of connections than";
	if (a->probe.n != b->probe.n)
		return "lets leave another number of packets than";
	if (memcmp(a->probe.frames, b->probe.frames, sizeof(a->probe.frames)) != 0)
		return "lets leave other packets than";
	return NULL;
}

static void blame(struct lane *l, const char *what, const struct lane *other)
{
	if (l->result->fault[0] == '\0')
		snprintf(l->result->fault, sizeof(l->result->fault), "%s %s %s", what,
				other->setup->ours ? "sluice" : "kernel", other->setup->name);
}

/* nobody here knows which of two is right: neither has a figure */
static void compare(struct lane *lanes, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int k = i + 1; k < n; k++) {
			const char *what = lanes[i].probed && lanes[k].probed
					? difference(&lanes[i], &lanes[k])
					: NULL;

			if (what == NULL)
				continue;
			blame(&lanes[i], what, &lanes[k]);
			blame(&lanes[k], what, &lanes[i]);
		}
	}
}

/* connections are new only once: then the table must be empty, and a round that long at most */
static bool make_new(struct lane *l, uint64_t *packets)
{
	uint32_t flows = l->setup->traffic.flows;

	if (l->setup->traffic.state != TRAFFIC_NEW)
		return true;
	if (*packets > flows)
		*packets = flows;
	/* without rules nobody tracks */
	if (l->setup->rules.kind == RULES_NONE)
		return true;
	return side_reset(&l->side, l->result->fault) == 0;
}

static bool move(struct lane *l, uint64_t packets, bool alone, struct side_sample *s)
{
	char *fault = l->result->fault;

	if (!alone && !make_new(l, &packets))
		return false;

	if (side_measure(&l->side, packets, alone, s, fault) < 0)
		return false;
	if (s->entered < packets || (!alone && s->left != s->entered)) {
		snprintf(fault, SIDE_TEXT_MAX, "%llu packets entered, %llu left",
				(unsigned long long)s->entered, (unsigned long long)s->left);
		return false;
	}
	return true;
}

/* packets that take about @ns, 0 after a fault; warms the side up on the way */
static uint64_t calibrate(struct lane *l, double ns, bool alone)
{
	struct side_sample s = { 0 };
	uint64_t packets = FIRST_PACKETS;
	double per_packet;

	while (move(l, packets, alone, &s) && s.cpu_ns < CALIBRATE_NS && packets < PACKETS_MAX
			&& s.entered >= packets)
		packets *= s.cpu_ns < CALIBRATE_NS / 64 ? 64 : 8;
	if (l->result->fault[0] != '\0')
		return 0;
	per_packet = s.cpu_ns / (double)s.entered;
	packets = (uint64_t)(ns / per_packet);
	return packets < SIDE_PROBES ? SIDE_PROBES : packets;
}

/* source and sink are the same in all lanes of one side: what another one has measured */
static bool known_alone(struct lane *lanes, unsigned int n, struct lane *l)
{
	for (unsigned int i = 0; i < n && l->result->alone_ns <= 0; i++)
		if (lanes[i].setup->ops == l->setup->ops)
			l->result->alone_ns = lanes[i].result->alone_ns;
	return l->result->alone_ns > 0;
}

static void measure_alone(struct lane *l)
{
	uint64_t packets = calibrate(l, ALONE_NS, true);
	struct side_sample s;

	for (unsigned int i = 0; packets > 0 && i < ALONE_RUNS; i++) {
		if (!move(l, packets, true, &s))
			return;
		if (i == 0 || s.cpu_ns / (double)s.entered < l->result->alone_ns)
			l->result->alone_ns = s.cpu_ns / (double)s.entered;
	}
}

static void one_round(struct lane *l)
{
	struct result_side *r = l->result;
	struct side_sample s;

	if (!move(l, l->packets, false, &s) || l->resting)
		return;
	r->rounds[r->n_rounds++] = s.cpu_ns / (double)s.entered;
	r->packets += s.entered;
	l->cpu_ns += s.cpu_ns;
	l->wait_ns += s.wait_ns;
	r->cpu_share = l->cpu_ns / (l->cpu_ns + l->wait_ns);
}

static void show(const struct measure_options *o, const char *text, unsigned int i)
{
	if (o->progress == NULL || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s: %s", o->progress, text);
	if (i > 0)
		fprintf(stderr, " %u of %u", i, o->rounds);
	fflush(stderr);
}

/* rounds of the lanes that run */
static void take_turns(struct lane *lanes, unsigned int n, const struct measure_options *o)
{
	for (unsigned int i = 0; i < n; i++) {
		struct lane *l = &lanes[i];

		if (usable(l) && l->setup->ops->has_alone && !l->resting
				&& !known_alone(lanes, n, l))
			measure_alone(l);
		if (usable(l) && !l->resting)
			l->packets = calibrate(l, o->seconds * 1e9 / o->rounds, false);
	}
	for (unsigned int round = 1; round <= o->rounds; round++) {
		show(o, "round", round);
		for (unsigned int i = 0; i < n; i++)
			if (usable(&lanes[i]))
				one_round(&lanes[i]);
	}
}

static void stop(struct lane *l)
{
	if (l->runs)
		side_stop(&l->side);
	l->runs = false;
}

/* false: there are sides of that kind, but none can run, so there is nothing to compare with */
static bool start_all(struct lane *lanes, unsigned int n, bool ours)
{
	unsigned int asked = 0, running = 0;

	/* they get ready at the same time */
	for (unsigned int i = 0; i < n; i++)
		if (lanes[i].setup->ours == ours)
			begin(&lanes[i]);
	for (unsigned int i = 0; i < n; i++) {
		if (lanes[i].setup->ours != ours)
			continue;
		probe(&lanes[i]);
		asked++;
		running += lanes[i].runs;
	}
	return asked == 0 || running > 0;
}

/*
 * The kernel has one table of connections for all namespaces: what one back end's are in makes
 * another one's chains longer. So each has it for itself, in turns with ours.
 */
static void one_after_the_other(struct lane *lanes, unsigned int n, const struct measure_options *o)
{
	bool first = true;

	for (unsigned int i = 0; i < n; i++) {
		struct lane *l = &lanes[i];

		if (l->setup->ours)
			continue;
		show(o, "opening connections", 0);
		begin(l);
		probe(l);
		compare(lanes, n);
		if (usable(l)) {
			take_turns(lanes, n, o);
			side_reset(&l->side, l->result->fault);
			first = false;
		}
		stop(l);
		for (unsigned int k = 0; k < n && !first; k++)
			lanes[k].resting = lanes[k].setup->ours;
	}
	/* nobody to compare with, but not by our fault */
	if (first)
		take_turns(lanes, n, o);
}

void measure_sides(const struct side_setup *setups, unsigned int n,
		const struct measure_options *options, struct result_scenario *s)
{
	struct lane lanes[RESULT_SIDES_MAX];

	memset(lanes, 0, sizeof(lanes));
	s->n_sides = n;
	for (unsigned int i = 0; i < n; i++) {
		lanes[i].setup = &setups[i];
		lanes[i].result = &s->sides[i];
		snprintf(s->sides[i].name, sizeof(s->sides[i].name), "%s", setups[i].name);
		s->sides[i].ours = setups[i].ours;
	}
	show(options, "loading rules", 0);
	/* ours first: it is there sooner, and where it is not the kernel need not load rules */
	if (start_all(lanes, n, true)) {
		if (n > 0 && setups[0].traffic.state != TRAFFIC_STATELESS) {
			one_after_the_other(lanes, n, options);
		} else if (start_all(lanes, n, false)) {
			compare(lanes, n);
			take_turns(lanes, n, options);
		}
	}
	for (unsigned int i = 0; i < n; i++)
		stop(&lanes[i]);
	if (options->progress != NULL && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}
