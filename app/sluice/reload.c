/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/reload.h"

#include "app/sluice/app.h"
#include "app/sluice/apply.h"
#include "app/sluice/masquerade.h"
#include "app/sluice/packet_log.h"
#include "config/yaml.h"
#include "lib/conf.h"
#include "lib/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

SL_LOG_TYPE("reload");

static const struct sl_port_conf *find_port(const struct sl_conf *conf, const char *name)
{
	for (unsigned int i = 0; i < conf->n_ports; i++) {
		if (strcmp(conf->ports[i].name, name) == 0)
			return &conf->ports[i];
	}
	return NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* what of a port cannot change while it runs; NULL: nothing did */
static const char *port_change(const struct sl_port_conf *a, const struct sl_port_conf *b)
{
	if (!same_text(a->device, b->device))
		return "device";
	if (!same_text(a->parent, b->parent))
		return "parent";
	if (a->vlan != b->vlan)
		return "vlan";
	if (a->mtu != b->mtu)
		return "mtu";
	if (a->has_mac != b->has_mac || (a->has_mac && !rte_is_same_ether_addr(&a->mac, &b->mac)))
		return "mac";
	return NULL;
}

static bool same_lcores(const struct sl_conf *a, const struct sl_conf *b)
{
	if (a->n_workers != b->n_workers || (a->lcores == NULL) != (b->lcores == NULL))
		return false;
	return a->lcores == NULL
			|| memcmp(a->lcores, b->lcores, a->n_workers * sizeof(*a->lcores)) == 0;
}

/* a setting beside the ports that cannot change while the program runs; NULL: none did */
static const char *program_change(const struct sl_conf *a, const struct sl_conf *b)
{
	if (!same_lcores(a, b))
		return "workers";
	if (a->hugepages != b->hugepages)
		return "hugepages";
	if (a->conntrack_max != b->conntrack_max)
		return "conntrack: max";
	if (!same_text(a->control_socket, b->control_socket))
		return "control: socket";
	if (!same_text(a->metrics.listen, b->metrics.listen))
		return "metrics: listen";
	return NULL;
}

/* Return: whether @new asks for nothing that only a restart can give */
static bool same_devices(
		const struct sl_conf *old, const struct sl_conf *new, char *err, size_t err_size)
{
	const char *setting = program_change(old, new);

	if (setting != NULL) {
		snprintf(err, err_size, "%s: %s differs from the running one: restart to change it",
				new->path, setting);
		return false;
	}
	for (unsigned int i = 0; i < new->n_ports; i++) {
		const struct sl_port_conf *p = &new->ports[i];
		const struct sl_port_conf *was = find_port(old, p->name);
		const char *change = was == NULL ? "new port" : port_change(was, p);

		if (change == NULL)
			continue;
		snprintf(err, err_size, "%s:%u:%u: port %s: %s%s: restart to change it", new->path,
				p->at.line, p->at.column, p->name, change,
				was == NULL ? "" : " differs from the running one");
		return false;
	}
	for (unsigned int i = 0; i < old->n_ports; i++) {
		if (find_port(new, old->ports[i].name) != NULL)
			continue;
		snprintf(err, err_size, "%s: port %s is gone: restart to remove it", new->path,
				old->ports[i].name);
		return false;
	}
	return true;
}

/* what the reader wrote, as one line without its last newline */
static int read_conf(const char *path, struct sl_conf **conf, char *err, size_t err_size)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int ret;

	if (f == NULL)
		return -ENOMEM;
	ret = sl_conf_read(path, conf, f);
	fclose(f);
	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	if (ret < 0)
		snprintf(err, err_size, "%s", len == 0 ? strerror(-ret) : text);
	free(text);
	return ret;
}

static int apply(struct app *app, const struct sl_conf *conf, char *err, size_t err_size)
{
	struct packet_log_outputs *outputs;
	int ret;

	ret = packet_log_open(app->r, conf, &outputs, err, err_size);
	if (ret < 0)
		return ret;
	pthread_mutex_lock(&app->lock);
	ret = apply_conf(app->r, conf, &app->fw, NULL, err, err_size);
	pthread_mutex_unlock(&app->lock);
	if (ret == 0)
		packet_log_use(app->packet_log, outputs);
	else
		packet_log_outputs_free(outputs);
	return ret;
}

int reload(struct app *app, char *err, size_t err_size)
{
	struct sl_conf *conf;
	size_t len;
	int ret;

	ret = read_conf(app->conf_path, &conf, err, err_size);
	if (ret < 0)
		goto err_log;
	ret = same_devices(app->conf, conf, err, err_size) ? 0 : -EINVAL;
	if (ret == 0)
		ret = apply(app, conf, err, err_size);
	if (ret < 0) {
		sl_conf_free(conf);
		goto err_log;
	}
	masquerade_addresses(app, conf);
	sl_conf_free(app->conf);
	app->conf = conf;
	app->reloads++;
	SL_LOG(NOTICE, "%s is in force", app->conf_path);
	return 0;

err_log:
	/* for whoever asked, and for the log */
	len = strlen(err);
	snprintf(err + len, err_size - len, " (nothing has changed)");
	SL_LOG(ERR, "%s", err);
	return ret;
}
