#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Without root: an ordinary user with CAP_NET_RAW and CAP_NET_ADMIN, no hugepages.
. "$(dirname "$0")/lib.sh"

need setpriv
[ "$port_kind" = af_packet ] || skip_all "AF_XDP also needs CAP_BPF and locked memory"
topology
write_conf
chmod 755 "$work"
mkdir -m 777 "$work/run"
socket=$work/run/control.sock
write_conf
caps=+net_raw,+net_admin
start setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set "-all,$caps" \
	--inh-caps "-all,$caps" --ambient-caps "-all,$caps" env XDG_RUNTIME_DIR="$work/run"
equal "it runs as nobody" "$(awk '/^Uid/ { print $2 }' "/proc/$(json_number pid status)/status")" 65534
check "ping" in_c ping -q -c 3 -i 0.05 -W 2 10.1.0.2
check "ping6" in_c ping -q -c 3 -i 0.05 -W 2 fd01::2
stop
finish
