#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The box's own rules: they filter, are printed with counters, and are read again under traffic.
. "$(dirname "$0")/lib.sh"

rules=$work/rules.v4
rules6=$work/rules.v6

# write_rules [rule...]: of the FORWARD chain, in front of the one that counts pings
write_rules()
{
	{
		printf '%s\n' '*filter' ':FORWARD DROP' ':PINGS -'
		printf '%s\n' "$@"
		printf '%s\n' '-A FORWARD -p icmp -j PINGS' '-A FORWARD -p udp -j REJECT' \
			'-A PINGS -i wan -o lan -m icmp -p icmp --icmp-type 8 -j ACCEPT' \
			'-A PINGS -i lan -j ACCEPT' 'COMMIT'
	} >"$rules"
}

# packets of the rule with these words
counted() { ctl rules -c | sed -n "s/^\[\([0-9]*\):.*$1.*/\1/p"; }

need
topology
write_rules
printf '%s\n' '*filter' '-A FORWARD -p ipv6-icmp -m icmp6 --icmpv6-type 128 -j DROP' COMMIT >"$rules6"
write_conf "firewall: {iptables: $rules, ip6tables: $rules6}"
start
check "ping passes" in_c ping -q -c 5 -i 0.05 -W 2 10.1.0.2
equal "requests are counted" "$(counted 'icmp-type 8')" 5
equal "answers are counted" "$(counted '-i lan')" 5
in_c timeout 1 bash -c ': </dev/tcp/10.1.0.2/1' 2>/dev/null
equal "the policy drops the rest" $? 124
at_least "and counts it" "$(ctl rules -c | sed -n 's/^:FORWARD DROP \[\([0-9]*\):.*/\1/p')" 1
check "IPv6 is dropped" bash -c "! ip netns exec $ns_c ping -q -c 1 -W 1 fd01::2"
check "by its rule" bash -c "'$sluicectl_bin' -s '$socket' -6 rules -c | grep '^\[1:104\] -A FORWARD -p ipv6-icmp'"
check "one table alone" bash -c "'$sluicectl_bin' -s '$socket' rules -t filter | grep '^:PINGS - \[0:0\]'"
check "a table that is not loaded" bash -c "! '$sluicectl_bin' -s '$socket' rules -t mangle"
check "counters to zero" ctl rules --zero
equal "they are" "$(counted 'icmp-type 8')" 0

in_c ping -q -i 0.002 -c 1000 -W 2 10.1.0.2 >"$work/ping" 2>&1 &
ping_pid=$!
n=0
while kill -0 $ping_pid 2>/dev/null && [ $n -lt 100 ]; do
	# every other time with a rule more in front
	if [ $((n % 2)) -eq 0 ]; then
		write_rules '-A FORWARD -s 192.0.2.0/24 -j DROP'
	else
		write_rules
	fi
	ctl reload >/dev/null || break
	n=$((n + 1))
	sleep 0.02
done
wait $ping_pid
echo "# $n reloads while 1000 packets and their answers passed"
at_least "many reloads" "$n" 20
equal "no packet was lost" "$(losses "$work/ping")" 0
equal "none was not counted" "$(counted 'icmp-type 8')" 1000

write_rules '-A FORWARD -s 192.0.2.0/24 -j NOWHERE'
ctl reload >"$work/reload" 2>&1
equal "a bad file is refused" $? 1
check "with its line" grep -q "$rules:4: " "$work/reload"
equal "nothing changed" "$(counted 'icmp-type 8')" 1000
check "ping afterwards" in_c ping -q -c 2 -i 0.05 -W 2 10.1.0.2
stop
finish
