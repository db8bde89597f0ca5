#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts comments that are hard to read: a first word that points at something said elsewhere, and "none:" for "empty if ...".

A comment begins with a noun, an identifier or a verb. Fails on any that does not, once it has shown that it can.
"""
import pathlib
import re
import sys

FOLDERS = ("engine", "kernels", "products", "bench", "python", "tests")
# RIDDLES begin no sentence; the further words of FIRST begin no comment, since they point at something that was said elsewhere.
RIDDLES = r"this one|that of|those|others|what|so many|so much|which|whose|whom|ones?(?= (?:that|which|whose|of|for|with|in|by|beside|as|at|is|may)\b)"
LATER = re.compile(rf"(?:{RIDDLES})\b(?! [a-z_]+\()", re.I)
FIRST = re.compile(rf"(?:{RIDDLES}|that|these|such|other|so|as (?:in|from|on|if)|of(?! \w+ )|likewise|its?|they|them|their|whatever|where|and|but|or)"
                   r"\b(?! [a-z_]+\()", re.I)
ANYWHERE = re.compile(r"(?:^|[;,] )none: ", re.I)
LINE = re.compile(r"^\s*(//+|#(?!!|include|pragma|if|endif|else|elif|define|undef|error)) ?(.*)")


def comments(text, mark):
    """Each comment of lines that stand alone, as (number of its first line, text); in Python, only those that begin with #."""
    found = []
    last = None
    for number, line in enumerate(text.split("\n"), 1):
        at = LINE.match(line)
        if not at or not at.group(1).startswith(mark):
            last = None
        elif last is None:
            last = [number, at.group(2)]
            found.append(last)
        else:
            last[1] += " " + at.group(2)
    return found


def faults(text, mark):
    for number, comment in comments(text, mark):
        words = FIRST
        for sentence in re.split(r"(?<=[.:;!?]) +(?=[A-Z])", comment.removeprefix("SPDX-License-Identifier: Apache-2.0 ")):
            if at := words.match(sentence) or ANYWHERE.search(sentence):
                yield number, f'"{at.group().strip()}" in "{sentence[:70]}"'
            words = LATER


def main():
    assert [n for n, _ in faults("int a;  // x\n// Such a thing.\n\n// The sum. One of it.\n\n// A sum. It is.\n// Empty if none.\n", "//")] == [2, 4]
    assert not list(faults("# Whole numbers. One trade has one.\n", "//"))
    count = 0
    root = pathlib.Path(__file__).resolve().parent.parent
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".cu", ".py"):
                for number, fault in faults(path.read_text(encoding="utf-8"), "#" if path.suffix == ".py" else "//"):
                    print(f"{path.relative_to(root)}:{number}: {fault}: begin with a noun, an identifier or a verb")
                    count += 1
    print(f"{count} comments that are hard to read")
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
