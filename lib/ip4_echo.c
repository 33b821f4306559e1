/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of an answer: what the sender asked to be recorded goes on being recorded. */
#include "lib/ip4.h"
#include "lib/worker.h"

#include <netinet/ip.h>

#define FIRST sizeof(struct rte_ipv4_hdr)

/* one option of the answer; @at: where its head stands, from the start of the IP header */
static uint8_t *append(struct ip4_opts *echo, uint8_t *buf, const uint8_t *opt, uint8_t *at)
{
	uint8_t *to = buf + echo->len;

	memcpy(to, opt, opt[1]);
	*at = (uint8_t)(echo->len + FIRST);
	echo->len = (uint8_t)(echo->len + opt[1]);
	return to;
}

static bool echo_rr(
		const uint8_t *opt, const struct ip4_opts *o, uint8_t *buf, struct ip4_opts *echo)
{
	uint8_t *to = append(echo, buf, opt, &echo->rr);

	if (!o->rr_addr || opt[2] > opt[1])
		return true;
	if (opt[2] + 3 > opt[1])
		return false;
	to[2] = (uint8_t)(opt[2] + 4);
	echo->rr_addr = true;
	return true;
}

static bool wants_time(struct sl_worker *w, const uint8_t *opt, unsigned int at)
{
	struct sl_pkt p = { .family = SL_AF_INET, .in_port = SL_PORT_HOST };

	if (at + 7 > opt[1])
		return false;
	memcpy(&p.dst.v4, opt + at - 1, sizeof(p.dst.v4));
	return p.dst.v4 == 0 || ip4_classify(w, &p) != IP4_DST_OTHER;
}

static bool echo_ts(struct sl_worker *w, const uint8_t *opt, const struct ip4_opts *o, uint8_t *buf,
		struct ip4_opts *echo)
{
	uint8_t *to = append(echo, buf, opt, &echo->ts);
	unsigned int at = opt[2];

	if (at > opt[1])
		return true;
	if (o->ts_addr) {
		if (at + 3 > opt[1])
			return false;
		echo->ts_addr = true;
		at += 4;
	}
	if (o->ts_time) {
		if (at + 3 > opt[1])
			return false;
		if ((opt[3] & 0xf) != IPOPT_TS_PRESPEC) {
			echo->ts_time = true;
			at += 4;
		} else if (wants_time(w, opt, at)) {
			echo->ts_time = true;
			at += 8;
		}
	}
	to[2] = (uint8_t)at;
	return true;
}

/* the hops so far, last one first; the sender itself is no hop */
static void echo_srr(rte_be32_t src_be, const uint8_t *opt, const struct ip4_opts *o, uint8_t *buf,
		struct ip4_opts *echo)
{
	uint8_t *to = buf + echo->len;
	int from = RTE_MIN((int)opt[2], opt[1] + 1) - 4, len = 4;

	if (from <= 3)
		return;
	memcpy(&echo->first_hop, opt + from - 1, sizeof(echo->first_hop));
	for (from -= 4; from > 3; from -= 4, len += 4)
		memcpy(to + len - 1, opt + from - 1, 4);
	if (memcmp(&src_be, opt + from + 3, sizeof(src_be)) == 0)
		len -= 4;
	if (len <= 3)
		return;
	to[0] = opt[0];
	to[1] = (uint8_t)(len + 3);
	to[2] = 4;
	echo->srr = (uint8_t)(echo->len + FIRST);
	echo->strict = o->strict;
	echo->len = (uint8_t)(echo->len + to[1]);
}

bool ip4_options_echo(struct sl_worker *w, struct rte_mbuf *m, const struct ip4_opts *o,
		uint8_t *buf, struct ip4_opts *echo)
{
	const uint8_t *ip = (const uint8_t *)ip4_hdr(m);
	uint8_t cipso;

	memset(buf, IPOPT_EOL, IP4_OPT_MAX);
	*echo = (struct ip4_opts){ .len = 0 };
	if (o->rr != 0 && !echo_rr(ip + o->rr, o, buf, echo))
		return false;
	if (o->ts != 0 && !echo_ts(w, ip + o->ts, o, buf, echo))
		return false;
	if (o->srr != 0)
		echo_srr(sl_pkt(m)->src.v4, ip + o->srr, o, buf, echo);
	if (o->cipso != 0)
		append(echo, buf, ip + o->cipso, &cipso);
	echo->len = (uint8_t)RTE_ALIGN(echo->len, 4U);
	return true;
}
