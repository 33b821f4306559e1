#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# More workers than one, also more than there are CPUs.
. "$(dirname "$0")/lib.sh"

need iperf3
topology
for workers in 2 5; do
	write_conf
	start
	equal "$workers workers run" "$(ctl -j status | grep -c '"shares_cpu"')" $workers
	check "ping" in_c ping -q -c 20 -i 0.01 -W 2 10.1.0.2
	check "ping6" in_c ping -q -c 20 -i 0.01 -W 2 fd01::2
	check "ping in fragments" in_c ping -q -c 5 -i 0.01 -W 2 -s 4000 10.1.0.2
	in_c ping -q -c 200 -i 0.005 -W 2 10.1.0.2 >"$work/ping" 2>&1
	equal "nothing is lost between workers" "$(losses "$work/ping")" 0
	[ $workers = 2 ] && iperf_server
	iperf "8 TCP flows" -c 10.1.0.2 -P 8
	iperf "4 UDP flows" -c fd01::2 -u -b 5M -P 4
	check "reload" ctl reload
	stop
done
finish
