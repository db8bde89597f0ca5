#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times a study of a made-up book on the host, from the command to the file, of one command or two side by side.

    bench/host_times.py build/release/tilewalk
    bench/host_times.py build/before/tilewalk build/release/tilewalk --times 15 -- --paths 64 --controls none
    bench/host_times.py build/before/tilewalk build/release/tilewalk --study greeks --library -- --paths 4096

Words after -- are options of the study. The commands take turns, so that a busy machine is busy for both, and the
median of each figure is told: seconds to the file and of the processors, those that the manifest states, and the stages of a
command that has --timings. Two commands have to write the same table but for intervals; the median of their ratios is told, too."""
import argparse
import csv
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time


def run(command, study, options, output):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    done = subprocess.run([command, study, *options, "--output", output], text=True, stderr=subprocess.PIPE)
    seconds = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 3):
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr[-4000:]}")
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"to the file": 1000 * seconds, "of processors": 1000 * busy}, done.stderr


def stages_in(table):
    """Milliseconds by stage, from the table that --timings prints."""
    rows = re.findall(r"^(\S.*?) {2,}([0-9.]+)(?: |$)", table, re.M)
    return {name: float(taken) for name, taken in rows}


def figures_of(file):
    with open(file, newline="", encoding="utf-8") as opened:
        return [{name: cell for name, cell in row.items() if name not in ("low", "high")} for row in csv.DictReader(opened)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="+")
    parser.add_argument("--study", choices=("price", "greeks", "scenarios"), default="price")
    parser.add_argument("--library", action="store_true", help="trades of all products of the library")
    parser.add_argument("--trades", type=int, default=10000)
    parser.add_argument("--times", type=int, default=9)
    given = sys.argv[1:]
    at = given.index("--") if "--" in given else len(given)
    arguments, options = parser.parse_args(given[:at]), given[at + 1:]
    figures = {command: {} for command in arguments.commands}
    with tempfile.TemporaryDirectory() as folder:
        book = os.path.join(folder, "book.yaml")
        maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "make_book.py")
        kinds = ["--library", "--command", arguments.commands[0]] if arguments.library else []
        subprocess.run([sys.executable, maker, *kinds, "--trades", str(arguments.trades), "--output", book], check=True)
        study = arguments.study
        written = []
        for command in arguments.commands:
            file = os.path.join(folder, "out.csv")
            run(command, study, [book, *options], file)
            written.append(figures_of(file))
        if any(figures != written[0] for figures in written):
            sys.exit("the commands write other figures")
        for _ in range(arguments.times):
            for command in arguments.commands:
                has_stages = "--timings" in subprocess.run([command, study, "--help"], text=True, capture_output=True).stdout
                file = os.path.join(folder, "out.json")
                found, said = run(command, study, [book, *options, *(["--timings"] if has_stages else [])], file)
                with open(file, encoding="utf-8") as opened:
                    manifest = json.load(opened)["manifest"]
                for name, key in (("before paths", "plan_seconds"), ("paths", "path_seconds")):
                    if key in manifest:
                        found["manifest: " + name] = 1000 * manifest[key]
                if has_stages:
                    found.update({"stage: " + name: taken for name, taken in stages_in(said).items()})
                for name, taken in found.items():
                    figures[command].setdefault(name, []).append(taken)
    names = list(dict.fromkeys(name for of in figures.values() for name in of))
    print(f"{arguments.trades} trades, {' '.join(options)}; medians of {arguments.times} runs in turns, ms")
    for name in names:
        medians = [statistics.median(of[name]) if name in of else None for of in figures.values()]
        if all(m is None or m < 0.05 for m in medians):
            continue
        line = f"{name:<28}" + "".join(f"{'' if m is None else format(m, '.1f'):>10}" for m in medians)
        if len(medians) == 2 and None not in medians:
            ratios = [a / b for a, b in zip(*(of[name] for of in figures.values())) if b > 0]
            line += f"{statistics.median(ratios):>8.3f} times" if ratios else ""
        print(line)


if __name__ == "__main__":
    main()
