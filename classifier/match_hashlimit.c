/* SPDX-License-Identifier: BSD-3-Clause */
/* hashlimit: keys of packets, for the tables of hashlimit.c. */
#include "classifier/hashlimit_rate.h"
#include "classifier/match_ext.h"
#include "lib/ip6.h"
#include "lib/router.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SIZE_MIN 16U
#define SIZE_DEFAULT_MAX 8192U
#define PORTS (IPT_HASHLIMIT_SRCPORT | IPT_HASHLIMIT_DSTPORT)

uint64_t hashlimit_credits(uint64_t avg)
{
	return avg * (IPT_HZ * HASHLIMIT_PER_JIFFY / HASHLIMIT_SCALE);
}

uint32_t hashlimit_byte_credits(uint32_t avg)
{
	return (uint32_t)(avg * HASHLIMIT_BYTES_FULL >> 32);
}

static uint32_t jiffies_of(uint32_t ms)
{
	return (uint32_t)(((uint64_t)ms * IPT_HZ + 999) / 1000);
}

/* buckets that the kernel takes where none are given: one for each 16 kB of memory, in bytes of it */
static uint32_t default_size(void)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	if (bytes > 1ULL << 30)
		return SIZE_DEFAULT_MAX;
	return RTE_MAX((uint32_t)(bytes / 16384 / sizeof(void *)), SIZE_MIN);
}

static uint32_t max_entries(const struct ipt_m_hashlimit *m)
{
	uint32_t size = m->size == 0 ? default_size() : m->size;

	return m->max == 0 ? 8 * size : RTE_MAX(m->max, size);
}

static int check_rate(struct ipt_env *env, const struct ipt_match *match)
{
	const struct ipt_m_hashlimit *m = match->data;
	bool bad;

	if (match->set & IPT_HASHLIMIT_RATE_MATCH)
		bad = m->avg == 0 || m->avg > UINT32_MAX;
	else if (m->bytes)
		bad = hashlimit_byte_credits((uint32_t)m->avg) == 0;
	else
		bad = m->burst == 0
				|| hashlimit_credits(m->avg * m->burst) < hashlimit_credits(m->avg);
	if (!bad)
		return 0;
	snprintf(env->err, env->err_size, "hashlimit: this rate and burst overflow, try lower");
	return -ERANGE;
}

static int hashlimit_create(struct ipt_env *env, const struct ipt_match *match, void **state)
{
	const struct ipt_m_hashlimit *m = match->data;
	struct hashlimit_conf conf = {
		.avg = m->avg,
		.burst = m->burst,
		.max = max_entries(m),
		.expire_jiffies = jiffies_of(m->expire_ms),
		.gc_jiffies = jiffies_of(m->gc_interval_ms),
		.interval_s = m->interval_s,
		.mode = m->mode,
		.src_len = m->src_len,
		.dst_len = m->dst_len,
		.bytes = m->bytes,
		.rate_match = match->set & IPT_HASHLIMIT_RATE_MATCH,
	};
	struct hashlimit_table *t;
	int ret = check_rate(env, match);

	if (ret == 0)
		ret = hashlimit_hold(env->r, m->name, env->rs->family, &conf, &t);
	if (ret == -ENOMEM)
		snprintf(env->err, env->err_size,
				"hashlimit %s: no memory for %u entries, --hashlimit-htable-max may say less",
				m->name, conf.max);
	if (ret == 0)
		*state = t;
	return ret;
}

static void hashlimit_destroy(void *state)
{
	hashlimit_release(state);
}

static void cut4(struct sl_addr *out, const struct sl_addr *addr, unsigned int len)
{
	out->w[0] = len == 0 ? 0 : addr->w[0] & rte_cpu_to_be_32(UINT32_MAX << (32 - len));
}

static void cut6(struct sl_addr *out, const struct sl_addr *addr, unsigned int len)
{
	for (unsigned int i = 0; i<2; i++, len = len> 64 ? len - 64 : 0) {
		uint64_t mask = len >= 64 ? UINT64_MAX : len == 0 ? 0 : UINT64_MAX << (64 - len);

		out->q[i] = addr->q[i] & rte_cpu_to_be_64(mask);
	}
}

