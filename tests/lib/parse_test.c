/* SPDX-License-Identifier: BSD-3-Clause */
/* What parse finds in a frame, in every shape and on both of its paths, and each thing it drops. */
#include "tests/lib/ip4_fixture.h"

#include <rte_ip.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static uint8_t frame[1700];
static uint32_t len;

static void build(const struct fx_ip *ip)
{
	len = fx_frame(WAN, ip, frame);
}

static struct rte_ipv4_hdr *hdr(void)
{
	return (void *)(frame + 14);
}

static void fix_csum(void)
{
	hdr()->hdr_checksum = 0;
	hdr()->hdr_checksum = (uint16_t)~rte_raw_cksum(hdr(), (hdr()->version_ihl & 0xfU) * 4);
}

/* parse alone; NULL: it did not survive */
static struct rte_mbuf *parse(uint16_t port, uint32_t split)
{
	struct rte_mbuf *m = fx_mbuf(port, frame, len, split);

	fx.w->rx[port]++;
	fx.w->rx_bytes[port] += len;
	return sl_parse_batch(fx.w, &m, 1) == 1 ? m : NULL;
}

/* parse of a frame that has to survive */
static struct rte_mbuf *survivor(uint16_t port, uint32_t split)
{
	struct rte_mbuf *m = parse(port, split);

	if (m == NULL) {
		fail_msg("dropped");
		abort(); /* not reached: for the compiler, who does not know fail_msg() */
	}
	return m;
}

static void done(struct rte_mbuf *m)
{
	sl_worker_deliver(fx.w, m);
}

static void assert_dropped(enum sl_drop_reason reason)
{
	uint64_t before = fx_drops(reason);

	assert_null(parse(WAN, 0));
	if (fx_drops(reason) != before + 1)
		fail_msg("not dropped as %s", sl_drop_name(reason));
	/* and no other way if headers are split over segments */
	assert_null(parse(WAN, 7));
	assert_int_equal(fx_drops(reason), before + 2);
}

static void test_fields_are_the_same_on_both_paths(void **state)
{
	struct sl_pkt first = { .flags = 0 };

	(void)state;
	build(&(struct fx_ip){ .proto = 17, .len = 40, .frag = RTE_IPV4_HDR_DF_FLAG });
	for (uint32_t split = 0; split < 60; split++) {
		struct rte_mbuf *m = survivor(WAN, split);
		if (split == 0)
			first = *sl_pkt(m);
		assert_memory_equal(sl_pkt(m), &first, 64);
		done(m);
	}
	assert_true(first.src.v4 == addr_of("192.0.2.7").v4);
	assert_true(first.dst.v4 == addr_of("198.51.100.7").v4);
	assert_int_equal(first.flags, SL_PKT_L4 | SL_PKT_PORTS | SL_PKT_DF);
	assert_int_equal(first.family, SL_AF_INET);
	assert_int_equal(first.proto, 17);
	assert_int_equal(first.l3_off, 14);
	assert_int_equal(first.l4_off, 34);
	assert_int_equal(first.l3_len, 60);
	assert_int_equal(first.sport_be, RTE_BE16(0x0001));
	assert_int_equal(first.dport_be, RTE_BE16(0x0203));
	assert_int_equal(first.in_port, WAN);
	assert_int_equal(first.out_port, SL_PORT_NONE);
}

static void test_ports_are_read_of_the_protocols_that_have_them(void **state)
{
	(void)state;
	for (unsigned int proto = 0; proto < 256; proto++) {
		bool has = proto == 6 || proto == 17 || proto == 33 || proto == 132 || proto == 136;
		struct rte_mbuf *m;

		build(&(struct fx_ip){ .proto = (uint8_t)proto, .len = 8 });
		hdr()->next_proto_id = (uint8_t)proto;
		fix_csum();
		m = survivor(WAN, 0);
		assert_int_equal(!!(sl_pkt(m)->flags & SL_PKT_PORTS), has);
		assert_int_equal(sl_pkt(m)->dport_be, has ? RTE_BE16(0x0203) : 0);
		assert_true(sl_pkt(m)->flags & SL_PKT_L4);
		done(m);
	}
}

