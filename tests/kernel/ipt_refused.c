/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What iptables-legacy-restore refuses, sluice refuses, and the other way round; where they differ on
 * purpose the row says why. Each row is one line of table filter (or the table named), tried alone.
 * Runs in a network namespace of its own. Without root or iptables-legacy: says so, exit 77.
 */
#include "config/ipt.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKIP 77

static const struct row {
	const char *table;
	const char *line;
	const char *we_take; /* why sluice takes what iptables refuses */
	const char *we_refuse; /* why sluice refuses what iptables takes */
} rows[] = {
	{ "filter", "-A FORWARD -s 10.0.0.1/33", NULL, NULL },
	{ "filter", "-A FORWARD -s 1.2.3.4,", NULL, NULL },
	{ "filter", "-A FORWARD -s 1.2.3.4 -s 1.2.3.5", NULL, NULL },
	{ "filter", "-A FORWARD ! -s 1.2.3.4,1.2.3.5", NULL, NULL },
	{ "filter", "-A FORWARD -s localhost", NULL, "names are not looked up" },
	{ "filter", "-A FORWARD -p 256", NULL, NULL },
	{ "filter", "-A FORWARD -p ! tcp", "the old place of ! is beyond doubt", NULL },
	{ "filter", "-A FORWARD ! -p all", NULL, NULL },
	{ "filter", "-A FORWARD -i 1234567890123456", NULL, NULL },
	{ "filter", "-A INPUT -o eth0", NULL, NULL },
	{ "filter", "-A FORWARD -j NOPE", NULL, NULL },
	{ "filter", "-A FORWARD -j INPUT", NULL, NULL },
	{ "filter", "-A FORWARD -g NOPE", NULL, NULL },
	{ "filter", "-A FORWARD -j ACCEPT -j DROP", NULL, NULL },
	{ "filter", "-A FORWARD ! -j ACCEPT", NULL, NULL },
	{ "filter", "-A FORWARD -m nope", NULL, NULL },
	{ "filter", "-A FORWARD -t filter", NULL, NULL },
	{ "filter", "-A FORWARD foo", NULL, NULL },
	{ "filter", "-A FORWARD !", NULL, NULL },
	{ "filter", "-A FORWARD --s 1.2.3.4", NULL, NULL },
	{ "filter", "-A FORWARD --source=1.2.3.4", "= is beyond doubt, and taken for other options",
			NULL },
	{ "filter", "-L", NULL, "lists, and changes nothing: no rule that a save has" },
	{ "filter", "[3:x] -A FORWARD", NULL, "counters that are none" },
	{ "filter", ":U - [0:0]", NULL, NULL },
	{ "filter", ":FORWARD REJECT [0:0]", NULL, NULL },
	{ "filter", "-A FORWARD -m comment --comment 'single q'", NULL, NULL },
	{ "filter", "-A FORWARD -p tcp --dport 5:1", NULL, NULL },
	{ "filter", "-A FORWARD -p tcp --dport 65536", NULL, NULL },
	{ "filter", "-A FORWARD -m tcp --dport 5", NULL, NULL },
	{ "filter", "-A FORWARD -p tcp -m tcp --tcp-flags SYN", NULL, NULL },
	{ "filter", "-A FORWARD -p tcp -m tcp --tcp-option 0", NULL, NULL },
	{ "filter", "-A FORWARD -p udplite -m udplite --dport 3",
			"the kernel has it, iptables no words", NULL },
	{ "filter", "-A FORWARD -p icmp --icmp-type host-un", NULL, NULL },
	{ "filter", "-A FORWARD -p icmp -m icmp", NULL, NULL },
	{ "filter", "-A FORWARD -p sctp --chunk-types all INIT:T", NULL, NULL },
	{ "filter", "-A FORWARD -m multiport --ports 5", NULL, NULL },
	{ "filter", "-A FORWARD -p tcp -m multiport --ports 5:5", NULL, NULL },
	{ "filter", "-A FORWARD -p tcp -m multiport --ports 1:2,3:4,5:6,7:8,9:10,11:12,13:14,15:16",
			NULL, NULL },
	{ "filter", "-A FORWARD -m iprange", NULL, NULL },
	{ "filter", "-A OUTPUT -m mac --mac-source 00:11:22:33:44:55", NULL, NULL },
	{ "filter", "-A FORWARD -m mark --mark 0x1ffffffff", NULL, NULL },
	{ "filter", "-A FORWARD -m conntrack", NULL, NULL },
	{ "filter", "-A FORWARD -m conntrack ! --ctdir REPLY", NULL, NULL },
	{ "filter", "-A FORWARD -m ttl --ttl-gt 5 --ttl-lt 4", NULL, NULL },
	{ "filter", "-A FORWARD -m dscp --dscp 64", NULL, NULL },
	{ "filter", "-A FORWARD -m ecn --ecn-tcp-cwr", NULL, NULL },
	{ "filter", "-A FORWARD -p tcp -m tcpmss --mss 9:5", NULL, NULL },
	{ "filter", "-A OUTPUT -m addrtype --src-type LOCAL --limit-iface-in", NULL, NULL },
	{ "filter", "-A FORWARD -m limit --limit 10001/s", NULL, NULL },
	{ "filter", "-A FORWARD -m limit --limit 0/s", NULL, NULL },
	{ "filter", "-A FORWARD -m limit --limit 1/day",
			"overflows in a kernel of 250 Hz only, nft takes it", NULL },
	{ "filter", "-A FORWARD -m hashlimit --hashlimit-upto 5/s", NULL, NULL },
	{ "filter", "-A FORWARD -m hashlimit --hashlimit-upto 512kb --hashlimit-name x", NULL,
			"the unit is cut off" },
	{ "filter", "-A FORWARD -m statistic --mode nth --every 5 --packet 5", NULL, NULL },
	{ "filter", "-A FORWARD -m statistic --mode random --probability 1.1", NULL, NULL },
	{ "filter", "-A FORWARD -m recent --set --seconds 5", NULL, NULL },
	{ "filter", "-A FORWARD -m recent --rcheck --mask 24", NULL, "read as 0.0.0.24" },
	{ "filter", "-A FORWARD -m string --algo bm --string \"\"", NULL, NULL },
	{ "filter", "-A FORWARD -m string --algo bm --string a --from 5 --to 3", NULL, NULL },
	{ "filter", "-A FORWARD -m regex --regex a", "the kernel has no such match", NULL },
	{ "filter", "-A FORWARD -m u32 --u32 \"0=1,2,3,4,5,6,7,8,9,10,11\"", NULL, NULL },
	{ "filter", "-A FORWARD -m bpf --bytecode \"1,99 0 0 0\"", NULL, NULL },
	{ "filter", "-A FORWARD -m time --weekdays 8", NULL,
			"no such day, and prints what does not load" },
	{ "filter", "-A FORWARD -m rpfilter", NULL, NULL },
	{ "filter", "-A INPUT -m owner --uid-owner 5", NULL, NULL },
	{ "filter", "-A FORWARD -j REJECT --reject-with tcp-reset", NULL, NULL },
	{ "filter", "-A FORWARD -j LOG --log-level 8", NULL, NULL },
	{ "filter", "-A FORWARD -j TTL --ttl-set 5", NULL, NULL },
	{ "filter", "-A FORWARD -j TRACE", "nft takes it in every table", NULL },
	{ "filter", "-A FORWARD -p tcp -j TCPMSS --set-mss 1400",
			"nft takes it without a SYN match", NULL },
	{ "filter", "-A FORWARD -j TEE --gateway 0.0.0.0", NULL, NULL },
	{ "filter", "-A FORWARD -j CLASSIFY --set-class 10000:f", NULL, "the number is cut off" },
	{ "mangle", "-A FORWARD -j MARK", NULL, NULL },
	{ "mangle", "-A INPUT -p tcp --syn -j TCPMSS --clamp-mss-to-pmtu", NULL, NULL },
	{ "mangle", "-A FORWARD -j HMARK --hmark-tuple src --hmark-rnd 3 --hmark-mod 0", NULL,
			NULL },
	{ "mangle", "-A FORWARD -j HMARK --hmark-tuple spi,sport --hmark-mod 3 --hmark-rnd 3", NULL,
			NULL },
	{ "mangle", "-A FORWARD -p tcp -j TCPOPTSTRIP --strip-options 0", NULL, NULL },
	{ "raw", "-A PREROUTING -j CT --helper ftp", NULL, NULL },
	{ "raw", "-A PREROUTING -p tcp -j CT --timeout foo", NULL, NULL },
	{ "nat", "-A PREROUTING -j DROP", NULL, NULL },
	{ "nat", "-A PREROUTING -j SNAT --to-source 1.2.3.4", NULL, NULL },
	{ "nat", "-A POSTROUTING -j SNAT --to-source 1.2.3.4:5", NULL, NULL },
	{ "nat", "-A POSTROUTING -p tcp -j SNAT --to-source 1.2.3.4:9-5", NULL, NULL },
	{ "nat", "-A PREROUTING -j NETMAP --to 1.2.3.4/255.0.255.0", NULL, "loaded as /32" },
	{ "nat", "-A PREROUTING -p tcp -j REDIRECT --to-ports 80-90/85", NULL, NULL },
};

