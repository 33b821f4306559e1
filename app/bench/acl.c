/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/acl.h"

#include "app/bench/stats.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>

#define SEED 0x736c75696365ULL
#define NETWORKS 64 /* of 16 bits: rules of one box share a few */
#define TRIES 64 /* for an address that a router takes */

enum ports {
	PORTS_ANY,
	PORTS_HIGH,
	PORTS_RANGE,
	PORTS_ONE,
	PORTS_NB,
};

/* how often, in percent, each adds up to 100 */
struct shape {
	uint8_t src_len[5], dst_len[5]; /* of lens[] */
	uint8_t sport[PORTS_NB], dport[PORTS_NB];
	uint8_t proto[3]; /* any, TCP, UDP */
};

static const uint8_t lens[] = { 0, 16, 24, 28, 32 };

/* after the tables of ClassBench's paper: which fields are exact, and which are open */
static const struct shape shapes[ACL_KIND_NB] = {
	[ACL_ACL] = {
		.src_len = { 4, 6, 25, 15, 50 },
		.dst_len = { 0, 5, 20, 10, 65 },
		.sport = { 98, 0, 0, 2 },
		.dport = { 15, 5, 20, 60 },
		.proto = { 5, 75, 20 },
	},
	[ACL_FW] = {
		.src_len = { 25, 10, 20, 15, 30 },
		.dst_len = { 20, 10, 15, 15, 40 },
		.sport = { 55, 15, 5, 25 },
		.dport = { 35, 15, 10, 40 },
		.proto = { 10, 55, 35 },
	},
	[ACL_IPC] = {
		.src_len = { 8, 12, 30, 10, 40 },
		.dst_len = { 8, 12, 25, 10, 45 },
		.sport = { 60, 10, 5, 25 },
		.dport = { 40, 10, 10, 40 },
		.proto = { 10, 60, 30 },
	},
};

static uint32_t below(uint64_t *seed, uint32_t n)
{
	return (uint32_t)(stats_draw(seed) >> 32) % n;
}

static unsigned int pick(uint64_t *seed, const uint8_t *percent, unsigned int n)
{
	unsigned int at = below(seed, 100), i = 0;

	while (i + 1 < n && at >= percent[i])
		at -= percent[i++];
	return i;
}

/* neither this network, nor loopback, nor multicast and above, nor where the router itself is */
static bool is_routable(uint32_t addr)
{
	uint32_t first = addr >> 24;

	return first != 0 && first != 10 && first != 127 && first < 224;
}

static uint32_t mask_of(uint8_t len)
{
	return len == 0 ? 0 : UINT32_MAX << (32 - len);
}

static uint32_t any_address(uint64_t *seed)
{
	uint32_t addr;

	do {
		addr = (uint32_t)stats_draw(seed);
	} while (!is_routable(addr));
	return addr;
}

static void choose_ports(uint64_t *seed, const uint8_t *percent, uint16_t range[2])
{
	static const uint16_t known[] = { 20, 21, 22, 23, 25, 53, 80, 110, 123, 143, 161, 389, 443,
		1433, 1521, 3306, 5060, 8080 };

	range[0] = 0;
	range[1] = UINT16_MAX;
	switch ((enum ports)pick(seed, percent, PORTS_NB)) {
	case PORTS_ANY:
	case PORTS_NB:
		break;
	case PORTS_HIGH:
		range[0] = 1024;
		break;
	case PORTS_RANGE:
		range[0] = (uint16_t)(1024 + below(seed, 30000));
		range[1] = (uint16_t)(range[0] + 1 + below(seed, 2000));
		break;
	case PORTS_ONE:
		range[0] = below(seed, 2) ? known[below(seed, sizeof(known) / sizeof(known[0]))]
					  : (uint16_t)(1 + below(seed, UINT16_MAX));
		range[1] = range[0];
		break;
	}
}

