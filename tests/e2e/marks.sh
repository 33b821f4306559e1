#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two uplinks, chosen by mark: HMARK shares destinations out, rules that mark everything send all by one,
# and while rules are read again under traffic nothing leaves by the main table (case M06). Replies take
# the uplink that their question came by, with strict source checks that see the mark (case M04).
. "$(dirname "$0")/lib.sh"

rules=$work/rules.v4

# write_rules [rule...]: in front of the one that marks
write_rules()
{
	printf '%s\n' '*mangle' "$@" "-A PREROUTING -i wan $target" COMMIT >"$rules"
}

# a second link between the router and the server, whose far side has 198.18.0.0/24
second_uplink()
{
	ip link add s1 netns "$ns_s" type veth peer name r2 netns "$ns_r"
	ip -n "$ns_r" link set r2 up
	ip -n "$ns_s" addr add 10.2.0.2/24 dev s1
	ip -n "$ns_s" link set s1 up
	ip -n "$ns_s" route add local 198.18.0.0/24 dev lo
	in_s sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.s0.rp_filter=0 \
		net.ipv4.conf.s1.rp_filter=0
}

write_all()
{
	write_rules "$@"
	write_conf "firewall: {iptables: $rules}" 'routes:' \
		'  - {to: 198.18.0.0/15, via: 10.1.0.2}' \
		'  - {to: 198.18.0.0/15, via: 10.1.0.2, table: 100}' \
		'  - {to: 198.18.0.0/15, via: 10.2.0.2, table: 101}' \
		'policy:' '  - {fwmark: 100, table: 100}' '  - {fwmark: 101, table: 101}'
	sed -i "/^control:/i\\  - {name: up2, device: \"net_${port_kind}2,iface=r2\", addresses: [10.2.0.1/24]}" "$conf"
}

arrived() { in_s cat "/sys/class/net/$1/statistics/rx_packets"; }

need
topology
second_uplink
target='-j HMARK --hmark-tuple src,dst --hmark-mod 2 --hmark-offset 100 --hmark-rnd 0xfeedcafe'
write_all
start
check "ping resolves the neighbours" in_c ping -q -c 3 -i 0.1 -W 2 198.18.0.1
check "by both uplinks" in_c ping -q -c 3 -i 0.1 -W 2 198.18.0.2
s0=$(arrived s0)
s1=$(arrived s1)
for i in $(seq 1 40); do
	in_c ping -q -c 2 -i 0.01 -W 2 "198.18.0.$i" >/dev/null || echo "# no answer from 198.18.0.$i"
done
s0=$(($(arrived s0) - s0))
s1=$(($(arrived s1) - s1))
echo "# $s0 packets by the first uplink, $s1 by the second"
at_least "HMARK gives the first uplink its part" "$s0" 20
at_least "and the second" "$s1" 20
check "the rules tell what they decided" bash -c \
	"'$sluicectl_bin' -s '$socket' routes --marks | grep -E 'fwmark 0x65 lookup 101 +[1-9]'"

# everything by the second uplink
target='-j MARK --set-mark 101'
write_rules
check "reload" ctl reload
in_c ping -q -c 2 -i 0.05 -W 2 198.18.0.1 >/dev/null
s0=$(arrived s0)
in_c ping -q -i 0.002 -c 1000 -W 2 198.18.0.1 >"$work/ping" 2>&1 &
ping_pid=$!
n=0
while kill -0 $ping_pid 2>/dev/null && [ $n -lt 100 ]; do
	if [ $((n % 2)) -eq 0 ]; then
		write_rules '-A PREROUTING -s 192.0.2.0/24 -j DROP'
	else
		write_rules
	fi
	ctl reload >/dev/null || break
	n=$((n + 1))
	sleep 0.02
done
wait $ping_pid
echo "# $n reloads while 1000 packets passed"
at_least "reloads" "$n" 5
equal "no packet was lost" "$(losses "$work/ping")" 0
equal "no packet left by the main table (M06)" "$(arrived s0)" "$s0"

# each uplink with its own address, a connection by one of them for as long as it lives
printf '%s\n' '*mangle' '-A PREROUTING -j CONNMARK --restore-mark' \
	'-A PREROUTING -i wan -m mark --mark 0 -j HMARK --hmark-tuple src,dst --hmark-mod 2 --hmark-offset 100 --hmark-rnd 0xfeedcafe' \
	'-A POSTROUTING -j CONNMARK --save-mark' COMMIT \
	'*nat' '-A POSTROUTING -o lan -j MASQUERADE' '-A POSTROUTING -o up2 -j MASQUERADE' COMMIT >"$rules"
check "reload with MASQUERADE on both uplinks" ctl reload
s0=$(arrived s0)
s1=$(arrived s1)
answered=0
for i in $(seq 101 120); do
	in_c ping -q -c 2 -i 0.01 -W 2 "198.18.0.$i" >/dev/null && answered=$((answered + 1))
done
equal "all are answered" "$answered" 20
at_least "by the first uplink" $(($(arrived s0) - s0)) 4
at_least "by the second" $(($(arrived s1) - s1)) 4
ctl conntrack list proto=icmp >"$work/list"
equal "connections have the address of their uplink" \
	"$(awk '/dst=198\.18\.0\.1[012]/ && !(/dst=10\.1\.0\.1 .*mark=100/ || /dst=10\.2\.0\.1 .*mark=101/)' "$work/list")" ""
at_least "and there are some" "$(grep -c 'dst=10\.2\.0\.1 .*mark=101' "$work/list")" 2

# M04: replies take the uplink that the question came by, under strict source checks. The main table says
# lan for those addresses; only with the mark does the check see that up2 is right.
uplink_rules()
{
	printf '%s\n' '*mangle' '-A PREROUTING -i up2 -j MARK --set-mark 101' \
		'-A PREROUTING -i up2 -j CONNMARK --save-mark' \
		'-A PREROUTING -i wan -j CONNMARK --restore-mark' COMMIT >"$rules"
}

uplink_rules
in_s ip route add 10.0.0.2/32 via 10.2.0.1 dev s1
printf '%s\n' 'sysctl:' '  net.ipv4.conf.all.rp_filter: 1' '  net.ipv4.conf.up2.src_valid_mark: 1' >>"$conf"
check "reload with strict source checks that see the mark" ctl reload
s0=$(arrived s0)
check "asked by the second uplink, answered (M04)" in_s ping -q -c 5 -i 0.05 -W 2 -I 198.18.0.1 10.0.0.2
equal "and by no other" "$(($(arrived s0) - s0))" 0
sed -i 's/src_valid_mark: 1/src_valid_mark: 0/' "$conf"
check "reload with checks that do not" ctl reload
martians=$(dropped rp_filter)
check "no answer" bash -c "! ip netns exec $ns_s ping -q -c 3 -i 0.05 -W 1 -I 198.18.0.1 10.0.0.2"
at_least "counted under its reason" $(($(dropped rp_filter) - martians)) 3
stop
finish
