/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"

#include <pcap/pcap.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORTS_MAX 8
#define PATH_MAX_LEN 256
#define SNAP_LEN 65535
#define LAST_WORDS 2000

struct replay {
	const char *sluice;
	const char *workers;
	const char *rules; /* NULL: not asked for */
	const char *log; /* likewise */
	const char *const *ports;
	unsigned int n_ports;
	char dir[64];
	pcap_t *dead;
	pcap_dumper_t *in[PORTS_MAX];
};

static int write_config_file(struct replay *r, void (*write_config)(FILE *f))
{
	char path[PATH_MAX_LEN];
	FILE *f;

	snprintf(path, sizeof(path), "%s/sluice.yaml", r->dir);
	f = fopen(path, "w");
	if (f == NULL)
		return -errno;
	write_config(f);
	return fclose(f) == 0 ? 0 : -errno;
}

static int make_out_dir(struct replay *r)
{
	char path[PATH_MAX_LEN];

	snprintf(path, sizeof(path), "%s/out", r->dir);
	return mkdir(path, 0700) < 0 ? -errno : 0;
}

int replay_open(const char *sluice, const char *workers, const char *const *ports,
		void (*write_config)(FILE *f), struct replay **out)
{
	struct replay *r = calloc(1, sizeof(*r));
	int ret;

	if (r == NULL)
		return -ENOMEM;
	r->sluice = sluice;
	r->workers = workers;
	r->ports = ports;
	snprintf(r->dir, sizeof(r->dir), "/tmp/sluice-replay-XXXXXX");
	if (mkdtemp(r->dir) == NULL) {
		ret = -errno;
		free(r);
		return ret;
	}
	ret = write_config_file(r, write_config);
	if (ret == 0)
		ret = make_out_dir(r);
	r->dead = pcap_open_dead(DLT_EN10MB, SNAP_LEN);
	if (ret == 0 && r->dead == NULL)
		ret = -ENOMEM;
	for (; ret == 0 && r->n_ports < PORTS_MAX && ports[r->n_ports] != NULL; r->n_ports++) {
		char path[PATH_MAX_LEN];

		snprintf(path, sizeof(path), "%s/in-%s.pcap", r->dir, ports[r->n_ports]);
		r->in[r->n_ports] = pcap_dump_open(r->dead, path);
		if (r->in[r->n_ports] == NULL)
			ret = -EIO;
	}
	if (ret < 0) {
		replay_close(r);
		return ret;
	}
	*out = r;
	return 0;
}

void replay_write_rules(struct replay *r, const char *path)
{
	r->rules = path;
}

void replay_write_log(struct replay *r, const char *path)
{
	r->log = path;
}

int replay_add(struct replay *r, unsigned int port, uint64_t time_ns, const void *data, size_t len)
{
	struct pcap_pkthdr hdr = {
		.ts = { .tv_sec = (time_t)(time_ns / 1000000000),
				.tv_usec = (suseconds_t)(time_ns / 1000 % 1000000) },
		.caplen = (bpf_u_int32)len,
		.len = (bpf_u_int32)len,
	};

	if (port >= r->n_ports)
		return -EINVAL;
	pcap_dump((u_char *)r->in[port], &hdr, data);
	return 0;
}

static void print_log(const char *path)
{
	char text[LAST_WORDS + 1];
	FILE *f = fopen(path, "r");
	size_t n;

	if (f == NULL)
		return;
	if (fseek(f, -LAST_WORDS, SEEK_END) != 0)
		rewind(f);
	n = fread(text, 1, LAST_WORDS, f);
	fclose(f);
	text[n] = '\0';
	fprintf(stderr, "%s\n", text);
}

