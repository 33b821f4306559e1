#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ping, traceroute and iperf3 through the router and to it, in both families.
. "$(dirname "$0")/lib.sh"

need traceroute iperf3
topology
write_conf
# a client that asks for the router's address more often than once a second
in_c sysctl -qw net.ipv4.neigh.c0.retrans_time_ms=20 net.ipv4.neigh.c0.mcast_solicit=100
begin=$(date +%s%N)
ip -n "$ns_c" neigh flush dev c0
helper "$ns_c" ping -c 100 -i 0.01 10.1.0.2
start
wait_for 5 grep -q 'bytes from' "$work/helper"
report "the first packet is forwarded" $?
echo "# $((($(date +%s%N) - begin) / 1000000)) ms from start to the first answer of the server"
kill "$helper_pid" 2>/dev/null

check "ping through" in_c ping -q -c 3 -i 0.05 -W 2 10.1.0.2
check "ping6 through" in_c ping -q -c 3 -i 0.05 -W 2 fd01::2
check "ping the near address" in_c ping -q -c 2 -i 0.05 -W 2 10.0.0.1
check "ping the far address" in_c ping -q -c 2 -i 0.05 -W 2 10.1.0.1
check "ping6 the near address" in_c ping -q -c 2 -i 0.05 -W 2 fd00::1
check "ping6 the far address" in_c ping -q -c 2 -i 0.05 -W 2 fd01::1
check "ping in fragments" in_c ping -q -c 2 -i 0.05 -W 2 -s 5000 10.1.0.2
check "ping6 in fragments" in_c ping -q -c 2 -i 0.05 -W 2 -s 5000 fd01::2

hops=$(in_c traceroute -4 -n -q 1 -w 2 10.1.0.2 | awk 'NR > 1 { print $2 }' | paste -sd ' ')
equal "traceroute sees the router and the server" "$hops" "10.0.0.1 10.1.0.2"
hops=$(in_c traceroute -6 -n -q 1 -w 2 fd01::2 | awk 'NR > 1 { print $2 }' | paste -sd ' ')
equal "traceroute6 sees the router and the server" "$hops" "fd00::1 fd01::2"

iperf_server
for host in 10.1.0.2 fd01::2; do
	iperf "TCP to $host" -c $host
	iperf "TCP from $host" -c $host -R
	iperf "UDP to $host" -c $host -u -b 50M
	iperf "UDP from $host" -c $host -u -b 50M -R
done

at_least "stages count packets" "$(json_number packets stages)" 1000
check "the neighbours are known" bash -c "'$sluicectl_bin' -s '$socket' neighbours | grep 10.1.0.2"
check "the tables are shown" bash -c "'$sluicectl_bin' -s '$socket' routes | grep '10.1.0.0/24'"
rss=$(awk '/VmHWM/ { print $2 }' "/proc/$(json_number pid status)/status")
echo "# resident at most: $rss kB; $(sed -n 's/.*\(after [0-9]* ms\)/ready \1/p' "$log")"
at_least "less than 500 MB resident" $((500000 - rss)) 0
stop
finish
