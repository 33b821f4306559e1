/* SPDX-License-Identifier: BSD-3-Clause */
#include "string_gen.h"

#include <ctype.h>
#include <netinet/in.h>
#include <string.h>

#define PATTERN_MAX 127 /* iptables takes no more in hex */
#define IP4_LEN 20
#define IP6_LEN 40
#define UDP_LEN 8
#define FRAGMENT_LEN 8

/* bytes whose upper and lower cases the kernel has views of its own about */
static const uint8_t latin[] = { 0x41, 0x61, 0x5a, 0x7a, 0x5b, 0x7b, 0x40, 0x60, 0xbf, 0xc0, 0xd7,
	0xdf, 0xe0, 0xf7, 0xf8, 0xff };

static void put_payload(struct gen *g, struct buf *b, size_t n)
{
	unsigned int kind = gen_below(g, 5), few = 1 + gen_below(g, 3);

	for (size_t i = 0; i < n; i++) {
		switch (kind) {
		case 0:
			put8(b, gen_u32(g));
			break;
		case 1:
			put8(b, 'a' + gen_below(g, few));
			break;
		case 2:
			put8(b, PICK(g, latin));
			break;
		case 3:
			put8(b, "aA"[gen_below(g, 2)]);
			break;
		default:
			put8(b, 'A' + gen_below(g, 58));
			break;
		}
	}
}

/* mostly short, often as long as may be, often about as long as a pattern */
static unsigned int some_length(struct gen *g, unsigned int max)
{
	if (gen_chance(g, 25))
		return gen_below(g, 40);
	return gen_chance(g, 25) ? max - gen_below(g, 40) : gen_below(g, max + 1);
}

void string_frame(struct gen *g, const struct string_spec *s, struct buf *frame)
{
	struct ip4 ip = { .src = IP4(10, 0, 1, 2),
		.dst = IP4(198, 18, 0, 1),
		.id = (uint16_t)gen_u32(g),
		.ttl = 64,
		.proto = IPPROTO_UDP };
	struct ip6 ip6 = { .hops = 64, .proto = IPPROTO_UDP, .first = IPPROTO_UDP };
	struct buf l4 = { .n = 0 };
	unsigned int len = some_length(g, s->payload_max);
	uint32_t sum;

	addr6(ip6.src, "fd01::2");
	addr6(ip6.dst, "fd02::2");
	put16(&l4, 1024 + gen_below(g, 60000));
	put16(&l4, 9);
	put16(&l4, UDP_LEN + len);
	put16(&l4, 0);
	put_payload(g, &l4, len);
	sum = sum16(l4.b, l4.n, (s->v6 ? pseudo_v6(&ip6) : pseudo_v4(&ip)) + (uint32_t)l4.n);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	set16(l4.b + 6, (sum ^ 0xffff) == 0 ? 0xffff : sum ^ 0xffff);
	frame->n = 0;
	put_eth(frame, PA, s->v6 ? 0x86dd : 0x0800);
	if (s->v6)
		put_ip6(frame, &ip6, &l4);
	else
		put_ip4(frame, &ip, &l4);
}

struct text {
	uint8_t b[PATTERN_MAX];
	unsigned int n;
	unsigned int at; /* where it was cut out, from the IP header on */
};

static void cut(struct gen *g, const struct buf *frame, struct text *t)
{
	unsigned int room = (unsigned int)frame->n - ETH_LEN;
	unsigned int max = room < PATTERN_MAX ? room : PATTERN_MAX;

	t->n = 1 + gen_below(g, gen_chance(g, 50) ? 4 : gen_chance(g, 70) ? 20 : max);
	if (t->n > room)
		t->n = room;
	/* the end of the packet is worth a look of its own */
	t->at = gen_chance(g, 15) ? room - t->n : gen_below(g, room - t->n + 1);
	memcpy(t->b, frame->b + ETH_LEN + t->at, t->n);
}

static void change(struct gen *g, struct text *t, bool icase)
{
	if (gen_chance(g, 20))
		t->b[gen_below(g, t->n)] = (uint8_t)gen_u32(g);
	for (unsigned int i = 0; i < t->n && (icase || gen_chance(g, 5)); i++)
		if (gen_chance(g, 50) && (isalpha(t->b[i]) || t->b[i] >= 0xc0))
			t->b[i] ^= 0x20;
}

