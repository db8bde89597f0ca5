# SPDX-License-Identifier: Apache-2.0
"""The command tilewalk, run inside this process: `python -m tilewalk price book.yaml`."""

import os
import sys

from . import _core


def main() -> None:
    """Runs the command and ends the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # None if it was closed from the start
            stream.flush()
    code = _core.run_command(sys.argv[1:], [sys.executable, "-m", "tilewalk"])
    # End at once: the C++ streams are flushed, and the interpreter has no output left.
    os._exit(code)


if __name__ == "__main__":
    main()
