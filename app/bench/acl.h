/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 5-tuple rules as packet classifiers are compared on: made here, or read from a file of ClassBench
 * (Taylor and Turner, INFOCOM 2005), and the packets that such rules match.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum acl_kind {
	ACL_ACL, /* access lists: a known server, one port of it */
	ACL_FW, /* firewalls: wildcards in every field */
	ACL_IPC, /* IP chains: in between */
	ACL_KIND_NB,
};

/* addresses and ports in host order */
struct acl_rule {
	uint32_t src, dst;
	uint8_t src_len, dst_len;
	uint8_t proto; /* 0: any */
	uint16_t sport[2], dport[2]; /* first and last */
};

struct acl {
	uint32_t n;
	struct acl_rule *rules;
};

/* what a packet has that such rules look at */
struct acl_flow {
	uint32_t src, dst;
	uint16_t sport, dport;
	uint8_t proto;
};

/* @acl->n rules, the same ones each time */
void acl_generate(enum acl_kind kind, struct acl *acl);

/**
 * acl_read() - rules in ClassBench's format: "@SRC/LEN DST/LEN FIRST : LAST FIRST : LAST PROTO/MASK"
 * @line: where it ended: of the first wrong line on failure
 *
 * Return: 0 (free acl->rules), -EINVAL, -ENOMEM.
 */
int acl_read(FILE *in, struct acl *acl, unsigned int *line);

/* as rules of iptables-save in FORWARD which accept; one with ports of any protocol is two */
void acl_put(const struct acl *acl, FILE *out);

/* the @i-th of the flows that match some rule of @acl; never an address that no router takes */
void acl_draw(const struct acl *acl, uint32_t i, struct acl_flow *out);

/* the @i-th of flows between anybody and anybody */
void acl_draw_any(uint32_t i, struct acl_flow *out);
