# SPDX-License-Identifier: Apache-2.0
# Pages and tables that `tilewalk bench --from` makes of stored benchmark rows, as readers see them. page_check.py examines the pages (drawn
# ones only if chromium is installed); tables are checked on terminals of several widths.
import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import termios

import page_check

command = os.environ["TILEWALK_CLI"]
results = pathlib.Path(os.environ["TILEWALK_SOURCE_DIR"]) / "bench" / "results"
FILES = [
    "2026-11-22-NVIDIA-H100-80GB-HBM3-bench-models.jsonl",
    "2026-11-21-NVIDIA-H100-80GB-HBM3-bench-memory.jsonl",
    "2026-11-23-NVIDIA-H200-bench-peers.jsonl",
    "2026-11-27-NVIDIA-H200-bench-random.jsonl",
    "2026-11-21-NVIDIA-H100-80GB-HBM3-bench-reductions.jsonl",
    "2026-11-21-NVIDIA-H100-80GB-HBM3-bench-l2_hint.jsonl",
    "2026-11-24-NVIDIA-H200-bench-calls.jsonl",
    "2026-11-24-NVIDIA-H200-bench-auto.jsonl",
    "2026-11-26-NVIDIA-H100-80GB-HBM3-bench-convergence-asian.jsonl",
    "2026-11-22-NVIDIA-H100-80GB-HBM3-bench-prefetch-basket_of_50.jsonl",
]
WIDTHS = (60, 80, 132)


def on_a_terminal(columns: int, *arguments: str) -> list[str]:
    """Returns the lines printed on a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen([command, *arguments], stdout=theirs, stdin=theirs, env=environment) as process:
        os.close(theirs)
        text = b""
        try:
            while block := os.read(ours, 65536):
                text += block
        except OSError:  # the other end is closed
            pass
        os.close(ours)
    assert process.returncode == 0, (arguments, text)
    return text.decode().replace("\r", "").split("\n")


pages = {}
for name in FILES:
    file = str(results / name)
    for columns in WIDTHS:
        lines = on_a_terminal(columns, "bench", "--from", file)
        assert len(lines) > 5, lines
        too_long = [line for line in lines if len(line) > columns]
        assert not too_long, (name, columns, too_long[:3])
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        again = pathlib.Path(folder) / "again.jsonl"
        subprocess.run([command, "bench", "--from", file, "--report", page, "-o", again], check=True)
        pages[name] = page.read_text(encoding="utf-8")
        assert again.read_bytes() == pathlib.Path(file).read_bytes(), f"{name}: rows change on the way"

faults = [f"{name}: {fault}" for name, text in pages.items() for fault in page_check.source_faults(text)]
if page_check.chromium():
    faults += page_check.drawn_faults(pages)
else:
    print("left out: pages are not drawn, since chromium is not installed")
assert not faults, "\n".join(faults)

# A call must name either a suite to measure or a file to read; other combinations are refused.
for arguments in (["bench"], ["bench", "models", "--from", "x"], ["bench", "--from", "x", "--feeds", "none"],
                  ["bench", "--from", __file__]):
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("tilewalk: "), (arguments, done.stderr)
    if "--feeds" in arguments:
        assert "leave out --feeds" in done.stderr, done.stderr
print(f"{len(pages)} pages and their tables")
sys.exit(0)
