#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A next hop that does not answer, and one that comes back.
. "$(dirname "$0")/lib.sh"

need
topology
write_conf "sysctl: {net.ipv4.neigh.default.retrans_time_ms: 200, net.ipv6.neigh.default.retrans_time_ms: 200}"
start

out=$(in_c ping -c 1 -W 4 10.1.0.77 2>&1)
echo "$out" >"$work/out"
[[ $out == *"From 10.0.0.1"*"Destination Host Unreachable"* ]]
report "a silent neighbour: host unreachable from the router" $?
out=$(in_c ping -c 1 -W 4 fd01::77 2>&1)
echo "$out" >"$work/out"
[[ $out == *"From fd00::1"*"Address unreachable"* ]]
report "the same in IPv6" $?
at_least "counted as neighbour_failed" "$(dropped neighbour_failed)" 2
check "the entry says failed" bash -c "'$sluicectl_bin' -s '$socket' neighbours | grep '10.1.0.77 .*failed'"

ip -n "$ns_s" addr add 10.1.0.77/24 dev s0
ip -n "$ns_s" addr add fd01::77/64 dev s0 nodad
check "it comes alive: the first packet arrives" in_c ping -q -c 1 -W 4 10.1.0.77
check "the same in IPv6" in_c ping -q -c 1 -W 4 fd01::77

# another MAC behind the same address, announced
in_s sysctl -qw net.ipv4.conf.s0.arp_notify=1
ip -n "$ns_s" link set s0 address 02:00:00:00:00:99
check "a new MAC is learnt" wait_for 5 in_c ping -q -c 1 -W 1 10.1.0.2
equal "the router's peers find it reachable" \
	"$(in_c ping -q -c 1 fd00::1 >/dev/null; ip -n "$ns_c" -6 neigh show fd00::1 | grep -c -E 'REACHABLE|DELAY|STALE')" 1
check "it is known as a router" bash -c "ip -n $ns_c -6 neigh show fd00::1 | grep router"
stop
finish
