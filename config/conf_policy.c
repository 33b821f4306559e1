/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/conf_parts.h"

#include <netdb.h>
#include <stdlib.h>

/* a rule in the making, and where what is judged at the end was written */
struct draft {
	struct sl_policy_conf *p;
	const yaml_node_t *tos, *suppress;
	unsigned int n_actions;
};

/* VALUE or VALUE/MASK, as ip rule takes it */
static bool policy_fwmark(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_policy_conf *p = ((struct draft *)object)->p;
	const char *expected = "a mark, as 0x64 or 0x64/0xff";
	const char *text = yaml_text(c, node, expected);
	unsigned long long mark, mask = UINT32_MAX;
	char *end;

	if (text == NULL)
		return false;
	mark = strtoull(text, &end, 0);
	if (*end == '/')
		mask = strtoull(end + 1, &end, 0);
	if (*end != '\0' || text[0] < '0' || text[0] > '9' || mark > UINT32_MAX || mask == 0
			|| mask > UINT32_MAX)
		return yaml_error(c, node, "found '%s', expected %s", text, expected);
	if (mark == 0 && strchr(text, '/') == NULL)
		return yaml_error(c, node,
				"found '%s', which is any mark to the kernel, expected 0/0xffffffff",
				text);
	p->fwmark = (uint32_t)mark;
	p->fwmask = (uint32_t)mask;
	return true;
}

static bool policy_from(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_prefix(c, node, &((struct draft *)object)->p->from);
}

static bool policy_to(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_prefix(c, node, &((struct draft *)object)->p->to);
}

static bool policy_iif(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(c, node, &((struct draft *)object)->p->iif, "the name of a port");
}

static bool policy_oif(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(c, node, &((struct draft *)object)->p->oif, "the name of a port");
}

static bool policy_family(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const char *const words[] = { "ipv4", "ipv6", NULL };
	int family;

	if (!yaml_word(c, node, words, &family))
		return false;
	((struct draft *)object)->p->family = family == 0 ? SL_AF_INET : SL_AF_INET6;
	return true;
}

static bool policy_not(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const char *const words[] = { "false", "true", NULL };
	int invert;

	if (!yaml_word(c, node, words, &invert))
		return false;
	((struct draft *)object)->p->invert = invert != 0;
	return true;
}

/* a number, or a name of /etc/protocols */
static bool policy_ipproto(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	const char *expected = "a protocol by name or a number from 1 to 255";
	const char *text = yaml_text(c, node, expected);
	const struct protoent *named;
	unsigned long number;
	char *end;

	if (text == NULL)
		return false;
	number = strtoul(text, &end, 0);
	if (*end != '\0') {
		named = getprotobyname(text);
		number = named == NULL ? 0 : (unsigned long)named->p_proto;
	}
	if (number == 0 || number > UINT8_MAX)
		return yaml_error(c, node, "found '%s', expected %s", text, expected);
	((struct draft *)object)->p->ipproto = (uint8_t)number;
	return true;
}

/* the kernel knows no port 0 here */
static bool policy_ports(struct yaml_ctx *c, const yaml_node_t *node, struct sl_policy_ports *ports)
{
	const char *expected = "a port, or two as 1000-2000, from 1 to 65534";
	const char *text = yaml_text(c, node, expected);
	unsigned long min, max;
	char *end;

	if (text == NULL)
		return false;
	min = strtoul(text, &end, 0);
	max = min;
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		max = strtoul(end + 1, &end, 0);
	if (*end != '\0' || text[0] < '0' || text[0] > '9' || min == 0 || max < min
			|| max >= UINT16_MAX)
		return yaml_error(c, node, "found '%s', expected %s", text, expected);
	*ports = (struct sl_policy_ports){ (uint16_t)min, (uint16_t)max };
	return true;
}

static bool policy_sport(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return policy_ports(c, node, &((struct draft *)object)->p->sport);
}

static bool policy_dport(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return policy_ports(c, node, &((struct draft *)object)->p->dport);
}

static bool policy_tos(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct draft *d = object;
	uint64_t tos;

	if (!yaml_uint(c, node, 1, UINT8_MAX, &tos))
		return false;
	if ((tos & 3) != 0)
		return yaml_error(c, node, "found a TOS of 0x%x, expected one without bits of ECN",
				(unsigned int)tos);
	d->p->tos = (uint8_t)tos;
	d->tos = node;
	return true;
}

