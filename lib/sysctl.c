/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switches by name. The lists in the header become tables here; a value of a port that was not set
 * is kept as UNSET until the end, when "default" is known.
 */
#include "lib/sysctl.h"

#include <rte_common.h>

#include <errno.h>
#include <limits.h>

#define UNSET INT_MIN
#define NAME_MAX_BYTES 128

/* where all conf.* names begin */
#define CONF4 "net.ipv4.conf."
#define CONF6 "net.ipv6.conf."

struct global_def {
	const char *name;
	size_t offset; /* in struct sl_sysctl */
	long def, min, max;
};

struct port_def {
	const char *prefix;
	const char *name;
	size_t offset; /* in struct sl_sysctl_port */
	long def, min, max;
	enum sl_sysctl_combine combine;
};

static const struct global_def globals[] = {
#define X(field, name, def, min, max) { name, offsetof(struct sl_sysctl, field), def, min, max },
	SL_SYSCTL_GLOBAL(X)
#undef X
};

static const struct port_def ports[] = {
#define X(field, family, name, def, min, max, combine)                               \
	{ CONF##family, name, offsetof(struct sl_sysctl_port, field), def, min, max, \
		SL_SYSCTL_##combine },
	SL_SYSCTL_PORT(X)
#undef X
};

static int *global_at(struct sl_sysctl *s, const struct global_def *d)
{
	return (int *)(void *)((char *)s + d->offset);
}

static int *port_at(struct sl_sysctl_port *s, const struct port_def *d)
{
	return (int *)(void *)((char *)s + d->offset);
}

static int port_value(const struct sl_sysctl_port *s, const struct port_def *d)
{
	int v;

	memcpy(&v, (const char *)s + d->offset, sizeof(v));
	return v;
}

/* As sysctl(8): if the first separator is '/', then '/' separates and '.' is part of a name. */
static bool to_dots(const char *name, char *out)
{
	size_t n = strlen(name);
	size_t first = strcspn(name, "./");

	if (n >= NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i <= n; i++) {
		out[i] = name[i];
		if (name[first] == '/' && name[i] == '/')
			out[i] = '.';
		else if (name[i] == '.' && name[first] == '/')
			out[i] = '/';
	}
	return true;
}

static const struct global_def *find_global(const char *name)
{
	for (unsigned int i = 0; i < RTE_DIM(globals); i++) {
		if (strcmp(globals[i].name, name) == 0)
			return &globals[i];
	}
	return NULL;
}

/* "net.ipv4.conf.WHO.name"; a dot of WHO is written '/', as by sysctl(8), or stays a dot */
static const struct port_def *find_port(const char *name, char *who)
{
	const char *rest, *last = strrchr(name, '.');
	size_t prefix_len = sizeof(CONF4) - 1;
	size_t who_len;

	if (last == NULL || strlen(name) <= prefix_len || last < name + prefix_len)
		return NULL;
	rest = name + prefix_len;
	who_len = (size_t)(last - rest);
	if (who_len == 0 || who_len >= SL_PORT_NAME_MAX)
		return NULL;
	for (unsigned int i = 0; i < RTE_DIM(ports); i++) {
		if (strncmp(ports[i].prefix, name, prefix_len) != 0
				|| strcmp(ports[i].name, last + 1) != 0)
			continue;
		memcpy(who, rest, who_len);
		who[who_len] = '\0';
		for (char *c = who; *c != '\0'; c++) {
			if (*c == '/')
				*c = '.';
		}
		return &ports[i];
	}
	return NULL;
}

void sl_sysctl_init(struct sl_sysctl_set *set)
{
	for (unsigned int i = 0; i < RTE_DIM(globals); i++)
		*global_at(&set->global, &globals[i]) = (int)globals[i].def;
	for (unsigned int i = 0; i < RTE_DIM(ports); i++) {
		*port_at(&set->all, &ports[i]) = (int)ports[i].def;
		*port_at(&set->fresh, &ports[i]) = (int)ports[i].def;
		for (unsigned int p = 0; p < SL_PORTS_MAX; p++)
			*port_at(&set->port[p], &ports[i]) = UNSET;
	}
	/* the kernel's one default that differs: on for each port, but off for all */
	set->all.accept_source_route4 = 0;
}

int sl_sysctl_check(const char *name, long value, char *port, long *min, long *max)
{
	char dotted[NAME_MAX_BYTES], who[SL_PORT_NAME_MAX] = "";
	const struct global_def *g;
	const struct port_def *p;

	port[0] = '\0';
	if (!to_dots(name, dotted))
		return -ENOENT;
	g = find_global(dotted);
	p = find_port(dotted, who);
	if (g == NULL && p == NULL)
		return -ENOENT;
	if (p != NULL && strcmp(who, "all") != 0 && strcmp(who, "default") != 0)
		memcpy(port, who, sizeof(who));
	*min = g != NULL ? g->min : p->min;
	*max = g != NULL ? g->max : p->max;
	return value < *min || value > *max ? -ERANGE : 0;
}

/*
 * Forwarding is one switch for all that is written through to every port, in both families; a port
 * that is set later differs (inet_forward_change, addrconf_forward_change).
 */
static void store_forwarding(struct sl_sysctl_set *set, bool v4, int value)
{
	size_t n = v4 ? offsetof(struct sl_sysctl_port, forwarding4)
		      : offsetof(struct sl_sysctl_port, forwarding6);

	*(v4 ? &set->global.ip4_forward : &set->global.ip6_forward) = value;
	for (unsigned int i = 0; i < RTE_DIM(ports); i++) {
		if (ports[i].offset != n)
			continue;
		*port_at(&set->all, &ports[i]) = value;
		*port_at(&set->fresh, &ports[i]) = value;
		for (unsigned int p = 0; p < SL_PORTS_MAX; p++)
			*port_at(&set->port[p], &ports[i]) = value;
	}
}

int sl_sysctl_store(struct sl_sysctl_set *set, const char *name, long value, uint16_t port_id)
{
	char dotted[NAME_MAX_BYTES], who[SL_PORT_NAME_MAX] = "";
	const struct global_def *g;
	const struct port_def *p;

	if (!to_dots(name, dotted) || port_id >= SL_PORTS_MAX)
		return -ENOENT;
	g = find_global(dotted);
	p = find_port(dotted, who);
	if (g == NULL && p == NULL)
		return -ENOENT;
	if (strcmp(dotted, "net.ipv4.ip_forward") == 0
			|| strcmp(dotted, CONF4 "all.forwarding") == 0) {
		store_forwarding(set, true, (int)value);
		return 0;
	}
	if (strcmp(dotted, CONF6 "all.forwarding") == 0) {
		store_forwarding(set, false, (int)value);
		return 0;
	}
	if (g != NULL)
		*global_at(&set->global, g) = (int)value;
	if (p == NULL)
		return 0;
	if (strcmp(who, "all") == 0)
		*port_at(&set->all, p) = (int)value;
	else if (strcmp(who, "default") == 0)
		*port_at(&set->fresh, p) = (int)value;
	else
		*port_at(&set->port[port_id], p) = (int)value;
	return 0;
}

static int combine(enum sl_sysctl_combine how, int all, int own)
{
	switch (how) {
	case SL_SYSCTL_OWN:
		return own;
	case SL_SYSCTL_AND:
		return all != 0 && own != 0;
	case SL_SYSCTL_OR:
		return all != 0 || own != 0;
	case SL_SYSCTL_MAX:
		return RTE_MAX(all, own);
	case SL_SYSCTL_MIN:
		return RTE_MIN(all, own);
	}
	return own;
}

void sl_sysctl_combine(
		const struct sl_sysctl_set *set, uint16_t port_id, struct sl_sysctl_port *out)
{
	for (unsigned int i = 0; i < RTE_DIM(ports); i++) {
		int own = port_value(&set->port[port_id], &ports[i]);

		if (own == UNSET)
			own = port_value(&set->fresh, &ports[i]);
		*port_at(out, &ports[i]) =
				combine(ports[i].combine, port_value(&set->all, &ports[i]), own);
	}
}
