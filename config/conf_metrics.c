/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics: where they are served. */
#include "config/conf_parts.h"

#include <stdlib.h>
#include <string.h>

#define EXPECTED "an address and a port, as 127.0.0.1:9477 or [::1]:9477"

/* digits alone, 1 to 65535; 0: it is none */
static uint16_t parse_port(const char *text)
{
	unsigned long port;

	if (text[0] == '\0' || strlen(text) > 5 || strspn(text, "0123456789") != strlen(text))
		return 0;
	port = strtoul(text, NULL, 10);
	return port > 65535 ? 0 : (uint16_t)port;
}

/* the address before @colon, in brackets if it is IPv6 */
static bool parse_addr(const char *text, const char *colon, struct sl_metrics_conf *m)
{
	bool brackets = text[0] == '[' && colon[-1] == ']';
	size_t len = (size_t)(colon - text) - (brackets ? 2 : 0);
	char addr[64];
	enum sl_family family;

	if (len >= sizeof(addr))
		return false;
	memcpy(addr, text + brackets, len);
	addr[len] = '\0';
	family = sl_addr_parse(addr, &m->addr);
	m->family = (uint8_t)family;
	return family == (brackets ? SL_AF_INET6 : SL_AF_INET);
}

static bool read_listen(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_metrics_conf *m = &((struct sl_conf *)object)->metrics;
	const char *text = yaml_text(c, node, EXPECTED);
	const char *colon;

	if (text == NULL)
		return false;
	colon = strrchr(text, ':');
	if (colon != NULL && colon != text)
		m->port = parse_port(colon + 1);
	if (m->port == 0 || !parse_addr(text, colon, m)) {
		m->port = 0;
		return yaml_error(c, node, "found '%s', expected " EXPECTED, text);
	}
	m->listen = yaml_dup_text(c, text);
	m->at = yaml_mark(node);
	return true;
}

bool conf_metrics(struct yaml_ctx *c, const yaml_node_t *node, void *conf)
{
	static const struct yaml_key keys[] = {
		{ "listen", read_listen, true },
		{ NULL, NULL, false },
	};

	return yaml_map(c, node, "metrics", keys, conf, NULL);
}
