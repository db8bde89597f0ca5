# SPDX-License-Identifier: Apache-2.0
# Prints the tests of these programs as ctest commands: discover.py [--some] PROGRAM... With --some the
# programs may lack some sources.
#
# A shard is a ctest test of about 25 quick tests, AREA.SHARD. With TILEWALK_SINGLY each test is a ctest test,
# AREA/FILE.SUITE.TEST, as long tests always are. Tests of a real GPU, named *_on_gpu or *_on_a_gpu, run one
# at a time, because they rely on its memory or fill it.
#
# Suites of sources with a line "// label: sampled (why)" have so many cases that a quarter runs at a time:
# with TILEWALK_TURN, a number, the cases whose hash has its remainder, and those of always.txt. Any four
# turns in a row run all. Sources with "// label: apart (why)" share no process with others.
import collections
import os
import pathlib
import re
import subprocess
import sys
import zlib

TESTS = pathlib.Path(__file__).resolve().parent
SHARD = 25  # tests of one process
DECLARED = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)", re.M)
ON_GPU = re.compile("_on_(a_)?gpu")
LABEL = re.compile(r"^// label: (\w+) \(", re.M)
TURN = os.environ.get("TILEWALK_TURN")
ALWAYS = {line for line in (TESTS / "always.txt").read_text().splitlines() if not line.startswith("#")}
FILLS_MEMORY = "says_that_memory_is_out"  # counts free memory, which every other pricing test changes if there is a GPU


def sources_of_suites(area):
    """The source of each suite, by name and labels."""
    return {suite: (source.stem, LABEL.findall(text))
            for source in sorted((TESTS / area).glob("*_test.cpp")) for text in [source.read_text()]
            for suite in DECLARED.findall(text)}


def is_due(test):
    return not TURN or test in ALWAYS or zlib.crc32(test.encode()) % 4 == int(TURN) % 4


def tests_of(program):
    """Names as GoogleTest filters them, SUITE.TEST."""
    listed = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    suite = ""
    for line in listed.splitlines():
        name = line.split("#")[0].rstrip()
        if name.endswith(".") and not name.startswith(" "):
            suite = name
        elif name.startswith("  ") and suite:
            yield suite + name.strip()


def say(name, program, tests, labels, timeout, **properties):
    quoted = " ".join(f"[==[{word}]==]" for word in [sys.executable, "-B", str(TESTS / "run.py"), program, *tests])
    properties = {"WORKING_DIRECTORY": str(TESTS.parent), "TIMEOUT": timeout, "SKIP_RETURN_CODE": 77, "LABELS": ";".join(labels),
                  **properties}
    print(f"add_test([==[{name}]==] {quoted})")
    print(f"set_tests_properties([==[{name}]==] PROPERTIES " + " ".join(f"{k} [==[{v}]==]" for k, v in properties.items()) + ")")


def say_tests_of(program):
    area = pathlib.Path(program).name.removesuffix("_tests")
    if not os.path.exists(program):
        print(f"add_test({area}_NOT_BUILT {area}_NOT_BUILT)")
        return set()
    sources = sources_of_suites(area)
    shards = collections.defaultdict(list)  # by common properties
    listed = set(tests_of(program))
    for test in sorted(listed):
        parts = test.split(".")[0].split("/")
        source, labels = next(sources[part] for part in reversed(parts) if part in sources)
        if "sampled" in labels and not is_due(test):
            continue
        on_gpu = bool(ON_GPU.search(test))
        is_long = any(part.endswith("_long") for part in parts)
        if is_long or FILLS_MEMORY in test or os.environ.get("TILEWALK_SINGLY"):
            say(f"{area}/{source}.{test}", program, [test], ["long" if is_long else "quick"] + ["gpu"] * on_gpu,
                7200 if is_long else 700, **({"RESOURCE_LOCK": "gpu"} if on_gpu else {}),
                **({"RUN_SERIAL": "TRUE"} if FILLS_MEMORY in test else {}))
        else:
            shards[on_gpu, source + "_" if "apart" in labels else ""].append(test)
    for (on_gpu, apart), tests in shards.items():
        count = -(-len(tests) // SHARD)
        for k in range(count):
            say(f"{area}.{apart}{'gpu_' * on_gpu}{k + 1}", program, tests[k::count], ["quick"] + ["gpu"] * on_gpu, 3600,
                **({"RESOURCE_LOCK": "gpu"} if on_gpu else {}))
    return listed


def main():
    programs = [word for word in sys.argv[1:] if word != "--some"]
    found = [say_tests_of(program) for program in programs]
    if all(found) and programs == sys.argv[1:] and (missing := ALWAYS - set().union(*found)):
        print(f"message(FATAL_ERROR [==[tests/always.txt: there is no test {', '.join(sorted(missing))}]==])")


if __name__ == "__main__":
    main()
