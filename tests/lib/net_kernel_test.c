/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's own answers: the same addresses, routes, rules and switches go into a network
 * namespace and into sl_net_build(), then both are asked where random packets go, whether their
 * source may be there, and which source an own packet takes. Skipped without the right to make a
 * namespace.
 */
#include "tests/lib/net_fixture.h"

#include <rte_random.h>

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SEED 20240608
#define WORLDS 12
#define QUERIES 1500

struct answer {
	int error; /* 0 or errno */
	int type; /* RTN_* */
	unsigned int oif; /* kernel's index; 1 is lo */
	struct sl_addr gateway, source;
};

struct question {
	uint8_t family;
	struct sl_addr dst, src;
	uint16_t iif; /* port; 0: an own packet */
	uint32_t mark;
};

static int nl = -1;
static unsigned int if_of_port[4];

static void add_attr(struct nlmsghdr *h, unsigned short type, const void *data, size_t len)
{
	struct rtattr *a = (struct rtattr *)(void *)((char *)h + NLMSG_ALIGN(h->nlmsg_len));

	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(len);
	memcpy(RTA_DATA(a), data, len);
	h->nlmsg_len = NLMSG_ALIGN(h->nlmsg_len) + RTA_ALIGN(a->rta_len);
}

static void read_answer(struct nlmsghdr *h, unsigned int len, struct answer *a)
{
	struct rtmsg *rt = NLMSG_DATA(h);
	int rest = (int)(len - NLMSG_LENGTH(sizeof(*rt)));

	a->type = rt->rtm_type;
	for (struct rtattr *r = RTM_RTA(rt); RTA_OK(r, rest); r = RTA_NEXT(r, rest)) {
		if (r->rta_type == RTA_OIF)
			memcpy(&a->oif, RTA_DATA(r), sizeof(a->oif));
		else if (r->rta_type == RTA_GATEWAY)
			memcpy(&a->gateway, RTA_DATA(r), RTA_PAYLOAD(r));
		else if (r->rta_type == RTA_PREFSRC)
			memcpy(&a->source, RTA_DATA(r), RTA_PAYLOAD(r));
	}
}

static struct answer ask(const struct question *q)
{
	size_t bytes = q->family == SL_AF_INET ? 4 : 16;
	union {
		struct nlmsghdr h;
		char room[4096];
	} m = { .h = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
				.nlmsg_type = RTM_GETROUTE,
				.nlmsg_flags = NLM_F_REQUEST } };
	struct rtmsg *rt = NLMSG_DATA(&m.h);
	struct answer a = { .error = 0 };
	ssize_t n;

	rt->rtm_family = q->family == SL_AF_INET ? AF_INET : AF_INET6;
	rt->rtm_dst_len = (unsigned char)(bytes * 8);
	add_attr(&m.h, RTA_DST, q->dst.b, bytes);
	if (q->iif != 0) {
		rt->rtm_src_len = rt->rtm_dst_len;
		add_attr(&m.h, RTA_SRC, q->src.b, bytes);
		add_attr(&m.h, RTA_IIF, &if_of_port[q->iif], 4);
	}
	add_attr(&m.h, RTA_MARK, &q->mark, 4);
	assert_int_equal(send(nl, &m, m.h.nlmsg_len, 0), m.h.nlmsg_len);
	n = recv(nl, &m, sizeof(m), 0);
	assert_true(n >= (ssize_t)NLMSG_LENGTH(0));
	if (m.h.nlmsg_type == NLMSG_ERROR)
		a.error = -((struct nlmsgerr *)NLMSG_DATA(&m.h))->error;
	else
		read_answer(&m.h, (unsigned int)n, &a);
	return a;
}

/* the same world for both sides --------------------------------------------------------------- */

static FILE *batch4, *batch6; /* inputs of `ip -4 -batch -` and `ip -6 -batch -` */

static FILE *batch_for(const char *text)
{
	return strchr(text, ':') != NULL ? batch6 : batch4;
}

static const char *const port_names[] = { "lo", "wan", "lan", "dmz" };

static void address(struct net_fixture *f, unsigned int port, const char *text)
{
	fixture_address(f, port, text);
	fprintf(batch_for(text), "addr add %s dev %s%s\n", text, port_names[port],
			strchr(text, ':') != NULL ? " nodad" : "");
}

static const char *const types[SL_ROUTE_TYPE_NB] = { "unicast", "local", "broadcast", "blackhole",
	"unreachable", "prohibit", "throw" };

