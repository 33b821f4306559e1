#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Looking inside: captures and traces of what passes, is dropped, translated, marked and rejected.
. "$(dirname "$0")/lib.sh"

need python3 tcpdump
topology
cat >"$work/rules" <<'RULES'
*raw
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
-A PREROUTING -p udp -m udp --dport 7000 -j TRACE
COMMIT
*mangle
:PREROUTING ACCEPT [0:0]
-A PREROUTING -p tcp -j MARK --set-xmark 0x7/0xffffffff
COMMIT
*nat
:PREROUTING ACCEPT [0:0]
-A PREROUTING -p tcp -m tcp --dport 8080 -j DNAT --to-destination 10.1.0.2:80
COMMIT
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:WEB - [0:0]
-A FORWARD -p tcp -m mark --mark 0x7 -j WEB
-A FORWARD -p udp -m udp --dport 9 -j DROP
-A WEB -p tcp -m tcp --dport 80 -j REJECT --reject-with tcp-reset
COMMIT
RULES
write_conf "firewall: {iptables: $work/rules}"
start
check "ping" in_c ping -q -c 2 -i 0.05 -W 2 10.1.0.2

# the program itself in the background, not a function, whose shell would get the signals
# follow NAME arguments...: a capture or trace in the background that has begun
follow()
{
	"$sluicectl_bin" -s "$socket" "${@:2}" >"$work/$1" 2>"$work/$1.err" &
	follow_pid=$!
	wait_for 5 is_followed
}
# whether anybody looks on: status tells
is_followed() { [ "$(json_number watchers status)" -gt 0 ]; }
is_left() { [ "$(json_number watchers status)" -eq 0 ]; }
# sends the interrupt and waits for the rest
end_follow()
{
	kill -INT $follow_pid 2>/dev/null
	wait $follow_pid
	equal "$1: status 0" $? 0
	check "$1: nobody is left" wait_for 5 is_left
}

# traffic with a filter: only what it asks for
follow pcap capture -w - icmp
in_c ping -q -c 3 -i 0.02 -W 2 10.1.0.2 >/dev/null
blast 10.1.0.2 20
wait_for 3 bash -c "[ \$(tcpdump -r '$work/pcap' 2>/dev/null | wc -l) -ge 12 ]"
end_follow "capture of a filter"
equal "echo and answer, in and out" "$(tcpdump -nr "$work/pcap" 2>/dev/null | grep -c ICMP)" 12
equal "and nothing else" "$(tcpdump -nr "$work/pcap" 2>/dev/null | wc -l)" 12
check "what was missed is told" grep -q '^12 packets captured, 0 missed' "$work/pcap.err"

# what is dropped, with the reason
"$sluicectl_bin" -s "$socket" capture --dropped --count 5 'udp port 9' >"$work/drops" 2>"$work/drops.err" &
follow_pid=$!
wait_for 5 is_followed
blast 10.1.0.2 20
wait $follow_pid
equal "a count ends it" $? 0
equal "reason and stage of each" "$(grep -c 'verdict=dropped reason=rule_drop hook=forward stage=filter' "$work/drops")" 5

# a hook; and JSON
"$sluicectl_bin" -s "$socket" -j capture --hook forward --port wan --count 2 icmp >"$work/hook" 2>/dev/null &
follow_pid=$!
wait_for 5 is_followed
in_c ping -q -c 3 -i 0.02 -W 2 10.1.0.2 >/dev/null
wait $follow_pid
equal "at a hook" "$(grep -c '"verdict":"enters","hook":"forward"' "$work/hook")" 2
check "lines of JSON" python3 -c 'import json,sys
[json.loads(l) for l in open(sys.argv[1])]' "$work/hook"

# several at once; one is killed, one has its pipe closed
"$sluicectl_bin" -s "$socket" capture -w "$work/a.pcap" >/dev/null 2>&1 &
killed_pid=$!
disown $killed_pid
"$sluicectl_bin" -s "$socket" capture -w - 2>/dev/null | head -c 100 >/dev/null &
wait_for 5 bash -c "[ \$('$sluicectl_bin' -s '$socket' -j status | sed -n 's/^ *\"watchers\": \([0-9]*\).*/\1/p') = 2 ]"
kill -KILL $killed_pid
in_c ping -q -c 3 -i 0.02 -W 2 10.1.0.2 >/dev/null
check "readers that went away are gone" wait_for 5 is_left

ctl capture 'tcp prot 80' >"$work/bad" 2>&1
equal "a bad filter: status 1" $? 1
check "and why" grep -q "filter 'tcp prot 80': .*syntax error" "$work/bad"
ctl capture --hook nowhere >"$work/bad" 2>&1
equal "no such hook: status 1" $? 1
ctl capture --port nowhere >"$work/bad" 2>&1
check "no such port" grep -q "no port 'nowhere'" "$work/bad"
ctl capture --count 0 >"$work/bad" 2>&1
equal "a count of nothing: status 2" $? 2

# the way of a packet that is translated, marked and rejected
"$sluicectl_bin" -s "$socket" trace --count 1 'tcp port 8080' >"$work/trace" 2>"$work/trace.err" &
follow_pid=$!
wait_for 5 is_followed
ctl trace >"$work/bad" 2>&1
check "one trace at a time" grep -q "somebody else traces already" "$work/bad"
in_c python3 -c 'import socket
s = socket.socket()
s.settimeout(2)
try:
    s.connect(("10.0.0.1", 8080))
except OSError as e:
    print(e)' >"$work/refused"
wait $follow_pid
equal "a trace ends at its count" $? 0
check "the peer was told" grep -q refused "$work/refused"
check "marked" grep -q 'mangle PREROUTING rule 1, .*rules:8: -A PREROUTING -p tcp -j MARK' "$work/trace"
check "by its stage" grep -q 'prerouting *mangle .*mark 0x0 -> 0x7' "$work/trace"
check "new connection" grep -q 'prerouting *conntrack .*ct none -> new' "$work/trace"
check "translated" grep -q 'dst 10.0.0.1:8080 -> 10.1.0.2:80' "$work/trace"
check "into a chain" grep -q 'filter FORWARD rule 1, .*rules:[0-9]*: .*-j WEB' "$work/trace"
check "rejected" grep -q 'filter WEB rule 1, .*rules:[0-9]*: .*-j REJECT' "$work/trace"
check "the end" grep -q 'DROPPED rule_reject' "$work/trace"
sed 's/^/# /' "$work/trace"

# the TRACE target chooses
"$sluicectl_bin" -s "$socket" -j trace --marked --count 1 >"$work/marked" 2>/dev/null &
follow_pid=$!
wait_for 5 is_followed
in_c python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"other", ("10.1.0.2", 7001))
s.sendto(b"sluice", ("10.1.0.2", 7000))'
wait $follow_pid
check "only what it chose, to its end" python3 -c 'import json,sys
w = [json.loads(l) for l in open(sys.argv[1])]
assert len(w) == 1 and w[0]["steps"][-1]["at"] == "sent", w
assert all(":7000" in s["state"]["dst"] for s in w[0]["steps"]), w' "$work/marked"
check "nobody looks on any more" wait_for 5 is_left

# the end of sluice ends its readers
"$sluicectl_bin" -s "$socket" capture -w "$work/last.pcap" >/dev/null 2>&1 &
follow_pid=$!
wait_for 5 is_followed
stop
wait $follow_pid
equal "a reader ends with sluice" $? 0
finish
