# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Common parts of the end-to-end tests: three namespaces in a row, a client, the router with sluice
# in it, and a server, joined by veth pairs. Prints TAP. Usage of a test: NAME.sh af_xdp|af_packet
#
#   client c0 10.0.0.2 fd00::2 --- r0 10.0.0.1 fd00::1 (wan) sluice (lan) 10.1.0.1 fd01::1 r1 ---
#       s0 10.1.0.2 fd01::2 server
#
# Everything is named after the test's process id and goes away with it.
set -u

port_kind=${1:-af_packet}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sluice_bin=${SLUICE:-$root/build/app/sluice/sluice}
sluicectl_bin=${SLUICECTL:-$root/build/app/sluicectl/sluicectl}
tag=$$
ns_c=slc$tag
ns_r=slr$tag
ns_s=sls$tag
work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-e2e.XXXXXX")
export RUNTIME_DIRECTORY=$work # DPDK's files
conf=$work/sluice.yaml
socket=$work/control.sock
log=$work/log
sluice_pid=
helper_pid=
n_checks=0
n_failed=0

in_c() { ip netns exec "$ns_c" "$@"; }
in_r() { ip netns exec "$ns_r" "$@"; }
in_s() { ip netns exec "$ns_s" "$@"; }
ctl() { "$sluicectl_bin" -s "$socket" "$@"; }

cleanup()
{
	trap - EXIT INT TERM
	# the shell need not say whom it killed
	exec 2>/dev/null
	for ns in "$ns_c" "$ns_r" "$ns_s"; do
		# everything that was started in there, whoever started it
		ip netns pids "$ns" 2>/dev/null | xargs -r kill -9 2>/dev/null
	done
	wait 2>/dev/null
	for ns in "$ns_c" "$ns_r" "$ns_s"; do
		ip netns del "$ns" 2>/dev/null
	done
	rm -rf "$work"
}

skip_all()
{
	echo "1..0 # SKIP $1"
	rm -rf "$work"
	exit 0
}

# result of the last command as one check: report "what was checked" [0 = good]
report()
{
	local status=${2:-0}

	n_checks=$((n_checks + 1))
	if [ "$status" -eq 0 ]; then
		echo "ok $n_checks - $1"
	else
		n_failed=$((n_failed + 1))
		echo "not ok $n_checks - $1"
		[ -f "$work/out" ] && sed 's/^/# /' "$work/out" | tail -20
	fi
	rm -f "$work/out"
}

# check "what" command...: the command succeeds
check()
{
	local what=$1

	shift
	"$@" >"$work/out" 2>&1
	report "$what" $?
}

# equal "what" found expected
equal()
{
	[ "$2" = "$3" ]
	local status=$?

	[ $status -eq 0 ] || echo "found '$2', expected '$3'" >"$work/out"
	report "$1" $status
}

# at_least "what" found minimum (whole numbers)
at_least()
{
	[ "${2:-0}" -ge "$3" ]
	local status=$?

	[ $status -eq 0 ] || echo "found '$2', expected at least $3" >"$work/out"
	report "$1" $status
}

finish()
{
	if [ $n_failed -gt 0 ] && [ -f "$log" ]; then
		sed 's/^/# log: /' "$log" | tail -40
	fi
	echo "1..$n_checks"
	cleanup
	[ $n_failed -eq 0 ]
	exit
}

need()
{
	local tool

	[ "$(id -u)" -eq 0 ] || skip_all "needs root for namespaces"
	for tool in ip ping "$@"; do
		command -v "$tool" >/dev/null || skip_all "needs $tool"
	done
	[ -x "$sluice_bin" ] || skip_all "no $sluice_bin: build first"
}

# namespaces, links, addresses and routes of client and server
topology()
{
	trap cleanup EXIT
	trap 'exit 130' INT TERM
	for ns in "$ns_c" "$ns_r" "$ns_s"; do
		ip netns add "$ns" || skip_all "cannot make namespaces"
		ip -n "$ns" link set lo up
	done
	ip link add c0 netns "$ns_c" type veth peer name r0 netns "$ns_r"
	ip link add s0 netns "$ns_s" type veth peer name r1 netns "$ns_r"
	# the kernel of the router's namespace must not answer beside sluice
	in_r sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	ip -n "$ns_r" link set r0 up
	ip -n "$ns_r" link set r1 up
	ip -n "$ns_c" addr add 10.0.0.2/24 dev c0
	ip -n "$ns_s" addr add 10.1.0.2/24 dev s0
	ip -n "$ns_c" addr add fd00::2/64 dev c0 nodad
	ip -n "$ns_s" addr add fd01::2/64 dev s0 nodad
	ip -n "$ns_c" link set c0 up
	ip -n "$ns_s" link set s0 up
	client_routes
	server_routes
}

