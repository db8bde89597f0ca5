#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tests of ctest that have not passed yet: resume_tests.py BUILD [--part K/N] [--timeout SECONDS] [FILTER OF CTEST]...

BUILD/passed_tests keeps those that passed while no file of the project changed. Once all that were asked for have passed,
they are forgotten, so that the next call runs all again. --part takes every Nth test, by a digest of its name.
"""
import argparse
import hashlib
import os
import pathlib
import re
import subprocess
import sys

import costs
import records

LISTED = re.compile(r"^ *Test +#(\d+): (.+)$", re.M)


def is_of_part(name, part, parts):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % parts == part - 1


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("build")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--timeout", default="1500")
    asked_for, filters = parser.parse_known_args()
    build = asked_for.build
    part, parts = map(int, asked_for.part.split("/"))
    ctest = ["ctest", "--test-dir", build]
    listing = subprocess.run([*ctest, "-N", *filters], text=True, stdout=subprocess.PIPE)
    asked = {name.split("  #")[0]: number for number, name in LISTED.findall(listing.stdout)
             if not name.endswith("(Disabled)") and is_of_part(name, part, parts)}
    if listing.returncode or not asked:
        sys.exit(f"{listing.stdout}no tests")

    file = pathlib.Path(build, "passed_tests")
    state = records.digest(records.files_of(*records.NO_RECORDS))
    known, *passed = file.read_text().splitlines() if file.exists() else [""]
    if known != state:
        passed = []
        file.write_text(state + "\n")
    rest = [number for name, number in asked.items() if name not in set(passed)]
    print(f"{len(asked)} tests, of which {len(asked) - len(rest)} have passed before")
    if rest:
        # -I takes first, last and stride, then numbers of tests. Filters are left out: the numbers would count only what they leave.
        command = [*ctest, "-j", str(os.cpu_count()), "--output-on-failure", "--timeout", asked_for.timeout,
                   "-I", ",".join([rest[0], rest[0], "1", *rest])]
        said, kept = [], pathlib.Path(build, "costs_of_tests")
        with subprocess.Popen(command, text=True, errors="replace", stdout=subprocess.PIPE,
                              env=os.environ | costs.kept_in(kept)) as running, file.open("a") as log:
            for line in running.stdout:
                print(line, end="", flush=True)
                said.append(line)
                for name, outcome in costs.outcomes(line).items():
                    if outcome in ("Passed", "Skipped"):
                        print(name, file=log, flush=True)
        costs.tests(kept, "".join(said))
        if running.returncode:
            sys.exit(running.returncode)
    kept = [name for name in file.read_text().splitlines() if name not in asked]
    file.write_text("".join(f"{line}\n" for line in kept))


if __name__ == "__main__":
    main()
