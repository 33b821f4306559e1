/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/state.h"

#include "conntrack/claims.h"
#include "conntrack/hash.h"
#include "conntrack/nat.h"
#include "conntrack/table.h"
#include "lib/router.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION 1
/* what a file may say of an entry; the rest is of the memory that it had */
#define STATUS                                                                                 \
	(CT_EXPECTED | CT_SEEN_REPLY | CT_ASSURED | CT_CONFIRMED | CT_NAT_MASK | CT_SEQ_ADJUST \
			| CT_SRC_NAT_DONE | CT_DST_NAT_DONE | CT_FIXED_TIMEOUT | CT_HELPER     \
			| CT_COLD)

static const char magic[8] = "sluicect";

/* in this machine's byte order: the file is not for others */
struct header {
	char magic[8];
	uint32_t version;
	uint32_t entry_size, cold_size; /* structs are written as they lie in memory */
	uint32_t n_workers;
	uint64_t n;
	uint64_t wall_ns; /* when it was written, */
	uint32_t now_ms; /* and what the clock of entries said */
	uint32_t zero;
	uint64_t size; /* of all, bytes */
	uint64_t sum; /* of what follows, and of this with a sum of 0 */
};

struct record {
	struct ct_entry e;
	uint32_t worker;
	uint32_t master; /* number of its record, CT_NONE */
	/* struct ct_cold follows if CT_COLD is set */
};

static uint64_t add_sum(uint64_t sum, const void *data, size_t size)
{
	const uint8_t *b = data;
	uint64_t w;

	for (; size >= sizeof(w); b += sizeof(w), size -= sizeof(w)) {
		memcpy(&w, b, sizeof(w));
		sum = ct_fold(sum ^ w ^ 0x9e3779b97f4a7c15ULL, 0xd6e8feb86659fd93ULL) + w;
	}
	return sum;
}
static_assert(sizeof(struct record) % 8 == 0 && sizeof(struct ct_cold) % 8 == 0
				&& sizeof(struct header) % 8 == 0,
		"whole words");

/* ------------------------------------------------------------------------------------ to a file */

struct writer {
	FILE *f;
	struct header h;
	uint32_t *number[SL_WORKERS_MAX]; /* of an entry's record, by shard and place */
};

static bool is_kept(const struct ct_shard *s, const struct ct_entry *e)
{
	return (e->status & (CT_CONFIRMED | CT_DYING | CT_REPLY_ONLY | CT_REPLY_HELD))
			== CT_CONFIRMED
			&& !ct_is_expired(e, s->now_ms);
}

static int number_records(struct writer *w, const struct ct_table *t)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < t->n_shards; i++) {
		const struct ct_shard *s = t->shard[i];

		w->number[i] = calloc(s->high + 1, sizeof(*w->number[i]));
		if (w->number[i] == NULL)
			return -ENOMEM;
		for (uint32_t k = 0; k < s->high; k++)
			w->number[i][k] = is_kept(s, &s->entries[k]) ? n++ : CT_NONE;
	}
	w->h.n = n;
	return 0;
}

static uint32_t master_of(
		const struct writer *w, const struct ct_table *t, const struct ct_entry *e)
{
	const struct ct_shard *s;

	if (e->master_id == 0 || e->master_worker >= t->n_shards)
		return CT_NONE;
	s = t->shard[e->master_worker];
	if (e->master_at >= s->high || s->entries[e->master_at].id != e->master_id)
		return CT_NONE;
	return w->number[e->master_worker][e->master_at];
}

static bool put(struct writer *w, const void *data, size_t size)
{
	w->h.sum = add_sum(w->h.sum, data, size);
	w->h.size += size;
	return fwrite(data, size, 1, w->f) == 1;
}

static bool put_all(struct writer *w, const struct ct_table *t)
{
	uint64_t sum;

	if (fwrite(&w->h, sizeof(w->h), 1, w->f) != 1)
		return false;
	w->h.size = sizeof(w->h);
	for (unsigned int i = 0; i < t->n_shards; i++) {
		const struct ct_shard *s = t->shard[i];

		for (uint32_t k = 0; k < s->high; k++) {
			const struct ct_entry *e = &s->entries[k];
			struct record r = { .e = *e, .worker = i };

			if (w->number[i][k] == CT_NONE)
				continue;
			r.master = master_of(w, t, e);
			r.e.status &= STATUS;
			if (!put(w, &r, sizeof(r)))
				return false;
			if (e->status & CT_COLD && !put(w, ct_cold_peek(s, e), sizeof(*s->cold)))
				return false;
		}
	}
	/* now that sum and size are known */
	sum = w->h.sum;
	w->h.sum = 0;
	w->h.sum = add_sum(sum, &w->h, sizeof(w->h));
	return fseek(w->f, 0, SEEK_SET) == 0 && fwrite(&w->h, sizeof(w->h), 1, w->f) == 1
			&& fflush(w->f) == 0 && fsync(fileno(w->f)) == 0;
}

