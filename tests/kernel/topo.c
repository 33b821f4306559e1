/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo.h"

#include <errno.h>
#include <string.h>

static const struct lab_port ports[] = {
	{ "pa", "02:00:00:00:00:01", "10.0.1.1/24 10.0.11.1/24 fd01::1/64", "10.0.1.1", 9000 },
	{ "pb", "02:00:00:00:00:02", "10.0.2.1/24 fd02::1/64", "10.0.2.1", 9000 },
	{ "pc", "02:00:00:00:00:03", "10.0.3.1/24 fd03::1/64", "10.0.3.1", 1284 },
	{ "pd", "02:00:00:00:00:04", "10.0.4.1/24", "10.0.4.1", 134 },
	{ 0 },
};

/* hosts that are named, and behind them as many as redirects need: see topo.h */
#define CROWD TOPO_CROWD
static struct lab_neigh neighs[13 + 4 * CROWD + 1] = {
	{ "10.0.1.2", "02:00:00:00:01:02", "pa" },
	{ "10.0.1.3", "02:00:00:00:01:03", "pa" },
	{ "10.0.11.2", "02:00:00:00:01:02", "pa" },
	{ "10.0.2.2", "02:00:00:00:02:02", "pb" },
	{ "10.0.3.2", "02:00:00:00:03:02", "pc" },
	{ "10.0.4.2", "02:00:00:00:04:02", "pd" },
	{ "fd01::2", "02:00:00:00:01:02", "pa" },
	{ "fd01::3", "02:00:00:00:01:03", "pa" },
	{ "fe80::102", "02:00:00:00:01:02", "pa" },
	{ "fd02::2", "02:00:00:00:02:02", "pb" },
	{ "fe80::202", "02:00:00:00:02:02", "pb" },
	{ "fd03::2", "02:00:00:00:03:02", "pc" },
	{ "fe80::302", "02:00:00:00:03:02", "pc" },
};
static char crowd_ip[4 * CROWD][16];

static const struct lab_route routes[] = {
	{ "192.0.2.0/24", "10.0.1.2", NULL },
	{ "192.0.3.0/24", "10.0.1.3", NULL },
	{ "10.64.0.0/10", "10.0.1.2", NULL },
	{ "198.18.0.0/15", "10.0.2.2", NULL },
	{ "198.51.100.0/24", "10.0.3.2", NULL },
	{ "203.0.113.0/24", "10.0.4.2", NULL },
	{ "240.0.0.0/5", "10.0.2.2", NULL },
	{ "0.1.0.0/16", "10.0.2.2", NULL },
	{ "172.16.1.0/24", NULL, "unreachable" },
	{ "172.16.2.0/24", NULL, "prohibit" },
	{ "172.16.3.0/24", NULL, "blackhole" },
	{ "172.16.4.0/24", NULL, "throw" },
	{ "2001:db8:a::/48", "fd01::2", NULL },
	{ "2001:db8:a3::/48", "fd01::3", NULL },
	{ "2001:db8:b::/48", "fd02::2", NULL },
	{ "2001:db8:c::/48", "fd03::2", NULL },
	{ "::ffff:198.18.0.0/112", "fd02::2", NULL },
	{ "2001:db8:1::/48", NULL, "unreachable" },
	{ "2001:db8:2::/48", NULL, "prohibit" },
	{ "2001:db8:3::/48", NULL, "blackhole" },
	{ "2001:db8:4::/48", NULL, "throw" },
	{ 0 },
};

/* what is compared is which error is sent; how many may be sent is another test's question */
#define SYSCTLS_MAX 16
static const char *sysctls[SYSCTLS_MAX + 1] = {
	"net.ipv4.icmp_ratelimit=0",
	"net.ipv4.icmp_msgs_per_sec=1000000",
	"net.ipv4.icmp_msgs_burst=1000000",
	"net.ipv6.icmp.ratelimit=0",
};

/* what only the kernel has: the flow label of its own packets would be a hash with a secret */
static const char *const kernel_sysctls[] = {
	"net.ipv6.auto_flowlabels=0",
	NULL,
};

const struct lab_spec topo_spec = {
	.ports = ports,
	.neighs = neighs,
	.routes = routes,
	.sysctls = sysctls,
	.more_sysctls = kernel_sysctls,
};

int topo_add_sysctl(const char *setting)
{
	unsigned int n = 0;

	while (sysctls[n] != NULL)
		n++;
	if (n == SYSCTLS_MAX || strchr(setting, '=') == NULL)
		return -EINVAL;
	sysctls[n] = setting;
	return 0;
}

void topo_init(void)
{
	static const char *const prefix[] = { "10.0.1.", "10.0.11.", "fe80::1:", "fd01::1:" };
	struct lab_neigh *n = neighs;
	unsigned int at = 0;

	while (n->ip != NULL)
		n++;
	for (unsigned int f = 0; at < 4 * CROWD; f++) {
		for (unsigned int i = 0; i < CROWD; i++, at++, n++) {
			snprintf(crowd_ip[at], sizeof(crowd_ip[at]), f < 2 ? "%s%u" : "%s%x",
					prefix[f], TOPO_CROWD_FIRST + i);
			*n = (struct lab_neigh){ crowd_ip[at], "02:00:00:00:01:04", "pa" };
		}
	}
}

void topo_router_mac(unsigned int port, uint8_t mac[6])
{
	memcpy(mac, (const uint8_t[6]){ 2, 0, 0, 0, 0, (uint8_t)(port + 1) }, 6);
}

void topo_host_mac(unsigned int port, unsigned int host, uint8_t mac[6])
{
	memcpy(mac, (const uint8_t[6]){ 2, 0, 0, 0, (uint8_t)(port + 1), (uint8_t)host }, 6);
}

static void write_addresses(FILE *f, const char *blanks)
{
	const char *sep = "";

	while (*blanks != '\0') {
		size_t len = strcspn(blanks, " ");

		fprintf(f, "%s\"%.*s\"", sep, (int)len, blanks);
		blanks += len + strspn(blanks + len, " ");
		sep = ", ";
	}
}

void topo_write_config_defaults(FILE *f)
{
	fprintf(f, "ports:\n");
	for (const struct lab_port *p = ports; p->name != NULL; p++) {
		/* replay opens no device, but a port has one */
		fprintf(f, "  - {name: %s, device: net_null_%s, mac: \"%s\", mtu: %u, addresses: [",
				p->name, p->name, p->mac, p->mtu);
		write_addresses(f, p->addresses);
		fprintf(f, "]}\n");
	}
	fprintf(f, "neighbours:\n");
	for (const struct lab_neigh *n = neighs; n->ip != NULL; n++)
		fprintf(f, "  - {ip: \"%s\", mac: \"%s\", port: %s}\n", n->ip, n->mac, n->port);
	fprintf(f, "routes:\n");
	for (const struct lab_route *r = routes; r->to != NULL; r++) {
		if (r->type != NULL)
			fprintf(f, "  - {to: \"%s\", type: %s}\n", r->to, r->type);
		else
			fprintf(f, "  - {to: \"%s\", via: \"%s\"}\n", r->to, r->via);
	}
}

void topo_write_sysctls(FILE *f)
{
	fprintf(f, "sysctl:\n");
	for (const char *const *s = sysctls; *s != NULL; s++)
		fprintf(f, "  %.*s: %s\n", (int)strcspn(*s, "="), *s, strchr(*s, '=') + 1);
}

void topo_write_config(FILE *f)
{
	topo_write_config_defaults(f);
	topo_write_sysctls(f);
}
