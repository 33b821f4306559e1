/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/conf_parts.h"

#include <libgen.h>
#include <limits.h>

/* lines, a second or at once; more than a file could take */
#define LOG_RATE_MAX 1000000

bool conf_path(struct yaml_ctx *c, const yaml_node_t *node, const char **out)
{
	const char *text = yaml_text(c, node, "a path");
	char dir[PATH_MAX], joined[2 * PATH_MAX];

	if (text == NULL)
		return false;
	snprintf(dir, sizeof(dir), "%s", c->path);
	if (text[0] == '/')
		snprintf(joined, sizeof(joined), "%s", text);
	else
		snprintf(joined, sizeof(joined), "%s/%s", dirname(dir), text);
	*out = yaml_dup_text(c, joined);
	return true;
}

static bool firewall_iptables(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return conf_path(c, node, &((struct sl_firewall_conf *)object)->iptables);
}

static bool firewall_ip6tables(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return conf_path(c, node, &((struct sl_firewall_conf *)object)->ip6tables);
}

static bool firewall_ipset(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return conf_path(c, node, &((struct sl_firewall_conf *)object)->ipset);
}

static bool firewall_engine(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_firewall_conf *f = object;

	/* a plug-in may bring it, further down: conf_firewall_check() */
	f->engine_at = yaml_mark(node);
	return yaml_text_into(c, node, &f->engine, "the name of an engine");
}

static bool log_file(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return conf_path(c, node, &((struct sl_log_conf *)object)->file);
}

static bool log_rate(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_log_conf *log = object;
	uint64_t rate;

	if (!yaml_uint(c, node, 0, LOG_RATE_MAX, &rate))
		return false;
	log->rate = (uint32_t)rate;
	log->has_rate = true;
	return true;
}

static bool log_burst(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t burst;

	if (!yaml_uint(c, node, 1, LOG_RATE_MAX, &burst))
		return false;
	((struct sl_log_conf *)object)->burst = (uint32_t)burst;
	return true;
}

static const struct yaml_key log_keys[] = {
	{ "file", log_file, false },
	{ "rate", log_rate, false },
	{ "burst", log_burst, false },
	{ NULL, NULL, false },
};

static bool firewall_log(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_log_conf *log = &((struct sl_firewall_conf *)object)->log;

	if (!yaml_map(c, node, "log", log_keys, log, NULL))
		return false;
	if (log->file != NULL && !log->has_rate)
		log->rate = 0;
	return true;
}

static bool nflog_group(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t group;

	if (!yaml_uint(c, node, 0, UINT16_MAX, &group))
		return false;
	((struct sl_nflog_conf *)object)->group = (uint16_t)group;
	return true;
}

static bool nflog_pcap(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return conf_path(c, node, &((struct sl_nflog_conf *)object)->pcap);
}

static bool nflog_text(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return conf_path(c, node, &((struct sl_nflog_conf *)object)->text);
}

static const struct yaml_key nflog_keys[] = {
	{ "group", nflog_group, true },
	{ "pcap", nflog_pcap, false },
	{ "text", nflog_text, false },
	{ NULL, NULL, false },
};

/* @i has been read, those before it are known */
static bool nflog_check(struct yaml_ctx *c, const struct sl_firewall_conf *fw, unsigned int i)
{
	const struct sl_nflog_conf *n = &fw->nflog[i];

	if (n->pcap == NULL && n->text == NULL)
		return yaml_error_at(
				c, n->at, "nflog group %u: pcap or text was expected", n->group);
	for (unsigned int k = 0; k < i; k++)
		if (fw->nflog[k].group == n->group)
			return yaml_error_at(c, n->at, "nflog group %u: was given on line %u",
					n->group, fw->nflog[k].at.line);
	return true;
}

static bool firewall_nflog(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_firewall_conf *fw = object;
	size_t n;

	if (!yaml_seq(c, node, "nflog", &n))
		return false;
	fw->nflog = yaml_alloc(c, n, sizeof(*fw->nflog));
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_item(c, node, i);

		fw->nflog[i].at = yaml_mark(item);
		if (!yaml_map(c, item, "nflog", nflog_keys, &fw->nflog[i], NULL)
				|| !nflog_check(c, fw, (unsigned int)i))
			return false;
		fw->n_nflog++;
	}
	return true;
}

static const struct yaml_key firewall_keys[] = {
	{ "iptables", firewall_iptables, false },
	{ "ip6tables", firewall_ip6tables, false },
	{ "ipset", firewall_ipset, false },
	{ "engine", firewall_engine, false },
	{ "log", firewall_log, false },
	{ "nflog", firewall_nflog, false },
	{ NULL, NULL, false },
};

bool conf_firewall(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_conf *conf = object;

	conf->firewall.at = yaml_mark(node);
	return yaml_map(c, node, "firewall", firewall_keys, &conf->firewall, NULL);
}
