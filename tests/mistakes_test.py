# SPDX-License-Identifier: Apache-2.0
# Puts mistakes into a copy of the source, one at a time, and wants the tests that each names to fail. A mistake is a
# patch in tests/mistakes/: lines "# what: ..." and "# must fail: PROGRAM.SUITE.TEST" above the diff. To try some:
# python3 tests/mistakes_test.py NAME...
# label: long
import os
import pathlib
import re
import shutil
import subprocess
import sys

source = pathlib.Path(os.environ.get("TILEWALK_SOURCE_DIR", pathlib.Path(__file__).parent.parent)).resolve()
binary = pathlib.Path(os.environ.get("TILEWALK_BINARY_DIR", source / "build" / "release"))
copy = binary / "mistakes"
build = copy / "build"
rooms = ["CMakeLists.txt", ".ci", "bench", "configs", "engine", "kernels", "products", "tests", "docs", "README.md", "CONTRIBUTING.md"]


class Mistake:
    def __init__(self, file):
        text = file.read_text()
        self.name = file.stem
        self.file = file
        self.what = re.findall(r"^# what: (.+)$", text, re.M)
        self.must_fail = re.findall(r"^# must fail: (\S+)$", text, re.M)
        self.changed = re.findall(r"^\+\+\+ b/(\S+)", text, re.M)
        bad = [t for t in self.must_fail if len(t.split(".")) != 3]
        if len(self.what) != 1 or not self.must_fail or not self.changed or bad:
            sys.exit(f"{file}: expected one line '# what: ...', lines '# must fail: PROGRAM.SUITE.TEST', and a diff")


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def demand(command, **options):
    done = run(command, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout[-4000:]}")


def bring_source():
    """The copy gets what differs, with the times of the source: only that is built again."""
    copy.mkdir(parents=True, exist_ok=True)
    kept = {}
    for room in rooms:
        top = source / room
        for file in [top] if top.is_file() else top.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                kept[file.relative_to(source)] = file
    for old in [f for room in rooms for f in (copy / room).rglob("*") if f.is_file()]:
        if old.relative_to(copy) not in kept:
            old.unlink()
    for name, file in kept.items():
        there = copy / name
        if there.exists() and there.read_bytes() == file.read_bytes():
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, there)
        there.chmod(file.stat().st_mode)


def configure():
    options = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1 -DNDEBUG", "-DTILEWALK_TESTS=ON", "-DTILEWALK_BENCH=OFF"]
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    if shutil.which("ninja"):
        options += ["-G", "Ninja"]
    environment = {k: v for k, v in os.environ.items() if k != "CMAKE_GENERATOR"}
    demand(["cmake", "-S", copy, "-B", build, *options], env=environment)


def compile_tests(tests):
    programs = sorted({t.split(".")[0] for t in tests})
    return run(["cmake", "--build", build, "-j", str(os.cpu_count()), "--target", *programs])


def outcome(test):
    """passed, failed, or why neither can be said."""
    program, name = test.split(".", 1)
    done = run([build / "tests" / program, f"--gtest_filter={name}:*/{name}/*"], cwd=copy, timeout=1800)
    if re.search(r"\[ +FAILED +\]|terminate called|Segmentation|Aborted", done.stdout) or done.returncode < 0:
        return "failed"
    passed = re.search(r"\[ +PASSED +\] (\d+) test", done.stdout)
    if done.returncode == 0 and passed and int(passed[1]) > 0 and not re.search(r"\[ +SKIPPED +\]", done.stdout):
        return "passed"
    return f"neither passed nor failed:\n{done.stdout[-2000:]}"


def put_in(mistake):
    for file in mistake.changed:
        shutil.copyfile(source / file, copy / file)
    done = run(["patch", "--batch", "--forward", "-p1", "-i", mistake.file], cwd=copy)
    if done.returncode != 0:
        sys.exit(f"{mistake.file}: the patch no longer fits the source:\n{done.stdout}")


def take_out(mistake):
    for file in mistake.changed:
        shutil.copyfile(source / file, copy / file)
        for rest in (copy / (file + ".orig"), copy / (file + ".rej")):
            rest.unlink(missing_ok=True)


mistakes = [Mistake(f) for f in sorted((source / "tests" / "mistakes").glob("*.patch"))]
if len(sys.argv) > 1:
    unknown = set(sys.argv[1:]) - {m.name for m in mistakes}
    if unknown:
        sys.exit(f"no such mistake: {', '.join(sorted(unknown))}; there are {', '.join(m.name for m in mistakes)}")
    mistakes = [m for m in mistakes if m.name in sys.argv[1:]]

bring_source()
configure()
all_tests = sorted({t for m in mistakes for t in m.must_fail})
made = compile_tests(all_tests)
if made.returncode != 0:
    sys.exit(f"the tests do not compile without a mistake:\n{made.stdout[-4000:]}")
broken = {t: o for t in all_tests if (o := outcome(t)) != "passed"}
for test, why in broken.items():
    print(f"{test} must pass without a mistake: {why}")
missed = 0
for mistake in mistakes:
    put_in(mistake)
    made = compile_tests(mistake.must_fail)
    if made.returncode != 0:
        verdicts = [f"does not compile:\n{made.stdout[-2000:]}"]
    else:
        verdicts = [f"{t} {o}" for t in mistake.must_fail if (o := outcome(t)) != "failed"]
    take_out(mistake)
    missed += bool(verdicts)
    print(f"{'MISSED' if verdicts else 'caught'}: {mistake.name}: {mistake.what[0]}", *verdicts, sep="\n  ", flush=True)
print(f"{len(mistakes)} mistakes, {missed} missed")
sys.exit(1 if missed or broken or not mistakes else 0)
