#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# optional: engine/walk/kept engine/cli/output.cpp engine/cli/commands/shards.cpp engine/cli/shard* engine/cli/plans* tests/shims/failing_disk.cpp
"""A disk that fails a single write, rename or sync: the command reports it with exit code 75 and leaves no
wrong file; run again, the same command ends with the bytes of an undisturbed run."""
import errno
import os
import pathlib
import subprocess
import sys
import tempfile

if os.environ["TILEWALK_SANITIZE"]:
    print("SKIPPED: a sanitizer has to be the first library")
    sys.exit(77)

COMMAND = os.environ["TILEWALK_CLI"]
SHIM = os.environ["TILEWALK_FAILING_DISK"]
BOOK = pathlib.Path(os.environ["TILEWALK_SOURCE_DIR"]) / "configs/books/early.yaml"
DONE, TRY_AGAIN = 0, 75


def run(folder, *arguments, failing=None):
    environment = dict(os.environ)
    if failing:
        call, at, number = failing
        environment |= {"LD_PRELOAD": SHIM, "FAILING_DISK_CALL": call, "FAILING_DISK_AT": str(at),
                        "FAILING_DISK_ERRNO": str(number), "FAILING_DISK_FOLDER": str(folder),
                        "FAILING_DISK_MARK": str(folder) + ".failed"}
    return subprocess.run([COMMAND, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=120)


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def sweep(call, number, prepare, arguments, outcome):
    """Lets each call of the kind fail in turn until a run has none left. Returns the number of calls and the
    number whose failure failed the command; an unsynced folder fails none."""
    failed = 0
    for at in range(1, 200):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve() / "disk"
            folder.mkdir()
            prepare(folder)
            got = run(folder, *arguments(folder), failing=(call, at, number))
            expect(got.returncode in (DONE, TRY_AGAIN), f"{call} {at}: exit code {got.returncode}: {got.stderr}")
            if got.returncode == TRY_AGAIN:
                failed += 1
                expect("can't write" in got.stderr, f"{call} {at} says: {got.stderr}")
            again = run(folder, *arguments(folder))
            expect(again.returncode == DONE, f"after {call} {at}: {again.stderr}")
            outcome(folder, f"{call} {at}")
            if not pathlib.Path(str(folder) + ".failed").exists():
                expect(failed > 0, f"{call} never failed")
                return at - 1, failed
    sys.exit(f"FAILED: {call} fails without end")


def main():
    settings = ["--paths", "16384", "--threads", "2"]
    with tempfile.TemporaryDirectory() as name:
        truth_of = pathlib.Path(name) / "truth.csv"
        expect(run(name, "price", BOOK, *settings, "-o", truth_of).returncode == DONE, "the book has a price")
        truth = truth_of.read_bytes()

    def price(folder):
        return "price", BOOK, *settings, "--journal", folder / "journal", "-o", folder / "out.csv"

    def has_price(folder, when):
        expect((folder / "out.csv").read_bytes() == truth, f"{when}: other bytes")

    def plan(folder):
        return "plan", BOOK, *settings, "--shards", "2", "-o", folder / "plan"

    def has_plan(folder, when):
        for shard in ("1/2", "2/2"):
            expect(run(folder, "run", folder / "plan", "--shard", shard).returncode == DONE, f"{when}: shard {shard}")
        got = run(folder, "merge", folder / "plan", "-o", folder / "out.csv")
        expect(got.returncode == DONE, f"{when}: {got.stderr}")
        has_price(folder, when)

    def planned(folder):
        expect(run(folder, *plan(folder)).returncode == DONE, "a plan")

    def shard(folder):
        return "run", folder / "plan", "--shard", "1/2"

    cases = [("price", lambda folder: None, price, has_price), ("plan", lambda folder: None, plan, has_plan),
             ("run", planned, shard, has_plan)]
    for name, prepare, arguments, outcome in cases:
        for call in ("write", "fsync", "rename"):
            for number in (errno.ENOSPC, errno.EIO) if name == "price" else (errno.ENOSPC,):
                calls, failed = sweep(call, number, prepare, arguments, outcome)
                print(f"{name}: {calls} times {call} with {errno.errorcode[number]}, {failed} ended it, and all went on")


main()
