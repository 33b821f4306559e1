/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/yaml.h"

#include "config/conf_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define DEFAULT_SOCKET "/run/sluice/control.sock"
#define DEFAULT_CONNTRACK_MAX 262144

/* a number of workers, or a list of the CPUs that they shall have */
static bool read_workers(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_conf *conf = object;
	uint64_t value;
	size_t n;

	if (node->type != YAML_SEQUENCE_NODE) {
		if (!yaml_uint(c, node, 1, SL_WORKERS_MAX, &value))
			return false;
		conf->n_workers = (unsigned int)value;
		return true;
	}
	yaml_seq(c, node, "CPUs", &n);
	if (n == 0 || n > SL_WORKERS_MAX)
		return yaml_error(c, node, "found %zu CPUs, expected 1 to %d", n, SL_WORKERS_MAX);
	conf->lcores = yaml_alloc(c, n, sizeof(*conf->lcores));
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_item(c, node, i);

		if (!yaml_uint(c, item, 0, 1023, &value))
			return false;
		for (size_t j = 0; j < i; j++)
			if (conf->lcores[j] == value)
				return yaml_error(c, item,
						"CPU %u is here twice, expected one worker on each",
						conf->lcores[j]);
		conf->lcores[i] = (unsigned int)value;
	}
	conf->n_workers = (unsigned int)n;
	return true;
}

static bool read_hugepages(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const char *const words[] = { "auto", "off", NULL };
	int word;

	if (!yaml_word(c, node, words, &word))
		return false;
	((struct sl_conf *)object)->hugepages = word == 0 ? SL_HUGEPAGES_AUTO : SL_HUGEPAGES_OFF;
	return true;
}

static bool read_conntrack_max(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t max;

	if (!yaml_uint(c, node, 1, 1U << 28, &max))
		return false;
	((struct sl_conf *)object)->conntrack_max = (uint32_t)max;
	return true;
}

static bool read_conntrack(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const struct yaml_key keys[] = {
		{ "max", read_conntrack_max, false },
		{ NULL, NULL, false },
	};

	return yaml_map(c, node, "conntrack", keys, object, NULL);
}

static bool read_socket(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(c, node, &((struct sl_conf *)object)->control_socket,
			"the path of a socket");
}

static bool read_control(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const struct yaml_key keys[] = {
		{ "socket", read_socket, false },
		{ NULL, NULL, false },
	};

	return yaml_map(c, node, "control", keys, object, NULL);
}

static const struct yaml_key top_keys[] = {
	{ "workers", read_workers, false },
	{ "hugepages", read_hugepages, false },
	{ "ports", conf_ports, true },
	{ "routes", conf_routes, false },
	{ "neighbours", conf_neighbours, false },
	{ "policy", conf_policy, false },
	{ "firewall", conf_firewall, false },
	{ "conntrack", read_conntrack, false },
	{ "sysctl", conf_sysctl, false },
	{ "pipeline", conf_pipeline, false },
	{ "control", read_control, false },
	{ "metrics", conf_metrics, false },
	{ "plugins", conf_plugins, false },
	{ NULL, NULL, false },
};

static bool interpret(struct yaml_ctx *c)
{
	const yaml_node_t *root = yaml_document_get_root_node(&c->doc);

	if (root == NULL)
		return yaml_error_at(c, (struct sl_mark){ 1, 1 },
				"found nothing, expected a configuration with 'ports'");
	return yaml_map(c, root, "the configuration", top_keys, c->conf, NULL) && conf_check(c);
}

static struct sl_conf *make_conf(struct yaml_ctx *c)
{
	struct sl_conf *conf = yaml_alloc(c, 1, sizeof(*conf));

	conf->path = yaml_dup_text(c, c->path);
	conf->n_workers = 1;
	conf->firewall.log.rate = SL_LOG_RATE;
	conf->firewall.log.burst = SL_LOG_BURST;
	conf->conntrack_max = DEFAULT_CONNTRACK_MAX;
	conf->control_socket = DEFAULT_SOCKET;
	return conf;
}

int sl_conf_read(const char *path, struct sl_conf **out, FILE *err)
{
	struct yaml_ctx c = { .path = path, .err = err };
	FILE *in = fopen(path, "re");
	struct stat st;
	bool ok;

	if (in == NULL || fstat(fileno(in), &st) < 0 || S_ISDIR(st.st_mode)) {
		int ret = in == NULL ? -errno : -EISDIR;

		fprintf(err, "%s: %s\n", path, strerror(-ret));
		if (in != NULL)
			fclose(in);
		return ret;
	}
	ok = yaml_load(&c, in);
	fclose(in);
	if (!ok)
		return -EINVAL;
	c.conf = make_conf(&c);
	ok = interpret(&c);
	yaml_document_delete(&c.doc);
	if (!ok) {
		yaml_free_arena(c.arena);
		return -EINVAL;
	}
	c.conf->arena = c.arena;
	*out = c.conf;
	return 0;
}

void sl_conf_free(struct sl_conf *conf)
{
	if (conf != NULL)
		yaml_free_arena(conf->arena);
}
