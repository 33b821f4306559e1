#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What Prometheus and `sluicectl top` see of a router under traffic.
. "$(dirname "$0")/lib.sh"

need curl python3
topology
ip -n "$ns_r" link set lo up
cat >"$work/rules.v4" <<'RULES'
*nat
-A POSTROUTING -o lan -j MASQUERADE
COMMIT
*filter
:FORWARD ACCEPT [0:0]
-A FORWARD -m conntrack --ctstate INVALID -j DROP
-A FORWARD -p udp --dport 9 -j DROP
COMMIT
RULES
write_conf "firewall: {iptables: rules.v4}" "metrics: {listen: 127.0.0.1:9477}"
start

scrape() { in_r curl -sS -m 5 -o "$work/$1" -w '%{http_code} %{content_type}' http://127.0.0.1:9477/metrics; }
# sample FILE 'name{labels}': its value without a fraction
sample() { grep -F "$2 " "$work/$1" | sed 's/.* \([0-9]*\).*/\1/'; }

check "ping" in_c ping -q -c 5 -i 0.05 -W 2 10.1.0.2
equal "a scrape" "$(scrape first)" "200 text/plain; version=0.0.4; charset=utf-8"
in_c ping -q -c 500 -i 0.002 -W 2 10.1.0.2 >"$work/ping" 2>&1 &
ping_pid=$!
n=0
while kill -0 $ping_pid 2>/dev/null && [ $n -lt 200 ]; do
	scrape under >/dev/null
	n=$((n + 1))
done
wait $ping_pid
echo "# $n scrapes meanwhile"
equal "nothing is lost" "$(losses "$work/ping")" 0
blast 10.1.0.2 50
# NAT is counted anew after five seconds
sleep 5.1
equal "a later scrape" "$(scrape second)" "200 text/plain; version=0.0.4; charset=utf-8"
check "its form; counters only grow" python3 "$(dirname "$0")/metrics.py" "$work/first" "$work/second"
if command -v promtool >/dev/null; then
	check "promtool" bash -c "promtool check metrics <'$work/second'"
else
	echo "# no promtool here"
fi
at_least "packets of a port" "$(sample second 'sluice_port_receive_packets_total{port="wan"}')" \
	$(($(sample first 'sluice_port_receive_packets_total{port="wan"}') + 500))
at_least "packets of a stage" \
	"$(grep '^sluice_stage_packets_total{hook="forward"' "$work/second" | head -1 | sed 's/.* //')" 500
equal "drops by reason" "$(grep -c '^sluice_dropped_packets_total{port="wan".* 50$' "$work/second")" 1
at_least "connections" "$(sample second 'sluice_conntrack_entries{worker="0"}')" 2
at_least "NAT" "$(sample second 'sluice_nat_ports_in_use{address="10.1.0.1",protocol="icmp"}')" 2
at_least "a policy" \
	"$(sample second 'sluice_rules_policy_packets_total{family="ipv4",table="filter",chain="FORWARD",policy="ACCEPT"}')" 500
check "a worker was busy, and not always" python3 - "$work/second" <<'PY'
import re, sys
text = open(sys.argv[1]).read()
busy = float(re.search(r"^sluice_worker_busy_seconds_total\{.*\} (.*)$", text, re.M)[1])
assert 0 < busy < 3600, busy
PY

code() { in_r curl -sS -m 5 -o /dev/null -w '%{http_code}' "$@"; }
equal "elsewhere: 404" "$(code http://127.0.0.1:9477/x)" 404
equal "the root says where" "$(code http://127.0.0.1:9477/)" 200
equal "POST: 405" "$(code -d x=y http://127.0.0.1:9477/metrics)" 405
equal "HEAD" "$(code -I http://127.0.0.1:9477/metrics)" 200
check "many who say nothing keep nobody from the control socket" in_r python3 - "$sluicectl_bin" "$socket" <<'PY'
import socket, subprocess, sys
idle = [socket.create_connection(("127.0.0.1", 9477)) for _ in range(40)]
idle[0].sendall(b"\0\xff nonsense\r\n\r\n")
subprocess.run([sys.argv[1], "-s", sys.argv[2], "status"], check=True, timeout=5)
PY
check "and the scrape goes on" wait_for 5 in_r curl -sf -m 1 http://127.0.0.1:9477/metrics

in_c ping -q -i 0.01 10.1.0.2 >/dev/null 2>&1 &
ping_pid=$!
check "top --once" ctl top --once
ctl top >"$work/top"
ctl -j top >"$work/top.json"
kill $ping_pid
check "top, not on a terminal, is a frame without escapes" bash -c \
	"grep -q '^wan  *up ' '$work/top' && grep -q 'busy' '$work/top' && ! grep -q \$'\\033' '$work/top'"
equal "80 columns hold it" "$(grep -c '.\{81\}' "$work/top")" 0
check "top -j" python3 - "$work/top.json" <<'PY'
import json, sys
t = json.load(open(sys.argv[1]))
assert any(p["name"] == "wan" and p["rx"] > 0 and p["rx_bits"] > 0 for p in t["ports"]), t["ports"]
assert 0 <= t["workers"][0]["busy"] <= 1, t["workers"]
assert any(s["packets"] > 0 and s["cycles_per_packet"] > 0 for s in t["stages"]), t["stages"]
assert 0.99 < sum(s["share"] for s in t["stages"]) < 1.01
assert t["connections"]["entries"] >= 2
assert any(d["packets"] == 50 and d["help"] for d in t["drops"]), t["drops"]
PY
ctl status --once >/dev/null 2>&1
equal "--once is for top alone" $? 2
check "on a terminal it repaints until q" python3 - "$sluicectl_bin" "$socket" <<'PY'
import fcntl, os, pty, struct, sys, termios, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "-s", sys.argv[2], "top"])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
seen = b""
while seen.count(b"\033[H") < 3:
    seen += os.read(fd, 65536)
os.write(fd, b"q")
try:
    while more := os.read(fd, 65536):
        seen += more
except OSError:
    pass
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert b"wan" in seen and seen.rstrip().endswith(b"\033[?1049l"), seen[-200:]
last = seen.split(b"\033[H")[-1].split(b"\033[J")[0].split(b"\r\n")
assert len(last) <= 24 and all(len(l.replace(b"\033[K", b"")) <= 80 for l in last), last
PY

sed -i 's/:9477/:9478/' "$conf"
ctl reload >"$work/said" 2>&1
equal "another address needs a restart" "$(grep -c 'metrics: listen differs.*restart' "$work/said")" 1
ip netns exec "$ns_r" python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 9478)); s.listen(); time.sleep(60)' &
wait_for 5 in_r bash -c 'ss -Hltn | grep -q :9478'
sed "s|$socket|$work/other.sock|" "$conf" >"$work/other.yaml"
in_r "$sluice_bin" run -c "$work/other.yaml" >"$work/said" 2>&1
equal "an address in use: status 2" $? 2
check "and its place" grep -q 'other.yaml:10:.*metrics: 127.0.0.1:9478: Address already in use' "$work/said"
stop
finish
