# SPDX-License-Identifier: Apache-2.0
"""Runs the README. Everything happens in one scratch copy of the project, in which build/release is the build under
test, so that the reader's commands work there as written:

- ```sh blocks run in their order, and each must exit 0;
- ```yaml blocks are products (priced by their example), books (priced) or markets (kept as files);
- ```cpp and ```cmake blocks are built against the installed package, and the programs run;
- the tables of products and of instruction sets have every row of their catalogue, and no other.

A comment of its own line in front of a block says more about it:
    <!-- file: my_product.yaml -->   the block is this file, for the blocks after it
    <!-- exits: 3 -->                the exit code that the commands of the block end with
    <!-- output of: command -->      the block is what this command prints, to the letter but for the line of timings
    <!-- not run: reason -->         the block cannot be run here
"""
import dataclasses
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source_dir = pathlib.Path(os.environ["TILEWALK_SOURCE_DIR"])
binary_dir = pathlib.Path(os.environ["TILEWALK_BINARY_DIR"])
command = os.environ["TILEWALK_CLI"]
package_dir = os.environ["TILEWALK_PACKAGE_DIR"]
sanitize = os.environ["TILEWALK_SANITIZE"]

TIMINGS = re.compile(r"[0-9.e-]+ [a-z]+ on [0-9]+ threads? ")
KNOWN = {"sh", "yaml", "cpp", "cmake", "text", "console"}


@dataclasses.dataclass
class block:
    language: str
    line: int
    text: str
    markers: dict


def read_blocks(text):
    """The fenced blocks of a Markdown text, each with the markers in front of it."""
    blocks, markers, fence = [], {}, None
    for number, line in enumerate(text.split("\n"), 1):
        opening = re.match(r"```+(\w*)\s*$", line)
        marker = re.match(r"<!--\s*(file|exits|output of|not run):\s*(.*?)\s*-->\s*$", line)
        if fence is not None:
            if line.startswith("```"):
                blocks.append(dataclasses.replace(fence, text="\n".join(fence.text) + "\n"))
                fence, markers = None, {}
            else:
                fence.text.append(line)
        elif opening:
            fence = block(opening.group(1), number, [], markers)
        elif marker:
            markers[marker.group(1)] = marker.group(2)
        elif line.strip():
            markers = {}
    if fence is not None:
        raise SystemExit(f"README.md:{fence.line}: the block has no end")
    return blocks


