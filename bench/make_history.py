#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes made-up levels of a market by day, a random walk that ends at the market itself, for scenarios by history.

    bench/make_history.py MARKET.yaml --days 1001 --output levels.csv

Every spot, exchange rate, interest rate and volatility of the market has a column. Prices move by 1 % a day, volatilities by
0.4 points, rates by 4 basis points, so that most days make a market. The same arguments give the same file.
"""
import argparse
import csv
import datetime
import io
import os
import random
import subprocess
import sys


def keys_of(command, market):
    """Yields keys, values and units of the numbers that move."""
    listed = subprocess.run([command, "market", market, "--keys", "--format", "csv"], check=True, capture_output=True, text=True)
    for row in csv.DictReader(io.StringIO(listed.stdout)):
        key = row["key"]
        whole = key.split("@")[0]
        what = whole.rsplit(".", 1)[-1]
        if whole.count(".") > 1 or "|" in key:
            continue  # a parameter of a model, a correlation
        if what == "spot" or (what == "rate" and len(whole.split(".")[0]) == 6):
            yield key, float(row["value"]), "price"
        elif what == "rate":
            yield key, float(row["value"]), "rate"
        elif what == "volatility" and "," not in key:
            yield key, float(row["value"]), "volatility"


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("market")
    asked.add_argument("--days", type=int, default=1001)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--output", default="-")
    asked.add_argument("--tilewalk", default=os.environ.get("TILEWALK", "tilewalk"))
    asked = asked.parse_args()
    dice = random.Random(asked.seed)

    def normal():
        # Sum of twelve uniforms: random.random is the one method whose sequence Python promises to keep between versions.
        return sum(dice.random() for _ in range(12)) - 6

    keys = list(keys_of(asked.tilewalk, asked.market))
    # A risk factor moves all rates of a currency together, and another all volatilities of an asset.
    of = {key: (kind, key.split("@")[0]) for key, _, kind in keys}
    day = datetime.date(2026, 1, 15)
    levels = {key: value for key, value, _ in keys}
    rows = []
    while len(rows) < asked.days:
        if day.weekday() < 5:
            rows.append([day.isoformat()] + [f"{levels[key]:.10g}" for key, _, _ in keys])
            moves = {}
            for key, start, kind in keys:
                z = moves.setdefault(of[key], normal())
                if kind == "price":
                    levels[key] *= 1 + 0.01 * z
                elif kind == "volatility":
                    levels[key] = max(0.05, levels[key] + 0.004 * z + 0.02 * (start - levels[key]))
                else:
                    levels[key] += 0.0004 * z + 0.02 * (start - levels[key])
        day -= datetime.timedelta(days=1)
    out = sys.stdout if asked.output == "-" else open(asked.output, "w", encoding="utf-8")
    print(",".join(["Date"] + [key for key, _, _ in keys]), file=out)
    for row in reversed(rows):
        print(",".join(row), file=out)


if __name__ == "__main__":
    main()