static void route(struct net_fixture *f, const char *to, const char *via, enum sl_route_type type,
		uint32_t table, uint32_t metric)
{
	struct sl_route_conf *c = fixture_route(f, to, via);
	FILE *batch = batch_for(to);

	c->type = type;
	c->table = table;
	c->metric = metric;
	fprintf(batch, "route add %s %s table %u", types[type], to, table);
	if (metric != 0)
		fprintf(batch, " metric %u", metric);
	for (unsigned int i = 0; i < c->n_via; i++) {
		const struct sl_via_conf *v = &c->via[i];
		char text[SL_ADDR_STRLEN];

		if (c->n_via > 1)
			fprintf(batch, " nexthop");
		if (v->has_gateway)
			fprintf(batch, " via %s", sl_addr_str(c->to.family, &v->gateway, text));
		if (v->port != NULL)
			fprintf(batch, " dev %s%s", v->port, v->has_gateway ? " onlink" : "");
		if (c->n_via > 1)
			fprintf(batch, " weight %u", v->weight);
	}
	fprintf(batch, "\n");
}

static void random_routes(struct net_fixture *f)
{
	/* with the port: else the kernel asks the routes that are there already */
	static const char *const via4[] = { "192.0.2.1%wan", "192.0.2.9%wan", "10.0.0.9%lan",
		"10.1.0.2%dmz", "%lan", "%dmz", "192.0.2.1%wan,10.0.0.9%lan*3" };
	static const char *const via6[] = { "fe80::1%wan", "fe80::2%lan", "fe80::9%dmz", "%lan",
		"fe80::1%wan,fe80::2%lan" };

	for (unsigned int i = 0; i < 50; i++) {
		uint32_t table = rte_rand() % 2 ? SL_TABLE_MAIN : 100 + (uint32_t)(rte_rand() % 2);
		enum sl_route_type type = rte_rand() % 4 != 0
				? SL_ROUTE_UNICAST
				: SL_ROUTE_BLACKHOLE + (enum sl_route_type)(rte_rand() % 4);
		bool v6 = i % 2;
		struct sl_prefix p = { .family = v6 ? SL_AF_INET6 : SL_AF_INET };
		char text[SL_ADDR_STRLEN];
		const char *via;

		p.addr = addr_of(v6 ? "2001:db8::" : "10.0.0.0");
		if (rte_rand() % 4 == 0)
			p.addr = addr_of(v6 ? "2001:db8:1::" : "192.0.2.0");
		p.addr.b[v6 ? 5 : 1] |= (uint8_t)(rte_rand() % 3);
		p.addr.b[v6 ? 15 : 3] = (uint8_t)rte_rand();
		p.len = (uint8_t)(v6 ? rte_rand() % 2 ? 128 - rte_rand() % 9 : rte_rand() % 129
				     : rte_rand() % 33);
		p.addr = sl_addr_mask(&p.addr, p.family, p.len);
		via = v6 ? via6[rte_rand() % 5] : via4[rte_rand() % 7];
		/* a metric of its own: nothing may be there twice */
		route(f, sl_prefix_str(&p, text), type == SL_ROUTE_UNICAST ? via : NULL, type,
				table, 2000 + i);
	}
}

static void random_policy(struct net_fixture *f)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct sl_policy_conf *c = fixture_policy(f, (uint32_t)(1 + rte_rand() % 40000),
				100 + (uint32_t)(rte_rand() % 3));
		char text[SL_ADDR_STRLEN];

		if (c->priority == 32766 || c->priority == 32767)
			c->priority = 5;
		c->priority = c->priority / 8 * 8 + i; /* the kernel refuses none twice */
		c->fwmark = (uint32_t)(rte_rand() % 4);
		c->fwmask = (uint32_t)(rte_rand() % 4);
		c->fwmark &= c->fwmask;
		if (rte_rand() % 2)
			c->iif = port_names[1 + rte_rand() % 3];
		if (rte_rand() % 3 == 0)
			sl_prefix_parse(rte_rand() % 2 ? "10.0.0.0/17" : "2001:db8::/48", &c->from);
		else if (rte_rand() % 3 == 0)
			sl_prefix_parse(rte_rand() % 2 ? "10.1.0.0/16" : "2001:db8:1::/48", &c->to);
		for (char family = '4'; family <= '6'; family += 2) {
			FILE *batch = family == '4' ? batch4 : batch6;
			uint8_t of = c->from.family + c->to.family;

			if (of != 0 && of != family - '0')
				continue;
			fprintf(batch, "rule add pref %u table %u", c->priority, c->table);
			if (c->fwmask != 0)
				fprintf(batch, " fwmark %u/%u", c->fwmark, c->fwmask);
			if (c->iif != NULL)
				fprintf(batch, " iif %s", c->iif);
			if (c->from.family != SL_AF_NONE)
				fprintf(batch, " from %s", sl_prefix_str(&c->from, text));
			if (c->to.family != SL_AF_NONE)
				fprintf(batch, " to %s", sl_prefix_str(&c->to, text));
			fprintf(batch, "\n");
		}
	}
}

