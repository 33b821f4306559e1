/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_payload.c - what looks into the bytes of a packet: string, u32, bpf */
#include "config/ipt_arena.h"
#include "config/ipt_list.h"

#include <pcap/pcap.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- string ---- */

static int put_byte(
		struct ipt_ctx *cx, const struct ipt_opt *o, struct ipt_m_string *m, uint8_t byte)
{
	if (m->len == IPT_STRING_MAX)
		return ipt_fail(cx, "--%s: longer than %d bytes", o->name, IPT_STRING_MAX);
	m->pattern[m->len++] = byte;
	return 0;
}

static int parse_text(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	(void)inv;
	for (; *arg != '\0'; arg++)
		if (put_byte(cx, o, in->data, *arg) < 0)
			return -EINVAL;
	return 0;
}

/* Text with |hex bytes| in it; outside of the bars a backslash takes the next byte as it is. */
static int parse_hex(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	const char *s = arg;
	bool hex = false;
	uint8_t byte;

	(void)inv;
	while (*s != '\0') {
		if (*s == '|') {
			hex = !hex;
			s++;
			continue;
		}
		if (hex) {
			if (*s == ' ') {
				s++;
				continue;
			}
			if (!isxdigit((unsigned char)s[0]) || !isxdigit((unsigned char)s[1]))
				return ipt_fail(cx, "--%s %s: two hex digits a byte were expected",
						o->name, arg);
			byte = strtoul((char[]){ s[0], s[1], '\0' }, NULL, 16);
			s += 2;
		} else {
			if (*s == '\\' && *++s == '\0')
				return ipt_fail(cx, "--%s %s: nothing behind the last \\", o->name,
						arg);
			byte = *s++;
		}
		if (put_byte(cx, o, in->data, byte) < 0)
			return -EINVAL;
	}
	return hex ? ipt_fail(cx, "--%s %s: a closing | was expected", o->name, arg) : 0;
}

static bool is_text(const struct ipt_m_string *m)
{
	for (int i = 0; i < m->len; i++)
		if (m->pattern[i] < 0x20 || m->pattern[i] > 0x7e)
			return false;
	return m->pattern[m->len - 1] != '\\';
}

static void print_text(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_string *m = v->data;

	(void)o;
	fputs(" \"", f);
	for (int i = 0; i < m->len; i++) {
		if (m->pattern[i] == '"' || m->pattern[i] == '\\')
			fputc('\\', f);
		fputc(m->pattern[i], f);
	}
	fputc('"', f);
}

static void print_hex(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_string *m = v->data;

	(void)o;
	fputs(" \"|", f);
	for (int i = 0; i < m->len; i++)
		fprintf(f, "%02x", m->pattern[i]);
	fputs("|\"", f);
}

static int string_init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_m_string *m = in->data;

	(void)cx;
	m->to = UINT16_MAX;
	return 0;
}

static int string_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_m_string *m = in->data;
	const uint32_t both = IPT_STRING_STRING | IPT_STRING_HEX;

	if (m->len == 0)
		return ipt_fail(cx, "match \"string\": the pattern is empty");
	if (m->from > m->to)
		return ipt_fail(cx, "match \"string\": --from %u is behind --to %u", m->from,
				m->to);
	if (strcmp(m->algo, "bm") != 0 && strcmp(m->algo, "kmp") != 0)
		return ipt_fail(cx, "--algo %s: bm or kmp was expected", m->algo);
	if (m->from == 0)
		in->set &= ~IPT_STRING_FROM;
	if (m->to == UINT16_MAX)
		in->set &= ~IPT_STRING_TO;
	/* however it was written, it is printed as text if it is that */
	in->set = (in->set & ~both) | (is_text(m) ? IPT_STRING_STRING : IPT_STRING_HEX);
	if (in->inv != 0)
		in->inv = in->set & both;
	return 0;
}

static const struct ipt_type t_text = { .parse = parse_text, .print = print_text };
static const struct ipt_type t_hex = { .parse = parse_hex, .print = print_hex };

