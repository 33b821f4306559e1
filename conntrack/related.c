/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/related.h"

#include "conntrack/proto_priv.h"
#include "lib/ip.h"

#include <rte_ip.h>

#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>

#define ICMP_HDR_LEN 8U
/* RFC 4861 4.5 and 4.6.3 */
#define REDIRECT_LEN 40U
#define OPT_REDIRECTED_HEADER 4
#define OPT_HDR_LEN 8U

struct ct_found ct_find_zoned(
		struct ct_shard *s, struct ct_tuple *t, const uint16_t zone[CT_DIR_NB])
{
	struct ct_found f;

	t->zone = zone[CT_ORIGINAL];
	if (likely(zone[CT_ORIGINAL] == zone[CT_REPLY]))
		return ct_find(s, t);
	f = ct_find_dir(s, t, CT_ORIGINAL);
	if (f.e != NULL)
		return f;
	t->zone = zone[CT_REPLY];
	return ct_find_dir(s, t, CT_REPLY);
}

bool ct_is_error(uint8_t family, uint8_t type)
{
	if (family == SL_AF_INET6)
		return type < ICMP6_INFOMSG_MASK;
	return type == ICMP_DEST_UNREACH || type == ICMP_SOURCE_QUENCH || type == ICMP_REDIRECT
			|| type == ICMP_TIME_EXCEEDED || type == ICMP_PARAMETERPROB;
}

/* messages that come and go without an answer that could be told to be theirs */
static bool is_untracked6(uint8_t type)
{
	switch (type) {
	case MLD_LISTENER_QUERY:
	case MLD_LISTENER_REPORT:
	case MLD_LISTENER_REDUCTION:
	case ND_ROUTER_SOLICIT:
	case ND_ROUTER_ADVERT:
	case ND_NEIGHBOR_SOLICIT:
	case ND_NEIGHBOR_ADVERT:
	case 143: /* MLDv2 report */
	case 151: /* multicast router advertisement and solicitation, RFC 4286 */
	case 152:
		return true;
	default:
		return false;
	}
}

/* a packet that quotes another at @off belongs to that one's connection; @is_early: it was made before
 * the other one had passed all rules */
static enum ct_icmp quotes(
		struct ct_pkt *c, uint32_t off, const uint16_t zone[CT_DIR_NB], bool is_early)
{
	struct ct_tuple quoted, answer;
	struct ct_found f;

	/* what the quoted packet's receiver would send is what the sender of the error stands for */
	if (!ct_tuple_quoted(c->m, off, 0, &quoted) || !ct_tuple_invert(&quoted, &answer))
		return CT_ICMP_INVALID;
	f = ct_find_zoned(c->s, &answer, zone);
	/* the kernel does not find a connection before its first packet has passed all rules */
	if (f.e == NULL || (f.e->status & CT_CONFIRMED) == 0 || (is_early && f.e->status & CT_FRESH)
			|| !sl_addr_eq(&c->p->dst, &ct_tuple_of(f.e, f.dir)->dst))
		return CT_ICMP_INVALID;
	c->p->ct = f.e;
	c->p->ct_info = f.dir == CT_REPLY ? SL_CT_RELATED_REPLY : SL_CT_RELATED;
	c->s->stats.icmp_error++;
	return CT_ICMP_RELATED;
}

static enum ct_icmp redirect6(struct ct_pkt *c, const uint16_t zone[CT_DIR_NB])
{
	const struct sl_pkt *p = c->p;
	uint32_t off = p->l4_off + REDIRECT_LEN;
	struct rte_ipv6_hdr ip;
	uint8_t opt[2];

	if (ct_l4_len(c) < REDIRECT_LEN) {
		ct_note(c, "short redirect");
		return CT_ICMP_INVALID;
	}
	if (!sl_pkt_copy(c->m, p->l3_off, sizeof(ip), &ip) || ip.hop_limits != 255
			|| p->src.b[0] != 0xfe || (p->src.b[1] & 0xc0) != 0x80)
		return CT_ICMP_INVALID;
	/* the kernel looks at the first options only as far as it must */
	while (sl_pkt_copy(c->m, off, sizeof(opt), opt) && opt[1] != 0) {
		if (opt[0] == OPT_REDIRECTED_HEADER)
			return quotes(c, off + OPT_HDR_LEN, zone, p->flags & SL_PKT_ORIGIN);
		off += opt[1] * 8U;
	}
	return CT_ICMP_INVALID;
}

enum ct_icmp ct_icmp_class(struct ct_pkt *c, const uint16_t zone[CT_DIR_NB])
{
	const struct sl_pkt *p = c->p;
	uint8_t type;

	if (!sl_pkt_copy(c->m, p->l4_off, sizeof(type), &type))
		return CT_ICMP_INVALID;
	if (p->family == SL_AF_INET)
		return ct_is_error(SL_AF_INET, type)
				? quotes(c, p->l4_off + ICMP_HDR_LEN, zone, false)
				: CT_ICMP_ORDINARY;
	if (is_untracked6(type))
		return CT_ICMP_UNTRACKED;
	if (type == ND_REDIRECT)
		return redirect6(c, zone);
	return ct_is_error(SL_AF_INET6, type) ? quotes(c, p->l4_off + ICMP_HDR_LEN, zone, false)
					      : CT_ICMP_ORDINARY;
}
