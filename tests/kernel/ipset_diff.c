/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random operations on random sets, by ipset(8) in a namespace and by the sets of the library: each
 * has to be answered alike, and in the end the sets have to hold the same members. Types that this
 * kernel lacks are skipped by name.
 */
#include "config/ipset_live.h"
#include "tests/config/set_fixture.h"
#include "tests/kernel/lab.h"

#include <stdlib.h>

#define SKIP 77
#define ROUNDS 3
#define OPERATIONS 60 /* of a set in a round */
#define TEXT 512

static const struct lab_port no_ports[] = { { 0 } };
static const struct lab_neigh no_neighs[] = { { 0 } };
static const struct lab_route no_routes[] = { { 0 } };
static const struct lab_spec spec = { no_ports, no_neighs, no_routes, NULL, NULL };

static uint32_t below(uint32_t n)
{
	return (uint32_t)((uint32_t)random() % n);
}

/* few different ones, so that operations meet */
static void word_of(char *out, size_t size, const char *kind)
{
	static const char *const macs[] = { "02:00:00:00:00:01", "02:00:00:00:00:02" };
	static const char *const ports[] = { "tcp:80", "udp:53", "sctp:7", "icmp:8/0", "icmp:3/1",
		"gre:0", "tcp:0" };
	static const char *const ifaces[] = { "lo", "eth0", "eth1", "eth10", "e" };
	static const uint8_t lens[] = { 8, 16, 20, 24, 30, 32, 32 };

	if (strcmp(kind, "ip") == 0)
		snprintf(out, size, "10.0.%u.%u", below(2), 1 + below(12));
	else if (strcmp(kind, "net") == 0)
		snprintf(out, size, "10.%u.%u.%u/%u", below(2), below(2), below(4),
				lens[below(sizeof(lens))]);
	else if (strcmp(kind, "mac") == 0)
		snprintf(out, size, "%s", macs[below(2)]);
	else if (strcmp(kind, "port") == 0)
		snprintf(out, size, "%s", ports[below(7)]);
	else if (strcmp(kind, "bare") == 0)
		snprintf(out, size, "%u", 75 + below(20));
	else if (strcmp(kind, "iface") == 0)
		snprintf(out, size, "%s", ifaces[below(5)]);
	else if (strcmp(kind, "mark") == 0)
		snprintf(out, size, "%u", below(20));
	else
		snprintf(out, size, "%s", below(2) != 0 ? "m1" : "m2");
}

static const struct {
	const char *create;
	const char *parts[4];
	bool nomatch;
} types[] = {
	{ "bitmap:ip range 10.0.0.0/23", { "ip" }, false },
	{ "bitmap:ip range 10.0.0.0/23 netmask 30 counters", { "ip" }, false },
	{ "bitmap:ip,mac range 10.0.0.0/23", { "ip", "mac" }, false },
	{ "bitmap:port range 80-90", { "bare" }, false },
	{ "hash:ip maxelem 10", { "ip" }, false },
	{ "hash:ip netmask 30 timeout 1000", { "ip" }, false },
	{ "hash:ip,mac", { "ip", "mac" }, false },
	{ "hash:ip,mark markmask 0xf", { "ip", "mark" }, false },
	{ "hash:ip,port", { "ip", "port" }, false },
	{ "hash:ip,port,ip", { "ip", "port", "ip" }, false },
	{ "hash:ip,port,net", { "ip", "port", "net" }, true },
	{ "hash:mac", { "mac" }, false },
	{ "hash:net", { "net" }, true },
	{ "hash:net counters comment", { "net" }, true },
	{ "hash:net,iface", { "net", "iface" }, true },
	{ "hash:net,net", { "net", "net" }, true },
	{ "hash:net,port", { "net", "port" }, true },
	{ "hash:net,port,net", { "net", "port", "net" }, true },
	{ "list:set", { "set" }, false },
};