#define STR(field) offsetof(struct ipt_m_string, field)
static const struct ipt_opt string_opts[] = {
	IPT_OPT("string", &t_text, IPT_STRING_STRING, IPT_O_INV, .excl = IPT_STRING_HEX),
	IPT_OPT("hex-string", &t_hex, IPT_STRING_HEX, IPT_O_INV, .excl = IPT_STRING_STRING),
	IPT_OPT("algo", &ipt_t_name, IPT_STRING_ALGO, 0, STR(algo), 0, 15),
	IPT_OPT("from", &ipt_t_u16, IPT_STRING_FROM, 0, STR(from)),
	IPT_OPT("to", &ipt_t_u16, IPT_STRING_TO, 0, STR(to)),
	IPT_OPT("icase", &ipt_t_flag, IPT_STRING_ICASE),
	{ 0 },
};

const struct ipt_ext ipt_match_string = {
	.name = "string",
	.kind = IPT_M_STRING,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_string),
	.opts = string_opts,
	.need = IPT_STRING_ALGO,
	.one_of = IPT_STRING_STRING | IPT_STRING_HEX,
	.init = string_init,
	.finish = string_finish,
};

/* ---- u32: tests = location "=" ranges, joined by "&&" ---- */

static const char *blanks(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static int u32_bad(struct ipt_ctx *cx, const char *arg, const char *at, const char *want)
{
	return ipt_fail(cx, "--u32 \"%s\": at byte %td, %s was expected", arg, at - arg, want);
}

static int u32_number(struct ipt_ctx *cx, const char *arg, const char **s, uint32_t *n)
{
	uint64_t v;

	if (!ipt_number(*s, s, &v, 0, UINT32_MAX))
		return u32_bad(cx, arg, *s, "a number 0-0xffffffff");
	*n = v;
	*s = blanks(*s);
	return 0;
}

/* offset, then operator and number as often as wanted, up to "=" */
static int u32_location(struct ipt_ctx *cx, const char *arg, const char **s, struct ipt_u32_test *t)
{
	struct ipt_u32_step *step;
	uint8_t op = IPT_U32_AND;

	for (;;) {
		if (t->n_steps == IPT_U32_MAX)
			return u32_bad(cx, arg, *s, "no further operator (at most 9)");
		step = &t->steps[t->n_steps++];
		step->op = op;
		if (u32_number(cx, arg, s, &step->number) < 0)
			return -EINVAL;
		if (**s == '=') {
			*s = blanks(*s + 1);
			return 0;
		}
		if (**s == '&' && (*s)[1] != '&')
			op = IPT_U32_AND;
		else if (**s == '@')
			op = IPT_U32_AT;
		else if (strncmp(*s, "<<", 2) == 0)
			op = IPT_U32_LEFT;
		else if (strncmp(*s, ">>", 2) == 0)
			op = IPT_U32_RIGHT;
		else
			return u32_bad(cx, arg, *s, "one of & << >> @ =");
		*s = blanks(*s + (op == IPT_U32_LEFT || op == IPT_U32_RIGHT ? 2 : 1));
	}
}

static int u32_ranges(struct ipt_ctx *cx, const char *arg, const char **s, struct ipt_u32_test *t)
{
	struct ipt_range32 *r;

	for (;;) {
		if (t->n_ranges == IPT_U32_MAX)
			return u32_bad(cx, arg, *s, "no further value (at most 10)");
		r = &t->ranges[t->n_ranges++];
		if (u32_number(cx, arg, s, &r->lo) < 0)
			return -EINVAL;
		r->hi = r->lo;
		if (**s == ':') {
			*s = blanks(*s + 1);
			if (u32_number(cx, arg, s, &r->hi) < 0)
				return -EINVAL;
		}
		if (**s != ',')
			return 0;
		*s = blanks(*s + 1);
	}
}

static int parse_u32(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_u32_test tests[IPT_U32_MAX] = { 0 };
	struct ipt_m_u32 *m = in->data;
	const char *s = blanks(arg);

	(void)o, (void)inv;
	for (;;) {
		if (m->n_tests == IPT_U32_MAX)
			return u32_bad(cx, arg, s, "no further test (at most 10)");
		if (u32_location(cx, arg, &s, &tests[m->n_tests]) < 0
				|| u32_ranges(cx, arg, &s, &tests[m->n_tests]) < 0)
			return -EINVAL;
		m->n_tests++;
		if (*s == '\0')
			break;
		if (strncmp(s, "&&", 2) != 0)
			return u32_bad(cx, arg, s, "&& or the end");
		s = blanks(s + 2);
	}
	m->tests = ipt_arena_dup(cx->arena, tests, m->n_tests * sizeof(tests[0]));
	return m->tests != NULL ? 0 : -ENOMEM;
}

static void print_u32(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	static const char *const ops[] = { [IPT_U32_AND] = "&",
		[IPT_U32_LEFT] = "<<",
		[IPT_U32_RIGHT] = ">>",
		[IPT_U32_AT] = "@" };
	const struct ipt_m_u32 *m = v->data;

	(void)o;
	fputs(" \"", f);
	for (int i = 0; i < m->n_tests; i++) {
		const struct ipt_u32_test *t = &m->tests[i];

		if (i > 0)
			fputs("&&", f);
		for (int k = 0; k < t->n_steps; k++)
			fprintf(f, "%s0x%x", k > 0 ? ops[t->steps[k].op] : "", t->steps[k].number);
		for (int k = 0; k < t->n_ranges; k++) {
			fprintf(f, "%c0x%x", k > 0 ? ',' : '=', t->ranges[k].lo);
			if (t->ranges[k].lo != t->ranges[k].hi)
				fprintf(f, ":0x%x", t->ranges[k].hi);
		}
	}
	fputc('"', f);
}

static const struct ipt_type t_u32_tests = { .parse = parse_u32, .print = print_u32 };

static const struct ipt_opt u32_opts[] = { IPT_OPT("u32", &t_u32_tests, IPT_U32_U32, IPT_O_INV),
	{ 0 } };

const struct ipt_ext ipt_match_u32 = {
	.name = "u32",
	.kind = IPT_M_U32,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_u32),
	.opts = u32_opts,
	.need = IPT_U32_U32,
};

