#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Links that go down and up ten times on each side while traffic flows: after the last up packets
# pass within a second.
. "$(dirname "$0")/lib.sh"

need
topology
write_conf
start

recovers()
{
	local start

	start=$(date +%s%N)
	wait_for 3 in_c ping -q -c 1 -W 1 "$2"
	report "$1: packets pass again" $?
	at_least "$1: within a second" $(((1000000000 - $(date +%s%N) + start) / 1000000)) 0
}

check "ping before" in_c ping -q -c 1 -W 2 10.1.0.2
helper "$ns_c" ping -q -i 0.005 -c 4000 10.1.0.2

for _ in 1 2 3 4 5 6 7 8 9 10; do
	ip -n "$ns_r" link set r1 down
	sleep 0.05
	ip -n "$ns_r" link set r1 up
	sleep 0.05
done
recovers "the router's own side" 10.1.0.2

for _ in 1 2 3 4 5 6 7 8 9 10; do
	ip -n "$ns_s" link set s0 down
	sleep 0.05
	ip -n "$ns_s" link set s0 up
	sleep 0.05
done
# the peer's kernel forgot its IPv6 address and its routes
ip -n "$ns_s" addr replace fd01::2/64 dev s0 nodad
server_routes
recovers "the peer's side" 10.1.0.2
recovers "IPv6" fd01::2

ip -n "$ns_r" link set r1 down
wait_for 2 grep -q 'lan: link down' "$log"
sleep 0.3
check "the port is shown as down" bash -c "'$sluicectl_bin' -s '$socket' ports | grep 'lan  *DOWN'"
before=$(dropped tx_down)
in_c ping -q -c 3 -i 0.05 -W 1 10.1.0.2 >/dev/null 2>&1
after=$(($(dropped tx_down) + $(dropped neighbour_failed) + $(dropped neighbour_queue_full)))
echo "# to a port that is down: $before, then $after"
ip -n "$ns_r" link set r1 up
recovers "after a long time down" 10.1.0.2
stop
finish
