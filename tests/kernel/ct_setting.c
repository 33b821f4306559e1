/* SPDX-License-Identifier: BSD-3-Clause */
#include "ct_setting.h"

#include <string.h>

/* what a packet is to the tracker is written into its TOS, where the other end sees it */
static const char mangle_always[] =
		"-A PREROUTING -m conntrack --ctstate INVALID -j TOS --set-tos 0x04/0x1c\n"
		"-A PREROUTING -m conntrack --ctstate NEW -j TOS --set-tos 0x08/0x1c\n"
		"-A PREROUTING -m conntrack --ctstate ESTABLISHED -j TOS --set-tos 0x0c/0x1c\n"
		"-A PREROUTING -m conntrack --ctstate RELATED -j TOS --set-tos 0x10/0x1c\n"
		"-A PREROUTING -m conntrack --ctstate UNTRACKED -j TOS --set-tos 0x14/0x1c\n"
		"-A PREROUTING -m conntrack --ctdir REPLY -j TOS --set-tos 0x20/0x20\n"
		"-A PREROUTING -m conntrack --ctstatus SEEN_REPLY -j TOS --set-tos 0x40/0x40\n"
		"-A PREROUTING -m conntrack --ctstatus ASSURED -j TOS --set-tos 0x80/0x80\n"
		"-A PREROUTING -m conntrack --ctstatus CONFIRMED -j TOS --set-tos 0x02/0x02\n";

/* and counted where it goes on */
static const char filter_always[] =
		"-A INPUT -m conntrack --ctstate NEW,RELATED\n"
		"-A INPUT -m state --state ESTABLISHED\n"
		"-A INPUT -m state --state INVALID\n"
		"-A FORWARD -m conntrack --ctstate NEW --ctproto 6\n"
		"-A FORWARD -m state --state NEW,ESTABLISHED\n"
		"-A FORWARD -m conntrack ! --ctstate INVALID,NEW\n"
		"-A FORWARD -m conntrack --ctorigdstport 80\n"
		"-A FORWARD -m conntrack ! --ctreplsrcport 81:90\n"
		"-A FORWARD -m conntrack --ctstatus NONE\n"
		"-A FORWARD -m conntrack ! --ctstatus ASSURED --ctdir ORIGINAL\n"
		"-A FORWARD -m conntrack --ctexpire 61:115\n"
		"-A FORWARD -m conntrack --ctexpire 121:500000\n"
		"-A OUTPUT -m conntrack --ctstate RELATED --ctdir REPLY\n"
		"-A OUTPUT -m conntrack --ctstate ESTABLISHED\n"
		"-A OUTPUT -m conntrack --ctstate INVALID\n"
		"-A OUTPUT -m conntrack --ctstate NEW\n";