static void sysctl(struct net_fixture *f, const char *name, long value)
{
	char path[128] = "/proc/sys/", *c;
	FILE *file;

	fixture_sysctl(f, name, value);
	snprintf(path + 10, sizeof(path) - 10, "%s", name);
	for (c = path + 10; *c != '\0'; c++)
		*c = *c == '.' ? '/' : *c;
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%ld\n", value);
	assert_int_equal(fclose(file), 0);
}

static void make_namespace(void)
{
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	assert_int_equal(
			system("ip link set lo up; for i in wan lan dmz; do ip link add $i type veth "
			       "peer name p$i; done; ip link set wan address 02:00:00:00:00:01; "
			       "ip link set lan address 02:00:00:00:00:02; "
			       "ip link set dmz address 02:00:00:00:00:03; "
			       "for i in wan lan dmz; do echo 0 > /proc/sys/net/ipv6/conf/$i/accept_dad; "
			       "ip link set p$i up; ip link set $i up; done; "
			       "echo 1 > /proc/sys/net/ipv4/ip_forward; "
			       "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding"),
			0);
	for (unsigned int i = 0; i < 4; i++)
		if_of_port[i] = if_nametoindex(port_names[i]);
	if (nl >= 0)
		close(nl);
	nl = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	assert_true(nl >= 0);
}

static void make_world(struct net_fixture *f, unsigned int nth)
{
	make_namespace();
	fixture_init(f);
	batch4 = popen("ip -4 -batch -", "w");
	batch6 = popen("ip -6 -batch -", "w");
	assert_non_null(batch4);
	assert_non_null(batch6);
	address(f, WAN, "192.0.2.2/24");
	address(f, WAN, "192.0.2.7/24");
	address(f, WAN, "10.0.1.4/31");
	address(f, LAN, "10.0.0.1/30");
	address(f, LAN, "10.0.0.8/29");
	address(f, LAN, "10.2.255.255/16");
	address(f, LAN, "10.0.2.1/32");
	if (nth % 3 != 0)
		address(f, DMZ, "10.1.0.1/16");
	address(f, WAN, "2001:db8::2/64");
	address(f, WAN, "2001:db8::8/64");
	address(f, LAN, "2001:db8:1::1/120");
	address(f, LAN, "2001:db8:2::/127");
	address(f, LAN, "fd00::1/64");
	address(f, DMZ, "2001:db8:1::fff/126");
	if (nth > 0)
		random_routes(f);
	if (nth % 2)
		random_policy(f);
	assert_int_equal(pclose(batch4), 0);
	assert_int_equal(pclose(batch6), 0);
	sysctl(f, "net.ipv4.conf.wan.rp_filter", (long)(rte_rand() % 3));
	sysctl(f, "net.ipv4.conf.lan.rp_filter", (long)(rte_rand() % 3));
	sysctl(f, "net.ipv4.conf.lan.accept_local", (long)(rte_rand() % 2));
	sysctl(f, "net.ipv4.conf.wan.src_valid_mark", (long)(rte_rand() % 2));
	sysctl(f, "net.ipv4.conf.dmz.route_localnet", (long)(rte_rand() % 2));
	sysctl(f, "net.ipv4.conf.all.send_redirects", (long)(rte_rand() % 2));
	sysctl(f, "net.ipv4.conf.wan.send_redirects", (long)(rte_rand() % 2));
	if (fixture_build(f) != 0)
		fail_msg("%s", f->err);
}

/* questions ----------------------------------------------------------------------------------- */

static struct sl_addr random_addr(const struct net_fixture *f, uint8_t family)
{
	static const char *const odd4[] = { "127.0.0.1", "127.3.2.1", "0.0.0.0", "0.1.2.3",
		"240.0.0.1", "224.0.0.5", "255.255.255.255", "127.255.255.255", "8.8.8.8" };
	bool v6 = family == SL_AF_INET6;
	struct sl_prefix p;

