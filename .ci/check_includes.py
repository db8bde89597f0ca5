#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the arrows of the house: who may include whom, which room lies above which, which names sources of a folder may both
have, an SPDX line and ASCII in every source; and the table and the picture of the rooms.

Proves first, on a small house made for it, that each rule can fail; then looks at the real one.
"""
import argparse
import html
import pathlib
import re
import sys
import tempfile

STANDARD = set("""algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes
    climits clocale cmath compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint
    cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream
    functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory
    memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator
    semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view
    syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray
    variant vector version""".split())

# Each rule: a folder, the quoted includes that its files may have, and the bracketed ones. The first rule that fits a file decides.
ANY = r".*"
STANDARD_ONLY = None
RULES = [
    ("engine/include/tilewalk/", r"tilewalk/", STANDARD_ONLY),
    ("engine/cli/", r"tilewalk/|engine/cli/", r"(?!yaml-cpp/).*"),
    ("python/", r"tilewalk/|python/extension/|engine/cli/(all_commands|program)\.h$", r"(?!yaml-cpp/|cuda).*"),
    ("bench/program.cpp", r"engine/cli/", STANDARD_ONLY),
    ("bench/measure/", r"tilewalk/|bench/(measure|suites)/|engine/(?!cli/)|products/|kernels/", r"(?!yaml-cpp/|cuda).*"),
    ("bench/suites/", r"tilewalk/|bench/(measure|suites)/|engine/(?!cli/)|products/|kernels/", r"(?!yaml-cpp/|cuda).*"),
    ("engine/base/text/", r"tilewalk/|engine/(?!cli/)|products/|kernels/", ANY),
    ("engine/walk/cuda/device/cuda_device.cpp", r"engine/walk/cuda/", r"(?!yaml-cpp/).*"),
    ("engine/", r"tilewalk/|engine/(?!cli/)|products/|kernels/", r"(?!yaml-cpp/|cuda).*"),
    ("products/program/", r"products/|kernels/|tilewalk/(error|choices)\.h$", STANDARD_ONLY),
    ("products/", r"products/|tilewalk/(error|bounds)\.h$", STANDARD_ONLY),
    ("kernels/reduce_stored.cu", r"kernels/", r"cub/.*|thrust/.*"),
    ("kernels/studies/curand.h", r"kernels/", r"curand_kernel\.h"),
    ("kernels/", r"kernels/(?!studies/curand\.h)", r"(?!.)"),
    ("tests/consumer/", r"(?!.)", ANY),
    ("tests/", ANY, ANY),
    ("bench/", ANY, ANY),
]
# The rooms of the house, the lowest first: a file may include headers of its own room and of lower ones.
RANKS = [
    "engine/include/tilewalk", "kernels", "products/dates", "products/program", "products/language", "engine/base", "engine/numerics",
    "engine/walk", "engine/market", "engine/models", "engine/reading", "engine/plan", "engine/decide", "engine/calibration",
    "engine/study", "engine/tell", "engine/verify", "engine/cli", "python/extension", "bench", "tests",
]
CXX = {".h", ".cpp", ".cu", ".cuh"}
OTHER = {".py", ".sh", ".cmake", ".in"}
NAMED = {"CMakeLists.txt", "Makefile", "run", ".clang-tidy"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def room_of(path):
    """The place of a source's room in RANKS."""
    rooms = [r for r in RANKS if path.startswith(r + "/")]
    return RANKS.index(rooms[0]) if rooms else None


# Headers that every room may include, even if a higher room defines their functions.
INTERFACES = {"tilewalk/error.h"}


def bodies_of_public_headers(root):
    """The highest room that defines functions of a public header: of the sources that include it before all others."""
    found = {}
    for file in (root / "engine").rglob("*.cpp"):
        path = file.relative_to(root).as_posix()
        first = re.search(r'^#include "([^"]+)"', file.read_text(encoding="latin-1"), re.M)
        if first and first[1].startswith("tilewalk/") and first[1] not in INTERFACES and not path.startswith("engine/cli/"):
            found[first[1]] = max(found.get(first[1], 0), room_of(path) or 0)
    return found