static const struct ct_setting settings[] = {
	{ .name = "plain", .pause = { { 5, 2200 } } },
	{ .name = "not-loose", .sysctls = { "tcp_loose=0" } },
	{ .name = "liberal", .sysctls = { "tcp_be_liberal=1" } },
	{ .name = "accounting", .sysctls = { "acct=1", "checksum=0" } },
	{ .name = "times",
			.sysctls = { "tcp_max_retrans=1", "tcp_ignore_invalid_rst=1",
					"tcp_timeout_established=1000",
					"tcp_timeout_max_retrans=70",
					"tcp_timeout_unacknowledged=60", "tcp_timeout_time_wait=40",
					"tcp_timeout_close=7", "udp_timeout=11",
					"udp_timeout_stream=22", "icmp_timeout=33",
					"icmpv6_timeout=44", "generic_timeout=55" } },
	{ .name = "short",
			.sysctls = { "tcp_timeout_syn_sent=1", "tcp_timeout_time_wait=1",
					"tcp_timeout_close=1", "udp_timeout=1", "icmp_timeout=1",
					"icmpv6_timeout=1", "generic_timeout=1", "gre_timeout=1",
					"tcp_timeout_syn_recv=1" },
			.pause = { { 4, 1600 }, { 9, 1600 } } },
	{ .name = "zones",
			.raw = "-A PREROUTING -i pa -p tcp --dport 81 -j CT --zone 5\n"
			       "-A PREROUTING -i pb -p tcp --sport 81 -j CT --zone 5\n"
			       "-A PREROUTING -i pa -p udp --dport 80 -j CT --zone-orig 7\n"
			       "-A PREROUTING -i pa -p 47 -j MARK --set-mark 3\n"
			       "-A PREROUTING -i pa -p 47 -j CT --zone mark\n"
			       "-A PREROUTING -p 132 -j CT --zone 65535\n" },
	{ .name = "zones-of-answers",
			.raw = "-A PREROUTING -i pa -p udplite -j CT --zone-reply 9\n"
			       "-A PREROUTING -i pb -p udplite -j CT --zone-orig 9\n"
			       "-A PREROUTING -i pa -p tcp --dport 81 -j CT --zone-orig 4\n"
			       "-A PREROUTING -i pb -p tcp --sport 81 -j CT --zone-reply 4\n",
			.no_errors = true },
	{ .name = "untracked",
			.raw = "-A PREROUTING -p udp --dport 80 -j CT --notrack\n"
			       "-A PREROUTING -i pa -p tcp --dport 81 -j NOTRACK\n"
			       "-A PREROUTING -p udplite -j NOTRACK\n"
			       "-A PREROUTING -p 132 -m length --length 60:80 -j NOTRACK\n" },
	{ .name = "firewall",
			.filter = "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"
				  "-A FORWARD -m conntrack --ctstate INVALID -j DROP\n"
				  "-A FORWARD -i pa -p tcp --dport 80 --syn -m conntrack --ctstate NEW "
				  "-j ACCEPT\n"
				  "-A FORWARD -i pa -p tcp -j REJECT --reject-with tcp-reset\n"
				  "-A FORWARD -i pa -p udp --dport 80 -m conntrack --ctstate NEW -j "
				  "ACCEPT\n"
				  "-A FORWARD -i pa -p udp -j REJECT\n"
				  "-A FORWARD -i pa -p 132 -m conntrack --ctstate NEW -j ACCEPT\n",
			.policy = "DROP" },
	{ .name = "marks",
			.sysctls = { "acct=1" },
			.mangle = "-A PREROUTING -p tcp -m conntrack --ctstate NEW -j CONNMARK --set-mark "
				  "0x10\n"
				  "-A PREROUTING -p udp -j CONNMARK --set-xmark 0x1/0xff\n"
				  "-A PREROUTING -p tcp --dport 81 -j CONNMARK --or-mark 0x200\n"
				  "-A PREROUTING -j CONNMARK --restore-mark\n"
				  "-A PREROUTING -m mark --mark 0x10/0x10\n"
				  "-A FORWARD -m connmark --mark 0x1/0x1 -j MARK --set-mark 0x77\n"
				  "-A FORWARD -i pb -j CONNMARK --save-mark --nfmask 0xf0 --ctmask 0xf0\n"
				  "-A FORWARD -m connbytes --connbytes 3:6 --connbytes-dir original "
				  "--connbytes-mode packets\n"
				  "-A FORWARD -m connbytes --connbytes 500 --connbytes-dir both "
				  "--connbytes-mode bytes\n"
				  "-A FORWARD -m connbytes ! --connbytes 40:300 --connbytes-dir reply "
				  "--connbytes-mode avgpkt\n" },
};

#define N_SETTINGS (sizeof(settings) / sizeof(settings[0]))

const struct ct_setting *ct_setting(bool nat, unsigned int i)
{
	if (nat)
		return i < ct_settings_nat_n ? &ct_settings_nat[i] : NULL;
	return i < N_SETTINGS ? &settings[i] : NULL;
}

const struct ct_setting *ct_setting_named(const char *name)
{
	const struct ct_setting *s;

	for (unsigned int nat = 0; nat < 2; nat++)
		for (unsigned int i = 0; (s = ct_setting(nat, i)) != NULL; i++)
			if (strcmp(s->name, name) == 0)
				return s;
	return NULL;
}

static void put(FILE *f, const char *lines)
{
	if (lines != NULL)
		fputs(lines, f);
}

void ct_setting_print_rules(FILE *f, const struct ct_setting *s, bool v6)
{
	fprintf(f, "*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n");
	put(f, s->raw);
	fprintf(f,
			"COMMIT\n*mangle\n:PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n"
			":FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n");
	put(f, mangle_always);
	put(f, s->mangle);
	if (ct_setting_translates(s)) {
		fprintf(f,
				"COMMIT\n*nat\n:PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n"
				":OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n");
		put(f, v6 ? s->nat6 : s->nat);
	}
	fprintf(f,
			"COMMIT\n*filter\n:INPUT ACCEPT [0:0]\n:FORWARD %s [0:0]\n"
			":OUTPUT ACCEPT [0:0]\n",
			s->policy == NULL ? "ACCEPT" : s->policy);
	put(f, filter_always);
	put(f, s->filter);
	fprintf(f, "COMMIT\n");
}
