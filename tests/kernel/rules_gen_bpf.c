/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of classic BPF, all of which the kernel takes. */
#include "rules_gen_ext.h"

#include <string.h>

/* the identification of an own packet, and so its checksum, is random */
static uint32_t draw_offset(struct rules_ctx *c)
{
	static const uint32_t head[] = { 0, 0, 8, 9, 12, 16, 20, 22, 24, 28, 33 };

	return gen_chance(c->g, 70) ? PICK(c->g, head) : 12 + gen_below(c->g, 80);
}

static void put(struct rules_ctx *c, unsigned int code, unsigned int jt, unsigned int jf,
		uint32_t k)
{
	fprintf(c->f, ",%u %u %u %u", code, jt, jf, k);
}

static void put_load(struct rules_ctx *c)
{
	static const unsigned int sizes[] = { 0x00, 0x08, 0x10 };
	static const uint32_t aside[] = { 0, 4, 20, 40 };
	unsigned int size = PICK(c->g, sizes);
	bool link = !c->user
			&& (strcmp(c->chain, "PREROUTING") == 0
					|| strcmp(c->chain, "FORWARD") == 0);

	switch (gen_below(c->g, 10)) {
	case 0:
		put(c, 0x80, 0, 0, 0); /* the length */
		break;
	case 1:
		put(c, 0x60, 0, 0, 0); /* a cell */
		break;
	case 2:
		put(c, 0x40 | size, 0, 0, 12 + gen_below(c->g, 12)); /* behind X */
		break;
	case 3:
		put(c, 0x20, 0, 0, 0xfffff000 + PICK(c->g, aside));
		break;
	case 4:
		put(c, 0x20 | size, 0, 0, 0xfff00000 + draw_offset(c));
		break;
	case 5:
		put(c, 0x20 | size, 0, 0, link ? 0xffe00000 + gen_below(c->g, 18) : 13);
		break;
	default:
		put(c, 0x20 | size, 0, 0, draw_offset(c));
	}
}

static void put_alu(struct rules_ctx *c)
{
	static const unsigned int ops[] = { 0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80,
		0x90, 0xa0 };
	unsigned int op = PICK(c->g, ops);

	if (gen_chance(c->g, 30) || op == 0x80)
		put(c, 0x04 | op | (op == 0x80 ? 0 : 0x08), 0, 0, 0);
	else
		put(c, 0x04 | op, 0, 0, 1 + gen_below(c->g, 31));
}

static void put_index(struct rules_ctx *c)
{
	static const unsigned int codes[] = { 0xb1, 0xb1, 0x01, 0x61, 0x07, 0x87, 0x81 };
	unsigned int code = PICK(c->g, codes);

	put(c, code, 0, 0, code == 0x01 ? gen_below(c->g, 30) : 0);
}

/* @left: instructions behind it */
static void put_jump(struct rules_ctx *c, unsigned int left)
{
	static const unsigned int ops[] = { 0x10, 0x20, 0x30, 0x40 };
	static const uint32_t values[] = { 0, 1, 4, 6, 17, 20, 40, 53, 64, 80, 0x0a000102 };
	unsigned int jt = gen_below(c->g, left < 4 ? left : 4);
	unsigned int jf = gen_below(c->g, left < 4 ? left : 4);

	if (gen_chance(c->g, 10))
		put(c, 0x05, 0, 0, jt);
	else
		put(c, 0x05 | PICK(c->g, ops) | (gen_chance(c->g, 20) ? 0x08 : 0), jt, jf,
				PICK(c->g, values));
}

void ext_put_bpf(struct rules_ctx *c)
{
	unsigned int n = 3 + gen_below(c->g, 12);

	fprintf(c->f, " -m bpf --bytecode \"%u", n);
	put(c, 0x02, 0, 0, 0); /* the cell is written */
	for (unsigned int i = 1; i + 1 < n; i++) {
		unsigned int what = gen_below(c->g, 10);

		if (what < 4)
			put_load(c);
		else if (what < 6)
			put_alu(c);
		else if (what < 8)
			put_index(c);
		else if (what < 9)
			put(c, gen_chance(c->g, 50) ? 0x02 : 0x03, 0, 0, 0);
		else
			put_jump(c, n - i - 1);
	}
	if (gen_chance(c->g, 70))
		put(c, 0x16, 0, 0, 0);
	else
		put(c, 0x06, 0, 0, gen_below(c->g, 2));
	fprintf(c->f, "\"");
}
