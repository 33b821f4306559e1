/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of engines, and the choice among them. */
#include "classifier/classifier.h"

#include <string.h>

const struct sl_cls_ops *const sl_cls_engines[] = {
	&sl_cls_linear,
	NULL,
};

const struct sl_cls_ops *sl_cls_find(const char *name)
{
	for (unsigned int i = 0; sl_cls_engines[i] != NULL; i++)
		if (strcmp(sl_cls_engines[i]->name, name) == 0)
			return sl_cls_engines[i];
	return NULL;
}
