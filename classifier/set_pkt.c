/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a set is asked for, from a packet. A packet that lacks a part (a later fragment its ports, one
 * of the router's own an input interface) is in no set that asks for it, as in the kernel.
 */
#include "classifier/ext.h"
#include "classifier/set_priv.h"
#include "lib/router.h"

#include <rte_ether.h>

#include <netinet/in.h>

/* bytes of transport header without which there are no ports; 0: a protocol without */
static const uint8_t header_bytes[256] = {
	[IPPROTO_ICMP] = 8,
	[IPPROTO_TCP] = 20,
	[IPPROTO_UDP] = 8,
	[IPPROTO_ICMPV6] = 8,
	[IPPROTO_SCTP] = 12,
	[IPPROTO_UDPLITE] = 8,
};

/* IPv4 knows the ports of a later fragment to be missing only of these */
static bool has_ports4(uint8_t proto)
{
	return header_bytes[proto] != 0 && proto != IPPROTO_ICMPV6;
}

static bool is_whole(const struct ipt_ctx *c)
{
	const struct sl_pkt *p = c->p;

	if (c->family == IPT_V4)
		return p->proto != 0;
	return (p->flags & (SL_PKT_L4 | SL_PKT_FRAG_LATER)) == SL_PKT_L4
			&& p->proto != IPPROTO_NONE;
}

static bool read_port(const struct ipt_ctx *c, bool src, union set_key *key)
{
	const struct sl_pkt *p = c->p;
	uint8_t need = header_bytes[p->proto], h[4];

	if (!is_whole(c))
		return false;
	key->proto = p->proto;
	key->port = 0;
	if (c->family == IPT_V4 && p->flags & SL_PKT_FRAG_LATER)
		return !has_ports4(p->proto);
	if (need == 0)
		return true;
	if (!(p->flags & SL_PKT_L4) || c->m->pkt_len < (uint32_t)p->l4_off + need
			|| !sl_pkt_copy(c->m, p->l4_off, sizeof(h), h))
		return false;
	if (p->proto == IPPROTO_ICMP || p->proto == IPPROTO_ICMPV6 || src)
		key->port = (uint16_t)(h[0] << 8 | h[1]);
	else
		key->port = (uint16_t)(h[2] << 8 | h[3]);
	return true;
}

static bool read_mac(const struct ipt_ctx *c, bool src, uint8_t mac[6])
{
	const struct rte_ether_hdr *eth = sl_pkt_at(c->m, 0, sizeof(*eth));

	/* the router's own packets have no link header yet */
	if (eth == NULL || c->p->flags & SL_PKT_ORIGIN)
		return false;
	memcpy(mac, src ? &eth->src_addr : &eth->dst_addr, RTE_ETHER_ADDR_LEN);
	return !rte_is_zero_ether_addr((const struct rte_ether_addr *)(const void *)mac);
}

static bool read_iface(const struct ipt_ctx *c, bool src, char *name)
{
	uint16_t port = src ? c->in : c->out;

	if (port == SL_PORT_NONE)
		return false;
	memcpy(name, c->w->r->ports[port].name, SL_PORT_NAME_MAX);
	return true;
}

static const struct sl_addr *addr_of(const struct ipt_ctx *c, bool src)
{
	return src ? &c->p->src : &c->p->dst;
}

static bool in_bitmap(const struct sl_set *s, const struct sl_addr *a)
{
	uint32_t ip = rte_be_to_cpu_32(a->v4);

	return !s->type->bitmap || (ip >= s->def.lo.w[0] && ip <= s->def.hi.w[0]);
}

static bool read_ip(const struct sl_set *s, const struct ipt_ctx *c, bool src, struct sl_addr *out)
{
	*out = *addr_of(c, src);
	if (!in_bitmap(s, out))
		return false;
	if (s->def.has_netmask)
		*out = set_mask_addr(s, out, s->def.netmask);
	return s->def.type != IPSET_HASH_IP || (out->q[0] | out->q[1]) != 0;
}

bool set_key_of_packet(const struct sl_set *s, const struct ipt_ctx *c,
		const struct sl_set_ask *ask, union set_key *key, uint8_t mac[6])
{
	uint8_t bits = s->def.family == IPT_V4 ? 32 : 128;
	bool ok = true;

	*key = (union set_key){ .q = { 0 } };
	for (unsigned int i = 0; ok && i < s->type->dim; i++) {
		bool src = (ask->src >> i & 1) != 0;

		switch ((enum set_part)s->type->parts[i]) {
		case SET_IP:
			ok = read_ip(s, c, src, &key->a);
			break;
		case SET_NET:
			key->a = *addr_of(c, src);
			key->len[0] = bits;
			break;
		case SET_IP2:
			key->b = *addr_of(c, src);
			break;
		case SET_NET2:
			key->b = *addr_of(c, src);
			key->len[1] = bits;
			break;
		case SET_PORT:
			ok = read_port(c, src, key);
			if (s->type->bitmap) {
				ok = ok && (key->proto == IPPROTO_TCP || key->proto == IPPROTO_UDP)
						&& key->port >= s->def.ports.lo
						&& key->port <= s->def.ports.hi;
				key->proto = 0;
			}
			break;
		case SET_MAC:
			ok = read_mac(c, src, s->type->bitmap ? mac : key->mac);
			break;
		case SET_IFACE:
			ok = read_iface(c, src, key->iface);
			break;
		case SET_MARK:
			key->mark = c->p->mark & s->def.markmask;
			break;
		case SET_SET:
		case SET_END:
			return false;
		}
	}
	return ok;
}
