#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Plug-ins as a stranger builds them: from what is installed alone, by their own meson.build; right ones
# work, and wrong ones are refused with what was found and what was expected.
# usage: plugin_test.sh BUILD SOURCE
set -eu

root=$(mktemp -d "${TMPDIR:-/tmp}/sluice-plugin.XXXXXX")
trap 'rm -rf "$root"' EXIT
fail()
{
	echo "$*"
	exit 1
}

# refused "what" pattern command...: the command fails, and its words have the pattern
refused()
{
	local what=$1 pattern=$2

	shift 2
	"$@" >"$root/said" 2>&1 && fail "$what: not refused"
	grep -q -- "$pattern" "$root/said" || fail "$what: $(cat "$root/said"), expected $pattern"
}

DESTDIR=$root/tree meson install -C "$1" --no-rebuild --quiet >"$root/log" 2>&1 || fail "$(cat "$root/log")"
pc=$(find "$root/tree" -name sluice.pc)
[ -s "$pc" ] || fail "sluice.pc is missing"
sed -i "s|^prefix=|prefix=$root/tree|" "$pc"
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
bin=$(dirname "$(find "$root/tree" -name sluice-bench -type f -perm -1)")

# build EXAMPLE [sed script]: as it is, or spoiled
build()
{
	local to
	to=$(mktemp -d "$root/src.XXXXXX")
	cp "$source"/examples/"$1"/* "$to"
	[ $# -lt 2 ] || sed -i "$2" "$to"/*.c
	# a spoiled one may well warn
	[ $# -lt 2 ] && strict=true || strict=false
	{ meson setup "-Dwerror=$strict" "$to/build" "$to" && ninja -C "$to/build"; } >"$root/log" 2>&1 ||
		fail "$1: $(cat "$root/log")"
	so=$(echo "$to"/build/*.so)
}

source=$2
build syn-limit
stage=$so
build sorted-engine
engine=$so

# conf PLUGIN [line...]
conf()
{
	cat >"$root/sluice.yaml" <<-END
		ports:
		  - {name: a, device: net_null0, mac: "02:00:00:00:00:01", addresses: [10.0.0.1/24]}
		  - {name: b, device: net_null1, mac: "02:00:00:00:00:02", addresses: [10.1.0.1/24]}
		neighbours: [{port: b, ip: 10.1.0.2, mac: "02:00:00:00:01:02"}]
		plugins: [$1]
	END
	shift
	printf '%s\n' "$@" >>"$root/sluice.yaml"
}
check() { "$bin/sluice" check -c "$root/sluice.yaml"; }

printf '*filter\n:FORWARD ACCEPT\n-A FORWARD -p tcp --dport 81 -j DROP\nCOMMIT\n' >"$root/rules.v4"
conf "$stage, $engine" 'pipeline: [{hook: prerouting, stage: syn-limit, rate: 1, burst: 5}]' \
	'firewall: {engine: sorted, iptables: rules.v4}'
check >"$root/said" 2>&1 || fail "check: $(cat "$root/said")"

# 20 SYNs at once of one source, 3 of another, and 2 for the rule
python3 - "$root/in.pcap" <<'END'
import struct, sys
def ones(b):
    s = sum(struct.unpack('!%dH' % (len(b) // 2), b))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff
def syn(src, dport):
    ip = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 40, 1, 0, 64, 6, 0, bytes(src), bytes((10, 1, 0, 2)))
    ip = ip[:10] + struct.pack('!H', ones(ip)) + ip[12:]
    tcp = struct.pack('!HHIIBBHHH', 1000, dport, 1, 0, 0x50, 2, 1000, 0, 0)
    pseudo = ip[12:20] + struct.pack('!HH', 6, 20)
    tcp = tcp[:16] + struct.pack('!H', ones(pseudo + tcp)) + tcp[18:]
    return bytes.fromhex('020000000001020000000009' '0800') + ip + tcp
with open(sys.argv[1], 'wb') as f:
    f.write(struct.pack('<IHHIIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for i, p in enumerate([syn((10, 0, 0, 5), 80)] * 20 + [syn((10, 0, 0, 6), 80)] * 3
                          + [syn((10, 0, 0, 7), 81)] * 2):
        f.write(struct.pack('<IIII', 1000, i, len(p), len(p)) + p)
END
mkdir "$root/out"
"$bin/sluice" replay -q -c "$root/sluice.yaml" -i a="$root/in.pcap" -o "$root/out" --json "$root/json" \
	>"$root/said" 2>&1 || fail "replay: $(cat "$root/said")"
# 24 bytes of header, and 16 and 54 for each frame
[ "$(stat -c %s "$root/out/b.pcap")" -eq $((24 + 8 * 70)) ] || fail "not 8 packets passed: $(cat "$root/json")"
grep -q '"stage_drop": *15' "$root/json" || fail "not 15 SYNs were dropped: $(cat "$root/json")"
grep -q '"rule_drop": *2' "$root/json" || fail "not 2 packets met the rule: $(cat "$root/json")"

conf "$stage" 'pipeline: [{hook: prerouting, stage: syn-limit, rate: 0}]'
refused "a rate of 0" "sluice.yaml:6:.*found '0', expected" check
conf "$stage" 'pipeline: [{hook: output, stage: syn-limit, rate: 1}]'
refused "a hook that is none of its" "sluice.yaml:6:.*may not stand in hook output" check
conf "$stage" 'firewall: {engine: sorted}'
refused "an engine that is not there" "sluice.yaml:6:.*found 'sorted', expected one of auto, linear" check
conf "$root/rules.v4"
refused "no shared object" "sluice.yaml:5:.*rules.v4.*expected a plug-in" check
conf "$root/nothing.so"
refused "no file" "sluice.yaml:5:.*nothing.so.*expected a plug-in" check
build syn-limit 's/SL_PLUGIN_HEADER,/SL_PLUGIN_HEADER, .stage_api_version = 99,/'
conf "$so"
refused "another API" "sluice.yaml:5:.*found API versions 1, 99, 1 .*expected 1, 1, 1" check
build syn-limit 's/sl_plugin = {/something_else = {/;s/^const struct sl_plugin something_else/extern const struct sl_plugin something_else; &/'
conf "$so"
refused "no symbol" "sluice.yaml:5:.*found no symbol sl_plugin, expected one" check
build sorted-engine 's/\.name = "sorted",$/.name = "linear",/'
conf "$so"
refused "a name that is taken" "sluice.yaml:5:.*engine 'linear' is there already" check

# an engine that forgets where to begin gets no figure
build sorted-engine 's/r->label >= from && //'
refused "a wrong engine" "random rules: engine sorted.* from label .*found label .*, expected" \
	"$bin/sluice-bench" run --quick --engine "$so" linear-10
# one that is wrong only where many rules are is found with the scenario's own
build sorted-engine 's/out\[i\] = search(s, REST.*/& if (cls->n > 1000) out[i] = s->rules[0].label;/'
case $("$bin/sluice-bench" run --quick --kernel-only linear-10 2>&1) in
*skipped*) echo "SKIP: the kernel cannot be measured here, so no engine beside it" ;;
*)
	refused "an engine that is wrong with many rules" "engine sorted is not measured: engine sorted, " \
		"$bin/sluice-bench" run --quick --rounds 7 --time 0.01 --engine "$so" linear-10k
	grep -q '^ *legacy .* sorted ' "$root/said" && fail "a wrong engine has a figure: $(cat "$root/said")"
	"$bin/sluice-bench" run --quick --rounds 7 --time 0.01 --engine "$engine" linear-10 >"$root/said" 2>&1 ||
		fail "sluice-bench: $(cat "$root/said")"
	grep -q ' sorted ' "$root/said" || fail "the engine has no figure: $(cat "$root/said")"
	;;
esac
