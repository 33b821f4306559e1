/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipt_match_rate.c - limit, hashlimit
 *
 * A rate is stored as the cost of one packet in parts of a second (limit: 1/10000, hashlimit:
 * 1/1000000), as in the kernel: 7/minute is 60 * 10000 / 7 = 85714. It is printed by the largest unit
 * that gives it back, so that 60/hour is printed 1/min. A byte rate is stored as the cost of 16 bytes
 * out of 2^32 - 1 a second: 700b/s is 43 chunks, (2^32 - 1) / 44 = 97612893, printed 688b/s.
 */
#include "config/ipt_list.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LIMIT_SCALE 10000u
#define HASHLIMIT_SCALE 1000000u
#define CHUNK_SHIFT 4

static const struct unit {
	const char *name; /* as it is printed */
	const char *word; /* of which any beginning may be written */
	uint32_t seconds;
} units[] = {
	{ "day", "day", 24 * 60 * 60 },
	{ "hour", "hour", 60 * 60 },
	{ "min", "minute", 60 },
	{ "sec", "second", 1 },
};
#define N_UNITS (sizeof(units) / sizeof(units[0]))

/* number[/unit] into the cost of one, and the unit in seconds */
static int parse_rate(struct ipt_ctx *cx, const struct ipt_opt *o, const char *arg, uint32_t scale,
		uint64_t *cost, uint32_t *rate, uint32_t *seconds)
{
	const char *slash = strchr(arg, '/');
	uint64_t n = strtoull(arg, NULL, 10);
	const struct unit *u = &units[N_UNITS - 1];
	size_t len;

	if (slash != NULL) {
		len = strlen(slash + 1);
		for (u = units; u < units + N_UNITS; u++)
			if (len > 0 && strncasecmp(slash + 1, u->word, len) == 0)
				break;
	}
	len = strspn(arg, "0123456789");
	if (u == units + N_UNITS || len == 0 || (arg[len] != '\0' && arg[len] != '/') || n == 0
			|| n > UINT32_MAX)
		return ipt_fail(cx, "--%s %s: number[/second|/minute|/hour|/day] was expected",
				o->name, arg);
	*cost = (uint64_t)scale * u->seconds / n;
	*rate = n;
	*seconds = u->seconds;
	if (*cost == 0)
		return ipt_fail(cx, "--%s %s: rate too fast, at most %u/second was expected",
				o->name, arg, scale);
	return 0;
}

/* The unit in which a cost is printed: the smallest one in which the number is whole. */
static const struct unit *rate_unit(uint64_t cost, uint32_t scale)
{
	size_t i;

	for (i = 1; i < N_UNITS; i++) {
		uint64_t whole = (uint64_t)scale * units[i].seconds;

		if (cost > whole || whole / cost < whole % cost)
			break;
	}
	return &units[i - 1];
}

static void print_rate(FILE *f, uint64_t cost, uint32_t scale)
{
	const struct unit *u = rate_unit(cost, scale);

	fprintf(f, " %" PRIu64 "/%s", (uint64_t)scale * u->seconds / cost, u->name);
}

/* ---- limit ---- */

static int parse_limit(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_limit *m = in->data;
	uint32_t rate, seconds;
	uint64_t cost;

	(void)inv;
	if (parse_rate(cx, o, arg, LIMIT_SCALE, &cost, &rate, &seconds) < 0)
		return -EINVAL;
	m->avg = cost;
	return 0;
}

static void print_limit(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_limit *m = v->data;

	(void)o;
	print_rate(f, m->avg, LIMIT_SCALE);
}

#define LIMIT_BURST_DEFAULT 5

static int limit_init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_m_limit *m = in->data;

	(void)cx;
	m->avg = LIMIT_SCALE * 3600 / 3; /* 3/hour */
	m->burst = LIMIT_BURST_DEFAULT;
	in->set = IPT_LIMIT_LIMIT;
	return 0;
}

static int limit_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_m_limit *m = in->data;

	if (m->burst == 0)
		return ipt_fail(cx, "--limit-burst 0: the rule could never match");
	if (m->burst == LIMIT_BURST_DEFAULT)
		in->set &= ~IPT_LIMIT_BURST;
	return 0;
}

static const struct ipt_type t_limit = { .parse = parse_limit, .print = print_limit };

static const struct ipt_opt limit_opts[] = {
	IPT_OPT("limit", &t_limit, IPT_LIMIT_LIMIT),
	IPT_OPT("limit-burst", &ipt_t_u32, IPT_LIMIT_BURST, 0, offsetof(struct ipt_m_limit, burst),
			0, 10000),
	{ 0 },
};

