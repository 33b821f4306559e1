/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An echo request to the router in pieces of 16 bytes, so that many fit a test, and what comes back.
 * One request at a time.
 */
#pragma once

#include "tests/lib/router_fixture.h"

#define PIECE 16U
#define PIECES 4U
#define PIECES_MF4 0x2000U

/* the whole request in either family; a test may change its id and source */
extern struct rf_ip pieces4, pieces6;

void pieces_make(struct rf_ip *ip, uint16_t id);

/* bytes off..off+len of the request as a fragment */
void pieces_send(const struct rf_ip *ip, unsigned int off, unsigned int len, bool more);
void pieces_send_nth(const struct rf_ip *ip, unsigned int n);
/* a last fragment that ends behind 65,535 */
void pieces_send_oversize6(void);

/* frames out since rf_clear() that are echo replies with the whole payload */
unsigned int pieces_replies(const struct rf_ip *ip);
/* ICMP messages of this type and code; @l4: 34 or 54 */
unsigned int pieces_errors(unsigned int l4, uint8_t type, uint8_t code);

/* setup and teardown: that all is accounted for and every buffer is back */
int pieces_begin(void **state);
int pieces_end(void **state);
