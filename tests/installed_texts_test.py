# SPDX-License-Identifier: Apache-2.0
# The package's shell completions equal those that the command prints, and its manual pages are installed.
import os
import pathlib
import shutil
import subprocess
import sys

package = pathlib.Path(os.environ["TILEWALK_PACKAGE_DIR"])
command = package / "bin" / "tilewalk"


def said_by(*arguments: str) -> str:
    return subprocess.run([command, *arguments], capture_output=True, text=True, check=True).stdout


for file, shell in (("bash-completion/completions/tilewalk", "bash"),
                    ("zsh/site-functions/_tilewalk", "zsh")):
    assert (package / "share" / file).read_text() == said_by("completion", shell), file
pages = package / "share" / "man" / "man1"
assert len(list(pages.glob("tilewalk*.1"))) > 10, list(pages.iterdir())
if shutil.which("man"):
    subprocess.run(["man", "-M", pages.parent, "-w", "tilewalk-price"], check=True)
sys.exit(0)