static void line_of(char *out, size_t size, const char *verb, unsigned int type)
{
	char member[TEXT] = "", word[64];

	for (unsigned int i = 0; i < 4 && types[type].parts[i] != NULL; i++) {
		word_of(word, sizeof(word), types[type].parts[i]);
		snprintf(member + strlen(member), sizeof(member) - strlen(member), "%s%s",
				i > 0 ? "," : "", word);
	}
	snprintf(out, size, "%s s %s%s", verb, member,
			types[type].nomatch && strcmp(verb, "del") != 0 && below(4) == 0
					? " nomatch"
					: "");
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* the lines that add, sorted, without what runs down */
static void normalise(char *text)
{
	char *lines[4096] = { NULL }, *rest = NULL, *copy = strdup(text), *cut;
	size_t n = 0;

	for (char *l = strtok_r(copy, "\n", &rest); l != NULL && n < 4096;
			l = strtok_r(NULL, "\n", &rest)) {
		cut = strstr(l, " timeout ");
		if (cut != NULL)
			*cut = '\0';
		if (strncmp(l, "add ", 4) == 0)
			lines[n++] = l;
	}
	qsort(lines, n, sizeof(lines[0]), compare_lines);
	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		text = stpcpy(stpcpy(text, lines[i]), "\n");
	free(copy);
}

static int compare_members(struct lab *lab, struct set_fixture *f, const char *what)
{
	static char kernel[1 << 16];
	char *ours = set_text(f, "s");
	int ret = 0;

	lab_read(lab, LAB_ROUTER, kernel, sizeof(kernel), "ipset save s");
	normalise(kernel);
	normalise(ours);
	if (strcmp(kernel, ours) != 0) {
		fprintf(stderr, "%s: the kernel holds:\n%sand sluice:\n%s", what, kernel, ours);
		ret = 1;
	}
	free(ours);
	return ret;
}

/* Return: 0 alike, 1 not, SKIP if the kernel lacks the type */
static int run_type(struct lab *lab, unsigned int type)
{
	struct set_fixture *f = set_fixture_new();
	static const char *const verbs[] = { "add", "add", "del", "test", "test" };
	char line[TEXT];
	int ret = 0;

	snprintf(line, sizeof(line), "create s %s", types[type].create);
	lab_exec(lab, LAB_ROUTER, "for s in s m1 m2; do ipset destroy $s 2>/dev/null; done");
	lab_exec(lab, LAB_ROUTER, "ipset create m1 hash:ip; ipset create m2 hash:ip");
	set_run(f, "create m1 hash:ip");
	set_run(f, "create m2 hash:ip");
	if (lab_exec(lab, LAB_ROUTER, "ipset %s 2>/dev/null", line) != 0) {
		fprintf(stderr, "skipped, this kernel lacks it: %s\n", types[type].create);
		set_fixture_free(f);
		return SKIP;
	}
	if (set_run(f, line) != 0)
		ret = 1;
	for (unsigned int i = 0; ret == 0 && i < OPERATIONS; i++) {
		bool kernel, ours;

		line_of(line, sizeof(line), verbs[below(5)], type);
		kernel = lab_exec(lab, LAB_ROUTER, "ipset %s >/dev/null 2>&1", line) == 0;
		ours = set_run(f, line) == 0;
		if (kernel != ours) {
			fprintf(stderr, "%s: %s: %d from the kernel, %d from sluice\n",
					types[type].create, line, kernel, ours);
			ret = 1;
		}
	}
	if (ret == 0)
		ret = compare_members(lab, f, types[type].create);
	set_fixture_free(f);
	return ret;
}

int main(int argc, char **argv)
{
	unsigned int seed = argc > 1 ? (unsigned int)atoi(argv[1]) : 1, compared = 0;
	struct lab *lab;
	const char *why;
	int failed = 0;

	if (!lab_possible(&why)) {
		fprintf(stderr, "skipped: %s\n", why);
		return SKIP;
	}
	if (lab_open(&spec, &lab) < 0)
		return 1;
	srandom(seed);
	for (unsigned int round = 0; round < ROUNDS; round++)
		for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
			int ret = run_type(lab, i);

			failed += ret == 1;
			compared += ret != SKIP;
		}
	lab_close(lab);
	printf("seed %u: %u sets of %u operations, %d differ\n", seed, compared, OPERATIONS,
			failed);
	return failed > 0 || compared == 0;
}
