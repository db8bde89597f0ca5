# SPDX-License-Identifier: Apache-2.0
"""Reads what ctest has said: which tests passed, what each cost, and its summary."""
import collections
import pathlib
import re

OUTCOME = re.compile(r"^ *\d+/\d+ Test +#\d+: (.+?) \.+(?: +(Passed)|\*\*\*(\w+))", re.M)
SUMMARY = re.compile(r"^\d+% tests passed, .*", re.M | re.S)
# In the log that ctest keeps in the build folder, which has the output of every test.
ENTRY = re.compile(r"^\d+/\d+ Testing: ", re.M)
TIME = re.compile(r"^Test time = +([\d.]+) sec$", re.M)
CASE = re.compile(r"^\[ +(?:OK|FAILED|SKIPPED) +\] (\S+?\.\S+?)(?:, where .*)? \((\d+) ms\)$", re.M)


def outcomes(output):
    """Passed, Failed, Skipped and the like, by the name of the test."""
    return {name.split("  #")[0]: passed or other for name, passed, other in OUTCOME.findall(output)}


def summary(output):
    found = SUMMARY.search(output)
    return found.group().rstrip() if found else ""


def table(heads, rows):
    print("\n" + "".join(f"{head:>9}" for head in heads[:-1]) + "  " + heads[-1])
    for *numbers, name in rows:
        print("".join(f"{number:9.1f}" for number in numbers) + "  " + name)


def stages(rows):
    """Prints wall seconds, CPU seconds and name of each stage."""
    table(["wall s", "CPU s", "stage"], [*rows, (sum(r[0] for r in rows), sum(r[1] for r in rows), "all")])


def tests(build):
    """Prints the costliest tests of ctest's last run in this folder, also of programs that run many in one process."""
    log = pathlib.Path(build, "Testing/Temporary/LastTest.log").read_text(errors="replace")
    programs, scripts, tests = collections.Counter(), collections.Counter(), collections.Counter()
    for entry in ENTRY.split(log)[1:]:
        name = entry.partition("\n")[0].split("  #")[0]
        took = float(found[1]) if (found := TIME.search(entry)) else 0.
        cases = CASE.findall(entry)
        for case, milliseconds in cases:
            tests[f"{name.split('.')[0]}.{case}"] += int(milliseconds) / 1000
        if not cases:
            tests[name] += took
        (programs if cases else scripts)[name.split(".")[0] if cases else name] += took
    for head, costs in (("programs", programs.most_common(15)), ("scripts", [s for s in scripts.most_common() if s[1] >= 1]),
                        ("costliest tests", tests.most_common(30))):
        if costs:
            table(["s", head], [(took, name) for name, took in costs])
    print(f"\n{programs.total() + scripts.total():.0f} s in {len(tests)} tests\n")
