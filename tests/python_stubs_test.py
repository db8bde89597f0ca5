# SPDX-License-Identifier: Apache-2.0
# optional: python
# The type hints of the package: mypy checks all of it strictly, and stubtest compares the stubs with the extension.
import pathlib
import re
import subprocess
import sys
import tempfile

import pythons

pythons.in_python_with("numpy", "mypy")

import tilewalk  # noqa: E402

# Complaints of stubtest to ignore: nanobind's functions and classes have types of its own, which it does not know.
OF_NANOBIND = re.compile(r"is not a function$|metaclass differs$|stub does not have \*(args|\*kwargs) parameter|"
                         r"stub is a staticmethod but runtime is not$")
source = pathlib.Path("python/tilewalk")
stub = pythons.package / "tilewalk/_core.pyi"
with tempfile.TemporaryDirectory() as folder:
    # A copy of the package, because mypy reports files by path and those of the build tree are links.
    package = pathlib.Path(folder) / "tilewalk"
    package.mkdir()
    for file in [*source.glob("*.py"), source / "py.typed", stub]:
        (package / file.name).write_bytes(file.read_bytes())
    (package / next((pythons.package / "tilewalk").glob("_core.*.so")).name).symlink_to(tilewalk._core.__file__)
    environment = pythons.environment(PYTHONPATH=folder, MYPYPATH=folder, MYPY_CACHE_DIR=f"{folder}/cache")

    def run(*words):
        """Returns the error lines."""
        done = subprocess.run([sys.executable, "-m", *words], cwd=folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        found = [line for line in done.stdout.splitlines() if "error: " in line and not OF_NANOBIND.search(line)]
        print("\n".join(found) or f"{words[0]}: nothing wrong")
        if done.returncode not in (0, 1):
            sys.exit(done.stdout)
        return found

    strictly = ("mypy", "--config-file", str(pathlib.Path("pyproject.toml").resolve()), "--exclude", "quantlib")
    read_strictly = run(*strictly, "tilewalk")
    as_stubbed = run("mypy.stubtest", "tilewalk._core", "--ignore-disjoint-bases")
    (package / "_core.pyi").write_text(stub.read_text(encoding="utf-8") + "\ndef nobody() -> int: ...\n", encoding="utf-8")
    finds_a_wrong_stub = run("mypy.stubtest", "tilewalk._core", "--ignore-disjoint-bases")
    (package / "wrong.py").write_text("import tilewalk as tw\nx: int = tw.price('book.yaml')\n", encoding="utf-8")
    finds_a_wrong_type = run(*strictly, "tilewalk/wrong.py")
assert not read_strictly and not as_stubbed, "the types of the package are not what they say"
assert finds_a_wrong_stub and finds_a_wrong_type, "the checks can't fail"
