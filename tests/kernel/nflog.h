/* SPDX-License-Identifier: BSD-3-Clause */
/* nflog: what the target NFLOG says of packets in the router of a lab, of which only the mark counts. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lab;
struct nflog;

/* @each: messages that the kernel sends together. Return: 0 or -errno */
int nflog_open(struct lab *lab, uint16_t group, uint32_t each, struct nflog **log);
void nflog_close(struct nflog *log);

/* marks of all messages that have come. Return: how many, or -errno */
ssize_t nflog_read(struct nflog *log, uint32_t *marks, size_t room);
