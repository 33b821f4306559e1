/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluicectl/top.h"

#include "app/sluicectl/client.h"
#include "app/sluicectl/table.h"
#include "app/sluicectl/top_rates.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_MS 1000
#define TEXT 32
#define DROPS_MAX 6

static volatile sig_atomic_t ended;

static void on_signal(int signal)
{
	(void)signal;
	ended = 1;
}

static double clock_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Return: 0 with everything in @sample; or -errno */
static int take_sample(int fd, json_t **sample)
{
	static const char *const commands[] = { "status", "ports", "stages", "drops", "conntrack" };
	json_t *all = json_object();

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		json_t *request = json_pack("{s:s, s:s}", "command", commands[i], "do", "stats");
		json_t *result = NULL;
		int ret = client_ask(fd, request, &result);

		if (ret < 0) {
			json_decref(result);
			json_decref(all);
			return ret;
		}
		json_object_set_new(all, commands[i], result);
	}
	*sample = all;
	return 0;
}

static double real(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s == NULL ? "-" : s;
}

/* at most 6 characters: 0, 12.5, 999, 1.25k, 14.9M */
static const char *short_number(double n, char *buf)
{
	static const char *const units[] = { "", "k", "M", "G", "T" };
	unsigned int u = 0;
	int digits;

	while (n >= 999.5 && u + 1 < sizeof(units) / sizeof(units[0])) {
		n /= 1000;
		u++;
	}
	digits = n >= 99.95 || (u == 0 && n == (double)(int)n) ? 0 : n >= 9.995 || u == 0 ? 1 : 2;
	snprintf(buf, TEXT, "%.*f%s", digits, n, units[u]);
	return buf;
}

static void cell(struct table *t, const json_t *o, const char *key)
{
	char buf[TEXT];

	table_cell(t, "%s", short_number(real(o, key), buf));
}

static void put_head(const json_t *r, FILE *out)
{
	const json_t *workers = json_object_get(r, "workers");
	const json_t *c = json_object_get(r, "connections");
	char a[TEXT], b[TEXT], d[TEXT], e[TEXT];

	fprintf(out, "sluice %s, pid %.0f, up %s, %s\n", text(r, "version"), real(r, "pid"),
			human_seconds((uint64_t)real(r, "uptime_s"), a), text(r, "config"));
	for (size_t i = 0; i < json_array_size(workers); i++) {
		const json_t *w = json_array_get(workers, i);

		fprintf(out, "%sworker %.0f (CPU %.0f) %.1f %% busy",
				i == 0                       ? ""
						: i % 3 == 0 ? "\n"
							     : "; ",
				real(w, "worker"), real(w, "cpu"), 100 * real(w, "busy"));
	}
	fprintf(out, "\nbuffers %s of %s in use\n", short_number(real(r, "buffers_in_use"), a),
			short_number(real(r, "buffers"), b));
	if (c == NULL)
		fprintf(out, "connections are not tracked\n");
	else
		fprintf(out, "connections %s; a second: %s new, %s ended, %s invalid, %s dropped\n",
				group_digits((int64_t)real(c, "entries"), a),
				short_number(real(c, "insert"), b),
				short_number(real(c, "delete"), d),
				short_number(real(c, "invalid"), e),
				short_number(real(c, "drop") + real(c, "insert_failed"),
						(char[TEXT]){ 0 }));
}

static void put_ports(const json_t *ports, FILE *out)
{
	static const char *const columns[] = { "port", "link", ">rx/s", ">rx bit/s", ">tx/s",
		">tx bit/s", ">dropped/s", ">missed/s", NULL };
	struct table *t = table_new(columns);

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *p = json_array_get(ports, i);
		const json_t *up = json_object_get(p, "up");

		table_cell(t, "%.15s", text(p, "name"));
		table_cell(t, "%s", up == NULL ? "-" : json_is_true(up) ? "up" : "DOWN");
		cell(t, p, "rx");
		cell(t, p, "rx_bits");
		cell(t, p, "tx");
		cell(t, p, "tx_bits");
		cell(t, p, "dropped");
		cell(t, p, "missed");
	}
	table_print(t, out, "no ports");
}