	if (!v6 && rte_rand() % 12 == 0)
		return addr_of(odd4[rte_rand() % 9]);
	do {
		if (f->conf.n_routes > 0 && rte_rand() % 2) {
			p = f->routes[rte_rand() % f->conf.n_routes].to;
		} else {
			const struct sl_port_conf *c = &f->ports[rte_rand() % 3];

			p = c->addresses[rte_rand() % c->n_addresses];
			if (rte_rand() % 4 == 0)
				return p.family == family ? p.addr : random_addr(f, family);
		}
	} while (p.family != family);
	p.addr = sl_addr_mask(&p.addr, family, p.len);
	for (unsigned int bit = p.len, ones = (unsigned int)(rte_rand() % 3); bit < (v6 ? 128 : 32);
			bit++) {
		/* all zero, all one, or random */
		if (ones == 1 || (ones == 2 && rte_rand() % 2))
			p.addr.b[bit / 8] |= (uint8_t)(0x80 >> (bit % 8));
	}
	if (v6 && (p.addr.b[0] & 0xe0) != 0x20)
		return addr_of("2001:db8:5::1");
	return p.addr;
}

static int errno_of(const struct sl_nexthop *nh)
{
	if (nh == NULL)
		return ENETUNREACH;
	switch (nh->type) {
	case SL_ROUTE_BLACKHOLE:
		return EINVAL;
	case SL_ROUTE_UNREACHABLE:
		return EHOSTUNREACH;
	case SL_ROUTE_PROHIBIT:
		return EACCES;
	default:
		return 0;
	}
}

static int type_of(const struct sl_nexthop *nh)
{
	if (nh->type == SL_ROUTE_LOCAL)
		return nh->flags & SL_NEXTHOP_ANYCAST ? RTN_ANYCAST : RTN_LOCAL;
	return nh->type == SL_ROUTE_BROADCAST ? RTN_BROADCAST : RTN_UNICAST;
}

static bool same_way(const struct answer *a, const struct sl_nexthop *nh)
{
	if (a->type != type_of(nh))
		return false;
	if (nh->type == SL_ROUTE_LOCAL || nh->type == SL_ROUTE_BROADCAST)
		return true;
	return if_of_port[nh->port] == a->oif && sl_addr_eq(&nh->gateway, &a->gateway);
}

/* the kernel makes the routes of IPv6 addresses a little later */
static void wait_for_addresses(const struct net_fixture *f)
{
	for (unsigned int i = 0, tries = 0; i < 3; i++) {
		const struct sl_port_conf *c = &f->ports[i];

		for (unsigned int k = 0; k < 2 * c->n_addresses;) {
			const struct sl_prefix *p = &c->addresses[k / 2];
			struct question q = { .family = p->family, .dst = p->addr };
			const struct sl_nexthop *nh;
			struct answer a;

			if (k % 2)
				q.dst = sl_addr_mask(&p->addr, p->family, p->len);
			nh = sl_net_route(f->net,
					&(struct sl_route_key){ .family = p->family,
							.dst = q.dst,
							.out_port = SL_PORT_NONE });
			a = ask(&q);
			if (p->family == SL_AF_INET || nh == NULL || nh->type != SL_ROUTE_LOCAL
					|| a.type == type_of(nh) || tries == 200) {
				k++;
				continue;
			}
			tries++;
			usleep(10000);
		}
	}
}

/* what ip_route_input_slow() says of a packet, with our parts: 0 or an errno */
static int judge(const struct net_fixture *f, const struct question *q, const struct sl_nexthop *nh)
{
	struct sl_pkt p = { .family = q->family,
		.src = q->src,
		.dst = q->dst,
		.in_port = q->iif,
		.mark = q->mark };
	bool localnet = f->net->ports[q->iif].sysctl.route_localnet;
	enum sl_source_verdict v;
	bool onlink;

	if (q->family == SL_AF_INET6)
		return errno_of(nh);
	v = sl_net_validate_source4(f->net, &p, nh, &onlink);
	if ((q->src.b[0] & 0xf0) == 224 || q->src.v4 == UINT32_MAX)
		return EINVAL;
	if (q->dst.v4 != UINT32_MAX) {
		if (q->src.v4 == 0 || (q->src.b[0] == 127 && q->dst.b[0] != 127 && !localnet))
			return EINVAL;
		if (q->dst.b[0] == 127 && !localnet)
			return EINVAL;
		if (errno_of(nh) != 0)
			return errno_of(nh);
	}
	return v == SL_SOURCE_OK ? 0 : EINVAL;
}

