#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the prices of a made-up book, and all its sensitivities of the first order, from the command to the file.

    bench/greeks_of_book.py --command build/release/tilewalk
    bench/greeks_of_book.py --command build/release/tilewalk --trades 1000 --paths 4096 --device cpu

Both commands run once to compile kernels and then so many times, of which the median is told. The walk of the prices
beside sensitivities, which goes both ways, is held against the walk of the prices alone. Prices have to be the same."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

# Targets for 10,000 trades on a GPU: seconds to the written file, and the walk's time over that of the prices alone.
MOST_SECONDS, MOST_TIMES = 5, 3


def run(command, output):
    begin = time.perf_counter()
    done = subprocess.run([*command, "--format", "json", "--output", output], text=True, stderr=subprocess.PIPE)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-4000:]}")
    with open(output, encoding="utf-8") as file:
        return seconds, json.load(file)


def measure(command, output, times):
    """Returns the median run: seconds from the command to the file, and results."""
    run(command, output)
    runs = sorted((run(command, output) for _ in range(times)), key=lambda r: r[0])
    return runs[len(runs) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="tilewalk")
    parser.add_argument("--trades", type=int, default=10000)
    parser.add_argument("--paths", type=int, default=65536)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--precision", default="double")
    parser.add_argument("--random", default="philox")
    parser.add_argument("--controls", default="none")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        book, output = os.path.join(folder, "book.yaml"), os.path.join(folder, "out.json")
        maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "make_book.py")
        subprocess.run([sys.executable, maker, "--trades", str(arguments.trades), "--output", book], check=True)
        how = ["--paths", str(arguments.paths), "--device", arguments.device, "--precision", arguments.precision,
               "--random", arguments.random, "--controls", arguments.controls, "--quiet"]
        price_seconds, priced = measure([arguments.command, "price", book, *how], output, arguments.times)
        seconds, found = measure([arguments.command, "greeks", book, *how, "--greeks-method", arguments.method], output,
                                 arguments.times)
    if [r["price"] for r in priced["rows"]] != [r["price"] for r in found["rows"]]:
        sys.exit("prices beside sensitivities are not those of tilewalk price")
    before, after = priced["manifest"], found["manifest"]
    greeks = found["greeks"]
    failed = sum(1 for g in greeks if g.get("message"))
    bumped = sum(1 for g in greeks if g["method"] == "bump" and g["measure"] != "theta")
    print(f"{arguments.trades} trades, {arguments.paths} paths, {arguments.precision}, {', '.join(after['devices']) or 'CPU'}")
    print(f"{len(greeks)} sensitivities, {bumped} of them bumped, {failed} failed")
    print(f"price:  {price_seconds:8.3f} s to the file, planning {before['plan_seconds']:8.3f} s, "
          f"walk {before['path_seconds']:8.3f} s")
    print(f"greeks: {seconds:8.3f} s to the file, planning {after['plan_seconds']:8.3f} s, "
          f"walk {after['path_seconds']:8.3f} s, {after['path_seconds'] / before['path_seconds']:.2f} times that of the prices")
    print(f"path-steps of all walks: {after['path_steps'] / before['path_steps']:.2f} times those of the prices")
    print(f"aims for 10,000 trades on a GPU: {MOST_SECONDS} s to the file, {MOST_TIMES} times the walk of the prices; "
          "planning has the walks that try widths of smoothing in it")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