static bool kernel_takes(const char *text)
{
	FILE *p = popen("iptables-legacy-restore -w > /dev/null 2>&1", "w");

	fputs(text, p);
	return pclose(p) == 0;
}

static bool sluice_takes(const char *text)
{
	struct ipt_load args = { .path = "row", .text = text, .text_len = strlen(text) };
	struct ipt_ruleset *rs = NULL;
	struct ipt_errors errors;
	bool taken = ipt_load(&args, &rs, &errors) == 0;

	ipt_errors_free(&errors);
	ipt_ruleset_free(rs);
	return taken;
}

int main(void)
{
	unsigned int failures = 0, n = sizeof(rows) / sizeof(rows[0]);
	char text[1024];

	if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0
			|| system("command -v iptables-legacy-restore > /dev/null") != 0) {
		puts("SKIPPED: needs root and iptables-legacy");
		return SKIP;
	}
	for (unsigned int i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		bool kernel, sluice;

		snprintf(text, sizeof(text), "*%s\n:U - [0:0]\n%s\nCOMMIT\n", r->table, r->line);
		kernel = kernel_takes(text);
		sluice = sluice_takes(text);
		if (kernel != (r->we_refuse != NULL) || sluice != (r->we_take != NULL)) {
			printf("%s %s: iptables %s, sluice %s\n", r->table, r->line,
					kernel ? "takes" : "refuses", sluice ? "takes" : "refuses");
			failures++;
		}
	}
	printf("%u lines, %u failures\n", n, failures);
	return failures > 0;
}