void acl_generate(enum acl_kind kind, struct acl *acl)
{
	static const uint8_t protos[] = { 0, IPPROTO_TCP, IPPROTO_UDP };
	const struct shape *s = &shapes[kind];
	uint64_t seed = SEED + kind;
	uint32_t networks[NETWORKS];

	for (unsigned int i = 0; i < NETWORKS; i++)
		networks[i] = any_address(&seed) & mask_of(16);
	for (uint32_t i = 0; i < acl->n; i++) {
		struct acl_rule *r = &acl->rules[i];

		*r = (struct acl_rule){ .sport = { 0, UINT16_MAX }, .dport = { 0, UINT16_MAX } };
		r->src_len = lens[pick(&seed, s->src_len, 5)];
		r->dst_len = lens[pick(&seed, s->dst_len, 5)];
		/* rules about everybody would take every packet */
		if (r->src_len == 0 && r->dst_len == 0)
			r->dst_len = 16;
		r->src = (networks[below(&seed, NETWORKS)] | below(&seed, 65536))
				& mask_of(r->src_len);
		r->dst = (networks[below(&seed, NETWORKS)] | below(&seed, 65536))
				& mask_of(r->dst_len);
		r->proto = protos[pick(&seed, s->proto, 3)];
		if (r->proto == 0)
			continue;
		choose_ports(&seed, s->sport, r->sport);
		choose_ports(&seed, s->dport, r->dport);
	}
}

static bool read_rule(const char *text, struct acl_rule *r)
{
	unsigned int s[5], d[5], sp[2], dp[2], proto, mask;
	int end = 0;

	if (sscanf(text, "@%u.%u.%u.%u/%u %u.%u.%u.%u/%u %u : %u %u : %u %x/%x%n", &s[0], &s[1],
			    &s[2], &s[3], &s[4], &d[0], &d[1], &d[2], &d[3], &d[4], &sp[0], &sp[1],
			    &dp[0], &dp[1], &proto, &mask, &end)
			< 16)
		return false;
	for (unsigned int i = 0; i < 4; i++)
		if (s[i] > 255 || d[i] > 255)
			return false;
	if (s[4] > 32 || d[4] > 32 || sp[0] > sp[1] || sp[1] > UINT16_MAX || dp[0] > dp[1]
			|| dp[1] > UINT16_MAX || proto > 255 || (mask != 0 && mask != 255))
		return false;
	*r = (struct acl_rule){
		.src_len = (uint8_t)s[4],
		.dst_len = (uint8_t)d[4],
		.proto = (uint8_t)(mask == 0 ? 0 : proto),
		.sport = { (uint16_t)sp[0], (uint16_t)sp[1] },
		.dport = { (uint16_t)dp[0], (uint16_t)dp[1] },
	};
	r->src = (s[0] << 24 | s[1] << 16 | s[2] << 8 | s[3]) & mask_of(r->src_len);
	r->dst = (d[0] << 24 | d[1] << 16 | d[2] << 8 | d[3]) & mask_of(r->dst_len);
	/* more columns may follow: ClassBench's flags */
	return text[end] == '\0' || text[end] == '\n' || text[end] == '\r' || text[end] == ' '
			|| text[end] == '\t';
}

int acl_read(FILE *in, struct acl *acl, unsigned int *line)
{
	struct acl_rule *grown;
	char text[256];

	acl->n = 0;
	acl->rules = NULL;
	for (*line = 1; fgets(text, sizeof(text), in) != NULL; ++*line) {
		if (text[0] == '\n' || text[0] == '#')
			continue;
		grown = realloc(acl->rules, (acl->n + 1) * sizeof(*grown));
		if (grown == NULL)
			goto err_no_memory;
		acl->rules = grown;
		if (!read_rule(text, &acl->rules[acl->n]))
			goto err_wrong;
		acl->n++;
	}
	if (acl->n > 0)
		return 0;

err_wrong:
	free(acl->rules);
	return -EINVAL;

err_no_memory:
	free(acl->rules);
	return -ENOMEM;
}

