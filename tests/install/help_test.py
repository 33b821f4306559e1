#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What programs say of themselves with --help, what their manual pages say, and what bash completes
agree: every command and every option, both ways.

usage: help_test.py MAN_DIR COMPLETION_DIR SLUICE SLUICECTL SLUICE_BENCH"""
import os
import re
import subprocess
import sys

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[A-Za-z0-9!])(?![\w-])")
HELP = {"-h", "--help"}
faults = []


def help_of(*command):
    return subprocess.run([*command, "--help"], check=True, capture_output=True, text=True).stdout


def said(text):
    """commands with options of their own, and options: what begins a line behind two blanks, or six
    before a long option"""
    words, options = {}, set()
    for line in text.splitlines():
        found = re.match(r"  (?: {4}(?=--))?(\S.*?)(?:  |$)", line)
        if not found:
            continue
        own = set(OPTION.findall(found[1]))
        if found[1].startswith("-"):
            options |= own
        else:
            word = found[1].split()[0]
            words[word] = words.get(word, set()) | own
    return words, options


def man(name):
    """sections and items of a page, and the options among these"""
    path = os.path.join(sys.argv[1], name + ".8")
    text = open(path, encoding="utf-8").read().replace("\\-", "-")
    words = set(re.findall(r'^\.SS "(.*)"', text, re.M))
    options = set()
    for item in re.findall(r"^\.TP\n\.B (.*)", text, re.M):
        options |= set(OPTION.findall(item))
        if not item.startswith(("/", "-")):
            words.add(item.split()[0])
    return words, options


def complete(name, *words):
    script = """. "$1/$2"; f=_${2//-/_}; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); $f
printf '%s\\n' "${COMPREPLY[@]}\""""
    command = ["bash", "-c", script, "-", sys.argv[2], name, *words]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def differ(what, found, expected):
    faults.extend(f"{what}: '{w}' is missing" for w in sorted(expected - found))
    faults.extend(f"{what}: --help does not know '{w}'" for w in sorted(found - expected))


def program_of_commands(name, path):
    commands = set(said(help_of(path))[0])
    assert len(commands) > 3, commands
    options = set()
    for command in commands - {"experiment"}:
        _, own = said(help_of(path, command))
        options |= own
        differ(f"completion of {name} {command}", complete(name, command, "-") - HELP, own - HELP)
    differ(f"completion of {name}", complete(name, "") - {"--help", "--version"}, commands)
    words, known = man(name)
    differ(f"{name}.8, commands", words, commands)
    differ(f"{name}.8, options", known - HELP - {"--version"}, options - HELP)


def program_of_options(name, path):
    commands, options = said(help_of(path))
    assert len(commands) > 10 and len(options) > 8, (commands, options)
    differ(f"completion of {name}", complete(name, ""), set(commands))
    differ(f"completion of {name}", complete(name, "-"), options)
    for command, own in commands.items():
        offered = complete(name, command, "-")
        differ(f"completion of {name} {command}", offered - options, own - options)
    words, known = man(name)
    differ(f"{name}.8, commands", words, set(commands))
    differ(f"{name}.8, options", known, options.union(*commands.values()))


program_of_commands("sluice", sys.argv[3])
program_of_options("sluicectl", sys.argv[4])
program_of_commands("sluice-bench", sys.argv[5])
# values, and words that stand behind others
for line, expected in [
    (("sluice", "run", "-l", "n"), {"notice"}),
    (("sluicectl", "-s", "x", "conntrack", "fl"), {"flush"}),
    (("sluicectl", "rules", "-t", "ma"), {"mangle"}),
    (("sluicectl", "re"), {"recent", "reload"}),
    (("sluice-bench", "experiment", "nat"), {"nat-or-not"}),
]:
    if complete(*line) != expected:
        faults.append(f"completion of {' '.join(line)}: {complete(*line)}, expected {expected}")
print("\n".join(faults) or "they agree")
sys.exit(1 if faults else 0)
