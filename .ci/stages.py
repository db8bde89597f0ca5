#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the stages of .ci/stages.toml in the repository that it is started in: stages.py [nightly] [STAGE...]. .ci/run starts it.

A stage that passed is recorded: in .ci/passed by the digest of its files, if it is one that runs when these changed, and in
.ci/nightly by the commit, if it belongs to the night and the tree holds nothing else.
"""
import dataclasses
import datetime
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import tomllib

import costs
import records

MOST_COMMITS = 100  # that a stage of the night may be behind
LEAST_CAUGHT = 0.9  # of the mistakes that tests/drawn_mistakes.py draws in a room
LOGS = pathlib.Path("build/stages")
TESTS = "tests"  # the stage of the main suite, which runs those scripts that changed
COSTS = LOGS / "costs_of_tests"


@dataclasses.dataclass(frozen=True)
class Stage:
    name: str
    run: str
    when: str
    files: tuple = ()
    needs: tuple = ()
    own: tuple = ()
    live: bool = False
    minutes: float = 60

    def digest(self):
        """The digest of all that the stage is said to depend on."""
        files = set()
        for pathspec in self.files:
            matched = records.files_of(pathspec)
            if not matched:
                sys.exit(f"the stage {self.name} names '{pathspec}', which no file matches")
            files |= matched
        for test in self.own:
            files |= script_with_imports(test)
        words = [word for word in re.findall(r"[\w./-]+", self.run) if os.path.isfile(word)]
        return records.digest(files | (records.files_of(*words) if words else set()), self.run)


def script_with_imports(test):
    """The script of a test, and the modules of tests/ that it imports."""
    modules = {pathlib.Path(file).stem: file for file in records.files_of("tests/*.py")}
    if test not in modules:
        sys.exit(f"tests/ has no {test}.py")
    found, new = set(), {modules[test]}
    while new:
        found |= new
        words = [word for file in new for word in re.findall(r"^(?:import|from) (\w+)", pathlib.Path(file).read_text(), re.M)]
        new = {modules[word] for word in words if word in modules} - found
    return found


def stages_of_list():
    """The stages of the list, by name."""
    stages = []
    for row in tomllib.loads(pathlib.Path(".ci/stages.toml").read_text())["stage"]:
        row = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
        parts, stage = row.pop("parts", 0), Stage(**row)
        stages += [dataclasses.replace(stage, name=f"{stage.name}_{k}", run=stage.run.replace("PART", f"{k}/{parts}"))
                   for k in range(1, parts + 1)] or [stage]
    for stage in stages:
        if stage.when not in ("gate", "changed", "night") or (stage.when == "changed") != bool(stage.files):
            sys.exit(f"the stage {stage.name} runs in the gate or by night, or it has files and runs when they changed")
    return {stage.name: stage for stage in stages}


def optional_scripts():
    """A stage for each script of tests that may be left out, by name."""
    stages = {}
    for file in sorted(records.files_of("tests/*_test.py")):
        pathspecs = " ".join(re.findall(r"^# optional: (.+)$", pathlib.Path(file).read_text(), re.M)).split()
        if pathspecs:
            name = pathlib.Path(file).stem
            stages[name] = Stage(name, f"make -s test TESTS='^{name}$'", "script", tuple(pathspecs), ("tests_build",), (name,))
    return stages


def regex_of(tests):
    """The regular expression by which ctest leaves out these tests. None has an empty name."""
    return f"^({'|'.join(sorted(tests))})$"


def run_bash(stage, log, environment):
    """Whether the stage passed; its output goes to the log."""
    running = subprocess.Popen(["bash", "-c", stage.run], text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True, env=environment)

    def end(signal_number=signal.SIGTERM):
        try:
            os.killpg(running.pid, signal_number)
        except ProcessLookupError:
            return
        if signal_number == signal.SIGTERM:
            timers.append(threading.Timer(10, end, [signal.SIGKILL]))
            timers[-1].start()

    timers = [threading.Timer(60 * stage.minutes, end)]
    timers[0].start()
    try:
        with log.open("w") as file:
            for line in running.stdout:
                file.write(line)
                file.flush()
                if stage.live:
                    print(line, end="", flush=True)
            passed = running.wait() == 0
            if len(timers) > 1:
                file.write(f"ended after {stage.minutes:g} minutes, the most that a stage may take\n")
    finally:
        for timer in timers:
            timer.cancel()
        if running.poll() is None:
            end(signal.SIGKILL)
    return passed


class Run:
    """Stages that run in one call of this script, each of them once."""

    def __init__(self):
        self.listed = stages_of_list()
        self.scripts = optional_scripts()
        self.stages = self.scripts | self.listed
        self.digests = {stage.name: stage.digest() for stage in self.stages.values() if stage.files}
        self.environment = {key: value for key, value in os.environ.items() if key not in ("TILEWALK_TURN", "TURN", "LONG", "TESTS")}
        LOGS.mkdir(parents=True, exist_ok=True)
        self.environment |= costs.kept_in(COSTS)
        self.leave_out(())
        self.costs, self.failed, self.summary = [], [], ""
        self.commit = records.git("rev-parse", "HEAD").strip()
        self.clean = not records.git("status", "--porcelain", "--", *records.NO_RECORDS)

    def leave_out(self, scripts):
        self.environment["LEFT_OUT"] = regex_of({test for stage in self.listed.values() for test in stage.own} | set(scripts))

    def is_unchanged(self, name):
        return records.read(records.PASSED).get(name) == (self.digests[name],)

    def run(self, name):
        if name in [done for _, _, done in self.costs]:
            return
        stage = self.stages[name]
        for needed in stage.needs:
            self.run(needed)
        log = LOGS / f"{name}.log"
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        passed = run_bash(stage, log, self.environment)
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - started
        self.costs.append((wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, name))
        said = log.read_text()
        skipped = re.findall(r"^SKIPPED.*", said, re.M)
        print(f"{'passed' if passed else 'FAILED'}: {name} ({wall:.0f} s)", *skipped, flush=True)
        outcomes = costs.outcomes(said)
        self.summary = costs.summary(said)
        if not passed:
            self.failed.append(name)
            if not stage.live:
                print("".join(said.splitlines(keepends=True)[-200:]), end="", flush=True)
        elif not skipped and (not outcomes or "Passed" in outcomes.values()):
            self.record(stage)
        for test in self.scripts:
            if outcomes.get(test) == "Passed":
                records.write(records.PASSED, test, self.digests[test])

    def record(self, stage):
        if stage.when == "changed":
            records.write(records.PASSED, stage.name, self.digests[stage.name])
        if stage.when in ("changed", "night") and self.clean:
            records.write(records.NIGHTLY, stage.name, self.commit, datetime.datetime.now(datetime.UTC).date().isoformat())

    def gate(self):
        unchanged = [name for name in self.digests if self.is_unchanged(name)]
        self.leave_out(set(unchanged) & set(self.scripts))
        for name, stage in self.listed.items():
            if name == TESTS:
                if self.failed:
                    print("FAILED before the tests:", *self.failed)
                for script in [name for name in unchanged if name in self.scripts]:
                    print(f"unchanged since it passed: {script}")
            if name in unchanged:
                print(f"unchanged since it passed: {name}", flush=True)
            elif stage.when != "night":
                self.run(name)

    def night(self):
        for name, stage in self.listed.items():
            if stage.when == "gate":
                continue
            if self.clean and commits_behind(name, self.commit) == 0:
                print(f"passed at this commit: {name}", flush=True)
            else:
                self.run(name)


def commits_behind(name, commit):
    """How many commits ago a stage of the night passed; None if that cannot be told."""
    passed = records.read(records.NIGHTLY).get(name)
    try:
        if not passed or not records.git("diff", "--name-only", passed[0], commit, "--", *records.NO_RECORDS, stderr=subprocess.DEVNULL):
            return 0 if passed else None
        return int(records.git("rev-list", "--count", f"{passed[0]}..{commit}", stderr=subprocess.DEVNULL))
    except subprocess.CalledProcessError:
        return None


def late(stages, commit):
    """Sentences about the stages of the night that have not passed for MOST_COMMITS."""
    passed = records.read(records.NIGHTLY)
    night = sorted(name for name, stage in stages.items() if stage.when != "gate")
    if never := [name for name in night if name not in passed]:
        yield f"{', '.join(never)}: never passed"
    for name in [name for name in night if name in passed]:
        behind, at = commits_behind(name, commit), f"{name}: passed at {passed[name][0][:8]} on {passed[name][1]}"
        if behind is None:
            yield f"{at}, a commit that this clone does not have"
        elif behind > MOST_COMMITS:
            yield f"{at}, {behind} commits ago"


def weak(scores):
    """Sentences about rooms in which tests noticed too few of the mistakes that were drawn last."""
    last = {room: (at, *map(int, caught.split("/"))) for room, at, _, _, caught in
            (line.split() for line in scores.read_text().splitlines() if not line.startswith("#"))} if scores.exists() else {}
    for room, (at, caught, drawn) in sorted(last.items()):
        if caught < LEAST_CAUGHT * drawn:
            yield f"{room}: {caught} of {drawn} drawn mistakes caught on {at}"


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    asked = sys.argv[1:]
    run = Run()
    nightly = asked[:1] == ["nightly"]
    names = asked[nightly:]
    unknown = [name for name in names if name not in run.stages]
    if unknown:
        sys.exit(f"usage: .ci/run [nightly] [STAGE...]\nno stage: {' '.join(unknown)}\nstages: {' '.join(sorted(run.stages))}")
    if names:
        for name in names:
            run.run(name)
    elif nightly:
        run.night()
    else:
        run.gate()
    costs.stages(run.costs)
    if not asked:
        costs.tests(COSTS, (LOGS / f"{TESTS}.log").read_text())
        for sentence in late(run.listed, run.commit):
            print(f"late by night: {sentence}")
        for sentence in weak(pathlib.Path(records.SCORES)):
            print(f"weak tests: {sentence}")
    if records.git("status", "--porcelain", "--", records.PASSED, records.NIGHTLY, records.SCORES):
        print(f"{records.PASSED}, {records.NIGHTLY} and {records.SCORES} say what has passed: commit them")
    if not asked:
        print(f"\n{run.summary}", flush=True)
    for name in run.failed:
        print(f"FAILED: {name}", file=sys.stderr)
    sys.exit(1 if run.failed else 0)


if __name__ == "__main__":
    main()
