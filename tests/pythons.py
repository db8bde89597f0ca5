# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the Python package: runs them in a suitable Python with the package of the build
tree, and skips them with a reason if either is missing."""
import os
import pathlib
import subprocess
import sys
import traceback

source_dir = pathlib.Path(os.environ["TILEWALK_SOURCE_DIR"])
binary_dir = pathlib.Path(os.environ["TILEWALK_BINARY_DIR"])
command = os.environ["TILEWALK_CLI"]
package = binary_dir / "python"


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def python_with(*modules):
    """A Python with these modules that fits the extension of the build tree."""
    asked = f"import {', '.join(modules)}"
    tags = [path.name.split(".")[1] for path in (package / "tilewalk").glob("_core.*.so")]
    if not tags:
        skip("the build has no Python package; configure it with -DTILEWALK_PYTHON=ON")
    reasons = []
    for python in (os.environ["TILEWALK_PYTHON"], str(source_dir / "build/python/bin/python"), sys.executable):
        if not python or not pathlib.Path(python).exists():
            continue
        done = subprocess.run([python, "-c", f"{asked}; import tilewalk"], stderr=subprocess.PIPE, text=True,
                              env=environment())
        if done.returncode == 0:
            return python
        reasons.append(f"{python}: {done.stderr.strip().splitlines()[-1]}")
    skip("; ".join(reasons) + " (.ci/install_packages.sh ci puts the packages under build/python)")


def environment(**variables):
    """The environment of a program that uses the package, without the caller's cluster or settings."""
    outer = {name: value for name, value in os.environ.items()
             if not name.startswith(("DASK_", "TILEWALK_"))}
    ours = {name: os.environ[name] for name in ("TILEWALK_SOURCE_DIR", "TILEWALK_BINARY_DIR", "TILEWALK_CLI",
                                                "TILEWALK_PYTHON", "TILEWALK_TESTS") if name in os.environ}
    return {**outer, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", **ours, **variables}


def in_python_with(*modules):
    """Runs this script again in a Python with the modules, unless it runs in one."""
    if os.environ.get("TILEWALK_TEST_IN_PYTHON") == "yes":
        return
    python = python_with(*modules)
    os.chdir(source_dir)
    sys.exit(subprocess.run([python, "-B", *sys.argv], env=environment(TILEWALK_TEST_IN_PYTHON="yes")).returncode)


def raises(kind, call, *words):
    """The exception of this kind that a call raises, with these words in its text."""
    try:
        call()
    except kind as e:
        for word in words:
            assert word in str(e), f"'{word}' is not in: {e}"
        return e
    raise AssertionError(f"expected {kind.__name__}")


def run_all(tests):
    """Runs all functions named test_*, and exits with the number of failures."""
    failed = []
    asked = os.environ.get("TILEWALK_TESTS", "")
    found = [(name, test) for name, test in tests.items() if name.startswith("test_") and asked in name]
    for name, test in found:
        try:
            test()
            print(f"{name}: well", flush=True)
        except Exception:
            traceback.print_exc()
            print(f"{name}: FAILED", flush=True)
            failed.append(name)
    if not found:
        sys.exit("no test was found")
    print(f"{len(found)} tests, {len(failed)} failed: {', '.join(failed)}" if failed else f"{len(found)} tests are well")
    sys.exit(1 if failed else 0)
