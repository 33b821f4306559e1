#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A default-deny stateful ruleset, and what sluicectl conntrack says of the connections through it.
. "$(dirname "$0")/lib.sh"

rules=$work/rules.v4

# lines of connections
listed() { ctl conntrack list "$@"; }
# number behind NAME of a JSON answer
counter() { ctl -j conntrack stats | sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" | head -1; }

need iperf3 python3
topology
cat >"$rules" <<'END'
*filter
:INPUT DROP
:FORWARD DROP
-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A FORWARD -m conntrack --ctstate INVALID -j DROP
-A FORWARD -i wan -p icmp -m conntrack --ctstate NEW -j ACCEPT
-A FORWARD -i wan -p tcp --syn -m conntrack --ctstate NEW -j ACCEPT
COMMIT
END
write_conf "firewall: {iptables: $rules}"
start
equal "nothing is listed yet" "$(listed)" ""
"$sluicectl_bin" -s "$socket" conntrack events >"$work/events" &
events_pid=$!
wait_for 5 test -e "$work/events"
sleep 0.5
check "ping passes" in_c ping -q -c 3 -i 0.05 -W 2 10.1.0.2
check "but not from inside" bash -c "! ip netns exec $ns_s ping -q -c 1 -W 1 10.0.0.2"
check "a connection is listed as the kernel does" bash -c "'$sluicectl_bin' -s '$socket' conntrack | grep -E '^ipv4     2 icmp     1 [0-9]+ src=10.0.0.2 dst=10.1.0.2 type=8 code=0 id=[0-9]+ src=10.1.0.2 dst=10.0.0.2 type=0 code=0 id=[0-9]+ mark=0 zone=0 use=2\$'"
iperf_server
iperf "TCP passes" -c 10.1.0.2
check "TCP is assured" bash -c "'$sluicectl_bin' -s '$socket' conntrack list proto=tcp dport=5201 status=ASSURED | grep -q '^ipv4     2 tcp      6 '"
equal "a filter that fits nothing" "$(listed dport=1)" ""
check "a word that means nothing" bash -c "! '$sluicectl_bin' -s '$socket' conntrack list colour=red"
check "as JSON" bash -c "'$sluicectl_bin' -s '$socket' -j conntrack list proto=icmp | grep -q '\"dst\": \"10.1.0.2\"'"
at_least "of those three or more" "$(ctl conntrack count | sed 's/ of .*//')" 3
at_least "counted when they were confirmed" "$(counter insert)" 3
in_c python3 -c '
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
s.sendto(struct.pack("!HHHH", 1000, 2000, 8, 0x1234), ("10.1.0.2", 0))'
wait_for 3 bash -c "'$sluicectl_bin' -s '$socket' conntrack stats | grep -qE '^invalid_bad_checksum +1'"
report "a wrong checksum is INVALID for that reason" $?
check "a reason that nobody had is not shown" bash -c "! '$sluicectl_bin' -s '$socket' conntrack stats | grep -q invalid_sctp_vtag"
equal "but counted, as JSON" "$(counter invalid_sctp_vtag)" 0
equal "deleted by a filter" "$(ctl conntrack delete proto=icmp)" "1 deleted"
equal "which is gone" "$(listed proto=icmp)" ""
check "delete without a filter is refused" bash -c "! '$sluicectl_bin' -s '$socket' conntrack delete"
check "flush" ctl conntrack flush
equal "nothing is left" "$(ctl conntrack count)" "0 of 262144"
sleep 0.5
kill $events_pid
check "a beginning was told" grep -qE '^\[NEW\] ipv4     2 icmp ' "$work/events"
check "an answer" grep -qE '^\[UPDATE\] ipv4     2 icmp ' "$work/events"
check "an end" grep -qE '^\[DESTROY\] ipv4     2 icmp ' "$work/events"

# without rules that need it nothing is tracked
printf '%s\n' '*filter' ':FORWARD ACCEPT' COMMIT >"$rules"
check "reload without state" ctl reload
check "no stage tracks" bash -c "! '$sluicectl_bin' -s '$socket' stages | grep -q ' conntrack '"
check "all passes" in_s ping -q -c 1 -W 2 10.0.0.2
equal "nothing is tracked" "$(ctl conntrack count)" "0 of 262144"
stop
finish
