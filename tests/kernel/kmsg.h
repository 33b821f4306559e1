/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kmsg: what the kernel's LOG target writes. Its lines go to the kernel's log, from other
 * namespaces than the first one only where a switch of the machine says so: it is set while a
 * reader is open, by one process at a time, and put back.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct kmsg;

/* Return: 0; or -errno, and *why says what lacks */
int kmsg_open(struct kmsg **k, const char **why);
void kmsg_close(struct kmsg *k);

/* the next line, with its level. Return: 1, 0 if there is none yet, -EPIPE if some were lost, -errno */
int kmsg_next(struct kmsg *k, unsigned int *level, char *text, size_t size);
