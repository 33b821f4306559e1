#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Peers that leave checksums and segmentation to hardware: TCP works, and what leaves the router
# has right checksums and fits the MTU.
. "$(dirname "$0")/lib.sh"

need iperf3 tcpdump ethtool
topology
write_conf
start

check "the client leaves checksums to hardware" \
	bash -c "ip netns exec $ns_c ethtool -k c0 | grep 'tx-checksumming: on'"
iperf_server

# traffic WHAT: both families; what comes in at the server was made by sluice
traffic()
{
	helper "$ns_s" tcpdump -l -i s0 -nn -vv -c 4000 -Q in 'ip proto 6 or ip6 proto 6 or udp'
	wait_for 5 grep -q 'listening on' "$work/helper"
	for host in 10.1.0.2 fd01::2; do
		iperf "TCP of 10 MB to $host$1" -c $host -n 10M
		iperf "UDP to $host$1" -c $host -u -b 20M -l 1000
	done
	sleep 0.3
	kill -INT $helper_pid 2>/dev/null
	wait $helper_pid
	at_least "packets captured behind the router$1" "$(grep -c 'cksum' "$work/helper")" 500
	equal "none with a wrong checksum$1" "$(grep -c 'incorrect' "$work/helper")" 0
	equal "none larger than the MTU$1" \
		"$(grep -oE 'proto .* length [0-9]+' "$work/helper" | awk '$NF > 1500' | wc -l)" 0
	equal "no segment was refused$1" "$(dropped segment_oversize)" 0
}

traffic ""
# the same translated (O04)
printf '%s\n' '*nat' '-A POSTROUTING -o lan -j MASQUERADE' COMMIT >"$work/rules.v4"
write_conf "firewall: {iptables: $work/rules.v4, ip6tables: $work/rules.v4}"
check "reload with MASQUERADE" ctl reload
traffic " by NAT"
equal "it comes from the router" \
	"$(grep -cE '10\.0\.0\.2\.[0-9]+ > 10\.1\.0\.2' "$work/helper")" 0
stop
finish
