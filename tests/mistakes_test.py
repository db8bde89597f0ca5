# SPDX-License-Identifier: Apache-2.0
"""Puts the mistakes of tests/mistakes/ into a copy of the source, one at a time, and wants the tests that each names to fail.

Without arguments it tries a quarter of them, the next quarter after the next commit; or all, where commits can't be counted. A mistake
that was caught in this state of the source is not tried again, so that a run that was cut off goes on where it was.

Sources of the library are compiled apart, with the mistake, into a library that programs load before the other: many at once. Mistakes in
other files are built in, one after another.
"""
# label: long
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

import mistake_copy
import mistake_tables
from mistake_copy import compile_targets, copy, run
from mistake_tables import source

build = copy / "build"


def compile_tests(tests):
    return compile_targets(build, *sorted({mistake_tables.program_of(test) for test in tests}))


def outcome(test, **environment):
    return mistake_copy.outcome(build / "tests" / mistake_tables.program_of(test), f"{test}:*/{test}/*", env=os.environ | environment)


def outcomes_without_failure(mistake, **environment):
    return [f"{t} {o}" for t in mistake.fails if (o := outcome(t, **environment)) != "failed"]


@functools.cache
def compilations():
    """The commands that compile the sources of the library, by source."""
    found = {}
    for one in json.loads((build / "compile_commands.json").read_text()):
        if re.search(r"CMakeFiles/tilewalk(_walk)?\.dir/", one["command"]):
            found[str(pathlib.Path(one["file"]).relative_to(copy))] = shlex.split(one["command"])
    return found


def why_missed_apart(mistake):
    """The reasons why a mistake in sources of the library counts as missed; empty if it is caught."""
    with tempfile.TemporaryDirectory() as name:
        folder, objects = pathlib.Path(name), []
        for file, text in mistake.texts():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
            command = [str(folder / file) if word == str(copy / file) else word for word in compilations()[file]]
            objects.append(str(folder / file) + ".o")
            command[command.index("-o") + 1] = objects[-1]
            made = run(command, cwd=build)
            if made.returncode != 0:
                return [f"does not compile:\n{made.stdout[-2000:]}"]
        made = run([*compilations()[file][:1], "-shared", "-o", folder / "mistake.so", *objects])
        if made.returncode != 0:
            return [f"can't be linked:\n{made.stdout[-2000:]}"]
        return outcomes_without_failure(mistake, LD_PRELOAD=str(folder / "mistake.so"))


def why_missed_built_in(mistake):
    try:
        for file, text in mistake.texts():
            (copy / file).write_text(text)
        made = compile_tests(mistake.fails)
        if made.returncode != 0:
            return [f"does not compile:\n{made.stdout[-2000:]}"]
        return outcomes_without_failure(mistake)
    finally:
        for file in mistake.changes:
            shutil.copyfile(source / file, copy / file)


def tries(mistakes):
    """Yields pairs of a mistake and its reasons for being missed, as they become known."""
    apart = [m for m in mistakes if m.changes.keys() <= compilations().keys()]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as crew:
        yield from zip(apart, crew.map(why_missed_apart, apart))
    for mistake in mistakes:
        if mistake not in apart:
            yield mistake, why_missed_built_in(mistake)


def quarter_by_turns(mistakes):
    def git(*words):
        done = run(["git", "-C", source, *words])
        return done.stdout.strip() if done.returncode == 0 else ""

    if git("rev-parse", "--is-shallow-repository") != "false":
        return mistakes
    turn = int(git("rev-list", "--count", "HEAD")) % 4
    return [m for m in mistakes if int(hashlib.sha256(m.name.encode()).hexdigest(), 16) % 4 == turn]


def chosen(names):
    mistakes = [mistake_tables.Mistake(row) for table in mistake_tables.tables for row in mistake_tables.rows_of(table)]
    unknown = set(names) - {m.name for m in mistakes}
    if unknown:
        sys.exit(f"no such mistake: {', '.join(sorted(unknown))}; there are {', '.join(sorted(m.name for m in mistakes))}")
    return [m for m in mistakes if m.name in names] if names else mistakes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", help="try these, caught before or not")
    parser.add_argument("--all", action="store_true", help="try all that were not caught before")
    wish = parser.parse_args()
    mistakes = chosen(wish.names)
    if not wish.names and not wish.all:
        mistakes = quarter_by_turns(mistakes)
    state = mistake_copy.bring_source()
    # Compiles each file by itself, so that an edit costs one compilation and one link.
    mistake_copy.configure(build, "-DTILEWALK_BY_FOLDER=OFF", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    caught_file = build / "caught"
    caught = caught_file.read_text().split() if caught_file.exists() and not wish.names else []
    keys = {m.name: hashlib.sha256(f"{state} {json.dumps(m.row)}".encode()).hexdigest() for m in mistakes}
    left = [m for m in mistakes if keys[m.name] not in caught]
    print(f"{len(mistakes)} mistakes to try, {len(mistakes) - len(left)} of them caught before", flush=True)
    if not left:
        return 0 if mistakes else 1

    tests = sorted({t for m in left for t in m.fails})
    made = compile_tests(tests)
    if made.returncode != 0:
        sys.exit(f"the tests do not compile without a mistake:\n{made.stdout[-4000:]}")
    broken = {t: o for t in tests if (o := outcome(t)) != "passed"}
    for test, why in broken.items():
        print(f"{test} must pass without a mistake: {why}")
    missed = 0
    for mistake, why in tries(left):
        missed += bool(why)
        print(f"{'MISSED' if why else 'caught'}: {mistake.name}: {mistake.what}", *why, sep="\n  ", flush=True)
        if not why and not broken.keys() & set(mistake.fails):
            with caught_file.open("a") as file:
                print(keys[mistake.name], file=file)
    print(f"{len(left)} mistakes tried, {missed} missed")
    return 1 if missed or broken else 0


try:
    sys.exit(main())
except mistake_tables.Fault as fault:
    sys.exit(str(fault))
except KeyboardInterrupt:
    sys.exit(130)
