# SPDX-License-Identifier: Apache-2.0
"""Reads what ctest has said: which tests passed, what each cost, and its summary."""
import collections
import os
import pathlib
import re

OUTCOME = re.compile(r"^ *\d+/\d+ Test +#\d+: (.+?) \.+(?: +(Passed)|\*\*\*(\w+))", re.M)
SUMMARY = re.compile(r"^\d+% tests passed, .*", re.M | re.S)
TOOK = re.compile(r"^ *\d+/\d+ Test +#\d+: (\w+_test\S*) .* ([\d.]+) sec$", re.M)


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


def kept_in(file):
    """The variable by which tests/run.py leaves what each test cost in this file, which is emptied."""
    pathlib.Path(file).write_text("")
    return {"TILEWALK_COSTS": os.path.abspath(file)}


def tests(file, output):
    """Prints the costliest tests: those of programs as the file has them, and scripts as ctest's output has them."""
    rows = [line.split() for line in pathlib.Path(file).read_text().splitlines()]  # program, test, seconds
    tests = {f"{program}: {test}": float(seconds) for program, test, seconds in rows}
    scripts = collections.Counter({name: float(seconds) for name, seconds in TOOK.findall(output)})
    programs = collections.Counter()
    for program, _, seconds in rows:
        programs[program] += float(seconds)
    for head, costs in (("programs", programs.most_common()), ("scripts", [s for s in scripts.most_common() if s[1] >= 1]),
                        ("costliest tests", collections.Counter(tests | scripts).most_common(30))):
        if costs:
            table(["s", head], [(took, name) for name, took in costs])
    print(f"\n{programs.total() + scripts.total():.0f} s in {len(tests)} tests of programs and {len(scripts)} scripts\n")
