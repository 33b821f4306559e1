/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/report.h"

#include <errno.h>
#include <string.h>

static json_t *interval(const char *middle, const struct stats_interval *i)
{
	return json_pack("{s:f, s:f, s:f}", middle, i->median, "lo", i->lo, "hi", i->hi);
}

static json_t *side_to_json(const struct result *r, const struct result_scenario *s,
		const struct result_side *side)
{
	json_t *rounds, *out;
	double ns;

	if (side->skipped[0] != '\0')
		return json_pack("{s:s}", "skipped", side->skipped);
	if (!result_measured(side))
		return json_pack("{s:s}", "fault", side->fault);
	out = interval("ns", &side->ns);
	rounds = json_array();
	for (unsigned int i = 0; i < side->n_rounds; i++)
		json_array_append_new(rounds, json_real(side->rounds[i]));
	json_object_set_new(out, "rounds", rounds);
	json_object_set_new(out, "packets", json_integer((json_int_t)side->packets));
	json_object_set_new(out, "spread", json_real(side->spread));
	json_object_set_new(out, "noisy", json_boolean(side->spread > STATS_SPREAD_MAX));
	json_object_set_new(out, "alone_ns", json_real(side->alone_ns));
	json_object_set_new(out, "generator_bound", json_boolean(result_generator_bound(side)));
	json_object_set_new(out, "cpu_share", json_real(side->cpu_share));
	if (side->ours && r->tsc_ghz > 0)
		json_object_set_new(out, "cycles", json_real(side->ns.median * r->tsc_ghz));
	if (result_added(r, s, side, &ns))
		json_object_set_new(out, "added_ns", json_real(ns));
	return out;
}

static json_t *ratios_to_json(const struct result_scenario *s)
{
	json_t *out = json_object();

	for (unsigned int i = 0; i < s->n_sides; i++) {
		for (unsigned int k = 0; k < s->n_sides; k++) {
			const struct result_side *ours = &s->sides[i], *kernel = &s->sides[k];
			struct stats_interval ratio;
			char name[40];

			if (!ours->ours || kernel->ours || !result_ratio(kernel, ours, &ratio))
				continue;
			snprintf(name, sizeof(name), "%s/%s", ours->name, kernel->name);
			json_object_set_new(out, name, interval("median", &ratio));
		}
	}
	return out;
}

static json_t *sides_to_json(const struct result *r, const struct result_scenario *s, bool ours)
{
	json_t *out = json_object();

	for (unsigned int i = 0; i < s->n_sides; i++)
		if (s->sides[i].ours == ours)
			json_object_set_new(
					out, s->sides[i].name, side_to_json(r, s, &s->sides[i]));
	return out;
}

static uint64_t packets(const struct result_scenario *s)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < s->n_sides; i++)
		sum += s->sides[i].packets;
	return sum;
}

static json_t *traffic_to_json(const struct traffic *t)
{
	return json_pack("{s:i, s:s, s:i, s:i, s:b, s:i, s:s, s:s}", "family", t->v6 ? 6 : 4,
			"protocol", t->tcp ? "tcp" : "udp", "flows", (int)t->flows, "size",
			(int)t->size, "imix", t->imix, "ttl", (int)t->ttl, "addresses",
			traffic_address_names[t->addresses], "state",
			traffic_state_names[t->state]);
}

static json_t *scenario_to_json(const struct result *r, const struct result_scenario *s)
{
	json_t *notes = json_array();
	json_t *out = json_pack("{s:s, s:s, s:o, s:i}", "name", s->name, "title", s->title,
			"traffic", traffic_to_json(&s->traffic), "rules", (int)s->rules);

	if (s->baseline[0] != '\0')
		json_object_set_new(out, "baseline", json_string(s->baseline));
	for (unsigned int i = 0; i < s->n_notes; i++)
		json_array_append_new(notes, json_string(s->notes[i]));
	if (s->skipped[0] != '\0') {
		json_object_set_new(out, "skipped", json_string(s->skipped));
	} else {
		json_object_set_new(out, "packets", json_integer((json_int_t)packets(s)));
		json_object_set_new(out, "kernel", sides_to_json(r, s, false));
		json_object_set_new(out, "sluice", sides_to_json(r, s, true));
		json_object_set_new(out, "ratio", ratios_to_json(s));
	}
	json_object_set_new(out, "notes", notes);
	return out;
}

json_t *report_to_json(const struct result *r)
{
	json_t *scenarios = json_array();

	for (unsigned int i = 0; i < r->n; i++)
		json_array_append_new(scenarios, scenario_to_json(r, &r->scenarios[i]));
	return json_pack("{s:i, s:O?, s:f, s:s, s:o}", "version", RESULT_VERSION, "machine",
			r->machine, "tsc_ghz", r->tsc_ghz, "ratio_is",
			"kernel ns / sluice ns: how many times as fast sluice is", "scenarios",
			scenarios);
}

static int wrong(char *why, size_t size, const char *where, const char *expected)
{
	snprintf(why, size, "%s: expected %s", where, expected);
	return -EINVAL;
}

static int rounds_from_json(const json_t *rounds, struct result_side *side)
{
	size_t n = json_array_size(rounds);

	if (n == 0 || n > STATS_ROUNDS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		double ns = json_number_value(json_array_get(rounds, i));

		if (!(ns > 0))
			return -EINVAL;
		side->rounds[side->n_rounds++] = ns;
	}
	return 0;
}