static void exec_sluice(struct replay *r, const char *log)
{
	char config[PATH_MAX_LEN], out[PATH_MAX_LEN], in[PORTS_MAX][PATH_MAX_LEN];
	char replay_word[] = "replay", c_opt[] = "-c", in_opt[] = "--in", out_opt[] = "--out";
	char rules_opt[] = "--rules", rules[PATH_MAX_LEN];
	char log_opt[] = "--log", lines[PATH_MAX_LEN];
	char name[PATH_MAX_LEN], workers[32];
	char *argv[16 + 2 * PORTS_MAX];
	size_t n = 0;
	int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		_exit(126);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(126);
	snprintf(name, sizeof(name), "%s", r->sluice);
	snprintf(config, sizeof(config), "%s/sluice.yaml", r->dir);
	snprintf(out, sizeof(out), "%s/out", r->dir);
	argv[n++] = name;
	argv[n++] = replay_word;
	argv[n++] = c_opt;
	argv[n++] = config;
	for (unsigned int i = 0; i < r->n_ports; i++) {
		snprintf(in[i], sizeof(in[i]), "%s=%s/in-%s.pcap", r->ports[i], r->dir,
				r->ports[i]);
		argv[n++] = in_opt;
		argv[n++] = in[i];
	}
	argv[n++] = out_opt;
	argv[n++] = out;
	if (r->rules != NULL) {
		snprintf(rules, sizeof(rules), "%s", r->rules);
		argv[n++] = rules_opt;
		argv[n++] = rules;
	}
	if (r->log != NULL) {
		snprintf(lines, sizeof(lines), "%s", r->log);
		argv[n++] = log_opt;
		argv[n++] = lines;
	}
	if (r->workers != NULL) {
		snprintf(workers, sizeof(workers), "--workers=%s", r->workers);
		argv[n++] = workers;
	}
	argv[n] = NULL;
	execv(r->sluice, argv);
	_exit(127);
}

static int run_sluice(struct replay *r)
{
	char log[PATH_MAX_LEN];
	int status;
	pid_t pid;

	snprintf(log, sizeof(log), "%s/log", r->dir);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		exec_sluice(r, log);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status))
		fprintf(stderr, "%s replay: exit status %d\n", r->sluice, WEXITSTATUS(status));
	else
		fprintf(stderr, "%s replay: signal %d\n", r->sluice, WTERMSIG(status));
	print_log(log);
	return -EPROTO;
}

static int read_port(struct replay *r, unsigned int port, replay_sink sink, void *ctx)
{
	char path[PATH_MAX_LEN], err[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *hdr;
	const u_char *data;
	int ret = 0, more = 0;
	pcap_t *p;

	snprintf(path, sizeof(path), "%s/out/%s.pcap", r->dir, r->ports[port]);
	p = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, err);
	if (p == NULL) {
		fprintf(stderr, "%s\n", err);
		return -EPROTO;
	}
	while (ret == 0 && (more = pcap_next_ex(p, &hdr, &data)) == 1) {
		uint64_t time_ns =
				(uint64_t)hdr->ts.tv_sec * 1000000000 + (uint64_t)hdr->ts.tv_usec;

		ret = sink(ctx, port, time_ns, data, hdr->caplen);
	}
	if (ret == 0 && more == PCAP_ERROR) {
		fprintf(stderr, "%s: %s\n", path, pcap_geterr(p));
		ret = -EPROTO;
	}
	pcap_close(p);
	return ret;
}

int replay_run(struct replay *r, replay_sink sink, void *ctx)
{
	int ret;

	for (unsigned int i = 0; i < r->n_ports; i++) {
		if (pcap_dump_flush(r->in[i]) != 0)
			return -EIO;
	}
	ret = run_sluice(r);
	for (unsigned int i = 0; ret == 0 && i < r->n_ports; i++)
		ret = read_port(r, i, sink, ctx);
	return ret;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void replay_close(struct replay *r)
{
	if (r == NULL)
		return;
	for (unsigned int i = 0; i < r->n_ports; i++) {
		if (r->in[i] != NULL)
			pcap_dump_close(r->in[i]);
	}
	if (r->dead != NULL)
		pcap_close(r->dead);
	nftw(r->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(r);
}
