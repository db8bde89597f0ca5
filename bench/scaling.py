#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Strong scaling: one request over more and more devices, or, on paper, over more and more workers.

    bench/scaling.py devices build/release/tilewalk --devices 0 0,1 0,1,2,3
    bench/scaling.py paper build/release/tilewalk --workers 1 16 256 4096

`devices` prices one large trade and a book of many trades on each set of GPUs, several times in turns, and tells the medians of
the time that paths take, of kernels, and to the file; every price has to have the same bits on all sets.

`paper` measures on this machine what a worker costs: its start, with reading the book and the plan; planning a trade once more
that is cut; how far the time of paths is from its estimate; the merging of a file more. From these it reckons how long a request
takes with so many workers, which start at once and see one file system, and of what that consists."""
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

        def shards_of(count):
            """The seconds of planning, of each shard, of a shard already done, and of merging; and the
            estimates."""
            plan = folder / f"plan-{count}"
            planning = run(asked.command, "plan", folder / "book.yaml", "--paths", asked.paths, "--shards", count, "-o", plan)
            estimates = [s["operations"] for s in json.loads((plan / "plan.json").read_text())["shards"]]
            times = [run(asked.command, "run", plan, "--shard", f"{k + 1}/{count}") for k in range(count)]
            # Only reads the request: the cost of a worker besides its paths.
            start = statistics.median(run(asked.command, "run", plan, "--shard", f"{k + 1}/{count}") for k in range(count))
            merging = statistics.median(run(asked.command, "merge", plan, "-o", folder / "merged.csv") for _ in range(5))
            return planning, estimates, times, start, merging

        planning, estimates, times, start, merging = shards_of(asked.shards)
        _, _, many_times, _, merging_many = shards_of(8 * asked.shards)
        a_second = sum(estimates) / sum(t - start for t in times)
        spread = [(t - start) / (e / a_second) for t, e in zip(times, estimates)]
        of_file = max(0.0, (merging_many - merging) / (7 * asked.shards))
        # A shard plans its own part of a trade again.
        of_cut = max(0.0, (sum(many_times) - 8 * asked.shards * start - (sum(times) - asked.shards * start)) / (7 * asked.shards))
        print(json.dumps({"trades": asked.trades, "paths": asked.paths, "cores": os.cpu_count(), "planning": round(planning, 3),
                          "start of a worker": round(start, 4), "more by a cut": round(of_cut, 4), "merging": round(merging, 4),
                          "merging of a file more": round(of_file, 6), "operations a second": float(f"{a_second:.4g}"),
                          "time over estimate": [round(min(spread), 3), round(max(spread), 3)]}), flush=True)
        for hours in asked.hours:
            one = planning + start + 3600 * hours + merging
            for workers in asked.workers:
                parts = {"planning": planning, "start": start + of_cut, "walking": 3600 * hours / workers,
                         "waiting for the slowest": 3600 * hours / workers * (max(spread) - 1 if workers > 1 else 0),
                         "merging": merging + of_file * workers}
                seconds = sum(parts.values())
                print(json.dumps({"hours of paths": hours, "workers": workers, "seconds": round(seconds, 2),
                                  "times as fast as one": round(one / seconds, 1), "of perfect": round(one / seconds / workers, 3),
                                  "parts": {what: round(value, 3) for what, value in parts.items()}}), flush=True)


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
    by.add_argument("--hours", nargs="+", type=float, default=[1, 64], help="of one worker, for the paths of the request")
    asked = parser.parse_args()
    (devices if asked.way == "devices" else paper)(asked)


main()
