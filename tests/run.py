# SPDX-License-Identifier: Apache-2.0
# Runs tests of a GoogleTest program, several in one process: run.py PROGRAM TEST...
#
# A test that ends the program, or takes longer than ten minutes (or TILEWALK_LONGEST seconds), is reported as failed by its name, and the
# tests after it run in a new process. Prints the output of failed tests, or of a test that runs alone, and one line for each of the others.
# Exits with 77 if all tests were skipped. Appends a line "program, test, seconds" for each test to the file TILEWALK_COSTS.
import os
import re
import shlex
import subprocess
import sys
import threading
import time

LONGEST = int(os.environ.get("TILEWALK_LONGEST", "600"))  # seconds that a quick test may take
BEGIN = re.compile(r"\[ RUN      \] (\S+)")
END = re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] ([^\s,]+)")


class Run:
    """One process over some tests: the result of each, and the test running when the process ended."""

    def __init__(self, program, tests, longest):
        self.ended, self.running, self.is_late = {}, None, False
        output, untold = [], []
        child = subprocess.Popen([program, "--gtest_filter=" + ":".join(tests)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for raw in child.stdout:
            line = raw.decode(errors="replace").rstrip("\n")
            output.append(line)
            if begun := BEGIN.match(line):
                self.running, self.began, output = begun[1], time.monotonic(), [line]
                clock = threading.Timer(longest, self.end, [child])
                clock.start()
            # The result line of GoogleTest may follow output that the test wrote without a line end.
            elif self.running and (done := END.search(line)) and done[2] == self.running:
                clock.cancel()
                is_told = done[1] != "OK" or len(tests) == 1
                print("\n".join(output) if is_told else line[done.start():], flush=True)
                untold += [] if is_told else output
                self.keep_cost(program)
                self.ended[self.running], self.running, output = done[1], None, []
        self.code = child.wait()
        if self.running:
            clock.cancel()
            why = f"ran longer than {longest} s" if self.is_late else how_it_ended(self.code)
            print("\n".join(output) + f"\n[  FAILED  ] {self.running} ({why})", flush=True)
            self.keep_cost(program)
            self.ended[self.running] = "FAILED"
        elif self.code not in (0, 1) or (self.code == 1 and "FAILED" not in self.ended.values()) or not self.ended:
            # The program failed though its tests passed: a sanitizer may have found a fault.
            print("\n".join(untold + output) + f"\n[  FAILED  ] the program {how_it_ended(self.code)} outside of its tests", flush=True)
            self.ended[tests[0] if not self.ended else "the program"] = "FAILED"

    def keep_cost(self, program):
        if file := os.environ.get("TILEWALK_COSTS"):
            with open(file, "a") as costs:  # other processes write to it too
                costs.write(f"{os.path.basename(program)} {self.running} {time.monotonic() - self.began:.3f}\n")

    def end(self, child):
        self.is_late = True
        child.kill()


def how_it_ended(code):
    return f"ended by signal {-code}" if code < 0 else f"ended with {code}"


def main():
    program, *tests = sys.argv[1:]
    longest = 7200 if any("_long" in test.split(".")[0] for test in tests) else LONGEST
    ended, left = {}, tests
    while left:
        ended |= Run(program, left, longest).ended
        left = [test for test in left if test not in ended]
    failed = [test for test, how in ended.items() if how == "FAILED"]
    print(f"{len(ended)} tests, {len(failed)} failed, {list(ended.values()).count('SKIPPED')} skipped")
    turn = f"TILEWALK_TURN={os.environ['TILEWALK_TURN']} " if os.environ.get("TILEWALK_TURN") else ""
    for test in failed:
        print(f"again: {turn}{shlex.quote(program)} --gtest_filter={shlex.quote(test)}")
    sys.exit(1 if failed else 77 if set(ended.values()) == {"SKIPPED"} else 0)


main()
