#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of `tilewalk validate` for reading a large book, reporting bad trades and refusing
hostile files, and of `tilewalk price` for a book over the whole library.

    bench/input_figures.py [build/release/tilewalk] > bench/results/DATE-MACHINE-input.txt

Each figure is the best of three runs, because the machine may be shared. "wall" is the whole command's
time, "cpu" its time on all cores, "memory" the largest resident size. The time for a hostile file is that
of the whole command, with everything before the bad byte; if good trades come first, the time for reading
those alone is subtracted."""
import datetime
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = 3


def measure(command, expected):
    """Returns the best (wall, cpu) in seconds and the worst memory in MiB of some runs, all of which must
    end with the expected code."""
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


def write_table(file, count):
    """Writes a table of calls, barriers and Asians in turn."""
    with file.open("w") as out:
        out.write("id,product,underlying,option,strike,maturity,direction,barrier,averaging_dates,quantity\n")
        for i in range(count):
            strike, years, end = 50 + i % 1009 / 10, 0.1 + i % 307 / 100, ("call", "put")[i % 2]
            terms = {0: f"{years:.2f},,,", 1: f"{years:.2f},down,{strike / 2:.3f},",
                     2: f',,,"{{start: 0, end: {years:.2f}, count: 12}}"'}[i % 3]
            product = ("european", "barrier", "asian")[i % 3]
            out.write(f"t{i},{product},{('ACME', 'BETA', 'INDEX')[i % 5 % 3]},{end},{strike:.1f},{terms},{i % 999 - 500}\n")


def main():
    tilewalk = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/tilewalk").resolve()
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout.strip()
    load = os.getloadavg()[0]
    print(f"tilewalk, {datetime.date.today()}, {cpu_name()}, {os.cpu_count()} cores, load {load:.1f} at the start, "
          f"commit {commit}\n")
    print(f"{'':<58}  {'wall':>10}  {'cpu':>10}  {'memory':>10}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        book = folder / "book.yaml"
        subprocess.run([sys.executable, ROOT / "bench/make_book.py", "--trades", "50000", "--output", book], check=True)
        validate = [tilewalk, "validate"]
        row(f"50,000 trades ({book.stat().st_size / 1e6:.1f} MB), read and checked", *measure([*validate, book], 0))
        read = measure([*validate, book, "--print-config"], 0)
        row("the same, read alone", *read)
        table, count = folder / "trades.csv", 100_000
        write_table(table, count)
        row(f"{count:,} trades in a table of CSV ({table.stat().st_size / 1e6:.1f} MB), read alone",
            *measure([*validate, table, "--print-config"], 0))

        bad = folder / "bad.yaml"
        with book.open() as lines, bad.open("w") as out:
            trades = 0
            for line in lines:
                if line.startswith("  - "):
                    # Spoils trades alternately: an unknown product, or a trade without an id.
                    line = line.replace("product: ", "product: x", 1) if trades % 2 else line.replace("id: ", "id: [], x: ", 1)
                    trades += 1
                if not line.startswith("trade_count"):
                    out.write(line)
                if trades == 10_000:
                    break
        row("10,000 bad trades, all reported", *measure([*validate, bad], 3))

        # The file is written in small blocks: memory that this process holds would count as the child's.
        def refuse(title, begin, block=b"", size=100_000_000):
            with bad.open("wb") as out:
                out.write(begin)
                chunk = block * max(1, 65536 // max(1, len(block)))
                for _ in range(size // len(chunk) if chunk else 0):
                    out.write(chunk)
            row(title, *measure([*validate, bad], 2))

        def refuse_after_good(title, end):
            shutil.copyfile(book, bad)
            with bad.open("ab") as out:
                out.write(end)
            wall, cpu, memory = measure([*validate, bad], 2)
            row(title, max(0.0, wall - read[0]), max(0.0, cpu - read[1]), memory)

        print("\nrefused:")
        refuse("100 MB on a line", b"trades: ", b"x")
        refuse("100 MB in a quoted text of many lines", b'market: "', b"x\n")
        refuse("100 MB in a block of many lines", b"market: |\n", b"  a line\n")
        refuse("100 MB of [", b"", b"[")
        refuse("100 MB of {a: ", b"", b"{a: ")
        refuse("100 MB of comments", b"", b"# nothing\n")
        refuse("100 MB of entries that are nothing", b"trades:\n", b"- \n")
        refuse("100 MB of a list in a trade", b"trades:\n - dates:\n", b"   - 1\n")
        refuse("aliases that would be 10^9 values", b"a: &a [x, x]\nb: &b [*a, *a]\n")
        refuse_after_good("a bad byte after 50,000 good trades", b"\xff")
        refuse_after_good("an alias after 50,000 good trades", b"  - *a\n")

        print("\npriced:")
        subprocess.run([sys.executable, ROOT / "bench/make_book.py", "--library", "--command", tilewalk, "--trades", "1000",
                        "--paths", "16384", "--output", book], check=True)
        row("1,000 trades over the whole library, 16,384 paths",
            *measure([tilewalk, "price", book, "--device", "cpu", "--random", "philox", "--controls", "none",
                      "--output", folder / "prices.csv"], 0))


if __name__ == "__main__":
    main()
