#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice-bench as its users have it: figures and their structure, wrong input, no root, and what is
# left after it was killed. Nothing here depends on how fast the machine is.
. "$(dirname "$0")/../e2e/lib.sh"

bench=${SLUICE_BENCH:-$root/build/app/bench/sluice-bench}
[ "$(id -u)" -eq 0 ] || skip_all "needs root for namespaces and BPF"
for tool in ip iptables-legacy-restore iptables-nft-restore python3 setsid; do
	command -v "$tool" >/dev/null || skip_all "needs $tool"
done
[ -x "$bench" ] || skip_all "no $bench: build first"
trap cleanup EXIT
trap 'exit 130' INT TERM
export TMPDIR=$work/tmp
mkdir "$TMPDIR"

# facts FILE 'python expression over d, the JSON'
fact()
{
	python3 - "$1" "$2" <<'PY' 2>&1
import json, sys
d = json.load(open(sys.argv[1]))
s = {x["name"]: x for x in d["scenarios"]}
print(eval(sys.argv[2]))
PY
}

"$bench" run forward idle-hooks --quick --json "$work/a.json" --html "$work/a.html" >"$work/table" 2>"$work/err"
status=$?
cat "$work/table" "$work/err" >"$work/out"
equal "run: status 0" $status 0
if grep -q 'skipped: kernel: ' "$work/table"; then
	skip_all "$(sed -n 's/.*skipped: kernel: //p' "$work/table" | head -1)"
fi
check "the table has both scenarios" grep -qE '^idle-hooks +legacy' "$work/table"
equal "version" "$(fact "$work/a.json" 'd["version"]')" 1
equal "scenarios, the baseline first" "$(fact "$work/a.json" 'list(s)')" "['forward', 'idle-hooks']"
for key in cpu kernel dpdk compiler governor mitigations iptables_nft core time; do
	equal "the machine's $key" "$(fact "$work/a.json" "'$key' in d['machine']")" True
done
equal "sides of idle-hooks" \
	"$(fact "$work/a.json" '[sorted(s["idle-hooks"][k]) for k in ("kernel", "sluice")]')" \
	"[['legacy', 'nft'], ['plain']]"
equal "every side has a figure inside of its interval, from at least 7 rounds" \
	"$(fact "$work/a.json" 'all(v["lo"] <= v["ns"] <= v["hi"] and len(v["rounds"]) >= 7 and v["packets"] > 0
		for x in s.values() for k in ("kernel", "sluice") for v in x[k].values())')" True
equal "a ratio is that of the medians, unless a generator was the limit" \
	"$(fact "$work/a.json" 'all(
		("plain/" + b in x["ratio"]) != (k["generator_bound"] or x["sluice"]["plain"]["generator_bound"])
		and ("plain/" + b not in x["ratio"]
			or abs(x["ratio"]["plain/" + b]["median"] * x["sluice"]["plain"]["ns"] / k["ns"] - 1) < 1e-6)
		for x in s.values() for b, k in x["kernel"].items())')" True
equal "what tables add is there on both sides" \
	"$(fact "$work/a.json" '["added_ns" in s["idle-hooks"][a][b] for a, b in
		(("kernel", "legacy"), ("kernel", "nft"), ("sluice", "plain"))]')" "[True, True, True]"
equal "the page has all it needs" \
	"$(grep -ciE '(src|href)=|@import|url\(' "$work/a.html") $(grep -c '</html>' "$work/a.html")" "0 1"
check "a result compares with itself" "$bench" compare "$work/a.json" "$work/a.json"

# wrong input, before anything is measured
printf 'name: mine\ntraffic: {flows: none}\n' >"$work/mine.yaml"
"$bench" run "$work/mine.yaml" >"$work/said" 2>&1
equal "a broken scenario: status 2" $? 2
check "a broken scenario: file, line and column" \
	grep "^$work/mine.yaml:2:18: found 'none', expected a number" "$work/said"
"$bench" run nobody-knows >"$work/out" 2>&1
equal "an unknown scenario: status 2" $? 2
"$bench" run --rounds 3 forward >"$work/out" 2>&1
equal "too few rounds: status 2" $? 2
echo '{"version": 1, "scenarios": 5}' >"$work/b.json"
"$bench" compare "$work/a.json" "$work/b.json" >"$work/out" 2>&1
equal "a broken result: status 2" $? 2

