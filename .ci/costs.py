#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says what a gate has cost: .ci/costs.py LOG < STAGES.

LOG is what ctest said; a line of STAGES is "name<TAB>wall user system", in seconds. Ends with ctest's own summary.
"""
import collections
import pathlib
import re
import sys

TEST = re.compile(r"^ *\d+/\d+ Test +#\d+: (.+?) \.{3}.*? +([\d.]+) sec", re.M)
SUMMARY = re.compile(r"^\d+% tests passed, .*", re.M | re.S)


def table(heads, rows):
    print("\n" + "".join(f"{head:>9}" for head in heads[:-1]) + "  " + heads[-1])
    for *numbers, name in rows:
        print("".join(f"{number:9.1f}" for number in numbers) + "  " + name)


def main():
    log = pathlib.Path(sys.argv[1]).read_text(errors="replace")
    stages = [line.rstrip("\n").split("\t") for line in sys.stdin]
    seconds = [(float(wall), float(user) + float(system), name) for name, cost in stages for wall, user, system in [cost.split()]]
    table(["wall s", "CPU s", "stage"], seconds + [(sum(w for w, _, _ in seconds), sum(c for _, c, _ in seconds), "all")])
    tests = {name.split("  #")[0].strip(): float(took) for name, took in TEST.findall(log)}
    programs = collections.Counter()
    for name, took in tests.items():
        programs[name.split(".")[0]] += took
    table(["s", "costliest tests"], [(took, name) for name, took in sorted(tests.items(), key=lambda t: -t[1])[:30]])
    table(["s", "costliest programs and scripts"], [(took, name) for name, took in programs.most_common(15)])
    print(f"\n{sum(tests.values()):.0f} s in {len(tests)} tests\n")
    if found := SUMMARY.search(log):
        print(found.group().rstrip())


if __name__ == "__main__":
    main()
