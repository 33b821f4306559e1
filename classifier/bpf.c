/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/bpf.h"

#include "classifier/bpf_check.h"

#include <pcap/pcap.h>
#include <rte_bpf.h>
#include <rte_log.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bpf_filter {
	struct rte_bpf *native; /* NULL: interpreted */
	uint64_t (*run)(void *mbuf);
	unsigned int n;
	struct ipt_bpf_insn v[];
};

/* ---- interpreter ---- */

struct machine {
	const struct ipt_ctx *c;
	uint32_t a, x;
	uint32_t mem[BPF_MEMWORDS];
	uint32_t len; /* of the IP packet */
	bool failed; /* a load beyond the packet, or a division by zero: the answer is 0 */
};

/* bytes before or behind the packet's own: from the IP header or from the link header */
static bool special_offset(const struct machine *m, uint32_t off, uint32_t *at)
{
	if (off >= BPF_CHECK_NET) {
		*at = off - BPF_CHECK_NET + m->c->p->l3_off;
		return true;
	}
	if (off < BPF_CHECK_LINK)
		return false;
	*at = off - BPF_CHECK_LINK;
	/* the router's own packets came from no link */
	return !(m->c->p->flags & SL_PKT_ORIGIN);
}

static uint32_t load_bytes(struct machine *m, uint32_t off, unsigned int size)
{
	uint8_t b[4] = { 0 };
	uint32_t at = off + m->c->p->l3_off;

	/* an offset has a sign */
	if ((off >= 1U << 31 && !special_offset(m, off, &at))
			|| !sl_pkt_copy(m->c->m, at, size, b)) {
		m->failed = true;
		return 0;
	}
	if (size == 1)
		return b[0];
	if (size == 2)
		return (uint32_t)b[0] << 8 | b[1];
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* what the kernel knows of a packet beside its bytes; bpf_check.c lets no other through */
static uint32_t load_aside(const struct machine *m, uint32_t what)
{
	const struct sl_pkt *p = m->c->p;

	switch (what - BPF_CHECK_ASIDE) {
	case BPF_ASIDE_PROTOCOL:
		return m->c->family == IPT_V4 ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6;
	case BPF_ASIDE_PKTTYPE:
		if (p->flags & SL_PKT_LINK_BCAST)
			return 1;
		return p->flags & SL_PKT_LINK_MCAST ? 2 : p->flags & SL_PKT_LINK_OTHER ? 3 : 0;
	case BPF_ASIDE_MARK:
		return p->mark;
	default:
		return 0;
	}
}

static uint32_t load(struct machine *m, const struct ipt_bpf_insn *i)
{
	switch (BPF_MODE(i->code)) {
	case BPF_IMM:
		return i->k;
	case BPF_LEN:
		return m->len;
	case BPF_MEM:
		return m->mem[i->k];
	case BPF_MSH:
		return (load_bytes(m, i->k, 1) & 0xf) * 4;
	case BPF_ABS:
		if (i->k >= BPF_CHECK_ASIDE)
			return load_aside(m, i->k);
		break;
	default: /* BPF_IND */
		break;
	}
	return load_bytes(m, BPF_MODE(i->code) == BPF_IND ? m->x + i->k : i->k,
			BPF_SIZE(i->code) == BPF_W                   ? 4
					: BPF_SIZE(i->code) == BPF_H ? 2
								     : 1);
}

static void compute(struct machine *m, const struct ipt_bpf_insn *i)
{
	uint32_t operand = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

	switch (BPF_OP(i->code)) {
	case BPF_ADD:
		m->a += operand;
		break;
	case BPF_SUB:
		m->a -= operand;
		break;
	case BPF_MUL:
		m->a *= operand;
		break;
	case BPF_DIV:
	case BPF_MOD:
		m->failed = operand == 0;
		if (!m->failed)
			m->a = BPF_OP(i->code) == BPF_DIV ? m->a / operand : m->a % operand;
		break;
	case BPF_AND:
		m->a &= operand;
		break;
	case BPF_OR:
		m->a |= operand;
		break;
	case BPF_XOR:
		m->a ^= operand;
		break;
	case BPF_LSH: /* by 32 and more: as x86 shifts */
		m->a <<= operand & 31;
		break;
	case BPF_RSH:
		m->a >>= operand & 31;
		break;
	case BPF_NEG:
		m->a = -m->a;
		break;
	}
}

static bool jumps(const struct machine *m, const struct ipt_bpf_insn *i)
{
	uint32_t operand = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

	switch (BPF_OP(i->code)) {
	case BPF_JEQ:
		return m->a == operand;
	case BPF_JGT:
		return m->a > operand;
	case BPF_JGE:
		return m->a >= operand;
	default: /* BPF_JSET */
		return (m->a & operand) != 0;
	}
}

uint32_t bpf_filter_interpret(const struct bpf_filter *f, const struct ipt_ctx *c)
{
	struct machine m = { .c = c, .len = c->m->pkt_len - c->p->l3_off };

	/* jumps go forward, and the last instruction returns */
	for (const struct ipt_bpf_insn *i = f->v; !m.failed; i++) {
		switch (BPF_CLASS(i->code)) {
		case BPF_LD:
			/* the one load that is an operation */
			if (bpf_check_is_xor(i))
				m.a ^= m.x;
			else
				m.a = load(&m, i);
			break;
		case BPF_LDX:
			m.x = load(&m, i);
			break;
		case BPF_ST:
			m.mem[i->k] = m.a;
			break;
		case BPF_STX:
			m.mem[i->k] = m.x;
			break;
		case BPF_ALU:
			compute(&m, i);
			break;
		case BPF_JMP:
			if (BPF_OP(i->code) == BPF_JA)
				i += i->k;
			else
				i += jumps(&m, i) ? i->jt : i->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(i->code) == BPF_A ? m.a : i->k;
		case BPF_MISC:
			if (BPF_MISCOP(i->code) == BPF_TAX)
				m.x = m.a;
			else
				m.a = m.x;
			break;
		}
	}
	return 0;
}

/* ---- machine code ---- */

/*
 * What librte_bpf 22.11 gets right: its machine code for BPF_JSET and for loads behind an index is not
 * what they say (bpf_test.c found it), and what is no byte of the packet it cannot load.
 */
static bool is_plain(const struct ipt_bpf_insn *insns, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct ipt_bpf_insn *in = &insns[i];

		if (BPF_CLASS(in->code) == BPF_JMP && BPF_OP(in->code) == BPF_JSET)
			return false;
		if (BPF_CLASS(in->code) != BPF_LD && BPF_CLASS(in->code) != BPF_LDX)
			continue;
		if (BPF_MODE(in->code) == BPF_IND
				|| (in->k >= 1U << 30 && BPF_MODE(in->code) != BPF_IMM))
			return false;
	}
	return true;
}

