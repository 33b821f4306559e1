/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

#include <pcap/pcap.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ARGS_MAX 32

struct rig {
	char dir[64];
	char path[256];
	char err[4096];
	const char *const *ports;
	pcap_t *format;
	pcap_dumper_t *in[RIG_PORTS_MAX];
};

const char *rig_sluice;

const char *rig_path(struct rig *rig, const char *name)
{
	snprintf(rig->path, sizeof(rig->path), "%s/%s", rig->dir, name);
	return rig->path;
}

struct rig *rig_open(const char *config, const char *const *ports)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	char name[64];
	FILE *f;

	assert_non_null(rig);
	snprintf(rig->dir, sizeof(rig->dir), "/tmp/sluice-rig.XXXXXX");
	assert_non_null(mkdtemp(rig->dir));
	f = fopen(rig_path(rig, "sluice.yaml"), "we");
	assert_non_null(f);
	fputs(config, f);
	assert_int_equal(fclose(f), 0);
	rig->ports = ports;
	rig->format = pcap_open_dead(DLT_EN10MB, 65535);
	for (unsigned int i = 0; ports[i] != NULL; i++) {
		assert_true(i < RIG_PORTS_MAX);
		snprintf(name, sizeof(name), "%s.pcap", ports[i]);
		rig->in[i] = pcap_dump_open(rig->format, rig_path(rig, name));
		assert_non_null(rig->in[i]);
	}
	return rig;
}

static void close_inputs(struct rig *rig)
{
	for (unsigned int i = 0; i < RIG_PORTS_MAX; i++) {
		if (rig->in[i] != NULL)
			pcap_dump_close(rig->in[i]);
		rig->in[i] = NULL;
	}
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void rig_close(struct rig *rig)
{
	close_inputs(rig);
	pcap_close(rig->format);
	nftw(rig->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(rig);
}

void rig_add(struct rig *rig, const char *port, uint64_t time_us, const void *data, size_t len)
{
	struct pcap_pkthdr h = {
		.ts = { .tv_sec = (time_t)(time_us / 1000000),
				.tv_usec = (suseconds_t)(time_us % 1000000) },
		.caplen = (bpf_u_int32)len,
		.len = (bpf_u_int32)len,
	};
	unsigned int i = 0;

	while (strcmp(rig->ports[i], port) != 0)
		i++;
	pcap_dump((u_char *)rig->in[i], &h, data);
}

static void read_text(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
}

int rig_exec(struct rig *rig, char *const *args)
{
	char *argv[ARGS_MAX] = { (char *)(uintptr_t) "sluice" };
	posix_spawn_file_actions_t files;
	unsigned int n = 1;
	int status;
	pid_t pid;

	close_inputs(rig);
	for (; args[n - 1] != NULL; n++)
		argv[n] = args[n - 1];
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addchdir_np(&files, rig->dir);
	posix_spawn_file_actions_addopen(&files, 1, "stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_addopen(&files, 2, "stderr", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(posix_spawn(&pid, rig_sluice, &files, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&files);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	read_text(rig_path(rig, "stderr"), rig->err, sizeof(rig->err));
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

void rig_run(struct rig *rig, unsigned int workers)
{
	char *args[ARGS_MAX] = { (char *)(uintptr_t) "replay", (char *)(uintptr_t) "-c",
		(char *)(uintptr_t) "sluice.yaml", (char *)(uintptr_t) "--out",
		(char *)(uintptr_t) "out", (char *)(uintptr_t) "--json", (char *)(uintptr_t) "json",
		(char *)(uintptr_t) "--workers" };
	char number[16], in[RIG_PORTS_MAX][64];
	unsigned int n = 8;

	snprintf(number, sizeof(number), "%u", workers);
	args[n++] = number;
	for (unsigned int i = 0; rig->ports[i] != NULL; i++) {
		snprintf(in[i], sizeof(in[i]), "%s=%s.pcap", rig->ports[i], rig->ports[i]);
		args[n++] = (char *)(uintptr_t) "--in";
		args[n++] = in[i];
	}
	if (rig_exec(rig, args) != 0)
		fail_msg("sluice replay: %s", rig->err);
	assert_string_equal(rig->err, "");
}

const char *rig_err(struct rig *rig)
{
	return rig->err;
}

struct rig_frames rig_out(struct rig *rig, const char *port)
{
	struct rig_frames frames = { NULL, 0 };
	char name[64], why[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *h;
	const u_char *data;
	pcap_t *in;
	int ret;

	snprintf(name, sizeof(name), "out/%s.pcap", port);
	in = pcap_open_offline(rig_path(rig, name), why);
	if (in == NULL)
		fail_msg("%s", why);
	while ((ret = pcap_next_ex(in, &h, &data)) == 1) {
		struct rig_frame *f;

		frames.v = realloc(frames.v, (frames.n + 1) * sizeof(*frames.v));
		assert_non_null(frames.v);
		f = &frames.v[frames.n++];
		f->time_us = (uint64_t)h->ts.tv_sec * 1000000 + (uint64_t)h->ts.tv_usec;
		f->len = h->caplen;
		f->data = malloc(h->caplen + 1);
		assert_non_null(f->data);
		memcpy(f->data, data, h->caplen);
	}
	assert_int_equal(ret, PCAP_ERROR_BREAK);
	pcap_close(in);
	return frames;
}

void rig_free(struct rig_frames *frames)
{
	for (size_t i = 0; i < frames->n; i++)
		free(frames->v[i].data);
	free(frames->v);
	*frames = (struct rig_frames){ NULL, 0 };
}

json_t *rig_json(struct rig *rig)
{
	json_error_t error;
	json_t *root = json_load_file(rig_path(rig, "json"), 0, &error);

	if (root == NULL)
		fail_msg("json:%d: %s", error.line, error.text);
	return root;
}

unsigned int rig_dropped(struct rig *rig, const char *reason)
{
	json_t *root = rig_json(rig);
	json_int_t n = json_integer_value(json_object_get(json_object_get(root, "drops"), reason));

	json_decref(root);
	return (unsigned int)n;
}
