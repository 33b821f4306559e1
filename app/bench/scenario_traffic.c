/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/scenario_read.h"
#include "app/bench/traffic_pcap.h"

#include <limits.h>

/* what depends on other keys */
struct reading {
	struct traffic *t;
	const yaml_node_t *pcap, *size, *flows, *addresses;
};

static bool read_family(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const char *const words[] = { "4", "6", NULL };
	int word;

	if (!yaml_word(c, node, words, &word))
		return false;
	((struct reading *)object)->t->v6 = word == 1;
	return true;
}

static bool read_protocol(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const char *const words[] = { "udp", "tcp", NULL };
	int word;

	if (!yaml_word(c, node, words, &word))
		return false;
	((struct reading *)object)->t->tcp = word == 1;
	return true;
}

static bool read_flows(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct reading *r = object;
	uint64_t n;

	if (!yaml_uint(c, node, 1, TRAFFIC_FLOWS_MAX, &n))
		return false;
	r->t->flows = (uint32_t)n;
	r->flows = node;
	return true;
}

static bool read_size(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct reading *r = object;
	uint64_t n;

	r->size = node;
	if (node->type == YAML_SCALAR_NODE
			&& strcmp((const char *)node->data.scalar.value, "imix") == 0) {
		r->t->imix = true;
		r->t->size = TRAFFIC_SIZE_MAX;
		return true;
	}
	if (!yaml_uint(c, node, TRAFFIC_SIZE_MIN, TRAFFIC_SIZE_MAX, &n))
		return false;
	r->t->size = (uint16_t)n;
	return true;
}

static bool read_ttl(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t n;

	if (!yaml_uint(c, node, 1, 255, &n))
		return false;
	((struct reading *)object)->t->ttl = (uint8_t)n;
	return true;
}

static bool read_addresses(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const char *const words[] = { "near", "any", "rules", NULL };
	struct reading *r = object;
	int word;

	if (!yaml_word(c, node, words, &word))
		return false;
	r->t->addresses = (enum traffic_addresses)word;
	r->addresses = node;
	return true;
}

static bool read_state(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	int word;

	if (!yaml_word(c, node, traffic_state_names, &word))
		return false;
	((struct reading *)object)->t->state = (enum traffic_state)word;
	return true;
}

static bool read_pcap(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	((struct reading *)object)->pcap = node;
	return yaml_text(c, node, "a capture file") != NULL;
}

static void *alloc(void *c, size_t n, size_t size)
{
	return yaml_alloc(c, n, size);
}

static bool load_pcap(struct yaml_ctx *c, const struct reading *r)
{
	struct traffic_pcap *pcap = yaml_alloc(c, 1, sizeof(*pcap));
	char path[PATH_MAX], why[PATH_MAX + 128];

	if (r->size != NULL || r->flows != NULL || r->addresses != NULL)
		return yaml_error(c, r->pcap,
				"'pcap' beside size, flows or addresses, expected those of the "
				"capture");
	if (r->t->state != TRAFFIC_STATELESS)
		return yaml_error(c, r->pcap, "'pcap' beside 'state', expected one of them");
	scenario_beside(c, yaml_text(c, r->pcap, ""), path, sizeof(path));
	if (traffic_pcap_read(path, r->t->v6, alloc, c, pcap, why, sizeof(why)) < 0)
		return yaml_error(c, r->pcap, "%s, expected a capture of Ethernet frames", why);
	r->t->addresses = TRAFFIC_PCAP;
	r->t->pcap = pcap;
	r->t->flows = pcap->n;
	for (uint32_t i = 0; i < pcap->n; i++)
		if (pcap->lens[i] > r->t->size)
			r->t->size = pcap->lens[i];
	return true;
}

bool scenario_read_traffic(struct yaml_ctx *c, const yaml_node_t *node, void *scenario)
{
	static const struct yaml_key keys[] = {
		{ "family", read_family, false },
		{ "protocol", read_protocol, false },
		{ "flows", read_flows, false },
		{ "size", read_size, false },
		{ "ttl", read_ttl, false },
		{ "addresses", read_addresses, false },
		{ "state", read_state, false },
		{ "pcap", read_pcap, false },
		{ NULL, NULL, false },
	};
	struct reading r = { .t = &((struct scenario *)scenario)->traffic };
	unsigned int min;

	if (!yaml_map(c, node, "traffic", keys, &r, NULL))
		return false;
	if (r.pcap != NULL)
		return load_pcap(c, &r);
	min = r.t->v6 && r.t->tcp ? TRAFFIC_SIZE_MIN_TCP6 : TRAFFIC_SIZE_MIN;
	if (r.t->size < min && r.size != NULL)
		return yaml_error(c, r.size, "found %u bytes, expected at least %u for TCP on IPv6",
				r.t->size, min);
	if (r.t->size < min)
		r.t->size = (uint16_t)min;
	if (r.t->addresses != TRAFFIC_NEAR && (r.t->v6 || r.t->state != TRAFFIC_STATELESS))
		return yaml_error(c, r.addresses, "%s addresses with %s, expected near ones",
				traffic_address_names[r.t->addresses],
				r.t->v6 ? "family 6" : "a state");
	if (r.t->imix && (r.t->state != TRAFFIC_STATELESS || r.t->tcp))
		return yaml_error(c, r.size, "imix with TCP or a state, expected one size");
	return true;
}
