/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules that the trees did not take: a small linear set and a list of dead labels. */
#include "classifier/forest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void forest_overlay_free(struct forest_overlay *o)
{
	if (o->linear != NULL)
		sl_cls_linear.free(o->linear);
	free(o);
}

static int create(const struct forest *f, struct forest_overlay **overlay)
{
	struct sl_cls_rule rules[FOREST_OVERLAY_MAX];
	struct sl_cls_spec spec = { .family = f->cls.family, .rules = rules, .n = f->n_added };
	struct forest_overlay *o = calloc(1, sizeof(*o));
	int ret = 0;

	if (o == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n_added; i++)
		rules[i] = f->rules[f->added[i]];
	if (f->n_added > 0)
		ret = sl_cls_linear.build(&spec, &o->linear);
	if (ret < 0) {
		free(o);
		return ret;
	}
	o->n_dead = f->n_dead;
	memcpy(o->dead, f->dead, sizeof(o->dead));
	*overlay = o;
	return 0;
}

/* Makes what readers see out of f->added and f->dead. Return: 0, -ENOMEM, then nothing has changed. */
int forest_overlay_publish(struct forest *f)
{
	struct forest_overlay *new = NULL, *old = f->overlay;
	int ret;

	if (f->n_added > 0 || f->n_dead > 0) {
		ret = create(f, &new);
		if (ret < 0)
			return ret;
	}
	__atomic_store_n(&f->overlay, new, __ATOMIC_RELEASE);
	if (old != NULL)
		forest_retire(f, (struct forest_retired){ .overlay = old });
	return 0;
}
