#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The other kinds of ports: taps that are moved to client and server, two routers joined by memif,
# captures, rings.
. "$(dirname "$0")/lib.sh"

need python3
topology

# taps: the kernel's end is the host itself
cat >"$conf" <<EOF
hugepages: off
ports:
  - {name: wan, device: "net_tap0,iface=t0", addresses: [10.0.0.1/24, "fd00::1/64"]}
  - {name: lan, device: "net_tap1,iface=t1", addresses: [10.1.0.1/24, "fd01::1/64"]}
control: {socket: $socket}
EOF
start
for end in "$ns_c c0 t0 10.0.0.2 fd00::2" "$ns_s s0 t1 10.1.0.2 fd01::2"; do
	read -r ns old tap address address6 <<<"$end"
	ip -n "$ns" addr flush dev "$old"
	ip -n "$ns" link set "$old" down
	ip -n "$ns_r" link set "$tap" netns "$ns"
	ip -n "$ns" link set "$tap" up
	ip -n "$ns" addr add "$address/24" dev "$tap"
	ip -n "$ns" addr add "$address6/64" dev "$tap" nodad
done
ip -n "$ns_c" route replace default via 10.0.0.1
ip -n "$ns_s" route replace default via 10.1.0.1
ip -n "$ns_c" -6 route replace default via fd00::1 dev t0
ip -n "$ns_s" -6 route replace default via fd01::1 dev t1
check "net_tap: ping" in_c ping -q -c 3 -i 0.05 -W 2 10.1.0.2
check "net_tap: ping6" in_c ping -q -c 3 -i 0.05 -W 2 fd01::2
check "net_tap: ping in fragments" in_c ping -q -c 2 -i 0.05 -W 2 -s 4000 10.1.0.2
if command -v iperf3 >/dev/null; then
	iperf_server
	iperf "net_tap: TCP" -c 10.1.0.2
fi
stop

# captures: an ARP request goes in, the answer comes out
python3 - "$work/in.pcap" <<'PY'
import struct, sys
frame = b"\xff" * 6 + b"\2\0\0\0\0\x55" + b"\x08\x06" + struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1)
frame += b"\2\0\0\0\0\x55" + bytes([10, 0, 0, 2]) + bytes(6) + bytes([10, 0, 0, 1])
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    f.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
PY
cat >"$conf" <<EOF
hugepages: off
ports:
  - {name: wan, device: "net_pcap0,rx_pcap=$work/in.pcap,tx_pcap=$work/out.pcap",
     addresses: [10.0.0.1/24], mac: "02:00:00:00:00:01"}
  - {name: loop, device: "net_ring0", addresses: [10.2.0.1/24]}
control: {socket: $socket}
EOF
start
sleep 0.3
equal "net_pcap and net_ring are up" "$(ctl -j ports | grep -c '"up": true')" 2
stop
check "net_pcap: the answer is in the capture" python3 - "$work/out.pcap" <<'PY'
import sys
data = open(sys.argv[1], "rb").read()
sys.exit(b"\x08\x06\0\1\x08\0\6\4\0\2\2\0\0\0\0\1" not in data)
PY

# two routers in a row: client - first - memif - second - server
ip -n "$ns_c" link set t0 down 2>/dev/null
ip -n "$ns_c" link set c0 up
ip -n "$ns_s" link set s0 up
ip -n "$ns_c" addr replace 10.0.0.2/24 dev c0
ip -n "$ns_s" addr replace 10.1.0.2/24 dev s0
ip -n "$ns_c" route replace default via 10.0.0.1
ip -n "$ns_s" route replace default via 10.1.0.1
port_kind=af_packet
cat >"$work/second.yaml" <<EOF
hugepages: off
ports:
  - {name: lan, device: "net_af_packet0,iface=r1", addresses: [10.1.0.1/24]}
  - {name: up, device: "net_memif0,role=client,id=1,socket=$work/memif.sock,socket-abstract=no",
     addresses: [10.3.0.2/24], mac: "02:00:00:00:03:02"}
routes: [{to: 10.0.0.0/24, via: 10.3.0.1}]
control: {socket: $work/second.sock}
EOF
cat >"$conf" <<EOF
hugepages: off
ports:
  - {name: wan, device: "net_af_packet0,iface=r0", addresses: [10.0.0.1/24]}
  - {name: down, device: "net_memif0,role=server,id=1,socket=$work/memif.sock,socket-abstract=no",
     addresses: [10.3.0.1/24], mac: "02:00:00:00:03:01"}
routes: [{to: 10.1.0.0/24, via: 10.3.0.2}]
control: {socket: $socket}
EOF
start
helper "$ns_r" "$sluice_bin" run -c "$work/second.yaml"
wait_for 10 grep -q ' sluice: ready' "$work/helper"
report "net_memif: the second router starts" $?
check "net_memif: both ends are up" wait_for 5 grep -q 'down: link up' "$log"
check "net_memif: ping through two routers" wait_for 5 in_c ping -q -c 3 -i 0.05 -W 2 10.1.0.2
"$sluicectl_bin" -s "$work/second.sock" stop >/dev/null
wait "$helper_pid"
equal "net_memif: the second router stops with status 0" $? 0
check "net_memif: the link goes down with the peer" wait_for 5 grep -q 'down: link down' "$log"
stop
finish
