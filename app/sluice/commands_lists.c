/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers that may be long: pages of at most PAGE entries, between which control does other work. */
#include "app/sluice/app.h"
#include "app/sluice/commands.h"
#include "lib/neigh.h"
#include "lib/net.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 2000
#define NEIGHBOURS_MAX (1U << 20)

struct page {
	const struct app *app;
	json_t *list;
	json_int_t from; /* entries to skip */
	json_int_t seen;
	json_int_t table; /* 0: every table */
	int family; /* SL_AF_NONE: both */
};

static struct page page_start(const struct app *app, const json_t *args)
{
	struct page p = { .app = app, .list = json_array() };

	p.from = json_integer_value(json_object_get(args, "from"));
	p.table = json_integer_value(json_object_get(args, "table"));
	p.family = (int)json_integer_value(json_object_get(args, "family"));
	return p;
}

/* whether the entry that comes now belongs on the page */
static bool page_wants(struct page *p, int family)
{
	if (p->family != SL_AF_NONE && p->family != family)
		return false;
	p->seen++;
	return p->seen > p->from && p->seen <= p->from + PAGE;
}

static json_int_t page_next(const struct page *p)
{
	return p->seen > p->from + PAGE ? p->from + PAGE : 0;
}

static const char *port_name(const struct app *app, uint16_t id)
{
	return id == SL_PORT_HOST ? "router" : app->r->ports[id].name;
}

static const char *route_type(enum sl_route_type type)
{
	static const char *const names[SL_ROUTE_TYPE_NB] = {
		[SL_ROUTE_UNICAST] = "unicast",
		[SL_ROUTE_LOCAL] = "local",
		[SL_ROUTE_BROADCAST] = "broadcast",
		[SL_ROUTE_BLACKHOLE] = "blackhole",
		[SL_ROUTE_UNREACHABLE] = "unreachable",
		[SL_ROUTE_PROHIBIT] = "prohibit",
		[SL_ROUTE_THROW] = "throw",
	};

	return names[type];
}

static json_t *path_json(const struct app *app, const struct sl_nexthop *nh)
{
	char text[SL_ADDR_STRLEN];
	json_t *o = json_object();

	if (nh->family != SL_AF_NONE)
		json_object_set_new(o, "gateway",
				json_string(sl_addr_str(
						(enum sl_family)nh->family, &nh->gateway, text)));
	json_object_set_new(o, "port", json_string(port_name(app, nh->port)));
	json_object_set_new(o, "mtu", json_integer(nh->mtu));
	return o;
}

static bool leads_somewhere(enum sl_route_type type)
{
	return type == SL_ROUTE_UNICAST || type == SL_ROUTE_LOCAL || type == SL_ROUTE_BROADCAST;
}

static void visit_route(const struct sl_route_conf *route, const struct sl_nexthop *paths,
		unsigned int n_paths, void *arg)
{
	struct page *p = arg;
	char text[SL_ADDR_STRLEN];
	json_t *via, *o;

	if (p->table != 0 && p->table != route->table)
		return;
	if (!page_wants(p, route->to.family))
		return;
	o = json_object();
	via = json_array();
	json_object_set_new(o, "to", json_string(sl_prefix_str(&route->to, text)));
	json_object_set_new(o, "table", json_integer(route->table));
	json_object_set_new(o, "type", json_string(route_type(route->type)));
	json_object_set_new(o, "metric", json_integer(route->metric));
	for (unsigned int i = 0; leads_somewhere(route->type) && i < n_paths; i++)
		json_array_append_new(via, path_json(p->app, &paths[i]));
	json_object_set_new(o, "via", via);
	json_array_append_new(p->list, o);
}

static void visit_rule(const struct sl_rule_stats *rule, void *arg)
{
	json_t *o = json_object();

	json_object_set_new(o, "family", json_integer(rule->family));
	json_object_set_new(o, "priority", json_integer(rule->priority));
	json_object_set_new(o, "rule", json_string(rule->text));
	json_object_set_new(o, "packets", json_integer((json_int_t)rule->packets));
	json_array_append_new(arg, o);
}

