# SPDX-License-Identifier: Apache-2.0
"""Puts the mistakes of tests/mistakes/ into a copy of the source, one at a time, and wants the tests that each names to fail.

Without arguments it tries a quarter of them, the next quarter after the next commit; or all, where commits can't be counted. A mistake
that was caught in this state of the source is not tried again, so that a run that was cut off goes on where it was.
"""
# label: long
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import mistake_tables
from mistake_tables import source

copy = pathlib.Path(os.environ.get("TILEWALK_BINARY_DIR", source / "build" / "release")) / "mistakes"
build = copy / "build"
rooms = ["CMakeLists.txt", ".ci", "bench", "configs", "engine", "kernels", "products", "tests", "docs", "README.md", "CONTRIBUTING.md"]


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def bring_source():
    """Copies what differs, so that only that is built again, and returns a digest of all."""
    kept = {}
    for room in rooms:
        top = source / room
        for file in [top] if top.is_file() else top.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts and file.parent != source / "tests" / "mistakes":
                kept[file.relative_to(source)] = file
    for old in [f for room in rooms for f in (copy / room).rglob("*") if f.is_file()]:
        if old.relative_to(copy) not in kept:
            old.unlink()
    digest = hashlib.sha256()
    for name, file in sorted(kept.items()):
        there, content = copy / name, file.read_bytes()
        digest.update(f"{name} {len(content)} ".encode() + content)
        if there.exists() and there.read_bytes() == content:
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(content)
        there.chmod(file.stat().st_mode)
    return digest.hexdigest()


def configure():
    """A shared library, to which programs are not linked anew, and a file a source: an edit costs one of them and one link."""
    options = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1 -DNDEBUG", "-DBUILD_SHARED_LIBS=ON", "-DTILEWALK_BY_FOLDER=OFF",
               "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", "-DTILEWALK_TESTS=ON", "-DTILEWALK_BENCH=OFF"]
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    if shutil.which("ninja"):
        options += ["-G", "Ninja"]
    environment = {k: v for k, v in os.environ.items() if k != "CMAKE_GENERATOR"}
    done = run(["cmake", "-S", copy, "-B", build, *options], env=environment)
    if done.returncode != 0:
        sys.exit(f"the copy can't be configured:\n{done.stdout[-4000:]}")


def compile_tests(tests):
    programs = sorted({mistake_tables.program_of(test) for test in tests})
    return run(["cmake", "--build", build, "-j", str(os.cpu_count()), "--target", *programs])


def outcome(test):
    """passed, failed, or why neither can be said."""
    try:
        done = run([build / "tests" / mistake_tables.program_of(test), f"--gtest_filter={test}:*/{test}/*"], cwd=copy, timeout=1800)
    except subprocess.TimeoutExpired:
        return "failed"
    if re.search(r"\[ +FAILED +\]|terminate called|Segmentation|Aborted", done.stdout) or done.returncode < 0:
        return "failed"
    passed = re.search(r"\[ +PASSED +\] (\d+) test", done.stdout)
    if done.returncode == 0 and passed and int(passed[1]) > 0 and not re.search(r"\[ +SKIPPED +\]", done.stdout):
        return "passed"
    return f"neither passed nor failed:\n{done.stdout[-2000:]}"


def why_missed(mistake):
    """The reasons for which a mistake counts as missed; empty if it is caught."""
    try:
        for file, text in mistake.texts():
            (copy / file).write_text(text)
        made = compile_tests(mistake.fails)
        if made.returncode != 0:
            return [f"does not compile:\n{made.stdout[-2000:]}"]
        return [f"{t} {o}" for t in mistake.fails if (o := outcome(t)) != "failed"]
    finally:
        for file in mistake.changes:
            shutil.copyfile(source / file, copy / file)


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
    state = bring_source()
    configure()
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
    for mistake in left:
        why = why_missed(mistake)
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
