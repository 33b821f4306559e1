/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules from templates. In a template {a|b|} is one of these, also nested, and %X a random value:
 *   %1 %8 %16 %32 %64   number below 2^that many bits      %+8 %+16 %+32  the same, but not 0
 *   %r16 %r32           range a:b, a below b                %q             a:b or a or a: or :b, 16 bits
 *   %a %n               address, address with a mask        %i             interface
 *   %s                  quoted string of printable bytes    %u             a name never used before
 *   %h                  "|hex bytes|"                        %m             link address
 */
#include "ipt_gen.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define F4 (1 << IPT_V4)
#define F6 (1 << IPT_V6)
#define F46 (F4 | F6)
#define FILTER (1 << IPT_FILTER)
#define MANGLE (1 << IPT_MANGLE)
#define RAW (1 << IPT_RAW)
#define NAT (1 << IPT_NAT)

static const struct template
{
	uint8_t families;
	uint8_t tables;
	const char *text;
}
templates
		[] = {
			{ F46, FILTER | MANGLE,
					"{{! |}-s %n |}{{! |}-d %n |}{{! |}-i %i |}{{! |}-o %i |}{{! |}-p {%+8|tcp|udp} |}{-j ACCEPT|-j DROP|-j RETURN|-j QUEUE|-j user|-g user|}" },
			{ F4, FILTER, "{! |}-f -j DROP" },
			{ F46, FILTER, "-c %64 %64 -j ACCEPT" },
			{ F46, FILTER, "-p tcp -m tcp {{! |}--sport {%16|%r16}|} {{! |}--dport {%16|%r16}|} {{! |}--tcp-option %+8|} {{! |}--tcp-flags {SYN,ACK|ALL|FIN,URG,PSH} {NONE|SYN|RST,ACK|ALL}|{! |}--syn|}" },
			{ F46, FILTER, "-p udp {--sport {%16|%r16}|--dport {%16|%16:%16|domain}}" },
			{ F46, FILTER, "-p sctp -m sctp {{! |}--sport {%16|%r16}|} {{! |}--dport %r16|} {{! |}--chunk-types {all|any|only} {DATA:{U|b|Ei|IUBE},INIT,ABORT{:T|:t|}|ALL|NONE|SACK,ERROR,COOKIE_ECHO,ECN_CWR,SHUTDOWN_COMPLETE:T,I_DATA,PAD,FORWARD_TSN}|}" },
			{ F46, FILTER, "-p dccp -m dccp {{! |}--sport {%16|%r16}|} {{! |}--dport %r16|} {{! |}--dccp-types {REQUEST|RESPONSE,DATA,ACK|DATAACK,CLOSEREQ,CLOSE,RESET,SYNC,SYNCACK,INVALID}|} {{! |}--dccp-option %+8|}" },
			{ F46, FILTER, "-p esp -m esp --espspi {%32|%r32}" },
			{ F4, FILTER, "-p ah -m ah {{! |}--ahspi {%32|%r32}|}" },
			{ F6, FILTER, "-m ah {{! |}--ahspi {%32|%r32}|} {{! |}--ahlen %+16|} {--ahres|}" },
			{ F4, FILTER, "-p icmp -m icmp {! |}--icmp-type {%8|%8/%8|any|echo-request|host-unreachable|TOS-host-redirect|pong|router-adv}" },
			{ F6, FILTER, "-p icmpv6 -m icmp6 {! |}--icmpv6-type {%8|%8/%8|echo-request|no-route|neighbor-sol|packet-too-big|bad-header}" },
			{ F6, FILTER, "-p mh -m mh {{! |}--mh-type {%8|0:9|brr|binding-ack}|}" },
			{ F46, FILTER, "-p {tcp|udp|sctp|dccp|udplite} -m multiport {! |}--{sports|dports|ports} {%16|%16,%16|%r16,%16|%r16,%r16,%r16,%16}" },
			{ F46, FILTER, "-m iprange {{! |}--src-range %a-%a|{! |}--dst-range %a|--src-range %a ! --dst-range %a-%a}" },
			{ F46, FILTER, "-m mac {! |}--mac-source %m" },
			{ F46, FILTER, "-m mark {! |}--mark %32{/%32|}" },
			{ F46, FILTER, "-m connmark {! |}--mark %32{/%32|}" },
			{ F46, FILTER, "-m length {! |}--length %q" },
			{ F4, FILTER, "-m ttl {{! |}--ttl-eq %8|--ttl-lt %8|--ttl-gt %8}" },
			{ F6, FILTER, "-m hl {{! |}--hl-eq %8|--hl-lt %8|--hl-gt %8}" },
			{ F46, FILTER, "-m tos {! |}--tos {%8|%8/%8|Minimize-Cost|Normal-Service|maximize-reliability}" },
			{ F46, FILTER, "-m dscp {! |}{--dscp 0x2%1|--dscp-class {EF|BE|CS5|AF32|af43}}" },
			{ F46, FILTER, "-p tcp -m ecn {{! |}--ecn-tcp-ece|{! |}--ecn-tcp-cwr --ecn-tcp-ece|{! |}--ecn-ip-ect 2}" },
			{ F46, FILTER, "-p tcp -m tcpmss {! |}--mss {%16|%r16|:%16|%16:}" },
			{ F4, FILTER, "-m addrtype {{! |}--src-type {LOCAL|UNSPEC,BROADCAST,THROW}|} {! |}--dst-type {ANYCAST|XRESOLVE,NAT,PROHIBIT,BLACKHOLE|unicast} {--limit-iface-in|--limit-iface-out|}" },
			{ F6, FILTER, "-m addrtype {{! |}--src-type LOCAL|} {! |}--dst-type {ANYCAST|UNICAST,MULTICAST,UNREACHABLE} {--limit-iface-in|}" },
			{ F46, FILTER, "-m pkttype {! |}--pkt-type {unicast|broadcast|multicast|otherhost|host|bcast}" },
			{ F46, FILTER, "-m physdev {{! |}--physdev-is-in|} {{! |}--physdev-in %i|} {{! |}--physdev-is-bridged|} {{! |}--physdev-is-out|} {! |}--physdev-out %i" },
			{ F46, RAW | MANGLE,
					"-m rpfilter {--loose|} {--validmark|} {--accept-local|} {--invert|}" },
			{ F46, FILTER, "-m owner {{! |}--socket-exists|} {{! |}--uid-owner {%16|root|5-%+16000|0}|} {! |}--gid-owner {%16|root} {--suppl-groups|}" },
			{ F46, FILTER, "-m cpu {! |}--cpu %8" },
			{ F4, FILTER, "-m realm {! |}--realm %+16{/%16|}" },
			{ F46, FILTER, "-m devgroup {{! |}--src-group %+16{/%16|}|{! |}--dst-group %+16}" },
			{ F46, FILTER, "-m limit {--limit {%+8/{s|min}|7{0|00|000}/{second|minute}|%+8} {--limit-burst {5|%+8}|}|--limit {30/h|7/hour}|}" },
			{ F46,
					FILTER, "-m hashlimit {--hashlimit-upto|--hashlimit-above|! --hashlimit|--hashlimit} {%+16/{sec|m}|%+16|1%8/{hour|day}} {--hashlimit-burst %+8|} --hashlimit-mode {srcip|dstip,srcport|srcip,dstip,srcport,dstport} --hashlimit-name %u {--hashlimit-htable-size %+8|} {--hashlimit-htable-max %+8|} {--hashlimit-htable-expire %+16|} {--hashlimit-htable-gcinterval %+16|} {--hashlimit-srcmask {0|8|32}|} {--hashlimit-dstmask 2%1|} {--hashlimit-rate-match|--hashlimit-rate-match --hashlimit-rate-interval %+8|}" },
			{ F46, FILTER, "-m hashlimit {--hashlimit-upto|--hashlimit-above} {%+16kb/s|1%8%8b/s|%+8mb/s|1%16kb/s} --hashlimit-name %u {--hashlimit-htable-expire %+16|}" },
			{ F46, FILTER, "-m hashlimit --hashlimit-upto {256kb/s|512kb/s|1mb/s} --hashlimit-burst {1|2|3|9}mb --hashlimit-name %u {--hashlimit-htable-expire %+16|}" },
			{ F46, FILTER, "-m quota {! |}--quota %64" },
			{ F46, FILTER, "-m statistic {--mode random {! |}--probability 0.%+16%+16|--mode nth {! |}--every 1%16 --packet %1}" },
			{ F46, FILTER, "-m recent {! |}{--set|--rcheck|--update|--rcheck --seconds %+16 {--reap|} {--hitcount %+8|} {--rttl|}|--remove} {--name %u|} {--mask %a|} {--rsource|--rdest|}" },
			{ F46, FILTER, "-m string {! |}{--string %s|--hex-string %h} --algo {bm|kmp} {--from %+8|} {--to 30%+8|} {--icase|}" },
			{ F46, FILTER, "-m u32 {! |}--u32 \"%32{&%32|>>1%1|<<2%1|}{@%16|}=%32{:%32|}{,%32|}{&&%8@%8&0xff=%8:%16|}\"" },
			{ F46, FILTER, "-m bpf --bytecode \"{1,6 0 0 %32|4,48 0 0 9,21 0 1 %8,6 0 0 %32,6 0 0 0}\"" },
			{ F46, FILTER, "-m comment --comment {%s|word}" },
			{ F46, FILTER, "-m time {--timestart 1%1:2%1{:3%1|}|} {--timestop 2%1:00|} {{! |}--weekdays {Mon|1,2,7|Fri,Sat}|} {{! |}--monthdays {1|5,6,31|%+1}|} {--datestart 20%1%1{-05{-1%1{T02:03{:04|}|}|}|}|} {--datestop 203%1-01-01|} {--kerneltz|--utc|--localtz|}" },
			{ F4, FILTER, "-m set {! |}--match-set gen4 {src|dst|src,dst} {--return-nomatch|} {! --update-counters|} {! --update-subcounters|} {{! |}--packets-eq %64|--packets-lt %32|--packets-gt %32|} {{! |}--bytes-eq %32|--bytes-lt %32|--bytes-gt %64|}" },
			{ F6, FILTER, "-m set {! |}--match-set gen6 {src|dst,src}" },
			{ F46, FILTER, "-m state {! |}--state {NEW|RELATED,ESTABLISHED|INVALID,UNTRACKED}" },
			{ F46, FILTER, "-m conntrack {{! |}--ctstate {NEW|RELATED,ESTABLISHED|SNAT,INVALID|DNAT}|} {{! |}--ctproto {%+8|tcp}|} {{! |}--ctorigsrc %a{/1%1|}|} {{! |}--ctorigdst %a|} {{! |}--ctreplsrc %a/2%1|} {{! |}--ctrepldst %a|} {{! |}--ctorigsrcport {%16|%r16}|} {{! |}--ctorigdstport %16|} {{! |}--ctreplsrcport %r16|} {{! |}--ctrepldstport %16|} {{! |}--ctstatus {NONE|ASSURED|EXPECTED,CONFIRMED,SEEN_REPLY}|} {{! |}--ctexpire {%32|%r32}|} --ctdir {ORIGINAL|REPLY}" },
			{ F46, FILTER, "-m connlimit {{! |}--connlimit-above %16|{! |}--connlimit-upto %8} {--connlimit-mask 2%1|} {--connlimit-saddr|--connlimit-daddr|}" },
			{ F46, FILTER, "-m connbytes {! |}--connbytes {%+8:300%16|%32:|%32} --connbytes-dir {original|reply|both} --connbytes-mode {packets|bytes|avgpkt}" },
			{ F46, FILTER, "-m connlabel {! |}--label {7|12%1} {--set|}" },
			{ F46, FILTER, "-m helper {! |}--helper {ftp|\"\"|sip-5060|%s}" },
			{ F46, FILTER, "-m cluster --cluster-total-nodes 1%1 {{! |}--cluster-local-node {1|2|5}|{! |}--cluster-local-nodemask {%+1|31}} --cluster-hash-seed %32" },
			{ F6, FILTER, "-m {hbh {{! |}--hbh-len %16|} {--hbh-opts {%8|%+8:%8,%8|%8,%8,%+8:3}|}|dst {{! |}--dst-len %16|} {--dst-opts %+8:%8|}}" },
			{ F6, FILTER, "-m rt {{! |}--rt-type %+16|--rt-type 0 {--rt-0-res|} {--rt-0-addrs %a,%a {--rt-0-not-strict|}|}} {{! |}--rt-segsleft {%32|%r32}|} {{! |}--rt-len %16|}" },
			{ F6, FILTER, "-m frag {{! |}--fragid {%32|%r32}|} {{! |}--fraglen %16|} {--fragres|} {--fragfirst|} {--fragmore|--fraglast|}" },
			{ F6, FILTER, "-m ipv6header {! |}--header {hop|dst,route|frag,auth,esp|none,prot|0,60|59} {--soft|}" },
			{ F6, FILTER, "-m eui64" },
			{ F46, FILTER, "-p tcp -m tcp --dport %16 -m state --state NEW -m limit --limit 3/s -m comment --comment %s -j LOG --log-prefix \"%8: \"" },
			{ F4, FILTER, "-p tcp -j REJECT {--reject-with {icmp-net-unreachable|host-unreach|icmp-proto|port-unreach|net-prohib|icmp-host-prohibited|admin-prohib|tcp-reset|tcp-rst}|}" },
			{ F6, FILTER, "-p tcp -j REJECT {--reject-with {icmp6-no-route|adm-prohib|addr-unreach|port-unreach|policy-fail|icmp6-reject-route|tcp-reset}|}" },
			{ F46, FILTER, "-j LOG {--log-prefix {%s|word}|} {--log-level {%1|debug|warning|emerg|7}|} {--log-tcp-sequence|} {--log-tcp-options|} {--log-ip-options|} {--log-uid|} {--log-macdecode|}" },
			{ F46, FILTER, "-j NFLOG {--nflog-prefix %s|} {--nflog-group %16|} {--nflog-size %32|} {--nflog-threshold %16|}" },
			{ F46, FILTER, "-j NFQUEUE {--queue-num %16|--queue-balance 1:2%8 {--queue-cpu-fanout|}|} {--queue-bypass|}" },
			{ F46, FILTER, "-j AUDIT --type {accept|DROP|reject}" },
			{ F4, FILTER, "-j TEE --gateway 10.%8.%8.1 {--oif eth%1|}" },
			{ F6, FILTER, "-j TEE --gateway fd00::%+8" },
			{ F4, FILTER, "-j SET {--add-set gen4 {src|dst,src} {--exist|} {--timeout %16|} {--del-set gen4 dst|}|--del-set gen4 src}" },
			{ F46, FILTER, "-j MARK {--set-xmark %32{/%32|}|--set-mark %32{/%32|}|--and-mark %32|--or-mark %32|--xor-mark %32}" },
			{ F46, MANGLE, "-j CONNMARK {--set-xmark %32{/%32|}|--set-mark %32{/%32|}|--and-mark %32|--or-mark %32|--xor-mark %32|{--save-mark|--restore-mark} {--mask %32|--nfmask %32|--ctmask %32 --nfmask %32|} {--left-shift-mark %+1|--right-shift-mark 1%1|}}" },
			{ F46, MANGLE, "-j CLASSIFY --set-class {1|f0}:{%1|ab}" },
			{ F46, MANGLE, "-j HMARK {--hmark-tuple {src|src,dst|src,dst,sport,dport,proto|ct,src|src,dst,spi}|--hmark-src-prefix 2%1 {--hmark-dst-prefix 1%1|} {--hmark-sport-mask %16|} {--hmark-dport-mask %16 --hmark-dport %16|} {--hmark-proto-mask %16|}|--hmark-spi-mask %32 --hmark-spi %32} --hmark-mod %+32 --hmark-rnd %32 {--hmark-offset %32|}" },
			{ F46, MANGLE, "-j TOS {--set-tos {%8|%8/%8|Minimize-Delay}|--and-tos %8|--or-tos %8|--xor-tos %8}" },
			{ F46, MANGLE, "-j DSCP {--set-dscp 1%1|--set-dscp-class {CS3|EF}}" },
			{ F4, MANGLE, "-p tcp -j ECN {--ecn-tcp-remove|--ecn-ip-ect 3|--ecn-tcp-cwr 1|--ecn-tcp-ece 0|--ecn-tcp-cwr 0 --ecn-tcp-ece 1 --ecn-ip-ect 2}" },
			{ F4, MANGLE, "-j TTL {--ttl-set %8|--ttl-dec %+8|--ttl-inc %+8}" },
			{ F6, MANGLE, "-j HL {--hl-set %8|--hl-dec %+8|--hl-inc %+8}" },
			{ F46, MANGLE, "-j CHECKSUM --checksum-fill" },
			{ F46, MANGLE, "-p tcp --tcp-flags SYN,RST SYN -j TCPMSS {--set-mss {%8|1460|65495}|--clamp-mss-to-pmtu}" },
			{ F46, MANGLE, "-p tcp -j TCPOPTSTRIP {--strip-options {wscale,mss|2%1,sack,md5|timestamp,sack-permitted,255}|}" },
			{ F46, RAW, "-j {NOTRACK|TRACE|CT --notrack}" },
			{ F46, RAW, "-p tcp -j CT {--helper ftp|} {--ctevents {new|destroy,related,mark|assured,protoinfo,helper,natseqinfo,secmark,reply}|} {--expevents new|} {--zone %+16|--zone mark|--zone-orig %+8|--zone-reply mark|}" },
			{ F4, NAT, "-p tcp -j SNAT --to-source {%a{-%a|}|%a:%16|%a-%a:1-%+16|:%16} {--random|} {--random-fully|} {--persistent|}" },
			{ F6, NAT, "-p tcp -j SNAT --to-source {%a{-%a|}|[%a]:%16|[%a-%a]:1-%+16|:%16} {--random|} {--random-fully|} {--persistent|}" },
			{ F4, NAT, "-p udp -j DNAT --to-destination {%a{-%a|}|%a:%16|%a-%a:1-%+16|:%16|%a:1-3%8/%+16} {--random|} {--persistent|}" },
			{ F6, NAT, "-p udp -j DNAT --to-destination {%a{-%a|}|[%a]:%16|[%a-%a]:1-%+16|[%a]:1-3%8/%+16} {--random|} {--persistent|}" },
			{ F46, NAT, "-p tcp -j MASQUERADE {--to-ports {%16|1-%+16}|} {--random|} {--random-fully|}" },
			{ F46, NAT, "-p tcp -j REDIRECT {--to-ports {%16|1-%+16|http}|} {--random|}" },
			{ F46, NAT, "-j NETMAP --to %a/1%1" },
		};

