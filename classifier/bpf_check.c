/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/bpf_check.h"

#include <pcap/pcap.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

static const uint16_t known[] = {
	BPF_LD | BPF_W | BPF_ABS,
	BPF_LD | BPF_H | BPF_ABS,
	BPF_LD | BPF_B | BPF_ABS,
	BPF_LD | BPF_W | BPF_IND,
	BPF_LD | BPF_H | BPF_IND,
	BPF_LD | BPF_B | BPF_IND,
	BPF_LD | BPF_W | BPF_LEN,
	BPF_LD | BPF_IMM,
	BPF_LD | BPF_MEM,
	BPF_LDX | BPF_W | BPF_LEN,
	BPF_LDX | BPF_B | BPF_MSH,
	BPF_LDX | BPF_IMM,
	BPF_LDX | BPF_MEM,
	BPF_ST,
	BPF_STX,
	BPF_ALU | BPF_ADD | BPF_K,
	BPF_ALU | BPF_ADD | BPF_X,
	BPF_ALU | BPF_SUB | BPF_K,
	BPF_ALU | BPF_SUB | BPF_X,
	BPF_ALU | BPF_MUL | BPF_K,
	BPF_ALU | BPF_MUL | BPF_X,
	BPF_ALU | BPF_DIV | BPF_K,
	BPF_ALU | BPF_DIV | BPF_X,
	BPF_ALU | BPF_MOD | BPF_K,
	BPF_ALU | BPF_MOD | BPF_X,
	BPF_ALU | BPF_AND | BPF_K,
	BPF_ALU | BPF_AND | BPF_X,
	BPF_ALU | BPF_OR | BPF_K,
	BPF_ALU | BPF_OR | BPF_X,
	BPF_ALU | BPF_XOR | BPF_K,
	BPF_ALU | BPF_XOR | BPF_X,
	BPF_ALU | BPF_LSH | BPF_K,
	BPF_ALU | BPF_LSH | BPF_X,
	BPF_ALU | BPF_RSH | BPF_K,
	BPF_ALU | BPF_RSH | BPF_X,
	BPF_ALU | BPF_NEG,
	BPF_JMP | BPF_JA,
	BPF_JMP | BPF_JEQ | BPF_K,
	BPF_JMP | BPF_JEQ | BPF_X,
	BPF_JMP | BPF_JGT | BPF_K,
	BPF_JMP | BPF_JGT | BPF_X,
	BPF_JMP | BPF_JGE | BPF_K,
	BPF_JMP | BPF_JGE | BPF_X,
	BPF_JMP | BPF_JSET | BPF_K,
	BPF_JMP | BPF_JSET | BPF_X,
	BPF_RET | BPF_K,
	BPF_RET | BPF_A,
	BPF_MISC | BPF_TAX,
	BPF_MISC | BPF_TXA,
};

static bool is_known(uint16_t code)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] == code)
			return true;
	return false;
}

static bool is_abs(uint16_t code)
{
	return BPF_CLASS(code) == BPF_LD && BPF_MODE(code) == BPF_ABS;
}

bool bpf_check_is_xor(const struct ipt_bpf_insn *insn)
{
	return is_abs(insn->code) && insn->k == BPF_CHECK_ASIDE + BPF_ASIDE_XOR;
}

static const char *aside_name(uint32_t what)
{
	switch ((enum bpf_aside)what) {
	case BPF_ASIDE_PROTOCOL:
	case BPF_ASIDE_PKTTYPE:
	case BPF_ASIDE_MARK:
	case BPF_ASIDE_XOR:
		return NULL;
	case BPF_ASIDE_IFINDEX:
		return "ifindex";
	case BPF_ASIDE_NLATTR:
	case BPF_ASIDE_NLATTR_NEST:
		return "netlink attribute";
	case BPF_ASIDE_QUEUE:
		return "queue";
	case BPF_ASIDE_HATYPE:
		return "hardware type";
	case BPF_ASIDE_RXHASH:
		return "rxhash";
	case BPF_ASIDE_CPU:
		return "cpu";
	case BPF_ASIDE_VLAN_TAG:
	case BPF_ASIDE_VLAN_PRESENT:
	case BPF_ASIDE_VLAN_TPID:
		return "vlan";
	case BPF_ASIDE_PAY_OFFSET:
		return "payload offset";
	case BPF_ASIDE_RANDOM:
		return "random";
	}
	return NULL;
}

