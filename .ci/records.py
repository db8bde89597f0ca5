# SPDX-License-Identifier: Apache-2.0
"""Digests of files of the working tree, and the committed tables of what has passed."""
import hashlib
import os
import pathlib
import subprocess

PASSED = ".ci/passed"  # stage, digest of its files
NIGHTLY = ".ci/nightly"  # stage, commit, date
SCORES = "tests/mistakes/scores"  # room, date, commit, seed, how many drawn mistakes were caught of how many
NO_RECORDS = (":/", *(f":(exclude,top){record}" for record in (PASSED, NIGHTLY, SCORES)))


def git(*words, **options):
    return subprocess.run(["git", *words], check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def files_of(*pathspecs):
    """The files in the working tree that git tracks or would add."""
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *pathspecs)
    return {name for name in listed.split("\0") if name and os.path.isfile(name)}


def digest(files, text=""):
    """A digest of the text, and of names, contents and modes of files: the same in every clone."""
    names = sorted(files)
    blobs = git("hash-object", "--stdin-paths", input="".join(f"{name}\n" for name in names)).split()
    lines = [f"{blob} {os.stat(name).st_mode >> 6 & 1} {name}" for name, blob in zip(names, blobs, strict=True)]
    return hashlib.sha256("\n".join([text, *lines]).encode()).hexdigest()[:16]


def read(table):
    """The rows of a table by their stage."""
    file = pathlib.Path(table)
    rows = [line.split() for line in file.read_text().splitlines() if not line.startswith("#")] if file.exists() else []
    return {stage: tuple(fields) for stage, *fields in rows}


def write(table, stage, *fields):
    """Puts in the row of a stage. Rows are sorted, one a line, so that branches that ran different stages merge."""
    file = pathlib.Path(table)
    heads = [line for line in file.read_text().splitlines() if line.startswith("#")] if file.exists() else []
    rows = read(table) | {stage: fields}
    file.write_text("".join(f"{line}\n" for line in heads + [" ".join((name, *row)) for name, row in sorted(rows.items())]))
