#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast, and in how much memory, `tilewalk validate` reads a large book, reports bad trades and refuses hostile files.

    bench/input_figures.py [build/release/tilewalk] > bench/results/DATE-MACHINE-input.txt

Each figure is the best of three runs: the machine may be shared, the work is the same. "wall" is the whole command's time,
"cpu" what it used of all cores, "memory" the most that was resident. A hostile file is written after as much of a good
one as the row says; its time is that from the bad byte on, the whole command's where the bad byte comes first.
"""
import datetime
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = 3


def measure(command, expected):
    """The best (wall, cpu) in seconds and the worst memory in MiB of some runs that all end with the expected code."""
    walls, cpus, resident = [], [], 0
    for _ in range(RUNS):
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        walls.append(time.monotonic() - begin)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != expected:
            sys.exit(f"{' '.join(map(str, command))}: exit code {child.returncode}, expected {expected}")
        cpus.append(used.ru_utime + used.ru_stime)
        resident = max(resident, used.ru_maxrss)
    return min(walls), min(cpus), resident / 1024


def row(name, wall, cpu, memory):
    print(f"{name:<58}  {1000 * wall:7.0f} ms  {1000 * cpu:7.0f} ms  {memory:6.0f} MiB")


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    tilewalk = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/tilewalk").resolve()
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout.strip()
    load = os.getloadavg()[0]
    print(f"tilewalk validate, {datetime.date.today()}, {cpu_name()}, {os.cpu_count()} cores, load {load:.1f} at the start, "
          f"commit {commit}\n")
    print(f"{'':<58}  {'wall':>10}  {'cpu':>10}  {'memory':>10}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        book = folder / "book.yaml"
        subprocess.run([sys.executable, ROOT / "bench/make_book.py", "--trades", "50000", "--output", book], check=True)
        good = book.read_bytes()
        validate = [tilewalk, "validate"]
        row(f"50,000 trades ({len(good) / 1e6:.1f} MB), read and checked", *measure([*validate, book], 0))
        read = measure([*validate, book, "--print-config"], 0)
        row("the same, read alone", *read)

        bad = folder / "bad.yaml"
        lines = good.decode().splitlines()
        start = lines.index("trades:") + 1
        # A product that is unknown, or no name for the trade.
        bad_trades = [line.replace("product: ", "product: x", 1) if i % 2 else line.replace("id: ", "id: [], x: ", 1)
                      for i, line in enumerate(lines[start:start + 10_000])]
        bad.write_text("\n".join(line for line in lines[:start] if "trade_count" not in line) + "\n" +
                       "\n".join(bad_trades) + "\n")
        row("10,000 bad trades, all reported", *measure([*validate, bad], 3))

        def refuse(title, content, before=(0.0, 0.0, 0.0)):
            bad.write_bytes(content)
            wall, cpu, memory = measure([*validate, bad], 2)
            row(title, max(0.0, wall - before[0]), max(0.0, cpu - before[1]), memory)

        print("\nrefused:")
        size = 100_000_000
        refuse("100 MB on a line", b"trades: " + b"x" * size)
        refuse("100 MB in a quoted text of many lines", b'market: "' + b"x\n" * (size // 2))
        refuse("100 MB in a block of many lines", b"market: |\n" + b"  a line\n" * (size // 9))
        refuse("100 MB of [", b"[" * size)
        refuse("100 MB of {a: ", b"{a: " * (size // 4))
        refuse("100 MB of comments", b"# nothing\n" * (size // 10))
        refuse("100 MB of entries that are nothing", b"trades:\n" + b"- \n" * (size // 3))
        refuse("100 MB of a list in a trade", b"trades:\n - dates:\n" + b"   - 1\n" * (size // 7))
        refuse("aliases that would be 10^9 values", b"a: &a [x, x]\nb: &b [*a, *a]\n")
        refuse("a bad byte after 50,000 good trades", good + b"\xff", read)
        refuse("an alias after 50,000 good trades", good + b"  - *a\n", read)


if __name__ == "__main__":
    main()
