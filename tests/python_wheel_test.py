# SPDX-License-Identifier: Apache-2.0
# Wheels, each installed in an empty environment, price with the bits of the command, through the package and through its console script.
# Tests the wheels of python/build_wheels.sh (build/wheels, or TILEWALK_WHEELS). Skipped if there are none, if they are older than the
# command, or if there is no network for NumPy.
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import pythons

wheels = sorted(pathlib.Path(os.environ.get("TILEWALK_WHEELS", pythons.source_dir / "build/wheels")).glob("tilewalk-*.whl"))
if not wheels:
    pythons.skip("there is no wheel in build/wheels; python/build_wheels.sh makes them")
if "TILEWALK_WHEELS" not in os.environ and min(wheel.stat().st_mtime for wheel in wheels) < os.stat(pythons.command).st_mtime:
    pythons.skip("the command is newer than the wheels in build/wheels; python/build_wheels.sh makes them anew")
BOOK = str(pythons.source_dir / "configs/books/demo.yaml")
MOST_BYTES = 12_000_000
VERIFY = ("verify", "--product", "digital", "--trades", "60", "--paths", "1024", "--format", "csv")
BENCH = ("bench", "models", "black_scholes", "--device", "cpu", "--seconds", "0.001", "--format", "csv")
PROGRAM = f"""
import sys, tilewalk as tw
sys.stdout.write(tw.price({BOOK!r}, paths=1024).to_csv())
devices = tw.devices()
assert devices.why_no_gpu or devices.gpus, devices
assert tw.price({BOOK!r}, paths=1024).columns["price"].shape == (12,)
try:
    tw.price({BOOK!r}, pahts=1)
except tw.UsageError as e:
    assert "paths" in str(e)
else:
    sys.exit("a wrong setting was taken")
"""


def run(*words, **how):
    bare = {name: held for name, held in os.environ.items() if not name.startswith(("PYTHON", "TILEWALK_", "PIP_"))}
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(bare, **how))
    if done.returncode != 0:
        if re.search(r"No matching distribution found for numpy|Connection|resolve", done.stderr):
            pythons.skip("NumPy can't be fetched")
        sys.exit(f"exit code {done.returncode} of {words}\n{done.stdout}{done.stderr}")
    return done.stdout


def same(said, expected, by):
    if said != expected or said.count("\n") != 13:
        sys.exit(f"{by}: other bytes than those of the command\n{said}\n{expected}")


def python_for(wheel):
    """An interpreter for the wheel, or None: one of the path, or that of the script that makes wheels."""
    tag = wheel.name.split("-")[2]
    versions = ["3.11"] if tag == "cp311" else ["3.12", "3.13", "3.14"]
    unpacked = pythons.source_dir / "build/trixie/python3.13"
    if tag != "cp311" and unpacked.exists():
        return unpacked, "3.13"
    for version in versions:
        for python in (os.environ["TILEWALK_PYTHON"], sys.executable, shutil.which(f"python{version}")):
            if python and subprocess.run([python, "-c", f"import sys; sys.exit(sys.version_info[:2] != {tuple(map(int, version.split('.')))})"]).returncode == 0:
                return pathlib.Path(python), version
    return None, ""


def has_all_commands(command, folder, **how):
    """Verify and bench, separate programs in a build, are inside the wheel, and the help lists them."""
    if (said := run(*command, *VERIFY, **how)) != verified:
        sys.exit(f"{command}: other bytes than those of the command\n{said}\n{verified}")
    if "black_scholes" not in run(*command, *BENCH, **how):
        sys.exit(f"{command}: bench measured nothing")
    run(*command, "help", "--man", f"{folder}/pages", **how)
    for name, option in (("verify", "plant"), ("bench", "feeds")):
        if rf"\-\-{option}" not in pathlib.Path(f"{folder}/pages/tilewalk-{name}.1").read_text(encoding="utf-8"):
            sys.exit(f"{command}: the page of {name} lacks --{option}")


tried = 0
verified = run(pythons.command, *VERIFY)
expected = run(pythons.command, "price", BOOK, "--paths", "1024", "--format", "csv")
for wheel in wheels:
    assert wheel.stat().st_size <= MOST_BYTES, f"{wheel.name}: {wheel.stat().st_size} bytes"
    assert "manylinux" in wheel.name, wheel.name
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    for needed in ("tilewalk/__init__.py", "tilewalk/py.typed", "tilewalk/_core.pyi", "tilewalk/dask.py"):
        assert needed in names, f"{wheel.name} lacks {needed}"
    python, version = python_for(wheel)
    if python is None:
        print(f"{wheel.name}: no interpreter here is for it")
        continue
    with tempfile.TemporaryDirectory() as folder:
        if python.parent.name == "trixie":
            # The new environment has no pip, so the pip of this one is used.
            run(os.environ["TILEWALK_PYTHON"] or sys.executable, "-m", "pip", "install", "--quiet", "--target", f"{folder}/site",
                "--python-version", version, "--only-binary", ":all:", wheel)
            same(run(python, "-c", PROGRAM, PYTHONPATH=f"{folder}/site", HOME=folder), expected, wheel.name)
            said = run(python, "-m", "tilewalk", "price", BOOK, "--paths", "1024", "--format", "csv",
                       PYTHONPATH=f"{folder}/site", HOME=folder)
            has_all_commands([python, "-m", "tilewalk"], folder, PYTHONPATH=f"{folder}/site", HOME=folder)
        else:
            run(python, "-m", "venv", f"{folder}/bare")
            run(f"{folder}/bare/bin/pip", "install", "--quiet", wheel)
            same(run(f"{folder}/bare/bin/python", "-c", PROGRAM, HOME=folder), expected, wheel.name)
            said = run(f"{folder}/bare/bin/tilewalk", "price", BOOK, "--paths", "1024", "--format", "csv", HOME=folder)
            has_all_commands([f"{folder}/bare/bin/tilewalk"], folder, HOME=folder)
        same(said, expected, f"{wheel.name}, its command")
    tried += 1
    print(f"{wheel.name}: {wheel.stat().st_size} bytes, well with Python {version}")
if not tried:
    pythons.skip("no interpreter here is for any of the wheels")