class reader:
    """Someone who follows the README in a folder of their own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.package_blocks = []
        # What an outer make was told would beat the settings below.
        # and a reader has none of our variables.
        outer = {name: value for name, value in os.environ.items()
                 if not name.startswith(("MAKE", "TILEWALK_")) and name != "MFLAGS"}
        self.environment = dict(
            outer,
            PATH=f"{pathlib.Path(command).parent}:{os.environ['PATH']}",
            CMAKE_PREFIX_PATH=package_dir,
            CXXFLAGS=f"-fsanitize={sanitize}" if sanitize else "",
            TILEWALK_README_TEST="running",
            # The output shown is that of a machine without a GPU.
            TILEWALK_DEVICE="cpu",
            # The suite is running already: make test takes a small part of it, make bench a glance.
            TESTS="^public_headers_test$",
            BENCHMARK_MIN_TIME="0.01",
            PREFIX=str(self.folder / "prefix"),
        )

    def run(self, at, arguments, expected=0, cwd=None):
        done = subprocess.run(arguments, cwd=cwd or self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != expected:
            raise SystemExit(f"README.md:{at.line}: exit code {done.returncode}, expected {expected}, of\n{at.text}\n"
                             f"which says\n{done.stdout}")
        return done.stdout

    def write(self, at, otherwise):
        path = self.folder / at.markers.get("file", otherwise)
        if self.folder not in path.resolve().parents:
            raise SystemExit(f"README.md:{at.line}: {path} lies outside the scratch copy")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(at.text, encoding="utf-8")
        return path

    def follow(self, at):
        if at.language == "sh":
            self.run(at, ["bash", "-euo", "pipefail", "-c", at.text], int(at.markers.get("exits", 0)))
        elif at.language == "yaml":
            self.follow_yaml(at)
        elif at.language in ("cpp", "cmake"):
            self.package_blocks.append(at)
        elif "output of" in at.markers:
            self.compare_output(at)

    def compare_output(self, at):
        printed = self.run(at, ["bash", "-c", at.markers["output of"]], int(at.markers.get("exits", 0)))
        shown, found = ([line for line in text.rstrip("\n").split("\n") if not TIMINGS.match(line)]
                        for text in (at.text, printed))
        if shown != found:
            difference = "\n".join(difflib.unified_diff(shown, found, "shown", "printed", lineterm=""))
            raise SystemExit(f"README.md:{at.line}: the command prints something else\n{difference}")

    def check_tables(self, text):
        """Catalogues, which a reader looks up here first: no row missing, none too many, nothing out of date."""
        at = block("text", 0, "", {})
        pages = json.loads(self.run(at, [command, "products", "--format", "json"]))
        compare_rows("product", rows_of_table(text, "product"), {p["product"]: p["summary"] for p in pages})
        refusal = self.run(at, [command, "price", "configs/books/demo.yaml", "--instruction-set", "none"], 2)
        sets = rows_of_table(text, "instruction set")
        refused_feed = self.run(at, [command, "price", "configs/books/demo.yaml", "--prefetch", "?"], 2)
        feeds = re.search(r"expected auto, ([^;\n]*)", refused_feed).group(1).split(", ")
        shown_feeds = list(rows_of_table(text, "feed"))
        if shown_feeds != feeds:
            raise SystemExit(f"README.md: the table of feeds has {shown_feeds}, the command {feeds}")
        known = re.search(r"auto, ([^;\n]*)", refusal).group(1).split(", ")
        if missing := [name for name in known if name not in sets]:
            raise SystemExit(f"README.md: the table of instruction sets lacks {missing}")

    def follow_yaml(self, at):
        path = self.write(at, f"block_{at.line}.yaml")
        if re.search(r"^product:", at.text, re.M):
            path = self.write_book_of_example(at, path)
        elif not re.search(r"^trades:", at.text, re.M):
            if "file" not in at.markers:
                raise SystemExit(f"README.md:{at.line}: neither a product nor a book, and no name for it as a file")
            return
        self.run(at, [command, "price", str(path)], int(at.markers.get("exits", 0)))

    def write_book_of_example(self, at, product_path):
        name = re.search(r"^product:\s*(\S+)", at.text, re.M).group(1)
        example = re.search(r"^example:[ ]*(.*(?:\n[ ]+.*)*)", at.text, re.M)
        if not example:
            raise SystemExit(f"README.md:{at.line}: the product '{name}' has no example to price it by")
        fields = example.group(1)
        if fields.startswith("{"):
            trade = f"  - {{id: example, product: {name}, {fields[1:]}\n"
        else:
            trade = f"  - id: example\n    product: {name}\n" + re.sub(r"^\s*", "    ", fields.strip("\n"), flags=re.M) + "\n"
        book = product_path.with_name(f"book_of_{product_path.name}")
        market = self.folder / "configs" / "markets" / "demo.yaml"
        book.write_text(f"market: {market}\nproducts: [{product_path}]\ntrades:\n{trade}", encoding="utf-8")
        return book

    def build_package_blocks(self):
        """Each cmake block with the sources it names; every other program with a project made for it."""
        cmakes = [b for b in self.package_blocks if b.language == "cmake"]
        programs = {b.markers.get("file", f"main_{b.line}.cpp"): b for b in self.package_blocks if b.language == "cpp"}
        if len(programs) == 1 and not any("file" in b.markers for b in programs.values()):
            programs = {"main.cpp": b for b in programs.values()}
        named = set()
        projects = []
        for at in cmakes:
            mine = {name: b for name, b in programs.items() if re.search(rf"\b{re.escape(name)}\b", at.text)}
            named |= mine.keys()
            projects.append((at, at.text, mine))
        for name, at in programs.items():
            if name not in named:
                projects.append((at, "find_package(tilewalk 0.1 REQUIRED)\n"
                                     f"add_executable(program {name})\n"
                                     "target_link_libraries(program PRIVATE tilewalk::tilewalk)\n", {name: at}))
        for number, (at, lists, sources) in enumerate(projects):
            project = self.folder / f"project_{number}"
            project.mkdir()
            if "project(" not in lists:
                lists = "cmake_minimum_required(VERSION 3.25)\nproject(readme LANGUAGES CXX)\n" + lists
            (project / "CMakeLists.txt").write_text(lists, encoding="utf-8")
            for name, source in sources.items():
                (project / name).write_text(whole_program(source.text), encoding="utf-8")
            build = project / "build"
            self.run(at, ["cmake", "-S", str(project), "-B", str(build)])
            self.run(at, ["cmake", "--build", str(build)])
            for program in re.findall(r"add_executable\(\s*(\w+)", lists):
                self.run(at, [str(build / program)])


def rows_of_table(text, head):
    """The second cell of each row by its first, of the table whose first column has this head."""
    table = re.search(rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    if not table:
        raise SystemExit(f"README.md: there is no table of each {head}")
    return dict(re.findall(r"^\| `([^`]+)` \| (.*?) \|", table.group(1), re.M))


def compare_rows(head, shown, catalogue):
    if shown != catalogue:
        difference = "\n".join(difflib.unified_diff([f"{a}: {b}" for a, b in sorted(shown.items())],
                                                    [f"{a}: {b}" for a, b in sorted(catalogue.items())],
                                                    "README.md", "catalogue", lineterm=""))
        raise SystemExit(f"README.md: the table of each {head} is not the catalogue\n{difference}")


def whole_program(text):
    """The text itself if it has a main; otherwise its statements in one, below its includes."""
    if re.search(r"\bint main\s*\(", text):
        return text
    lines = text.split("\n")
    includes = [line for line in lines if line.startswith("#include")]
    statements = [line for line in lines if not line.startswith("#include")]
    return "\n".join([*includes, "int main() {", *statements, "}", ""])


def make_scratch_copy(folder):
    def left_out(directory, names):
        top = pathlib.Path(directory) == source_dir
        return [n for n in names if n == "__pycache__" or (top and n in ("build", ".git", ".cache"))]

    shutil.copytree(source_dir, folder, ignore=left_out, symlinks=True)
    (folder / "build").mkdir()
    (folder / "build" / "release").symlink_to(binary_dir)
    (binary_dir / "configured").touch()  # for the Makefile: nothing to configure


def prove_that_reading_can_fail():
    sample = "<!-- file: a.yaml -->\n```yaml\nproduct: x\n```\ntext\n<!-- exits: 3 -->\n\n```sh\nfalse\n```\n```\nx\n```\n"
    blocks = read_blocks(sample)
    assert [(b.language, b.markers) for b in blocks] == [("yaml", {"file": "a.yaml"}), ("sh", {"exits": "3"}), ("", {})]
    table = "| product | what |\n|---|---|\n| `a` | A. |\n| `b` | B. |\n"
    with tempfile.TemporaryDirectory() as folder:
        follow = reader(folder).follow
        must_fail = {
            "a failing command": lambda: follow(block("sh", 1, "true\nfalse\ntrue\n", {})),
            "another output": lambda: follow(block("text", 1, "a\nb\n", {"output of": "echo a; echo c"})),
            "a missing product": lambda: compare_rows("product", rows_of_table(table, "product"), {"a": "A."}),
        }
        timed = {"output of": "echo a; echo '2.5 s on 1 thread (x)'"}
        follow(block("text", 1, "a\n1 ms on 2 threads (y)\n", timed))
        compare_rows("product", rows_of_table(table, "product"), {"a": "A.", "b": "B."})
        for what, action in must_fail.items():
            try:
                action()
            except SystemExit:
                continue
            raise AssertionError(f"{what} was not noticed")


def main():
    if "TILEWALK_README_TEST" in os.environ:
        sys.exit("the README asks for its own test: name the tests that its commands run")
    prove_that_reading_can_fail()
    readme = source_dir / "README.md"
    if not readme.exists():
        print("there is no README.md")
        return 1
    blocks = read_blocks(readme.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder) / "tilewalk"
        make_scratch_copy(scratch)
        follower = reader(scratch)
        for at in blocks:
            if "not run" in at.markers:
                print(f"README.md:{at.line}: not run, {at.markers['not run']}")
            elif at.language not in KNOWN:
                raise SystemExit(f"README.md:{at.line}: a block of '{at.language}': known are {', '.join(sorted(KNOWN))}")
            else:
                follower.follow(at)
                print(f"README.md:{at.line}: {at.language} done", flush=True)
        follower.check_tables(readme.read_text(encoding="utf-8"))
        follower.build_package_blocks()
        print("every project built and run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
