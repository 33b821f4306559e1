/* SPDX-License-Identifier: BSD-3-Clause */
/* Which programs of classic BPF are let through. */
#pragma once

#include "classifier/ipt_match.h"

#include <stdbool.h>
#include <stddef.h>

/* offsets from here on mean something else than bytes of the packet (linux/filter.h: SKF_*) */
#define BPF_CHECK_LINK 0xffe00000U /* from the link header */
#define BPF_CHECK_NET 0xfff00000U /* from the IP header */
#define BPF_CHECK_ASIDE 0xfffff000U /* what is known of the packet; only as a fixed offset */

/* behind BPF_CHECK_ASIDE */
enum bpf_aside {
	BPF_ASIDE_PROTOCOL = 0,
	BPF_ASIDE_PKTTYPE = 4,
	BPF_ASIDE_IFINDEX = 8,
	BPF_ASIDE_NLATTR = 12,
	BPF_ASIDE_NLATTR_NEST = 16,
	BPF_ASIDE_MARK = 20,
	BPF_ASIDE_QUEUE = 24,
	BPF_ASIDE_HATYPE = 28,
	BPF_ASIDE_RXHASH = 32,
	BPF_ASIDE_CPU = 36,
	BPF_ASIDE_XOR = 40,
	BPF_ASIDE_VLAN_TAG = 44,
	BPF_ASIDE_VLAN_PRESENT = 48,
	BPF_ASIDE_PAY_OFFSET = 52,
	BPF_ASIDE_RANDOM = 56,
	BPF_ASIDE_VLAN_TPID = 60,
};

/**
 * bpf_check() - refuse what the kernel refuses, and what is not there here
 *
 * Unknown instructions, jumps beyond the end, division by a constant 0, shifts by 32 and more, a cell
 * of memory that is read before it is written, no return at the end. Of what is known of a packet
 * beside its bytes: protocol, packet type, mark and the XOR of A and X are there.
 * Return: 0, -EINVAL, -EOPNOTSUPP; with @err.
 */
int bpf_check(const struct ipt_bpf_insn *insns, unsigned int n, char *err, size_t err_size);

/* "load" the XOR of A and X */
bool bpf_check_is_xor(const struct ipt_bpf_insn *insn);