/* where a protocol has its ports, or the SPI that stands for them; -1: nowhere */
static int ports_at(uint8_t proto)
{
	if (ip6_has_ports(proto) || proto == IPPROTO_ESP)
		return 0;
	return proto == IPPROTO_AH ? 4 : -1;
}

/*
 * The transport header of an IPv6 packet, as the kernel's ipv6_skip_exthdr() finds it: a later fragment
 * ends at its fragment header. Return: false if there is none.
 */
static bool find_upper(const struct ipt_ctx *c, uint32_t *off, uint8_t *proto)
{
	uint8_t h[4];

	*off = c->p->l3_off + IP6_HDR_LEN;
	if (!sl_pkt_copy(c->m, c->p->l3_off + offsetof(struct rte_ipv6_hdr, proto), 1, proto))
		return false;
	while (ip6_is_extension(*proto)) {
		bool frag = *proto == IPPROTO_FRAGMENT;

		if (*proto == IPPROTO_NONE || !sl_pkt_copy(c->m, *off, frag ? 4 : 2, h))
			return false;
		if (frag && (h[2] != 0 || (h[3] & 0xf8) != 0))
			return true;
		if (frag)
			*off += IP6_FRAG_HDR_LEN;
		else
			*off += *proto == IPPROTO_AH ? (h[1] + 2U) * 4 : (h[1] + 1U) * 8;
		*proto = h[0];
	}
	return true;
}

static bool add_ports(const struct ipt_ctx *c, uint8_t mode, struct hashlimit_key *key)
{
	rte_be16_t ports[2] = { 0 };
	uint32_t off = c->thoff;
	uint8_t proto = c->p->proto;
	int at;

	if (c->family == IPT_V6 && !find_upper(c, &off, &proto))
		return false;
	at = ports_at(proto);
	if (at >= 0 && !sl_pkt_copy(c->m, off + (uint32_t)at, sizeof(ports), ports))
		return false;
	if (mode & IPT_HASHLIMIT_SRCPORT)
		key->sport_be = ports[0];
	if (mode & IPT_HASHLIMIT_DSTPORT)
		key->dport_be = ports[1];
	return true;
}

static bool make_key(const struct ipt_ctx *c, const struct hashlimit_conf *conf,
		struct hashlimit_key *key)
{
	void (*cut)(struct sl_addr *, const struct sl_addr *, unsigned int) =
			c->family == IPT_V4 ? cut4 : cut6;

	memset(key, 0, sizeof(*key));
	if (conf->mode & IPT_HASHLIMIT_SRCIP)
		cut(&key->src, &c->p->src, conf->src_len);
	if (conf->mode & IPT_HASHLIMIT_DSTIP)
		cut(&key->dst, &c->p->dst, conf->dst_len);
	return !(conf->mode & PORTS) || add_ports(c, conf->mode, key);
}

static bool hashlimit_match(struct ipt_ctx *c, const struct ipt_match *match, void *state)
{
	const struct ipt_m_hashlimit *m = match->data;
	struct hashlimit_table *t = state;
	enum hashlimit_answer answer = HASHLIMIT_FULL;
	struct hashlimit_key key;

	if (make_key(c, hashlimit_conf(t), &key))
		answer = hashlimit_take(t, &key, ipt_jiffies(c->w), c->m->pkt_len - c->p->l3_off,
				m->bytes, match->set & IPT_HASHLIMIT_RATE_MATCH);
	c->hotdrop |= answer == HASHLIMIT_FULL;
	if (answer == HASHLIMIT_FULL)
		return false;
	return (answer == HASHLIMIT_OVER) == !!(match->set & IPT_HASHLIMIT_ABOVE);
}

const struct ipt_match_ops ipt_match_hashlimit_ops = {
	.kind = IPT_M_HASHLIMIT,
	.stateful = true,
	.create = hashlimit_create,
	.destroy = hashlimit_destroy,
	.match = hashlimit_match,
};
