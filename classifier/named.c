/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/named.h"

#include "lib/router.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct names {
	struct named *first;
	bool detached; /* the router is gone: ends with its last one */
};

static const char key;

static struct names *names_of(const struct sl_router *r)
{
	return sl_router_attached(r, &key);
}

static void detach(void *ptr)
{
	struct names *names = ptr;

	names->detached = true;
	if (names->first == NULL)
		free(names);
}

static struct names *make_names(struct sl_router *r)
{
	struct names *names = names_of(r);

	if (names != NULL)
		return names;
	names = calloc(1, sizeof(*names));
	if (names != NULL && sl_router_attach(r, &key, names, detach) < 0) {
		free(names);
		return NULL;
	}
	return names;
}

struct named *named_next(const struct sl_router *r, enum named_kind kind, const struct named *n)
{
	struct names *names = names_of(r);
	struct named *at = n == NULL ? (names == NULL ? NULL : names->first) : n->next;

	while (at != NULL && at->kind != kind)
		at = at->next;
	return at;
}

struct named *named_find(
		const struct sl_router *r, enum named_kind kind, uint8_t family, const char *name)
{
	struct named *n = named_next(r, kind, NULL);

	while (n != NULL && (n->family != family || strcmp(n->name, name) != 0))
		n = named_next(r, kind, n);
	return n;
}

int named_add(struct sl_router *r, struct named *n)
{
	struct names *names = make_names(r);
	struct named **at;

	if (names == NULL)
		return -ENOMEM;
	for (at = &names->first; *at != NULL; at = &(*at)->next)
		;
	n->next = NULL;
	n->of = names;
	n->holders = 1;
	*at = n;
	return 0;
}

bool named_release(struct named *n)
{
	struct names *names = n->of;
	struct named **at;

	if (--n->holders > 0)
		return false;
	for (at = &names->first; *at != n; at = &(*at)->next)
		;
	*at = n->next;
	if (names->detached && names->first == NULL)
		free(names);
	return true;
}