def faults_of_includes(root, path, lines, bodies):
    rule = next((r for r in RULES if path.startswith(r[0])), None)
    if rule is None:
        yield 1, "lies in no folder that the rules know"
        return
    _, quoted_rule, bracket_rule = rule
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quoted, bracketed = found.groups()
        if quoted:
            if not re.match(quoted_rule, quoted):
                yield number, f'must not include "{quoted}"'
                continue
            base = next((b for b in ("", "engine/include/") if (root / b / quoted).is_file()), None)
            if base is None:
                yield number, f'"{quoted}" is no path from the root of the project'
                continue
            here, there = room_of(path), room_of(base + quoted)
            if here is None or there is None:
                yield number, f'"{path if here is None else quoted}" lies in no room that has a rank'
            elif there > here:
                yield number, f'"{quoted}" lies in {RANKS[there]}, above {RANKS[here]}'
            elif here > 0 and bodies.get(quoted, 0) > here:
                yield number, f'"{quoted}" has functions of {RANKS[bodies[quoted]]}, above {RANKS[here]}'
        elif bracket_rule is STANDARD_ONLY:
            if bracketed not in STANDARD:
                yield number, f"must include the standard library alone, not <{bracketed}>"
        elif not re.match(bracket_rule, bracketed):
            yield number, f"must not include <{bracketed}>"


# Folders whose sources may be compiled as one (TILEWALK_BY_FOLDER), so that the unnamed namespaces of all are one.
TOGETHER = re.compile(r"(engine|products|kernels|bench/measure|bench/suites|python/extension)/([^/]+/)*[^/]+\.cpp$")
UNNAMED = re.compile(
    r"^(?:namespace (?P<inner>[\w:]+) \{$|(?P<outer>\}  // namespace \w+)|(?P<begin>namespace \{)$|(?P<end>\}  // namespace)$|(?:struct|class|enum class|enum) (?P<type>\w+)[^;]*\{$|"
    r"using (?P<alias>\w+) =(?P<same>.*);|(?:inline )?(?:const|constexpr) [\w:<>,&* ]*?[ &*](?P<constant>\w+)(?: =|\{|,)|"
    r"(?:\[\[\w+\]\] |static |inline |constexpr )*[A-Za-z_][\w:<>,&*. ]*?[ &*](?P<function>\w+)\((?P<takes>[^;{]*)\)"
    r"(?: const)?(?: noexcept)?(?:;| \{))", re.M)
ALIKE = [(r"std::string_view|std::string|char\*", "text"), (r"std::u?int\d+_t|std::size_t|int|unsigned|double|float|bool", "number")]


def taken(parameters):
    """The types of parameters, those that turn into each other as one word."""
    kinds = []
    depth, begin = 0, 0
    for at, c in enumerate(parameters + ","):
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and depth == 0:
            kind = re.sub(r"\s+", " ", parameters[begin:at]).strip()
            kind = re.sub(r" ?\b\w+$", "", kind.split("=")[0].strip()) if re.search(r"[\w>&*] ?\w+$", kind) else kind
            kind = re.sub(r"\bconst\b|[& ]", "", kind)
            kinds.append(next((word for types, word in ALIKE if re.fullmatch(types, kind)), re.sub(r"\b(?!std)\w+::", "", kind)))
            begin = at + 1
    return tuple(kinds)


def faults_of_names(sources):
    """Names that unnamed namespaces of two sources of a folder have: a call in one could mean the function of the other."""
    seen = {}
    for path, text in sources:
        around, is_unnamed, own = [], False, {}
        for found in UNNAMED.finditer(text):
            if found["inner"]:
                around.append(found["inner"])
            elif found["outer"]:
                around.pop()
            elif found["begin"] or found["end"]:
                is_unnamed = bool(found["begin"])
            elif is_unnamed:
                name = found["function"] or found["type"] or found["alias"] or found["constant"]
                takes = taken(found["takes"]) if found["function"] else None
                line = text.count("\n", 0, found.start()) + 1
                own.setdefault((path.rpartition("/")[0], name, takes), (path, "::".join(around) + "::", found["same"], line))
        for key, mine in own.items():
            others = seen.setdefault(key, [])
            for other in others:
                reaches = mine[1].startswith(other[1]) or other[1].startswith(mine[1])
                if reaches and (mine[2] is None or mine[2] != other[2]):
                    yield path, mine[3], f"{other[0]} keeps a '{key[1]}' to itself, too; a folder's sources may be compiled as one"
                    break
            others.append(mine)


