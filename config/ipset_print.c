/* SPDX-License-Identifier: BSD-3-Clause */
/* ipset_print.c - sets as `ipset save` prints them */
#include "config/ipset.h"
#include "config/ipt_ext.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>

static void print_create(FILE *f, const struct ipset *s)
{
	fprintf(f, "create %s %s", s->name, ipset_type_name(s->type));
	switch ((enum ipset_type)s->type) {
	case IPSET_BITMAP_IP:
	case IPSET_BITMAP_IP_MAC:
		fputs(" range ", f);
		ipt_print_addr(f, IPT_V4, &s->lo);
		fputc('-', f);
		ipt_print_addr(f, IPT_V4, &s->hi);
		break;
	case IPSET_BITMAP_PORT:
		fprintf(f, " range %u-%u", s->ports.lo, s->ports.hi);
		break;
	case IPSET_LIST_SET:
		fprintf(f, " size %u", s->maxelem);
		break;
	default:
		if (s->has_family)
			fprintf(f, " family %s", s->family == IPT_V4 ? "inet" : "inet6");
		if (s->markmask != UINT32_MAX)
			fprintf(f, " markmask 0x%08x", s->markmask);
		fprintf(f, " hashsize %u maxelem %u", s->hashsize, s->maxelem);
	}
	if (s->has_netmask)
		fprintf(f, " netmask %u", s->netmask);
	if (s->timeout)
		fprintf(f, " timeout %u", s->timeout_s);
	fprintf(f, "%s%s%s%s", s->counters ? " counters" : "", s->comment ? " comment" : "",
			s->skbinfo ? " skbinfo" : "", s->forceadd ? " forceadd" : "");
	if (s->bucketsize != 0)
		fprintf(f, " bucketsize %u initval 0x%08x", s->bucketsize, s->initval);
	fputc('\n', f);
}

static void print_net(FILE *f, const struct ipset *s, const struct ipt_addr *a, uint8_t len)
{
	ipt_print_addr(f, s->family, a);
	if (len != ipt_addr_bits(s->family))
		fprintf(f, "/%u", len);
}

static void print_port(FILE *f, const struct ipset *s, const struct ipset_key *k)
{
	const char *name = ipt_proto_name(k->proto);

	if (s->type == IPSET_BITMAP_PORT) {
		fprintf(f, "%u", k->port);
		return;
	}
	if (name != NULL)
		fprintf(f, "%s:", name);
	else
		fprintf(f, "%u:", k->proto);
	if (k->proto != IPPROTO_ICMP && k->proto != IPPROTO_ICMPV6) {
		fprintf(f, "%u", k->port);
		return;
	}
	name = ipt_icmp_name(k->proto == IPPROTO_ICMPV6, k->port >> 8, k->port & 0xff);
	if (name != NULL)
		fputs(name, f);
	else
		fprintf(f, "%u/%u", k->port >> 8, k->port & 0xff);
}

static void print_part(FILE *f, const struct ipset_file *file, const struct ipset *s,
		const struct ipset_member *m, enum ipset_part part)
{
	const struct ipset_key *k = &m->key;

	switch (part) {
	case IPSET_END:
		return;
	case IPSET_IP:
		ipt_print_addr(f, s->family, &k->addr);
		return;
	case IPSET_IP2:
		ipt_print_addr(f, s->family, &k->addr2);
		return;
	case IPSET_NET:
		/* with an interface, the length is always there for all addresses */
		print_net(f, s, &k->addr, k->len);
		return;
	case IPSET_NET2:
		print_net(f, s, &k->addr2, k->len2);
		return;
	case IPSET_PORT:
		print_port(f, s, k);
		return;
	case IPSET_MAC:
		fprintf(f, "%02X:%02X:%02X:%02X:%02X:%02X", k->mac[0], k->mac[1], k->mac[2],
				k->mac[3], k->mac[4], k->mac[5]);
		return;
	case IPSET_IFACE:
		fprintf(f, "%s%s", k->physdev ? "physdev:" : "", k->iface);
		return;
	case IPSET_MARK:
		fprintf(f, "0x%08x", k->mark);
		return;
	case IPSET_SET:
		fputs(file->sets[k->set].name, f);
		return;
	}
}

static void print_skb(FILE *f, const struct ipset_member *m)
{
	if (m->skb & IPSET_SKB_MARK) {
		fprintf(f, " skbmark 0x%x", m->skb_mark);
		if (m->skb_mask != UINT32_MAX)
			fprintf(f, "/0x%x", m->skb_mask);
	}
	if (m->skb & IPSET_SKB_PRIO)
		fprintf(f, " skbprio %x:%x", m->skb_prio >> 16, m->skb_prio & 0xffff);
	if (m->skb & IPSET_SKB_QUEUE)
		fprintf(f, " skbqueue %u", m->skb_queue);
}

static void print_member(FILE *f, const struct ipset_file *file, const struct ipset *s,
		const struct ipset_member *m)
{
	const enum ipset_part *part = ipset_parts(s->type);

	fprintf(f, "add %s ", s->name);
	for (int i = 0; part[i] != IPSET_END; i++) {
		if (part[i] == IPSET_MAC && !m->has_mac)
			continue;
		if (i > 0)
			fputc(',', f);
		print_part(f, file, s, m, part[i]);
	}
	if (m->wildcard)
		fputs(" wildcard", f);
	if (s->timeout)
		fprintf(f, " timeout %u", m->timeout_s);
	if (m->nomatch)
		fputs(" nomatch", f);
	if (s->counters)
		fprintf(f, " packets %" PRIu64 " bytes %" PRIu64, m->counters.packets,
				m->counters.bytes);
	if (m->comment != NULL)
		fprintf(f, " comment \"%s\"", m->comment);
	print_skb(f, m);
	fputc('\n', f);
}

int ipset_print_set(FILE *f, const struct ipset_file *file, const struct ipset *s)
{
	print_create(f, s);
	for (uint32_t k = 0; k < s->n_members; k++)
		print_member(f, file, s, &s->members[k]);
	return ferror(f) ? -EIO : 0;
}

int ipset_print(FILE *f, const struct ipset_file *file)
{
	for (uint32_t i = 0; i < file->n_sets; i++)
		ipset_print_set(f, file, &file->sets[i]);
	return fflush(f) == 0 && !ferror(f) ? 0 : -EIO;
}