static void put_drops(const json_t *drops, FILE *out)
{
	static const char *const columns[] = { "dropped as", ">packets/s", ">packets", "meaning",
		NULL };
	struct table *t = table_new(columns);

	for (size_t i = 0; i < json_array_size(drops) && i < DROPS_MAX; i++) {
		const json_t *d = json_array_get(drops, i);

		table_cell(t, "%s", text(d, "reason"));
		cell(t, d, "rate");
		cell(t, d, "packets");
		/* with the longest name of a reason, 80 columns */
		table_cell(t, "%.36s", text(d, "help"));
	}
	table_print(t, out, "no packet was dropped");
}

/* those that had packets */
static void put_stages(const json_t *stages, FILE *out)
{
	static const char *const columns[] = { "hook", "stage", ">packets/s", ">dropped/s",
		">cycles/packet", ">of all cycles", NULL };
	struct table *t = table_new(columns);

	for (size_t i = 0; i < json_array_size(stages); i++) {
		const json_t *s = json_array_get(stages, i);

		if (real(s, "packets") == 0)
			continue;
		table_cell(t, "%s", text(s, "hook"));
		table_cell(t, "%s", text(s, "stage"));
		cell(t, s, "packets");
		cell(t, s, "dropped");
		table_cell(t, "%.1f", real(s, "cycles_per_packet"));
		table_cell(t, "%.1f %%", 100 * real(s, "share"));
	}
	table_print(t, out, "no packet went through a stage");
}

static void put_frame(const json_t *r, FILE *out)
{
	put_head(r, out);
	fputc('\n', out);
	put_ports(json_object_get(r, "ports"), out);
	fputc('\n', out);
	put_drops(json_object_get(r, "drops"), out);
	fputc('\n', out);
	put_stages(json_object_get(r, "stages"), out);
}

/* as much of @frame as the terminal has room for, over what is there */
static void paint(char *frame)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	char *rest = frame, *line;
	unsigned int row = 0;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	if (size.ws_row == 0 || size.ws_col == 0)
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	fputs("\033[H", stdout);
	while ((line = strsep(&rest, "\n")) != NULL && row < size.ws_row) {
		printf("%s%.*s\033[K", row == 0 ? "" : "\r\n", (int)size.ws_col, line);
		row++;
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}

static void print_rates(const json_t *r, bool json, bool screen)
{
	char *frame = NULL;
	size_t len;
	FILE *f;

	if (json) {
		json_dumpf(r, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
		putchar('\n');
		return;
	}
	f = screen ? open_memstream(&frame, &len) : stdout;
	if (f == NULL)
		return;
	put_frame(r, f);
	if (!screen)
		return;
	fclose(f);
	paint(frame);
	free(frame);
}

/* until the period is over. Return: whether the user wants no more */
static bool rest(bool screen)
{
	double end = clock_s() + PERIOD_MS / 1000.0;
	struct pollfd in = { .fd = screen ? STDIN_FILENO : -1, .events = POLLIN };
	char key;

	while (!ended && clock_s() < end) {
		int left = (int)((end - clock_s()) * 1000) + 1;

		if (poll(&in, 1, left) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1)
			in.fd = -1;
		else if (key == 'q' || key == 'Q')
			ended = 1;
	}
	return ended != 0;
}

static int follow(int fd, bool once, bool json, bool screen)
{
	json_t *was = NULL, *now, *rates;
	double was_s = 0, now_s;
	int ret;

	do {
		ret = take_sample(fd, &now);
		if (ret < 0)
			break;
		now_s = clock_s();
		if (was != NULL || screen) {
			rates = top_rates(was == NULL ? now : was, now, now_s - was_s);
			print_rates(rates, json, screen);
			json_decref(rates);
			if (once)
				ended = 1;
		}
		json_decref(was);
		was = now;
		was_s = now_s;
	} while (!ended && !rest(screen));
	json_decref(was);
	return ret;
}

int top(int fd, bool once, bool json)
{
	bool screen = !once && !json && isatty(STDOUT_FILENO);
	struct sigaction action = { .sa_handler = on_signal };
	struct termios saved, raw;
	bool keys = screen && tcgetattr(STDIN_FILENO, &saved) == 0;
	int ret;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	if (keys) {
		raw = saved;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	if (screen)
		fputs("\033[?1049h\033[?25l", stdout);
	ret = follow(fd, !screen, json, screen);
	if (screen)
		fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
	return ended && ret == -EPIPE && screen ? 0 : ret;
}