TEST_FILE = re.compile(r"tests/\w+/(\w+)_test\.cpp$")


def faults_of_tests(path, lines):
    """A program has all tests of a folder, so suites and what a file keeps to itself are named after the file."""
    if not (file := TEST_FILE.match(path)):
        return
    for number, line in enumerate(lines, 1):
        if (found := re.match(r"(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)", line)) and not found[1].startswith(file[1]):
            yield number, f"the suite {found[1]} is not named after its file, such as {file[1]}_{found[1]}"
    own = re.compile(rf"namespace (?:\w+::)*{file[1]}_test \{{$|// label: alone \(")
    if not any(own.match(line) for line in lines):
        yield 1, f"has no namespace {file[1]}_test"


def faults(root):
    """Every (path, line, sentence) that breaks a rule, and the number of sources looked at."""
    found, sources, together = [], 0, []
    bodies = bodies_of_public_headers(root)
    folders = ["engine", "kernels", "products", "python", "tests", "bench", ".ci"]
    paths = [p for f in folders for p in sorted((root / f).rglob("*")) if p.is_file()]
    paths += [p for p in sorted(root.iterdir()) if p.is_file()]
    for file in paths:
        if "__pycache__" in file.parts or not (file.suffix in CXX | OTHER or file.name in NAMED):
            continue
        sources += 1
        path = file.relative_to(root).as_posix()
        content = file.read_bytes()
        lines = content.decode("latin-1").split("\n")
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]):
            found.append((path, 1, "has no line 'SPDX-License-Identifier: Apache-2.0' at its head"))
        for number, line in enumerate(lines, 1):
            if any(ord(c) > 126 or (ord(c) < 32 and c != "\t") for c in line):
                found.append((path, number, "is not plain ASCII"))
        if file.suffix in CXX:
            found += [(path, *fault) for rule in (lambda *of: faults_of_includes(root, *of, bodies), faults_of_tests) for fault in rule(path, lines)]
        if TOGETHER.match(path):
            together.append((path, "\n".join(lines)))
    return found + list(faults_of_names(together)), sources


# The page whose table of the rooms of engine/ is read, and the picture that is drawn from it.
PAGE, PICTURE = "CONTRIBUTING.md", "docs/rooms.svg"
ROOMS = [rank.partition("/")[2] for rank in RANKS if re.fullmatch(r"engine/\w+", rank)]
STYLE = """
    .page { fill: #ffffff; }
    .box { fill: #f4f6f8; stroke: #57606a; }
    .name { fill: #1f2328; font-weight: bold; font-size: 15px; }
    .text { fill: #1f2328; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117; }
      .box { fill: #1c2129; stroke: #8b949e; }
      .name, .text { fill: #e6edf3; }
    }
  """


def rooms_in(page):
    """What the table of rooms says: the name of each and why it exists, in its order."""
    table = re.search(r"^\| room \|.*\n\|[-|]+\n((?:\|.*\n)+)", page, re.M)
    return re.findall(r"^\| `([^`]+)` \| (.*?) \|", table[1], re.M) if table else []


def picture_of(page):
    rooms, title = rooms_in(page)[::-1], "The rooms of the engine, the lowest at the bottom: an include goes down"
    height = 42 * len(rooms) + 34
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="960" height="{height}" viewBox="0 0 960 {height}" role="img" '
             f'font-family="sans-serif" font-size="13" aria-label="{title}">', f"  <title>{title}</title>", f"  <style>{STYLE}</style>",
             f'  <rect class="page" width="960" height="{height}"/>']
    for top, (name, why) in zip(range(20, height, 42), rooms):
        lines += [f'  <rect class="box" x="20" y="{top}" width="920" height="36" rx="6"/>',
                  f'  <text class="name" x="34" y="{top + 23}">{name}</text>',
                  f'  <text class="text" x="150" y="{top + 23}">{html.escape(why.replace("`", ""), quote=False)}</text>']
    return "\n".join([*lines, "</svg>", ""])