struct gen {
	FILE *f;
	enum ipt_family family;
	uint32_t state;
	unsigned int names;
};

static uint32_t draw(struct gen *g)
{
	g->state ^= g->state << 13;
	g->state ^= g->state >> 17;
	g->state ^= g->state << 5;
	return g->state;
}

/* small, full-range and all-ones values about alike */
static uint64_t number(struct gen *g, unsigned int bits, bool not_zero)
{
	uint64_t max = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, v;

	switch (draw(g) % 4) {
	case 0:
		v = draw(g) % 10 & max;
		break;
	case 1:
		v = max - (bits < 64 && draw(g) % 2);
		break;
	default:
		v = ((uint64_t)draw(g) << 32 | draw(g)) & max;
	}
	return v == 0 && not_zero ? 1 : v;
}

static void put_addr(struct gen *g)
{
	if (g->family == IPT_V4) {
		fprintf(g->f, "%u.%u.%u.%u", draw(g) % 256, draw(g) % 256, draw(g) % 256,
				draw(g) % 256);
		return;
	}
	fprintf(g->f, "fd%02x:%x", draw(g) % 256, draw(g) % 65536);
	if (draw(g) % 2)
		fprintf(g->f, "::%x", draw(g) % 65536);
	else
		fprintf(g->f, ":0:%x:0:0:%x:1", draw(g) % 65536, draw(g) % 65536);
}