client_routes()
{
	ip -n "$ns_c" route replace default via 10.0.0.1
	ip -n "$ns_c" -6 route replace default via fd00::1 dev c0
}

server_routes()
{
	ip -n "$ns_s" route replace default via 10.1.0.1
	ip -n "$ns_s" -6 route replace default via fd01::1 dev s0
}

# write_conf [further lines]; $workers, $mtu, $wan_more and $lan_more may be set
write_conf()
{
	cat >"$conf" <<EOF
workers: ${workers:-1}
hugepages: off
ports:
  - {name: wan, device: "net_${port_kind}0,iface=r0${wan_more:-}", mtu: ${mtu:-1500},
     addresses: [10.0.0.1/24, "fd00::1/64"]}
  - {name: lan, device: "net_${port_kind}1,iface=r1${lan_more:-}", mtu: ${mtu:-1500},
     addresses: [10.1.0.1/24, "fd01::1/64"]}
control: {socket: $socket}
EOF
	printf '%s\n' "$@" >>"$conf"
}

# until command..: try for at most $1 seconds
wait_for()
{
	local end=$(($(date +%s%N) + $1 * 1000000000))

	shift
	while ! "$@" >/dev/null 2>&1; do
		[ "$(date +%s%N)" -lt "$end" ] || return 1
		sleep 0.02
	done
}

is_ready() { grep -q ' sluice: ready' "$log"; }

# runs sluice in the background; further arguments stand in front of it (setpriv ...)
start()
{
	: >"$log"
	# not in_r: a function would put a shell between
	ip netns exec "$ns_r" "$@" "$sluice_bin" run -c "$conf" -l info >"$log" 2>&1 &
	sluice_pid=$!
	wait_for 10 is_ready
	report "sluice starts" $?
	# nothing below would say more
	[ $n_failed -eq 0 ] || is_ready || finish
}

# ends it, which must go well: exit status 0, balance checked
stop()
{
	ctl stop >/dev/null 2>&1
	wait "$sluice_pid"
	equal "sluice stops with status 0" $? 0
	sluice_pid=
	check "the balance holds at the end" grep -q 'the balance holds' "$log"
}

# helper NAMESPACE command...: a program in the background that ends with the test at the latest;
# its output goes to $work/helper, its process id to $helper_pid
helper()
{
	ip netns exec "$@" >"$work/helper" 2>&1 &
	# shellcheck disable=SC2034 # for the test
	helper_pid=$!
}

# integer field of a JSON answer: json_number FIELD command... ; of the first object that has it
json_number()
{
	local field=$1

	shift
	ctl -j "$@" | sed -n "s/^ *\"$field\": \([-0-9]*\),*\$/\1/p" | head -1
}

# packets dropped for a reason, over all ports
dropped()
{
	local n

	n=$(ctl -j drops | grep -A 1 "\"reason\": \"$1\"" | sed -n 's/^ *"packets": \([0-9]*\).*/\1/p')
	echo "${n:-0}"
}

# losses PING_OUTPUT_FILE: packets sent minus packets received
losses()
{
	sed -n 's/^\([0-9]*\) packets transmitted, \([0-9]*\) received.*/\1 \2/p' "$1" | {
		read -r sent received || { echo 999999; return; }
		echo $((sent - received))
	}
}

# blast HOST N: N small datagrams from the client, as fast as it can but for a rest now and then
blast()
{
	in_c python3 - "$1" "$2" <<'PY'
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(int(sys.argv[2])):
    s.sendto(b"sluice", (sys.argv[1], 9))
    if i % 100 == 99:
        time.sleep(0.001)
PY
	sleep 0.1
}

iperf_server()
{
	ip netns exec "$ns_s" iperf3 -s >/dev/null 2>&1 &
	# not by a connection, which it would take for a client
	wait_for 5 in_s bash -c 'ss -Hltn | grep -q :5201'
}

# iperf description arguments...: some bytes arrive; prints the rate as a comment
iperf()
{
	local what=$1
	local rate

	shift
	[[ " $* " == *" -n "* ]] || set -- "$@" -t 1
	in_c timeout 20 iperf3 --connect-timeout 3000 -f m "$@" >"$work/iperf" 2>&1
	local status=$?

	rate=$(sed -n 's/.* \([0-9.]*\) Mbits\/sec.*receiver.*/\1/p' "$work/iperf" | tail -1)
	cp "$work/iperf" "$work/out"
	[ $status -eq 0 ] && [ "${rate%.*}" -gt 0 ] 2>/dev/null
	report "$what: ${rate:-no} Mbit/s" $?
}