def faults_of_rooms(page, picture):
    if (told := [name for name, _ in rooms_in(page)]) != ROOMS:
        yield PAGE, 1, f"the table of rooms has {', '.join(told)}, RANKS {', '.join(ROOMS)}"
    elif picture != picture_of(page):
        yield PICTURE, 1, f"is not what '.ci/check_includes.py --picture {PICTURE}' draws"


# The text of a source, for format(), which puts something into its unnamed namespace.
KEPT = "namespace tilewalk {{\n\nnamespace {{\n\n{}\n\n}}  // namespace\n\n}}  // namespace tilewalk"
# Sources that each break one rule, as (path, text).
BROKEN = [
    ("kernels/a.h", '#include "engine/reading/book_state.h"'),
    ("kernels/a.h", '#include "products/dates/date.h"'),
    ("kernels/a.h", '#include "tilewalk/error.h"'),
    ("kernels/a.h", "#include <cmath>"),
    ("kernels/a.h", "#include <cub/cub.cuh>"),
    ("kernels/a.cu", "#include <cub/cub.cuh>"),
    ("kernels/studies/a.h", "#include <curand_kernel.h>"),
    ("kernels/studies/a.h", '#include "kernels/studies/curand.h"'),
    ("kernels/studies/curand.h", "#include <cub/cub.cuh>"),
    ("products/dates/a.cpp", '#include "engine/reading/book_state.h"'),
    ("products/dates/a.cpp", '#include "kernels/good.h"'),
    ("products/dates/a.cpp", '#include "tilewalk/book.h"'),
    ("products/dates/a.cpp", "#include <fmt/core.h>"),
    ("engine/reading/a.cpp", '#include "tests/good.h"'),
    ("engine/reading/a.cpp", '#include "bench/good.h"'),
    ("engine/reading/a.cpp", '#include "engine/cli/good.h"'),
    ("engine/reading/a.cpp", "#include <yaml-cpp/yaml.h>"),
    ("engine/walk/cuda/a.cpp", "#include <cuda_runtime_api.h>"),
    ("engine/cli/a.cpp", '#include "engine/reading/book_state.h"'),
    ("engine/cli/a.cpp", '#include "products/dates/date.h"'),
    ("engine/cli/a.cpp", "#include <yaml-cpp/yaml.h>"),
    ("engine/include/tilewalk/a.h", '#include "engine/reading/book_state.h"'),
    ("engine/include/tilewalk/a.h", "#include <fmt/core.h>"),
    ("engine/include/tilewalk/a.h", "  #  include <yaml-cpp/yaml.h>"),
    ("tests/consumer/main.cpp", '#include "tilewalk/book.h"'),
    ("engine/reading/a.cpp", '#include "engine/reading/missing.h"'),
    ("engine/base/text/a.cpp", '#include "engine/reading/book_state.h"'),
    ("products/program/a.cpp", '#include "products/language/good.h"'),
    ("engine/reading/a.cpp", '#include "engine/study/good.h"'),
    ("engine/reading/a.cpp", '#include "engine/reading/book_state.h"\n#include "tilewalk/calls.h"'),
    ("engine/attic/a.cpp", '#include "tilewalk/book.h"'),
    ("bench/suites/a.cpp", '#include "tests/good.h"'),
    ("bench/suites/a.cpp", '#include "engine/cli/good.h"'),
    ("tests/market/a_test.cpp", "namespace tilewalk::a_test {\nTEST(other, is_well) {}"),
    ("tests/market/a_test.cpp", "namespace tilewalk {\nTEST(a, is_well) {}"),
    ("engine/reading/a.cpp", "// caf\u00e9"),
    ("elsewhere.cpp", "int x;"),
    ("products/language/w.cpp", KEPT.format("void say(std::string_view text) {\n}")),
    ("products/language/w.cpp", KEPT.format("constexpr double most = 3;")),
    ("products/language/w.cpp", KEPT.format("using way = int;").replace("tilewalk", "tilewalk::language")),
]
GOOD = [
    ("kernels/good.h", '#include "kernels/good.h"'),
    ("products/dates/date.h", '#include "tilewalk/error.h"\n#include <vector>'),
    ("engine/study/good.h", '#include "engine/reading/book_state.h"'),
    ("products/language/good.h", "#include <vector>"),
    ("products/language/a.cpp", KEPT.format("void say(const std::string& text) {\n}\n\nconstexpr double most = 2;\n\nusing way = double;")),
    ("products/language/v.cpp", KEPT.format("void say(double x) {\n}\n\nusing way = double;").replace("tilewalk", "tilewalk::other")),
    ("products/dates/a.cpp", KEPT.format("constexpr double most = 3;")),
    ("engine/reading/book_state.h", '#include "products/dates/date.h"\n#include "tilewalk/book.h"'),
    ("engine/base/text/reader.cpp", "#include <yaml-cpp/eventhandler.h>"),
    ("engine/cli/good.h", '#include "tilewalk/book.h"\n#include "engine/cli/good.h"\n#include <CLI/CLI.hpp>'),
    ("engine/include/tilewalk/error.h", "#include <string>"),
    ("engine/include/tilewalk/book.h", '#include "tilewalk/error.h"'),
    ("engine/include/tilewalk/calls.h", "#include <string>"),
    ("engine/study/calls.cpp", '#include "tilewalk/calls.h"'),
    ("engine/tell/a.cpp", '#include "engine/study/good.h"\n#include "tilewalk/calls.h"'),
    ("engine/walk/cuda/device/cuda_device.cpp", "#include <cuda_runtime_api.h>"),
    ("kernels/reduce_stored.cu", '#include "kernels/good.h"\n#include <cub/device/device_reduce.cuh>'),
    ("kernels/studies/curand.h", '#include <curand_kernel.h>\n#include "kernels/good.h"'),
    ("tests/good.h", '#include "engine/cli/good.h"\n#include <gtest/gtest.h>'),
    ("tests/market/good_test.cpp", "namespace tilewalk::good_test {\nTEST(good_markets, are_well) {}"),
    ("bench/good.h", '#include "kernels/good.h"'),
]
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


