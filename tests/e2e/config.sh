#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What is wrong with a configuration is said in one line that names the place, with status 2, before
# anything runs; and nothing is left behind.
. "$(dirname "$0")/lib.sh"

need
topology

# refused "what" "text that the line must hold"
refused()
{
	in_r timeout 20 "$sluice_bin" run -c "$conf" >"$work/stdout" 2>"$work/stderr"
	local status=$?

	cp "$work/stderr" "$work/out"
	equal "$1: status 2" $status 2
	cp "$work/stderr" "$work/out"
	[ "$(grep -vc ' notice ' "$work/stderr")" -eq 1 ]
	report "$1: one line" $?
	cp "$work/stderr" "$work/out"
	grep -qE -- "$2" "$work/stderr"
	report "$1: says $2" $?
	[ ! -e "$socket" ]
	report "$1: no socket is left" $?
}

write_conf
start
stop

write_conf "colour: red"
refused "unknown key" "sluice.yaml:[0-9]+:1: .*colour"
write_conf "workers: many"
sed -i 1d "$conf"
refused "wrong type" "sluice.yaml:[0-9]+:[0-9]+: .*many.*expected a number"
write_conf
sed -i 's/name: lan/name: wan/' "$conf"
refused "port twice" "sluice.yaml:[0-9]+:[0-9]+: .*wan"
write_conf
sed -i 's/10.1.0.1/10.0.0.9/' "$conf"
refused "overlapping addresses" "sluice.yaml:[0-9]+:[0-9]+: .*10.0.0"
write_conf "routes: [{to: 10.9.0.0/16, via: 172.16.0.1}]"
refused "unreachable gateway" "sluice.yaml:[0-9]+:[0-9]+: .*172.16.0.1"
write_conf "pipeline: [{hook: ingress, stage: magic}]"
refused "unknown stage" "sluice.yaml:[0-9]+:[0-9]+: .*magic"
write_conf
sed -i 's/^workers: .*/workers: [97]/' "$conf"
refused "a CPU that is not there" "CPU 97 is not one of"

write_conf
sed -i 's/iface=r1/iface=r7/' "$conf"
refused "missing interface" "port lan: .*no interface 'r7' here; there are: r0, r1"
write_conf
sed -i 's/net_af_[a-z]*1,iface=r1/net_nonsense1/' "$conf"
refused "missing driver" "port lan: device net_nonsense1: "
write_conf
sed -i 's/net_af_[a-z]*1,iface=r1/ffff:1f:1f.7/' "$conf"
refused "missing PCI device" "port lan: .*ffff:1f:1f.7: no such PCI device; network devices here:"
write_conf
sed -i 's/net_af_[a-z]*0,iface=r0/net_null0/; s/net_af_[a-z]*1,iface=r1/net_null0,size=64/' "$conf"
refused "one name for two devices" "port lan: .*another port has a device net_null0"
if [ "$port_kind" = af_packet ]; then
	lan_more=,colour=red write_conf
	refused "unknown key of the device" "port lan: .*unknown key 'colour'"
fi
if [ "$port_kind" = af_xdp ]; then
	write_conf
	sed -i 's/name: lan/name: lan, vlan: 5/' "$conf"
	refused "tags that AF_XDP would not see" "ethtool -K r1 rxvlan off"
fi

# too few hugepages, three times: the command that mends it, and no file in hugetlbfs
pages=$(cat /proc/sys/vm/nr_hugepages)
if [ "$pages" -lt 16 ]; then
	write_conf
	sed -i 's/hugepages: off/hugepages: auto/; s/net_af_[a-z]*1,iface=r1/0000:00:1f.7/' "$conf"
	files=$(find /dev/hugepages -type f 2>/dev/null | wc -l)
	for round in 1 2 3; do
		refused "too few hugepages, round $round" \
			"port lan: .*needs [0-9]+ hugepages of [0-9]+ kB, [0-9]+ are free: sysctl -w vm.nr_hugepages=[0-9]+"
	done
	equal "no file is left in hugetlbfs" "$(find /dev/hugepages -type f 2>/dev/null | wc -l)" "$files"
else
	echo "# $pages hugepages are configured: no test of too few"
fi

for words in "run" "run -c" "run -c $conf more" "run -l loud -c $conf" "fly" ""; do
	# shellcheck disable=SC2086 # words are words
	"$sluice_bin" $words >/dev/null 2>&1
	equal "sluice $words: status 2" $? 2
done
check "help" bash -c "'$sluice_bin' --help | grep -q usage && '$sluice_bin' run --help | grep -q usage"
finish
