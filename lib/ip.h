/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IP layer: what the kernel checks and does between receiving and sending, in both families.
 */
#pragma once

#include "lib/net.h"
#include "lib/pkt.h"

struct rte_tcp_hdr;
struct sl_worker;

/* lib/parse.c ------------------------------------------------------------------------------- */

/**
 * sl_parse_batch() - link and IP headers of received frames
 *
 * Fills line 0 of struct sl_pkt, cuts link padding, checks what ip_rcv and ipv6_rcv check. ARP goes
 * to the host worker, VLAN ports are chosen, everything wrong is dropped by name.
 * All frames come from one link, their in_port is one of its ports. A VLAN tag is taken out of the
 * frame, so the IP header of every survivor is at 14. Return: survivors.
 */
unsigned int sl_parse_batch(struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n);

/**
 * sl_parse6() - the IPv6 part of it (lib/parse6.c)
 *
 * p->l3_off, p->in_port and the link's p->flags are set. Return: true for a survivor with line 0
 * filled, false if it was taken.
 */
bool sl_parse6(struct sl_worker *w, struct rte_mbuf *m);

/* the IPv6 part of sl_pkt_parse_ip(): line 0 but for mark and ports; false: no whole header */
bool sl_parse6_fill(struct rte_mbuf *m, uint16_t l3_off);

/**
 * sl_pkt_parse_ip() - fill struct sl_pkt from the IP header at @l3_off (no checks of policy)
 *
 * For packets of the router's own, reassembled ones, and after a stage has rewritten headers.
 * Return: false if there is no whole IP header.
 */
bool sl_pkt_parse_ip(struct rte_mbuf *m, uint16_t l3_off);

/**
 * sl_ip6_find_upper() - walk an extension header chain as the kernel's ipv6_find_hdr / xt do
 * @off:   in: offset of the first header behind the fixed one; out: of the upper one
 * @proto: in: its number; out: the upper protocol
 *
 * Return: 0, or -EBADMSG if the chain is cut.
 */
int sl_ip6_find_upper(const struct rte_mbuf *m, uint32_t *off, uint8_t *proto, uint16_t *frag_off,
		bool *has_frag);

/* lib/ip4_input.c, lib/ip6_input.c: behind prerouting and the route look-up -------------------- */

/**
 * sl_ip4_input(), sl_ip6_input() - source validation, options, local or forward
 * @nh: of the look-up, NULL: no route
 *
 * Sets p->nh, p->out_port and p->via and returns true if the packet is to be forwarded. Else it has
 * been taken: queued for the router itself, or answered and dropped.
 */
bool sl_ip4_input(struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh);
bool sl_ip6_input(struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh);

/* lib/ip4_forward.c, lib/ip6_forward.c: TTL, MTU, options, redirects; the TTL goes down ------- */
/* Return: true to go on, false if the packet was taken. */
bool sl_ip4_forward(struct sl_worker *w, struct rte_mbuf *m);
bool sl_ip6_forward(struct sl_worker *w, struct rte_mbuf *m);
/* the same for a batch of both families; survivors to the front. Return: their number */
unsigned int sl_forward_batch(struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n);

/* lib/ip4_fragment.c, lib/ip6_fragment.c ------------------------------------------------------ */
/**
 * sl_ip4_fragment(), sl_ip6_fragment() - cut a packet to fragments of at most @mtu bytes
 *
 * @m is taken; the fragments are put into @out with struct sl_pkt filled as @m's, except that all
 * but the first count as made by the router (in_port 0, rx[0] goes up), so the balance holds.
 * Return: their number, or 0 if there was no buffer (dropped by name).
 */
unsigned int sl_ip4_fragment(struct sl_worker *w, struct rte_mbuf *m, uint16_t mtu,
		struct rte_mbuf **out, unsigned int max);
unsigned int sl_ip6_fragment(struct sl_worker *w, struct rte_mbuf *m, uint16_t mtu,
		struct rte_mbuf **out, unsigned int max);

/* lib/icmp4.c, lib/icmp6.c: errors ------------------------------------------------------------ */
/**
 * sl_icmp4_error(), sl_icmp6_error() - answer a packet with an error, if the kernel would
 * @m:    the packet, not taken; its headers as they should be quoted
 * @info: the 32 bits behind the ICMP checksum, host order (MTU, gateway, pointer << 24)
 *
 * All of the kernel's reasons not to answer and its rate limits are applied here.
 * Return: true if an error went out.
 */
bool sl_icmp4_error(
		struct sl_worker *w, struct rte_mbuf *m, uint8_t type, uint8_t code, uint32_t info);
bool sl_icmp6_error(
		struct sl_worker *w, struct rte_mbuf *m, uint8_t type, uint8_t code, uint32_t info);

/* lib/reset.c: TCP resets for REJECT --------------------------------------------------------- */
/* The packet is not taken. Return: true if a reset went out. */
bool sl_tcp4_reset(struct sl_worker *w, struct rte_mbuf *m);
bool sl_tcp6_reset(struct sl_worker *w, struct rte_mbuf *m);
/* whether a kernel with nobody listening resets: not where a signature is, or an option is torn;
 * the header is whole */
bool sl_tcp_may_reset(const struct rte_mbuf *m, uint32_t l4_off, const struct rte_tcp_hdr *tcp);

