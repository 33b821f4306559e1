/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv4 options (RFC 791, RFC 1812 section 5.2.4), as the kernel treats them. A received packet is
 * checked once and gets what can be entered before the way out is known; forward enters the rest;
 * an answer carries record route and timestamp on, and the source route turned round.
 *
 * The header checksum follows only in ip4_options_forward(): an error that is sent before quotes
 * changed options under the old checksum, and so does the kernel's.
 *
 * Timestamp option in numbers: 68 12 5 1 + two slots of 8. The pointer 5 is the first byte behind
 * the four of its head, counted from 1. Address and time go there, the pointer becomes 13, which is
 * beyond the length 12: full. The next router adds 1 to the overflow nibble and changes nothing else.
 */
#include "lib/ip4.h"
#include "lib/worker.h"

#include <netinet/ip.h>

#define OPT_CIPSO 134
#define FIRST sizeof(struct rte_ipv4_hdr)

/* one run over the options of a header */
struct walk {
	struct sl_worker *w;
	struct rte_mbuf *m;
	struct ip4_opts *o;
	uint8_t *ip;
	rte_be32_t spec_dst; /* 0: not looked up yet */
};

rte_be32_t ip4_timestamp(const struct sl_worker *w)
{
	return rte_cpu_to_be_32((uint32_t)(w->wall_ns / 1000000 % 86400000));
}

static void enter_spec_dst(struct walk *k, uint8_t *slot)
{
	if (k->spec_dst == 0)
		k->spec_dst = ip4_spec_dst(k->w, sl_pkt(k->m));
	memcpy(slot, &k->spec_dst, sizeof(k->spec_dst));
	k->o->changed = true;
}

static void enter_time(struct walk *k, uint8_t *slot)
{
	rte_be32_t now = ip4_timestamp(k->w);

	memcpy(slot, &now, sizeof(now));
	k->o->changed = true;
}

/* local, broadcast or multicast: an address that a prespecified slot may wait for */
static bool is_ours(const struct sl_worker *w, const uint8_t *slot)
{
	struct sl_pkt p = { .family = SL_AF_INET, .in_port = SL_PORT_HOST };

	memcpy(&p.dst.v4, slot, sizeof(p.dst.v4));
	return p.dst.v4 == 0 || ip4_classify(w, &p) != IP4_DST_OTHER;
}

/* Each of these returns 0, or the offset of the wrong byte inside the option plus 1. */

static unsigned int compile_srr(struct walk *k, uint8_t *opt)
{
	if (opt[1] < 3)
		return 1 + 1;
	if (opt[2] < 4)
		return 2 + 1;
	if (k->o->srr != 0)
		return 0 + 1;
	k->o->strict = opt[0] == IPOPT_SSRR;
	k->o->srr = (uint8_t)(opt - k->ip);
	return 0;
}

static unsigned int compile_rr(struct walk *k, uint8_t *opt)
{
	if (k->o->rr != 0)
		return 0 + 1;
	if (opt[1] < 3)
		return 1 + 1;
	if (opt[2] < 4)
		return 2 + 1;
	if (opt[2] <= opt[1]) {
		if (opt[2] + 3 > opt[1])
			return 2 + 1;
		enter_spec_dst(k, opt + opt[2] - 1);
		opt[2] += 4;
		k->o->rr_addr = true;
	}
	k->o->rr = (uint8_t)(opt - k->ip);
	return 0;
}

/* a slot of a timestamp option that is not full */
static unsigned int compile_ts_slot(struct walk *k, uint8_t *opt)
{
	struct ip4_opts *o = k->o;
	uint8_t *slot = opt + opt[2] - 1;

	switch (opt[3] & 0xf) {
	case IPOPT_TS_TSONLY:
		o->ts_time = true;
		enter_time(k, slot);
		opt[2] += 4;
		break;
	case IPOPT_TS_TSANDADDR:
		if (opt[2] + 7 > opt[1])
			return 2 + 1;
		o->ts_addr = true;
		o->ts_time = true;
		enter_spec_dst(k, slot);
		enter_time(k, slot + 4);
		opt[2] += 8;
		break;
	case IPOPT_TS_PRESPEC:
		if (opt[2] + 7 > opt[1])
			return 2 + 1;
		if (is_ours(k->w, slot)) {
			o->ts_time = true;
			enter_time(k, slot + 4);
			opt[2] += 8;
		}
		break;
	default:
		break;
	}
	return 0;
}

static unsigned int compile_ts(struct walk *k, uint8_t *opt)
{
	if (k->o->ts != 0)
		return 0 + 1;
	if (opt[1] < 4)
		return 1 + 1;
	if (opt[2] < 5)
		return 2 + 1;
	if (opt[2] <= opt[1]) {
		unsigned int wrong = opt[2] + 3 > opt[1] ? 2 + 1 : compile_ts_slot(k, opt);

		if (wrong != 0)
			return wrong;
	} else if ((opt[3] & 0xf) != IPOPT_TS_PRESPEC) {
		if (opt[3] >> 4 == 15)
			return 3 + 1;
		opt[3] += 1 << 4;
		k->o->changed = true;
	}
	k->o->ts = (uint8_t)(opt - k->ip);
	return 0;
}

static unsigned int compile_one(struct walk *k, uint8_t *opt)
{
	switch (opt[0]) {
	case IPOPT_SSRR:
	case IPOPT_LSRR:
		return compile_srr(k, opt);
	case IPOPT_RR:
		return compile_rr(k, opt);
	case IPOPT_TIMESTAMP:
		return compile_ts(k, opt);
	case IPOPT_RA:
		return opt[1] < 4 ? 1 + 1 : 0;
	case OPT_CIPSO:
		/* labels are only for who has configured their domain */
		k->o->cipso = (uint8_t)(opt - k->ip);
		return opt[1] < 8 ? 1 + 1 : 2 + 1;
	default:
		return 0;
	}
}