/* the clocks of workers that do not poll. Return: the wall clock */
static uint64_t set_clocks(const struct ct_table *t)
{
	for (unsigned int i = 0; i < t->n_shards; i++) {
		struct sl_worker *w = t->r->workers[i];

		if (!t->r->manual_clock)
			sl_worker_begin(w);
		t->shard[i]->now_ms = ct_now(w->now_ns);
	}
	return t->r->workers[0]->wall_ns;
}

int64_t ct_state_save(const struct ct_table *t, const char *path, char *err, size_t err_size)
{
	struct writer w = { .h = { .version = VERSION,
					    .entry_size = sizeof(struct ct_entry),
					    .cold_size = sizeof(struct ct_cold),
					    .n_workers = t->n_shards } };
	char tmp[PATH_MAX];
	int64_t ret = -ENAMETOOLONG;
	int fd;

	if (snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= (int)sizeof(tmp))
		goto out;
	memcpy(w.h.magic, magic, sizeof(magic));
	w.h.wall_ns = set_clocks(t);
	w.h.now_ms = t->shard[0]->now_ms;
	ret = number_records(&w, t);
	if (ret < 0)
		goto out_free;
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	w.f = fd < 0 ? NULL : fdopen(fd, "w");
	if (w.f == NULL) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		goto out_free;
	}
	ret = put_all(&w, t) ? (int64_t)w.h.n : -errno;
	if (fclose(w.f) != 0 && ret >= 0)
		ret = -errno;
	if (ret >= 0 && rename(tmp, path) < 0)
		ret = -errno;
	if (ret < 0)
		unlink(tmp);
out_free:
	for (unsigned int i = 0; i < t->n_shards; i++)
		free(w.number[i]);
out:
	if (ret < 0)
		snprintf(err, err_size, "%s: connections are not kept: %s", path,
				strerror((int)-ret));
	return ret;
}

/* ---------------------------------------------------------------------------------- from a file */

struct reader {
	const uint8_t *at, *end;
	const struct header *h;
	uint32_t shift_ms; /* from the clock of then to that of now */
	struct ct_ref *made; /* by number of the record */
};

/* the next record, copied to where it is aligned; NULL: there is none */
static const struct record *next(struct reader *r, struct record *to, const void **cold)
{
	size_t size = sizeof(*to);

	if ((size_t)(r->end - r->at) < size)
		return NULL;
	memcpy(to, r->at, size);
	*cold = to->e.status & CT_COLD ? r->at + size : NULL;
	size += *cold != NULL ? sizeof(struct ct_cold) : 0;
	if ((size_t)(r->end - r->at) < size)
		return NULL;
	r->at += size;
	return to;
}

static bool is_sane(const struct header *h, const struct record *r)
{
	const struct ct_entry *e = &r->e;
	struct ct_tuple answer;

	return (e->status & ~STATUS) == 0 && e->status & CT_CONFIRMED && r->worker < h->n_workers
			&& (r->master == CT_NONE || r->master < h->n)
			&& (e->orig.family == SL_AF_INET || e->orig.family == SL_AF_INET6)
			&& e->reply.family == e->orig.family && e->reply.proto == e->orig.proto
			&& ct_tuple_invert(&e->orig, &answer)
			&& (e->orig.proto != IPPROTO_TCP || e->tcp.state < CT_TCP_STATES);
}

/* Return: what is wrong with a file, NULL: nothing */
static const char *check(struct reader r, size_t size)
{
	const struct header *h = r.h;
	struct header blank;
	struct record record;
	const void *cold;
	uint64_t n = 0;

	if (size < sizeof(*h) || memcmp(h->magic, magic, sizeof(magic)) != 0)
		return "no connections of sluice's";
	if (h->version != VERSION || h->entry_size != sizeof(struct ct_entry)
			|| h->cold_size != sizeof(struct ct_cold))
		return "written by another version of sluice";
	if (h->size != size)
		return "cut short, or something follows";
	blank = *h;
	blank.sum = 0;
	if (add_sum(add_sum(0, h + 1, size - sizeof(*h)), &blank, sizeof(blank)) != h->sum)
		return "damaged: its sum is wrong";
	for (; next(&r, &record, &cold) != NULL; n++)
		if (!is_sane(h, &record))
			return "damaged: a connection that cannot be";
	return n != h->n || r.at != r.end ? "damaged: not as many connections as it says" : NULL;
}

static struct ct_shard *shard_of(
		const struct ct_table *t, const struct reader *r, const struct record *record)
{
	if (t->n_shards == r->h->n_workers)
		return t->shard[record->worker];
	return t->shard[ct_owner(t, &record->e.orig)];
}

/* what NAT keeps about a connection outside of it. Return: false: its replies are somebody's */
static bool join_nat(struct ct_shard *s, struct ct_entry *e)
{
	struct ct_table *t = s->table;

	if (s->sources != NULL && e->status & CT_SRC_NAT_DONE)
		ct_source_add(s, e);
	if ((e->status & CT_NAT_MASK) == 0 || !ct_claim_is_due(t, &e->reply, s->worker))
		return true;
	if (ct_claim(t, &e->reply, s->worker) < 0)
		return false;
	e->status |= CT_CLAIMED;
	return true;
}

