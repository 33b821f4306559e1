/* SPDX-License-Identifier: BSD-3-Clause */
/* Classic BPF: machine code against the interpreter on random programs; what is refused. */
#include "classifier/bpf.h"
#include "tests/config/rules_rig.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 20261201
#define PROGRAMS 3000
#define INSNS 14

#define UDP                                                                                 \
	"45000030 12340000 4011 abcd 0a000001 0a000101 03e80035 001c 5678 0102030405060708" \
	"090a0b0c0d0e0f1011121314"

static uint64_t rng;

static uint32_t draw(uint32_t below)
{
	rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(rng >> 33) % below;
}

static struct ipt_bpf_insn draw_insn(unsigned int left)
{
	static const uint16_t codes[] = { 0x20, 0x28, 0x30, 0x30, 0x40, 0x48, 0x50, 0x80, 0x60,
		0xb1, 0x01, 0x87, 0x02, 0x04, 0x0c, 0x14, 0x1c, 0x24, 0x2c, 0x34, 0x3c, 0x44, 0x4c,
		0x54, 0x5c, 0x64, 0x74, 0x84, 0x94, 0x9c, 0xa4, 0xac, 0x15, 0x1d, 0x25, 0x2d, 0x35,
		0x3d, 0x45, 0x4d, 0x05 };
	struct ipt_bpf_insn in = { .code = codes[draw(RTE_DIM(codes))] };

	switch (in.code & 7) {
	case 5: /* jumps */
		in.k = in.code == 0x05 ? draw(left) : draw(70);
		in.jt = (uint8_t)draw(left);
		in.jf = (uint8_t)draw(left);
		break;
	case 4: /* a constant shift below 32, and no division by 0 */
		in.k = 1 + draw(31);
		break;
	case 0:
	case 1:
		/* past the end of the packet, too */
		in.k = in.code == 0x60 ? 0 : draw(52);
		break;
	default:
		break;
	}
	return in;
}

static void test_native_when_programs_are_random_agrees_with_interpreter(void **state)
{
	struct rte_mbuf *m = rig_packet(UDP);
	struct ipt_ctx c = { .m = m, .p = sl_pkt(m), .family = IPT_V4 };
	unsigned int n_native = 0;

	(void)state;
	rng = SEED;
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		struct ipt_bpf_insn v[INSNS] = { { .code = 0x02 } };
		struct bpf_filter *f;
		char err[128];

		for (unsigned int k = 1; k < INSNS - 1; k++)
			v[k] = draw_insn(INSNS - 1 - k);
		v[INSNS - 1].code = 0x16;
		if (bpf_filter_create(v, INSNS, &f, err, sizeof(err)) < 0)
			fail_msg("%s", err);
		n_native += bpf_filter_is_native(f);
		if (bpf_filter_run(f, &c) != bpf_filter_interpret(f, &c)) {
			for (unsigned int k = 0; k < INSNS; k++)
				print_error("%u: 0x%x %u %u %u\n", k, v[k].code, v[k].jt, v[k].jf,
						v[k].k);
			fail_msg("program %u: %u, not %u", i, bpf_filter_run(f, &c),
					bpf_filter_interpret(f, &c));
		}
		bpf_filter_free(f);
	}
	/* there is a translator for this processor, and it takes some of them */
#ifdef RTE_ARCH_X86_64
	assert_true(n_native > PROGRAMS / 100);
#endif
	rte_pktmbuf_free(m);
}

static void test_create_when_program_is_bad_is_refused(void **state)
{
	static const struct {
		struct ipt_bpf_insn v[3];
		unsigned int n;
		int ret;
		const char *words;
	} cases[] = {
		{ { { 0x28, 0, 0, 12 } }, 1, -EINVAL, "return" },
		{ { { 0xff, 0, 0, 0 }, { 0x06, 0, 0, 1 } }, 2, -EINVAL, "unknown instruction" },
		{ { { 0x15, 1, 0, 0 }, { 0x06, 0, 0, 1 } }, 2, -EINVAL, "beyond the end" },
		{ { { 0x05, 0, 0, 1 }, { 0x06, 0, 0, 1 } }, 2, -EINVAL, "beyond the end" },
		{ { { 0x34, 0, 0, 0 }, { 0x06, 0, 0, 1 } }, 2, -EINVAL, "division" },
		{ { { 0x64, 0, 0, 32 }, { 0x06, 0, 0, 1 } }, 2, -EINVAL, "shift" },
		{ { { 0x60, 0, 0, 3 }, { 0x16, 0, 0, 0 } }, 2, -EINVAL, "not written" },
		{ { { 0x02, 0, 0, 16 }, { 0x16, 0, 0, 0 } }, 2, -EINVAL, "memory" },
		{ { { 0x20, 0, 0, 0xfffff000 + 36 }, { 0x16, 0, 0, 0 } }, 2, -EOPNOTSUPP, "cpu" },
		{ { { 0x20, 0, 0, 0xfffff000 + 64 }, { 0x16, 0, 0, 0 } }, 2, -EINVAL, "offset" },
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct bpf_filter *f = NULL;
		char err[128] = "";

		assert_int_equal(bpf_filter_create(cases[i].v, cases[i].n, &f, err, sizeof(err)),
				cases[i].ret);
		if (strstr(err, cases[i].words) == NULL)
			fail_msg("\"%s\", not of %s", err, cases[i].words);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_native_when_programs_are_random_agrees_with_interpreter),
		cmocka_unit_test(test_create_when_program_is_bad_is_refused),
	};

	return cmocka_run_group_tests(tests, rig_start, rig_stop);
}
