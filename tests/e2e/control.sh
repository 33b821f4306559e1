#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The control socket under traffic: long lists do not stall the workers; wrong use; telemetry.
. "$(dirname "$0")/lib.sh"

need python3
topology
{
	echo "routes:"
	for i in $(seq 0 9999); do
		echo "  - {to: 172.$((16 + i / 4096)).$((i / 16 % 256)).$((i % 16 * 16))/28, via: 10.1.0.2}"
	done
} >"$work/routes"
write_conf "$(cat "$work/routes")"
start
check "ping" in_c ping -q -c 2 -i 0.05 -W 2 10.1.0.2

in_c ping -q -c 500 -i 0.002 -W 2 10.1.0.2 >"$work/ping" 2>&1 &
ping_pid=$!
n=0
while kill -0 $ping_pid 2>/dev/null && [ $n -lt 200 ]; do
	ctl -j routes >"$work/list"
	ctl status >/dev/null
	ctl -j ports >/dev/null
	n=$((n + 1))
done
wait $ping_pid
echo "# 3 x $n commands meanwhile"
equal "nothing is lost" "$(losses "$work/ping")" 0
at_least "a list of many pages is whole" "$(grep -c '"to": "172\.' "$work/list")" 10000
check "JSON is JSON" python3 -m json.tool "$work/list"
check "JSON of every command" bash -c "for c in status ports stages drops neighbours; do
	'$sluicectl_bin' -s '$socket' -j \$c | python3 -m json.tool >/dev/null || exit 1; done"

# DPDK's telemetry has the counters too
telemetry=$(python3 - "$work/dpdk/rte/dpdk_telemetry.v2" <<'PY'
import json, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(3)
s.connect(sys.argv[1])
s.recv(65536)
def ask(path):
    s.send(path.encode())
    return json.loads(s.recv(65536))[path]
print(ask("/sluice/ports")["wan"]["mtu"], ask("/sluice/status")["ports"], len(ask("/sluice/stages")) > 4)
PY
)
equal "telemetry answers" "$telemetry" "1500 2 True"

for words in "" "nonsense" "status extra" "routes x" "-q status"; do
	# shellcheck disable=SC2086 # words are words
	ctl $words >/dev/null 2>&1
	equal "sluicectl $words: status 2" $? 2
done
"$sluicectl_bin" -s "$work/nobody" status >/dev/null 2>&1
equal "nobody there: status 1" $? 1
check "help" bash -c "'$sluicectl_bin' --help | grep -q usage"

ask()
{
	python3 - "$socket" "$1" <<'PY'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(3)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode() + b"\n")
print(s.makefile().readline().strip())
PY
}
check "not JSON" bash -c '[[ $1 == *"\"ok\":false"*"not JSON"* ]]' - "$(ask 'x{')"
check "no command" bash -c '[[ $1 == *"\"ok\":false"* ]]' - "$(ask '[1]')"
check "unknown command" bash -c '[[ $1 == *"no command"* ]]' - "$(ask '{"command":"fly"}')"
check "two requests at once" bash -c "[ \$(printf '%s\n' '{\"command\":\"drops\"}' '{\"command\":\"drops\"}' |
	timeout 3 python3 -c 'import socket,sys
s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);s.sendall(sys.stdin.buffer.read())
f=s.makefile();f.readline();print(f.readline())' '$socket' | grep -c ok) = 1 ]"
check "it still answers" ctl status
stop
finish
