/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/links.h"

#include "app/sluice/app.h"
#include "app/sluice/masquerade.h"
#include "app/sluice/netdev.h"
#include "lib/conf.h"
#include "lib/log.h"
#include "lib/neigh.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

SL_LOG_TYPE("port");

/* the port whose device @p uses: itself, or its parent */
static const struct sl_port_conf *device_port(
		const struct sl_conf *conf, const struct sl_port_conf *p)
{
	for (unsigned int i = 0; p->parent != NULL && i < conf->n_ports; i++) {
		if (strcmp(conf->ports[i].name, p->parent) == 0)
			return &conf->ports[i];
	}
	return p;
}

/* what all ports on the device of @first want together */
static struct link_want gather_wants(const struct app *app, const struct sl_port_conf *first)
{
	struct link_want want = {
		.port = first->name,
		.device = first->device,
		.has_mac = first->has_mac,
		.mac = first->mac,
		.n_workers = app->conf->n_workers,
		.pool = app->pool,
	};

	for (unsigned int i = 0; i < app->conf->n_ports; i++) {
		const struct sl_port_conf *p = &app->conf->ports[i];

		if (device_port(app->conf, p) != first)
			continue;
		want.mtu = RTE_MAX(want.mtu, p->mtu);
		want.has_vlans |= p->vlan != 0;
	}
	return want;
}

static int add_port(struct app *app, const struct sl_port_conf *p, struct port_link *l)
{
	const struct rte_ether_addr *mac = p->has_mac ? &p->mac : &l->mac;
	int id = sl_router_add_port(app->r, p->name, &l->link, mac, p->mtu, p->vlan);

	if (id > 0)
		app->port_link[id] = l;
	return id;
}

static int open_device(
		struct app *app, const struct sl_port_conf *first, char *err, size_t err_size)
{
	struct link_want want = gather_wants(app, first);
	const struct sl_conf *conf = app->conf;
	struct port_link *l;
	int ret;

	ret = link_open(&want, &l, err, err_size);
	if (ret < 0)
		return ret;
	app->links[app->n_links++] = l;
	for (unsigned int i = 0; i < conf->n_ports; i++) {
		const struct sl_port_conf *p = &conf->ports[i];

		if (device_port(conf, p) != first)
			continue;
		ret = add_port(app, p, l);
		if (ret < 0) {
			snprintf(err, err_size, "port %s: %s", p->name, strerror(-ret));
			/* not the router's before its first port */
			if (p == first)
				l->link.ops->close(&l->link);
			return ret;
		}
	}
	return 0;
}

int links_open(struct app *app, char *err, size_t err_size)
{
	const struct sl_conf *conf = app->conf;
	char reason[1024];

	for (unsigned int i = 0; i < conf->n_ports; i++) {
		const struct sl_port_conf *p = &conf->ports[i];
		int ret;

		if (p->parent != NULL)
			continue;
		ret = open_device(app, p, reason, sizeof(reason));
		if (ret < 0) {
			snprintf(err, err_size, "%s:%u:%u: port %s: %s", conf->path, p->at.line,
					p->at.column, p->name, reason);
			return ret;
		}
	}
	return 0;
}

static bool is_up(struct port_link *l)
{
	if (l->iface[0] == '\0')
		return l->is_up(l);
	if (l->may_move && netdev_index(l->iface) == 0)
		return true;
	/* an interface of the same name that was made anew is not ours */
	return netdev_index(l->iface) == l->ifindex && netdev_is_up(l->iface);
}

/* as the kernel's NETDEV_DOWN: somebody wants it so, which lost carrier does not say */
static bool is_set_down(const struct port_link *l)
{
	if (l->iface[0] == '\0' || (l->may_move && netdev_index(l->iface) == 0))
		return false;
	return netdev_index(l->iface) != l->ifindex || !netdev_is_set_up(l->iface);
}

static void watch_down(struct app *app, struct port_link *l)
{
	bool down = is_set_down(l), was = l->set_down;

	l->set_down = down;
	for (uint16_t i = 1; down && !was && i <= app->r->n_ports; i++)
		if (app->port_link[i] == l)
			masquerade_port_down(app, i);
}

struct port_change {
	uint16_t port;
	bool up;
};

static void tell_neighbours(struct sl_worker *w, void *arg)
{
	const struct port_change *change = arg;

	sl_neigh_port_changed(w, change->port, change->up);
}

static void change(struct app *app, struct port_link *l, bool up)
{
	atomic_store(&l->link.up, up);
	for (unsigned int i = 1; i <= app->r->n_ports; i++) {
		struct port_change c = { .port = (uint16_t)i, .up = up };

		if (app->port_link[i] != l)
			continue;
		SL_LOG(NOTICE, "%s: link %s", app->r->ports[i].name, up ? "up" : "down");
		sl_worker_call(app->r->workers[0], tell_neighbours, &c);
	}
	if (!up && l->ifindex != 0 && netdev_index(l->iface) != l->ifindex)
		SL_LOG(ERR, "interface %s is gone: restart sluice when it is back", l->iface);
}

void links_refresh(struct app *app)
{
	for (unsigned int i = 0; i < app->n_links; i++) {
		struct port_link *l = app->links[i];
		bool up = is_up(l);

		if (up != atomic_load(&l->link.up))
			change(app, l, up);
		watch_down(app, l);
	}
}
