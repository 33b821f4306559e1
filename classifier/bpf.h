/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classic BPF over IP packets, as the kernel's xt_bpf runs it. A program is checked when it is made;
 * one that DPDK's librte_bpf can hold with the same meaning is translated to machine code, the others
 * are interpreted.
 */
#pragma once

#include "classifier/ext.h"

struct bpf_filter;

/**
 * bpf_filter_create() - check and translate a program
 * @n:   instructions
 * @err: what the kernel refuses, and where
 *
 * Return: 0, -EINVAL, -EOPNOTSUPP (it asks what there is not here), -ENOMEM; with @err.
 */
int bpf_filter_create(const struct ipt_bpf_insn *insns, unsigned int n, struct bpf_filter **out,
		char *err, size_t err_size);
void bpf_filter_free(struct bpf_filter *f);

/* [worker] Return: what the program returns, 0 if it reads beyond the packet */
uint32_t bpf_filter_run(const struct bpf_filter *f, const struct ipt_ctx *c);

/* the same, always interpreted: what tests hold the machine code against */
uint32_t bpf_filter_interpret(const struct bpf_filter *f, const struct ipt_ctx *c);

/* whether there is machine code */
bool bpf_filter_is_native(const struct bpf_filter *f);
