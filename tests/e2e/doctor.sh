#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice doctor`: what it says of this machine and of a configuration.
. "$(dirname "$0")/lib.sh"

need python3 setpriv
topology
write_conf
doctor() { in_r "$@" >"$work/said" 2>&1; }
# the status of a check in what was said last
status_of() { sed -n "s/^\([a-z]*\)  *$1  .*/\1/p" "$work/said" | head -1; }

doctor "$sluice_bin" doctor -c "$conf"
equal "nothing fails here: status 0" $? 0
equal "lines and sum agree" "$(grep -c '^\(ok\|warn\|fail\)  ' "$work/said")" \
	"$(sed -n 's/^\([0-9]*\) ok, \([0-9]*\) warnings, \([0-9]*\) failures$/\1 \2 \3/p' "$work/said" |
		awk '{ print $1 + $2 + $3 }')"
for check in cpu tsc cpus isolation governor hugepages privileges memlock nics iommu vfio af_xdp config port memory; do
	at_least "it looks at $check" "$(grep -c "^[a-z]*  *$check  " "$work/said")" 1
done
check "each warning says what to do" bash -c "awk '/^(warn|fail)/ { open = 1; next } open && !/^ *-> ./ { exit 1 } { open = 0 }' '$work/said'"
equal "two ports that are up" "$(grep -c '^ok  *port  .* is up$' "$work/said")" 2
ip -n "$ns_r" link set r0 down
ip -n "$ns_r" addr add 10.9.9.1/24 dev r1
doctor "$sluice_bin" doctor -c "$conf"
equal "a port that is down is no failure" $? 0
check "but a warning with its command" grep -q -- '-> ip link set r0 up' "$work/said"
check "as is an address of the kernel's" grep -q -- '-> ip addr flush dev r1' "$work/said"
sed -i 's/iface=r0/iface=r7/' "$conf"
doctor "$sluice_bin" doctor -c "$conf"
equal "an interface that is not there: status 1" $? 1
check "and what is there" grep -q "fail  *port  .*no interface 'r7' here; there are:.*r1" "$work/said"
sed -i 's/mtu/mut/' "$conf"
doctor "$sluice_bin" doctor -c "$conf"
equal "a wrong configuration: status 1" $? 1
check "with its place" grep -q "fail  *config  .*sluice.yaml:4:.*unknown key 'mut'" "$work/said"
doctor setpriv --bounding-set=-all --inh-caps=-all "$sluice_bin" doctor
equal "without privileges: status 1" $? 1
equal "and that is said" "$(status_of privileges)" fail
in_r "$sluice_bin" doctor -j >"$work/json"
check "JSON" python3 - "$work/json" <<'PY'
import json, sys
for f in json.load(open(sys.argv[1])):
    assert f["status"] in ("ok", "warn", "fail") and f["check"] and f["found"], f
    assert f["status"] == "ok" or f["do"], f
PY
doctor "$sluice_bin" doctor nonsense
equal "wrong use: status 2" $? 2
finish