/* whether an instruction has a use for its constant; librte_bpf wants 0 where it has not */
static bool uses_constant(const struct ipt_bpf_insn *in)
{
	switch (BPF_CLASS(in->code)) {
	case BPF_ALU:
		return BPF_SRC(in->code) == BPF_K && BPF_OP(in->code) != BPF_NEG;
	case BPF_JMP:
		return BPF_SRC(in->code) == BPF_K;
	case BPF_RET:
		return BPF_RVAL(in->code) == BPF_K;
	case BPF_LD:
	case BPF_LDX:
		return BPF_MODE(in->code) != BPF_LEN;
	case BPF_MISC:
		return false;
	default:
		return true;
	}
}

static void translate(struct bpf_filter *f)
{
	struct bpf_insn insns[IPT_BPF_MAX];
	const struct bpf_program program = { .bf_len = f->n, .bf_insns = insns };
	struct rte_bpf_prm *prm;
	struct rte_bpf_jit jit;

	for (unsigned int i = 0; i < f->n; i++)
		insns[i] = (struct bpf_insn){
			.code = f->v[i].code,
			.jt = f->v[i].jt,
			.jf = f->v[i].jf,
			.k = uses_constant(&f->v[i]) ? f->v[i].k : 0,
		};
	/* what it refuses is interpreted, which is nobody's trouble */
	rte_log_set_level_pattern("lib.bpf", RTE_LOG_CRIT);
	prm = rte_bpf_convert(&program);
	if (prm == NULL)
		return;
	f->native = rte_bpf_load(prm);
	rte_free(prm);
	if (f->native == NULL)
		return;
	if (rte_bpf_get_jit(f->native, &jit) == 0 && jit.func != NULL) {
		f->run = jit.func;
		return;
	}
	rte_bpf_destroy(f->native);
	f->native = NULL;
}

/* the program sees a frame that begins with the IP header */
static uint32_t run_native(const struct bpf_filter *f, const struct ipt_ctx *c)
{
	uint16_t skip = c->p->l3_off;
	struct rte_mbuf *m = c->m;
	uint32_t ret;

	m->data_off += skip;
	m->data_len -= skip;
	m->pkt_len -= skip;
	ret = (uint32_t)f->run(m);
	m->data_off -= skip;
	m->data_len += skip;
	m->pkt_len += skip;
	return ret;
}

uint32_t bpf_filter_run(const struct bpf_filter *f, const struct ipt_ctx *c)
{
	return f->run != NULL ? run_native(f, c) : bpf_filter_interpret(f, c);
}

bool bpf_filter_is_native(const struct bpf_filter *f)
{
	return f->run != NULL;
}

int bpf_filter_create(const struct ipt_bpf_insn *insns, unsigned int n, struct bpf_filter **out,
		char *err, size_t err_size)
{
	int ret = bpf_check(insns, n, err, err_size);
	struct bpf_filter *f;

	if (ret < 0)
		return ret;
	f = calloc(1, sizeof(*f) + n * sizeof(f->v[0]));
	if (f == NULL) {
		snprintf(err, err_size, "bpf: out of memory");
		return -ENOMEM;
	}
	f->n = n;
	memcpy(f->v, insns, n * sizeof(f->v[0]));
	if (is_plain(insns, n))
		translate(f);
	*out = f;
	return 0;
}

void bpf_filter_free(struct bpf_filter *f)
{
	if (f == NULL)
		return;
	rte_bpf_destroy(f->native);
	free(f);
}