static void report(const struct question *q, const struct answer *a, int want,
		const struct sl_nexthop *nh)
{
	char dst[SL_ADDR_STRLEN], src[SL_ADDR_STRLEN], gw[SL_ADDR_STRLEN], via[SL_ADDR_STRLEN];

	print_error("to %s from %s by %s mark %u: kernel error %d type %d by %u via %s src %s, ",
			sl_addr_str(q->family, &q->dst, dst), sl_addr_str(q->family, &q->src, src),
			port_names[q->iif], q->mark, a->error, a->type, a->oif,
			sl_addr_str(q->family, &a->gateway, gw), "");
	print_error("ours error %d type %d by %u via %s\n", want, nh == NULL ? -1 : nh->type,
			nh == NULL ? 0 : if_of_port[nh->port],
			nh == NULL ? "-" : sl_addr_str(q->family, &nh->gateway, via));
}

/* an own packet's source; of a group the kernel may have chosen another path */
static bool same_source(const struct net_fixture *f, const struct question *q,
		const struct answer *a, const struct sl_nexthop *nh)
{
	char ours[SL_ADDR_STRLEN], theirs[SL_ADDR_STRLEN];
	struct sl_addr src;

	if (nh->type != SL_ROUTE_UNICAST)
		return true;
	assert_true(sl_net_source(f->net, q->family, nh, &q->dst, &src));
	if (sl_addr_eq(&src, &a->source))
		return true;
	print_error("source: kernel %s, ours %s\n", sl_addr_str(q->family, &a->source, theirs),
			sl_addr_str(q->family, &src, ours));
	return false;
}

/* one of the equal paths must be what the kernel says */
static bool check(const struct net_fixture *f, const struct question *q)
{
	const struct answer a = ask(q);
	const struct sl_nexthop *nh = NULL;
	int want = 0;

	for (uint64_t hash = 0x10000000; hash <= UINT32_MAX; hash += 0x20000000) {
		struct sl_route_key key = { .family = q->family,
			.in_port = q->iif,
			.out_port = SL_PORT_NONE,
			.mark = q->mark,
			.dst = q->dst,
			.src = q->src,
			.hash = (uint32_t)hash };

		nh = sl_net_route(f->net, &key);
		want = q->iif == 0 ? errno_of(nh) : judge(f, q, nh);
		if (a.error != want)
			continue;
		if (want != 0)
			return true;
		if (same_way(&a, nh))
			return q->iif != 0 || same_source(f, q, &a, nh);
	}
	report(q, &a, want, nh);
	return false;
}

static void test_net_when_random_worlds_then_as_kernel(void **state)
{
	unsigned int bad = 0;

	(void)state;
	for (unsigned int nth = 0; nth < WORLDS; nth++) {
		struct net_fixture f;

		make_world(&f, nth);
		wait_for_addresses(&f);
		for (unsigned int i = 0; i < QUERIES; i++) {
			struct question q = { .family = i % 2 ? SL_AF_INET6 : SL_AF_INET };

			q.dst = random_addr(&f, q.family);
			q.mark = (uint32_t)(rte_rand() % 4);
			if (q.dst.v4 == 0 || (q.family == SL_AF_INET && (q.dst.b[0] & 0xf0) == 224))
				continue;
			if (i % 4 < 2 && q.dst.v4 == UINT32_MAX)
				continue; /* by itself it has no link */
			if (i % 4 >= 2) {
				q.iif = (uint16_t)(1 + rte_rand() % 3);
				q.src = random_addr(&f, q.family);
			}
			bad += !check(&f, &q);
		}
		fixture_free(&f);
		if (bad > 0)
			fail_msg("world %u: %u answers differ", nth, bad);
	}
}

/* another seed may be given */
int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoul(argv[1], NULL, 0) : SEED;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_net_when_random_worlds_then_as_kernel),
	};

	if (unshare(CLONE_NEWNET) != 0 || system("ip link add v0 type veth peer name v1") != 0) {
		printf("SKIPPED: no right to make a network namespace (run as root)\n");
		return 77;
	}
	rte_srand(seed);
	print_message("seed %lu\n", (unsigned long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
