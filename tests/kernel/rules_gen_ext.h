/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the tables in rules_gen_match.c. */
#pragma once

#include "rules_gen.h"

void ext_put_ttl(struct rules_ctx *c);
void ext_put_tos(struct rules_ctx *c);
void ext_put_ecn(struct rules_ctx *c);
void ext_put_tcpmss(struct rules_ctx *c);
void ext_put_pkttype(struct rules_ctx *c);
void ext_put_physdev(struct rules_ctx *c);
void ext_put_addrtype(struct rules_ctx *c);
void ext_put_rpfilter(struct rules_ctx *c);
void ext_put_u32(struct rules_ctx *c);
void ext_put_string(struct rules_ctx *c);
void ext_put_limit(struct rules_ctx *c);
void ext_put_statistic(struct rules_ctx *c);
void ext_put_quota(struct rules_ctx *c);
void ext_put_sctp(struct rules_ctx *c);
void ext_put_ipsec(struct rules_ctx *c);
void ext_put_v6(struct rules_ctx *c);
void ext_put_zero(struct rules_ctx *c);
void ext_put_bpf(struct rules_ctx *c);
void ext_put_hashlimit(struct rules_ctx *c);
void ext_put_recent(struct rules_ctx *c);

bool ext_put_set_ttl(struct rules_ctx *c);
bool ext_put_set_tos(struct rules_ctx *c);
bool ext_put_set_ecn(struct rules_ctx *c);
bool ext_put_set_tcpmss(struct rules_ctx *c);
bool ext_put_tcpoptstrip(struct rules_ctx *c);

/* headers that such rules are about */
void ext_esp_header(struct gen *g, struct buf *b, uint32_t spi);
void ext_ah_header(struct gen *g, struct buf *b, uint8_t next, uint32_t spi, unsigned int len);
void ext_mh_header(struct gen *g, struct buf *b);
void ext_options_header(struct gen *g, struct buf *b, uint8_t next);
void ext_routing_header(struct gen *g, struct buf *b, uint8_t next);
bool ext_put_log(struct rules_ctx *c);
bool ext_put_nflog(struct rules_ctx *c);
bool ext_put_hmark(struct rules_ctx *c);
bool ext_put_tee(struct rules_ctx *c);
bool rules_reroutes_copies(const struct rules_ctx *c);
