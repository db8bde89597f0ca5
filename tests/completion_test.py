# SPDX-License-Identifier: Apache-2.0
# Scripts that `tilewalk completion` writes, in their shells, asked for completions and typed at on a terminal: every command, every option
# of --help and every choice is offered, and names with odd characters arrive unchanged. Skips a shell that is not installed, and the test
# without any.
import fcntl
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

import odd_program

command = pathlib.Path(os.environ["TILEWALK_CLI"])
PATIENCE_SECONDS = 60
ENVIRONMENT = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "LC_ALL": "C", "TERM": "dumb",
               "PS1": "$ "}
ODD_TRADES = ["plain", "with space", "do$llar", "quote'd", "co:lon", "semi;colon", "tick`x`", "$(touch run)",
              "a=b"]


def said_by(*arguments: str) -> str:
    done = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def commands() -> set[str]:
    listed = said_by("--help")
    blocks = (listed.split(f"\n{title}:\n")[1].split("\n\n")[0] for title in ("Commands", "Shards"))
    return {name for block in blocks for name in re.findall(r"^  (\w+)", block, re.M)}


def options_of(name: str) -> set[str]:
    """The options in the help of a command."""
    text = said_by(name, "--help")
    if "--help-gpu" in text:
        text += said_by(name, "--help-gpu")
    return {option for line in re.findall(r"^  (-\S+)", text, re.M) for option in line.split(",")}


def words_refused_in_favour_of(name: str, option: str, book: str) -> set[str]:
    """The words that the command's message expects in place of an unknown one."""
    done = subprocess.run([command, name, book, option, "?"], capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS)
    assert done.returncode == 2 and "expected " in done.stderr, (name, option, done.stderr)
    return set(re.split(r",\s+|\s+or\s+|\s+", done.stderr.split("expected ")[-1].strip()))


