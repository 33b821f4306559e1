/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluicectl/set.h"

#include "app/sluicectl/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* of one request, which has to fit the server's buffer */
#define BATCH_BYTES 40000
#define BATCH_LINES 1000

static json_t *lines_request(json_t *lines, bool exist)
{
	return json_pack("{s:s, s:o, s:b}", "command", "set", "lines", lines, "exist", exist);
}

/* as the line was before the shell took its quotes; a word with a blank is quoted */
static char *join(int argc, char **argv)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return NULL;
	for (int i = 0; i < argc; i++) {
		const char *quote = strchr(argv[i], ' ') != NULL || argv[i][0] == '\0' ? "\"" : "";

		fprintf(f, "%s%s%s%s", i > 0 ? " " : "", quote, argv[i], quote);
	}
	fclose(f);
	return text;
}

json_t *set_request(int argc, char **argv, bool exist)
{
	json_t *request, *lines;
	char *line;

	if (argc == 0 || (strcmp(argv[0], "list") == 0 && argc <= 2)) {
		request = json_pack("{s:s}", "command", "set");
		if (argc == 2)
			json_object_set_new(request, "name", json_string(argv[1]));
		return request;
	}
	if (argc < 2)
		return NULL;
	line = join(argc, argv);
	lines = json_array();
	json_array_append_new(lines, json_string(line));
	free(line);
	return lines_request(lines, exist);
}

static int send_lines(int fd, json_t **lines, bool exist, json_t **result)
{
	int ret;

	json_decref(*result);
	*result = NULL;
	ret = client_ask(fd, lines_request(*lines, exist), result);
	*lines = json_array();
	return ret;
}

int set_restore(int fd, bool exist, json_t **result)
{
	json_t *lines = json_array();
	char *line = NULL;
	size_t room = 0, bytes = 0;
	ssize_t len;
	int ret = 0;

	while (ret == 0 && (len = getline(&line, &room, stdin)) > 0) {
		while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
			line[--len] = '\0';
		if (len == 0 || line[0] == '#' || strcmp(line, "COMMIT") == 0)
			continue;
		if (bytes + (size_t)len > BATCH_BYTES || json_array_size(lines) == BATCH_LINES) {
			ret = send_lines(fd, &lines, exist, result);
			bytes = 0;
		}
		bytes += (size_t)len;
		if (json_array_append_new(lines, json_string(line)) < 0) {
			fprintf(stderr, "sluicectl: set restore: a line is not UTF-8: %s\n", line);
			ret = -EINVAL;
		}
	}
	if (ret == 0 && json_array_size(lines) > 0)
		ret = send_lines(fd, &lines, exist, result);
	json_decref(lines);
	free(line);
	return ret;
}

bool set_is_missing(const json_t *result)
{
	return json_array_size(result) == 1 && json_is_false(json_array_get(result, 0));
}
