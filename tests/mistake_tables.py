# SPDX-License-Identifier: Apache-2.0
"""The tables of mistakes, tests/mistakes/AREA.yaml, and the programs of the tests named in their rows.
CONTRIBUTING.md describes a row.

Tables keep to a subset of YAML that is read here, because the Python that runs the tests may lack a YAML
package: lists and mappings by indentation, [a, b], blocks behind `|`, and scalars of one line, plain or
in single quotes."""
import collections
import functools
import os
import pathlib
import re

source = pathlib.Path(os.environ.get("TILEWALK_SOURCE_DIR", pathlib.Path(__file__).parent.parent)).resolve()
tables = sorted((source / "tests" / "mistakes").glob("*.yaml"))


class Fault(Exception):
    """A fault of a table or of a row."""


class Mistake:
    """A row: one or more changes of the source, and the tests that must fail with them."""

    def __init__(self, row):
        wanted = {"name", "what", "file", "fails"} | ({"changes"} if "changes" in row else {"find", "put"})
        if set(row) != wanted or not all(row[key] for key in wanted - {"put"}) or not isinstance(row["fails"], list):
            raise Fault(f"expected {', '.join(sorted(wanted))}, of which only 'put' may be empty, and a list in 'fails'")
        for change in row.get("changes", []):
            if set(change) - {"file"} != {"find", "put"} or not change["find"]:
                raise Fault("expected find, put, and at most a file of its own in each change")
        self.row, self.name, self.what, self.fails = row, row["name"], row["what"], row["fails"]
        self.changes = collections.defaultdict(list)  # pairs of lines to find and to put, by file
        for change in row.get("changes", [row]):
            self.changes[change.get("file", row["file"])].append((change["find"].split("\n"), change["put"].split("\n")))

    def texts(self):
        """Pairs of a file and its text with the mistake in it."""
        return [(file, changed(file, changes)) for file, changes in self.changes.items()]


def changed(file, changes):
    """The text of a file with changes in it. Indentation is relative to the first line of each: found, to
    find, and put."""
    if not (source / file).is_file():
        raise Fault(f"there is no file {file}")
    lines = (source / file).read_text().split("\n")
    bare = [line.strip() for line in lines]
    edits = []
    for find, put in changes:
        wanted = [line.strip() for line in find]
        places = [i for i, line in enumerate(bare) if line == wanted[0] and bare[i:i + len(wanted)] == wanted]
        if len(places) != 1:
            raise Fault(f"{file} has {len(places)} places with these lines, expected one:\n    " + "\n    ".join(find))
        more = indent_of(lines[places[0]]) - indent_of(find[0])
        moved = [" " * (indent_of(line) + more) + line.lstrip() if line else "" for line in put]
        if moved == lines[places[0]:places[0] + len(find)]:
            raise Fault("what is put there is what was found")
        edits.append((places[0], len(find), [] if put == [""] else moved))
    for place, count, put in sorted(edits, reverse=True):
        lines[place:place + count] = put
    return "\n".join(lines)


@functools.cache
def programs_by_test():
    """The programs that declare a test, by suite and name: each folder of tests is one program, and each
    file beside the folders another."""
    found = collections.defaultdict(set)
    for file in (source / "tests").rglob("*_test.cpp"):
        folders = file.relative_to(source / "tests").parts[:-1]
        for test in re.findall(r"\bTEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", file.read_text()):
            found[test].add(f"{folders[0]}_tests" if folders else file.stem)
    return found


def program_of(test):
    """The program of SUITE.TEST, or of INSTANTIATION/SUITE.TEST/PARAMETER."""
    named = re.fullmatch(r"(?:\w+/)?(\w+)\.(\w+)(?:/\w+)?", test)
    programs = sorted(programs_by_test()[named.groups()]) if named else []
    if len(programs) != 1:
        raise Fault(f"the test {test} stands in {' and in '.join(programs) or 'no program'}")
    return programs[0]


def rows_of(table):
    reader = Reader(table.read_text())
    try:
        rows = reader.sequence(0)
        if reader.indent() != -1 or not all(isinstance(row, dict) for row in rows):
            raise Fault("expected a row '- name: ...'")
        return rows
    except Fault as fault:
        raise Fault(f"line {reader.at + 1}: {fault}") from None


class Reader:
    def __init__(self, text):
        self.lines = text.split("\n")
        self.at = 0

    def indent(self):
        """The indentation of the next line that is neither empty nor a comment; -1 at the end."""
        while self.at < len(self.lines) and re.match(r" *(#|$)", self.lines[self.at]):
            self.at += 1
        return indent_of(self.lines[self.at]) if self.at < len(self.lines) else -1

    def sequence(self, indent):
        items = []
        while self.indent() == indent and self.lines[self.at].startswith("- ", indent):
            self.lines[self.at] = self.lines[self.at].replace("- ", "  ", 1)
            if re.match(r" *\w+:( |$)", self.lines[self.at]):
                items.append(self.mapping(indent + 2))
            else:
                items.append(scalar(self.lines[self.at].strip()))
                self.at += 1
        return items

    def mapping(self, indent):
        found = {}
        while self.indent() == indent and not self.lines[self.at].startswith("- ", indent):
            line = self.lines[self.at].strip()
            key, text = re.fullmatch(r"(\w+):(?: +(.*))?|.*", line).groups(default="")
            if not key or key in found:
                raise Fault(f"expected 'key: value' with a key of its own, found '{line}'")
            if text and text != "|":
                found[key] = [scalar(item) for item in text[1:-1].split(", ")] if re.fullmatch(r"\[.*\]", text) else scalar(text)
            self.at += 1
            if text == "|":
                found[key] = self.block(indent)
            elif not text:
                found[key] = self.sequence(self.indent()) if self.indent() > indent else ""
        return found

    def block(self, parent):
        first = self.at
        while self.at < len(self.lines) and (not self.lines[self.at] or indent_of(self.lines[self.at]) > parent):
            self.at += 1
        lines = self.lines[first:self.at]
        indent = indent_of(lines[0])
        if any(line and indent_of(line) < indent for line in lines):
            raise Fault("the first line of a block is indented more than another one")
        return "\n".join(line[indent:] for line in lines).rstrip("\n")


def scalar(text):
    if text.startswith("'"):
        if not re.fullmatch(r"'([^']|'')*'", text):
            raise Fault(f"a quote in quotes is written twice: {text}")
        return text[1:-1].replace("''", "'")
    if re.match(r"[-?:,\[\]{}#&*!|>\"%@`]", text) or re.search(r":(\s|$)| #", text):
        raise Fault(f"YAML wants single quotes around: {text}")
    return text


def indent_of(line):
    return len(line) - len(line.lstrip(" "))
