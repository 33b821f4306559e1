/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bucket of one key, in the kernel's arithmetic.
 *
 * Packets: 2^39 credits a jiffy; `10/s` costs 100000 * 137438953 a packet, which 25 jiffies bring.
 * Bytes: 2^24 credits a jiffy up to one second's; 16 bytes cost avg * 250 * 2^24 / 2^32, and a bucket
 * that runs empty is filled anew as often as the burst says. --hashlimit-rate-match counts what came
 * in an interval instead.
 *
 * Rules that share a table may disagree on which of these it is. The kernel reads the same bytes
 * either way, so what they find is defined, if of no use; hence the union.
 */
#pragma once

#include "classifier/hashlimit.h"
#include "classifier/jiffies.h"

#define HASHLIMIT_PER_JIFFY (1ULL << 39)
#define HASHLIMIT_BYTES_PER_JIFFY (1ULL << 24)
#define HASHLIMIT_BYTES_FULL (HASHLIMIT_BYTES_PER_JIFFY * IPT_HZ)
#define HASHLIMIT_SCALE 1000000ULL

struct hashlimit_rate {
	uint64_t prev; /* jiffy of the last change */
	union {
		struct {
			uint64_t credit;
			uint64_t credit_cap; /* bytes: how often it may be filled anew */
			uint64_t cost;
		};
		struct {
			uint32_t interval;
			uint32_t prev_window; /* the last interval was over the rate */
			uint64_t current_rate;
			uint64_t rate;
			uint64_t burst;
		};
	};
};

static inline uint64_t hashlimit_rate_of(const struct hashlimit_conf *c)
{
	if (!c->bytes)
		return c->avg == 0 ? 0 : HASHLIMIT_SCALE / c->avg;
	return ((uint32_t)c->avg == 0 ? UINT32_MAX - 1ULL : UINT32_MAX / (uint32_t)c->avg - 1ULL)
			<< 4;
}

static inline void hashlimit_rate_init(
		struct hashlimit_rate *r, const struct hashlimit_conf *c, uint64_t now)
{
	*r = (struct hashlimit_rate){ .prev = now };
	if (c->rate_match) {
		r->interval = c->interval_s;
		r->rate = hashlimit_rate_of(c);
		if (c->bytes)
			r->burst = c->burst != 0 ? c->burst * r->rate : r->rate;
		else
			r->burst = c->burst + r->rate;
	} else if (c->bytes) {
		r->credit = HASHLIMIT_BYTES_FULL;
		r->cost = hashlimit_byte_credits((uint32_t)c->avg);
		r->credit_cap = c->burst;
	} else {
		r->credit = hashlimit_credits(c->avg * c->burst);
		r->cost = hashlimit_credits(c->avg);
		r->credit_cap = r->credit;
	}
}

/* what the time since the last packet has brought */
static inline void hashlimit_rate_advance(
		struct hashlimit_rate *r, const struct hashlimit_conf *c, uint64_t now)
{
	uint64_t delta = now - r->prev, cap = r->credit_cap, was = r->credit;

	/* the clock of a worker may be behind that of another */
	if ((int64_t)delta <= 0)
		return;
	if (c->rate_match) {
		uint64_t interval = (uint64_t)r->interval * IPT_HZ;

		if (delta < interval)
			return;
		r->prev = now;
		r->prev_window = r->current_rate * interval > delta * r->rate;
		r->current_rate = 0;
		return;
	}
	r->prev = now;
	r->credit += delta * (c->bytes ? HASHLIMIT_BYTES_PER_JIFFY : HASHLIMIT_PER_JIFFY);
	if (c->bytes) {
		cap = HASHLIMIT_BYTES_FULL;
		if (was >= r->credit) /* overflow */
			r->credit = cap;
	}
	if (r->credit > cap)
		r->credit = cap;
}

static inline uint64_t hashlimit_byte_cost(struct hashlimit_rate *r, uint32_t bytes)
{
	uint64_t cost = ((bytes >> 4) + 1ULL) * r->cost;

	if (cost > HASHLIMIT_BYTES_FULL)
		cost = HASHLIMIT_BYTES_FULL;
	if (r->credit < cost && r->credit_cap > 0) {
		r->credit_cap--;
		r->credit = HASHLIMIT_BYTES_FULL;
	}
	return cost;
}

/* Return: whether the packet is within the rate */
static inline bool hashlimit_rate_take(
		struct hashlimit_rate *r, uint32_t bytes, bool by_bytes, bool rate_match)
{
	uint64_t cost;

	if (rate_match) {
		r->current_rate += by_bytes ? bytes : 1;
		return r->prev_window == 0 && r->current_rate <= r->burst;
	}
	cost = by_bytes ? hashlimit_byte_cost(r, bytes) : r->cost;
	if (r->credit < cost)
		return false;
	r->credit -= cost;
	return true;
}
