/* SPDX-License-Identifier: BSD-3-Clause */
/* ipset_live.h - the sets of a running firewall as text, and lines of ipset(8) applied to them */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ipt_sets;

/**
 * ipset_live_print() - as `ipset save`
 * @name:  only this set; NULL: all, lists last
 *
 * Members of bitmaps stand in their order, those of hashes in none. Return: 0, -ENOENT, -ENOMEM, -EIO.
 */
int ipset_live_print(FILE *f, struct ipt_sets *sets, const char *name);

/**
 * ipset_live_run() - one line: create, add, del, test, flush, swap, destroy
 * @exist: as ipset -exist: adding what is there and deleting what is not are no errors
 *
 * Return: 0 done; 1 of test: not a member; -errno with the reason in @err.
 */
int ipset_live_run(struct ipt_sets *sets, const char *line, bool exist, char *err, size_t err_size);
