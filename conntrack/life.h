/* SPDX-License-Identifier: BSD-3-Clause */
/* Beginnings and ends of entries, as the files of the table see them. See table.h. */
#pragma once

#include "conntrack/table.h"

/* outside of bursts: it has ended by time; the memory is free at once. @hash: of its original tuple */
void ct_expire(struct ct_shard *s, struct ct_entry *e, uint64_t hash);

/* frees what died in the last turn, and what was made in it and not confirmed. Return: made */
uint32_t ct_bury(struct ct_shard *s);

/* a place out of the table's for one entry more. Return: false: there is none */
bool ct_place_take(struct ct_shard *s);
void ct_place_give(struct ct_shard *s);
