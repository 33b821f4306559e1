#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Killed with -9 and started again; a second one beside a running one.
. "$(dirname "$0")/lib.sh"

need
topology
write_conf
for round in 1 2 3; do
	start
	check "round $round: ping" wait_for 3 in_c ping -q -c 1 -W 1 10.1.0.2
	if [ $round = 1 ]; then
		in_r "$sluice_bin" run -c "$conf" >"$work/second" 2>&1
		equal "a second one is refused with status 2" $? 2
		equal "with one line" "$(wc -l <"$work/second")" 1
		check "that says why" grep -q 'a running sluice answers' "$work/second"
		check "the first one goes on" in_c ping -q -c 1 -W 2 10.1.0.2
	fi
	kill -9 "$sluice_pid"
	wait "$sluice_pid" 2>/dev/null
	check "round $round: its socket is still there" test -S "$socket"
done
start
check "ping after all" wait_for 3 in_c ping -q -c 1 -W 1 10.1.0.2
stop
check "the socket is gone at the end" test ! -e "$socket"
echo precious >"$socket"
in_r "$sluice_bin" run -c "$conf" >"$work/second" 2>&1
equal "a file in the place of the socket is refused with status 2" $? 2
check "by what it is" grep -q 'something that is no socket is there' "$work/second"
equal "and left alone" "$(cat "$socket")" precious
for dev in r0 r1; do
	check "no XDP program is left on $dev" \
		bash -c "! ip -n $ns_r -d link show $dev | grep -q 'prog/xdp'"
done
finish