static void copy_text(char *to, size_t size, const json_t *from)
{
	snprintf(to, size, "%s", json_is_string(from) ? json_string_value(from) : "");
}

static int side_from_json(const char *name, const json_t *from, bool ours,
		struct result_scenario *s, char *why, size_t size)
{
	struct result_side *side = &s->sides[s->n_sides];
	const json_t *rounds = json_object_get(from, "rounds");

	if (s->n_sides == RESULT_SIDES_MAX || strlen(name) >= sizeof(side->name))
		return wrong(why, size, name, "fewer sides, shorter names");
	snprintf(side->name, sizeof(side->name), "%s", name);
	side->ours = ours;
	copy_text(side->skipped, sizeof(side->skipped), json_object_get(from, "skipped"));
	copy_text(side->fault, sizeof(side->fault), json_object_get(from, "fault"));
	side->packets = (uint64_t)json_integer_value(json_object_get(from, "packets"));
	side->alone_ns = json_number_value(json_object_get(from, "alone_ns"));
	side->cpu_share = json_number_value(json_object_get(from, "cpu_share"));
	s->n_sides++;
	if (rounds == NULL && (side->skipped[0] != '\0' || side->fault[0] != '\0'))
		return 0;
	if (rounds_from_json(rounds, side) < 0)
		return wrong(why, size, name, "'rounds' with 1 to 101 numbers above 0");
	return 0;
}

static int sides_from_json(
		const json_t *from, bool ours, struct result_scenario *s, char *why, size_t size)
{
	const char *name;
	json_t *side;
	int ret = 0;

	/* the macro's iterator wants an object that it may change */
	json_object_foreach((json_t *)(uintptr_t)from, name, side)
	{
		ret = side_from_json(name, side, ours, s, why, size);
		if (ret < 0)
			break;
	}
	return ret;
}

/* index of a word in a list, 0 of an unknown one */
static unsigned int find_word(const json_t *word, const char *const *words)
{
	for (unsigned int i = 0; json_is_string(word) && words[i] != NULL; i++)
		if (strcmp(json_string_value(word), words[i]) == 0)
			return i;
	return 0;
}

static void traffic_from_json(const json_t *from, struct traffic *t)
{
	const char *protocol = json_string_value(json_object_get(from, "protocol"));

	t->v6 = json_integer_value(json_object_get(from, "family")) == 6;
	t->tcp = protocol != NULL && strcmp(protocol, "tcp") == 0;
	t->flows = (uint32_t)json_integer_value(json_object_get(from, "flows"));
	t->size = (uint16_t)json_integer_value(json_object_get(from, "size"));
	t->imix = json_is_true(json_object_get(from, "imix"));
	t->ttl = (uint8_t)json_integer_value(json_object_get(from, "ttl"));
	t->addresses = (enum traffic_addresses)find_word(
			json_object_get(from, "addresses"), traffic_address_names);
	t->state = (enum traffic_state)find_word(
			json_object_get(from, "state"), traffic_state_names);
}

static int scenario_from_json(const json_t *from, struct result_scenario *s, char *why, size_t size)
{
	const json_t *notes = json_object_get(from, "notes");
	int ret;

	copy_text(s->name, sizeof(s->name), json_object_get(from, "name"));
	if (s->name[0] == '\0')
		return wrong(why, size, "scenarios", "a 'name' in each");
	copy_text(s->title, sizeof(s->title), json_object_get(from, "title"));
	copy_text(s->baseline, sizeof(s->baseline), json_object_get(from, "baseline"));
	copy_text(s->skipped, sizeof(s->skipped), json_object_get(from, "skipped"));
	s->rules = (uint32_t)json_integer_value(json_object_get(from, "rules"));
	traffic_from_json(json_object_get(from, "traffic"), &s->traffic);
	ret = sides_from_json(json_object_get(from, "kernel"), false, s, why, size);
	if (ret == 0)
		ret = sides_from_json(json_object_get(from, "sluice"), true, s, why, size);
	result_figures(s);
	for (size_t i = 0; i < json_array_size(notes); i++)
		result_note(s, "%s", json_string_value(json_array_get(notes, i)));
	return ret;
}

int report_from_json(const json_t *root, struct result *out, char *why, size_t size)
{
	const json_t *scenarios = json_object_get(root, "scenarios");
	struct result r = { 0 };
	int ret = 0;

	if (json_integer_value(json_object_get(root, "version")) != RESULT_VERSION)
		return wrong(why, size, "version", "1");
	if (!json_is_array(scenarios))
		return wrong(why, size, "scenarios", "a list");
	r.machine = json_incref(json_object_get(root, "machine"));
	r.tsc_ghz = json_number_value(json_object_get(root, "tsc_ghz"));
	for (size_t i = 0; ret == 0 && i < json_array_size(scenarios); i++) {
		struct result_scenario *s = result_add(&r);

		ret = s == NULL ? wrong(why, size, "scenarios", "fewer")
				: scenario_from_json(json_array_get(scenarios, i), s, why, size);
	}
	if (ret < 0)
		result_free(&r);
	else
		*out = r;
	return ret;
}
