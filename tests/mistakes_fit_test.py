# SPDX-License-Identifier: Apache-2.0
# Every mistake of tests/mistakes/ still fits the source and names tests that exist, so that those who change a line
# notice before the night does.
import os
import pathlib
import re
import subprocess
import sys

source = pathlib.Path(os.environ.get("TILEWALK_SOURCE_DIR", pathlib.Path(__file__).parent.parent)).resolve()


def fault_of(file):
    done = subprocess.run(["patch", "--dry-run", "--batch", "--forward", "-p1", "-i", file], cwd=source,
                          capture_output=True, text=True)
    if done.returncode != 0:
        return f"the patch no longer fits:\n{done.stdout}"
    text = file.read_text()
    if not re.search(r"^# what: .+$", text, re.M):
        return "found no line '# what: ...'"
    named = re.findall(r"^# must fail: (.*)$", text, re.M)
    for test in named:
        parts = test.split(".")
        if len(parts) != 3:
            return f"found '{test}', expected PROGRAM.SUITE.TEST"
        program, suite, name = parts
        try:
            code = (source / "tests" / f"{program}.cpp").read_text()
        except OSError:
            return f"there is no test program {program}"
        own_suite, own_name = suite.split("/")[-1], name.split("/")[0]
        if not re.search(rf"TEST(_F|_P)?\(\s*{own_suite}\s*,\s*{own_name}\s*\)", code):
            return f"there is no test {own_suite}.{own_name} in {program}"
    return "" if named else "found no line '# must fail: ...'"


patches = sorted((source / "tests" / "mistakes").glob("*.patch"))
faults = {file.name: fault for file in patches if (fault := fault_of(file))}
for name, fault in faults.items():
    print(f"{name}: {fault}")
print(f"{len(patches)} mistakes, {len(faults)} faults")
sys.exit(1 if faults or not patches else 0)
