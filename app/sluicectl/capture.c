/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluicectl/capture.h"

#include "app/sluicectl/client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_STATISTICS 5U
#define BLOCK_PACKET 6U
#define OPTION_COMMENT 1U
#define OPTION_STATS_DROPPED 5U
/* what no block of ours is as large as */
#define BLOCK_MAX (1U << 20)
#define NS_PER_S UINT64_C(1000000000)

/* [signal] the connection, whose own half an interrupt closes: sluice then sends the rest */
static volatile sig_atomic_t stream_fd = -1;

void watch_enough(void)
{
	shutdown(stream_fd, SHUT_WR);
}

static void end_stream(int sig)
{
	static volatile time_t first;
	time_t now = time(NULL);

	(void)sig;
	watch_enough();
	/* sluice does not answer; but timeout(1) sends its signal twice at once */
	if (first != 0 && now > first + 1)
		_exit(1);
	if (first == 0)
		first = now;
}

const char *watch_option_given(const struct watch_options *o)
{
	if (o->file != NULL)
		return "-w";
	if (o->hook != NULL)
		return "--hook";
	if (o->port != NULL)
		return "--port";
	if (o->count != NULL)
		return "--count";
	if (o->dropped)
		return "--dropped";
	return o->marked ? "--marked" : NULL;
}

/* words of the command line with spaces between; the caller's to free */
static char *join(int argc, char **argv)
{
	size_t size = 1;
	char *text;

	for (int i = 0; i < argc; i++)
		size += strlen(argv[i]) + 1;
	text = calloc(1, size);
	for (int i = 0; text != NULL && i < argc; i++) {
		if (i > 0)
			strcat(text, " ");
		strcat(text, argv[i]);
	}
	return text;
}

json_t *watch_request(int argc, char **argv, const struct watch_options *o)
{
	bool trace = strcmp(argv[0], "trace") == 0;
	const char *wrong = NULL;
	json_t *request;
	char *end = NULL;
	long count = 0;
	char *filter;

	if (trace && (o->file != NULL || o->hook != NULL || o->dropped))
		wrong = "-w, --hook and --dropped are for capture";
	else if (!trace && o->marked)
		wrong = "--marked is for trace";
	if (o->count != NULL) {
		count = strtol(o->count, &end, 10);
		if (end == o->count || *end != '\0' || count <= 0 || count > UINT32_MAX)
			wrong = "--count takes a number from 1 on";
	}
	if (wrong != NULL) {
		fprintf(stderr, "sluicectl: %s: %s\n", argv[0], wrong);
		return NULL;
	}
	filter = join(argc - 1, argv + 1);
	request = json_object();
	json_object_set_new(request, "command", json_string(argv[0]));
	json_object_set_new(request, "filter", json_string(filter == NULL ? "" : filter));
	free(filter);
	if (o->hook != NULL)
		json_object_set_new(request, "hook", json_string(o->hook));
	if (o->port != NULL)
		json_object_set_new(request, "port", json_string(o->port));
	if (count > 0)
		json_object_set_new(request, "count", json_integer(count));
	json_object_set_new(request, "dropped", json_boolean(o->dropped));
	json_object_set_new(request, "marked", json_boolean(o->marked));
	return request;
}

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

void capture_summary(const uint8_t *frame, uint32_t len, char *buf, size_t size)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	uint32_t at = 12, type = 0, proto, l4;
	bool v4;

	if (len >= 18 && frame[12] == 0x81 && frame[13] == 0)
		at = 16;
	if (len >= at + 2)
		type = (uint32_t)frame[at] << 8 | frame[at + 1];
	at += 2;
	v4 = type == 0x0800;
	if (type == 0x0806) {
		snprintf(buf, size, "arp");
		return;
	}
	if ((!v4 && type != 0x86dd) || len < at + (v4 ? 20 : 40)) {
		snprintf(buf, size, "type 0x%04" PRIx32, type);
		return;
	}
	inet_ntop(v4 ? AF_INET : AF_INET6, frame + at + (v4 ? 12 : 8), src, sizeof(src));
	inet_ntop(v4 ? AF_INET : AF_INET6, frame + at + (v4 ? 16 : 24), dst, sizeof(dst));
	proto = frame[at + (v4 ? 9 : 6)];
	l4 = at + (v4 ? (frame[at] & 15U) * 4 : 40);
	/* later fragments have no ports */
	if (v4 && ((frame[at + 6] & 0x1f) | frame[at + 7]) != 0)
		l4 = len;
	if ((proto == IPPROTO_TCP || proto == IPPROTO_UDP) && len >= l4 + 4)
		snprintf(buf, size, "%s.%u > %s.%u: %s", src, frame[l4] << 8 | frame[l4 + 1], dst,
				frame[l4 + 2] << 8 | frame[l4 + 3],
				proto == IPPROTO_TCP ? "tcp" : "udp");
	else if (proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6)
		snprintf(buf, size, "%s > %s: %s", src, dst, v4 ? "icmp" : "icmpv6");
	else
		snprintf(buf, size, "%s > %s: protocol %" PRIu32, src, dst, proto);
}

/* the first option of a kind behind a block's fixed part and data; NULL: none */
static const uint8_t *option(const uint8_t *at, const uint8_t *end, uint16_t code, uint16_t *len)
{
	while (end - at >= 4) {
		uint16_t head[2];

		memcpy(head, at, sizeof(head));
		if (head[0] == 0 || end - at - 4 < head[1])
			return NULL;
		if (head[0] == code) {
			*len = head[1];
			return at + 4;
		}
		at += 4 + ((head[1] + 3U) & ~3U);
	}
	return NULL;
}

