/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_rate: matches that live by the clock, limit, hashlimit and recent, against the kernel. Each
 * rule has a source of its own; all get the same bursts at the same moments, in turns. The frames are
 * then replayed with the times at which they were sent.
 *
 * The kernel counts time in steps of 4 ms, and when a step ends is not known outside of it: a packet
 * beside a boundary may fall on either side. So counts may differ by one for each burst in which
 * credit was short, at most by TOLERANCE for a rule; a wrong rate or window is off by more, and is so
 * every time: what a busy machine did is gone when all of it is done again, up to TRIES times.
 *
 * Buckets that die are left out: the kernel buries them by work that it may put off.
 *
 *   match_rate SLUICE
 */
#include "frames_priv.h"
#include "replay.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKIP 77
#define TURN_MS 12
#define TEXT_MAX (64 * 1024)
#define TOLERANCE 2
#define TRIES 3

static const struct burst {
	unsigned int at_ms;
	unsigned int frames;
} bursts[] = {
	{ 0, 25 },
	{ 700, 10 },
	{ 1450, 10 },
	{ 2600, 4 },
	{ 4100, 25 },
	{ 4900, 10 },
	{ 8200, 10 },
};

/* for packets of 48 bytes from a host of their own */
static const char *const matches[] = {
	"-m limit --limit 10/s --limit-burst 7",
	"-m limit --limit 100/minute --limit-burst 12",
	"-m hashlimit --hashlimit-upto 10/s --hashlimit-burst 5 --hashlimit-mode srcip "
	"--hashlimit-name a",
	"-m hashlimit --hashlimit-above 4/s --hashlimit-burst 9 --hashlimit-mode srcip,dstport "
	"--hashlimit-name b",
	"-m hashlimit --hashlimit-upto 90/minute --hashlimit-burst 5 --hashlimit-name c "
	"--hashlimit-htable-expire 90000",
	"-m hashlimit --hashlimit-upto 512b/s --hashlimit-mode srcip --hashlimit-name d",
	"-m hashlimit --hashlimit-upto 256b/s --hashlimit-burst 1kb --hashlimit-mode srcip "
	"--hashlimit-name e",
	"-m hashlimit --hashlimit-above 256b/s --hashlimit-name f",
	"-m hashlimit --hashlimit-upto 3/s --hashlimit-burst 2 --hashlimit-rate-match "
	"--hashlimit-rate-interval 1 --hashlimit-name h",
	"-m hashlimit --hashlimit-above 200b/s --hashlimit-rate-match "
	"--hashlimit-rate-interval 2 --hashlimit-name i",
	"-m recent --set --name a -m recent --update --seconds 1 --hitcount 8 --name a",
	"-m recent ! --update --seconds 2 --hitcount 6 --name b -m recent --set --name b",
	"-m recent ! --rcheck --seconds 3 --name c -m recent --set --name c",
	"-m recent ! --rcheck --seconds 1 --reap --hitcount 2 --name d -m recent --set --name d",
};

#define RULES_NB ARRAY_LEN(matches)
#define BURSTS_NB ARRAY_LEN(bursts)

static char dir[64];

static int write_rules(void)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/rules", dir);
	f = fopen(path, "we");
	if (f == NULL)
		return -errno;
	fprintf(f, "*mangle\n:PREROUTING ACCEPT [0:0]\n");
	for (size_t i = 0; i < RULES_NB; i++)
		fprintf(f, "-A PREROUTING -s 192.0.2.%zu/32 %s\n", i + 1, matches[i]);
	fprintf(f, "COMMIT\n");
	return fclose(f) == 0 ? 0 : -errno;
}

static void write_config(FILE *f)
{
	topo_write_config(f);
	fprintf(f, "firewall: {iptables: %s/rules}\n", dir);
}

static int send_burst(struct lab *lab, struct replay *r, unsigned int rule, unsigned int n)
{
	struct lab_frames out = { 0 };
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < n; i++) {
		struct ip4 ip = { .src = IP4(192, 0, 2, 0) + rule + 1,
			.dst = IP4(198, 18, 0, 1),
			.ttl = 64,
			.proto = IPPROTO_UDP };
		static struct frames_case c;
		struct gen g = { .c = &c, .rng = rule, .k = i };
		struct buf l4 = { .n = 0 };

		c.n = 0;
		put_l4_ports(&g, &l4, IPPROTO_UDP, pseudo_v4(&ip), 53, 20);
		gen_send_v4(&g, PA, &ip, &l4);
		ret = lab_send(lab, PA, c.v[0].data, c.v[0].len);
		if (ret == 0)
			ret = replay_add(r, PA, lab_now_ns(), c.v[0].data, c.v[0].len);
	}
	if (ret == 0)
		ret = lab_collect(lab, PA, &out);
	lab_frames_reset(&out);
	return ret;
}