static bool policy_table(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct draft *d = object;
	uint64_t table;

	if (!yaml_uint(c, node, 1, UINT32_MAX, &table))
		return false;
	d->p->table = (uint32_t)table;
	d->n_actions++;
	return true;
}

static bool policy_goto(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct draft *d = object;
	uint64_t target;

	if (!yaml_uint(c, node, 1, UINT32_MAX, &target))
		return false;
	d->p->type = SL_POLICY_GOTO;
	d->p->target = (uint32_t)target;
	d->n_actions++;
	return true;
}

static bool policy_type(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const char *const words[] = { "nop", "blackhole", "unreachable", "prohibit", NULL };
	struct draft *d = object;
	int type;

	if (!yaml_word(c, node, words, &type))
		return false;
	d->p->type = (uint8_t)(SL_POLICY_NOP + type);
	d->n_actions++;
	return true;
}

static bool policy_suppress(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct draft *d = object;
	uint64_t len;

	if (!yaml_uint(c, node, 0, 128, &len))
		return false;
	d->p->min_len = (uint8_t)(len + 1);
	d->suppress = node;
	return true;
}

/* 0 is the local table's, as in the kernel */
static bool policy_priority(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t priority;

	if (!yaml_uint(c, node, 1, UINT32_MAX, &priority))
		return false;
	((struct draft *)object)->p->priority = (uint32_t)priority;
	return true;
}

static const struct yaml_key policy_keys[] = {
	{ "fwmark", policy_fwmark, false },
	{ "from", policy_from, false },
	{ "to", policy_to, false },
	{ "iif", policy_iif, false },
	{ "oif", policy_oif, false },
	{ "ipproto", policy_ipproto, false },
	{ "sport", policy_sport, false },
	{ "dport", policy_dport, false },
	{ "tos", policy_tos, false },
	{ "not", policy_not, false },
	{ "family", policy_family, false },
	{ "table", policy_table, false },
	{ "suppress_prefixlength", policy_suppress, false },
	{ "goto", policy_goto, false },
	{ "type", policy_type, false },
	{ "priority", policy_priority, false },
	{ NULL, NULL, false },
};

static uint8_t family_of(const struct sl_policy_conf *p)
{
	if (p->family != SL_AF_NONE)
		return p->family;
	return p->from.family != SL_AF_NONE ? p->from.family : p->to.family;
}

static bool settle(struct yaml_ctx *c, const yaml_node_t *item, const struct draft *d)
{
	const struct sl_policy_conf *p = d->p;
	uint8_t family = family_of(p);

	if ((p->from.family != SL_AF_NONE && p->from.family != family)
			|| (p->to.family != SL_AF_NONE && p->to.family != family))
		return yaml_error(c, item, "'from', 'to' or 'family' of different families");
	if (d->n_actions != 1)
		return yaml_error(c, item,
				"policy rule with %u of 'table', 'goto' and 'type', expected one",
				d->n_actions);
	if (d->suppress != NULL && p->type != SL_POLICY_TABLE)
		return yaml_error(c, d->suppress, "'suppress_prefixlength' without 'table'");
	/* as the kernel, which keeps the other bits for IPv6 */
	if (d->tos != NULL && family != SL_AF_INET6 && (p->tos & ~0x1c) != 0)
		return yaml_error(c, d->tos,
				"found a TOS of 0x%x, expected one of the bits 0x1c, or 'family: ipv6'",
				p->tos);
	return true;
}

bool conf_policy(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_conf *conf = object;
	size_t n;

	if (!yaml_seq(c, node, "policy rules", &n))
		return false;
	conf->policy = yaml_alloc(c, n, sizeof(*conf->policy));
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_item(c, node, i);
		struct sl_policy_conf *p = &conf->policy[i];
		struct draft d = { .p = p };

		p->at = yaml_mark(item);
		/* between local (0) and main (32766), in the order of the file */
		p->priority = 1000 + (uint32_t)i;
		if (!yaml_map(c, item, "policy rule", policy_keys, &d, NULL)
				|| !settle(c, item, &d))
			return false;
		conf->n_policy++;
	}
	return true;
}
