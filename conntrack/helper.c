/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/helper.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	uint8_t proto;
	bool v6; /* also of IPv6 */
} helpers[CT_HELPER_NB] = {
	[CT_HELPER_FTP] = { "ftp", IPPROTO_TCP, true },
	[CT_HELPER_TFTP] = { "tftp", IPPROTO_UDP, true },
	[CT_HELPER_IRC] = { "irc", IPPROTO_TCP, false },
};

uint16_t ct_helper_find(const char *name, enum sl_family family, uint8_t proto)
{
	for (uint16_t i = CT_HELPER_NONE + 1; i < CT_HELPER_NB; i++)
		if (strcmp(helpers[i].name, name) == 0 && helpers[i].proto == proto
				&& (family == SL_AF_INET || helpers[i].v6))
			return i;
	return CT_HELPER_NONE;
}

const char *ct_helper_name(uint16_t helper)
{
	return helper < CT_HELPER_NB ? helpers[helper].name : NULL;
}
