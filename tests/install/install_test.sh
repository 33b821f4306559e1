#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# meson install into a directory of its own: everything is there and fit for use.
# usage: install_test.sh BUILD
set -eu

root=$(mktemp -d "${TMPDIR:-/tmp}/sluice-install.XXXXXX")
trap 'rm -rf "$root"' EXIT
fail()
{
	echo "$*"
	exit 1
}

DESTDIR=$root meson install -C "$1" --no-rebuild --quiet >"$root/log" 2>&1 || fail "$(cat "$root/log")"
prefix=$root$(meson introspect "$1" --buildoptions | python3 -c 'import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
for file in bin/sluice bin/sluicectl bin/sluice-bench lib/systemd/system/sluice.service \
	share/man/man8/sluice.8 share/man/man8/sluicectl.8 share/man/man8/sluice-bench.8 \
	share/man/man5/sluice.yaml.5 share/bash-completion/completions/sluice \
	share/bash-completion/completions/sluicectl share/bash-completion/completions/sluice-bench \
	share/sluice/grafana/sluice.json share/doc/sluice/examples/first.yaml; do
	[ -s "$prefix/$file" ] || fail "$file is missing"
done
"$prefix/bin/sluice" check -c "$prefix/share/doc/sluice/examples/first.yaml" >/dev/null
"$prefix/bin/sluice-bench" list >"$root/list" || fail "sluice-bench does not find its scenarios"
unit=$prefix/lib/systemd/system/sluice.service
grep -q '@[a-z]*dir@' "$unit" && fail "$unit: a name was not filled in"
if command -v systemd-analyze >/dev/null; then
	# with the programs where they are here; not its pages, which man does not find here
	sed "s|=${prefix#"$root"}/bin|=$prefix/bin|" "$unit" >"$root/sluice.service"
	said=$(systemd-analyze verify --man=no "$root/sluice.service" 2>&1 | grep sluice || true)
	[ -z "$said" ] || fail "systemd-analyze verify: $said"
fi
if command -v man >/dev/null; then
	for page in "$prefix"/share/man/man*/*; do
		said=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$page" 2>&1 >/dev/null)
		[ -z "$said" ] || fail "$page: $said"
	done
fi
echo "installed and looked at"
