/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/html.h"

/* colours are named by role, and given twice: for light and for dark */
const char html_head[] =
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<title>sluice-bench: the kernel and sluice, stage by stage</title>\n<style>\n"
		":root{--page:#fff;--ink:#1c2733;--soft:#5b6875;--line:#dde3e9;--card:#f6f8fa;"
		"--kernel:#c2632b;--ours:#1f6fb5;--warn:#8a5a00;--warn-card:#fff6df}\n"
		"@media(prefers-color-scheme:dark){:root{--page:#12171d;--ink:#e4e9ee;--soft:#9aa7b4;"
		"--line:#2b343e;--card:#1a212a;--kernel:#ee9a63;--ours:#66b0f0;--warn:#f0c674;"
		"--warn-card:#2b2618}}\n"
		"*{box-sizing:border-box}\n"
		"body{margin:0 auto;padding:1rem;max-width:62rem;background:var(--page);"
		"color:var(--ink);font:16px/1.5 system-ui,sans-serif}\n"
		"h1{font-size:1.5rem;line-height:1.2;margin:.5rem 0}"
		"h2{font-size:1.15rem;margin:2rem 0 .5rem}"
		"h3{font-size:1rem;margin:0}\n"
		"p,li{max-width:44rem}.soft{color:var(--soft)}\n"
		".scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px}\n"
		"table{border-collapse:collapse;width:100%;font-size:.88rem;"
		"font-variant-numeric:tabular-nums}\n"
		"th,td{padding:.4rem .6rem;text-align:right;white-space:nowrap;"
		"border-bottom:1px solid var(--line)}\n"
		"tr:last-child td{border-bottom:0}\n"
		"th{color:var(--soft);font-weight:600;background:var(--card)}\n"
		"th:first-child,td:first-child{text-align:left;position:sticky;left:0;"
		"background:var(--card)}\n"
		"td.k,.key .k{color:var(--kernel)}td.o,.key .o{color:var(--ours)}\n"
		"td b{font-size:1rem}\n"
		".card{background:var(--card);border:1px solid var(--line);border-radius:8px;"
		"padding:.8rem 1rem;margin:.7rem 0}\n"
		".card p{margin:.1rem 0 .4rem}.card ul{margin:.4rem 0 0;padding-left:1.1rem}\n"
		".note{color:var(--warn);font-size:.85rem}\n"
		"svg{display:block;width:100%;max-width:31rem;height:auto}\n"
		"svg text{font:14px system-ui,sans-serif;fill:var(--ink)}\n"
		"svg .kernel{fill:var(--kernel)}svg .ours{fill:var(--ours)}\n"
		"svg .grid{stroke:var(--line)}svg .tick{font-size:12px;fill:var(--soft)}\n"
		"svg polyline{fill:none;stroke-width:2}svg .k{stroke:var(--kernel)}"
		"svg .o{stroke:var(--ours)}\n"
		".plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(18rem,100%),1fr));"
		"gap:0 .7rem}\n"
		"svg .whisker{stroke:var(--ink);stroke-width:1.5}\n"
		"dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem .9rem;"
		"font-size:.88rem}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}\n"
		"@media(max-width:30rem){body{padding:.7rem}dl{grid-template-columns:1fr;gap:0}"
		"dd{margin-bottom:.5rem}}\n"
		"</style>\n</head>\n<body>\n";

const char html_method[] =
		"<h2>How it was measured</h2>\n"
		"<p>Both sides get the same packets, in the same order, on the same core, in turns: a "
		"round of one, a round of the other. A figure is the median of its rounds; the "
		"interval says how far it would move with other rounds of the same kind (95 %, "
		"bootstrap). &ldquo;Times as fast&rdquo; is the kernel&rsquo;s time over sluice&rsquo;s.</p>\n"
		"<ul>\n"
		"<li><b>Kernel:</b> packets enter a router of its own (a network namespace) as if its "
		"first interface had received them, and are thrown away where they would be handed "
		"to the second one. The time is that of the thread that does all this.</li>\n"
		"<li><b>sluice:</b> the library that <code>sluice run</code> uses, from memory to "
		"memory.</li>\n"
		"<li><b>The same work:</b> as many packets must leave as entered; the first 64 must "
		"be the same byte for byte on all sides; the rules are read back and must be the "
		"same. Otherwise there is no figure.</li>\n"
		"</ul>\n"
		"<h2>What it does not say</h2>\n"
		"<ul>\n"
		"<li>No network card takes part, so the cost of drivers, interrupts and the bus is in "
		"neither figure. A kernel&rsquo;s driver costs more than a poll-mode one: end to end "
		"the gap may be wider.</li>\n"
		"<li>The kernel does more than sluice: sockets, traffic control, tunnels. It pays for "
		"being ready for them.</li>\n"
		"<li>sluice polls: its core is busy when no packet comes.</li>\n"
		"<li>One core. One kind of packet in each scenario. A virtual machine or another "
		"processor gives other figures.</li>\n"
		"</ul>\n";

void html_text(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}
