/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why packets are dropped. One list gives the enum, the counter's name and the help text, so a
 * drop without a name cannot be written. Names are part of the interface (JSON, sluicectl drops).
 */
#pragma once

#include <stdint.h>

struct rte_mbuf;
struct sl_worker;

#define SL_DROP_REASONS(X)                                                                        \
	/* link */                                                                                \
	X(RUNT, "runt", "frame shorter than an Ethernet header")                                  \
	X(LINK_OTHER, "link_other_host", "unicast frame to another MAC address")                  \
	X(VLAN, "vlan_unexpected", "tagged frame with a VLAN that no port is configured for")     \
	X(VLAN_MISSING, "vlan_missing", "untagged frame on a port that takes only its VLAN")      \
	X(ETHERTYPE, "ethertype_unknown", "neither IPv4, IPv6 nor ARP")                           \
	X(SEGMENT_OVERSIZE, "segment_oversize",                                                   \
			"segment larger than the MTU or cut short, from a peer that leaves "      \
			"segmentation to hardware: ethtool -K PEER tso off gso off gro off")      \
	/* IP header */                                                                           \
	X(IP4_HEADER, "ip4_header", "IPv4 version, header length or cut header")                  \
	X(IP4_CHECKSUM, "ip4_checksum", "IPv4 header checksum")                                   \
	X(IP4_LENGTH, "ip4_length", "IPv4 total length beyond the frame or below the header")     \
	X(IP4_OPTIONS, "ip4_options", "malformed IPv4 options or source route refused")           \
	X(IP6_HEADER, "ip6_header", "IPv6 version or cut header")                                 \
	X(IP6_OFF, "ip6_off", "IPv6 at a port whose MTU is below 1280")                           \
	X(IP6_LENGTH, "ip6_length", "IPv6 payload length beyond the frame")                       \
	X(IP6_EXTENSION, "ip6_extension", "IPv6 extension header refused or malformed")           \
	X(MARTIAN_SRC, "martian_source", "source address that no packet may have here")           \
	X(MARTIAN_DST, "martian_destination", "destination address that is never forwarded")      \
	X(RP_FILTER, "rp_filter", "no reverse route by the input port (rp_filter)")               \
	X(SCOPE, "ip6_scope", "IPv6 source beyond its scope")                                     \
	X(LINK_GROUP, "link_group_unicast", "unicast IP packet in a link broadcast or multicast") \
	/* routing */                                                                             \
	X(NO_ROUTE, "no_route", "no route to the destination")                                    \
	X(ROUTE_BLACKHOLE, "route_blackhole", "blackhole route")                                  \
	X(ROUTE_UNREACHABLE, "route_unreachable", "unreachable route")                            \
	X(ROUTE_PROHIBIT, "route_prohibit", "prohibit route")                                     \
	X(BROADCAST, "broadcast", "broadcast that is not for the router")                         \
	X(MULTICAST, "multicast", "multicast that is not for the router")                         \
	X(FORWARDING_OFF, "forwarding_off", "forwarding is switched off (sysctl)")                \
	X(TTL, "ttl_exceeded", "TTL or hop limit ran out")                                        \
	X(TOO_BIG, "too_big", "larger than the MTU and not to be fragmented")                     \
	X(FRAG_FAILED, "fragmentation_failed", "could not be fragmented: no buffer")              \
	/* neighbours */                                                                          \
	X(NEIGH_FAILED, "neighbour_failed", "next hop did not answer ARP or ND")                  \
	X(NEIGH_QUEUE, "neighbour_queue_full", "too many packets wait for this next hop")         \
	X(NEIGH_TABLE, "neighbour_table_full", "no free neighbour entry")                         \
	X(ARP_INVALID, "arp_invalid", "malformed ARP")                                            \
	X(ND_INVALID, "nd_invalid", "malformed or out-of-place neighbour discovery message")      \
	/* delivered to the router, refused there */                                              \
	X(HOST_IGNORED, "host_ignored", "to the router's own address, silently ignored")          \
	X(HOST_CHECKSUM, "host_checksum", "to the router's own address, bad L4 checksum")         \
	X(HOST_L4, "host_l4_header", "to the router's own address, cut or malformed L4 header")   \
	X(REASM, "reassembly_failed", "fragments that overlap, are malformed or too long")        \
	X(REASM_TIMEOUT, "reassembly_timeout", "fragments whose rest did not come in time")       \
	X(REASM_FULL, "reassembly_full", "too many datagrams in reassembly")                      \
	X(ICMP_RATE, "icmp_ratelimited", "ICMP error held back by the rate limit")                \
	/* stages */                                                                              \
	X(RULE, "rule_drop", "dropped by a rule or a policy")                                     \
	X(HOTDROP, "rule_hotdrop", "dropped by a match that could not read its header")           \
	X(REJECT, "rule_reject", "rejected by a rule")                                            \
	X(CONNTRACK, "conntrack_drop", "connection table full, or tracking refuses the packet")   \
	X(NAT, "nat_drop", "no free port, or nothing that NAT can translate")                     \
	X(STAGE, "stage_drop", "dropped by a plugged-in stage")                                   \
	/* resources */                                                                           \
	X(HANDOFF_FULL, "handoff_full", "ring to the owning worker is full")                      \
	X(INPUT_FULL, "input_full", "too many packets for the router itself in one burst")        \
	X(OUTPUT_FULL, "output_full", "too many packets of the router's own at once")             \
	X(TX_FULL, "tx_full", "device did not take the packet")                                   \
	X(TX_DOWN, "tx_down", "output port is down")                                              \
	X(NO_BUFFER, "no_buffer", "no free packet buffer")                                        \
	X(SHUTDOWN, "shutdown", "still held when the program ended")

enum sl_drop_reason {
#define X(id, name, help) SL_DROP_##id,
	SL_DROP_REASONS(X)
#undef X
	SL_DROP_NB
};

/* the counter's name, and one line for people */
const char *sl_drop_name(enum sl_drop_reason reason);
const char *sl_drop_help(enum sl_drop_reason reason);

/**
 * sl_drop() - the end of a packet: count it by input port, reason and stage, and free it
 *
 * Context: worker.
 */
void sl_drop(struct sl_worker *w, struct rte_mbuf *m, enum sl_drop_reason reason);

/* sl_drop() for @n packets */
void sl_drop_bulk(struct sl_worker *w, struct rte_mbuf **m, unsigned int n,
		enum sl_drop_reason reason);