static void put_net(struct gen *g)
{
	put_addr(g);
	switch (draw(g) % 3) {
	case 0:
		fprintf(g->f, "/%u", draw(g) % (g->family == IPT_V4 ? 33 : 129));
		break;
	case 1:
		fputc('/', g->f);
		if (g->family == IPT_V4 || draw(g) % 2)
			put_addr(g);
		else
			fputs("ffff:ff00::", g->f);
		break;
	}
}

static void put_string(struct gen *g)
{
	static const char bytes[] = "abcXYZ019 _-.,:;#!?'/*(){}[]<>=+&%$@~^`|";
	unsigned int len = 1 + draw(g) % 20;

	fputc('"', g->f);
	for (unsigned int i = 0; i < len; i++)
		switch (draw(g) % 12) {
		case 0:
			fputs("\\\"", g->f);
			break;
		case 1:
			fputs("\\\\x", g->f);
			break;
		default:
			fputc(bytes[draw(g) % (sizeof(bytes) - 1)], g->f);
		}
	fputc('"', g->f);
}

static void put_range(struct gen *g, unsigned int bits)
{
	uint64_t a = number(g, bits, false), b = number(g, bits, false);

	if (a > b) {
		uint64_t swap = a;

		a = b;
		b = swap;
	}
	if (a == b || (a == 0 && draw(g) % 2))
		a = b > 5 ? 5 : b++;
	fprintf(g->f, "%llu:%llu", (unsigned long long)a, (unsigned long long)b);
}

