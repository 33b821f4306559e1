/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's telemetry runs in a thread of its own and wants its own kind of tree: the answer of a
 * command is copied into one, as far as it fits its limits.
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

static void copy_array(struct rte_tel_data *d, const json_t *array);

static void copy_object(struct rte_tel_data *d, const json_t *object);

static struct rte_tel_data *copy_nested(const json_t *value)
{
	struct rte_tel_data *d = rte_tel_data_alloc();

	if (d == NULL)
		return NULL;
	if (json_is_array(value))
		copy_array(d, value);
	else
		copy_object(d, value);
	return d;
}

static void copy_object(struct rte_tel_data *d, const json_t *object)
{
	const char *key;
	json_t *value;

	rte_tel_data_start_dict(d);
	/* jansson's macro wants it writable, and changes nothing */
	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		if (json_is_integer(value))
			rte_tel_data_add_dict_u64(d, key, (uint64_t)json_integer_value(value));
		else if (json_is_real(value))
			rte_tel_data_add_dict_u64(d, key, (uint64_t)json_real_value(value));
		else if (json_is_boolean(value))
			rte_tel_data_add_dict_int(d, key, json_is_true(value));
		else if (json_is_string(value))
			rte_tel_data_add_dict_string(d, key, json_string_value(value));
		else
			rte_tel_data_add_dict_container(d, key, copy_nested(value), 0);
	}
}

static void copy_array(struct rte_tel_data *d, const json_t *array)
{
	bool text = json_is_string(json_array_get(array, 0));
	size_t i;
	json_t *value;

	rte_tel_data_start_array(d, text ? RTE_TEL_STRING_VAL : RTE_TEL_CONTAINER);
	json_array_foreach(array, i, value)
	{
		if (text)
			rte_tel_data_add_array_string(d, json_string_value(value));
		else
			rte_tel_data_add_array_container(d, copy_nested(value), 0);
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
	if (json_is_array(result))
		copy_array(d, result);
	else
		copy_object(d, result);
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
