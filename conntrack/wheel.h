/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Problem: notice when one of millions of connections is over, while every packet puts that off.
 *
 * Idea: a packet only writes down when its connection would end. A wheel of 128 slots of 256 ms holds
 * the numbers of entries that are to be looked at then: at the end that was written down, or 32 s
 * from now if that is sooner, because an end may also come nearer. An entry that fires and is not
 * over goes into a later slot. So nothing is over for more than 32 s unnoticed, whatever its protocol
 * does (and it is not found in that time), and a connection costs one look each 32 s: a million of
 * them one cycle in a thousand.
 *
 * An entry of memory, not a connection, stands in the wheel. One that is freed stays in its slot and
 * serves whoever gets the memory next, unless that one ends sooner; then it goes into another slot as
 * well, and the slot noted in the entry says which of the two counts. So nothing is ever taken out of
 * a slot before its time, and a slot can be an array: numbers in chunks of a line, from which the
 * entries are fetched ahead, not a list whose every step waits for memory.
 *
 * Example: UDP at 10.0 s, 30 s: slot of 40.0 s. Packets until 25.3 s. At 40.0 s it fires, ends at
 * 55.3 s: slot of 55.5 s. There it is over.
 *
 * Cost: 4.3 bytes an entry, some 10 cycles to arm, 20 to look.
 */
#pragma once

#include "classifier/arena.h"

#include <stdint.h>

struct ct_entry;
struct ct_shard;

#define CT_WHEEL_SLOTS 128
#define CT_WHEEL_SHIFT 8 /* log2 of the milliseconds of a slot */
#define CT_CHUNK 15
#define CT_DUE_MAX 16

struct ct_chunk {
	uint32_t next;
	uint32_t at[CT_CHUNK]; /* entries */
};

struct ct_wheel {
	struct ct_chunk *chunks;
	uint32_t free, high; /* list of chunks; chunks ever used */
	uint32_t refs; /* entries in slots */
	uint32_t twice, twice_max; /* entries in a slot that does not count any more */
	uint32_t head[CT_WHEEL_SLOTS]; /* chunk that is being filled */
	uint8_t fill[CT_WHEEL_SLOTS]; /* entries in it */
	uint32_t hand; /* slot that fires, counted since 0 ms */
	uint32_t last_ms; /* of the last call */
	uint32_t credit; /* looks that are paid for */
	uint32_t n_due;
	uint32_t due[CT_DUE_MAX]; /* taken from the wheel and being fetched */
	uint16_t due_slot; /* where they stood, as in struct ct_entry */
	struct cls_arena mem;
};

/* for @room entries. Return: 0, -ENOMEM */
int ct_wheel_create(uint32_t room, bool huge, struct ct_wheel **out);
void ct_wheel_free(struct ct_wheel *w);

/* @e is to be looked at when it ends */
void ct_wheel_arm(struct ct_shard *s, struct ct_entry *e);

/**
 * ct_wheel_tick() - look at some of what is due
 * @more: looks to spend on top of what the time that went by pays for
 */
void ct_wheel_tick(struct ct_shard *s, uint32_t more);
