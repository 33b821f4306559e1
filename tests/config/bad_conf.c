/* SPDX-License-Identifier: BSD-3-Clause */
#include "bad_conf.h"

#include <stddef.h>

/* lines 1 to 3 of most of them */
#define PORTS                                                                          \
	"ports:\n"                                                                     \
	"  - {name: wan, device: d0, addresses: [192.0.2.1/24, \"2001:db8::1/64\"]}\n" \
	"  - {name: lan, device: d1, addresses: [10.0.0.1/24]}\n"

const struct bad_conf bad_confs[] = {
	{ "unknown_key", PORTS "colour: red\n",
			":4:1: unknown key 'colour' in the configuration, expected one of "
			"workers, hugepages, ports, routes, neighbours, policy, firewall, "
			"conntrack, sysctl, pipeline, control, metrics, plugins" },
	{ "unknown_port_key", "ports:\n  - {name: wan, device: d0, speed: 10}\n",
			":2:29: unknown key 'speed' in port, expected one of name, device, "
			"parent, addresses, mtu, vlan, mac" },
	{ "key_twice", PORTS "workers: 1\nworkers: 2\n",
			":5:1: key 'workers' is here twice, first in line 4" },
	{ "key_is_a_list", PORTS "[a, b]: 1\n", ":4:1: found a list as a key, expected a name" },
	{ "ports_missing", "workers: 1\n", ":1:1: the configuration without 'ports'" },
	{ "ports_empty", "ports: []\n", ":1:8: found 0 ports, expected 1 to 63" },
	{ "ports_a_mapping", "ports: {name: wan, device: d0}\n",
			":1:8: found a mapping, expected a list of ports" },
	{ "port_a_scalar", "ports:\n  - wan\n",
			":2:5: found a single value, expected a mapping for port" },
	{ "port_without_name", "ports:\n  - {device: d0}\n", ":2:5: port without 'name'" },
	{ "port_without_device", "ports:\n  - {name: wan}\n",
			":2:5: port 'wan' with neither 'device' nor 'parent', expected one "
			"of both" },
	{ "port_with_device_and_parent",
			"ports:\n"
			"  - {name: a, device: d0}\n"
			"  - {name: b, device: d1, parent: a, vlan: 3}\n",
			":3:5: port 'b' with 'device' and 'parent', expected one of both" },
	{ "port_twice", "ports:\n  - {name: wan, device: d0}\n  - {name: wan, device: d1}\n",
			":3:5: duplicate port 'wan', first in line 2" },
	{ "device_twice", "ports:\n  - {name: wan, device: d0}\n  - {name: lan, device: d0}\n",
			":3:5: port 'lan' has the device of port 'wan'; VLAN ports share one "
			"by 'parent'" },
	{ "interface_twice",
			"ports:\n"
			"  - {name: wan, device: 'net_af_packet0,iface=eth1'}\n"
			"  - {name: dmz, device: 'net_af_packet1,iface=eth10'}\n"
			"  - {name: lan, device: 'net_af_xdp2,queue_count=1,iface=eth1,zc=0'}\n",
			":4:5: port 'lan' has the device of port 'wan'; VLAN ports share one "
			"by 'parent'" },
	{ "port_name_long", "ports:\n  - {name: abcdefghijklmnop, device: d0}\n",
			":2:12: found 'abcdefghijklmnop', expected a port name of 1 to 15 "
			"characters without '/' or blanks" },
	{ "port_name_all", "ports:\n  - {name: all, device: d0}\n",
			":2:12: a port cannot be called 'all': switches use that name" },
	{ "parent_unknown",
			"ports:\n"
			"  - {name: wan, device: d0}\n"
			"  - {name: v, parent: lan, vlan: 3}\n",
			":3:5: found port 'lan', expected one of wan, v" },
	{ "parent_without_vlan",
			"ports:\n  - {name: wan, device: d0}\n  - {name: v, parent: wan}\n",
			":3:5: port 'v' with 'parent' but without 'vlan'" },
	{ "vlan_twice",
			"ports:\n"
			"  - {name: wan, device: d0}\n"
			"  - {name: v, parent: wan, vlan: 3}\n"
			"  - {name: w, parent: wan, vlan: 3}\n",
			":4:5: port 'w' has VLAN 3 of port 'v' on one device" },
	{ "vlan_range", "ports:\n  - {name: wan, device: d0, vlan: 4095}\n",
			":2:35: found '4095', expected a number from 1 to 4094" },
	{ "mtu_range", "ports:\n  - {name: wan, device: d0, mtu: 67}\n",
			":2:34: found '67', expected a number from 68 to 9600" },
	{ "mtu_text", "ports:\n  - {name: wan, device: d0, mtu: big}\n",
			":2:34: found 'big', expected a number from 68 to 9600" },
	{ "mtu_ipv6",
			"ports:\n"
			"  - {name: wan, device: d0, mtu: 1279, addresses: [\"fd00::1/64\"]}\n",
			":2:52: port 'wan' has an IPv6 address and an MTU of 1279, expected "
			"at least 1280" },
	{ "mac_text", "ports:\n  - {name: wan, device: d0, mac: 02:00:00:00:00}\n",
			":2:34: found '02:00:00:00:00', expected a unicast MAC address, as "
			"\"02:00:00:00:00:01\"" },
	{ "mac_group", "ports:\n  - {name: wan, device: d0, mac: \"03:00:00:00:00:01\"}\n",
			":2:34: found '03:00:00:00:00:01', expected a unicast MAC address, "
			"as \"02:00:00:00:00:01\"" },
	{ "address_text", "ports:\n  - {name: wan, device: d0, addresses: [10.0.0.256/24]}\n",
			":2:41: found '10.0.0.256/24', expected an address with prefix "
			"length, as 192.0.2.1/24 or 2001:db8::1/64" },
	{ "address_len", "ports:\n  - {name: wan, device: d0, addresses: [10.0.0.1/33]}\n",
			":2:41: found '10.0.0.1/33', expected an address with prefix length, "
			"as 192.0.2.1/24 or 2001:db8::1/64" },
	{ "address_group", "ports:\n  - {name: wan, device: d0, addresses: [224.0.0.1/24]}\n",
			":2:41: found '224.0.0.1/24', expected a unicast address that a port "
			"can have" },
	{ "address_no_list", "ports:\n  - {name: wan, device: d0, addresses: 10.0.0.1/24}\n",
			":2:40: found a single value, expected a list of addresses" },
	{ "address_twice",
			"ports:\n"
			"  - {name: wan, device: d0, addresses: [10.0.0.1/24]}\n"
			"  - {name: lan, device: d1, addresses: [10.0.0.1/16]}\n",
			":3:41: address 10.0.0.1/16 of port 'lan' overlaps 10.0.0.1/24 of "
			"port 'wan' in line 2" },
	{ "address_overlap",
			"ports:\n"
			"  - {name: wan, device: d0, addresses: [10.0.0.1/24]}\n"
			"  - {name: lan, device: d1, addresses: [10.0.0.2/24]}\n",
			":3:41: address 10.0.0.2/24 of port 'lan' overlaps 10.0.0.1/24 of "
			"port 'wan' in line 2" },
	{ "workers_zero", PORTS "workers: 0\n",
			":4:10: found '0', expected a number from 1 to 32" },
	{ "workers_text", PORTS "workers: many\n",
			":4:10: found 'many', expected a number from 1 to 32" },
	{ "workers_mapping", PORTS "workers: {a: 1}\n",
			":4:10: found a mapping, expected a number" },
	{ "workers_none", PORTS "workers: []\n", ":4:10: found 0 CPUs, expected 1 to 32" },
	{ "workers_cpu_twice", PORTS "workers: [1, 2, 1]\n",
			":4:17: CPU 1 is here twice, expected one worker on each" },
	{ "hugepages", PORTS "hugepages: on\n", ":4:12: found 'on', expected one of auto, off" },
	{ "conntrack_range", PORTS "conntrack: {max: 0}\n",
			":4:18: found '0', expected a number from 1 to 268435456" },
	{ "conntrack_key", PORTS "conntrack: {min: 0}\n",
			":4:13: unknown key 'min' in conntrack, expected one of max" },
	{ "metrics_without_port", PORTS "metrics: {listen: 127.0.0.1}\n",
			":4:19: found '127.0.0.1', expected an address and a port, as "
			"127.0.0.1:9477 or [::1]:9477" },
	{ "metrics_port", PORTS "metrics: {listen: \"127.0.0.1:65536\"}\n",
			":4:19: found '127.0.0.1:65536', expected an address and a port, as "
			"127.0.0.1:9477 or [::1]:9477" },
	{ "metrics_no_address", PORTS "metrics: {listen: \":9477\"}\n",
			":4:19: found ':9477', expected an address and a port, as "
			"127.0.0.1:9477 or [::1]:9477" },
	{ "metrics_no_brackets", PORTS "metrics: {listen: \"::1:9477\"}\n",
			":4:19: found '::1:9477', expected an address and a port, as "
			"127.0.0.1:9477 or [::1]:9477" },
	{ "metrics_brackets", PORTS "metrics: {listen: \"[127.0.0.1]:9477\"}\n",
			":4:19: found '[127.0.0.1]:9477', expected an address and a port, as "
			"127.0.0.1:9477 or [::1]:9477" },
	{ "metrics_one_bracket", PORTS "metrics: {listen: \"[:9477\"}\n",
			":4:19: found '[:9477', expected an address and a port, as "
			"127.0.0.1:9477 or [::1]:9477" },
	{ "metrics_empty", PORTS "metrics: {}\n", ":4:10: metrics without 'listen'" },
	{ "control_socket_empty", PORTS "control: {socket: }\n",
			":4:19: found nothing, expected the path of a socket" },
	{ "route_without_to", PORTS "routes:\n  - {via: 192.0.2.2}\n", ":5:5: route without 'to'" },
	{ "route_without_via", PORTS "routes:\n  - {to: 10.9.0.0/16}\n",
			":5:5: route without 'via', 'port' or another 'type'" },
	{ "route_text", PORTS "routes:\n  - {to: ten, via: 192.0.2.2}\n",
			":5:10: found 'ten', expected an address with prefix length, as "
			"192.0.2.1/24 or 2001:db8::1/64" },
	{ "route_bits", PORTS "routes:\n  - {to: 10.9.0.1/16, via: 192.0.2.2}\n",
			":5:10: found '10.9.0.1/16' with bits behind its prefix, expected "
			"10.9.0.0/16" },
	{ "route_families", PORTS "routes:\n  - {to: \"::/0\", via: 192.0.2.2}\n",
			":5:5: an IPv6 route with an IPv4 gateway" },
	{ "route_paths_families",
			PORTS "routes:\n  - {to: default, via: [192.0.2.2, \"2001:db8::2\"]}\n",
			":5:36: paths of both families in one route, expected one" },
	{ "route_default_port", PORTS "routes:\n  - {to: default, port: wan}\n",
			":5:10: found 'default' without a gateway to tell the family, "
			"expected 0.0.0.0/0 or ::/0" },
	{ "route_port_unknown", PORTS "routes:\n  - {to: 10.9.0.0/16, port: dmz}\n",
			":5:5: found port 'dmz', expected one of wan, lan" },
	{ "route_type", PORTS "routes:\n  - {to: 10.9.0.0/16, type: hole}\n",
			":5:29: found 'hole', expected one of unicast, local, broadcast, "
			"blackhole, unreachable, prohibit, throw" },
	{ "route_blackhole_via",
			PORTS "routes:\n  - {to: 10.9.0.0/16, type: blackhole, via: 192.0.2.2}\n",
			":5:5: a route of type blackhole leads nowhere: no 'via' or 'port'" },
	{ "route_table", PORTS "routes:\n  - {to: 10.9.0.0/16, via: 192.0.2.2, table: 0}\n",
			":5:46: found '0', expected a number from 1 to 4294967295" },
	{ "route_weight",
			PORTS "routes:\n"
			      "  - {to: 10.9.0.0/16, via: [{gateway: 192.0.2.2, weight: 257}]}\n",
			":5:58: found '257', expected a number from 1 to 256" },
	{ "route_metric", PORTS "routes:\n  - {to: 10.9.0.0/16, via: 192.0.2.2, metric: -1}\n",
			":5:47: found '-1', expected a number from 0 to 4294967295" },
	{ "route_mtu", PORTS "routes:\n  - {to: 10.9.0.0/16, via: 192.0.2.2, mtu: 9601}\n",
			":5:44: found '9601', expected a number from 68 to 9600" },
	{ "route_twice",
			PORTS "routes:\n"
			      "  - {to: 10.9.0.0/16, via: 192.0.2.2}\n"
			      "  - {to: 10.9.0.0/16, via: 192.0.2.3}\n",
			":6:5: overlapping routes: 10.9.0.0/16 in table 254 is there already "
			"(line 5), expected another metric, or one route with several `via`" },
	{ "gateway_unreachable", PORTS "routes:\n  - {to: 10.9.0.0/16, via: 172.16.0.1}\n",
			":5:5: route to 10.9.0.0/16 via 172.16.0.1, which is on no connected "
			"network, expected a gateway on the network of a port, or a `port` "
			"with it" },
	{ "gateway_unreachable6",
			PORTS "routes:\n  - {to: \"2001:db8:9::/48\", via: \"2001:db8:1::1\"}\n",
			":5:5: route to 2001:db8:9::/48 via 2001:db8:1::1, which is on no "
			"connected network, expected a gateway on the network of a port, or "
			"a `port` with it" },
	{ "gateway_own", PORTS "routes:\n  - {to: 10.9.0.0/16, via: 192.0.2.1}\n",
			":5:5: route to 10.9.0.0/16 via 192.0.2.1, which is the router's own "
			"or a broadcast address, expected another host's" },
	{ "neighbour_port",
			PORTS
			"neighbours:\n  - {ip: 192.0.2.2, mac: \"02:00:00:00:00:09\", port: dmz}\n",
			":5:5: found port 'dmz', expected one of wan, lan" },
	{ "neighbour_mac", PORTS "neighbours:\n  - {ip: 192.0.2.2, port: wan}\n",
			":5:5: neighbour without 'mac'" },
	{ "neighbour_twice",
			PORTS "neighbours:\n"
			      "  - {ip: 192.0.2.2, mac: \"02:00:00:00:00:09\", port: wan}\n"
			      "  - {ip: 192.0.2.2, mac: \"02:00:00:00:00:08\", port: wan}\n",
			":6:5: duplicate neighbour 192.0.2.2 on port 'wan', first in line 5" },
	{ "resilient_without_buckets",
			PORTS "routes:\n"
			      "  - {to: default, via: [192.0.2.2, 10.0.0.2], resilient: {}}\n",
			":5:58: resilient group without 'buckets'" },
	{ "resilient_one_path",
			PORTS "routes:\n"
			      "  - {to: default, via: 192.0.2.2, resilient: {buckets: 8}}\n",
			":5:46: 8 buckets for 1 paths, expected several paths and a bucket for each" },
	{ "policy_no_action", PORTS "policy:\n  - {fwmark: 1}\n",
			":5:5: policy rule with 0 of 'table', 'goto' and 'type', expected one" },
	{ "policy_two_actions", PORTS "policy:\n  - {table: 5, type: prohibit}\n",
			":5:5: policy rule with 2 of 'table', 'goto' and 'type', expected one" },
	{ "policy_any_mark", PORTS "policy:\n  - {fwmark: 0x0, table: 5}\n",
			":5:14: found '0x0', which is any mark to the kernel, expected "
			"0/0xffffffff" },
	{ "policy_ports", PORTS "policy:\n  - {dport: 20-10, table: 5}\n",
			":5:13: found '20-10', expected a port, or two as 1000-2000, from 1 to "
			"65534" },
	{ "policy_proto", PORTS "policy:\n  - {ipproto: nonsense, table: 5}\n",
			":5:15: found 'nonsense', expected a protocol by name or a number from 1 to "
			"255" },
	{ "policy_tos_ecn", PORTS "policy:\n  - {tos: 0x11, table: 5}\n",
			":5:11: found a TOS of 0x11, expected one without bits of ECN" },
	{ "policy_tos_v4", PORTS "policy:\n  - {tos: 0xb8, table: 5}\n",
			":5:11: found a TOS of 0xb8, expected one of the bits 0x1c, or 'family: "
			"ipv6'" },
	{ "policy_suppress", PORTS "policy:\n  - {type: nop, suppress_prefixlength: 0}\n",
			":5:40: 'suppress_prefixlength' without 'table'" },
	{ "policy_mark", PORTS "policy:\n  - {fwmark: 1/0x, table: 5}\n",
			":5:14: found '1/0x', expected a mark, as 0x64 or 0x64/0xff" },
	{ "policy_families", PORTS "policy:\n  - {from: 10.0.0.0/8, to: \"::/0\", table: 5}\n",
			":5:5: 'from', 'to' or 'family' of different families" },
	{ "policy_iif", PORTS "policy:\n  - {iif: dmz, table: 5}\n",
			":5:5: found port 'dmz', expected one of wan, lan" },
	{ "switch_unknown", PORTS "sysctl: {net.ipv4.tcp_sack: 1}\n",
			":4:10: unknown switch 'net.ipv4.tcp_sack'; docs/config.md lists "
			"those that are honoured" },
	{ "switch_port", PORTS "sysctl: {net.ipv4.conf.dmz.rp_filter: 1}\n",
			":4:10: found port 'dmz', expected one of wan, lan" },
	{ "switch_range", PORTS "sysctl: {net.ipv4.conf.wan.rp_filter: 3}\n",
			":4:39: found 3 for net.ipv4.conf.wan.rp_filter, expected 0 to 2" },
	{ "switch_text", PORTS "sysctl: {net.ipv4.ip_forward: on}\n",
			":4:31: found 'on', expected a number" },
	{ "switch_twice", PORTS "sysctl: {net.ipv4.ip_forward: 1, net.ipv4.ip_forward: 0}\n",
			":4:34: key 'net.ipv4.ip_forward' is here twice, first in line 4" },
	{ "stage_hook", PORTS "pipeline:\n  - {hook: egress, stage: nop}\n",
			":5:12: found 'egress', expected one of ingress, prerouting, input, "
			"forward, output, postrouting" },
	{ "stage_without_hook", PORTS "pipeline:\n  - {stage: nop}\n",
			":5:5: stage without 'hook'" },
	{ "firewall_engine", PORTS "firewall: {engine: quick}\n",
			":4:20: found 'quick', expected one of auto, linear, hashed, forest, "
			"trie" },
	{ "plugins_no_list", PORTS "plugins: a.so\n",
			":4:10: found a single value, expected a list of plugins" },
	{ "firewall_key", PORTS "firewall: {nftables: a}\n",
			":4:12: unknown key 'nftables' in firewall, expected one of "
			"iptables, ip6tables, ipset, engine, log, nflog" },
	{ "log_key", PORTS "firewall: {log: {path: a}}\n",
			":4:18: unknown key 'path' in log, expected one of file, rate, burst" },
	{ "log_rate", PORTS "firewall: {log: {rate: 1000001}}\n",
			":4:24: found '1000001', expected a number from 0 to 1000000" },
	{ "nflog_without_group", PORTS "firewall: {nflog: [{pcap: a}]}\n",
			":4:20: nflog without 'group'" },
	{ "nflog_group", PORTS "firewall: {nflog: [{group: 65536, pcap: a}]}\n",
			":4:28: found '65536', expected a number from 0 to 65535" },
	{ "nflog_nowhere", PORTS "firewall: {nflog: [{group: 5}]}\n",
			":4:20: nflog group 5: pcap or text was expected" },
	{ "nflog_twice",
			PORTS "firewall:\n  nflog:\n    - {group: 5, pcap: a}\n"
			      "    - {group: 5, text: b}\n",
			":7:7: nflog group 5: was given on line 6" },
	{ "yaml_broken", PORTS "routes: [\n",
			":5:1: not YAML: did not find expected node content, while parsing a "
			"flow node" },
	{ "yaml_tab", "ports:\n\t- {name: wan}\n",
			":2:1: not YAML: found character that cannot start any token, while "
			"scanning for the next token" },
	{ "yaml_two_documents", PORTS "---\n" PORTS,
			":5:1: found a second document, expected one" },
	{ "yaml_garbage_behind", PORTS "...\n}\n",
			":5:1: not YAML: did not find expected <document start>" },
	{ "yaml_bytes", "ports: \377\n", ":1:1: not YAML: invalid leading UTF-8 octet" },
	{ "empty", "", ":1:1: found nothing, expected a configuration with 'ports'" },
	{ "comment", "# nothing\n", ":1:1: found nothing, expected a configuration with 'ports'" },
	{ "scalar", "ports\n",
			":1:1: found a single value, expected a mapping for the configuration" },
	{ "text_with_lines", PORTS "hugepages: \"on\\noff\"\n",
			":4:12: found 'on\\x0aoff', expected one of auto, off" },
	{ "key_with_lines", PORTS "\"a\\nb\": 1\n",
			":4:1: unknown key 'a\\x0ab' in the configuration, expected one of "
			"workers, hugepages, ports, routes, neighbours, policy, firewall, "
			"conntrack, sysctl, pipeline, control, metrics, plugins" },
	{ "nul", PORTS "hugepages: \"off\\0\"\n", ":4:12: found a NUL byte, expected auto, off" },
	{ NULL, NULL, NULL },
};