static void test_cut_ports_are_not_read(void **state)
{
	(void)state;
	for (uint16_t n = 0; n < 6; n++) {
		struct rte_mbuf *m;

		build(&(struct fx_ip){ .proto = 17, .len = n });
		/* padding that looks like ports */
		memset(frame + len, 0xff, 60 - len);
		len = 60;
		m = survivor(WAN, 0);
		assert_int_equal(!!(sl_pkt(m)->flags & SL_PKT_PORTS), n >= 4);
		assert_int_equal(m->pkt_len, 34 + n);
		done(m);
	}
}

static void test_padding_is_cut_over_segments(void **state)
{
	(void)state;
	for (uint32_t split = 0; split < 100; split += 9) {
		struct rte_mbuf *m;

		build(&(struct fx_ip){ .len = 30 });
		memset(frame + len, 0xaa, 300);
		len += 300;
		m = survivor(WAN, split);
		assert_int_equal(m->pkt_len, 64);
		rte_mbuf_sanity_check(m, 1);
		done(m);
	}
}

static void test_fragments_are_told(void **state)
{
	static const struct {
		uint16_t frag;
		uint32_t flags;
		uint16_t off;
		bool l4;
	} cases[] = {
		{ 0x2000, SL_PKT_FRAG, 0, true },
		{ 0x2001, SL_PKT_FRAG | SL_PKT_FRAG_LATER, 8, false },
		{ 0x0001, SL_PKT_FRAG | SL_PKT_FRAG_LATER, 8, false },
		{ 0x1fff, SL_PKT_FRAG | SL_PKT_FRAG_LATER, 65528, false },
		{ 0x4000, SL_PKT_DF, 0, true },
		{ 0x8000, 0, 0, true }, /* the reserved bit means nothing */
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const uint32_t mask = SL_PKT_FRAG | SL_PKT_FRAG_LATER | SL_PKT_DF | SL_PKT_PORTS;
		struct rte_mbuf *m;

		build(&(struct fx_ip){ .frag = cases[i].frag, .len = 24 });
		m = survivor(WAN, 0);
		assert_int_equal(sl_pkt(m)->flags & mask,
				cases[i].flags | (cases[i].l4 ? SL_PKT_PORTS : 0));
		assert_int_equal(sl_pkt(m)->frag_off, cases[i].off);
		assert_int_equal(sl_pkt(m)->l4_off, cases[i].l4 ? 34 : 0);
		done(m);
	}
}

static void test_malformed_headers_are_dropped_by_name(void **state)
{
	(void)state;
	build(&(struct fx_ip){ .len = 26 });
	hdr()->version_ihl = 0x55;
	fix_csum();
	assert_dropped(SL_DROP_IP4_HEADER);
	build(&(struct fx_ip){ .len = 26 });
	hdr()->version_ihl = 0x44;
	assert_dropped(SL_DROP_IP4_HEADER);
	build(&(struct fx_ip){ .len = 26 });
	hdr()->version_ihl = 0x4f; /* 60 bytes of 46 */
	assert_dropped(SL_DROP_IP4_HEADER);
	build(&(struct fx_ip){ .len = 26 });
	hdr()->hdr_checksum ^= 0x0100;
	assert_dropped(SL_DROP_IP4_CHECKSUM);
	build(&(struct fx_ip){ .len = 26 });
	hdr()->total_length = RTE_BE16(47);
	fix_csum();
	assert_dropped(SL_DROP_IP4_LENGTH);
	build(&(struct fx_ip){ .len = 26 });
	hdr()->total_length = RTE_BE16(19);
	fix_csum();
	assert_dropped(SL_DROP_IP4_LENGTH);
}

static void test_header_cut_anywhere_is_dropped(void **state)
{
	static const uint8_t nops[40] = { 1, 1, 1, 1 };

	(void)state;
	for (uint32_t cut = 0; cut < 14 + 60; cut++) {
		build(&(struct fx_ip){ .opt = nops, .opt_len = 40 });
		len = cut;
		assert_dropped(cut < 14 ? SL_DROP_RUNT : SL_DROP_IP4_HEADER);
	}
}

