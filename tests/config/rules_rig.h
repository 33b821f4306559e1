/* SPDX-License-Identifier: BSD-3-Clause */
/* A router with ports "pa" (1) and "pb" (2) and no devices, to try rules on single packets. */
#pragma once

#include "classifier/eval.h"
#include "lib/router.h"

extern struct sl_router *rig;

/* cmocka's group setup and teardown; the second also checks that no buffer is lost */
int rig_start(void **state);
int rig_stop(void **state);

/* fails the test if the text is refused */
struct ipt_ruleset *rig_load(enum ipt_family family, const char *text);
struct ipt_prog *rig_compile(const struct ipt_ruleset *rs, const char *engine);

/* an empty buffer of 2,048 bytes; its struct sl_pkt is zero */
struct rte_mbuf *rig_buffer(void);

/* a frame in buffers; @split: of sizes by chance, which its length decides; the first holds the headers */
struct rte_mbuf *rig_frame(const uint8_t *data, size_t len, bool split);

/* an IP packet in hex, blanks allowed, as it stands in the FORWARD hook from pa to pb */
struct rte_mbuf *rig_packet(const char *hex);