# a scenario of one's own whose packets die: caught, no figure
printf 'name: mine\ntraffic: {ttl: 1}\n' >"$work/mine.yaml"
"$bench" run "$work/mine.yaml" --quick --json "$work/c.json" >"$work/out" 2>&1
equal "TTL 1: status 1" $? 1
equal "TTL 1: no figure on either side" \
	"$(fact "$work/c.json" '["ns" in s["mine"][k]["plain"] for k in ("kernel", "sluice")] + [s["mine"]["ratio"]]')" \
	"[False, False, {}]"

# rules that sluice does not have: skipped with the reason, the rest runs
printf 'name: mine\nrules: {text: "*filter\\n-A FORWARD -m nosuch -j DROP\\nCOMMIT\\n"}\n' >"$work/mine.yaml"
"$bench" run forward "$work/mine.yaml" --quick --json "$work/d.json" >"$work/out" 2>&1
equal "unknown rules: status 0" $? 0
equal "unknown rules: skipped with file, line and reason, the rest measured" \
	"$(fact "$work/d.json" '"rules:2" in s["mine"]["skipped"] and "ns" in s["forward"]["kernel"]["plain"]')" True

# without root
if setpriv --reuid=65534 --clear-groups test -x "$bench" 2>/dev/null; then
	setpriv --reuid=65534 --clear-groups "$bench" run forward --quick >"$work/said" 2>&1
	equal "without root: status 0" $? 0
	check "without root: skipped with the reason" grep 'forward: skipped: kernel: .*root is needed' "$work/said"
fi

# state on the kernel's side: flows are opened and answered, and forgotten between rounds of new ones
printf 'name: mine\ntraffic: {flows: 200, state: %s, protocol: %s, family: %s}\nrules: {text: "%s"}\n' \
	established tcp 4 '*filter\n:FORWARD DROP [0:0]\n-A FORWARD -m conntrack --ctstate ESTABLISHED -j ACCEPT\n-A FORWARD -i in -m conntrack --ctstate NEW -j ACCEPT\nCOMMIT\n' >"$work/mine.yaml"
sed 's/name: mine/name: new/; s/established/new/' "$work/mine.yaml" >"$work/new.yaml"
sed 's/name: mine/name: six/; s/family: 4/family: 6/' "$work/mine.yaml" >"$work/six.yaml"
# dropped unless it is established: a flow that nobody answered has no figure
sed 's/name: mine/name: unanswered/; s/established/none/; s/ -A FORWARD -i in.*ACCEPT.nCOMMIT/COMMIT/' \
	"$work/mine.yaml" | sed 's/-A FORWARD -i in -m conntrack --ctstate NEW -j ACCEPT.n//' >"$work/unanswered.yaml"
"$bench" run "$work/mine.yaml" "$work/new.yaml" "$work/six.yaml" "$work/unanswered.yaml" --kernel-only \
	--time 0.02 --rounds 7 --json "$work/e.json" >"$work/out" 2>&1
equal "state: figures of established and of new flows, in both families" \
	"$(fact "$work/e.json" '["ns" in s[n]["kernel"]["legacy"] for n in ("mine", "new", "six")]')" \
	"[True, True, True]"
equal "state: none where nobody answered" \
	"$(fact "$work/e.json" 's["unanswered"]["kernel"]["legacy"].get("fault")')" \
	"64 packets entered, 0 left"

# sizes and a capture
cat >"$work/imix.yaml" <<EOF
name: mix
traffic: {size: imix, flows: 5}
EOF
python3 - "$work/three.pcap" <<'PY'
import struct, sys
def frame(n, ttl):
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + n, 0, 0, ttl, 17, 0, bytes([192, 0, 2, 1]), bytes([198, 51, 100, 1]))
    s = sum(struct.unpack(">10H", ip)); s = (s & 0xffff) + (s >> 16); s = (s & 0xffff) + (s >> 16)
    ip = ip[:10] + struct.pack(">H", 0xffff - s) + ip[12:]
    return b"\2\0\0\0\0\7\2\0\0\0\0\10\10\0" + ip + struct.pack(">HHHH", 7, 9, 8 + n, 0) + bytes(range(n % 251)) .ljust(n, b"x")
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for n, ttl in ((3, 9), (700, 64), (1400, 33), (5, 1)):
        p = frame(n, ttl)
        f.write(struct.pack("<IIII", 0, 0, len(p), len(p)) + p)
