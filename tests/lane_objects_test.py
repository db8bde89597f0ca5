# SPDX-License-Identifier: Apache-2.0
# Object files built for one instruction set share no function with the rest of the library: of an inline function the linker keeps one
# copy, which might need instructions that the machine lacks.
import os
import pathlib
import subprocess
import sys


def shared_functions(file):
    """Functions that the linker may merge with other objects: weak and unique definitions."""
    listed = subprocess.run(["nm", "--defined-only", "--demangle", file], capture_output=True, text=True, check=True)
    lines = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [name for _, kind, name in lines if kind in "WwVvu" and not name.startswith("__odr_asan")]


binary_dir = pathlib.Path(os.environ["TILEWALK_BINARY_DIR"])
objects = sorted([*binary_dir.rglob("lane_operations.cpp.o"), *binary_dir.rglob("evaluate.cpp.o")])
if len(objects) < 2:
    sys.exit(f"too few objects under {binary_dir}: {objects}")

# Shows that the check can fail: an ordinary object file shares many functions.
if not shared_functions(next(binary_dir.rglob("error.cpp.o"))):
    sys.exit("no object of the library shares a function: the check sees nothing")

failures = 0
for file in objects:
    shared = shared_functions(file)
    print(f"{file.relative_to(binary_dir)}: {', '.join(shared) or 'shares nothing'}")
    failures += bool(shared)
sys.exit(1 if failures else 0)
