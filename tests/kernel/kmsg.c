/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define SWITCH "/proc/sys/net/netfilter/nf_log_all_netns"
#define RECORD_MAX 8192

struct kmsg {
	int fd;
	int switch_fd;
	char was;
};

int kmsg_open(struct kmsg **out, const char **why)
{
	struct kmsg *k = calloc(1, sizeof(*k));
	int ret;

	if (k == NULL)
		return -ENOMEM;
	*why = "no " SWITCH " that may be written";
	k->fd = -1;
	k->switch_fd = open(SWITCH, O_RDWR | O_CLOEXEC);
	if (k->switch_fd < 0)
		goto err;
	if (flock(k->switch_fd, LOCK_EX) < 0 || pread(k->switch_fd, &k->was, 1, 0) != 1
			|| pwrite(k->switch_fd, "1", 1, 0) != 1)
		goto err;
	*why = "no /dev/kmsg that may be read";
	k->fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (k->fd < 0 || lseek(k->fd, 0, SEEK_END) < 0)
		goto err;
	*out = k;
	return 0;

err:
	ret = -errno;
	kmsg_close(k);
	return ret;
}

void kmsg_close(struct kmsg *k)
{
	if (k == NULL)
		return;
	if (k->was != '\0' && pwrite(k->switch_fd, &k->was, 1, 0) != 1)
		fprintf(stderr, "%s: could not be put back: %s\n", SWITCH, strerror(errno));
	if (k->fd >= 0)
		close(k->fd);
	if (k->switch_fd >= 0)
		close(k->switch_fd);
	free(k);
}

/* \xNN back to bytes, up to the end of the line */
static void unescape(const char *from, char *to, size_t size)
{
	size_t n = 0;

	while (*from != '\0' && *from != '\n' && n + 1 < size) {
		unsigned int byte;

		if (sscanf(from, "\\x%2x", &byte) == 1) {
			to[n++] = (char)byte;
			from += 4;
		} else {
			to[n++] = *from++;
		}
	}
	to[n] = '\0';
}

int kmsg_next(struct kmsg *k, unsigned int *level, char *text, size_t size)
{
	char record[RECORD_MAX];
	ssize_t n = read(k->fd, record, sizeof(record) - 1);
	const char *start;

	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	record[n] = '\0';
	start = strchr(record, ';');
	if (start == NULL)
		return -EPROTO;
	*level = (unsigned int)strtoul(record, NULL, 10) & 7;
	unescape(start + 1, text, size);
	return 1;
}