/* %q: any spelling of a range of 16 bits */
static void put_any_range(struct gen *g)
{
	switch (draw(g) % 4) {
	case 0:
		fprintf(g->f, "%u", draw(g) % 65536);
		break;
	case 1:
		fprintf(g->f, "%u:", draw(g) % 65536);
		break;
	case 2:
		fprintf(g->f, ":%u", draw(g) % 65536);
		break;
	case 3:
		fprintf(g->f, "%u:%u", draw(g) % 65536, draw(g) % 65536);
		break;
	}
}

/* One %X; returns what stands behind it. */
static const char *put_value(struct gen *g, const char *s)
{
	bool not_zero = *s == '+';
	unsigned long bits;
	char *end;

	s += not_zero;
	switch (*s) {
	case 'a':
		put_addr(g);
		return s + 1;
	case 'n':
		put_net(g);
		return s + 1;
	case 'i':
		fprintf(g->f, "%s%u%s", draw(g) % 2 ? "eth" : "br-", draw(g) % 100,
				draw(g) % 3 ? "" : "+");
		return s + 1;
	case 's':
		put_string(g);
		return s + 1;
	case 'u':
		fprintf(g->f, "name%u", g->names++);
		return s + 1;
	case 'h':
		fputs("\"|", g->f);
		for (unsigned int n = 1 + draw(g) % 8; n > 0; n--)
			fprintf(g->f, "%02x", draw(g) % 256);
		fputs("|\"", g->f);
		return s + 1;
	case 'm':
		fprintf(g->f, "%02X:%02x:00:ff:%02x:01", draw(g) % 256, draw(g) % 256,
				draw(g) % 256);
		return s + 1;
	case 'q':
		put_any_range(g);
		return s + 1;
	case 'r':
		put_range(g, s[1] == '1' ? 16 : 32);
		return s + 3;
	}
	bits = strtoul(s, &end, 10);
	if (bits > 64) { /* a limit in decimal */
		fprintf(g->f, "%lu", 1000 + draw(g) % bits);
		return end;
	}
	if (bits == 1)
		fprintf(g->f, "%u", not_zero ? 1 + draw(g) % 9 : draw(g) % 2);
	else
		fprintf(g->f, "%llu", (unsigned long long)number(g, bits, not_zero));
	return end;
}