PY
printf 'name: capture\ntraffic: {pcap: three.pcap}\n' >"$work/capture.yaml"
"$bench" run "$work/imix.yaml" "$work/capture.yaml" --time 0.02 --rounds 7 --json "$work/f.json" >"$work/out" 2>&1
equal "a mix of sizes and a capture: the same packets leave both sides" \
	"$(fact "$work/f.json" '["ns" in s[n][k]["plain"] for n in ("mix", "capture") for k in ("kernel", "sluice")]')" \
	"[True, True, True, True]"
equal "the capture: what no router passes on is left out, and told" \
	"$(fact "$work/f.json" '[s["capture"]["traffic"]["flows"], any("1 frames" in n for n in s["capture"]["notes"])]')" \
	"[3, True]"

"$bench" experiment >"$work/out" 2>&1
equal "experiment without a name: status 2" $? 2
check "an experiment" "$bench" experiment idle-hooks --time 0.02 --rounds 7
if command -v iperf3 >/dev/null && command -v ping >/dev/null; then
	"$bench" live --time 1 --json "$work/live.json" >"$work/out" 2>&1
	equal "live: status 0" $? 0
	equal "live: every router has every figure, or a reason" \
		"$(python3 - "$work/live.json" <<'PY' 2>&1
import json, sys
d = json.load(open(sys.argv[1]))["live"]
print(sorted(d), all("skipped" in v or (v["ping"]["received"] > 0 and v["tcp"]["mbit_s"] > 0
	and v["udp"]["mbit_s"] > 0 and len(v["messages"]) == 9) for v in d.values()), "skipped" in d["kernel"])
PY
)" "['af_packet', 'af_xdp', 'kernel'] True False"
else
	echo "# no iperf3 or ping: live is not tested"
fi

# killed at moments that nobody chose: its processes end, and with them all that they made
left_behind()
{
	pgrep -s "$1"
	grep -lz "^SLUICE_BENCH_TEST=$$\$" /proc/[0-9]*/environ 2>/dev/null
	find "$TMPDIR" -mindepth 1
	find /run/dpdk -name "*$1*" 2>/dev/null
	ip -o link | grep -E ' (in|out)-peer[:@]'
	find /sys/fs/bpf -name 'live*' 2>/dev/null
}
nothing_left() { [ -z "$(left_behind "$1")" ]; }
sed "s/name: mine/name: aaa/; s/flows: 200/flows: 300000/" "$work/mine.yaml" >"$work/many.yaml"
seed=$((RANDOM))
echo "# seed $seed"
RANDOM=$seed
max=$(cat /proc/sys/net/netfilter/nf_conntrack_max 2>/dev/null)
for signal in KILL INT KILL TERM INT; do
	moment=$(printf '%d.%03d' $((RANDOM % 3)) $((RANDOM % 1000)))
	# a shell's background jobs ignore SIGINT, which those in the foreground do not
	SLUICE_BENCH_TEST=$$ setsid python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' \
		"$bench" run "$work/many.yaml" idle-hooks linear-1k --kernel-only >/dev/null 2>&1 &
	pid=$!
	sleep "$moment"
	# or the check below would see nothing, whatever is there
	[ -n "$(left_behind $pid)" ]
	report "it runs until it is killed" $?
	kill -$signal $pid
	wait $pid 2>/dev/null
	wait_for 20 nothing_left $pid
	status=$?
	left_behind $pid >"$work/out"
	report "SIG$signal after $moment s: nothing is left" $status
	equal "SIG$signal: nf_conntrack_max is what it was" \
		"$(cat /proc/sys/net/netfilter/nf_conntrack_max 2>/dev/null)" "$max"
done
finish
