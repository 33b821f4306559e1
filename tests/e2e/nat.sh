#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A LAN behind MASQUERADE, as a home router has it: what people do with it, by one worker and by two.
# The client's side (port wan of lib.sh, 10.0.0.0/24) is the LAN, the server's side is the Internet.
. "$(dirname "$0")/lib.sh"

rules=$work/rules.v4

need python3 traceroute curl iperf3
for tool in vsftpd in.tftpd; do
	PATH=$PATH:/usr/sbin command -v $tool >/dev/null || skip_all "needs $tool"
done
topology
# nobody out there has a route to the LAN
ip -n "$ns_s" route del default
ip -n "$ns_s" addr add 10.1.0.3/24 dev s0
# nor may it tell only the first few probes of a traceroute that it is there
in_s sysctl -qw net.ipv4.icmp_ratelimit=0

cat >"$rules" <<'END'
*raw
-A PREROUTING -p tcp --dport 21 -j CT --helper ftp
-A PREROUTING -p udp --dport 69 -j CT --helper tftp
COMMIT
*nat
-A PREROUTING -d 10.1.0.1 -p tcp --dport 8080 -j DNAT --to-destination 10.0.0.2:80
-A PREROUTING -d 10.1.0.1 -p tcp --dport 2121 -j DNAT --to-destination 10.0.0.2:21
-A POSTROUTING -o lan -j MASQUERADE
-A POSTROUTING -s 10.0.0.0/24 -o wan -j MASQUERADE
COMMIT
*filter
:INPUT DROP
:FORWARD DROP
-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A INPUT -i wan -p icmp -j ACCEPT
-A FORWARD -m conntrack --ctstate INVALID -j DROP
-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A FORWARD -m conntrack --ctstate DNAT -j ACCEPT
-A FORWARD -i wan -j ACCEPT
COMMIT
END

mkdir "$work/www" "$work/ftp"
head -c 300000 /dev/urandom >"$work/www/file"
cp "$work/www/file" "$work/ftp/file"
chmod -R a+rX "$work"
chmod 755 "$work"
chmod 555 "$work/ftp"

# serve NAMESPACE: HTTP at 80, FTP at 21
serve()
{
	ip netns exec "$1" python3 -m http.server 80 -d "$work/www" >/dev/null 2>&1 &
	ip netns exec "$1" /usr/sbin/vsftpd "$work/vsftpd.conf" >/dev/null 2>&1 &
	wait_for 5 ip netns exec "$1" bash -c 'ss -Hltn | grep -q :80 && ss -Hltn | grep -q :21'
	report "HTTP and FTP are served in $1" $?
}

cat >"$work/vsftpd.conf" <<END
listen=YES
background=NO
anonymous_enable=YES
local_enable=NO
anon_root=$work/ftp
ftp_username=ftp
secure_chroot_dir=/var/empty
connect_from_port_20=YES
seccomp_sandbox=NO
isolate_network=NO
END
mkdir -p /var/empty

# fetch "what" NAMESPACE curl-arguments...: the file arrives whole
fetch()
{
	local what=$1 ns=$2

	shift 2
	rm -f "$work/got"
	ip netns exec "$ns" curl -sS -m 10 -o "$work/got" "$@" >"$work/out" 2>&1
	cmp -s "$work/got" "$work/www/file"
	report "$what" $?
}

udp_echo()
{
	ip netns exec "$1" python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", 7))
while True:
    data, peer = s.recvfrom(9000)
    s.sendto(peer[0].encode() + b" " + data, peer)' >/dev/null 2>&1 &
	wait_for 5 ip netns exec "$1" bash -c 'ss -Hlun | grep -q :7'
}

# what an echo says: the address that it was asked from, and what was sent
ask_echo()
{
	in_c python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(3)
s.sendto(b"x" * int(sys.argv[2]), (sys.argv[1], 7))
print(s.recv(9000).decode().replace("x" * int(sys.argv[2]), "all"))' "$@"
}

serve "$ns_c"
serve "$ns_s"
udp_echo "$ns_s"
ip netns exec "$ns_s" /usr/sbin/in.tftpd -L -s -u nobody "$work/ftp" >/dev/null 2>&1 &
iperf_server