/* lib/copy.c: a copy of a packet to another gateway (TEE) ------------------------------------- */
struct sl_copy {
	struct sl_addr gateway;
	uint16_t port; /* by which it leaves; SL_PORT_NONE: the gateway's route says */
	bool hop; /* its TTL or hop limit goes down by one */
};
/* The packet is not taken. A copy that has no way, or is of a copy, is not made. */
void sl_copy_send(struct sl_worker *w, const struct rte_mbuf *m, const struct sl_copy *c);

/* lib/reroute.c: a packet of the router's own whose mark or header has changed on its way out -- */
/* Return: true to go on, false if there is no way any more (dropped by name) */
bool sl_reroute(struct sl_worker *w, struct rte_mbuf *m);

/* lib/icmp_limit.c: token buckets shared by the workers, lock-free ---------------------------- */
struct sl_icmp_limits;
int sl_icmp_limits_create(struct sl_icmp_limits **out);
void sl_icmp_limits_free(struct sl_icmp_limits *l);
/* fixed seeds, for replay; before first use */
void sl_icmp_limits_fix(struct sl_icmp_limits *l);
/* may an error of this ICMP type go to @dst now? takes the tokens */
bool sl_icmp_limit(struct sl_worker *w, enum sl_family family, const struct sl_addr *dst,
		uint8_t type, uint8_t code);
/* the same where the route's prefix length matters: IPv6 gives wide ones more */
bool sl_icmp_limit_plen(struct sl_worker *w, enum sl_family family, const struct sl_addr *dst,
		uint8_t type, uint8_t code, unsigned int plen);
/* the peer's bucket alone, one message per @interval_ms, 6 at once (inet_peer_xrlim_allow) */
bool sl_icmp_limit_peer(struct sl_worker *w, enum sl_family family, const struct sl_addr *addr,
		uint32_t interval_ms);
/* the inet_peer bucket alone, as ip_error() asks it for packets without a route */
bool sl_icmp_limit_unroutable(struct sl_worker *w, const struct sl_addr *src);
/* redirects to one source: intervals double, then silence; IPv6: one second from the peer's bucket
 * (ip6_forward has asked for another one from the destination's before) */
bool sl_icmp_limit_redirect(struct sl_worker *w, enum sl_family family, const struct sl_addr *src);

/* lib/host4.c, lib/host6.c: packets for the router itself ------------------------------------- */
/*
 * Echo is answered, the rest gets what a kernel with nothing listening gives. Takes @m. IPv4: whole
 * datagrams (stage reassembly); IPv6: fragments are joined here.
 */
void sl_host4_rx(struct sl_worker *w, struct rte_mbuf *m);
void sl_host6_rx(struct sl_worker *w, struct rte_mbuf *m);

/* lib/checksum.c ------------------------------------------------------------------------------ */
/* sum of @len bytes at @off over segments, not inverted, folded to 16 bits */
uint16_t sl_csum_bytes(const struct rte_mbuf *m, uint32_t off, uint32_t len);
/* pseudo header sum of the packet for @proto and @len bytes of L4, folded, not inverted */
uint16_t sl_csum_pseudo(const struct sl_pkt *p, uint8_t proto, uint32_t len);
/* incremental update (RFC 1624) of the checksum @csum_be when a 16-bit word changes */
uint16_t sl_csum_update16(uint16_t csum_be, uint16_t old_be, uint16_t new_be);
uint16_t sl_csum_update32(uint16_t csum_be, uint32_t old_be, uint32_t new_be);

/* lib/crc32c.c: SCTP's checksum over @len bytes at @off, as it stands in the header; the field itself
 * is taken as it is, so it has to be 0 */
uint32_t sl_crc32c(const struct rte_mbuf *m, uint32_t off, uint32_t len);
/* the same in parts: begins with UINT32_MAX, and is not turned round at the end */
uint32_t sl_crc32c_more(const struct rte_mbuf *m, uint32_t off, uint32_t len, uint32_t crc);

/* lib/offload.c: complete L4 checksums that a peer left to hardware (field holds the pseudo
 * header sum alone); on links with csum_partial */
void sl_offload_complete(struct rte_mbuf *m);

/* lib/reasm.c: fragments for the router itself (and, with tracking, for everything) ------------ */
struct sl_reasm;
int sl_reasm_create(struct sl_worker *w, struct sl_reasm **out);
void sl_reasm_free(struct sl_worker *w, struct sl_reasm *q);
/* a fixed seed, for replay; before first use */
void sl_reasm_fix(struct sl_reasm *q);
/* from here on for what is only passed on: as the kernel's connection tracking, malformed fragments
 * are not answered, and IPv4 that ran out of time only if it was for the router itself */
void sl_reasm_set_transit(struct sl_reasm *q);
/* seconds that IPv6 fragments wait; 0, the default: net.ipv6.ip6frag_time */
void sl_reasm_set_time6(struct sl_reasm *q, uint32_t seconds);
/* Takes @m. Return: the whole datagram, reparsed, or NULL while parts are missing; what is no
 * fragment comes back as it is. Port, mark and link flags of the whole are the last fragment's. */
struct rte_mbuf *sl_reasm_rx(struct sl_worker *w, struct sl_reasm *q, struct rte_mbuf *m);
/* drops everything, counted as shutdown */
void sl_reasm_flush(struct sl_worker *w, struct sl_reasm *q);
/* drops what timed out (ICMP 11/1 or 3/1 to the sender if offset 0 was there and @answer) */
void sl_reasm_tick(struct sl_worker *w, struct sl_reasm *q, bool answer);