/* one instruction for itself. Return: what is wrong with it, or NULL */
static const char *bad_insn(const struct ipt_bpf_insn *in, unsigned int left)
{
	uint16_t op = BPF_OP(in->code);

	if (!is_known(in->code))
		return "an unknown instruction";
	switch (BPF_CLASS(in->code)) {
	case BPF_ALU:
		if (BPF_SRC(in->code) == BPF_K && (op == BPF_DIV || op == BPF_MOD) && in->k == 0)
			return "a division by 0";
		if (BPF_SRC(in->code) == BPF_K && (op == BPF_LSH || op == BPF_RSH) && in->k >= 32)
			return "a shift by 32 or more";
		return NULL;
	case BPF_ST:
	case BPF_STX:
		return in->k >= BPF_MEMWORDS ? "a cell of memory above 15" : NULL;
	case BPF_LD:
	case BPF_LDX:
		if (BPF_MODE(in->code) == BPF_MEM && in->k >= BPF_MEMWORDS)
			return "a cell of memory above 15";
		if (is_abs(in->code) && in->k >= BPF_CHECK_ASIDE
				&& (in->k > BPF_CHECK_ASIDE + BPF_ASIDE_VLAN_TPID
						|| in->k % 4 != 0))
			return "an unknown offset";
		return NULL;
	case BPF_JMP:
		if (op == BPF_JA ? in->k >= left : in->jt >= left || in->jf >= left)
			return "a jump beyond the end";
		return NULL;
	default:
		return NULL;
	}
}

/* cells that are written on every way to an instruction. Return: the first that reads another, or n */
static unsigned int unwritten(const struct ipt_bpf_insn *insns, unsigned int n)
{
	uint16_t way[IPT_BPF_MAX], written = 0;

	for (unsigned int i = 0; i < n; i++)
		way[i] = UINT16_MAX;
	for (unsigned int i = 0; i < n; i++) {
		const struct ipt_bpf_insn *in = &insns[i];

		written &= way[i];
		switch (BPF_CLASS(in->code)) {
		case BPF_ST:
		case BPF_STX:
			written |= (uint16_t)(1U << in->k);
			break;
		case BPF_LD:
		case BPF_LDX:
			if (BPF_MODE(in->code) == BPF_MEM && !(written >> in->k & 1))
				return i;
			break;
		case BPF_JMP:
			if (BPF_OP(in->code) == BPF_JA) {
				way[i + 1 + in->k] &= written;
			} else {
				way[i + 1 + in->jt] &= written;
				way[i + 1 + in->jf] &= written;
			}
			written = UINT16_MAX;
			break;
		default:
			break;
		}
	}
	return n;
}

static int refuse(char *err, size_t err_size, unsigned int i, const char *what)
{
	snprintf(err, err_size, "bpf: instruction %u is %s", i, what);
	return -EINVAL;
}

int bpf_check(const struct ipt_bpf_insn *insns, unsigned int n, char *err, size_t err_size)
{
	unsigned int i;

	if (n == 0 || n > IPT_BPF_MAX)
		return refuse(err, err_size, n, "none, or one too many");
	for (i = 0; i < n; i++) {
		const char *what = bad_insn(&insns[i], n - i - 1);

		if (what != NULL)
			return refuse(err, err_size, i, what);
	}
	if (BPF_CLASS(insns[n - 1].code) != BPF_RET)
		return refuse(err, err_size, n - 1, "the last one, a return was expected");
	i = unwritten(insns, n);
	if (i < n)
		return refuse(err, err_size, i, "a read of a cell that was not written");
	for (i = 0; i < n; i++) {
		const char *name = is_abs(insns[i].code) && insns[i].k >= BPF_CHECK_ASIDE
				? aside_name(insns[i].k - BPF_CHECK_ASIDE)
				: NULL;

		if (name == NULL)
			continue;
		snprintf(err, err_size, "bpf: instruction %u asks for the %s of a packet: not here",
				i, name);
		return -EOPNOTSUPP;
	}
	return 0;
}
