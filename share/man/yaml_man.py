#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/config.md as a manual page, sluice.yaml(5), on the standard output: yaml_man.py CONFIG.md"""
import re
import sys


def text(line):
    line = line.replace("\\", "\\e").replace("-", "\\-")
    line = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line)
    line = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", line)
    return "\\&" + line if line[:1] in (".", "'") else line


def row(line):
    key, *said = [c.strip() for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
    more = ", ".join(c for c in said[:-1] if c)
    return [".TP", text(key) + (f" ({text(more)})" if more else ""), text(said[-1])]


def main():
    print('.\\" SPDX-License-Identifier: BSD-3-Clause')
    print('.TH SLUICE.YAML 5 "" "sluice" "sluice manual"')
    print(".SH NAME\nsluice.yaml \\- the configuration of sluice\n.SH DESCRIPTION")
    code = False
    lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
    for i, line in enumerate(lines):
        rule = re.match(r"\| ?-", line)
        title = i + 1 < len(lines) and line.startswith("|") and re.match(r"\| ?-", lines[i + 1])
        if line.startswith("```"):
            code = not code
            print(".PP\n.nf" if code else ".fi")
        elif code:
            print(text(line))
        elif line.startswith("## "):
            print(f".SH {text(line[3:])}")
        elif line.startswith("### "):
            print(f".SS {text(line[4:])}")
        elif line.startswith("|") and not rule and not title:
            print("\n".join(row(line)))
        elif line.startswith("- "):
            print(".IP \\(bu 2\n" + text(line[2:]))
        elif line and not line.startswith(("# ", "<!--", "|")):
            print(".PP\n" + text(line))
    print(".SH SEE ALSO\n.BR sluice (8),\n.BR sluicectl (8)")


main()