static void test_link_addresses(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	build(&(struct fx_ip){ .len = 26 });
	frame[5] ^= 0x80;
	assert_dropped(SL_DROP_LINK_OTHER);
	memset(frame, 0xff, 6);
	m = survivor(WAN, 0);
	assert_int_equal(sl_pkt(m)->flags & (SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST),
			SL_PKT_LINK_BCAST);
	done(m);
	frame[5] = 0xfe;
	m = survivor(WAN, 0);
	assert_int_equal(sl_pkt(m)->flags & (SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST),
			SL_PKT_LINK_MCAST);
	done(m);
}

static void test_ethertypes(void **state)
{
	(void)state;
	build(&(struct fx_ip){ .len = 26 });
	frame[12] = 0x88;
	frame[13] = 0xcc;
	assert_dropped(SL_DROP_ETHERTYPE);
	frame[12] = 0;
	frame[13] = 46; /* an 802.3 length */
	assert_dropped(SL_DROP_ETHERTYPE);
	frame[12] = 0x08;
	frame[13] = 0x06;
	assert_null(parse(WAN, 0));
	assert_int_equal(fx.arp, 1);
	fx.w->id = 1;
	assert_null(parse(WAN, 0));
	assert_int_equal(fx.handed, 1);
	frame[12] = 0x86;
	frame[13] = 0xdd;
	assert_null(parse(WAN, 0));
	assert_int_equal(fx.taken6, 1);
}

/* tags in front of the ethertype, outermost first */
static void add_tag(uint16_t type, uint16_t tci)
{
	memmove(frame + 16, frame + 12, len - 12);
	frame[12] = (uint8_t)(type >> 8);
	frame[13] = (uint8_t)type;
	frame[14] = (uint8_t)(tci >> 8);
	frame[15] = (uint8_t)tci;
	len += 4;
}

static void tagged(unsigned int n, const uint16_t *tci)
{
	build(&(struct fx_ip){ .len = 26 });
	memcpy(frame, fx.net.r.ports[DMZ].mac.addr_bytes, 6);
	for (unsigned int i = n; i-- > 0;)
		add_tag(0x8100, tci[i]);
}

static void test_vlan_chooses_the_port_and_leaves_the_frame(void **state)
{
	static const uint16_t both[] = { 0x6000, 0xa007 };

	(void)state;
	for (unsigned int first = 0; first < 2; first++) {
		struct rte_mbuf *m;

		tagged(2 - first, both + first);
		m = survivor(WAN, first == 0 ? 0 : 9);
		assert_int_equal(sl_pkt(m)->in_port, DMZ);
		assert_int_equal(sl_pkt(m)->l3_off, 14);
		assert_int_equal(sl_pkt(m)->vlan_tci, both[first]);
		assert_int_equal(m->pkt_len, 14 + 46);
		done(m);
	}
	/* bytes follow the packet to its port */
	assert_int_equal(fx.w->rx_bytes[WAN], 0);
	assert_int_equal(fx.w->rx_bytes[DMZ], 64 + 68);
}

static void test_vlan_tag_in_the_descriptor(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	tagged(0, NULL);
	m = fx_mbuf(WAN, frame, len, 0);
	m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	m->vlan_tci = 7;
	fx.w->rx[WAN]++;
	assert_int_equal(sl_parse_batch(fx.w, &m, 1), 1);
	assert_int_equal(sl_pkt(m)->in_port, DMZ);
	done(m);
}

static void test_priority_tag_is_no_vlan(void **state)
{
	static const uint16_t zero[] = { 0xe000 };
	struct rte_mbuf *m;

	(void)state;
	tagged(1, zero);
	memcpy(frame, fx.net.r.ports[WAN].mac.addr_bytes, 6);
	m = survivor(WAN, 0);
	assert_int_equal(sl_pkt(m)->in_port, WAN);
	done(m);
}