struct groups {
	const struct app *app;
	const struct sl_net *net;
	json_t *list;
};

static void visit_group(const struct sl_route_conf *route, const struct sl_nexthop *paths,
		unsigned int n_paths, void *arg)
{
	struct groups *g = arg;
	char to[SL_ADDR_STRLEN];

	for (unsigned int i = 0; n_paths > 1 && i < n_paths; i++) {
		json_t *o = path_json(g->app, &paths[i]);

		json_object_set_new(o, "to", json_string(sl_prefix_str(&route->to, to)));
		json_object_set_new(o, "table", json_integer(route->table));
		if (paths->group != NULL)
			json_object_set_new(
					o, "buckets", json_integer(sl_net_path_buckets(paths, i)));
		json_object_set_new(o, "packets",
				json_integer((json_int_t)sl_net_path_packets(g->net, &paths[i])));
		json_array_append_new(g->list, o);
	}
}

/* what rules and equal-cost paths were chosen */
static json_t *marks(const struct app *app)
{
	const struct sl_net *net = atomic_load(&app->r->snap)->net;
	struct groups g = { .app = app, .net = net, .list = json_array() };
	json_t *o = json_object(), *rules = json_array();

	sl_net_walk_rules(app->r, net, visit_rule, rules);
	sl_net_walk(net, visit_group, &g);
	json_object_set_new(o, "rules", rules);
	json_object_set_new(o, "paths", g.list);
	return o;
}

json_t *command_routes(struct app *app, const json_t *args, json_int_t *next,
		char *err __rte_unused, size_t err_size __rte_unused)
{
	struct page p;

	if (json_is_true(json_object_get(args, "marks")))
		return marks(app);
	p = page_start(app, args);
	/* control alone swaps the network state, so it stands still meanwhile */
	sl_net_walk(atomic_load(&app->r->snap)->net, visit_route, &p);
	*next = page_next(&p);
	return p.list;
}

static json_t *neighbour_json(const struct app *app, const struct sl_neigh_info *n)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	char text[SL_ADDR_STRLEN];
	json_t *o = json_object();

	json_object_set_new(o, "port", json_string(port_name(app, n->port)));
	json_object_set_new(o, "address",
			json_string(sl_addr_str((enum sl_family)n->family, &n->addr, text)));
	if (n->has_mac) {
		const uint8_t *b = n->mac.addr_bytes;

		snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3],
				b[4], b[5]);
		json_object_set_new(o, "mac", json_string(mac));
	}
	json_object_set_new(o, "state", json_string(sl_neigh_state_name(n->state)));
	json_object_set_new(o, "router", json_boolean(n->router));
	json_object_set_new(o, "queued", json_integer(n->queued));
	json_object_set_new(o, "age_ms", json_integer((json_int_t)(n->age_ns / 1000000)));
	return o;
}

json_t *command_neighbours(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size)
{
	struct page p = page_start(app, args);
	struct sl_neigh_info *list = NULL;
	unsigned int room = 64;
	unsigned int n;

	/* the table may grow between two looks */
	for (;;) {
		struct sl_neigh_info *more = realloc(list, room * sizeof(*list));

		if (more == NULL || room > NEIGHBOURS_MAX) {
			free(more == NULL ? list : more);
			json_decref(p.list);
			snprintf(err, err_size, "neighbours: out of memory");
			return NULL;
		}
		list = more;
		n = sl_neigh_list(app->r, list, room);
		if (n <= room)
			break;
		room = n + 64;
	}
	for (unsigned int i = 0; i < n; i++) {
		if (page_wants(&p, list[i].family))
			json_array_append_new(p.list, neighbour_json(app, &list[i]));
	}
	free(list);
	*next = page_next(&p);
	return p.list;
}