static void put_window(struct gen *g, const struct text *t, bool regex, FILE *out)
{
	int from = 0, to = 65535;

	if (gen_chance(g, 50))
		from = gen_chance(g, 70) ? (int)t->at + (int)gen_below(g, 3) - 1
					 : (int)gen_below(g, 1500);
	if (gen_chance(g, 50))
		to = gen_chance(g, 70) ? (int)(t->at + t->n) + (int)gen_below(g, 3) - 1
				       : (int)gen_below(g, 1500);
	if (from < 0)
		from = 0;
	if (to < from)
		to = from;
	if (regex && to == from)
		to++;
	if (from != 0 || gen_chance(g, 10))
		fprintf(out, " --from %d", from);
	if (to != 65535 || gen_chance(g, 10))
		fprintf(out, " --to %d", to);
}

static bool is_word(const struct text *t)
{
	for (unsigned int i = 0; i < t->n; i++)
		if (!isalnum(t->b[i]))
			return false;
	return true;
}

void string_match(struct gen *g, const struct string_spec *s, const struct buf *frames,
		unsigned int n, FILE *out)
{
	bool icase = gen_chance(g, 35), regex = s->regex && gen_chance(g, 20);
	const char *not = gen_chance(g, 15) ? " !" : "";
	struct text t;

	cut(g, &frames[gen_below(g, n)], &t);
	change(g, &t, icase);
	if (regex) {
		fprintf(out, "-m regex%s --regex \"", not );
		for (unsigned int i = 0; i < t.n; i++)
			fprintf(out, gen_chance(g, 5) ? "\\\\x%02x+" : "\\\\x%02x", t.b[i]);
		fputc('"', out);
	} else if (is_word(&t) && gen_chance(g, 50)) {
		fprintf(out, "-m string%s --string \"%.*s\" --algo %s", not, (int)t.n,
				(const char *)t.b, s->algo);
	} else {
		fprintf(out, "-m string%s --hex-string \"|", not );
		for (unsigned int i = 0; i < t.n; i++)
			fprintf(out, "%02x", t.b[i]);
		fprintf(out, "|\" --algo %s", s->algo);
	}
	put_window(g, &t, regex, out);
	if (icase)
		fputs(" --icase", out);
}

static void put_fragment(const struct buf *frame, unsigned int ip_len, bool v6, uint32_t id,
		size_t at, size_t n, struct buf *out)
{
	const uint8_t *data = frame->b + ETH_LEN + ip_len;
	bool more = at + n < frame->n - ETH_LEN - ip_len;
	uint8_t *ip = out->b + ETH_LEN;

	out->n = 0;
	put_mem(out, frame->b, ETH_LEN + ip_len);
	if (v6) {
		set16(ip + 4, (unsigned int)(FRAGMENT_LEN + n));
		put8(out, ip[6]);
		ip[6] = IPPROTO_FRAGMENT;
		put8(out, 0);
		put16(out, (unsigned int)at | more);
		put32(out, id);
	} else {
		set16(ip + 2, (unsigned int)(ip_len + n));
		set16(ip + 6, (unsigned int)(at / 8) | (more ? IP4_MF : 0));
		ip4_fix_sum(ip);
	}
	put_mem(out, data + at, n);
}

unsigned int string_fragments(
		struct gen *g, const struct buf *frame, struct buf *out, unsigned int max)
{
	bool v6 = frame->b[ETH_LEN] >> 4 == 6;
	unsigned int ip_len = v6 ? IP6_LEN : IP4_LEN, k = 0;
	size_t total = frame->n - ETH_LEN - ip_len;
	uint32_t id = gen_u32(g);

	for (size_t at = 0; at < total; k++) {
		size_t left = total - at, n = (total / max / 8 + 1 + gen_below(g, 10)) * 8;

		if (k + 1 == max || n > left)
			n = left;
		put_fragment(frame, ip_len, v6, id, at, n, &out[k]);
		at += n;
	}
	return k;
}
