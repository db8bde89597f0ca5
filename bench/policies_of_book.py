#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times a book of American puts and one of swings from the command to the file, and by kernel one put, one call on the best
of five assets and one swing.

    bench/policies_of_book.py --command build/release/tilewalk
    bench/policies_of_book.py --command build/release/tilewalk --trades 20 --paths 16384 --device cpu
    bench/policies_of_book.py --command build/release/tilewalk --before old/tilewalk --kernels
    bench/policies_of_book.py --command build/release/tilewalk --reads none,register_rolling,l2_prefetch,smem_rolling_async

The puts are those of Longstaff and Schwartz (36, 20 %, 6 %, one year, 50 dates) with strikes from 30 to 50; the call is
that of Andersen and Broadie (nine dates in three years); a swing has 20 rights on 50 days of a year. Each command runs once to compile kernels and then so many times,
of which the median is told. With --before another build runs in turn with it, on puts that are decided by the price alone, and figures must be the
same to the bit.
With --reads each book is run with each of these feeds as --prefetch, which says how the way back reads paths; books walk
their own paths by it, too, so that seconds of planning with policies tell the way back's part.
With --kernels ncu, which has to be on the PATH, tells how long each kernel takes for a trade alone."""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

# A product of this script, because the library's put also decides by the European option, which builds before that feature can't read.
OWN_PUT = """products:
  - product: put_by_price
    summary: A put that is decided by the price alone.
    parameters:
      underlying: {type: asset, help: The asset.}
      strike: {type: amount, help: The strike.}
      maturity: {type: date, help: The last day.}
    example: {underlying: A, strike: 40, maturity: 1.0}
    script: |
      exercise between start and maturity every 0.02:
          receive max(strike - spot(underlying), 0)
"""
MARKET = """market:
  as_of: 2026-01-15
  currencies: {USD: {rate: RATE}}
  assets: {ASSETS}
