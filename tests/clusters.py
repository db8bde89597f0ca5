# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of cluster schedulers: runs the commands of docs/clusters.md in a folder and compares
the result with that of a single process, byte by byte.

A page block that a test runs has a line in front of it:
    <!-- not run: by tests/slurm_test.py, which has a cluster -->
"""
import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

source_dir = pathlib.Path(os.environ["TILEWALK_SOURCE_DIR"])
command = os.environ["TILEWALK_CLI"]
PAGE = "docs/clusters.md"
# Debian keeps cluster daemons in folders that only root's PATH has.
TOOLS = f"{os.environ['PATH']}:/usr/sbin:/sbin"


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def need_tools(package, *names):
    """The paths of the tools; skips the test if one is missing."""
    found = [shutil.which(name, path=TOOLS) for name in names]
    if None in found:
        skip(f"{names[found.index(None)]} is not installed (Debian: {package})")
    return found


def need_python_with(module):
    """A Python with the module: this one or that of .ci/install_packages.sh; skips the test without one."""
    for python in (sys.executable, str(source_dir / "build" / "python" / "bin" / "python3")):
        asked = [python, "-c", f"import {module}"]
        if shutil.which(python) and subprocess.run(asked, stderr=subprocess.DEVNULL).returncode == 0:
            return python
    skip(f"no Python here has the package {module} (.ci/install_packages.sh ci puts it under build/python)")


def commands_of(test):
    """The commands of each block that the page leaves to this test, in the order of the page."""
    text = (source_dir / PAGE).read_text(encoding="utf-8")
    head = rf"^<!-- not run: by tests/{re.escape(test)}\b[^\n]*-->\n"
    found = re.findall(head + r"```sh\n(.*?)^```", text, re.M | re.S)
    if not found:
        sys.exit(f"{PAGE} has no block that is run by tests/{test}")
    return found


@dataclasses.dataclass
class walking:
    process: int
    parent: int
    variables: dict


class site:
    """A folder in which the commands of the page work unchanged."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "bin").mkdir()
        self.say_what_the_command_is(f'exec {command} "$@"')
        for name in ("configs", "docs"):
            (self.folder / name).symlink_to(source_dir / name)
        outer = {name: value for name, value in os.environ.items()
                 if not re.match(r"TILEWALK_|SLURM|OMPI_|PMIX_|JOB_COMPLETION|DASK_", name)}
        # One thread, so that a walk takes seconds on any machine and can be killed meanwhile.
        self.environment = dict(outer, PATH=f"{self.folder / 'bin'}:{TOOLS}", TILEWALK_THREADS="1",
                                TILEWALK_DEVICE="cpu")

    def say_what_the_command_is(self, script):
        path = self.folder / "bin" / "tilewalk"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def run(self, script, expected=0, **variables):
        """The output of the commands, on both streams; they must end with this exit code."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=self.folder, text=True,
                              env=dict(self.environment, **variables), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        code = done.returncode
        if code != expected:
            sys.exit(f"exit code {code}, expected {expected}, of\n{script}\nwhich says\n{done.stdout}")
        return done.stdout

    @contextlib.contextmanager
    def start(self, *words, log=None):
        """A program in the background, which ends with the block at the latest and writes to the log."""
        log = self.folder / (log or f"{pathlib.Path(words[0]).name}.log")
        with open(log, "ab") as out:
            process = subprocess.Popen(words, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8", errors="replace")

    def running(self):
        """The processes that walk a shard here."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # ended meanwhile
                words = (process / "cmdline").read_bytes().split(b"\0")
                walks = words[0].endswith(b"tilewalk") and words[1:2] == [b"run"]
                if walks and pathlib.Path(os.readlink(process / "cwd")).is_relative_to(self.folder.resolve()):
                    pairs = (process / "environ").read_text(errors="replace").split("\0")
                    variables = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
                    found.append(walking(int(process.name), parent_of(process.name), variables))
        return found

    def first_walk(self, log):
        """Waits for a process that walks a shard; the log explains a failure."""
        return wait_for("a process that walks", self.running, otherwise=lambda: self.read(log))[0]

    def compare_with_one_process(self, script):
        """Prices the commands' plan in one process and compares the bytes."""
        planned = re.search(r"^tilewalk plan (.*) --shards \d+ .*-o \S+$", script, re.M).group(1)
        if not (self.folder / "one.csv").exists():
            self.run(f"tilewalk price {planned} --quiet -o one.csv")
        one, merged = (self.folder / "one.csv").read_bytes(), (self.folder / "prices.csv").read_bytes()
        if one != merged:
            sys.exit(f"other bytes than of one process\n{one.decode()}\nmerged\n{merged.decode()}")
        trades = one.count(b",priced,")
        if trades < 5 or trades != one.count(b"\n") - 1:
            sys.exit(f"expected that all trades are priced:\n{one.decode()}")
        return trades


def parent_of(process):
    return int(pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


@contextlib.contextmanager
def a_site(**variables):
    with tempfile.TemporaryDirectory(prefix="tilewalk_") as folder:
        here = site(folder)
        here.environment.update(variables)
        try:
            yield here
        finally:
            for shard in here.running():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(shard.process, signal.SIGKILL)


def wait_for(what, find, seconds=120, otherwise=lambda: ""):
    """The first true answer of find(); without one the test fails with the text of otherwise()."""
    for _ in range(seconds * 50):
        if answer := find():
            return answer
        time.sleep(0.02)
    sys.exit(f"{what}: not within {seconds} s\n{otherwise()}")
