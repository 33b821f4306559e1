# SPDX-License-Identifier: BSD-3-Clause
# Reads two scrapes and says what is wrong with them: metrics.py FIRST SECOND. The second was taken
# later from the same router: no counter may have gone back.
import re
import sys

NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
VALUE = r'"(?:[^"\\\n]|\\[\\n"])*"'
SAMPLE = re.compile(rf"({NAME})(\{{{NAME}={VALUE}(?:,{NAME}={VALUE})*\}})? (-?[0-9.]+)")


def read(path):
    types, samples, family = {}, {}, None
    text = open(path).read()
    assert text.endswith("\n"), f"{path}: the last line has no end"
    for number, line in enumerate(text.splitlines(), 1):
        at = f"{path}:{number}: {line}"
        words = line.split(" ")
        if line.startswith("# HELP "):
            assert words[2] not in types, f"{at}: a second HELP"
            assert len(words) > 3, f"{at}: no text"
            family, types[words[2]] = words[2], None
        elif line.startswith("# TYPE "):
            assert words[2] == family and types[family] is None, f"{at}: TYPE not behind its HELP"
            assert words[3] == ("counter" if family.endswith("_total") else "gauge"), at
            types[family] = words[3]
        else:
            match = SAMPLE.fullmatch(line)
            assert match and match[1] == family and types[family], at
            key = match[1] + (match[2] or "")
            assert key not in samples, f"{at}: a second time"
            samples[key] = float(match[3])
    return types, samples


types, first = read(sys.argv[1])
_, second = read(sys.argv[2])
for key, value in first.items():
    if types[key.split("{")[0]] == "counter":
        assert key in second, f"{key} is gone"
        assert second[key] >= value, f"{key}: {value}, then {second[key]}"
print(len(types), "metrics,", len(second), "samples")