const struct ipt_ext ipt_match_limit = {
	.name = "limit",
	.kind = IPT_M_LIMIT,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_limit),
	.opts = limit_opts,
	.init = limit_init,
	.finish = limit_finish,
};

/* ---- hashlimit ---- */

static uint64_t bytes_to_cost(uint64_t bytes)
{
	return UINT32_MAX / ((bytes >> CHUNK_SHIFT) + 1);
}

static uint64_t cost_to_bytes(uint64_t cost)
{
	return (UINT32_MAX / cost - 1) << CHUNK_SHIFT;
}

/* number[k|m][b]; a suffix says that bytes are meant */
static bool parse_bytes(const char *s, uint64_t *bytes, const char **end)
{
	char *e;

	if (!isdigit((unsigned char)*s))
		return false;
	*bytes = strtoull(s, &e, 10);
	if (*bytes > UINT32_MAX)
		return false;
	if (*e == 'k' || *e == 'm') {
		*bytes *= *e == 'k' ? 1024 : 1024 * 1024;
		e++;
	}
	if (*e == 'b')
		e++;
	*end = e;
	return true;
}

static int parse_hash_rate(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_hashlimit *m = in->data;
	const char *byte = strstr(arg, "b/s"), *end;
	uint32_t seconds = 1;
	uint64_t bytes;

	if (byte != NULL) {
		if (!parse_bytes(arg, &bytes, &end) || bytes == 0 || end != byte + 1 || *end != '/'
				|| strncasecmp(end + 1, "second", strlen(end + 1)) != 0)
			return ipt_fail(cx, "--%s %s: number[k|m]b/s was expected", o->name, arg);
		m->bytes = true;
		m->avg = bytes_to_cost(bytes);
		if (m->avg == 0)
			return ipt_fail(cx, "--%s %s: rate too fast", o->name, arg);
	} else if (parse_rate(cx, o, arg, HASHLIMIT_SCALE, &m->avg, &m->rate, &seconds) < 0) {
		return -EINVAL;
	}
	if (!(in->seen & IPT_HASHLIMIT_HTABLE_EXPIRE))
		m->expire_ms = seconds * 1000;
	if (!(in->seen & IPT_HASHLIMIT_RATE_INTERVAL))
		m->interval_s = seconds;
	if (inv) { /* ! --hashlimit-upto is --hashlimit-above */
		in->set &= ~o->bit;
		in->inv &= ~o->bit;
		in->set |= (IPT_HASHLIMIT_UPTO | IPT_HASHLIMIT_ABOVE) & ~o->bit;
	}
	return 0;
}

static const struct byte_unit {
	const char *name;
	uint32_t bytes;
} byte_units[] = {
	{ "mb", 1024 * 1024 },
	{ "kb", 1024 },
	{ "b", 1 },
};

/* The largest unit in which the number, cut to a whole one, is read back as the same cost. */
static void print_byte_rate(FILE *f, uint64_t cost)
{
	uint64_t bytes = cost_to_bytes(cost);
	const struct byte_unit *u = byte_units;

	while (u->bytes > 1
			&& (bytes < u->bytes || bytes > UINT32_MAX
					|| bytes_to_cost(bytes / u->bytes * u->bytes) != cost))
		u++;
	if (bytes == 0)
		bytes = 1; /* iptables prints 0b/s, which it does not read */
	fprintf(f, " %" PRIu64 "%s/s", bytes / u->bytes, u->name);
}

/* How often the bucket has to be filled anew for that many bytes. */
static uint64_t refills(uint64_t bytes, uint64_t fill)
{
	return (bytes + fill - 1) / fill;
}

/*
 * iptables takes the largest unit that is not above the number, also where it then cannot read what it
 * wrote: a burst of 600000b at 600000b/s is printed 585kb. We take the next smaller unit there.
 */
static void print_byte_burst(FILE *f, uint64_t cost, uint64_t burst)
{
	uint64_t fill = cost_to_bytes(cost), bytes = burst * fill;
	const struct byte_unit *u = byte_units;

	while (u->bytes > 1
			&& (bytes < u->bytes || bytes / u->bytes * u->bytes < fill
					|| refills(bytes / u->bytes * u->bytes, fill) != burst))
		u++;
	fprintf(f, " %" PRIu64 "%s", bytes / u->bytes, u->name);
}

static void print_hash_rate(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_hashlimit *m = v->data;

	(void)o;
	if (m->bytes)
		print_byte_rate(f, m->avg);
	else
		print_rate(f, m->avg, HASHLIMIT_SCALE);
}

