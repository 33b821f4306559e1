#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A port with a VLAN beside an untagged one on the same device: tags are seen on the way in and are
# there on the way out, whoever may have taken them off or put them beside the packet.
. "$(dirname "$0")/lib.sh"

need python3 ethtool
topology
write_conf
sed -i '/^control/i\  - {name: guests, parent: wan, vlan: 7, addresses: [10.5.0.1/24]}' "$conf"
[ "$port_kind" = af_xdp ] && in_r ethtool -K r0 rxvlan off
start

# the kernel may have no VLAN devices, so a small host is played here: untagged or tagged frames
cat >"$work/host.py" <<'PY'
import socket, struct, sys, time

PACKET_AUXDATA = 8
tag, me, peer, router = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.setsockopt(263, PACKET_AUXDATA, 1)
s.bind(("c0", 3))
mac = s.getsockname()[4]
ip = socket.inet_aton

def csum(b):
    n = sum(struct.unpack("!%dH" % (len(b) // 2), b))
    n = (n & 0xffff) + (n >> 16)
    return ~((n & 0xffff) + (n >> 16)) & 0xffff

def send(dst, ethertype, payload):
    t = struct.pack("!HH", 0x8100, tag) if tag else b""
    s.send(dst + mac + t + struct.pack("!H", ethertype) + payload)

def receive(want):
    end = time.time() + 2
    while time.time() < end:
        s.settimeout(max(0.01, end - time.time()))
        try:
            data, aux, _, addr = s.recvmsg(2048, 64)
        except TimeoutError:
            break
        if addr[2] == 4:
            continue  # our own
        vid = 0
        if data[12:14] == b"\x81\x00":
            vid = struct.unpack("!H", data[14:16])[0] & 0xfff
            data = data[:12] + data[16:]
        for level, kind, value in aux:
            status, _, _, _, _, tci, _ = struct.unpack("IIIHHHH", value)
            if status & 0x10:
                vid = tci & 0xfff
        if vid == tag and want(data):
            return data
    sys.exit("nothing came with tag %d" % tag)

send(b"\xff" * 6, 0x0806, struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + mac + ip(me) + bytes(6) + ip(router))
reply = receive(lambda d: d[12:14] == b"\x08\x06" and d[20:22] == b"\0\2" and d[28:32] == ip(router))
router_mac = reply[22:28]
icmp = struct.pack("!BBHHH", 8, 0, 0, tag + 1, 1) + b"sluice--" * 4
icmp = icmp[:2] + struct.pack("!H", csum(icmp)) + icmp[4:]
header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(icmp), 1, 0, 64, 1, 0) + ip(me) + ip(peer)
header = header[:10] + struct.pack("!H", csum(header)) + header[12:]
send(router_mac, 0x0800, header + icmp)
receive(lambda d: d[12:14] == b"\x08\0" and d[26:30] == ip(peer) and d[34] == 0 and d[42:] .startswith(b"sluice--"))
PY

check "tagged: the router answers" in_c python3 "$work/host.py" 7 10.5.0.2 10.5.0.1 10.5.0.1
check "tagged: the server behind answers" in_c python3 "$work/host.py" 7 10.5.0.2 10.1.0.2 10.5.0.1
check "untagged beside it" in_c ping -q -c 2 -i 0.05 -W 2 10.1.0.2
equal "no tag was unexpected" "$(dropped vlan_unexpected)" 0
in_c timeout 5 python3 "$work/host.py" 8 10.5.0.2 10.5.0.1 10.5.0.1 2>/dev/null
at_least "another tag is dropped by name" "$(dropped vlan_unexpected)" 1
check "ports are counted apart" bash -c "'$sluicectl_bin' -s '$socket' -j ports | grep -A 30 guests | grep '\"vlan\": 7'"
stop
finish
