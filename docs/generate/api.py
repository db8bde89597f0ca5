# SPDX-License-Identifier: Apache-2.0
"""Pages of the C++ API, from the public headers: what is declared, and the comment above it."""
import pathlib
import re

HEADERS = "engine/include/tilewalk"
OPENS = re.compile(r"^(?:template\b.*\n|)\s*(?:enum class|enum|struct|class|concept|namespace)\s+(\w+)")


def without_private(text: str) -> str:
    """A class less what is private, and less bodies of functions that are not empty."""
    out, is_hidden, depth = [], False, 0
    for line in text.split("\n"):
        if depth == 1 and re.match(r"\s*(private|protected):", line):
            is_hidden = True
        elif depth == 1 and re.match(r"\s*public:", line):
            is_hidden = False
            depth += line.count("{") - line.count("}")
            out.append(line)
            continue
        before = depth
        depth += line.count("{") - line.count("}")
        if not is_hidden or (before == 1 and depth == 0):
            out.append(line)
    return "\n".join(out)


def declarations(text: str) -> list[tuple[str, str, str]]:
    """Name, comment and code of everything that stands in the namespace of a header, in its order."""
    body = text.split("namespace tilewalk {", 1)[1].rsplit("}  // namespace tilewalk", 1)[0]
    found: list[tuple[str, str, str]] = []
    comment: list[str] = []
    code: list[str] = []
    depth = 0
    for line in body.split("\n"):
        if not code and line.startswith("//"):
            comment.append(line.removeprefix("//").removeprefix(" "))
            continue
        if not code and not line.strip():
            comment = []
            continue
        code.append(line)
        depth += line.count("{") - line.count("}") + line.count("(") - line.count(")")
        if depth == 0 and line.rstrip().endswith((";", "}")):
            whole = "\n".join(code)
            opened = OPENS.match(whole)
            called = re.search(r"(?<![\w:])(operator\S+|~?\w+)\s*\(", whole)
            named = re.search(r"(\w+)\s*(?:=.*)?;", whole)
            # A declaration of a name that another header defines is no entry of the page.
            if re.fullmatch(r"(struct|class) \w+;", whole) or whole.startswith(("namespace ", "template <>")):
                comment, code = [], []
                continue
            name = opened[1] if opened else called[1] if called else named[1] if named else whole
            found.append((name, "\n".join(comment), without_private(whole)))
            comment, code = [], []
    return found


def header_pages(root: pathlib.Path) -> dict[str, str]:
    pages, rows, names = {}, [], []
    for path in sorted((root / HEADERS).glob("*.h")):
        text = path.read_text(encoding="utf-8")
        head = re.match(r"// SPDX.*\n((?://.*\n)*)", text)
        says = [line.removeprefix("//").removeprefix(" ") for line in (head[1] if head else "").splitlines()]
        # Lines of the header's comment that are indented further are code.
        prose = " ".join(line for line in says if not line.startswith("   ")).strip()
        example = "\n".join(line.strip() for line in says if line.startswith("   "))
        parts = [f"# tilewalk/{path.name}", prose.removesuffix(":") + ("." if prose.endswith(":") else "")]
        if example:
            parts.append(f"```cpp\n{example}\n```")
        parts.append(f"```cpp\n#include <tilewalk/{path.name}>\n```")
        shown = declarations(text) if "namespace tilewalk {" in text else []
        if not shown:
            parts.append("```cpp\n" + "\n".join(re.findall(r"^#include \"tilewalk/.*$", text, re.M)).replace('"', "") + "\n```")
        last = ""
        for name, comment, code in shown:
            if name != last:
                parts.append(f"## `{name}`")
            last = name
            if comment:
                parts.append(" ".join(comment.split("\n")).replace("<", "\\<").replace("*", "\\*").replace("_", "\\_"))
            parts.append(f"```cpp\n{code}\n```")
        pages[f"reference/cpp/{path.stem}"] = "\n\n".join(parts) + "\n"
        first = prose.split(". ")[0].rstrip(":.") + "."
        rows.append(f"| [`tilewalk/{path.name}`]({path.stem}.md) | {first} |")
        names.append(path.stem)
    pages["reference/cpp/index"] = (
        "# C++ API\n\nThe public headers, which need nothing but the standard library. `find_package(tilewalk)` and "
        "`tilewalk::tilewalk` bring them ([in your own program](../../project/readme.md#in-your-own-program)).\n\n| header | what it has |\n|---|---|\n"
        + "\n".join(rows) + "\n\n:::{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n:::\n")
    return pages
