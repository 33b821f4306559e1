/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * The router answers, and says nothing by itself. Routers send no solicitations; duplicate address
 * detection is off; reports of multicast membership cannot be switched off, so lab.c ignores them.
 */
static const char *const router_quiet[] = {
	"net.ipv6.conf.all.accept_dad=0",
	"net.ipv6.conf.default.accept_dad=0",
	"net.ipv6.conf.default.router_solicitations=0",
	"net.ipv6.conf.default.accept_ra=0",
	"net.ipv4.conf.all.rp_filter=0",
	"net.ipv4.conf.default.rp_filter=0",
	NULL,
};

/* once the ports are there: only then does a router join all groups of routers (ff05::2 too) */
static const char *const router_on[] = {
	"net.ipv4.ip_forward=1",
	"net.ipv6.conf.all.forwarding=1",
	NULL,
};

static const char *const wire_quiet[] = {
	"net.ipv4.conf.default.arp_ignore=8",
	"net.ipv6.conf.all.disable_ipv6=1",
	"net.ipv6.conf.default.disable_ipv6=1",
	NULL,
};

struct script {
	char *text;
	size_t size;
	FILE *f;
};

static int script_open(struct script *s)
{
	*s = (struct script){ 0 };
	s->f = open_memstream(&s->text, &s->size);
	return s->f == NULL ? -errno : 0;
}

static int script_run(struct script *s, struct lab *lab, enum lab_ns ns, const char *what)
{
	int ret;

	if (fclose(s->f) != 0)
		return -errno;
	ret = lab_feed(lab, ns, s->text, "ip -batch -");
	if (ret != 0)
		fprintf(stderr, "lab: %s: ip -batch ended with %d on\n%s", what, ret, s->text);
	free(s->text);
	return ret == 0 ? 0 : -EINVAL;
}

static int set_all(struct lab *lab, enum lab_ns ns, const char *const *settings)
{
	for (; *settings != NULL; settings++) {
		const char *eq = strchr(*settings, '=');
		char name[128];
		int ret;

		if (eq == NULL)
			return -EINVAL;
		snprintf(name, sizeof(name), "%.*s", (int)(eq - *settings), *settings);
		ret = lab_sysctl(lab, ns, name, eq + 1);
		if (ret < 0) {
			fprintf(stderr, "lab: sysctl %s: %s\n", *settings, strerror(-ret));
			return ret;
		}
	}
	return 0;
}

static bool is_v6(const char *address)
{
	return strchr(address, ':') != NULL;
}

static int add_links(struct lab *lab)
{
	struct script s;
	int ret = script_open(&s);

	if (ret < 0)
		return ret;
	fprintf(s.f, "link set lo up\n");
	for (unsigned int i = 0; i < lab->n_ports; i++) {
		const struct lab_port *p = &lab->spec->ports[i];

		fprintf(s.f,
				"link add %s address %s mtu %u type veth peer name w-%s mtu %u "
				"netns /proc/%d/fd/%d\n",
				p->name, p->mac, p->mtu, p->name, p->mtu, getpid(),
				lab->ns_fd[LAB_WIRE]);
	}
	ret = script_run(&s, lab, LAB_ROUTER, "links");
	if (ret < 0)
		return ret;
	ret = script_open(&s);
	if (ret < 0)
		return ret;
	for (unsigned int i = 0; i < lab->n_ports; i++)
		fprintf(s.f, "link set w-%s arp off up\n", lab->spec->ports[i].name);
	return script_run(&s, lab, LAB_WIRE, "wires");
}

/*
 * Checksums and segments are the kernel's work, as they would be on a wire. SIOCETHTOOL with the
 * old commands, as ethtool(8) may be missing.
 */
static int offloads_off(struct lab *lab, enum lab_ns ns, const char *prefix)
{
	static const uint32_t off[] = { ETHTOOL_SGRO, ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_STXCSUM,
		ETHTOOL_SRXCSUM, ETHTOOL_SSG };
	int ret = lab_enter(lab, ns);
	int fd;

	if (ret < 0)
		return ret;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		ret = -errno;
	for (unsigned int i = 0; ret == 0 && i < lab->n_ports; i++) {
		struct ifreq ifr = { 0 };

		snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s%s", prefix,
				lab->spec->ports[i].name);
		for (size_t j = 0; j < sizeof(off) / sizeof(off[0]); j++) {
			struct ethtool_value value = { .cmd = off[j], .data = 0 };

			ifr.ifr_data = (char *)&value;
			if (ioctl(fd, SIOCETHTOOL, &ifr) < 0 && errno != EOPNOTSUPP)
				ret = -errno;
		}
	}
	if (fd >= 0)
		close(fd);
	lab_leave(lab);
	return ret;
}

static void add_addresses(FILE *f, const struct lab_port *p)
{
	char list[512], *save = NULL;

	snprintf(list, sizeof(list), "%s", p->addresses);
	for (char *a = strtok_r(list, " ", &save); a != NULL; a = strtok_r(NULL, " ", &save))
		fprintf(f, "addr add %s dev %s%s\n", a, p->name, is_v6(a) ? " nodad" : " brd +");
}

static int add_layer3(struct lab *lab)
{
	const struct lab_spec *spec = lab->spec;
	struct script s;
	int ret = script_open(&s);

	if (ret < 0)
		return ret;
	for (unsigned int i = 0; i < lab->n_ports; i++) {
		fprintf(s.f, "link set %s up\n", spec->ports[i].name);
		add_addresses(s.f, &spec->ports[i]);
	}
	for (const struct lab_neigh *n = spec->neighs; n->ip != NULL; n++)
		fprintf(s.f, "neigh add %s lladdr %s dev %s nud permanent\n", n->ip, n->mac,
				n->port);
	for (const struct lab_route *r = spec->routes; r->to != NULL; r++) {
		if (r->type != NULL)
			fprintf(s.f, "route add %s %s\n", r->type, r->to);
		else
			fprintf(s.f, "route add %s via %s\n", r->to, r->via);
	}
	return script_run(&s, lab, LAB_ROUTER, "addresses, neighbours and routes");
}

int lab_setup(struct lab *lab)
{
	int ret;

	ret = set_all(lab, LAB_ROUTER, router_quiet);
	if (ret == 0)
		ret = set_all(lab, LAB_WIRE, wire_quiet);
	if (ret == 0)
		ret = add_links(lab);
	if (ret == 0)
		ret = offloads_off(lab, LAB_ROUTER, "");
	if (ret == 0)
		ret = offloads_off(lab, LAB_WIRE, "w-");
	if (ret == 0)
		ret = add_layer3(lab);
	if (ret == 0)
		ret = set_all(lab, LAB_ROUTER, router_on);
	if (ret == 0 && lab->spec->sysctls != NULL)
		ret = set_all(lab, LAB_ROUTER, lab->spec->sysctls);
	if (ret == 0 && lab->spec->more_sysctls != NULL)
		ret = set_all(lab, LAB_ROUTER, lab->spec->more_sysctls);
	return ret;
}
