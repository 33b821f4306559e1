/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/conf.h"

#include <errno.h>
#include <string.h>

#define PREFIX "net.netfilter.nf_conntrack_"

struct ct_switch {
	const char *name;
	size_t offset; /* of a uint32_t in struct ct_conf */
	long def, min, max;
};

/* a time has to fit the entries' clock, which wraps after 49 days and is compared by difference */
#define TIME_MAX 2147483

static const struct ct_switch switches[] = {
#define X(field, name, def) { PREFIX name, offsetof(struct ct_conf, field), def, 0, TIME_MAX },
	CT_SYSCTL_TIMES(X)
#undef X
#define X(field, name, def, min, max) \
	{ PREFIX name, offsetof(struct ct_conf, field), def, min, max },
			CT_SYSCTL_SWITCHES(X)
#undef X
};

#define N_SWITCHES (sizeof(switches) / sizeof(switches[0]))

static void store(struct ct_conf *conf, const struct ct_switch *s, long value)
{
	uint32_t v = (uint32_t)value;

	memcpy((char *)conf + s->offset, &v, sizeof(v));
}

/* names with '/' for '.' are the same */
static int same_name(const char *a, const char *b)
{
	for (; *a != '\0' && *b != '\0'; a++, b++)
		if ((*a == '/' ? '.' : *a) != *b)
			return 0;
	return *a == *b;
}

static const struct ct_switch *find(const char *name)
{
	for (size_t i = 0; i < N_SWITCHES; i++)
		if (same_name(name, switches[i].name))
			return &switches[i];
	return NULL;
}

void ct_conf_init(struct ct_conf *conf)
{
	*conf = (struct ct_conf){ .max = 262144 };
	for (size_t i = 0; i < N_SWITCHES; i++)
		store(conf, &switches[i], switches[i].def);
}

int ct_sysctl_check(const char *name, long value, long *min, long *max)
{
	const struct ct_switch *s = find(name);

	if (s == NULL)
		return -ENOENT;
	*min = s->min;
	*max = s->max;
	return value < s->min || value > s->max ? -ERANGE : 0;
}

void ct_sysctl_store(struct ct_conf *conf, const char *name, long value)
{
	const struct ct_switch *s = find(name);

	if (s != NULL)
		store(conf, s, value);
}

const char *ct_sysctl_name(size_t i, long *def)
{
	if (i >= N_SWITCHES)
		return NULL;
	*def = switches[i].def;
	return switches[i].name;
}
