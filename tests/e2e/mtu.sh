#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Packets larger than the outgoing MTU, with and without DF, in both families; 9000-byte MTU.
. "$(dirname "$0")/lib.sh"

need tcpdump
topology
write_conf
sed -i '/name: lan/s/mtu: 1500/mtu: 1400/' "$conf"
start

out=$(in_c ping -c 1 -W 2 -M "do" -s 1422 10.1.0.2 2>&1)
echo "$out" >"$work/out"
[[ $out == *"Frag needed"*"mtu = 1400"* || $out == *"message too long, mtu=1400"* ]]
report "with DF the error carries the MTU" $?
equal "the client's kernel took the MTU" \
	"$(ip -n "$ns_c" route get 10.1.0.2 | grep -oE 'mtu [0-9]+')" "mtu 1400"

helper "$ns_s" tcpdump -l -i s0 -nn -v -c 4 -Q in icmp
wait_for 5 grep -q 'listening on' "$work/helper"
check "without DF it arrives in fragments" in_c ping -q -c 2 -i 0.05 -W 2 -M dont -s 1422 10.1.0.2
wait_for 3 grep -q 'offset 1376' "$work/helper"
report "the first fragment is as large as the MTU lets it be" $?

out=$(in_c ping -c 1 -W 2 -M "do" -s 1402 fd01::2 2>&1)
echo "$out" >"$work/out"
[[ $out == *"Packet too big: mtu=1400"* || $out == *"message too long, mtu: 1400"* \
	|| $out == *"mtu=1400"* ]]
report "IPv6: packet too big carries the MTU" $?
check "IPv6: afterwards the sender fragments" in_c ping -q -c 2 -i 0.05 -W 2 -s 1402 fd01::2
stop

mtu=9000
ip -n "$ns_c" route flush cache
ip -n "$ns_c" -6 route flush cache
ip -n "$ns_c" link set c0 mtu 9000
ip -n "$ns_s" link set s0 mtu 9000
client_routes
server_routes
write_conf
if [ "$port_kind" = af_xdp ]; then
	in_r "$sluice_bin" run -c "$conf" >"$log" 2>&1
	equal "AF_XDP: 9000 bytes are refused with status 2" $? 2
	check "AF_XDP: the error says what is possible" grep -q 'mtu 9000 is not within 68\.\.' "$log"
	rm "$log"
	finish
fi
start
check "9000-byte ping" in_c ping -q -c 3 -i 0.05 -W 2 -M "do" -s 8972 10.1.0.2
check "9000-byte ping6" in_c ping -q -c 3 -i 0.05 -W 2 -M "do" -s 8952 fd01::2
check "9000-byte ping in fragments" in_c ping -q -c 2 -i 0.05 -W 2 -s 20000 10.1.0.2
stop
finish
