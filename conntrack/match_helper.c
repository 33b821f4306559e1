/* SPDX-License-Identifier: BSD-3-Clause */
/* helper: by which one the connection was expected, which is its master's. */
#include "conntrack/ext.h"
#include "conntrack/helper.h"

#include <string.h>

static bool helper_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_helper *m = match->data;
	const struct ct_entry *e = ct_of(c->p), *master;
	bool inv = (match->inv & IPT_HELPER_HELPER) != 0;
	const char *name;

	master = e == NULL ? NULL : ct_ext_master(c, e);
	name = master == NULL ? NULL : ct_helper_name(master->helper);
	if (name == NULL)
		return inv;
	/* a name that begins with the helper's is enough: ftp-2121 */
	return (m->name[0] == '\0' || strncmp(name, m->name, strlen(name)) == 0) != inv;
}

const struct ipt_match_ops ipt_match_helper_ops = {
	.kind = IPT_M_HELPER,
	.needs = IPT_NEEDS_CT,
	.match = helper_match,
};
