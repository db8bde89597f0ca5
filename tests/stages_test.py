# SPDX-License-Identifier: Apache-2.0
"""The stages of .ci/run in a small repository: a stage is skipped while its files are those it last passed
with, and runs again after any change; stages passed at night are recorded with their commit; interrupted
tests resume."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

if not shutil.which("git"):
    print("SKIPPED: git is not installed")
    sys.exit(77)

SOURCE = pathlib.Path(os.environ.get("TILEWALK_SOURCE_DIR", pathlib.Path(__file__).parent.parent)).resolve()
NAMES = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
FILES = {
    ".gitignore": "/build/\n",
    ".ci/stages.toml": """
[[stage]]
name = "plain"
when = "gate"
run = "echo plain"
[[stage]]
name = "optional"
when = "changed"
files = ["src", "*.txt"]
run = "sh tools/check.sh"
[[stage]]
name = "resumed"
when = "night"
run = ".ci/resume_tests.py build/release -E _test"
[[stage]]
name = "half"
when = "night"
parts = 2
run = ".ci/resume_tests.py build/release --part PART -R half"
[[stage]]
name = "endless"
when = "night"
minutes = 0.01
run = "sleep 60"
[[stage]]
name = "tests"
when = "gate"
live = true
run = "make -s test"
""",
    "Makefile": """test:
\t@ctest --test-dir build/release $${LEFT_OUT:+-E "$$LEFT_OUT"} -R '$(or $(TESTS),_test|plain)'
""",
    # Tests of a small project append a line to build/ran; `second` passes once the file build/second exists.
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(small NONE)
enable_testing()
set(ran ${PROJECT_SOURCE_DIR}/build/ran)
add_test(NAME first COMMAND sh -c "echo first >> ${ran}")
add_test(NAME second COMMAND sh -c "echo second >> ${ran}; test -f ${PROJECT_SOURCE_DIR}/build/second")
foreach(k RANGE 9)
    add_test(NAME half_${k} COMMAND sh -c "echo half_${k} >> ${ran}")
endforeach()
add_test(NAME script_test COMMAND python3 -B ${PROJECT_SOURCE_DIR}/tests/script_test.py)
set_tests_properties(script_test PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME plain.1 COMMAND sh -c "echo plain_tests suite.costly 4.321 >> $TILEWALK_COSTS")
add_test(NAME plain_test COMMAND true)
""",
    "src/a.cpp": "one\n",
    "notes.txt": "notes\n",
    "elsewhere/file": "elsewhere\n",
    "tools/check.sh": "test ! -f build/break || { seq 300; exit 1; }\n",
    "tests/script_test.py": "# optional: src\nimport sys\n\nimport common\nsys.exit(common.CODE)\n",
    "tests/common.py": "CODE = 0\n",
}