trades:
"""


def puts(count, is_own):
    text = (OWN_PUT if is_own else "") + MARKET.replace("RATE", "0.06").replace("ASSETS", "A: {currency: USD, spot: 36, volatility: 0.2}")
    for i in range(count):
        strike = 40 if count == 1 else 30 + 20 * i / count
        terms = f"underlying: A, strike: {strike:.6g}, maturity: 1"
        text += (f"  - {{id: put_{i}, product: put_by_price, {terms}}}\n" if is_own else
                 f"  - {{id: put_{i}, product: american, {terms}, exercise_step: 0.02}}\n")
    return text


def best_of_five():
    names = [f"A{i}" for i in range(5)]
    assets = ", ".join(f"{n}: {{currency: USD, spot: 100, volatility: 0.2, dividend_yield: 0.1}}" for n in names)
    days = ", ".join(f"{(k + 1) / 3:.6f}" for k in range(9))
    return (MARKET.replace("RATE", "0.05").replace("ASSETS", assets) +
            f"  - {{id: best_of_five, product: bermudan_basket, basket: [{', '.join(names)}], price: maximum, strike: 100, "
            f"exercise_dates: [{days}]}}\n")


def swings(count):
    text = MARKET.replace("RATE", "0.05").replace("ASSETS", "A: {currency: USD, spot: 100, volatility: 0.3}")
    for i in range(count):
        text += (f"  - {{id: swing_{i}, product: swing, underlying: A, strike: {90 + 20 * i / count:.6g}, rights: 20, "
                 "exercise_dates: {start: 0.02, end: 1, count: 50}}\n")
    return text


def run(command, output):
    begin = time.perf_counter()
    done = subprocess.run([*command, "--quiet", "--format", "json", "--output", output], text=True, stderr=subprocess.PIPE)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-4000:]}")
    with open(output, encoding="utf-8") as file:
        return seconds, json.load(file)


def measure(commands, output, times):
    """By command: the seconds of each run, in turns, and the results of the last."""
    for command in commands:
        run(command, output)
    turns = [[run(command, output) for command in commands] for _ in range(times)]
    return [([turn[c][0] for turn in turns], turns[-1][c][1]) for c in range(len(commands))]


def kernels(command):
    """The kernels of the run, in order: name and microseconds."""
    done = subprocess.run(["ncu", "--metrics", "gpu__time_duration.sum", *command, "--format", "csv"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    names = re.findall(r"^ +([a-z_]+) \(.*Context", done.stdout, re.M)
    times = re.findall(r"gpu__time_duration\.sum +([a-z]+) +([0-9.,]+)", done.stdout)
    if done.returncode != 0 or len(names) != len(times) or not names:
        sys.exit(f"ncu: exit code {done.returncode}\n{done.stdout[-2000:]}")
    unit = {"ns": 1e-3, "us": 1, "ms": 1e3}
    return [(n, unit[u] * float(t.replace(",", ""))) for n, (u, t) in zip(names, times)]


def tell_kernels(of, command):
    rows = kernels(command)
    by_name = {}
    for name, microseconds in rows:
        by_name.setdefault(name, []).append(microseconds)
    print(f"{of}, kernels of a trade alone, microseconds:")
    for name, times in by_name.items():
        print(f"    {name:16} {len(times)} x {statistics.mean(times):9.1f}")
    policy = sum(t for n, t in rows if n not in ("leave", "walk", "merge_tiles"))
    print(f"    paths that train {sum(by_name.get('leave', [0])):.1f}, way back {policy:.1f}, "
          f"walks that price and bound {sum(by_name.get('walk', [0])):.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="tilewalk")
    parser.add_argument("--before", help="the command of an older build")
    parser.add_argument("--trades", type=int, default=1000)
    parser.add_argument("--swings", type=int, default=20)
    parser.add_argument("--books", default="puts,one put,best of five,swings,one swing", help="with commas between them")
    parser.add_argument("--paths", type=int, default=262144)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--precision", default="double")
    parser.add_argument("--random", default="philox", help="empty: for a build that has no such setting")
    parser.add_argument("--controls", default="none", help="likewise")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--reads", help="feeds, with commas between them")
    arguments = parser.parse_args()
    if arguments.reads and arguments.before:
        parser.error("--reads compares ways of one build, --before two builds: take one of them")
    builds = [("before", [arguments.before]), ("now", [arguments.command])] if arguments.before else [("now", [arguments.command])]
    how = ["--device", arguments.device, "--precision", arguments.precision]
    if arguments.random:
        how += ["--random", arguments.random]
    if arguments.controls:
        how += ["--controls", arguments.controls]
    ways = [(f"reads {r}", ["--prefetch", r]) for r in arguments.reads.split(",")] if arguments.reads else [("", [])]
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.json")
        is_own = arguments.before is not None
        books = (("puts", puts(arguments.trades, is_own), arguments.paths),
                 ("one put", puts(1, is_own), 4 * arguments.paths),
                 ("best of five", best_of_five(), 4 * arguments.paths),
                 ("swings", swings(arguments.swings), arguments.paths), ("one swing", swings(1), arguments.paths))
        for name, text, paths in (b for b in books if b[0] in arguments.books.split(",")):
            book = os.path.join(folder, "book.yaml")
            with open(book, "w", encoding="utf-8") as file:
                file.write(text)
            named = [(" ".join(filter(None, (b, w))), [*build, "price", book, "--paths", str(paths), *how, *way])
                     for b, build in builds for w, way in ways]
            commands = [command for _, command in named]
            runs = measure(commands, output, arguments.times)
            if any(r["rows"] != runs[0][1]["rows"] for _, r in runs):
                sys.exit(f"{name}: figures differ")
            for (build, _), (seconds, found) in zip(named, runs):
                m = found["manifest"]
                print(f"{name}, {len(found['rows'])} trades, {paths} paths, {arguments.precision}, "
                      f"{', '.join(m['devices']) or 'CPU'}, {build}: {statistics.median(seconds):.3f} s to the file "
                      f"({min(seconds):.3f} to {max(seconds):.3f}), planning with policies {m['plan_seconds']:.3f}, "
                      f"walks {m['path_seconds']:.3f}")
            if arguments.before:
                print(f"{name}: {statistics.median(runs[0][0]) / statistics.median(runs[1][0]):.2f} times as fast as before")
            if arguments.kernels and len(runs[0][1]["rows"]) == 1:
                for build, command in named:
                    tell_kernels(f"{name}, {build}", command)
    return 0


if __name__ == "__main__":
    sys.exit(main())
