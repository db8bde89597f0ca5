#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Strong scaling: one request over more and more devices, or, on paper, over more and more workers.

    bench/scaling.py devices build/release/tilewalk --devices 0 0,1 0,1,2,3
    bench/scaling.py paper build/release/tilewalk --workers 1 16 256 4096

`devices` prices one large trade and a book of many trades on each set of GPUs, several times in turns, and tells the medians of
the time that paths take, of kernels, and to the file; every price has to have the same bits on all sets.

`paper` measures on this machine what a worker costs: its start with reading the book and the plan, the time of its paths by
operation, and the merging of its file. From these it reckons how long a night's request takes with so many workers, which
start at once and see one file system, and says what it then waits for."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ASIAN = """market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {A: {currency: USD, spot: 100, volatility: 0.2}}}
trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 252}}
"""


def run(*arguments):
    begin = time.perf_counter()
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{arguments}: exit code {done.returncode}\n{done.stderr[-4000:]}")
    return time.perf_counter() - begin


def rows_of(file):
    """Results without what differs between two runs of the same bits."""
    return [{k: v for k, v in row.items() if k != "part_means"} for row in json.loads(file.read_text())["rows"]]


def devices(asked):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "asian.yaml").write_text(ASIAN)
        run(sys.executable, ROOT / "bench/make_book.py", "--trades", asked.trades, "--command", asked.command, "--output",
            folder / "book.yaml")
        plain = ["--controls", "none", "--random", "philox"]
        cases = [("one trade", "asian.yaml", asked.paths_of_trade, plain), ("book", "book.yaml", asked.paths, plain),
                 ("book, as by default", "book.yaml", asked.paths, [])]
        for case, book, paths, options in cases:
            found, truth = {}, None
            for attempt in range(asked.times + 1):  # the first makes kernels ready
                for on in asked.devices:
                    out = folder / "out.json"
                    seconds = run(asked.command, "price", folder / book, "--paths", paths, "--device", on, *options, "-o", out)
                    if attempt == 0:
                        continue
                    manifest = json.loads(out.read_text())["manifest"]
                    rows = rows_of(out)
                    truth = truth or rows
                    if rows != truth:
                        sys.exit(f"{case}: other bits on {on}")
                    figures = {"paths": manifest["path_seconds"], "devices": manifest["device_seconds"],
                               "kernels": manifest["kernel_seconds"], "to the file": seconds}
                    for what, value in figures.items():
                        found.setdefault((on, what), []).append(value)
            for on in asked.devices:
                told = {"case": case, "devices": on, "paths": paths, "times": asked.times}
                for what in ("paths", "devices", "kernels", "to the file"):
                    here = statistics.median(found[on, what])
                    told[f"{what}, seconds"] = round(here, 4)
                    told[f"{what}, times as fast"] = round(statistics.median(found[asked.devices[0], what]) / here, 3)
                print(json.dumps(told), flush=True)


def paper(asked):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(sys.executable, ROOT / "bench/make_book.py", "--trades", asked.trades, "--command", asked.command, "--output",
            folder / "book.yaml")
        options = ["--paths", asked.paths]
        plan = folder / "plan"
        planning = run(asked.command, "plan", folder / "book.yaml", *options, "--shards", asked.shards, "-o", plan)
        shards = json.loads((plan / "plan.json").read_text())["shards"]
        times = [run(asked.command, "run", plan, "--shard", f"{k + 1}/{asked.shards}") for k in range(asked.shards)]
        merging = run(asked.command, "merge", plan, "-o", folder / "merged.csv")
        # A shard that is done reads the request and its file, and ends: the cost of a worker beside its paths.
        starts = [run(asked.command, "run", plan, "--shard", f"{k + 1}/{asked.shards}") for k in range(asked.shards)]
        start = statistics.median(starts)
        operations = [s["operations"] for s in shards]
        a_second = sum(operations) / sum(t - start for t in times)
        spread = [(t - start) / (o / a_second) for t, o in zip(times, operations)]
        told = {"trades": asked.trades, "paths": asked.paths, "cores": os.cpu_count(), "planning": round(planning, 3),
                "start of a worker": round(start, 3), "operations a second": float(f"{a_second:.4g}"),
                "block": 1.0, "merging": round(merging, 3), "shards measured": asked.shards,
                "time over estimate": [round(min(spread), 3), round(max(spread), 3)]}
        print(json.dumps(told), flush=True)
        # A request of a night: so many times the measured one, by more paths; planning and merging stay as they are, and merging
        # reads a file of each worker.
        paths_seconds = asked.night_hours * 3600
        of_file = merging / 50  # reading one file more, at most: what merging costs beside the rows, over the measured shards
        for workers in asked.workers:
            walking = paths_seconds / workers * max(spread)
            all_of_it = planning + start + walking + merging + of_file * workers / asked.shards
            fair = paths_seconds / workers
            print(json.dumps({"workers": workers, "seconds": round(all_of_it, 1),
                              "times as fast as one": round((planning + start + paths_seconds + merging) / all_of_it, 1),
                              "of perfect": round(fair / all_of_it, 3),
                              "shares": {"planning": round(planning, 2), "start": round(start, 2), "walking": round(walking, 2),
                                         "merging": round(merging + of_file * workers / asked.shards, 2)}}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(dest="way", required=True)
    on = ways.add_parser("devices")
    on.add_argument("command")
    on.add_argument("--devices", nargs="+", default=["0"])
    on.add_argument("--trades", type=int, default=10000)
    on.add_argument("--paths", type=int, default=1 << 20)
    on.add_argument("--paths-of-trade", type=int, default=1 << 27)
    on.add_argument("--times", type=int, default=3)
    by = ways.add_parser("paper")
    by.add_argument("command")
    by.add_argument("--workers", nargs="+", type=int, default=[1, 16, 256, 4096])
    by.add_argument("--trades", type=int, default=1000)
    by.add_argument("--paths", type=int, default=131072)
    by.add_argument("--shards", type=int, default=8)
    by.add_argument("--night-hours", type=float, default=64, help="processor hours of paths of the request")
    asked = parser.parse_args()
    (devices if asked.way == "devices" else paper)(asked)


main()
