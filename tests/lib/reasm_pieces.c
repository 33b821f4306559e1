/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/lib/reasm_pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint8_t echo[PIECES * PIECE];

struct rf_ip pieces4 = { .port = RF_WAN,
	.src = "192.0.2.2",
	.dst = "192.0.2.1",
	.proto = IPPROTO_ICMP,
	.payload = echo,
	.len = sizeof(echo) };
struct rf_ip pieces6 = { .port = RF_WAN,
	.src = "2001:db8::2",
	.dst = "2001:db8::1",
	.proto = IPPROTO_ICMPV6,
	.has_frag_hdr = true,
	.payload = echo,
	.len = sizeof(echo) };

void pieces_make(struct rf_ip *ip, uint16_t id)
{
	for (unsigned int i = 0; i < sizeof(echo); i++)
		echo[i] = (uint8_t)(i * 7 + id);
	echo[0] = ip->proto == IPPROTO_ICMP ? 8 : 128;
	echo[1] = 0;
	ip->id = id;
	rf_seal(ip, echo, 2);
}

void pieces_send(const struct rf_ip *ip, unsigned int off, unsigned int len, bool more)
{
	struct rf_ip f = *ip;

	f.payload = echo + off;
	f.len = len;
	if (ip->proto == IPPROTO_ICMP)
		f.frag = (uint16_t)(off / 8 | (more ? PIECES_MF4 : 0));
	else
		f.frag = (uint16_t)(off | more);
	rf_send(&f);
}

void pieces_send_nth(const struct rf_ip *ip, unsigned int n)
{
	pieces_send(ip, n * PIECE, PIECE, n + 1 < PIECES);
}

void pieces_send_oversize6(void)
{
	struct rf_ip f = pieces6;

	f.len = 16;
	f.frag = 65528;
	rf_send(&f);
}

unsigned int pieces_replies(const struct rf_ip *ip)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < rf.n_out; i++) {
		const uint8_t *f = rf.out[i].data;
		bool v4 = ip->proto == IPPROTO_ICMP;
		unsigned int l4 = v4 ? 34 : 54;
		bool is_echo = rf.out[i].len == l4 + sizeof(echo) && f[l4] == (v4 ? 0 : 129);

		n += is_echo && memcmp(f + l4 + 4, echo + 4, sizeof(echo) - 4) == 0;
	}
	return n;
}

unsigned int pieces_errors(unsigned int l4, uint8_t type, uint8_t code)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < rf.n_out; i++) {
		const uint8_t *icmp = rf.out[i].data + l4;

		n += rf.out[i].len > l4 + 1 && icmp[0] == type && icmp[1] == code;
	}
	return n;
}

int pieces_begin(void **state)
{
	(void)state;
	rf_clear();
	return 0;
}

int pieces_end(void **state)
{
	(void)state;
	assert_int_equal(rf.lost, 0);
	assert_true(rf_is_whole());
	rf_clear();
	return 0;
}
