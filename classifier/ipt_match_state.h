/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_state.h - matches with a memory or a clock: rates, counts, lists, sets, time */
#pragma once

#include "classifier/ipt_match.h"

enum {
	IPT_LIMIT_LIMIT = 1 << 0, /* always set */
	IPT_LIMIT_BURST = 1 << 1, /* always set */
};
struct ipt_m_limit {
	uint32_t avg; /* what one packet costs, in 1/10000 s */
	uint32_t burst;
};

enum {
	IPT_HASHLIMIT_UPTO = 1 << 0, /* one of the two is set; never inverted */
	IPT_HASHLIMIT_ABOVE = 1 << 1,
	IPT_HASHLIMIT_BURST = 1 << 2,
	IPT_HASHLIMIT_MODE = 1 << 3,
	IPT_HASHLIMIT_NAME = 1 << 4,
	IPT_HASHLIMIT_HTABLE_SIZE = 1 << 5,
	IPT_HASHLIMIT_HTABLE_MAX = 1 << 6,
	IPT_HASHLIMIT_HTABLE_GCINTERVAL = 1 << 7,
	IPT_HASHLIMIT_HTABLE_EXPIRE = 1 << 8,
	IPT_HASHLIMIT_SRCMASK = 1 << 9,
	IPT_HASHLIMIT_DSTMASK = 1 << 10,
	IPT_HASHLIMIT_RATE_MATCH = 1 << 11,
	IPT_HASHLIMIT_RATE_INTERVAL = 1 << 12,
};
/* bits of mode */
enum {
	IPT_HASHLIMIT_DSTIP = 1 << 0,
	IPT_HASHLIMIT_DSTPORT = 1 << 1,
	IPT_HASHLIMIT_SRCIP = 1 << 2,
	IPT_HASHLIMIT_SRCPORT = 1 << 3,
};
/* Every value is filled in, given or not, except where a remark says otherwise. */
struct ipt_m_hashlimit {
	bool bytes; /* a rate of bytes, else of packets */
	uint8_t mode;
	uint8_t src_len; /* prefix length */
	uint8_t dst_len;
	/* packets: what one costs, in 1/1000000 s, or of interval_s with --hashlimit-rate-match;
	 * bytes: what 16 bytes cost, out of 2^32-1 a second */
	uint64_t avg;
	uint64_t burst; /* packets; bytes: how often the bucket may be filled anew, 0 if not given */
	uint32_t rate; /* packets in a unit of time, as written */
	uint32_t size; /* 0: by memory, as the kernel */
	uint32_t max; /* 0: 8 a bucket, as the kernel */
	uint32_t gc_interval_ms;
	uint32_t expire_ms;
	uint32_t interval_s; /* of --hashlimit-rate-match, 0 without it */
	const char *name;
};

enum {
	IPT_QUOTA_QUOTA = 1 << 0,
};
struct ipt_m_quota {
	uint64_t bytes;
};

enum {
	IPT_STATISTIC_MODE = 1 << 0,
	IPT_STATISTIC_PROBABILITY = 1 << 1,
	IPT_STATISTIC_EVERY = 1 << 2,
	IPT_STATISTIC_PACKET = 1 << 3,
};
struct ipt_m_statistic {
	bool nth; /* else random */
	uint32_t probability; /* matches if a random number below 2^31 is below this; 2^31 = always */
	uint32_t every;
	uint32_t packet;
};

enum {
	IPT_RECENT_SET = 1 << 0, /* one of the first four is set */
	IPT_RECENT_RCHECK = 1 << 1,
	IPT_RECENT_UPDATE = 1 << 2,
	IPT_RECENT_REMOVE = 1 << 3,
	IPT_RECENT_SECONDS = 1 << 4,
	IPT_RECENT_REAP = 1 << 5,
	IPT_RECENT_HITCOUNT = 1 << 6,
	IPT_RECENT_RTTL = 1 << 7,
	IPT_RECENT_NAME = 1 << 8, /* always set */
	IPT_RECENT_MASK = 1 << 9, /* always set */
	IPT_RECENT_RSOURCE = 1 << 10, /* one of the two is set */
	IPT_RECENT_RDEST = 1 << 11,
};
struct ipt_m_recent {
	const char *name;
	struct ipt_addr mask;
	uint32_t seconds;
	uint32_t hitcount;
};

enum {
	IPT_TIME_TIMESTART = 1 << 0,
	IPT_TIME_TIMESTOP = 1 << 1,
	IPT_TIME_MONTHDAYS = 1 << 2,
	IPT_TIME_WEEKDAYS = 1 << 3,
	IPT_TIME_DATESTART = 1 << 4,
	IPT_TIME_DATESTOP = 1 << 5,
	IPT_TIME_KERNELTZ = 1 << 6,
	IPT_TIME_CONTIGUOUS = 1 << 7,
};
/* Every value is filled in; an inverted list of days is stored as its complement. */
struct ipt_m_time {
	uint32_t date_start_s; /* Unix time, both inclusive */
	uint32_t date_stop_s;
	uint32_t day_start_s; /* of the day; start above stop: over midnight */
	uint32_t day_stop_s;
	uint32_t monthdays; /* bit n: day n of the month, 1-31 */
	uint8_t weekdays; /* bit n: 1 Monday to 7 Sunday */
};

enum {
	IPT_SET_MATCH_SET = 1 << 0,
	IPT_SET_RETURN_NOMATCH = 1 << 1,
	IPT_SET_UPDATE_COUNTERS = 1 << 2, /* only as `! --update-counters`, as the next */
	IPT_SET_UPDATE_SUBCOUNTERS = 1 << 3,
	IPT_SET_PACKETS_EQ = 1 << 4,
	IPT_SET_PACKETS_LT = 1 << 5,
	IPT_SET_PACKETS_GT = 1 << 6,
	IPT_SET_BYTES_EQ = 1 << 7,
	IPT_SET_BYTES_LT = 1 << 8,
	IPT_SET_BYTES_GT = 1 << 9,
};
#define IPT_SET_DIM_MAX 6
/* a set and, for each of its dimensions, source or destination */
struct ipt_set_ref {
	const char *name;
	uint8_t n;
	uint8_t src; /* bit n: dimension n is the source */
};
struct ipt_m_set {
	struct ipt_set_ref ref;
	uint64_t packets;
	uint64_t bytes;
};
