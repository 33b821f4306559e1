/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replies that NAT has turned away from the worker that the addresses and ports of a packet point to.
 * The owner of a flow is a function of its tuple, and NAT changes the tuple of the replies: who set up
 * such a connection claims it here, and whoever receives a packet asks before he hands it on.
 *
 * Shared by the workers: written once when such a connection is made and once when it goes, read
 * without a lock for every packet while there are several workers and a nat table.
 */
#pragma once

#include "conntrack/table.h"

/* [control] a place for as many replies as the table may have. Return: 0, -ENOMEM */
int ct_claims_create(struct ct_table *t);
void ct_claims_free(struct ct_table *t);

/**
 * ct_claim() - replies of this tuple come to @worker
 *
 * Return: 0, -EEXIST if somebody has claimed it, -ENOSPC.
 */
int ct_claim(struct ct_table *t, const struct ct_tuple *reply, uint16_t worker);
void ct_unclaim(struct ct_table *t, const struct ct_tuple *reply, uint16_t worker);

/* who has claimed a tuple; -1: nobody */
int ct_claimed(const struct ct_table *t, const struct ct_tuple *tuple);

/* [control] from now on workers ask for claims before they hand packets on; never off again, since
 * connections outlive the rules that made them */
void ct_claims_steer(struct ct_table *t);

/* whether replies of this tuple have to be claimed to come to @worker: always, where a device spreads
 * flows itself, since it alone knows how */
bool ct_claim_is_due(const struct ct_table *t, const struct ct_tuple *reply, uint16_t worker);

/* the worker that owns the packets of a tuple as they are, without claims */
uint16_t ct_owner(const struct ct_table *t, const struct ct_tuple *tuple);
