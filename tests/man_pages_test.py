# SPDX-License-Identifier: Apache-2.0
# The manual pages of `tilewalk help --man`, one for each command with every option of --help. groff reads them without a complaint, and so
# do man and mandoc if installed. Skipped without groff.
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import odd_program

command = pathlib.Path(os.environ["TILEWALK_CLI"])
ENVIRONMENT = {**os.environ, "LC_ALL": "C", "MANWIDTH": "200", "MAN_KEEP_FORMATTING": "", "GROFF_NO_SGR": "1"}


def run(*arguments: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, env=ENVIRONMENT, timeout=60)


def said_by(*arguments: str) -> str:
    done = run(command, *arguments)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def shown(page: pathlib.Path) -> str:
    """The rendered page, without overstriking."""
    done = run("groff", "-ww", "-z", "-man", "-Tascii", page)
    assert done.returncode == 0 and not done.stderr, (page.name, done.stderr)
    if shutil.which("man"):
        done = run("man", "--warnings=w", "-l", page)
        assert done.returncode == 0 and not done.stderr, (page.name, done.stderr)
    if shutil.which("mandoc"):
        done = run("mandoc", "-T", "lint", "-W", "warning", page)
        told = [line for line in done.stdout.splitlines() if "missing date" not in line]
        assert not told, (page.name, told)
    return re.sub(".\b", "", run("groff", "-rLL=200n", "-P-cbou", "-man", "-Tascii", page).stdout)


def check_command(name: str, page: pathlib.Path) -> int:
    text = shown(page)
    assert re.search(rf"NAME\n\s+tilewalk-{name} - ", text), text[:300]
    help_text = said_by(name, "--help")
    if "--help-gpu" in help_text:
        help_text += said_by(name, "--help-gpu")
    options = re.findall(r"^  (-\S+)((?: [A-Z][A-Z=]*)?)(?: {2,}(.*(?:\n {20,}.*)*)| (.*(?:\n {20,}.*)*)|$)",
                         help_text, re.M)
    assert len(options) > 0, name
    for names, value, far, near in options:
        tag = ", ".join(names.split(",")) + value
        help_of = re.sub(r"^(\.\.\. )?", "", far or near)
        assert re.search(rf"^ +{re.escape(tag)}(?: |$)", text, re.M), (name, tag)
        assert squeezed(help_of) in squeezed(text), (name, tag, help_of)
    for example in help_text.split("\nExamples:\n")[1:]:
        for line in example.split("\n\n")[0].splitlines():
            if line.startswith("  "):
                assert squeezed(line).strip() in squeezed(text), (name, line)
    return len(options)


def check_odd_texts(folder: pathlib.Path) -> None:
    odd = odd_program.copy_of(command, folder / "odd")
    done = run(odd, "help", "--man", folder / "pages")
    assert done.returncode == 0, done.stderr
    text = squeezed(shown(folder / "pages" / "tilewalk-bench.1"))
    for line in odd_program.HELP.splitlines():
        assert squeezed(line) in text, (line, text)
    for line in (".SH no title", "'no macro \\(aq $(touch run)", "0 -- all \\ well",
                 "\\fBsummary\\fR: of . 'all'"):
        assert line in text, (line, text)


def main() -> int:
    if not shutil.which("groff"):
        print("skipped: groff is not installed (Debian: groff-base)")
        return 77
    for tool in ("man", "mandoc"):
        if not shutil.which(tool):
            print(f"left out: {tool} is not installed")
    with tempfile.TemporaryDirectory() as at:
        folder = pathlib.Path(at)
        said_by("help", "--man", str(folder / "man1"))
        pages = {page.name for page in (folder / "man1").iterdir()}
        listed = said_by("--help")
        names = {name for title in ("Commands", "Shards")
                 for name in re.findall(r"^  (\w+)", listed.split(f"\n{title}:\n")[1].split("\n\n")[0], re.M)}
        assert pages == {"tilewalk.1"} | {f"tilewalk-{name}.1" for name in names}, pages
        whole = shown(folder / "man1" / "tilewalk.1")
        for name in names:
            assert f"tilewalk-{name}(1)" in whole, name
        for code, meaning in re.findall(r"^ *(\d+)  (.*)$", said_by("help", "exit-codes"), re.M):
            assert f"{code} {meaning}" in squeezed(whole), (code, meaning)
        options = sum(check_command(name, folder / "man1" / f"tilewalk-{name}.1") for name in sorted(names))
        check_odd_texts(folder)
    print(f"{len(pages)} pages, {options} options")
    return 0


sys.exit(main())
