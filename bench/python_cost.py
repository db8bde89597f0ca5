#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Python costs beside the command: a JSON object a line, as the rows of `tilewalk bench`.

    PYTHONPATH=build/release/python bench/python_cost.py build/release/tilewalk

prices a book of 1,000 trades by the command and by the package, in turns, and tells the medians: the whole process of each,
that of Python without the price, and the price alone in a Python that runs. The same bits are a condition. Then it makes
results of a million rows, and tells how long a DataFrame and an Arrow table of them take, and how many bytes of numbers were
copied for them, which has to be none."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def row(what, **figures):
    print(json.dumps({"suite": "python_cost", "case": what, **figures}), flush=True)


def price_by_turns(command, trades, paths, times):
    with tempfile.TemporaryDirectory() as folder:
        book = f"{folder}/book.yaml"
        maker = pathlib.Path(__file__).resolve().parent / "make_book.py"
        subprocess.run([sys.executable, maker, "--trades", str(trades), "--output", book], check=True)
        script = f"import sys, tilewalk as tw\ntw.price({book!r}, paths={paths}).write(sys.argv[1])"
        ways = {
            "command": [command, "price", book, "--paths", str(paths), "--quiet", "-o", f"{folder}/command.csv"],
            "python": [sys.executable, "-c", script, f"{folder}/python.csv"],
            "python's start": [sys.executable, "-c", "import tilewalk"],
        }
        import tilewalk as tw

        taken = {way: [] for way in [*ways, "price in python"]}
        for _ in range(times):
            for way, words in ways.items():
                taken[way].append(seconds(lambda words=words: subprocess.run(words, check=False, stderr=subprocess.DEVNULL)))
            taken["price in python"].append(seconds(lambda: tw.price(book, paths=paths).write(f"{folder}/inside.csv")))
        texts = {pathlib.Path(f"{folder}/{name}.csv").read_text(encoding="utf-8") for name in ("command", "python", "inside")}
        if len(texts) != 1:
            sys.exit("the command and the package have other bits")
    medians = {way: statistics.median(samples) for way, samples in taken.items()}
    for way, median in medians.items():
        row(way, trades=trades, paths=paths, seconds=round(median, 4), least=round(min(taken[way]), 4), samples=times)
    beside = medians["command"] + medians["python's start"]
    row("python beside the command and a start", ratio=round(medians["python"] / beside, 4))


def million_rows(rows):
    import numpy as np
    import tilewalk as tw

    few = json.loads(tw.price([{"id": "a", "product": "european", "underlying": "ACME", "strike": 100, "maturity": 1}],
                              "configs/markets/demo.yaml", paths=1024).to_json())
    one = json.dumps(few["rows"][0])
    few["rows"] = ["HERE"]
    text = json.dumps(few).replace('"HERE"', ",".join(one.replace('"a"', f'"t{i}"', 1) for i in range(rows)))
    results = tw.read_results(text)
    del text
    table = results._core_table
    row("columns", rows=rows, seconds=round(seconds(table), 4))
    row("columns again", rows=rows, seconds=round(seconds(table), 4))
    frames, arrows = [], []
    row("to_pandas", rows=rows, seconds=round(seconds(lambda: frames.append(results.to_pandas())), 4))
    row("to_arrow", rows=rows, seconds=round(seconds(lambda: arrows.append(results.to_arrow())), 4))
    copied = 0
    for name in results.names:
        if table().kind(name) in ("figures", "counts", "flags"):
            held = table().array(name)
            copied += 0 if np.shares_memory(held, frames[0][name].to_numpy()) else held.nbytes
            if table().kind(name) != "flags":
                address = arrows[0][name].chunk(0).buffers()[1].address
                copied += 0 if address == held.__array_interface__["data"][0] else held.nbytes
    row("copied for both", rows=rows, bytes=copied)
    if copied:
        sys.exit(f"{copied} bytes of numbers were copied")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--trades", type=int, default=1000)
    parser.add_argument("--paths", type=int, default=65536)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    price_by_turns(given.command, given.trades, given.paths, given.times)
    million_rows(given.rows)


if __name__ == "__main__":
    main()
