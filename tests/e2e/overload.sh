#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# More than the router can carry for a while, then a little: the little passes at once, and every
# buffer is back. Also: bursts that lie between long silences, and all traffic to a dead end.
. "$(dirname "$0")/lib.sh"

need iperf3
topology
write_conf "routes: [{to: 10.66.0.0/16, type: blackhole}]"
start
check "ping before" in_c ping -q -c 2 -i 0.05 -W 2 10.1.0.2
sleep 0.3
idle_buffers=$(json_number buffers_in_use status)

iperf_server
in_c timeout 10 iperf3 -c 10.1.0.2 -u -b 0 -l 64 -t 3 -P 2 >"$work/flood" 2>&1 &
flood=$!
helper_pids="$helper_pids $flood"
wait $flood
in_c ping -q -c 200 -i 0.005 -W 1 10.1.0.2 >"$work/ping" 2>&1
equal "after the overload nothing is lost" "$(losses "$work/ping")" 0

# to nowhere: every packet is a drop with a name
before=$(dropped route_blackhole)
in_c timeout 10 ping -q -f -c 20000 -s 20 -W 1 10.66.0.1 >"$work/ping" 2>&1
sent=$(sed -n 's/^\([0-9]*\) packets transmitted.*/\1/p' "$work/ping")
equal "each packet to a blackhole is counted" $(($(dropped route_blackhole) - before)) "$sent"

# bursts with silence between them
for _ in 1 2 3; do
	in_c timeout 10 ping -q -f -l 500 -c 1000 -W 1 10.1.0.2 >"$work/ping" 2>&1
	sleep 1
done
at_least "bursts after a silence leave" $((50 - $(losses "$work/ping"))) 0

# to a port that is down
ip -n "$ns_r" link set r1 down
wait_for 2 grep -q 'lan: link down' "$log"
in_c timeout 5 ping -q -f -c 2000 -W 1 10.1.0.2 >/dev/null 2>&1
ip -n "$ns_r" link set r1 up
wait_for 3 in_c ping -q -c 1 -W 1 10.1.0.2
report "packets pass again" $?
sleep 1.5
echo "# buffers in use: $idle_buffers when idle, $(json_number buffers_in_use status) now"
at_least "every buffer is back" $((idle_buffers + 64 - $(json_number buffers_in_use status))) 0
stop
finish