class Repository:
    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        for name, text in FILES.items():
            self.put(name, text)
        for file in (*(SOURCE / ".ci").glob("*.py"), SOURCE / ".ci/turn"):
            shutil.copy(file, self.root / ".ci")
        self.git("init", "-q")
        self.commit()
        self.do("cmake", "-S", ".", "-B", "build/release")

    def do(self, *words, code=0):
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "MAKE", "LEFT_OUT", "TESTS"))}
        done = subprocess.run(words, cwd=self.root, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment | dict.fromkeys(NAMES, "somebody"))
        assert done.returncode == code, f"{words}: exit code {done.returncode}\n{done.stdout}"
        return done.stdout

    def git(self, *words):
        return self.do("git", *words)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "more")
        return self.git("rev-parse", "HEAD").strip()

    def put(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run(self, *words, code=0):
        return self.do(sys.executable, "-B", ".ci/stages.py", *words, code=code)

    def left_out(self):
        return set(re.findall(r"^unchanged since it passed: (\w+)$", self.run(), re.M))

    def ran(self):
        file = self.root / "build/ran"
        said = file.read_text().split() if file.exists() else []
        file.unlink(missing_ok=True)
        return said


def optional_stages_run_when_a_file_changes(small):
    assert small.left_out() == set()
    assert small.left_out() == {"optional", "script_test"}
    both, one, script = set(), {"script_test"}, {"optional"}
    changes = {
        "a file": ("src/a.cpp", "two\n", both),
        "a file that git does not track": ("src/b.cpp", "three\n", both),
        "a file of one alone": ("more.txt", "more\n", one),
        "the script that a command names": ("tools/check.sh", FILES["tools/check.sh"] + "# more\n", one),
        "the command": (".ci/stages.toml", FILES[".ci/stages.toml"].replace("sh tools/check.sh", "sh tools/check.sh again"), one),
        "the script of a test": ("tests/script_test.py", FILES["tests/script_test.py"] + "# more\n", script),
        "a module that it imports": ("tests/common.py", "CODE = 0  # zero\n", script),
        "nothing that they name": ("elsewhere/file", "more\n", {"optional", "script_test"}),
    }
    for what, (name, text, expected) in changes.items():
        small.put(name, text)
        found = small.left_out()
        assert found == expected, f"{what} changed: {found} were left out, expected {expected}"
    for change in ((small.root / "src/a.cpp").chmod, 0o755), (lambda _: (small.root / "src/b.cpp").unlink(), 0):
        change[0](change[1])
        assert small.left_out() == both
    small.commit()
    small.git("clone", "-q", ".", "build/clone")
    records = [small.do(sys.executable, "-B", "-c", f"import os, sys; os.chdir('{folder}'); sys.path.insert(0, '.ci'); import stages;"
                        "print({name: stage.digest() for name, stage in stages.Run().stages.items() if stage.files})")
               for folder in (".", "build/clone")]
    assert records[0] == records[1], records


def a_stage_that_did_not_pass_is_not_recorded(small):
    small.put("build/break", "")
    said = small.run(code=1)
    assert "FAILED: optional" in said and "\n300\n" in said and "\n99\n" not in said and "FAILED before the tests: optional" in said, said
    assert said.index("tests passed") < said.rindex("FAILED: optional"), said
    (small.root / "build/break").unlink()
    small.put("tests/common.py", "CODE = 77\n")
    small.put("tools/check.sh", "echo SKIPPED: there is no tool\n")
    said = small.run()
    assert "SKIPPED: there is no tool" in said and small.left_out() == set(), said
    assert "no stage: wheel\n" in small.run("nightly", "wheel", code=1)
    small.put(".ci/stages.toml", FILES[".ci/stages.toml"].replace('"src"', '"source"'))
    assert "'source', which no file matches" in small.run(code=1)


def costs_are_read_from_what_tests_leave(small):
    said = small.run()
    assert re.search(r"4\.3  plain_tests$", said, re.M) and re.search(r"4\.3  plain_tests: suite\.costly$", said, re.M), said
    assert re.search(r"in 1 tests of programs and 2 scripts$", said, re.M), said
    assert said.rstrip().split("\n")[-1].startswith("Total Test time"), said
    assert said.index("costliest tests") < said.rindex("100% tests passed"), said


def the_night_goes_on_where_it_ended(small):
    commit = small.git("rev-parse", "HEAD").strip()
    small.run("nightly", "resumed", code=1)
    ran = small.ran()
    assert {"first", "second"} < set(ran), ran
    small.run("resumed", code=1)
    assert small.ran() == ["second"]
    small.put("build/second", "")
    said = small.run("nightly", code=1)
    assert small.ran().count("second") == 1 and "ended after 0.01 minutes" in said, said
    rows = dict(line.split(" ", 1) for line in (small.root / ".ci/nightly").read_text().splitlines())
    assert set(rows) == {"optional", "resumed", "half_1", "half_2"} and all(row.startswith(commit) for row in rows.values()), rows
    small.commit()
    said = small.run("nightly", code=1)
    assert said.count("passed at this commit:") == 4 and small.ran() == [], said
    small.run("half_1")
    first = small.ran()
    small.run("half_2")
    second = small.ran()
    assert first and second and sorted(first + second) == [f"half_{k}" for k in range(10)], (first, second)
    small.put("elsewhere/file", "changed")
    small.run("resumed")
    assert {"first", "second"} < set(small.ran()) and f"resumed {commit}" in (small.root / ".ci/nightly").read_text()


def the_gate_names_what_has_not_passed_for_long(small):
    commit = small.git("rev-parse", "HEAD").strip()
    small.run("half_1", "half_2")
    small.put(".ci/nightly", (small.root / ".ci/nightly").read_text() + "resumed " + "0" * 40 + " 2026-01-01\n")
    small.put("elsewhere/file", "changed")
    for _ in range(100):
        small.commit()
    said = small.run()
    assert "resumed: passed at 00000000 on 2026-01-01, a commit that this clone does not have" in said and "half_" not in said, said
    assert "late by night: endless: never passed\n" in said, said  # `optional` passed in this gate
    small.put("tests/mistakes/scores", "engine/a 2026-01-01 0 1 10/20\nengine/a 2026-01-02 0 2 18/20\nengine/b 2026-01-01 0 1 17/20\n")
    small.commit()
    said = small.run()
    assert "weak tests: engine/b: 17 of 20 drawn mistakes caught on 2026-01-01" in said and "engine/a" not in said, said
    small.git("rm", "-q", "tests/mistakes/scores")
    assert re.search(rf"^late by night: half_1: passed at {commit[:8]} on .*, 101 commits ago$", small.run(), re.M)


def quarters_take_turns(small):
    turns = []
    for _ in range(5):
        turns.append(small.do(".ci/turn"))
        small.commit()
    assert turns == ["1\n", "2\n", "3\n", "0\n", "1\n"], turns
    small.git("clone", "-q", "--depth", "1", f"file://{small.root}", "build/shallow")
    assert small.do("build/shallow/.ci/turn") == ""


for test in (optional_stages_run_when_a_file_changes, a_stage_that_did_not_pass_is_not_recorded, costs_are_read_from_what_tests_leave,
             the_night_goes_on_where_it_ended, the_gate_names_what_has_not_passed_for_long, quarters_take_turns):
    with tempfile.TemporaryDirectory() as scratch:
        test(Repository(scratch))
        print(f"{test.__name__}: well", flush=True)