/* Return: NULL: no place */
static struct ct_entry *make(struct ct_shard *s, const struct reader *r, const struct ct_entry *old,
		const void *cold)
{
	struct ct_entry *e = ct_create(s, &old->orig, &old->reply);

	if (e == NULL)
		return NULL;
	e->status |= old->status & ~(CT_CONFIRMED | CT_COLD);
	e->expires_ms = old->expires_ms + r->shift_ms;
	e->created_ms = old->created_ms + r->shift_ms;
	e->mark = old->mark;
	e->helper = old->helper;
	e->nat_port = old->nat_port;
	if (e->nat_port != 0)
		e->status |= CT_MASQUERADED;
	e->events_off = old->events_off;
	memcpy(e->proto_data, old->proto_data, sizeof(e->proto_data));
	if (cold != NULL)
		memcpy(ct_cold(s, e), cold, sizeof(*s->cold));
	if (!join_nat(s, e)) {
		ct_kill(s, e);
		return NULL;
	}
	ct_confirm(s, e);
	return e;
}

static void make_all(struct ct_table *t, struct reader r, struct ct_state_report *report)
{
	struct record record;
	const void *cold;
	struct ct_stats stats[SL_WORKERS_MAX];

	/* what is counted is packets' doing */
	for (unsigned int i = 0; i < t->n_shards; i++)
		stats[i] = t->shard[i]->stats;
	report->n = r.h->n;
	for (uint64_t i = 0; next(&r, &record, &cold) != NULL; i++) {
		struct ct_shard *s = shard_of(t, &r, &record);
		struct ct_entry *e;

		if ((int32_t)(record.e.expires_ms + r.shift_ms - s->now_ms) <= 0) {
			report->ended++;
			continue;
		}
		/* nobody is dropped early for what has been */
		e = ct_table_count(t) >= s->max || ct_is_used(s, &record.e.orig, NULL)
						|| ct_is_used(s, &record.e.reply, NULL)
				? NULL
				: make(s, &r, &record.e, cold);
		report->full += e == NULL;
		if (e == NULL)
			continue;
		r.made[i] = ct_ref(s, e);
		report->taken++;
		if (report->taken % SL_BURST == 0) /* turns go by, as if packets had made them */
			ct_tick(s, s->now_ms);
	}
	for (unsigned int i = 0; i < t->n_shards; i++)
		t->shard[i]->stats = stats[i];
}

static void link_masters(struct ct_table *t, struct reader r)
{
	struct record record;
	const void *cold;

	for (uint64_t i = 0; next(&r, &record, &cold) != NULL; i++) {
		const struct ct_ref *me = &r.made[i];
		const struct ct_ref *master = &r.made[record.master == CT_NONE ? i : record.master];
		struct ct_entry *e = &t->shard[me->worker]->entries[me->at];

		if (me->id == 0 || record.master == CT_NONE || master->id == 0)
			continue;
		e->master_id = master->id;
		e->master_at = master->at;
		e->master_worker = master->worker;
	}
}

static int load(struct ct_table *t, const uint8_t *map, size_t size, struct ct_state_report *report,
		const char **why)
{
	const struct header *h = (const void *)map;
	struct reader r = { .at = map + sizeof(*h), .end = map + size, .h = h };
	uint64_t wall_ns = set_clocks(t), rest_ns;

	*why = check(r, size);
	if (*why != NULL)
		return -EINVAL;
	/* a wall clock that was set back does not lengthen anything */
	rest_ns = wall_ns > h->wall_ns ? wall_ns - h->wall_ns : 0;
	if (rest_ns / 1000000 > INT32_MAX) { /* longer than any connection lives */
		*report = (struct ct_state_report){ .n = h->n, .ended = h->n };
		return 0;
	}
	r.shift_ms = t->shard[0]->now_ms - h->now_ms - (uint32_t)(rest_ns / 1000000);
	r.made = calloc(h->n + 1, sizeof(*r.made));
	if (r.made == NULL)
		return -ENOMEM;
	make_all(t, r, report);
	link_masters(t, r);
	free(r.made);
	return 0;
}

int ct_state_load(struct ct_table *t, const char *path, struct ct_state_report *report, char *err,
		size_t err_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;
	const char *why = NULL;
	struct stat st;
	void *map;

	*report = (struct ct_state_report){ 0 };
	if (fd < 0 || fstat(fd, &st) < 0) {
		ret = -errno;
		goto out;
	}
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(struct header)) {
		why = "no connections of sluice's";
		ret = -EINVAL;
		goto out;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		ret = -errno;
		goto out;
	}
	ret = load(t, map, (size_t)st.st_size, report, &why);
	munmap(map, (size_t)st.st_size);
out:
	if (ret < 0)
		snprintf(err, err_size, "%s: %s", path, why != NULL ? why : strerror(-ret));
	if (fd >= 0)
		close(fd);
	return ret;
}
