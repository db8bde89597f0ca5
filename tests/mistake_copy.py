# SPDX-License-Identifier: Apache-2.0
"""A copy of the source in the build folder, in which mistakes are made and tests run."""
import contextlib
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import mistake_tables
from mistake_tables import source

copy = pathlib.Path(os.environ.get("TILEWALK_BINARY_DIR", source / "build" / "release")) / "mistakes"
rooms = ["CMakeLists.txt", ".ci", "bench", "configs", "engine", "kernels", "products", "tests", "docs", "README.md", "CONTRIBUTING.md", "LICENSE"]


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def bring_source(changed=None):
    """Copies files that differ, so that only these are rebuilt, and returns a digest of all. `changed`
    overrides the texts of some files."""
    changed = changed or {}
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
        there = copy / name
        content = changed[str(name)].encode() if str(name) in changed else file.read_bytes()
        digest.update(f"{name} {len(content)} ".encode() + content)
        if there.exists() and there.read_bytes() == content:
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(content)
        there.chmod(file.stat().st_mode)
    return digest.hexdigest()


def configure(build, *more):
    """A shared library, so that programs need not be linked again."""
    options = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1 -DNDEBUG", "-DBUILD_SHARED_LIBS=ON",
               "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", "-DTILEWALK_TESTS=ON", "-DTILEWALK_BENCH=OFF", *more]
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    if shutil.which("ninja"):
        options += ["-G", "Ninja"]
    environment = {k: v for k, v in os.environ.items() if k != "CMAKE_GENERATOR"}
    done = run(["cmake", "-S", copy, "-B", build, *options], env=environment)
    if done.returncode != 0:
        sys.exit(f"the copy can't be configured:\n{done.stdout[-4000:]}")


def compile_targets(build, *targets):
    return run(["cmake", "--build", build, "-j", str(os.cpu_count()), "--target", *targets])


def output_of(command, timeout, env):
    """The exit code and output of a command, None after the timeout. Its child processes end with it."""
    with tempfile.TemporaryFile() as said:
        running = subprocess.Popen(command, cwd=copy, stdout=said, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env,
                                   start_new_session=True)
        try:
            code = running.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        said.seek(0)
        return code, said.read().decode(errors="replace")


def outcome(program, names, *options, timeout=1800, env=None):
    """"passed", "failed", or a reason why neither is known, for the tests that match GoogleTest's filter."""
    done = output_of([program, f"--gtest_filter={names}", *options], timeout, env)
    if not done:
        return "failed"
    code, said = done
    if re.search(r"\[ +FAILED +\]|terminate called|Segmentation|Aborted", said) or code < 0:
        return "failed"
    passed = re.search(r"\[ +PASSED +\] (\d+) test", said)
    if code == 0 and passed and int(passed[1]) > 0 and not re.search(r"\[ +SKIPPED +\]", said):
        return "passed"
    return f"neither passed nor failed:\n{said[-2000:]}"
