/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/set_priv.h"

#define BIT(part) (1U << (part))
/* an exception is a kind of its own, and ports of bitmap:port are without protocol */
#define EXCEPT (1U << 31)

const struct set_type *set_type(enum ipset_type type)
{
	static const struct set_type types[IPSET_TYPE_NB] = {
		[IPSET_BITMAP_IP] = { "bitmap:ip", { SET_IP }, 1, 0, true, BIT(SET_IP) },
		[IPSET_BITMAP_IP_MAC] = { "bitmap:ip,mac", { SET_IP, SET_MAC }, 2, 0, true,
				BIT(SET_IP) | BIT(SET_MAC) },
		[IPSET_BITMAP_PORT] = { "bitmap:port", { SET_PORT }, 1, 0, true, BIT(SET_PORT) },
		[IPSET_HASH_IP] = { "hash:ip", { SET_IP }, 1, 0, false, BIT(SET_IP) },
		[IPSET_HASH_IP_MAC] = { "hash:ip,mac", { SET_IP, SET_MAC }, 2, 0, false,
				BIT(SET_IP) | BIT(SET_MAC) },
		[IPSET_HASH_IP_MARK] = { "hash:ip,mark", { SET_IP, SET_MARK }, 2, 0, false,
				BIT(SET_IP) | BIT(SET_MARK) },
		[IPSET_HASH_IP_PORT] = { "hash:ip,port", { SET_IP, SET_PORT }, 2, 0, false,
				BIT(SET_IP) | BIT(SET_PORT) },
		[IPSET_HASH_IP_PORT_IP] = { "hash:ip,port,ip", { SET_IP, SET_PORT, SET_IP2 }, 3, 0,
				false, BIT(SET_IP) | BIT(SET_PORT) | BIT(SET_IP2) },
		[IPSET_HASH_IP_PORT_NET] = { "hash:ip,port,net", { SET_IP, SET_PORT, SET_NET2 }, 3,
				2, false, BIT(SET_IP) | BIT(SET_PORT) | BIT(SET_IP2) | EXCEPT },
		[IPSET_HASH_MAC] = { "hash:mac", { SET_MAC }, 1, 0, false, BIT(SET_MAC) },
		[IPSET_HASH_MARK] = { "hash:mark", { SET_MARK }, 1, 0, false, BIT(SET_MARK) },
		[IPSET_HASH_NET] = { "hash:net", { SET_NET }, 1, 1, false, BIT(SET_IP) | EXCEPT },
		[IPSET_HASH_NET_IFACE] = { "hash:net,iface", { SET_NET, SET_IFACE }, 2, 1, false,
				BIT(SET_IP) | BIT(SET_IFACE) | EXCEPT },
		[IPSET_HASH_NET_NET] = { "hash:net,net", { SET_NET, SET_NET2 }, 2, 3, false,
				BIT(SET_IP) | BIT(SET_IP2) | EXCEPT },
		[IPSET_HASH_NET_PORT] = { "hash:net,port", { SET_NET, SET_PORT }, 2, 1, false,
				BIT(SET_IP) | BIT(SET_PORT) | EXCEPT },
		[IPSET_HASH_NET_PORT_NET] = { "hash:net,port,net", { SET_NET, SET_PORT, SET_NET2 },
				3, 3, false, BIT(SET_IP) | BIT(SET_PORT) | BIT(SET_IP2) | EXCEPT },
		[IPSET_LIST_SET] = { "list:set", { SET_SET }, 1, 0, false, BIT(SET_SET) },
	};

	return &types[type];
}
