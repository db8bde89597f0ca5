# SPDX-License-Identifier: Apache-2.0
"""The pages of the project as pages of the site: links lead within it, blocks say what file they are or what printed them.

A page is its text by its name on the site, without the ending. A page of docs/ keeps its name; a file of the project that a
page links to becomes a page below files/, so that the site needs nothing beside itself.
"""
import json
import pathlib
import posixpath
import re
import shutil
import typing

import pygments.lexers
import pygments.util

import notebooks

# Matches a link, whose words may have code in them, or code outside of links, which is left as it is.
LINK = re.compile(r"(?P<words>!?\[(?:[^\]`]|`[^`]*`)*\]\()(?P<target>[^)\s]+)\)|`(?:[^`\n]|\n(?!\n))*`")
FENCE = re.compile(r"(\s*)(`{3,}|:{3,})(.*)$")
MARKER = re.compile(r"<!--\s*(file|exits|output of|not run):\s*(.*?)\s*-->\s*$")
# Pages of the site that stand outside of docs/ in the repository.
OTHERS = {"README.md": "project/readme", "CONTRIBUTING.md": "project/contributing", "bench/README.md": "project/benchmarks"}
PICTURES = {".svg", ".png"}
LANGUAGES = {".yaml": "yaml", ".h": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "bash", ".sbatch": "bash", ".json": "json"}
MOST_BYTES = 200_000


def names_of_pages(root: pathlib.Path) -> dict[str, str]:
    """The name on the site of each page of the project, by its path from the root."""
    found = dict(OTHERS)
    for path in sorted((root / "docs").rglob("*")):
        if path.suffix in (".md", ".ipynb") and ".ipynb_checkpoints" not in path.parts:
            found[path.relative_to(root).as_posix()] = path.relative_to(root / "docs").with_suffix("").as_posix()
    return found


def read_pages(root: pathlib.Path, package: pathlib.Path) -> dict[str, str]:
    """The text of each page by its name on the site, its links still those of the project."""
    pages = {}
    for path, name in names_of_pages(root).items():
        if path.endswith(".ipynb"):
            pages[name] = notebooks.page_of(root, root / path, package)
        else:
            pages[name] = captioned((root / path).read_text(encoding="utf-8"))
    return pages


def coloured(language: str) -> str:
    """The language of a block, if Pygments can colour it or the site sets it as a formula."""
    if language == "math":
        return language
    try:
        pygments.lexers.find_lexer_class_by_name(language)
        return language
    except pygments.util.ClassNotFound:
        return "text"


def captioned(text: str) -> str:
    """Blocks with a caption where a comment in front of them says what they are."""
    out, markers = [], {}
    is_inside = False
    for line in text.split("\n"):
        marker, fence = MARKER.match(line), re.match(r"```(\w+)\s*$", line)
        if line.startswith("```") and is_inside:
            is_inside = False
        elif marker and not is_inside:
            markers[marker.group(1)] = marker.group(2)
            continue
        elif line.startswith("```"):
            is_inside = True
            caption = markers.get("file") or markers.get("output of")
            if fence:
                line = "```" + coloured(fence.group(1))
            if fence and caption:
                line = f"```{{code-block}} {coloured(fence.group(1))}\n:caption: {json.dumps(caption)}"
            markers = {}
        elif line.strip():
            markers = {}
        out.append(line)
    return "\n".join(out)


def with_links(text: str, change: typing.Callable[[str], str]) -> str:
    """The text with the target of each link as `change` has it; code is left alone."""
    out: list[str] = []
    prose: list[str] = []
    fence = None

    def end_prose() -> None:
        def new(m: re.Match) -> str:
            return f"{m['words']}{change(m['target'])})" if m["words"] else m[0]

        if prose:
            out.append(LINK.sub(new, "\n".join(prose)))
            prose.clear()

    for line in text.split("\n"):
        opening = FENCE.match(line)
        if fence is not None:
            out.append(line)
            if opening and opening.group(2).startswith(fence) and not opening.group(3).strip():
                fence = None
        elif opening and opening.group(2)[0] == "`":
            end_prose()
            fence = opening.group(2)
            out.append(line)
        else:
            prose.append(line)
    end_prose()
    return "\n".join(out)


