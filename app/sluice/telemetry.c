/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's telemetry runs in a thread of its own and wants its own kind of tree: the answer of a
 * command is copied into one, as far as it fits its limits. It has no lists of objects, so they
 * become objects by name.
 */
#include "app/sluice/telemetry.h"

#include "app/sluice/app.h"
#include "app/sluice/commands.h"
#include "lib/log.h"

#include <rte_telemetry.h>

#include <errno.h>
#include <string.h>

SL_LOG_TYPE("telemetry");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct app *offered;

static void copy(struct rte_tel_data *d, const json_t *value);

static void add(struct rte_tel_data *d, const char *key, const json_t *value)
{
	struct rte_tel_data *nested;

	if (json_is_integer(value) && json_integer_value(value) < 0) {
		rte_tel_data_add_dict_int(d, key, (int)json_integer_value(value));
	} else if (json_is_integer(value)) {
		rte_tel_data_add_dict_u64(d, key, (uint64_t)json_integer_value(value));
	} else if (json_is_real(value)) {
		rte_tel_data_add_dict_u64(d, key, (uint64_t)json_real_value(value));
	} else if (json_is_boolean(value)) {
		rte_tel_data_add_dict_int(d, key, json_is_true(value));
	} else if (json_is_string(value)) {
		rte_tel_data_add_dict_string(d, key, json_string_value(value));
	} else {
		nested = rte_tel_data_alloc();
		if (nested == NULL)
			return;
		copy(nested, value);
		if (rte_tel_data_add_dict_container(d, key, nested, 0) < 0)
			rte_tel_data_free(nested);
	}
}

/* what an object of a list is known by */
static void name_of(const json_t *object, size_t index, char *buf, size_t size)
{
	const char *name = json_string_value(json_object_get(object, "name"));
	const char *reason = json_string_value(json_object_get(object, "reason"));
	const char *hook = json_string_value(json_object_get(object, "hook"));
	const char *stage = json_string_value(json_object_get(object, "stage"));

	if (name != NULL)
		snprintf(buf, size, "%s", name);
	else if (reason != NULL)
		snprintf(buf, size, "%s", reason);
	else if (hook != NULL && stage != NULL)
		snprintf(buf, size, "%zu_%s_%s", index, hook, stage);
	else
		snprintf(buf, size, "%zu", index);
}

static void copy_objects(struct rte_tel_data *d, const json_t *list)
{
	char name[RTE_TEL_MAX_STRING_LEN];

	rte_tel_data_start_dict(d);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *object = json_array_get(list, i);

		name_of(object, i, name, sizeof(name));
		add(d, name, object);
	}
}

static void copy(struct rte_tel_data *d, const json_t *value)
{
	if (json_is_object(value)) {
		/* jansson's iterators want it writable, and change nothing */
		json_t *object = (json_t *)(uintptr_t)value;

		rte_tel_data_start_dict(d);
		for (void *i = json_object_iter(object); i != NULL;
				i = json_object_iter_next(object, i))
			add(d, json_object_iter_key(i), json_object_iter_value(i));
	} else if (json_is_object(json_array_get(value, 0))) {
		copy_objects(d, value);
	} else {
		rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
		for (size_t i = 0; i < json_array_size(value); i++)
			rte_tel_data_add_array_string(
					d, json_string_value(json_array_get(value, i)));
	}
}

static int answer(const char *path, const char *params __rte_unused, struct rte_tel_data *d)
{
	const struct command *command = command_find(strrchr(path, '/') + 1);
	json_int_t next = 0;
	json_t *result = NULL;
	char err[64];

	if (command == NULL)
		return -ENOENT;
	pthread_mutex_lock(&lock);
	if (offered != NULL) {
		pthread_mutex_lock(&offered->lock);
		result = command->run(offered, NULL, &next, err, sizeof(err));
		pthread_mutex_unlock(&offered->lock);
	}
	pthread_mutex_unlock(&lock);
	if (result == NULL)
		return -EAGAIN;
	copy(d, result);
	json_decref(result);
	return 0;
}

void telemetry_offer(struct app *app)
{
	offered = app;
	for (unsigned int i = 0; i < n_commands; i++) {
		char path[32];
		int ret;

		if (!commands[i].telemetry)
			continue;
		snprintf(path, sizeof(path), "/sluice/%s", commands[i].name);
		ret = rte_telemetry_register_cmd(path, answer, commands[i].help);
		if (ret < 0)
			SL_LOG(WARNING, "%s: %s", path, strerror(-ret));
	}
}

void telemetry_end(void)
{
	pthread_mutex_lock(&lock);
	offered = NULL;
	pthread_mutex_unlock(&lock);
}