static void test_unknown_vlans_are_dropped(void **state)
{
	static const uint16_t unknown[] = { 8 }, twice[] = { 7, 7 }, seven[] = { 7 };

	(void)state;
	tagged(1, unknown);
	assert_dropped(SL_DROP_VLAN);
	tagged(2, twice);
	assert_dropped(SL_DROP_VLAN);
	tagged(0, NULL);
	add_tag(0x88a8, 7);
	assert_dropped(SL_DROP_VLAN);
	/* no VLAN at all on lan's link */
	tagged(1, seven);
	memcpy(frame, fx.net.r.ports[LAN].mac.addr_bytes, 6);
	assert_null(parse(LAN, 0));
	assert_int_equal(fx.w->drops[LAN][SL_DROP_VLAN], 1);
	/* only tags on this link */
	fx.links[WAN].port = SL_PORT_NONE;
	tagged(0, NULL);
	assert_dropped(SL_DROP_VLAN_MISSING);
}

static void test_segments_of_a_peer_are_named(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	build(&(struct fx_ip){ .len = 1500 });
	m = survivor(WAN, 0);
	done(m); /* larger than the MTU is nobody's business on reception */
	fx.links[WAN].segments = true;
	assert_dropped(SL_DROP_SEGMENT_OVERSIZE);
	build(&(struct fx_ip){ .len = 1480 });
	done(survivor(WAN, 0));
	len -= 1;
	assert_dropped(SL_DROP_SEGMENT_OVERSIZE);
}

static void test_batch_keeps_order_and_counts(void **state)
{
	struct rte_mbuf *pkts[SL_BURST];
	unsigned int n, wanted = 0;

	(void)state;
	for (unsigned int i = 0; i < SL_BURST; i++) {
		build(&(struct fx_ip){ .tos = (uint8_t)i, .len = 26 });
		if (i % 3 == 1)
			hdr()->hdr_checksum ^= 1;
		pkts[i] = fx_mbuf(WAN, frame, len, i % 5 == 0 ? 20 : 0);
		fx.w->rx[WAN]++;
	}
	n = sl_parse_batch(fx.w, pkts, SL_BURST);
	for (unsigned int i = 0; i < SL_BURST; i++) {
		const struct rte_ipv4_hdr *ip;

		if (i % 3 == 1)
			continue;
		ip = rte_pktmbuf_mtod_offset(pkts[wanted], struct rte_ipv4_hdr *, 14);
		assert_int_equal(ip->type_of_service, i);
		done(pkts[wanted++]);
	}
	assert_int_equal(n, wanted);
}

static void test_parse_ip_forgets_what_was_there(void **state)
{
	static const uint8_t nops[4] = { 1, 1, 1, 1 };
	struct rte_mbuf *m;

	(void)state;
	build(&(struct fx_ip){ .opt = nops, .opt_len = 4, .frag = 0x2000, .len = 16 });
	m = survivor(WAN, 0);
	assert_true(sl_pkt(m)->flags & SL_PKT_OPTIONS && sl_pkt(m)->flags & SL_PKT_FRAG);
	sl_pkt(m)->flags |= SL_PKT_UNTRACKED;
	rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, 14)->fragment_offset = 0;
	assert_true(sl_pkt_parse_ip(m, 14));
	assert_int_equal(sl_pkt(m)->flags,
			SL_PKT_OPTIONS | SL_PKT_L4 | SL_PKT_PORTS | SL_PKT_UNTRACKED);
	assert_false(sl_pkt_parse_ip(m, (uint16_t)(m->pkt_len - 19)));
	assert_false(sl_pkt_parse_ip(m, (uint16_t)m->pkt_len));
	sl_pkt(m)->in_port = WAN;
	done(m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fields_are_the_same_on_both_paths),
		TEST(test_ports_are_read_of_the_protocols_that_have_them),
		TEST(test_cut_ports_are_not_read),
		TEST(test_padding_is_cut_over_segments),
		TEST(test_fragments_are_told),
		TEST(test_malformed_headers_are_dropped_by_name),
		TEST(test_header_cut_anywhere_is_dropped),
		TEST(test_link_addresses),
		TEST(test_ethertypes),
		TEST(test_vlan_chooses_the_port_and_leaves_the_frame),
		TEST(test_vlan_tag_in_the_descriptor),
		TEST(test_priority_tag_is_no_vlan),
		TEST(test_unknown_vlans_are_dropped),
		TEST(test_segments_of_a_peer_are_named),
		TEST(test_batch_keeps_order_and_counts),
		TEST(test_parse_ip_forgets_what_was_there),
	};

	return cmocka_run_group_tests(tests, fx_group_setup, NULL);
}
