#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# More than the router can carry for a while, then a little: the little passes at once, and every
# buffer is back. Also: bursts that lie between long silences, and all traffic to a dead end.
. "$(dirname "$0")/lib.sh"

need iperf3 python3
topology
write_conf "routes: [{to: 10.66.0.0/16, type: blackhole}]"
start
check "ping before" in_c ping -q -c 2 -i 0.05 -W 2 10.1.0.2
sleep 0.3
idle_buffers=$(json_number buffers_in_use status)

iperf_server
in_c timeout 10 iperf3 -c 10.1.0.2 -u -b 0 -l 64 -t 3 -P 2 >"$work/flood" 2>&1 &
flood=$!
wait $flood
in_c ping -q -c 200 -i 0.005 -W 1 10.1.0.2 >"$work/ping" 2>&1
equal "after the overload nothing is lost" "$(losses "$work/ping")" 0

# to nowhere: every packet is a drop with a name
before=$(dropped route_blackhole)
blast 10.66.0.1 20000
all_counted() { [ $(($(dropped route_blackhole) - before)) -ge 20000 ]; }
wait_for 3 all_counted
equal "each packet to a blackhole is counted" $(($(dropped route_blackhole) - before)) 20000

# bursts with silence between them; a busy machine lets the worker come to them a little later
has_come() { [ $(($(json_number rx ports) - before)) -ge 4000 ]; }
for round in 1 2 3; do
	before=$(json_number rx ports)
	blast 10.1.0.2 5000
	wait_for 3 has_come
	at_least "burst $round after a silence leaves" $(($(json_number rx ports) - before)) 4000
	check "and a ping behind it" in_c ping -q -c 1 -W 2 10.1.0.2
	sleep 1
done

# to a port that is down
ip -n "$ns_r" link set r1 down
wait_for 2 grep -q 'lan: link down' "$log"
blast 10.1.0.2 5000
sleep 0.2
ip -n "$ns_r" link set r1 up
wait_for 3 in_c ping -q -c 1 -W 1 10.1.0.2
report "packets pass again" $?
sleep 0.5
echo "# buffers in use: $idle_buffers when idle, $(json_number buffers_in_use status) now"
at_least "every buffer is back" $((idle_buffers + 64 - $(json_number buffers_in_use status))) 0
stop
finish
