/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings in which something is translated. What the kernel draws is not compared (seq_even.c): a
 * port that both sides have changed. One that is kept or given has to be equal.
 *
 * Clients are 10.64.0.0 and 2001:db8:a:: and on, servers 198.18.0.0 and 2001:db8:b:: and on. Addresses
 * that clients get are routed to where clients are, those that servers get to servers: a packet that
 * is not translated back goes on, and is compared as well.
 */
#include "ct_setting.h"

const struct ct_setting ct_settings_nat[] = {
	{ .name = "snat",
			.nat = "-A POSTROUTING -o pb -j SNAT --to-source 192.0.2.200\n",
			.nat6 = "-A POSTROUTING -o pb -j SNAT --to-source 2001:db8:a:ff::9\n" },
	{ .name = "snat-range",
			.nat = "-A POSTROUTING -o pb -j SNAT --to-source 192.0.2.200-192.0.2.213\n",
			.nat6 = "-A POSTROUTING -o pb -j SNAT --to-source "
				"2001:db8:a:ff::9-2001:db8:a:ff::29\n" },
	{ .name = "snat-persistent",
			.nat = "-A POSTROUTING -o pb -j SNAT --to-source 192.0.2.200-192.0.2.213 "
			       "--persistent\n",
			.nat6 = "-A POSTROUTING -o pb -j SNAT --to-source "
				"2001:db8:a:ff::9-2001:db8:a:ff::29 --persistent\n" },
	{ .name = "masquerade",
			.nat = "-A POSTROUTING -o pb -j MASQUERADE\n",
			.nat6 = "-A POSTROUTING -o pb -j MASQUERADE\n" },
	{ .name = "dnat",
			.nat = "-A PREROUTING -i pa -p tcp --dport 80 -j DNAT --to-destination "
			       "198.19.255.240:8080\n"
			       "-A PREROUTING -i pa -p tcp -j DNAT --to-destination :8081\n"
			       "-A PREROUTING -i pa -p udp -j DNAT --to-destination "
			       "198.19.255.240-198.19.255.250\n"
			       "-A PREROUTING -i pa -p sctp -j DNAT --to-destination "
			       "198.19.255.240:7000\n"
			       "-A PREROUTING -i pa -j DNAT --to-destination 198.19.255.251\n",
			.nat6 = "-A PREROUTING -i pa -p tcp --dport 80 -j DNAT --to-destination "
				"[2001:db8:b:ff::1]:8080\n"
				"-A PREROUTING -i pa -p tcp -j DNAT --to-destination :8081\n"
				"-A PREROUTING -i pa -p udp -j DNAT --to-destination "
				"2001:db8:b:ff::1-2001:db8:b:ff::20\n"
				"-A PREROUTING -i pa -p sctp -j DNAT --to-destination "
				"[2001:db8:b:ff::1]:7000\n"
				"-A PREROUTING -i pa -j DNAT --to-destination 2001:db8:b:ff::2\n" },
	{ .name = "dnat-base",
			.nat = "-A PREROUTING -i pa -p tcp --dport 80:90 -j DNAT --to-destination "
			       "198.19.255.240:5080-5090/80\n"
			       "-A PREROUTING -i pa -p udp --dport 80:90 -j DNAT --to-destination "
			       "198.19.255.240:80-90/80\n",
			.nat6 = "-A PREROUTING -i pa -p tcp --dport 80:90 -j DNAT --to-destination "
				"[2001:db8:b:ff::1]:5080-5090/80\n" },
	{
			.name = "both-sides",
			.nat = "-A PREROUTING -i pa -j DNAT --to-destination 198.19.255.240\n"
			       "-A PREROUTING -i pb -p udp -j DNAT --to-destination 192.0.2.201\n"
			       "-A POSTROUTING -o pb -j SNAT --to-source 192.0.2.200-192.0.2.213\n"
			       "-A POSTROUTING -o pa -j SNAT --to-source 198.19.255.241\n",
			.nat6 = "-A PREROUTING -i pa -j DNAT --to-destination 2001:db8:b:ff::2\n"
				"-A POSTROUTING -o pb -j SNAT --to-source "
				"2001:db8:a:ff::9-2001:db8:a:ff::29\n"
				"-A POSTROUTING -o pa -j SNAT --to-source 2001:db8:b:ff::3\n",
	},
	{ .name = "redirect",
			.nat = "-A PREROUTING -i pa -p tcp --dport 81 -j REDIRECT --to-ports 8081\n"
			       "-A PREROUTING -i pa -p udp --dport 81 -j REDIRECT\n"
			       "-A PREROUTING -i pa -p icmp --icmp-type 8 -j REDIRECT\n"
			       "-A INPUT -p udp -j SNAT --to-source 192.0.2.222\n"
			       "-A INPUT -p icmp -j SNAT --to-source 192.0.2.223\n",
			.nat6 = "-A PREROUTING -i pa -p tcp --dport 81 -j REDIRECT --to-ports 8081\n"
				"-A PREROUTING -i pa -p udp --dport 81 -j REDIRECT\n" },
	{ .name = "netmap",
			.nat = "-A PREROUTING -i pa -p udp -j NETMAP --to 240.2.0.0/15\n"
			       "-A POSTROUTING -o pb -s 10.64.0.0/15 -j NETMAP --to 10.96.0.0/15\n",
			.nat6 = "-A PREROUTING -i pa -p udp -j NETMAP --to 2001:db8:b:1::/64\n"
				"-A POSTROUTING -o pb -j NETMAP --to 2001:db8:a:1::/64\n" },
	{ .name = "some",
			/* the others are bound to what they are */
			.nat = "-A POSTROUTING -o pb -p tcp --dport 80 -j MASQUERADE\n"
			       "-A PREROUTING -i pa -p udp --dport 81 -j ACCEPT\n"
			       "-A POSTROUTING -o pb -p icmp -j RETURN\n",
			.nat6 = "-A POSTROUTING -o pb -p udp --dport 80 -j MASQUERADE\n",
			.filter = "-A FORWARD -m conntrack --ctstate SNAT\n"
				  "-A FORWARD -m conntrack ! --ctstate DNAT\n"
				  "-A FORWARD -m conntrack --ctreplsrcport 80\n" },
	{ .name = "firewalled",
			.nat = "-A POSTROUTING -o pb -j MASQUERADE\n"
			       "-A PREROUTING -i pa -p tcp --dport 81 -j DNAT --to-destination "
			       "198.19.255.240:8080\n",
			.nat6 = "-A POSTROUTING -o pb -j MASQUERADE\n",
			.filter = "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"
				  "-A FORWARD -m conntrack --ctstate INVALID -j DROP\n"
				  "-A FORWARD -m conntrack --ctstate DNAT -j ACCEPT\n"
				  "-A FORWARD -i pa -p tcp --dport 80 --syn -j ACCEPT\n"
				  "-A FORWARD -i pa -p tcp -j REJECT --reject-with tcp-reset\n"
				  "-A FORWARD -i pa -p udp --dport 80 -j ACCEPT\n"
				  "-A FORWARD -i pa -p udp -j REJECT\n",
			.policy = "DROP" },
	{ .name = "clash",
			/* flows by one port of the client to one server port: one takes another */
			.nat = "-A PREROUTING -i pa -p tcp -j DNAT --to-destination 198.19.255.240:8080\n"
			       "-A PREROUTING -i pa -p udp -j DNAT --to-destination "
			       "198.19.255.240:8080\n",
			.nat6 = "-A PREROUTING -i pa -p tcp -j DNAT --to-destination "
				"[2001:db8:b:ff::1]:8080\n"
				"-A PREROUTING -i pa -p udp -j DNAT --to-destination "
				"[2001:db8:b:ff::1]:8080\n",
			.same_port = true },
	{ .name = "drawn",
			.nat = "-A POSTROUTING -o pb -p tcp -j MASQUERADE --random\n"
			       "-A POSTROUTING -o pb -p udp -j MASQUERADE --to-ports 20000-30000\n"
			       "-A POSTROUTING -o pb -p icmp -j SNAT --to-source 192.0.2.200 --random\n"
			       "-A POSTROUTING -o pb -p udplite -j SNAT --to-source 192.0.2.200 "
			       "--random-fully\n",
			.nat6 = "-A POSTROUTING -o pb -p tcp -j SNAT --to-source [2001:db8:a:ff::9]:1024-2000\n"
				"-A POSTROUTING -o pb -p udp -j MASQUERADE --random-fully\n" },
};

const unsigned int ct_settings_nat_n = sizeof(ct_settings_nat) / sizeof(ct_settings_nat[0]);