class placing:
    """The places of all that pages lead to; it remembers which files need a page, and which pictures a copy."""

    def __init__(self, root: pathlib.Path, site: pathlib.Path, pages: dict[str, str]):
        self.root, self.site, self.pages = root, site, pages
        self.names = names_of_pages(root)
        self.paths = {name: path for path, name in self.names.items()}
        self.wanted: list[str] = []

    def change(self, page: str, target: str) -> str:
        """The target of a link on a page of the project, as the site has it."""
        if re.match(r"[a-z]+:|#", target):
            return target
        path, hash_sign, anchor = target.partition("#")
        here = posixpath.dirname(page)
        made = posixpath.normpath(posixpath.join(here, path)).removesuffix(".md")
        # A link starts from where its page lies: a page of the repository at its path there, a page that docs/generate makes at its place
        # on the site.
        origin = posixpath.dirname(self.paths.get(page, "docs/" + page))
        lies = posixpath.normpath(posixpath.join(origin, path))
        if lies in self.names:
            to = self.names[lies]
        elif path.endswith(".md") and made in self.pages:
            to = made
        elif pathlib.PurePath(path).suffix in PICTURES:
            return self.picture(here, lies)
        elif (self.root / lies).exists():
            to = self.page_of_file(lies)
        else:
            raise SystemExit(f"{page}: the link {target} leads nowhere")
        return posixpath.relpath(to, here or ".") + ".md" + hash_sign + anchor

    def picture(self, here: str, lies: str) -> str:
        if (self.site / lies.removeprefix("docs/")).exists():  # made for this site
            return posixpath.relpath(lies.removeprefix("docs/"), here or ".")
        at = "pictures/" + lies.removeprefix("docs/")
        if not (self.site / at).exists() and (self.root / lies).exists():
            (self.site / at).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / lies, self.site / at)
        return posixpath.relpath(at, here or ".")

    def page_of_file(self, lies: str) -> str:
        if lies not in self.wanted:
            self.wanted.append(lies)
        return "files/" + lies.replace(".", "_")

    def pages_of_files(self) -> dict[str, str]:
        """Pages of the files and folders that were asked for, and of those that these lead to."""
        out, done = {}, 0
        while done < len(self.wanted):
            lies = self.wanted[done]
            done += 1
            out[self.page_of_file(lies)] = self.file_page(lies)
        return out

    def file_page(self, lies: str) -> str:
        path = self.root / lies
        head = f"---\norphan: true\nnosearch: true\n---\n\n# {lies}\n\n"
        if path.is_dir():
            return head + "\n".join(f"- {self.entry(lies, p)}" for p in sorted(path.iterdir()) if not p.name.startswith(".")) + "\n"
        text = path.read_text(encoding="utf-8").rstrip("\n")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
        return head + f"{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text}\n{fence}\n"

    def entry(self, folder: str, path: pathlib.Path) -> str:
        is_shown = path.is_file() and path.suffix in LANGUAGES and path.stat().st_size < MOST_BYTES
        return f"[{path.name}](/{self.page_of_file(f'{folder}/{path.name}')}.md)" if is_shown else path.name


def entries_of(pages: dict[str, str]) -> set[str]:
    """The pages that a table of contents leads to."""
    found = set()
    for name, text in pages.items():
        for block in re.findall(r"^:::\{toctree\}\n(.*?)^:::$", text, re.M | re.S):
            entries = (re.fullmatch(r"(?:.*<)?([^<>]+)>?", line.strip()) for line in block.split("\n") if not line.startswith(":"))
            found |= {posixpath.normpath(posixpath.join(posixpath.dirname(name), entry[1])) for entry in entries if entry}
    return found


def with_the_others(pages: dict[str, str]) -> dict[str, str]:
    """Whatever page of docs/ no table of contents names is led to as well: notebooks by the tutorials, others by the reference."""
    reached = entries_of(pages) | {"index"}
    others = [name for name, text in sorted(pages.items()) if name not in reached and not text.startswith("---\norphan")]
    out = dict(pages)
    for index, names in (("tutorials/index", [n for n in others if n.startswith("notebooks/")]),
                         ("reference/index", [n for n in others if not n.startswith("notebooks/")])):
        if names:
            lines = "".join(f"../{name}\n" for name in names)
            out[index] += f"\n:::{{toctree}}\n:maxdepth: 1\n:caption: More\n\n{lines}:::\n"
    return out


def write_pages(root: pathlib.Path, site: pathlib.Path, pages: dict[str, str]) -> None:
    """All pages, and the pages and pictures that they lead to."""
    pages = with_the_others(pages)
    places = placing(root, site, pages)
    done = {name: with_links(text, lambda target, name=name: places.change(name, target)) for name, text in pages.items()}
    done |= places.pages_of_files()
    for name, text in done.items():
        path = site / (name + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