for workers in 1 2; do
	write_conf "firewall: {iptables: $rules}"
	start
	check "ping" in_c ping -q -c 3 -i 0.05 -W 2 10.1.0.2
	check "ping in fragments" in_c ping -q -c 3 -i 0.05 -W 2 -s 3000 10.1.0.2
	check "the LAN is closed" bash -c "! ip netns exec $ns_s ping -q -c 1 -W 1 10.1.0.1"
	for how in -I -U -T; do
		# one probe after the other: two workers need not answer many in their order
		in_c traceroute -n $how -N 1 -q 1 -w 2 10.1.0.2 >"$work/out" 2>&1
		[ "$(awk 'NR > 1 { print $2 }' "$work/out" | tr '\n' ' ')" = "10.0.0.1 10.1.0.2 " ]
		report "traceroute $how sees both" $?
	done
	equal "UDP comes from the router" "$(ask_echo 10.1.0.2 10 2>&1)" "10.1.0.1 all"
	equal "UDP in fragments" "$(ask_echo 10.1.0.2 4000 2>&1)" "10.1.0.1 all"
	fetch "HTTP" "$ns_c" http://10.1.0.2/file
	fetch "a port is forwarded" "$ns_s" http://10.1.0.1:8080/file
	fetch "hairpin" "$ns_c" http://10.1.0.1:8080/file
	fetch "FTP, passive" "$ns_c" --disable-epsv ftp://10.1.0.2/file
	fetch "FTP, extended passive" "$ns_c" ftp://10.1.0.2/file
	fetch "FTP, active" "$ns_c" --disable-eprt --ftp-port - ftp://10.1.0.2/file
	fetch "FTP, extended active" "$ns_c" --ftp-port - ftp://10.1.0.2/file
	fetch "TFTP" "$ns_c" --tftp-no-options tftp://10.1.0.2/file
	iperf "10 MB, checksums left to hardware" -c 10.1.0.2 -n 10M
	iperf "10 MB the other way" -c 10.1.0.2 -R -n 10M
	check "connections show both tuples" bash -c "'$sluicectl_bin' -s '$socket' conntrack list proto=tcp dport=80 | grep -q 'src=10.0.0.2 dst=10.1.0.2 .*dport=80 .*src=10.1.0.2 dst=10.1.0.1 sport=80'"
	check "ports in use are shown" bash -c "'$sluicectl_bin' -s '$socket' nat | grep -qE '^10\.1\.0\.1 +tcp '"
	equal "no port was missing" "$(ctl nat | grep -c ': 0 packets found no free port')" $workers
	# what FTP announced is translated like its master, but is not masqueraded: it does not count
	at_least "masqueraded connections are there" "$(ctl conntrack list dport=80 reply-dst=10.1.0.1 | wc -l)" 1
	if [ $workers = 1 ]; then
		# an address more is no reason, one less is
		sed -i '/name: lan/,/addresses/s/10.1.0.1\/24/10.1.0.1\/24, 10.1.0.9\/24/' "$conf"
		check "reload with one more address" ctl reload
		at_least "they stay" "$(ctl conntrack list dport=80 reply-dst=10.1.0.1 | wc -l)" 1
		sed -i '/name: lan/,/addresses/s/10.1.0.1\/24, //' "$conf"
		check "reload without the first address" ctl reload
		equal "they have gone" "$(ctl conntrack list dport=80 reply-dst=10.1.0.1 | wc -l)" 0
		check "others begin from the other address" in_c ping -q -c 1 -W 2 10.1.0.2
	else
		ip -n "$ns_s" link set s0 down
		wait_for 5 bash -c "grep -q 'lan: link down' '$log'"
		sleep 1.5
		at_least "carrier lost: they stay" "$(ctl conntrack list dport=80 reply-dst=10.1.0.1 | wc -l)" 1
		ip -n "$ns_s" link set s0 up
		ip -n "$ns_r" link set r1 down
		wait_for 5 bash -c "grep -q 'masqueraded connections' '$log'"
		report "set down: they go" $?
		equal "none is left" "$(ctl conntrack list dport=80 reply-dst=10.1.0.1 | wc -l)" 0
		ip -n "$ns_r" link set r1 up
	fi
	stop
done

# a narrow link outside: errors come from the router itself, and from beyond by what they quote
ip -n "$ns_s" addr add 10.1.0.3/24 dev s0 2>/dev/null
write_conf "firewall: {iptables: $rules}"
sed -i '/name: lan/s/mtu: 1500/mtu: 1400/' "$conf"
workers=1
start
out=$(in_c ping -c 1 -W 2 -M "do" -s 1422 10.1.0.2 2>&1)
echo "$out" >"$work/out"
[[ $out == *"mtu = 1400"* || $out == *"mtu=1400"* ]]
report "path MTU: the client is told" $?
equal "and believes it" "$(ip -n "$ns_c" route get 10.1.0.2 | grep -oE 'mtu [0-9]+')" "mtu 1400"
fetch "HTTP over it" "$ns_c" http://10.1.0.2/file

# N25: a rule that is added later is for connections that begin later; a flow keeps its mapping until its
# entry goes
udp_says()
{
	ip netns exec "$ns_s" python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.1.0.2", int(sys.argv[1])))
while True:
    s.sendto(sys.argv[2].encode(), s.recvfrom(100)[1])' "$@" >/dev/null 2>&1 &
	wait_for 5 ip netns exec "$ns_s" bash -c "ss -Hlun | grep -q 10.1.0.2:$1"
}
ask_flow()
{
	in_c python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.0.0.2", 5555))
s.settimeout(3)
s.connect(("10.1.0.2", 1007))
s.send(b"?")
print(s.recv(100).decode())' 2>&1
}
udp_says 1007 old
udp_says 1017 new
equal "a flow before the rule" "$(ask_flow)" old
sed -i '/^\*nat/a -A PREROUTING -d 10.1.0.2 -p udp --dport 1007 -j DNAT --to-destination 10.1.0.2:1017' "$rules"
check "reload with a DNAT rule for it" ctl reload
equal "the flow keeps its mapping (N25)" "$(ask_flow)" old
equal "its entry is deleted by its tuple" "$(ctl conntrack delete proto=udp sport=5555 dport=1007)" "1 deleted"
equal "the new mapping applies" "$(ask_flow)" new
stop
finish
