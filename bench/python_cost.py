#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of Python beside the command: the program of `tilewalk bench python`, which makes rows of its lines.

    bench/python_cost.py build/release/tilewalk

prices a book of 1,000 trades by the command and by the package, in turns: the whole process of each, that of Python without
the price, and the price alone in a Python that runs. The same bits are a condition. Then it makes results of a million rows,
and tells how long a DataFrame and an Arrow table of them take, and how many bytes of numbers were copied for them, which has
to be none. The package is that beside the command, in python/, or else one that is installed."""
import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def milliseconds(work):
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1e3


def line(what, **members):
    print(json.dumps({"what": what, **members}), flush=True)


def price_by_turns(command, trades, paths, times):
    import tilewalk as tw

    sizes = {"trades": trades, "paths": paths}
    with tempfile.TemporaryDirectory() as folder:
        book = f"{folder}/book.yaml"
        maker = pathlib.Path(__file__).resolve().parent / "make_book.py"
        subprocess.run([sys.executable, maker, "--trades", str(trades), "--output", book], check=True)
        script = f"import sys, tilewalk as tw\ntw.price({book!r}, paths={paths}).write(sys.argv[1])"
        ways = {
            "command": [command, "price", book, "--paths", str(paths), "--quiet", "-o", f"{folder}/command.csv"],
            "python": [sys.executable, "-c", script, f"{folder}/python.csv"],
            "start of python": [sys.executable, "-c", "import tilewalk"],
        }
        taken = {way: [] for way in [*ways, "python that runs"]}
        for _ in range(times):
            for way, words in ways.items():
                taken[way].append(milliseconds(lambda words=words: subprocess.run(words, stderr=subprocess.DEVNULL)))
            taken["python that runs"].append(milliseconds(lambda: tw.price(book, paths=paths).write(f"{folder}/inside.csv")))
        texts = [pathlib.Path(f"{folder}/{name}.csv").read_bytes() for name in ("command", "python", "inside")]
    for way, samples in taken.items():
        of = sizes if way != "start of python" else {}
        line(way, **of, milliseconds=samples, **({} if len(set(texts)) == 1 else {"wrong": "the package has other bits"}))


def copied_bytes(results, frame, arrow):
    """Bytes of numeric columns that the frame and the Arrow table do not share with the results."""
    import numpy as np

    in_frame = in_arrow = 0
    table = results._core_table()
    for name in results.names:
        if table.kind(name) in ("figures", "counts", "flags"):
            held = table.array(name)
            in_frame += 0 if np.shares_memory(held, frame[name].to_numpy()) else held.nbytes
            if table.kind(name) != "flags":  # a bit each in Arrow, a byte in NumPy
                address = arrow[name].chunk(0).buffers()[1].address
                in_arrow += 0 if address == held.__array_interface__["data"][0] else held.nbytes
    return in_frame, in_arrow


def many_rows(rows, times):
    import tilewalk as tw

    book = tw.Book({"market": {"as_of": "2026-01-15", "currencies": {"USD": {"rate": 0.03}},
                               "assets": {"A": {"currency": "USD", "spot": 100, "volatility": 0.2}}},
                    "trades": [{"id": "a", "product": "european", "underlying": "A", "strike": 100, "maturity": 1}]})
    few = json.loads(tw.price(book, paths=1024).to_json())
    one = json.dumps(few["rows"][0])
    few["rows"] = ["HERE"]
    text = json.dumps(few).replace('"HERE"', ",".join(one.replace('"a"', f'"t{i}"', 1) for i in range(rows)))
    results = tw.read_results(text)
    del text
    line("columns of results", rows=rows, milliseconds=[milliseconds(results._core_table)])  # made once, and kept
    frames, arrows, in_frame, in_arrow = [], [], [], []
    for _ in range(times):
        frames.clear(), arrows.clear()
        in_frame.append(milliseconds(lambda: frames.append(results.to_pandas())))
        in_arrow.append(milliseconds(lambda: arrows.append(results.to_arrow())))
    copied = copied_bytes(results, frames[0], arrows[0])
    line("DataFrame of results", rows=rows, milliseconds=in_frame, copied_bytes=copied[0])
    line("Arrow table of results", rows=rows, milliseconds=in_arrow, copied_bytes=copied[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--trades", type=int, default=1000)
    parser.add_argument("--paths", type=int, default=65536)
    parser.add_argument("--times", type=int, default=11)
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    beside = pathlib.Path(given.command).resolve().parent / "python"
    if (beside / "tilewalk").is_dir():
        sys.path.insert(0, str(beside))
        os.environ["PYTHONPATH"] = os.pathsep.join([str(beside), *filter(None, [os.environ.get("PYTHONPATH")])])
    missing = [name for name in ("tilewalk", "numpy") if importlib.util.find_spec(name) is None]
    if missing:
        line("command", skipped=f"{sys.executable} has no {' and no '.join(missing)}")
        return
    price_by_turns(given.command, given.trades, given.paths, given.times)
    missing = [name for name in ("pandas", "pyarrow") if importlib.util.find_spec(name) is None]
    if missing:
        line("DataFrame of results", skipped=f"{sys.executable} has no {' and no '.join(missing)}")
        return
    many_rows(given.rows, given.times)


if __name__ == "__main__":
    main()