def prove_that_rules_can_fail():
    def write(root, path, text):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")

    for path, text in [("", ""), *BROKEN, ("engine/reading/a.cpp", None)]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for good_path, good_text in GOOD:
                write(root, good_path, SPDX + good_text + "\n")
            if path:
                write(root, path, "int x;\n" if text is None else SPDX + text + "\n")
            found, _ = faults(root)
            if [f[0] for f in found] != ([path] if path else []):
                sys.exit(f"the rules are broken: {path or 'a good house'} with {text!r} gives {found}")
    page = "| room | why |\n|---|---|\n" + "".join(f"| `{room}` | It is. |\n" for room in ROOMS)
    for text, is_good in [(page, True), (page.replace("It is.", "It was."), False), (page.replace(f"`{ROOMS[0]}`", "`attic`"), False)]:
        if is_good == bool(list(faults_of_rooms(text, picture_of(page)))):
            sys.exit(f"the rules are broken: the table of rooms is {text!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", metavar="FILE", help=f"draws the rooms of {PAGE}, and no more")
    asked = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    page, picture = (root / PAGE).read_text(encoding="utf-8"), root / PICTURE
    if asked.picture:
        pathlib.Path(asked.picture).write_text(picture_of(page), encoding="utf-8")
        return 0
    prove_that_rules_can_fail()
    found, sources = faults(root)
    found += faults_of_rooms(page, picture.read_text(encoding="utf-8") if picture.is_file() else "")
    for path, number, sentence in found:
        print(f"{path}:{number}: {sentence}")
    print(f"{sources} sources, {len(found)} faults")
    return 1 if found or sources == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