/* ---- bpf: "length,code jt jf k,code jt jf k,..." ---- */

static int bpf_program(struct ipt_ctx *cx, struct ipt_m_bpf *m, const char *arg)
{
	struct ipt_bpf_insn insns[IPT_BPF_MAX];
	struct bpf_insn check[IPT_BPF_MAX];
	unsigned int n, i;
	int end = -1;

	if (sscanf(arg, "%u%n", &n, &end) != 1 || n == 0 || n > IPT_BPF_MAX)
		return ipt_fail(cx, "--bytecode: a length 1-%d was expected first", IPT_BPF_MAX);
	for (i = 0; i < n; i++) {
		struct ipt_bpf_insn *b = &insns[i];
		int len = -1;

		if (arg[end] != ','
				|| sscanf(arg + end + 1,
						   "%" SCNu16 "%" SCNu8 "%" SCNu8 "%" SCNu32 "%n",
						   &b->code, &b->jt, &b->jf, &b->k, &len)
						!= 4)
			return ipt_fail(cx,
					"--bytecode: \"code jt jf k\" was expected as instruction %u of %u",
					i + 1, n);
		end += 1 + len;
		check[i] = (struct bpf_insn){ b->code, b->jt, b->jf, b->k };
	}
	end += strspn(arg + end, " ");
	if (arg[end] == ',')
		end++;
	if (arg[end] != '\0')
		return ipt_fail(cx, "--bytecode: text behind the last of %u instructions", n);
	if (!bpf_validate(check, n))
		return ipt_fail(cx,
				"--bytecode: no valid program, jumps in range and a return at the end "
				"were expected");
	m->n = n;
	m->insns = ipt_arena_dup(cx->arena, insns, n * sizeof(insns[0]));
	return m->insns != NULL ? 0 : -ENOMEM;
}

static int parse_bpf(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	(void)o, (void)inv;
	return bpf_program(cx, in->data, arg);
}

static void print_bpf(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_bpf *m = v->data;

	(void)o;
	fprintf(f, " \"%u", m->n);
	for (int i = 0; i < m->n; i++)
		fprintf(f, ",%u %u %u %u", m->insns[i].code, m->insns[i].jt, m->insns[i].jf,
				m->insns[i].k);
	fputc('"', f);
}

static const struct ipt_type t_bpf = { .parse = parse_bpf, .print = print_bpf };

static const struct ipt_opt bpf_opts[] = { IPT_OPT("bytecode", &t_bpf, IPT_BPF_BYTECODE), { 0 } };

const struct ipt_ext ipt_match_bpf = {
	.name = "bpf",
	.kind = IPT_M_BPF,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_bpf),
	.opts = bpf_opts,
	.need = IPT_BPF_BYTECODE,
};