struct totals {
	uint64_t packets, missed;
};

static void print_packet(const uint8_t *block, uint32_t len, bool json)
{
	uint64_t ns = (uint64_t)u32_at(block + 12) << 32 | u32_at(block + 16);
	uint32_t captured = u32_at(block + 20);
	const uint8_t *words, *frame = block + 28;
	time_t s = (time_t)(ns / NS_PER_S);
	char summary[160], when[16];
	uint16_t n = 0;
	struct tm tm;

	if (captured > len - 32)
		return;
	words = option(frame + ((captured + 3) & ~3U), block + len - 4, OPTION_COMMENT, &n);
	capture_summary(frame, captured, summary, sizeof(summary));
	if (json) {
		json_t *o = json_object();

		json_object_set_new(o, "time_ns", json_integer((json_int_t)ns));
		json_object_set_new(o, "len", json_integer(u32_at(block + 24)));
		json_object_set_new(o, "packet", json_string(summary));
		while (n > 0) {
			const uint8_t *space = memchr(words, ' ', n), *eq;
			size_t word = space == NULL ? n : (size_t)(space - words);

			eq = memchr(words, '=', word);
			if (eq != NULL)
				json_object_setn_new(o, (const char *)words, (size_t)(eq - words),
						json_stringn((const char *)eq + 1,
								word - (size_t)(eq + 1 - words)));
			words += word;
			n = (uint16_t)(n - word);
			if (n > 0) {
				words++;
				n--;
			}
		}
		json_dumpf(o, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(o);
		return;
	}
	localtime_r(&s, &tm);
	strftime(when, sizeof(when), "%H:%M:%S", &tm);
	printf("%s.%06" PRIu64 " %s, length %" PRIu32 " [%.*s]\n", when, ns % NS_PER_S / 1000,
			summary, u32_at(block + 24), (int)n, (const char *)words);
}

/* Return: false at the end, or for what is no block */
static bool read_block(FILE *in, uint8_t *block, uint32_t *len)
{
	if (fread(block, 8, 1, in) != 1)
		return false;
	*len = u32_at(block + 4);
	return *len >= 12 && *len <= BLOCK_MAX && *len % 4 == 0
			&& fread(block + 8, *len - 8, 1, in) == 1;
}

/* Return: 0 or -errno of the output */
static int copy_capture(FILE *in, FILE *out, bool json, struct totals *t)
{
	uint8_t *block = malloc(BLOCK_MAX);
	uint32_t len;
	int ret = block == NULL ? -ENOMEM : 0;

	while (ret == 0 && read_block(in, block, &len)) {
		uint32_t type = u32_at(block);
		const uint8_t *value = NULL;
		uint16_t n = 0;
		uint64_t missed;

		if (type == BLOCK_STATISTICS && len >= 24)
			value = option(block + 20, block + len - 4, OPTION_STATS_DROPPED, &n);
		if (value != NULL && n == sizeof(missed)) {
			memcpy(&missed, value, sizeof(missed));
			t->missed += missed;
		}
		if (type == BLOCK_PACKET && len >= 32) {
			t->packets++;
			if (out == NULL)
				print_packet(block, len, json);
		}
		if (out != NULL)
			fwrite(block, len, 1, out);
		if (ferror(out == NULL ? stdout : out)
				|| (t->packets % 64 == 0
						&& fflush(out == NULL ? stdout : out) != 0))
			ret = -errno;
	}
	if (ret == 0 && fflush(out == NULL ? stdout : out) != 0)
		ret = -errno;
	free(block);
	return ret;
}

static int show_capture(FILE *in, const struct watch_options *o, bool json)
{
	struct totals t = { 0 };
	FILE *out = NULL;
	int ret;

	if (o->file != NULL)
		out = strcmp(o->file, "-") == 0 ? stdout : fopen(o->file, "w");
	if (o->file != NULL && out == NULL)
		return -errno;
	/* who reads along shall see packets as they come */
	if (out == NULL || out == stdout)
		setvbuf(stdout, NULL, out == NULL ? _IOLBF : _IONBF, 0);
	ret = copy_capture(in, out, json, &t);
	if (out != NULL && out != stdout && fclose(out) != 0 && ret == 0)
		ret = -errno;
	fprintf(stderr, "%" PRIu64 " packets captured, %" PRIu64 " missed\n", t.packets, t.missed);
	return ret;
}

int watch_follow(int fd, json_t *request, const struct watch_options *o, bool json, json_t **result)
{
	bool trace = strcmp(json_string_value(json_object_get(request, "command")), "trace") == 0;
	int ret = client_begin(fd, request, result);
	FILE *in;

	if (ret < 0)
		return ret;
	json_decref(*result);
	*result = NULL;
	stream_fd = fd;
	signal(SIGINT, end_stream);
	signal(SIGTERM, end_stream);
	signal(SIGPIPE, SIG_IGN);
	in = fdopen(dup(fd), "r");
	if (in == NULL)
		return -errno;
	if (trace)
		trace_show(in, json, o->count == NULL ? 0 : strtoul(o->count, NULL, 10));
	else
		ret = show_capture(in, o, json);
	fclose(in);
	return ret;
}