class typed_shell:
    """A shell on a terminal that is large enough for any list."""

    def __init__(self, program: list[str], folder: pathlib.Path):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(program[0], program, {**ENVIRONMENT, "HOME": str(folder)})
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 1000, 1000, 0, 0))
        self.heard = ""

    def type(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def hear(self, ready) -> None:
        """Reads until the condition holds."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not ready():
            assert time.monotonic() < end, f"the shell does not answer; it wrote {self.heard!r}"
            if select.select([self.terminal], [], [], 0.05)[0]:
                self.heard += os.read(self.terminal, 65536).decode()

    def received(self, keys: str) -> list[str]:
        """The words that a command receives from these keys; a stand-in for `tilewalk` prints them."""
        self.heard = ""
        self.type(keys)
        self.type("\n")
        self.hear(lambda: re.search(r"received:.*:end", self.heard))
        return re.findall(r"<(.*?)>", re.search(r"received:(.*):end", self.heard)[1])

    def end(self) -> None:
        os.close(self.terminal)
        os.waitpid(self.process, 0)


TELLS = "tilewalk() { printf 'recei''ved:'; printf '<%s>' \"$@\"; printf ':e''nd\\n'; }"


class bash:
    name = "bash"

    def __init__(self, folder: pathlib.Path, script: str):
        self.folder = folder
        (folder / "tilewalk.bash").write_text(script)

    def offered(self, line: str) -> set[str]:
        """The answers of the script to a line. bash also splits words at = and at colons."""
        words = [part for word in line.split(" ") for part in re.split(r"([=:])", word) if part]
        words += [""] if line.endswith(" ") else []
        script = ('source ./tilewalk.bash; COMP_LINE=$1; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1));'
                  '_tilewalk tilewalk "${COMP_WORDS[COMP_CWORD]}" ""; printf "%s\\0" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", line, *words], cwd=self.folder,
                              capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=ENVIRONMENT)
        assert done.returncode == 0 and not done.stderr, (line, done.stderr)
        return {shlex.split(word)[0] for word in done.stdout.split("\0") if word}

    def typed(self) -> typed_shell:
        shell = typed_shell(["bash", "--norc", "-i"], self.folder)
        shell.type(f"source ./tilewalk.bash; bind 'set bell-style none'; {TELLS}\n")
        return shell

    def end(self) -> None:
        pass


class zsh:
    name = "zsh"
    SETUP = r"""
        PS1='$ '; unsetopt beep; LISTMAX=100000
        fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -D -u
        compadd() {
            if (( ${${@[1,(i)(-|--)]}[(I)-(O|A|D)]} )); then builtin compadd "$@"; return; fi
            local -a these_words
            builtin compadd -A these_words "$@"
            print -rl -- $these_words >> offered.txt
            builtin compadd "$@"
        }
        list_them() { print -n > offered.txt; zle list-choices; print ':end' >> offered.txt; BUFFER= }
        zle -N list_them; bindkey '^X' list_them
    """

    def __init__(self, folder: pathlib.Path, script: str):
        self.folder, self.list = folder, folder / "offered.txt"
        (folder / "functions").mkdir(exist_ok=True)
        (folder / "functions" / "_tilewalk").write_text(script)
        (folder / "setup.zsh").write_text(self.SETUP)
        self.shell = typed_shell(["zsh", "-f", "-i"], folder)
        self.shell.type("source ./setup.zsh\n")

    def offered(self, line: str) -> set[str]:
        self.list.unlink(missing_ok=True)
        self.shell.type(line + "\x18")
        self.shell.hear(lambda: self.list.exists() and self.list.read_text().endswith(":end\n"))
        words = self.list.read_text().splitlines()
        return {shlex.split(word)[0] for word in words if word and word != ":end"}

    def typed(self) -> typed_shell:
        shell = typed_shell(["zsh", "-f", "-i"], self.folder)
        shell.type(f"source ./setup.zsh; unfunction compadd; {TELLS}\n")
        return shell

    def end(self) -> None:
        self.shell.end()


def write_book(folder: pathlib.Path) -> None:
    def quoted(name: str) -> str:
        return "'" + name.replace("'", "''") + "'"
    terms = "product: european, underlying: ACME, option: call, strike: 100, maturity: 1.0"
    trades = "".join(f"  - {{id: {quoted(name)}, {terms}}}\n" for name in ODD_TRADES)
    (folder / "book.yaml").write_text(f"market: market.yaml\ntrades:\n{trades}")
    (folder / "market.yaml").write_text("as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\n"
                                        "assets:\n  ACME: {currency: USD, spot: 100, volatility: 0.2}\n")
    (folder / "notes.txt").write_text("")
    (folder / "inner").mkdir()


def check(shell, folder: pathlib.Path) -> None:
    known = commands()
    offered = shell.offered("tilewalk ")
    assert offered == known, (offered ^ known)
    for name in sorted(known):
        offered, told = shell.offered(f"tilewalk {name} -"), options_of(name)
        assert offered == told, (name, offered ^ told)
        assert len(offered) > 1, name

    for name, option in [("price", "--precision"), ("price", "--random"), ("price", "--prefetch"),
                         ("price", "--format"), ("greeks", "--greeks-method"), ("greeks", "--view"),
                         ("explain", "--format")]:
        offered = shell.offered(f"tilewalk {name} book.yaml {option} ")
        told = words_refused_in_favour_of(name, option, "book.yaml")
        assert offered and offered <= told, (name, option, offered, told)
    products = {line.split(",")[0] for line in said_by("products", "--format", "csv").splitlines()[1:]}
    assert shell.offered("tilewalk products ") == products
    topics = set(re.findall(r"^  (\S+)", said_by("help", "--help").split("\nTopics:\n")[1].split("\n\n")[0], re.M))
    assert topics and known | topics == shell.offered("tilewalk help ") | {"help"}, topics
    for suite in ("prefetch", "models"):
        assert suite in shell.offered("tilewalk bench "), suite
    assert shell.offered("tilewalk price book.yaml --seed ") == set()

    # Only files with known endings are offered where the option knows any, else all files.
    offered = {word.rstrip("/") for word in shell.offered("tilewalk price book.yaml --market ")}
    assert {"book.yaml", "market.yaml", "inner"} <= offered and "notes.txt" not in offered, offered
    assert "notes.txt" in shell.offered("tilewalk price book.yaml --totals ")
    folders = {word.rstrip("/") for word in shell.offered("tilewalk price book.yaml --journal ")}
    assert "inner" in folders and "book.yaml" not in folders, folders

    typed = shell.typed()
    try:
        # Completing an option adds a space in one of bash and zsh, an equals sign in the other.
        got = typed.received("tilewalk pri\tboo\t--form\tcs\t")
        assert got[:2] == ["price", "book.yaml"] and "=".join(got[2:]) == "--format=csv", got
        assert typed.received("tilewalk price book.yaml --format cs\t")[-2:] == ["--format", "csv"]
        assert typed.received("tilewalk price book.yaml --format=cs\t")[-2:] == ["book.yaml", "--format=csv"]
        assert typed.received("tilewalk price book.yaml --market=ma\t")[-1] == "--market=market.yaml"
        assert typed.received("tilewalk greeks book.yaml --greeks delta,ve\t")[-1] == "delta,vega"
        assert typed.received("tilewalk market book.yaml --shift ACME.sp\t5")[-1] == "ACME.spot=5"
        for trade in ODD_TRADES:
            begin = "\\" + trade[0] if trade[0] in "$" else trade[0]
            if sum(other.startswith(trade[0]) for other in ODD_TRADES) > 1:
                begin = trade[:2].replace("$", "\\$").replace("(", "\\(")
            got = typed.received(f"tilewalk explain book.yaml {begin}\t")
            assert got == ["explain", "book.yaml", trade], (trade, got)
        assert not (folder / "run").exists(), "a name of a trade was run"
    finally:
        typed.end()
    print(f"{shell.name}: {len(known)} commands, their options and choices, {len(ODD_TRADES)} odd names")


def check_odd_texts(kind, folder: pathlib.Path) -> None:
    odd = odd_program.copy_of(command, folder / "odd")
    script = subprocess.run([odd, "completion", kind.name], capture_output=True, text=True, check=True).stdout
    shell = kind(folder, script)
    try:
        assert {"price", "bench", "help"} <= shell.offered("tilewalk ")
        assert shell.offered("tilewalk bench -") == {"-h", "--help", "--odd"}
        offered = shell.offered("tilewalk bench ")
        assert offered == set(odd_program.WORDS), offered ^ set(odd_program.WORDS)
        assert shell.offered("tilewalk bench --odd ") == set(odd_program.WORDS)
    finally:
        shell.end()
    typed = shell.typed()
    try:
        for word in odd_program.WORDS:
            begin = "\\" + word[0] if word[0] in "$`" else word[:2]
            got = typed.received(f"tilewalk bench {begin}\t")
            assert got == ["bench", word], (word, got)
    finally:
        typed.end()
    assert not (folder / "run").exists(), "a text of the program was run"


def main() -> int:
    shells = [kind for kind in (bash, zsh) if shutil.which(kind.name)]
    for kind in (bash, zsh):
        if kind not in shells:
            print(f"left out: {kind.name} is not installed")
    if not shells:
        return 77
    for kind in shells:
        with tempfile.TemporaryDirectory() as folder:
            write_book(pathlib.Path(folder))
            os.chdir(folder)
            shell = kind(pathlib.Path(folder), said_by("completion", kind.name))
            try:
                check(shell, pathlib.Path(folder))
            finally:
                shell.end()
            check_odd_texts(kind, pathlib.Path(folder))
    return 0


sys.exit(main())