static void put_prefix(FILE *out, const char *option, uint32_t addr, uint8_t len)
{
	if (len > 0)
		fprintf(out, " %s %u.%u.%u.%u/%u", option, addr >> 24, addr >> 16 & 255,
				addr >> 8 & 255, addr & 255, len);
}

static bool is_any(const uint16_t range[2])
{
	return range[0] == 0 && range[1] == UINT16_MAX;
}

static void put_ports(FILE *out, const char *option, const uint16_t range[2])
{
	if (is_any(range))
		return;
	if (range[0] == range[1])
		fprintf(out, " --%s %u", option, range[0]);
	else
		fprintf(out, " --%s %u:%u", option, range[0], range[1]);
}

static void put_rule(FILE *out, const struct acl_rule *r, uint8_t proto)
{
	fputs("-A FORWARD", out);
	put_prefix(out, "-s", r->src, r->src_len);
	put_prefix(out, "-d", r->dst, r->dst_len);
	switch (proto) {
	case 0:
		break;
	case IPPROTO_TCP:
	case IPPROTO_UDP:
		fputs(proto == IPPROTO_TCP ? " -p tcp" : " -p udp", out);
		if (is_any(r->sport) && is_any(r->dport))
			break;
		fputs(proto == IPPROTO_TCP ? " -m tcp" : " -m udp", out);
		put_ports(out, "sport", r->sport);
		put_ports(out, "dport", r->dport);
		break;
	default:
		fprintf(out, " -p %u", proto);
		break;
	}
	fputs(" -j ACCEPT\n", out);
}

void acl_put(const struct acl *acl, FILE *out)
{
	for (uint32_t i = 0; i < acl->n; i++) {
		const struct acl_rule *r = &acl->rules[i];

		if (r->proto != 0 || (is_any(r->sport) && is_any(r->dport))) {
			put_rule(out, r, r->proto);
		} else {
			put_rule(out, r, IPPROTO_TCP);
			put_rule(out, r, IPPROTO_UDP);
		}
	}
}

static uint16_t port_in(uint64_t *seed, const uint16_t range[2])
{
	return (uint16_t)(range[0] + below(seed, (uint32_t)range[1] - range[0] + 1));
}

void acl_draw_any(uint32_t i, struct acl_flow *out)
{
	uint64_t seed = SEED ^ (uint64_t)i << 20;

	out->src = any_address(&seed);
	out->dst = any_address(&seed);
	out->sport = (uint16_t)(1 + below(&seed, UINT16_MAX));
	out->dport = (uint16_t)(1 + below(&seed, UINT16_MAX));
	out->proto = below(&seed, 2) ? IPPROTO_TCP : IPPROTO_UDP;
}

void acl_draw(const struct acl *acl, uint32_t i, struct acl_flow *out)
{
	uint64_t seed = SEED ^ (uint64_t)i << 20;

	/* where a rule's networks hold no such address: those of another one */
	for (unsigned int k = 0; k < TRIES; k++) {
		const struct acl_rule *r = &acl->rules[below(&seed, acl->n)];

		out->src = r->src | ((uint32_t)stats_draw(&seed) & ~mask_of(r->src_len));
		out->dst = r->dst | ((uint32_t)stats_draw(&seed) & ~mask_of(r->dst_len));
		out->sport = port_in(&seed, r->sport);
		out->dport = port_in(&seed, r->dport);
		/* packets have ports: those of any other protocol are not made */
		out->proto = r->proto != 0 ? r->proto : below(&seed, 2) ? IPPROTO_TCP : IPPROTO_UDP;
		if ((out->proto == IPPROTO_TCP || out->proto == IPPROTO_UDP)
				&& is_routable(out->src) && is_routable(out->dst))
			return;
	}
	acl_draw_any(i, out);
}
