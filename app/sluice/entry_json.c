/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/entry_json.h"

#include "conntrack/proto.h"
#include "conntrack/text.h"

#include <string.h>

static const char *addr_text(const struct ct_tuple *t, const struct sl_addr *a, char *buf)
{
	return sl_addr_str((enum sl_family)t->family, a, buf);
}

static json_t *tuple_json(const struct ct_view *v, enum ct_dir dir)
{
	const struct ct_tuple *t = ct_tuple_of(&v->e, dir);
	json_t *o = json_object();
	char buf[SL_ADDR_STRLEN];

	json_object_set_new(o, "src", json_string(addr_text(t, &t->src, buf)));
	json_object_set_new(o, "dst", json_string(addr_text(t, &t->dst, buf)));
	switch (ct_text_kind(t->proto)) {
	case CT_TEXT_NOTHING:
		break;
	case CT_TEXT_PORTS:
		json_object_set_new(o, "sport", json_integer(rte_be_to_cpu_16(t->sport_be)));
		json_object_set_new(o, "dport", json_integer(rte_be_to_cpu_16(t->dport_be)));
		break;
	case CT_TEXT_ICMP:
		json_object_set_new(o, "type", json_integer(t->type));
		json_object_set_new(o, "code", json_integer(t->code));
		json_object_set_new(o, "id", json_integer(rte_be_to_cpu_16(t->id_be)));
		break;
	case CT_TEXT_KEYS:
		json_object_set_new(o, "srckey", json_integer(rte_be_to_cpu_16(t->sport_be)));
		json_object_set_new(o, "dstkey", json_integer(rte_be_to_cpu_16(t->dport_be)));
		break;
	}
	if (t->zone != 0)
		json_object_set_new(o, "zone", json_integer(t->zone));
	if (v->acct) {
		json_object_set_new(o, "packets", json_integer((json_int_t)v->cold.packets[dir]));
		json_object_set_new(o, "bytes", json_integer((json_int_t)v->cold.bytes[dir]));
	}
	return o;
}

static json_t *status_json(uint32_t status)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ CT_EXPECTED, "EXPECTED" },
		{ CT_SEEN_REPLY, "SEEN_REPLY" },
		{ CT_ASSURED, "ASSURED" },
		{ CT_CONFIRMED, "CONFIRMED" },
		{ CT_SRC_NAT, "SRC_NAT" },
		{ CT_DST_NAT, "DST_NAT" },
	};
	json_t *list = json_array();

	for (unsigned int i = 0; i < RTE_DIM(names); i++)
		if (status & names[i].bit)
			json_array_append_new(list, json_string(names[i].name));
	return list;
}

json_t *entry_json(const struct ct_view *v)
{
	const char *state = ct_proto_state(&v->e);
	json_t *o = json_object();

	json_object_set_new(o, "family", json_string(ct_text_family(v->e.orig.family)));
	json_object_set_new(o, "proto", json_string(ct_text_proto(v->e.orig.proto)));
	json_object_set_new(o, "protonum", json_integer(v->e.orig.proto));
	json_object_set_new(o, "timeout", json_integer(ct_seconds_left(&v->e, v->now_ms)));
	if (state != NULL)
		json_object_set_new(o, "state", json_string(state));
	json_object_set_new(o, "original", tuple_json(v, CT_ORIGINAL));
	json_object_set_new(o, "reply", tuple_json(v, CT_REPLY));
	json_object_set_new(o, "status", status_json(v->e.status));
	json_object_set_new(o, "mark", json_integer(v->e.mark));
	if (v->timestamp)
		json_object_set_new(o, "age", json_integer((json_int_t)ct_text_age(v)));
	json_object_set_new(o, "worker", json_integer(v->worker));
	json_object_set_new(o, "id", json_integer(v->e.id));
	return o;
}

json_t *entry_line(const struct ct_view *v)
{
	char text[1024] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	if (f == NULL)
		return json_null();
	ct_text_line(f, v);
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return json_string(text);
}