/* Up to the `|` or `}` that belongs to this level. Returns that place. */
static const char *put(struct gen *g, const char *s);

static const char *skip_alternative(const char *s)
{
	for (int depth = 0; depth > 0 || (*s != '|' && *s != '}'); s++)
		depth += *s == '{' ? 1 : *s == '}' ? -1 : 0;
	return s;
}

static const char *put_choice(struct gen *g, const char *s)
{
	unsigned int n = 1, pick;

	for (const char *p = skip_alternative(s); *p == '|'; p = skip_alternative(p + 1))
		n++;
	pick = draw(g) % n;
	for (unsigned int i = 0; i < n; i++, s++)
		s = i == pick ? put(g, s) : skip_alternative(s);
	return s; /* behind the `}` */
}

static const char *put(struct gen *g, const char *s)
{
	while (*s != '\0' && *s != '|' && *s != '}') {
		if (*s == '{')
			s = put_choice(g, s + 1);
		else if (*s == '%')
			s = put_value(g, s + 1);
		else
			fputc(*s++, g->f);
	}
	return s;
}

unsigned int ipt_gen(FILE *f, enum ipt_family family, enum ipt_table_id table, uint32_t seed,
		unsigned int per_template)
{
	struct gen g = { .f = f, .family = family, .state = seed * 2654435761u + 1 };
	unsigned int n = 0;

	for (size_t i = 0; i < sizeof(templates) / sizeof(templates[0]); i++) {
		const struct template *t = &templates[i];

		if (!(t->families & (1 << family)) || !(t->tables & (1 << table)))
			continue;
		for (unsigned int k = 0; k < per_template; k++, n++) {
			fputs("-A gen ", f);
			put(&g, t->text);
			fputc('\n', f);
		}
	}
	return n;
}
