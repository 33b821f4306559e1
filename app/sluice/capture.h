/* SPDX-License-Identifier: BSD-3-Clause */
/* Capture files: the inputs of replay in the order of time, and a link that writes one per port. */
#pragma once

#include "lib/port.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_in;
struct sl_router;

/* a frame of an input; valid until the input is asked for the next one */
struct capture_frame {
	uint64_t time_ns; /* since the epoch */
	const uint8_t *data;
	uint32_t len; /* bytes that the file holds */
	uint32_t wire_len; /* bytes that the frame had */
};

/**
 * capture_open() - an Ethernet capture to read
 *
 * Return: NULL and a line in @err with the file, what was found and what was expected.
 */
struct capture_in *capture_open(const char *path, char *err, size_t err_size);

/* the frame that is next, NULL at the end; the same one until capture_next() */
const struct capture_frame *capture_peek(const struct capture_in *in);

/* Return: false and a line in @err if the file is damaged behind the present frame */
bool capture_next(struct capture_in *in, char *err, size_t err_size);
/* whether its times are in nanoseconds; most tools write microseconds */
bool capture_is_nano(const struct capture_in *in);
/* whether @path names the file that is read: writing to it would lose what it holds */
bool capture_is_file(const struct capture_in *in, const char *path);
void capture_close(struct capture_in *in);

/**
 * capture_link() - a link that receives nothing and writes what is sent
 * @time_ns: read at every frame: the time that it is given
 * @nano:    write nanoseconds, else microseconds
 *
 * A file for each logical port is opened by capture_link_port(). Return: NULL without memory.
 */
struct sl_link *capture_link(struct sl_router *r, const uint64_t *time_ns, bool nano);

/* DIR/NAME.pcap for a port of the link; false and a line in @err */
bool capture_link_port(struct sl_link *link, uint16_t port, const char *dir, const char *name,
		char *err, size_t err_size);

/* everything to disk; false and a line in @err if a file could not be written whole */
bool capture_link_finish(struct sl_link *link, char *err, size_t err_size);
