#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The configuration is read again under traffic: no packet is lost, a bad file changes nothing.
. "$(dirname "$0")/lib.sh"

need
topology
write_conf
start
check "ping before" in_c ping -q -c 2 -i 0.05 -W 2 10.1.0.2

in_c ping -q -i 0.002 -c 1000 -W 2 10.1.0.2 >"$work/ping" 2>&1 &
ping_pid=$!
n=0
while kill -0 $ping_pid 2>/dev/null && [ $n -lt 100 ]; do
	# every other time with a route more
	if [ $((n % 2)) -eq 0 ]; then
		write_conf "routes: [{to: 10.9.0.0/16, via: 10.1.0.9}]"
	else
		write_conf
	fi
	ctl reload >/dev/null || break
	n=$((n + 1))
	sleep 0.02
done
wait $ping_pid
echo "# $n reloads while 1000 packets and their answers passed"
at_least "many reloads" "$n" 20
equal "no packet was lost" "$(losses "$work/ping")" 0

write_conf "routes: [{to: 10.9.0.0/16, via: 10.1.0.9}]"
check "a route is added" ctl reload
check "it is there" bash -c "'$sluicectl_bin' -s '$socket' routes | grep '10.9.0.0/16 .*via 10.1.0.9'"

bad()
{
	local what=$1

	ctl reload >"$work/reload" 2>&1
	equal "$what: refused" $? 1
	equal "$what: one line" "$(wc -l <"$work/reload")" 1
	shift
	check "$what: says why" grep -q "$@" "$work/reload"
	check "$what: says that nothing changed" grep -q '(nothing has changed)$' "$work/reload"
	check "$what: nothing changed" \
		bash -c "'$sluicectl_bin' -s '$socket' routes | grep 10.9.0.0/16"
}

write_conf "nonsense: 1"
bad "unknown key" "nonsense"
write_conf "routes: [{to: 10.9.0.0/16, via: 172.16.0.1}]"
bad "unreachable gateway" "172.16.0.1"
write_conf
sed -i 's/name: lan/name: other/' "$conf"
bad "another port" "port other: new port"
write_conf
sed -i 's/mtu: 1500/mtu: 1400/' "$conf"
bad "another MTU" "mtu"
workers=2 write_conf
bad "another number of workers" "workers differs"
write_conf
sed -i "s/hugepages: off/hugepages: auto/" "$conf"
bad "other memory" "hugepages differs"
echo 'ports: [' >"$conf"
bad "not YAML" "$conf"
rm "$conf"
bad "no file" "$conf"

write_conf
kill -HUP "$(json_number pid status)"
check "SIGHUP reloads" wait_for 3 bash -c "! '$sluicectl_bin' -s '$socket' routes | grep -q 10.9.0.0/16"
check "ping afterwards" in_c ping -q -c 2 -i 0.05 -W 2 10.1.0.2
stop
finish
