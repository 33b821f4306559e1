/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State that rules share by name, of all tables and, if it likes, of both families. It belongs to the
 * router: a reload whose rules name it again finds it as it was, with the parameters that it was made
 * with, as in the kernel. The last rule that lets go of it frees it.
 *
 * Context: control.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct names;
struct sl_router;

enum named_kind {
	NAMED_RECENT,
	NAMED_HASHLIMIT,
};

/* first member of what has a name */
struct named {
	struct named *next;
	struct names *of;
	enum named_kind kind;
	uint8_t family; /* enum ipt_family; that of all where families share it */
	uint32_t holders;
	char name[256];
};

/* Return: NULL if there is none */
struct named *named_find(
		const struct sl_router *r, enum named_kind kind, uint8_t family, const char *name);

/**
 * named_add() - a new one, which its caller holds
 *
 * kind, family and name are set. Return: 0, -ENOMEM.
 */
int named_add(struct sl_router *r, struct named *n);

/*
 * May come after the end of the router. Return: whether the caller was the last holder; it is out of
 * the list then, and the caller's.
 */
bool named_release(struct named *n);

/* the first one behind @n of its kind, NULL: the first one of all of @kind */
struct named *named_next(const struct sl_router *r, enum named_kind kind, const struct named *n);
