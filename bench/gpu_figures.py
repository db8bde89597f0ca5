#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of figures: the rates of the generated kernels and of the whole command, beside their targets.

    bench/gpu_figures.py --build build/gpu --output figures.json

Runs bench/gpu_baselines and bench/gpu_kernels of the build and `tilewalk price`, prints the table and writes all
measurements. Rates are compared with kernels of the same run, because the clocks of a shared machine vary.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def lines_of(program):
    """Returns a program's output, one JSON object a line, and its error messages."""
    done = subprocess.run([program], capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    wrong = done.stderr.strip().splitlines()
    if done.returncode != 0 and not wrong:
        wrong = [f"{os.path.basename(program)} ended with {done.returncode}"]
    return rows, wrong


def short(x):
    if x is None:
        return "-"
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if abs(x) >= size:
            return f"{x / size:.3g} {unit}"
    return f"{x:.3g}"


class table:
    def __init__(self):
        self.rows = []

    def add(self, what, target, got, met, note=""):
        """`met` is None if it could not be measured."""
        word = "not measured" if met is None else "met" if met else "MISSED"
        self.rows.append({"what": what, "target": target, "measured": got, "met": met, "note": note})
        print(f"{what:<58} | {target:<38} | {got:<24} | {word}{': ' + note if note else ''}", flush=True)

    def ratio(self, what, target, rate, against, least, name):
        """Reports whether `rate` is at least `least` times `against`."""
        if not rate or not against:
            self.add(what, target, "-", None)
            return
        self.add(what, target, f"{rate / against:.3g} x ({short(rate)})", rate >= least * against, name)


def best(rows):
    return max(rows, key=lambda r: r["rate"], default=None)


def described(row):
    if row is None:
        return ""
    text = row["feed"]
    if row["feed"] not in ("inline", "none"):
        text += f", distance {row['distance']}, {row['layout']}"
    return f"{text}, width {row['width']}, block {row['block']}, {row['registers']} registers"


def compare_inline(out, named, generated):
    rates = {"single_fast": ("1.0e12", 1.0e12, "asian_curand_single_fast"),
             "double": ("2.4e11", 2.4e11, "asian_curand_double"), "mixed": ("5.5e11", 5.5e11, None)}
    for precision, (text, target, curand) in rates.items():
        row = best([r for r in generated if r["generated"] == "asian" and r["feed"] == "inline"
                    and r["precision"] == precision])
        rate = row and row["rate"]
        out.add(f"arithmetic Asian, inline, {precision}", f"{text} path-steps/s", short(rate),
                None if rate is None else rate >= target, described(row))
        if curand:
            rival = best([r for name, r in named.items() if name.startswith(curand)])
            out.ratio(f"  the same over cuRAND's device API, {precision}", "1.5 x", rate, rival and rival["rate"], 1.5,
                      "")
    row = best([r for r in generated if r["generated"] == "autocallable" and r["precision"] == "single_fast"])
    rate = row and row["rate"]
    out.add("worst-of autocallable, 5 assets, single_fast", "1.5e11 path-steps/s", short(rate),
            None if rate is None else rate >= 1.5e11, described(row))
    for payoff, by_hand, precisions in (("asian", "asian_by_hand_", ("single_fast", "single", "mixed", "double")),
                                        ("autocallable", "autocallable_by_hand_daily_",
                                         ("single_fast", "single", "double"))):
        for precision in precisions:
            row = best([r for r in generated if r["generated"] == payoff and r["feed"] == "inline"
                        and r["precision"] == precision])
            rival = named.get(by_hand + precision)
            out.ratio(f"  {payoff}, {precision}: generated over written by hand", "0.90 x", row and row["rate"],
                      rival and rival["rate"], 0.9, described(row))


def compare_streamed(out, named, generated):
    copy = max((named[n]["rate"] for n in ("copy", "copy_by_driver") if n in named), default=None)

    def streamed(precision, warps, wanted=lambda row: True):
        rows = [r for r in generated if r["feed"] != "inline" and r["precision"] == precision and wanted(r)
                and (warps is None or r["warps_per_multiprocessor"] == warps)]
        return best(rows)

    def bytes_of(row):
        return row and row["bytes_per_second"]

    def is_ring(width, layout):
        return lambda row: row["feed"] == "smem_rolling_async" and row["layout"] == layout and row["width"] == width

    def is_none(row):
        return row["feed"] == "none" and row["width"] == 1

    for precision in ("single_fast", "double"):
        row = streamed(precision, None)
        out.ratio(f"streamed, best feed, {precision}, over the copy rate", "0.95 x", bytes_of(row), copy, 0.95,
                  described(row))
    ring = streamed("double", 16, lambda r: is_ring(1, "padded")(r) and r["distance"] == 8)
    out.ratio("streamed double, 16 warps, async ring of 8 over none", "2.3 x", ring and ring["rate"],
              (streamed("double", 16, is_none) or {}).get("rate"), 2.3, described(ring))
    by_hand = named.get("streamed_none_double_16_warps")
    out.ratio("  the same over none written by hand", "2.3 x", ring and ring["rate"], by_hand and by_hand["rate"], 2.3,
              "")
    ring = streamed("single_fast", 8, is_ring(4, "transposed"))
    out.ratio("streamed single, 8 warps, async ring, over the copy rate", "0.95 x", bytes_of(ring), copy, 0.95,
              described(ring))
    out.ratio("  the same over none", "10 x", ring and ring["rate"],
              (streamed("single_fast", 8, is_none) or {}).get("rate"), 10, "")
    row = streamed("double", 16)
    out.ratio("streamed double, 16 warps, best feed, over the copy rate", "0.75 x", bytes_of(row), copy, 0.75,
              described(row))


def check_prices(out, named, generated):
    """Checks that all kernels of one payoff give one price: a fast kernel of another payoff would prove
    nothing."""
    hand = {"asian": named.get("asian_by_hand_double"), "autocallable": named.get("autocallable_by_hand_daily_double")}
    apart = [r for r in generated if not hand[r["generated"]] or r["not_finite"] or
             abs(r["price"] - hand[r["generated"]]["price"]) >
             4.5 * math.hypot(r["standard_error"], hand[r["generated"]]["standard_error"])]
    out.add("prices of generated kernels, against written by hand", "all within 4.5 errors",
            f"{len(generated) - len(apart)} of {len(generated)}", bool(generated) and not apart,
            described(apart[0]) if apart else "")


def price(command, book, *options):
    """Returns the seconds of the whole command, and the results."""
    begin = time.perf_counter()
    done = subprocess.run([command, "price", book, "--format", "json", *options], capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode not in (0, 3) or not done.stdout:
        raise RuntimeError(done.stderr.strip()[-300:] or f"exit code {done.returncode}")
    return seconds, json.loads(done.stdout)


def price_on_gpu(command, book, *options):
    seconds, results = price(command, book, "--device", "0", *options)
    if not results["manifest"].get("devices"):
        raise RuntimeError("the GPU was not used")
    return seconds, results


def whole_command(out, command, folder):
    demo = os.path.join(ROOT, "configs/books/demo.yaml")
    paths = ("--paths", str(1 << 20), "--random", "philox", "--controls", "none")
    try:
        price_on_gpu(command, demo, "--paths", "1024")
        runs = [price_on_gpu(command, demo, *paths) for _ in range(5)]
        gpu = statistics.median(seconds for seconds, _ in runs)
        cpu, on_cpu = price(command, demo, "--device", "cpu", "--threads", "2", *paths)
        same = [(r["price"], r["standard_error"]) for r in runs[0][1]["rows"]] == [
            (r["price"], r["standard_error"]) for r in on_cpu["rows"]]
        out.add("demo book, 2^20 paths, double: GPU over 2 CPU cores", "100 x", f"{cpu / gpu:.3g} x ({gpu:.2f} s)",
                cpu >= 100 * gpu, "same bits" if same else "OTHER BITS")
    except RuntimeError as e:
        out.add("demo book, 2^20 paths, double: GPU over 2 CPU cores", "100 x", "-", None, str(e))
    book = os.path.join(folder, "mixed.yaml")
    subprocess.run([sys.executable, os.path.join(ROOT, "bench/make_book.py"), "--trades", "10000", "--output", book],
                   check=True)
    try:
        _, first = price_on_gpu(command, book, "--paths", "1")
        runs = [price_on_gpu(command, book) for _ in range(5)]
        seconds = statistics.median(s for s, _ in runs)
        m = runs[0][1]["manifest"]
        failed = sum(r["status"] != "priced" for r in runs[0][1]["rows"])
        out.add("10,000 mixed trades, double, 65,536 paths", "2 s", f"{seconds:.2f} s", seconds < 2 and failed == 0,
                f"plan {m['plan_seconds']:.2f} s, paths {m['path_seconds']:.2f} s, {m['path_steps']:.3g} path-steps, "
                f"{m['launches']} launches, {failed} failed")
        kernels = first["manifest"]["kernels_compiled"] + first["manifest"]["kernels_from_cache"]
        out.add("  kernels of it, with what fills and merges", "30", str(kernels), kernels <= 30)
        # The run with the least time on the device: pauses that other work of the machine causes are not gaps between launches.
        m = min((r["manifest"] for _, r in runs), key=lambda of: of["device_seconds"])
        busy, all_of_it = m["kernel_seconds"], m["device_seconds"]
        out.add("  gaps between its launches", "10 %", f"{100 * (1 - busy / all_of_it):.1f} %" if busy else "-",
                None if not busy else busy >= 0.9 * all_of_it,
                f"kernels {busy:.3g} s of {all_of_it:.3g} s; with packing and copies {m['path_seconds']:.3g} s" if busy else "")
    except (RuntimeError, KeyError, TypeError) as e:
        out.add("10,000 mixed trades, double, 65,536 paths", "2 s", "-", None, str(e))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/gpu")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    baselines, wrong = lines_of(os.path.join(args.build, "gpu_baselines"))
    generated, wrong_too = lines_of(os.path.join(args.build, "bench/gpu_kernels"))
    context = next((r["context"] for r in baselines if "context" in r), {})
    print(", ".join(f"{key} {value}" for key, value in context.items()))
    for line in (wrong + wrong_too)[:20]:
        print("wrong:", line)
    named = {r["name"]: r for r in baselines if "name" in r}
    for name in ("copy", "copy_by_driver", "read"):
        if name in named:
            print(f"{name}: {short(named[name]['rate'])}B/s")
    out = table()
    check_prices(out, named, generated)
    compare_inline(out, named, generated)
    compare_streamed(out, named, generated)
    with tempfile.TemporaryDirectory() as folder:
        whole_command(out, os.path.join(args.build, "tilewalk"), folder)
    met = [r["met"] for r in out.rows]
    print(f"{met.count(True)} met, {met.count(False)} missed, {met.count(None)} not measured")
    with open(args.output, "w", encoding="ascii") as file:
        json.dump({"context": context, "figures": out.rows, "baselines": [r for r in baselines if "name" in r],
                   "generated": generated, "wrong": wrong + wrong_too}, file, indent=1)
    return 0 if all(met) and not wrong and not wrong_too else 1


if __name__ == "__main__":
    sys.exit(main())
