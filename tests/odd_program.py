# SPDX-License-Identifier: Apache-2.0
"""A copy of the command beside a program for `tilewalk bench` whose texts contain every special character of
shells and roff."""
import json
import pathlib
import shutil

WORDS = ["plain", "it's", "$(touch run)", "`touch run`", "semi;colon", "co:lon", "br[ack]et", "back\\slash", "star*",
         "sp ace"]
HELP = r"""it's [a] $HOME of `touch run` and $(touch run); "quoted" \fBnot bold\fR co:lon ~tilde ^hat -dash
.SH a line with a dot in front
'a line with a quote in front
\&. %percent #hash (brackets) {braces} <angles>"""
SUMMARY = r"it's a $(touch run) `touch run` \fBsummary\fR: of . 'all'"
EXAMPLES = r"""Examples:
  .SH no title
  'no macro \(aq $(touch run)"""
CODES = r"Exit codes: 0 -- all \ well"


def option(names: list[str], value: str, **more) -> dict:
    return {"names": names, "value": value, "help": HELP, "group": "Options", "is_needed": False,
            "is_list": False, "repeats": False, "offers": 0, "words": [], **more}


def copy_of(command: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The copied command."""
    folder.mkdir()
    copy = folder / "tilewalk"
    shutil.copy2(command, copy)
    told = {"name": "bench", "summary": SUMMARY, "group": "Commands",
            "options": [option(["-h", "--help"], ""), option([], "WORD", offers=1, words=WORDS),
                        option(["--odd"], "WORD", offers=1, words=WORDS)],
            "footer": f"{HELP}\n\n{EXAMPLES}\n\n{CODES}"}
    (folder / "told.json").write_text(json.dumps(told))
    program = folder / "tilewalk-bench"
    program.write_text(f"#!/bin/sh\n[ \"$1\" = --description ] && exec cat '{folder}/told.json'\nexit 1\n")
    program.chmod(0o755)
    return copy