#define HASHLIMIT_BURST_MAX 1000000u
#define HASHLIMIT_SIZE_MAX 1048576u
#define BYTE_EXPIRE_MS 15000
#define BYTE_EXPIRE_BURST_MS 60000

/* Whether it counts packets or bytes is known only once the rate was read: see hashlimit_finish(). */
static int parse_hash_burst(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_hashlimit *m = in->data;
	const char *end;

	(void)inv;
	if (!parse_bytes(arg, &m->burst, &end) || *end != '\0' || m->burst == 0
			|| (isdigit((unsigned char)end[-1]) && m->burst > HASHLIMIT_BURST_MAX)
			|| m->burst > UINT32_MAX)
		return ipt_fail(cx, "--%s %s: 1-%u, or bytes as number[k|m]b, was expected",
				o->name, arg, HASHLIMIT_BURST_MAX);
	return 0;
}

static void print_hash_burst(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_hashlimit *m = v->data;

	(void)o;
	if (m->bytes)
		print_byte_burst(f, m->avg, m->burst);
	else
		fprintf(f, " %" PRIu64, m->burst);
}

static const struct ipt_name modes[] = {
	{ "srcip", IPT_HASHLIMIT_SRCIP },
	{ "srcport", IPT_HASHLIMIT_SRCPORT },
	{ "dstip", IPT_HASHLIMIT_DSTIP },
	{ "dstport", IPT_HASHLIMIT_DSTPORT },
	{ NULL, 0 },
};

static int parse_mode(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_hashlimit *m = in->data;
	uint32_t bits = 0;

	(void)inv;
	if (*arg != '\0' && ipt_parse_bits(cx, o, arg, modes, &bits) < 0)
		return -EINVAL;
	m->mode = bits;
	return 0;
}

static void print_mode(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_hashlimit *m = v->data;

	(void)o;
	ipt_print_bits(f, modes, m->mode);
}

static int hashlimit_init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_m_hashlimit *m = in->data;

	m->src_len = m->dst_len = ipt_addr_bits(cx->family);
	m->burst = LIMIT_BURST_DEFAULT;
	m->gc_interval_ms = 1000;
	return 0;
}

/* The time after which an entry dies, where none is given; it depends on the printed unit. */
static uint32_t expire_default(const struct ipt_m_hashlimit *m)
{
	if (m->bytes)
		return m->burst > 0 ? BYTE_EXPIRE_BURST_MS : BYTE_EXPIRE_MS;
	return rate_unit(m->avg, HASHLIMIT_SCALE)->seconds * 1000;
}

static void hashlimit_drop_defaults(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_m_hashlimit *m = in->data;
	const struct {
		bool drop;
		uint32_t bit;
	} rows[] = {
		{ m->bytes && m->burst == 0, IPT_HASHLIMIT_BURST },
		{ m->mode == 0, IPT_HASHLIMIT_MODE },
		{ m->size == 0, IPT_HASHLIMIT_HTABLE_SIZE },
		{ m->max == 0, IPT_HASHLIMIT_HTABLE_MAX },
		{ m->gc_interval_ms == 1000, IPT_HASHLIMIT_HTABLE_GCINTERVAL },
		{ m->src_len == ipt_addr_bits(cx->family), IPT_HASHLIMIT_SRCMASK },
		{ m->dst_len == ipt_addr_bits(cx->family), IPT_HASHLIMIT_DSTMASK },
		{ m->interval_s <= 1, IPT_HASHLIMIT_RATE_INTERVAL },
	};

	in->set |= IPT_HASHLIMIT_BURST | IPT_HASHLIMIT_HTABLE_EXPIRE;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].drop)
			in->set &= ~rows[i].bit;
	if (m->expire_ms == expire_default(m))
		in->set &= ~IPT_HASHLIMIT_HTABLE_EXPIRE;
}