/* what follows the end of the list is zeroed */
static void clear_rest(struct walk *k, uint8_t *at, const uint8_t *end)
{
	for (; at < end; at++) {
		if (*at != IPOPT_EOL) {
			*at = IPOPT_EOL;
			k->o->changed = true;
		}
	}
}

unsigned int ip4_options_compile(struct sl_worker *w, struct rte_mbuf *m, struct ip4_opts *o)
{
	uint8_t *ip = (uint8_t *)ip4_hdr(m);
	struct walk k = { .w = w, .m = m, .o = o, .ip = ip };
	const uint8_t *end;

	*o = (struct ip4_opts){ .len = 0 };
	if (ip == NULL)
		return FIRST;
	end = ip + (ip[0] & 0xfU) * 4;
	o->len = (uint8_t)(end - ip - FIRST);
	for (uint8_t *opt = ip + FIRST; opt < end;) {
		unsigned int wrong;

		if (*opt == IPOPT_EOL) {
			clear_rest(&k, opt + 1, end);
			break;
		}
		if (*opt == IPOPT_NOP) {
			opt++;
			continue;
		}
		if (end - opt < 2 || opt[1] < 2 || opt[1] > end - opt)
			return (unsigned int)(opt - ip);
		wrong = compile_one(&k, opt);
		if (wrong != 0)
			return (unsigned int)(opt - ip) + wrong - 1;
		opt += opt[1];
	}
	return 0;
}

/* the next option behind NOPs, or NULL; the header has been checked before */
static uint8_t *next_option(uint8_t *opt, const uint8_t *end)
{
	while (opt < end && *opt == IPOPT_NOP)
		opt++;
	if (end - opt < 2 || *opt == IPOPT_EOL || opt[1] < 2 || opt[1] > end - opt)
		return NULL;
	return opt;
}

void ip4_options_recall(struct rte_mbuf *m, struct ip4_opts *o)
{
	uint32_t flags = sl_pkt(m)->flags;
	uint8_t *ip = (uint8_t *)ip4_hdr(m);
	const uint8_t *end;

	*o = (struct ip4_opts){ .changed = flags & SL_PKT_OPT_CHANGED };
	if (ip == NULL || !(flags & SL_PKT_OPTIONS))
		return;
	end = ip + (ip[0] & 0xfU) * 4;
	o->len = (uint8_t)(end - ip - FIRST);
	for (uint8_t *opt = next_option(ip + FIRST, end); opt != NULL;
			opt = next_option(opt + opt[1], end)) {
		uint8_t at = (uint8_t)(opt - ip);

		switch (opt[0]) {
		case IPOPT_SSRR:
		case IPOPT_LSRR:
			o->srr = at;
			o->strict = opt[0] == IPOPT_SSRR;
			o->hit = flags & SL_PKT_OPT_SR;
			break;
		case IPOPT_RR:
			o->rr = at;
			o->rr_addr = flags & SL_PKT_OPT_RR;
			break;
		case IPOPT_TIMESTAMP:
			o->ts = at;
			o->ts_addr = flags & SL_PKT_OPT_TS && (opt[3] & 0xf) == IPOPT_TS_TSANDADDR;
			o->ts_time = flags & SL_PKT_OPT_TS;
			break;
		default:
			break;
		}
	}
}

void ip4_options_forward(struct sl_worker *w, struct rte_mbuf *m)
{
	struct sl_pkt *p = sl_pkt(m);
	struct rte_ipv4_hdr *hdr = ip4_hdr(m);
	uint8_t *ip = (uint8_t *)hdr;
	struct ip4_opts o;
	rte_be32_t source;

	ip4_options_recall(m, &o);
	if (!o.rr_addr && !o.hit && !o.changed)
		return;
	source = ip4_source(w, p->nh, o.hit ? p->via.v4 : p->dst.v4);
	if (o.rr_addr)
		memcpy(ip + o.rr + ip[o.rr + 2] - 5, &source, sizeof(source));
	if (o.hit) {
		uint8_t *slot = sl_pkt_at(m, p->opt_off, sizeof(source));

		/* the hop becomes the destination, the router's address takes its place */
		if (slot != NULL) {
			memcpy(&hdr->dst_addr, slot, sizeof(hdr->dst_addr));
			memcpy(slot, &source, sizeof(source));
			ip[o.srr + 2] = (uint8_t)(slot - (ip + o.srr) + 1 + 4);
			p->dst.v4 = hdr->dst_addr;
		}
		if (o.ts_addr)
			memcpy(ip + o.ts + ip[o.ts + 2] - 9, &source, sizeof(source));
	}
	hdr->hdr_checksum = ip4_hdr_csum(hdr);
	/* what was entered is still asked for by the options of an error */
	p->flags &= ~SL_PKT_OPT_CHANGED;
}

void ip4_options_fragment(struct rte_ipv4_hdr *hdr)
{
	uint8_t *ip = (uint8_t *)hdr;
	const uint8_t *end = ip + ip4_hdr_len(hdr);

	for (uint8_t *opt = next_option(ip + FIRST, end), *next; opt != NULL; opt = next) {
		next = next_option(opt + opt[1], end);
		if (!IPOPT_COPIED(*opt))
			memset(opt, IPOPT_NOP, opt[1]);
	}
}
