/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of hop-by-hop headers (every packet, before routing) and of destination options headers
 * (packets for the router itself), as the kernel's ip6_parse_tlv() with its defaults: at most eight
 * options, at most seven bytes of padding in a row, padding of zeroes. No option changes what the
 * router does with a packet that passes, so nothing is kept of them.
 */
#include "lib/ip6.h"

#define OPTIONS_MAX 8
#define PADDING_MAX 7

/* option types; the two top bits say what one does who does not know it (RFC 8200 4.2) */
#define OPT_PAD1 0
#define OPT_PADN 1
#define OPT_ROUTER_ALERT 5
#define OPT_CALIPSO 7
#define OPT_IOAM 0x31
#define OPT_JUMBO 0xc2

enum verdict {
	VERDICT_OK,
	VERDICT_DROP,
	VERDICT_ANSWER, /* parameter problem at walk.pointer, then drop */
};

struct walk {
	const struct rte_mbuf *m;
	const uint8_t *ip; /* the packet; the whole options header is contiguous */
	const struct sl_pkt *p;
	uint32_t pointer; /* from the IPv6 header */
	uint8_t code; /* of the parameter problem */
};

static enum verdict answer(struct walk *walk, uint8_t code, uint32_t pointer)
{
	walk->code = code;
	walk->pointer = pointer;
	return VERDICT_ANSWER;
}

static enum verdict unknown(struct walk *walk, uint32_t off)
{
	switch (walk->ip[off] >> 6) {
	case 0:
		return VERDICT_OK;
	case 1:
		return VERDICT_DROP;
	case 3:
		if (ip6_is_multicast(&walk->p->dst))
			return VERDICT_DROP;
		break;
	}
	return answer(walk, ICMP6_PARAM_OPTION, off);
}

/* RFC 2675; a length that the frame could not hold is an error like any other */
static enum verdict jumbo(struct walk *walk, uint32_t off)
{
	const struct rte_ipv6_hdr *ip = (const void *)walk->ip;
	rte_be32_t len_be;
	uint32_t len;

	if (walk->ip[off + 1] != 4 || (off & 3) != 2)
		return VERDICT_DROP;
	memcpy(&len_be, &walk->ip[off + 2], sizeof(len_be));
	len = rte_be_to_cpu_32(len_be);
	if (len <= IP6_PLEN_MAX)
		return answer(walk, ICMP6_PARAM_FIELD, off + 2);
	if (ip->payload_len != 0)
		return answer(walk, ICMP6_PARAM_FIELD, off);
	return len > walk->m->pkt_len - walk->p->l3_off - IP6_HDR_LEN ? VERDICT_DROP : VERDICT_OK;
}

static enum verdict hop_option(struct walk *walk, uint32_t off)
{
	switch (walk->ip[off]) {
	case OPT_ROUTER_ALERT:
		return walk->ip[off + 1] == 2 ? VERDICT_OK : VERDICT_DROP;
	case OPT_CALIPSO:
		/* labels need a domain of interpretation, and there is none */
		return VERDICT_DROP;
	case OPT_IOAM:
		/* refused when misaligned, else ignored: ioam6_enabled is off */
		return (off & 3) == 0 ? VERDICT_OK : VERDICT_DROP;
	case OPT_JUMBO:
		return jumbo(walk, off);
	default:
		return unknown(walk, off);
	}
}

static bool all_zero(const uint8_t *b, uint32_t n)
{
	while (n > 0 && b[n - 1] == 0)
		n--;
	return n == 0;
}

static enum verdict walk_options(
		struct walk *walk, uint32_t off, uint32_t end, enum ip6_options kind)
{
	unsigned int options = 0, padding = 0;

	while (off < end) {
		const uint8_t *opt = walk->ip + off;
		enum verdict v;
		uint32_t len;

		if (opt[0] == OPT_PAD1) {
			if (++padding > PADDING_MAX)
				return VERDICT_DROP;
			off++;
			continue;
		}
		if (end - off < 2 || opt[1] + 2U > end - off)
			return VERDICT_DROP;
		len = opt[1] + 2U;
		if (opt[0] == OPT_PADN) {
			padding += len;
			if (padding > PADDING_MAX || !all_zero(opt + 2, len - 2))
				return VERDICT_DROP;
			off += len;
			continue;
		}
		if (++options > OPTIONS_MAX)
			return VERDICT_DROP;
		v = kind == IP6_OPTIONS_HOP ? hop_option(walk, off) : unknown(walk, off);
		if (v != VERDICT_OK)
			return v;
		padding = 0;
		off += len;
	}
	return VERDICT_OK;
}

bool ip6_options_rx(struct sl_worker *w, struct rte_mbuf *m, uint32_t off, enum ip6_options kind,
		uint32_t *len)
{
	struct walk walk = { .m = m, .p = sl_pkt(m) };
	uint32_t at = walk.p->l3_off + off, hdr_len;
	const uint8_t *frame = sl_pkt_pull(m, at + 8);
	enum verdict v = VERDICT_DROP;

	if (frame == NULL)
		goto out;
	hdr_len = (frame[at + 1] + 1U) * 8;
	frame = sl_pkt_pull(m, at + hdr_len);
	if (frame == NULL)
		goto out;
	walk.ip = frame + walk.p->l3_off;
	v = walk_options(&walk, off + 2, off + hdr_len, kind);
	if (v == VERDICT_OK) {
		*len = hdr_len;
		return true;
	}
	if (v == VERDICT_ANSWER)
		sl_icmp6_error(w, m, ICMP6_PARAM, walk.code, walk.pointer);
out:
	sl_drop(w, m, SL_DROP_IP6_EXTENSION);
	return false;
}
