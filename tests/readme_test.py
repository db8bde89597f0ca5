# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of a page: readme_test.py PAGE, a path from the root of the project; every page without one.

Everything happens in one scratch copy of the project, in which build/release is the build under test, so that the
reader's commands work there as written:

- ```sh blocks run in their order, and each must exit 0;
- ```yaml blocks are products (priced by their example), books (priced) or markets (kept as files);
- ```math blocks are formulas, which the site sets;
- ```cpp and ```cmake blocks are built against the installed package, and the programs run;
- a block that none of this executes is a failure;
- the tables of products, commands, feeds and instruction sets have every row of their catalogue, and no other, and stand on one
  page each;
- relative links lead to files that exist and to headings that exist, other links are addresses, and the README leads to every
  page of docs/ itself, as the tables of contents lead to those in its folders (tests/docs_test.py).

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

TIMINGS = re.compile(r"[0-9.e-]+ [a-z]+ on [0-9]+ threads?( |$)")
DATA = {"csv", "xml"}  # files that commands of the page read
KNOWN = {"sh", "yaml", "cpp", "cmake", "text", "math"} | DATA
README = "README.md"
TABLES = ("product", "command", "feed", "instruction set")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# Pages that docs/generate makes only for the site, so links to them lead to no file of the repository.
MADE = re.compile(r"docs/reference/((products|models|commands|cpp)/|settings\.md|python_api\.md)")
ADDRESS = re.compile(r"https?://[\w.-]+\.[a-z]+(:\d+)?(/[\w./?=&%#~+-]*)?|mailto:[\w.+-]+@[\w.-]+")


@dataclasses.dataclass
class block:
    page: str
    language: str
    line: int
    text: str
    markers: dict

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def read_blocks(page, text):
    """The fenced blocks of a Markdown text, each with its preceding markers."""
    blocks, markers, fence = [], {}, None
    is_list = is_after_blank = False
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
            fence = block(page, opening.group(1), number, [], markers)
        elif marker:
            markers[marker.group(1)] = marker.group(2)
        elif line.strip():
            markers = {}
            if line.startswith("    ") and is_after_blank and not is_list:
                raise SystemExit(f"{page}:{number}: an example by indentation, which nobody runs; put it between fences")
            if not line.startswith(" "):
                is_list = bool(re.match(r"[-*] |\d+\. ", line))
        is_after_blank = not line.strip()
    if fence is not None:
        raise SystemExit(f"{fence.place}: the block has no end")
    return blocks


def without_code(text):
    """The text without code, where brackets are no links; headings stay."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def anchors(text):
    """The anchors of the headings, as GitHub makes them."""
    found, seen = [], {}
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M):
        plain = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        seen[plain] = seen.get(plain, -1) + 1
        found.append(f"{plain}-{seen[plain]}" if seen[plain] else plain)
    return found


def faults_of_links(root, page, text):
    """The faults of the relative links of a page."""
    for target in LINK.findall(without_code(text)):
        if re.match(r"[a-z]+:", target):
            if not ADDRESS.fullmatch(target):
                yield f"{page}: {target} is no address"
            continue
        path, _, anchor = target.partition("#")
        file = (root / page).parent / path if path else root / page
        if MADE.match(os.path.relpath(file, root)):
            continue  # docs_test.py follows these
        if not file.resolve().is_relative_to(root.resolve()) or not file.exists():
            yield f"{page}: the link {target} leads to no file"
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield f"{page}: the link {target} leads to no heading"


def pages():
    """Every page with examples, as a path from the root."""
    found = [README, "CONTRIBUTING.md", "bench/README.md"]
    return found + sorted(p.relative_to(source_dir).as_posix() for p in (source_dir / "docs").rglob("*.md"))


def check_links(page, text):
    """Checks links of the page; for the README also that every page is linked and that each table stands on
    one page."""
    faults = list(faults_of_links(source_dir, page, text))
    if page == README:
        linked = LINK.findall(without_code(text))
        faults += [f"{README}: no link leads to {p}" for p in pages() if re.fullmatch(r"docs/[^/]+", p) and p not in linked]
        texts = [(source_dir / p).read_text(encoding="utf-8") for p in pages()]
        for head in TABLES:
            if (count := sum(find_table(t, head) is not None for t in texts)) != 1:
                faults.append(f"the table of each {head} stands on {count} pages, expected one")
    if faults:
        raise SystemExit("\n".join(faults))


class reader:
    """A reader who follows a page in a folder of their own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.package_blocks = []
        # Variables set by the make that runs this test would override those below, and readers of the pages have none of them.
        outer = {name: value for name, value in os.environ.items()
                 if not name.startswith(("MAKE", "TILEWALK_")) and name != "MFLAGS"}
        self.environment = dict(
            outer,
            PATH=f"{pathlib.Path(command).parent}:{os.environ['PATH']}",
            CMAKE_PREFIX_PATH=package_dir,
            CXXFLAGS=f"-fsanitize={sanitize}" if sanitize else "",
            TILEWALK_README_TEST="running",
            # The pages show output of a machine without a GPU.
            TILEWALK_DEVICE="cpu",
            # Short runs, because the tests are running already: `make test` runs one test, and `make bench` is brief.
            TESTS="^public_headers_test$",
            BENCHMARK_MIN_TIME="0.01",
            PREFIX=str(self.folder / "prefix"),
        )

    def run(self, at, arguments, expected=0, cwd=None):
        done = subprocess.run(arguments, cwd=cwd or self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != expected:
            raise SystemExit(f"{at.place}: exit code {done.returncode}, expected {expected}, of\n{at.text}\n"
                             f"which says\n{done.stdout}")
        return done.stdout

    def write(self, at, otherwise):
        path = self.folder / at.markers.get("file", otherwise)
        if self.folder not in path.resolve().parents:
            raise SystemExit(f"{at.place}: {path} lies outside the scratch copy")
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
        elif at.language in DATA and "file" in at.markers:
            self.write(at, "")
        elif at.language == "math":
            return  # set by the site
        else:
            raise SystemExit(f"{at.place}: nothing executes this block: it says neither 'output of' nor 'not run'")

    def compare_output(self, at):
        printed = self.run(at, ["bash", "-c", at.markers["output of"]], int(at.markers.get("exits", 0)))
        shown, found = ([line for line in text.rstrip("\n").split("\n") if not TIMINGS.match(line)]
                        for text in (at.text, printed))
        if shown != found:
            difference = "\n".join(difflib.unified_diff(shown, found, "shown", "printed", lineterm=""))
            raise SystemExit(f"{at.place}: the command prints something else\n{difference}")

    def check_tables(self, page, text):
        """Checks the catalogues on this page: all rows present, none superfluous, nothing out of date."""
        at = block(page, "text", 0, "", {})
        if shown := find_table(text, "product"):
            entries = json.loads(self.run(at, [command, "products", "--format", "json"]))
            compare_rows(page, "product", shown, {e["product"]: e["summary"] for e in entries})
        if shown := find_table(text, "command"):
            known = re.findall(r"^  (\w+)", self.run(at, [command, "--help"]).split("\nCommands:\n")[1].split("\n\n")[0], re.M)
            compare_rows(page, "command", *({name: "" for name in names}
                                            for names in ([row.split()[1] for row in shown], known)))
        for head, option in (("feed", "--prefetch"), ("instruction set", "--instruction-set")):
            if shown := find_table(text, head):
                refusal = self.run(at, [command, "price", "configs/books/demo.yaml", option, "?"], 2)
                compare_names(page, head, list(shown), re.search(r"auto, ([^;\n]*)", refusal).group(1).split(", "))

    def follow_yaml(self, at):
        path = self.write(at, f"block_{at.line}.yaml")
        if re.search(r"^product:", at.text, re.M):
            path = self.write_book_of_example(at, path)
        elif not re.search(r"^trades:", at.text, re.M):
            if "file" not in at.markers:
                raise SystemExit(f"{at.place}: neither a product nor a book, and no name for it as a file")
            return
        self.run(at, [command, "price", str(path)], int(at.markers.get("exits", 0)))

    def write_book_of_example(self, at, product_path):
        name = re.search(r"^product:\s*(\S+)", at.text, re.M).group(1)
        example = re.search(r"^example:[ ]*(.*(?:\n[ ]+.*)*)", at.text, re.M)
        if not example:
            raise SystemExit(f"{at.place}: the product '{name}' has no example to price it by")
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
        """Builds each cmake block with the sources it names, and every other program with a project made for
        it."""
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


def find_table(text, head):
    """The second cell of each row by its first, of the tables whose first column has this head; None without one."""
    tables = re.findall(rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    return dict(re.findall(r"^\| `([^`]+)` \| (.*?) \|", "".join(tables), re.M)) if tables else None


def compare_rows(page, head, shown, catalogue):
    if shown != catalogue:
        difference = "\n".join(difflib.unified_diff([f"{a}: {b}" for a, b in sorted(shown.items())],
                                                    [f"{a}: {b}" for a, b in sorted(catalogue.items())],
                                                    page, "catalogue", lineterm=""))
        raise SystemExit(f"{page}: the table of each {head} is not the catalogue\n{difference}")


def compare_names(page, head, shown, known):
    """Feeds are known everywhere; a machine knows only the instruction sets of its architecture."""
    if (missing := [name for name in known if name not in shown]) or (head == "feed" and shown != known):
        raise SystemExit(f"{page}: the table of each {head} has {shown}, the command {known}; missing: {missing}")


def whole_program(text):
    """The text itself if it has a main; otherwise its statements in a main, below its includes."""
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
    blocks = read_blocks("p", sample)
    assert [(b.language, b.markers) for b in blocks] == [("yaml", {"file": "a.yaml"}), ("sh", {"exits": "3"}), ("", {})]
    table = "| product | what |\n|---|---|\n| `a` | A. |\n| `b` | B. |\n"
    rows = find_table(table, "product")
    with tempfile.TemporaryDirectory() as folder:
        follow = reader(folder).follow
        root = pathlib.Path(folder)
        linked = "# One `two`, three\n```\n# no heading\n[a](b)\n```\n- a\n\n    of the list\n"
        (root / "a.md").write_text(linked, encoding="utf-8")
        must_fail = {
            "a failing command": lambda: follow(block("p", "sh", 1, "true\nfalse\ntrue\n", {})),
            "another output": lambda: follow(block("p", "text", 1, "a\nb\n", {"output of": "echo a; echo c"})),
            "a block that is not executed": lambda: follow(block("p", "text", 1, "a\n", {})),
            "a block without an end": lambda: read_blocks("p", "```sh\n"),
            "an indented block": lambda: read_blocks("p", "text\n\n    echo a\n"),
            "a missing product": lambda: compare_rows("p", "product", rows, {"a": "A."}),
            "a missing instruction set": lambda: compare_names("p", "instruction set", ["a"], ["a", "b"]),
            "a feed too many": lambda: compare_names("p", "feed", ["a", "b"], ["a"]),
        }
        timed = {"output of": "echo a; echo '2.5 s on 1 thread (x)'"}
        follow(block("p", "text", 1, "a\n1 ms on 2 threads (y)\n", timed))
        compare_rows("p", "product", rows, {"a": "A.", "b": "B."})
        compare_names("p", "feed", ["a", "b"], ["a", "b"])
        assert read_blocks("p", linked) and find_table(table, "feed") is None
        assert not list(faults_of_links(root, "a.md", "[x](a.md) [y](#one-two-three) `[z](no)` [w](https://no.org/a#b)"))
        for bad in ("[x](https://no_org)", "[x](http:/no.org)", "[x](b.md)", "![x](a.svg)", "[x](#one)", "[x](a.md#no-heading)", "[x](../)"):
            assert list(faults_of_links(root, "a.md", bad)), f"{bad} was not noticed"
        for what, action in must_fail.items():
            try:
                action()
            except SystemExit:
                continue
            raise AssertionError(f"{what} was not noticed")


def follow_page(page):
    text = (source_dir / page).read_text(encoding="utf-8")
    blocks = read_blocks(page, text)
    check_links(page, text)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder) / "tilewalk"
        make_scratch_copy(scratch)
        follower = reader(scratch)
        for at in blocks:
            if "not run" in at.markers:
                print(f"{at.place}: not run, {at.markers['not run']}")
            elif at.language not in KNOWN:
                raise SystemExit(f"{at.place}: a block of '{at.language}': known are {', '.join(sorted(KNOWN))}")
            else:
                follower.follow(at)
                print(f"{at.place}: {at.language} done", flush=True)
        follower.check_tables(page, text)
        follower.build_package_blocks()
    print(f"{page}: {len(blocks)} blocks, links and tables done")


def main():
    if "TILEWALK_README_TEST" in os.environ:
        sys.exit("a page asks for its own test: name the tests that its commands run")
    prove_that_reading_can_fail()
    for page in sys.argv[1:] or pages():
        follow_page(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
