# SPDX-License-Identifier: Apache-2.0
"""The common parts of the programs of this folder: the workloads, timing, and output.

A program prices the workloads of workloads.json with one library, each in float32 and float64, and prints
one JSON object a line: {"workload", "library", "style", "version", "device", "precision", "paths",
"steps", "price", "standard_error", "milliseconds"}; or, if it can't, {"workload", "library", "style",
"skipped"}. A workload with a "gradient" asks for a price and its derivatives, by name and how many numbers
it has. Its line also has "gradient" and "gradient_errors", by name the sum over the derivatives and its
standard error, and "peak_bytes", the peak device memory, if the library knows it."""
import argparse
import json
import math
import os
import statistics
import sys
import time

WARM_UPS = 2
FEWEST, MOST, SECONDS = 5, 21, 3.0  # samples of one time
PRECISIONS = ("float32", "float64")
GRADIENTS = 32  # for the mean and its error


def read_workloads(shrink=1):
    """The numbers of every workload, with derived ones; paths divided by `shrink`."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "workloads.json"), encoding="ascii") as file:
        all_of_them = json.load(file)
    for name, w in all_of_them.items():
        w["name"] = name
        w["paths"] = max(1024, w["paths"] // shrink)
        w["dt"] = w["years"] / w["steps"]
        w["discount"] = math.exp(-w["rate"] * w["years"])
        if "volatility" in w:
            w["drift"] = (w["rate"] - 0.5 * w["volatility"] ** 2) * w["dt"]
            w["step_volatility"] = w["volatility"] * math.sqrt(w["dt"])
    note = all_of_them["autocallable"]
    note["drifts"] = [(note["rate"] - 0.5 * v * v) * note["dt"] for v in note["volatilities"]]
    note["root"] = [[math.sqrt(note["dt"]) * v * x for x in row]
                    for v, row in zip(note["volatilities"], root_of(note["correlation"], len(note["volatilities"])))]
    times = [note["dt"] * (k + 1) for k in range(note["steps"])]
    note["payments"] = [note["notional"] * (1 + note["coupon_per_year"] * t) * math.exp(-note["rate"] * t)
                        for t in times]
    return all_of_them


def root_of(correlation, count):
    """The lower triangular root of a matrix with ones on the diagonal and one correlation elsewhere."""
    root = [[0.0] * count for _ in range(count)]
    for i in range(count):
        for j in range(i + 1):
            left = (1.0 if i == j else correlation) - sum(root[i][k] * root[j][k] for k in range(j))
            root[i][j] = math.sqrt(left) if i == j else left / root[j][j]
    return root


def milliseconds_of(run):
    """The median time of a call that returns when its numbers are there."""
    for _ in range(WARM_UPS):
        run()
    samples, begin = [], time.perf_counter()
    while len(samples) < FEWEST or (len(samples) < MOST and time.perf_counter() - begin < SECONDS):
        start = time.perf_counter()
        run()
        samples.append((time.perf_counter() - start) * 1e3)
    return statistics.median(samples)


def gradient_of(w, run):
    """The gradient's sums by name, and their standard errors, from independent runs."""
    sums = []
    for _ in range(GRADIENTS):
        left = list(run())[2:]
        if len(left) != sum(w["gradient"].values()):
            raise ValueError(f"the gradient has {len(left)} numbers, expected {sum(w['gradient'].values())}")
        one = {}
        for name, count in w["gradient"].items():
            one[name], left = math.fsum(left[:count]), left[count:]
        sums.append(one)
    means = {name: statistics.fmean(s[name] for s in sums) for name in w["gradient"]}
    errors = {name: statistics.stdev(s[name] for s in sums) / math.sqrt(GRADIENTS) for name in w["gradient"]}
    if not all(map(math.isfinite, [*means.values(), *errors.values()])):
        raise ArithmeticError(f"the gradient is {means} +- {errors}")
    return {"gradient": means, "gradient_errors": errors}


def only_rows_to_output():
    """Redirects the output of libraries to standard error; returns the stream for rows."""
    sys.stdout.flush()
    rows = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    return rows


def fitted_cubic(sums):
    """The coefficients of a cubic by least squares, from sums over points of x^0 to x^6, then of y x^0 to
    y x^3. Works on numbers or scalars of any library without looking at values, so that a device program
    may contain it."""
    unit, diagonal, b = [[None] * 4 for _ in range(4)], [], []
    for i in range(4):
        for j in range(i):
            left = sums[i + j] - sum([unit[i][k] * unit[j][k] * diagonal[k] for k in range(j)])
            unit[i][j] = left / diagonal[j]
        diagonal.append(sums[2 * i] + 1e-9 - sum([unit[i][k] * unit[i][k] * diagonal[k] for k in range(i)]))
        b.append(sums[7 + i] - sum([unit[i][k] * b[k] for k in range(i)]))
    out = [None] * 4
    for i in reversed(range(4)):
        out[i] = b[i] / diagonal[i] - sum([unit[k][i] * out[k] for k in range(i + 1, 4)])
    return out


def reason(e):
    text = str(e).strip().splitlines()
    return f"{type(e).__name__}: {text[0] if text else ''}"[:300]


def main(library, open_library, has_gradients=False):
    """Runs a library's program. `open_library(arguments)` imports the library and returns an object with
    `version`, `device`, and `pricers(precision)`: by (style, workload) a function of the workload's
    numbers that makes a function without arguments, which prices it and returns (price, standard error,
    derivatives...) as floats once the device is done. A library with gradients also has `start_peak()` and
    `peak_bytes()`, the peak since then, or None if unknown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--shrink", type=int, default=1, help="a part of the paths, to try the program")
    parser.add_argument("--cpu", action="store_true", help="run where there is no GPU, to try the program")
    parser.add_argument("--only", default="", help="the workloads to price, with commas between them")
    parser.add_argument("--chunk", type=int, default=0, help="steps at a time, where a program unrolls steps")
    parser.add_argument("--random", default="", help="another way to draw, where a program knows one")
    arguments = parser.parse_args()
    workloads = read_workloads(arguments.shrink)
    only = arguments.only.split(",") if arguments.only else list(workloads)
    workloads = {name: workloads[name] for name in only if has_gradients or "gradient" not in workloads[name]}
    rows = only_rows_to_output()

    def show(**line):
        print(json.dumps(line, allow_nan=False), file=rows, flush=True)

    try:
        opened = open_library(arguments)
    except Exception as e:  # a library that fails must not end the measurement of the others
        for name in workloads:
            show(workload=name, library=library, skipped=reason(e))
        return 0
    for precision in PRECISIONS:
        for (style, name), make in opened.pricers(precision).items():
            if name not in workloads:
                continue
            w = workloads[name]
            try:
                if "gradient" in w:
                    opened.start_peak()
                run = make(w)
                price, standard_error, *_ = run()
                if not (math.isfinite(price) and math.isfinite(standard_error)):
                    raise ArithmeticError(f"the price is {price} +- {standard_error}")
                more = {}
                if "gradient" in w:
                    more = gradient_of(w, run)
                    peak = opened.peak_bytes()
                    more |= {"peak_bytes": peak} if peak else {}
                show(workload=name, library=library, style=style, version=opened.version, device=opened.device,
                     precision=precision, paths=w["paths"], steps=w["steps"], price=price,
                     standard_error=standard_error, milliseconds=milliseconds_of(run), **more)
            except Exception as e:
                show(workload=name, library=library, style=style, precision=precision, skipped=reason(e))
    return 0


if __name__ == "__main__":
    sys.exit("a module of the programs beside it")
