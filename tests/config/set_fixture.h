/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of a router that forwards nothing, and packets to ask them with. */
#pragma once

#include "classifier/ext.h"
#include "classifier/set.h"
#include "lib/router.h"

struct set_packet {
	struct rte_mbuf m;
	struct sl_pkt p; /* right behind, as sl_pkt() has it */
	uint8_t frame[256];
};

struct set_fixture {
	struct sl_router r;
	struct ipt_sets *sets;
	struct set_packet packet;
	struct ipt_ctx c;
};

struct set_fixture *set_fixture_new(void);
void set_fixture_free(struct set_fixture *f);

/* lines of ipset save take the place of what was there, as a reload does */
void set_load(struct set_fixture *f, const char *text);

/* a frame from 02:00:00:00:00:01 to 02:00:00:00:00:02, in by port 1 (wan), out by port 2 (lan) */
void set_packet(struct set_fixture *f, const char *src, const char *dst, uint8_t proto,
		uint16_t sport, uint16_t dport);

/* directions as in a rule, "src,dst" */
bool set_asks(struct set_fixture *f, const char *name, const char *dirs, uint32_t flags);
void set_adds(struct set_fixture *f, const char *name, const char *dirs, uint32_t flags);
void set_dels(struct set_fixture *f, const char *name, const char *dirs);

/* 0, 1 of test for none, or -errno */
int set_run(struct set_fixture *f, const char *line);
/* as ipset_live_print(); for free() */
char *set_text(struct set_fixture *f, const char *name);
