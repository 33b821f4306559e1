/* SPDX-License-Identifier: BSD-3-Clause */
/* ipset.h - `ipset save` text into sets and back */
#pragma once

#include "classifier/ipt_set.h"
#include "config/ipt.h"

/**
 * ipset_load() - read the text of `ipset save`: lines create and add
 * @path: named in messages, and read if text is NULL
 * @text: need not end in a newline or NUL
 *
 * Everything or nothing. As `ipset restore`: a member twice, a set that is full, an option that the
 * set's type or its create line does not have are errors.
 *
 * Return: 0; -EINVAL if a line was refused, -errno if the file could not be read, both told in errors;
 * -ENOMEM. Free *file by ipset_free().
 */
int ipset_load(const char *path, const char *text, size_t text_len, struct ipset_file **file,
		struct ipt_errors *errors);
void ipset_free(struct ipset_file *file);

/* The set of that name, or NULL. */
const struct ipset *ipset_find(const struct ipset_file *file, const char *name);

/* For struct ipt_load: `arg` is a struct ipset_file. */
int ipset_has(void *arg, const char *name, enum ipt_family family);

/* As `ipset save` prints it, members in the order of the file. Return: 0, -EIO. */
int ipset_print(FILE *f, const struct ipset_file *file);
/* one of them. Return: 0, -EIO */
int ipset_print_set(FILE *f, const struct ipset_file *file, const struct ipset *s);

const char *ipset_type_name(enum ipset_type type);

/* The parts of a member, by type, ended by IPSET_END. */
enum ipset_part {
	IPSET_END,
	IPSET_IP,
	IPSET_NET,
	IPSET_PORT,
	IPSET_IP2,
	IPSET_NET2,
	IPSET_MAC,
	IPSET_IFACE,
	IPSET_MARK,
	IPSET_SET,
};
#define IPSET_PARTS_MAX 4
const enum ipset_part *ipset_parts(enum ipset_type type);