static int ask_kernel(struct lab *lab, struct replay *r)
{
	uint64_t zero_ns = lab_now_ns();
	int ret = 0;

	for (unsigned int b = 0; b < BURSTS_NB; b++)
		for (unsigned int i = 0; ret == 0 && i < RULES_NB; i++) {
			uint64_t at_ms = bursts[b].at_ms + (uint64_t)i * TURN_MS;

			lab_sleep_until(zero_ns + at_ms * 1000000);
			ret = send_burst(lab, r, i, bursts[b].frames);
		}
	return ret;
}

/* replay_sink: what comes out is not the question */
static int take(__attribute__((unused)) void *ctx, __attribute__((unused)) unsigned int port,
		__attribute__((unused)) uint64_t time_ns,
		__attribute__((unused)) const uint8_t *data, __attribute__((unused)) size_t len)
{
	return 0;
}

/* the packets that the rules counted. Return: 0, -EPROTO if they are not all there */
static int read_counts(const char *text, unsigned long *counts)
{
	unsigned int n = 0;

	for (const char *at = text; n < RULES_NB; n++) {
		at = strstr(at, "] -A PREROUTING");
		if (at == NULL)
			return -EPROTO;
		while (*at != '[')
			at--;
		counts[n] = strtoul(at + 1, NULL, 10);
		at = strchr(at, '\n');
	}
	return 0;
}

static int read_file(char *text, size_t size)
{
	char path[128];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/out", dir);
	f = fopen(path, "re");
	if (f == NULL)
		return -errno;
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
	return 0;
}

static int compare(const unsigned long *kernel, const unsigned long *sluice)
{
	unsigned int frames = 0;
	int differ = 0;

	for (unsigned int b = 0; b < BURSTS_NB; b++)
		frames += bursts[b].frames;
	printf("of %u packets each: kernel, sluice\n", frames);
	for (size_t i = 0; i < RULES_NB; i++) {
		long off = (long)kernel[i] - (long)sluice[i];

		printf("%3lu %3lu%s %s\n", kernel[i], sluice[i], off == 0 ? " " : "*", matches[i]);
		differ += off > TOLERANCE || off < -TOLERANCE;
	}
	return differ;
}

static int ask_both(struct lab *lab, struct replay *r)
{
	static char text[TEXT_MAX];
	unsigned long kernel[RULES_NB], sluice[RULES_NB];
	char path[128];
	int ret;

	if (lab_exec(lab, LAB_ROUTER, "iptables-legacy-restore -w < %s/rules", dir) != 0)
		return -EINVAL;
	ret = ask_kernel(lab, r);
	if (ret == 0)
		ret = lab_read(lab, LAB_ROUTER, text, sizeof(text), "%s",
				"iptables-legacy-save -c -t mangle");
	if (ret == 0)
		ret = read_counts(text, kernel);
	if (ret != 0)
		return ret < 0 ? ret : -EPROTO;
	snprintf(path, sizeof(path), "%s/out", dir);
	replay_write_rules(r, path);
	ret = replay_run(r, take, NULL);
	if (ret == 0)
		ret = read_file(text, sizeof(text));
	if (ret == 0)
		ret = read_counts(text, sluice);
	return ret == 0 ? compare(kernel, sluice) : ret;
}

static void remove_files(void)
{
	static const char *const names[] = { "rules", "out" };
	char path[128];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

/* Return: rules that differ, or -errno */
static int try(const char *sluice)
{
	const char *ports[TOPO_PORTS_NB + 1] = { NULL };
	struct replay *r = NULL;
	struct lab *lab = NULL;
	int ret;

	for (unsigned int i = 0; i < TOPO_PORTS_NB; i++)
		ports[i] = topo_spec.ports[i].name;
	ret = write_rules();
	if (ret == 0)
		ret = lab_open(&topo_spec, &lab);
	if (ret == 0)
		ret = replay_open(sluice, NULL, ports, write_config, &r);
	if (ret == 0)
		ret = ask_both(lab, r);
	lab_close(lab);
	replay_close(r);
	return ret;
}

int main(int argc, char **argv)
{
	const char *why;
	int ret = 1;

	if (argc != 2) {
		fprintf(stderr, "match_rate SLUICE\n");
		return 2;
	}
	if (!lab_possible(&why)) {
		fprintf(stderr, "SKIP: the kernel cannot be asked: %s\n", why);
		return SKIP;
	}
	snprintf(dir, sizeof(dir), "/tmp/sluice-rate-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return 1;
	topo_init();
	for (unsigned int i = 0; i < TRIES && ret > 0; i++)
		ret = try(argv[1]);
	remove_files();
	if (ret < 0)
		fprintf(stderr, "match_rate: %s\n", strerror(-ret));
	return ret != 0;
}
