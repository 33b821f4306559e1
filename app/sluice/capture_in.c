/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/capture.h"

#include <pcap/pcap.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct capture_in {
	pcap_t *pcap;
	char *path;
	bool ended;
	bool nano;
	struct capture_frame frame;
};

/* libpcap scales without telling: look at the magic number (pcapng, pipes: taken as microseconds) */
static bool is_nano(int fd)
{
	uint32_t magic;

	return pread(fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic)
			&& (magic == 0xa1b23c4d || magic == 0x4d3cb2a1);
}

static struct capture_in *make(pcap_t *pcap, const char *path)
{
	struct capture_in *in = calloc(1, sizeof(*in));

	if (in == NULL)
		return NULL;
	in->pcap = pcap;
	in->nano = is_nano(fileno(pcap_file(pcap)));
	in->path = strdup(path);
	if (in->path == NULL) {
		free(in);
		return NULL;
	}
	return in;
}

struct capture_in *capture_open(const char *path, char *err, size_t err_size)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline_with_tstamp_precision(
			path, PCAP_TSTAMP_PRECISION_NANO, why);
	struct capture_in *in;
	int type;

	if (pcap == NULL) {
		/* libpcap puts the path in front of some messages and not of others */
		snprintf(err, err_size, "%s%s%s", strstr(why, path) == why ? "" : path,
				strstr(why, path) == why ? "" : ": ", why);
		return NULL;
	}
	type = pcap_datalink(pcap);
	if (type != DLT_EN10MB) {
		snprintf(err, err_size, "%s: link type is %s, expected Ethernet (EN10MB)", path,
				pcap_datalink_val_to_name(type) == NULL
						? "unknown"
						: pcap_datalink_val_to_name(type));
		pcap_close(pcap);
		return NULL;
	}
	in = make(pcap, path);
	if (in == NULL) {
		snprintf(err, err_size, "%s: out of memory", path);
		pcap_close(pcap);
		return NULL;
	}
	if (!capture_next(in, err, err_size)) {
		capture_close(in);
		return NULL;
	}
	return in;
}

const struct capture_frame *capture_peek(const struct capture_in *in)
{
	return in->ended ? NULL : &in->frame;
}

bool capture_next(struct capture_in *in, char *err, size_t err_size)
{
	struct pcap_pkthdr *h;
	const u_char *data;
	int ret = pcap_next_ex(in->pcap, &h, &data);

	if (ret == PCAP_ERROR_BREAK) {
		in->ended = true;
		return true;
	}
	if (ret != 1) {
		snprintf(err, err_size, "%s: %s", in->path, pcap_geterr(in->pcap));
		return false;
	}
	in->frame = (struct capture_frame){
		/* tv_usec holds nanoseconds: the file was opened for them */
		.time_ns = (uint64_t)h->ts.tv_sec * 1000000000ULL + (uint64_t)h->ts.tv_usec,
		.data = data,
		.len = h->caplen,
		.wire_len = h->len,
	};
	return true;
}

bool capture_is_nano(const struct capture_in *in)
{
	return in->nano;
}

bool capture_is_file(const struct capture_in *in, const char *path)
{
	struct stat mine, other;

	return fstat(fileno(pcap_file(in->pcap)), &mine) == 0 && S_ISREG(mine.st_mode)
			&& stat(path, &other) == 0 && mine.st_dev == other.st_dev
			&& mine.st_ino == other.st_ino;
}

void capture_close(struct capture_in *in)
{
	if (in == NULL)
		return;
	pcap_close(in->pcap);
	free(in->path);
	free(in);
}