static int hashlimit_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_m_hashlimit *m = in->data;
	uint64_t fill;

	if (m->bytes) {
		fill = cost_to_bytes(m->avg);
		if (in->seen & IPT_HASHLIMIT_BURST) {
			if (fill == 0 || m->burst < fill)
				return ipt_fail(cx,
						"--hashlimit-burst: at least %" PRIu64
						"b was expected",
						fill > 0 ? fill : 16);
			m->burst = refills(m->burst, fill);
		} else {
			m->burst = 0;
		}
		if (!(in->seen & IPT_HASHLIMIT_HTABLE_EXPIRE))
			m->expire_ms = m->burst > 0 ? BYTE_EXPIRE_BURST_MS : BYTE_EXPIRE_MS;
	} else if (m->burst > HASHLIMIT_BURST_MAX) {
		return ipt_fail(cx, "--hashlimit-burst: at most %u was expected",
				HASHLIMIT_BURST_MAX);
	}
	if (m->expire_ms == 0 || m->gc_interval_ms == 0)
		return ipt_fail(cx, "--hashlimit-htable-%s 0: a time above 0 was expected",
				m->expire_ms == 0 ? "expire" : "gcinterval");
	/* the kernel cuts both, and says so in its log */
	m->size = m->size > HASHLIMIT_SIZE_MAX ? HASHLIMIT_SIZE_MAX : m->size;
	m->max = m->max > HASHLIMIT_SIZE_MAX ? HASHLIMIT_SIZE_MAX : m->max;
	if (strchr(m->name, '/') != NULL)
		return ipt_fail(cx, "--hashlimit-name %s: a name without / was expected", m->name);
	if (!(in->set & IPT_HASHLIMIT_RATE_MATCH)) {
		m->interval_s = 0;
	} else {
		in->set |= IPT_HASHLIMIT_RATE_INTERVAL;
		if (!m->bytes) /* the unit of time is in interval_s, no longer in the cost */
			m->avg = HASHLIMIT_SCALE / m->rate;
		if (m->avg == 0)
			return ipt_fail(cx,
					"--hashlimit-rate-match: rate too fast, at most %u was expected",
					HASHLIMIT_SCALE);
	}
	hashlimit_drop_defaults(cx, in);
	return 0;
}

static const struct ipt_type t_hash_rate = { .parse = parse_hash_rate, .print = print_hash_rate };
static const struct ipt_type t_hash_burst = { .parse = parse_hash_burst,
	.print = print_hash_burst };
static const struct ipt_type t_mode = { .parse = parse_mode, .print = print_mode };

#define OFF(field) offsetof(struct ipt_m_hashlimit, field)
static const struct ipt_opt hashlimit_opts[] = {
	IPT_OPT("hashlimit-upto", &t_hash_rate, IPT_HASHLIMIT_UPTO, IPT_O_INV,
			.excl = IPT_HASHLIMIT_ABOVE),
	IPT_OPT("hashlimit-above", &t_hash_rate, IPT_HASHLIMIT_ABOVE, IPT_O_INV,
			.excl = IPT_HASHLIMIT_UPTO),
	IPT_OPT("hashlimit", &t_hash_rate, IPT_HASHLIMIT_UPTO, IPT_O_INV | IPT_O_QUIET,
			.excl = IPT_HASHLIMIT_ABOVE),
	IPT_OPT("hashlimit-burst", &t_hash_burst, IPT_HASHLIMIT_BURST),
	IPT_OPT("hashlimit-mode", &t_mode, IPT_HASHLIMIT_MODE),
	IPT_OPT("hashlimit-name", &ipt_t_name, IPT_HASHLIMIT_NAME, 0, OFF(name), 1, 254),
	IPT_OPT("hashlimit-htable-size", &ipt_t_u32, IPT_HASHLIMIT_HTABLE_SIZE, 0, OFF(size)),
	IPT_OPT("hashlimit-htable-max", &ipt_t_u32, IPT_HASHLIMIT_HTABLE_MAX, 0, OFF(max)),
	IPT_OPT("hashlimit-htable-gcinterval", &ipt_t_u32, IPT_HASHLIMIT_HTABLE_GCINTERVAL, 0,
			OFF(gc_interval_ms)),
	IPT_OPT("hashlimit-htable-expire", &ipt_t_u32, IPT_HASHLIMIT_HTABLE_EXPIRE, 0,
			OFF(expire_ms)),
	IPT_OPT("hashlimit-srcmask", &ipt_t_prefix, IPT_HASHLIMIT_SRCMASK, 0, OFF(src_len)),
	IPT_OPT("hashlimit-dstmask", &ipt_t_prefix, IPT_HASHLIMIT_DSTMASK, 0, OFF(dst_len)),
	IPT_OPT("hashlimit-rate-match", &ipt_t_flag, IPT_HASHLIMIT_RATE_MATCH),
	IPT_OPT("hashlimit-rate-interval", &ipt_t_u32, IPT_HASHLIMIT_RATE_INTERVAL, 0,
			OFF(interval_s), 1),
	{ 0 },
};

const struct ipt_ext ipt_match_hashlimit = {
	.name = "hashlimit",
	.kind = IPT_M_HASHLIMIT,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_hashlimit),
	.opts = hashlimit_opts,
	.need = IPT_HASHLIMIT_NAME,
	.one_of = IPT_HASHLIMIT_UPTO | IPT_HASHLIMIT_ABOVE,
	.init = hashlimit_init,
	.finish = hashlimit_finish,
};
