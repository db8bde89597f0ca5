#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands plan, run and merge as schedulers use them: exit codes, the variables with the shard number,
signals, and workers of which one dies."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

COMMAND = os.environ["TILEWALK_CLI"]
SOURCE = pathlib.Path(os.environ["TILEWALK_SOURCE_DIR"])
BOOK = SOURCE / "configs/books/demo.yaml"
SETTINGS = ["--paths", "16384", "--threads", "2"]
# Seconds after which a run counts as hanging: longer than a sound one takes even under a sanitizer.
PATIENCE = 600


def run(*arguments, **variables):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "OMPI", "PMIX", "TILEWALK_SHARD"))}
    return subprocess.run([COMMAND, *map(str, arguments)], env=clean | variables, capture_output=True, text=True,
                          timeout=PATIENCE)


def expect(got, code, *texts):
    if got.returncode != code or any(t not in got.stderr for t in texts):
        sys.exit(f"FAILED: {got.args[1:]}: exit code {got.returncode}, expected {code} and {texts}\n{got.stderr}")


def check_exit_codes(folder):
    whole = folder / "whole.csv"
    expect(run("price", BOOK, *SETTINGS, "-o", whole), 0)
    plan = folder / "plan"
    expect(run("plan", BOOK, *SETTINGS, "--shards", 3, "-o", plan), 0, "3 shards", "tilewalk run", "tilewalk merge")
    out = folder / "out.csv"
    expect(run("merge", plan, "-o", out), 75, "3 of 3 shards are missing: 1-3;")
    expect(run("run", plan, "--shard", "2/3"), 0, "shard 2 of 3 is done")
    expect(run("merge", plan, "-o", out), 75, "2 of 3 shards are missing: 1, 3")
    assert not out.exists()
    expect(run("run", plan, "--shard", "2/3"), 0, "was done already")
    for shard, why in (("4/3", "shard 4"), ("0/3", "shard 0"), ("1/4", "4 shards"), ("x", "'x'"), ("1", "'1'")):
        expect(run("run", plan, "--shard", shard), 2, "--shard", why)
    expect(run("run", plan, "--shard", "1/3", "--stage", "trainin"), 2, "did you mean 'training'")
    expect(run("run", plan), 2, "--shard")
    expect(run("run", folder / "none", "--shard", "1/3"), 2, "no plan of shards")
    expect(run("plan", BOOK, "--shards", 2, "-o", folder / "t", "--budget", "1s"), 2, "a budget", "the clock")
    expect(run("plan", BOOK, "--shards", 2, "-o", folder / "t", "--tolerance", "1bp", "--budget", "1s"), 2)
    expect(run("plan", BOOK, "--shards", 2, "-o", plan), 2, "another request")
    damaged = plan / "shard-2-of-3.kept"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    expect(run("merge", plan, "-o", out), 75, "missing: 1-3; damaged among them: 2;")
    expect(run("run", plan, "--shard", "2/3"), 0, "was damaged; its work was done again")
    for shard in ("1/3", "3/3"):
        # The plan of the shards fixes paths and seed, so these variables must change nothing.
        expect(run("run", plan, "--shard", shard, TILEWALK_PATHS="1", TILEWALK_SEED="9"), 0)
    expect(run("merge", plan, "-o", out, "--totals", folder / "totals.csv"), 0)
    assert out.read_bytes() == whole.read_bytes(), "other bytes than one process"
    assert (folder / "totals.csv").exists()


def check_failed_trades(folder):
    book = folder / "failing.yaml"
    book.write_text("market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {A: {currency: USD, spot: 100, "
                    "volatility: 0.2}}}\ntrades:\n"
                    "  - {id: call, product: european, underlying: A, strike: 100, maturity: 1}\n"
                    "  - {id: wrong, product: europaean}\n")
    plan = folder / "failing"
    expect(run("plan", book, *SETTINGS, "--shards", 2, "-o", plan), 0)
    for shard in ("1/2", "2/2"):
        expect(run("run", plan, "--shard", shard), 0)
    expect(run("merge", plan, "-o", folder / "failing.csv"), 3, "trade wrong")


def check_variables(folder):
    plan = folder / "variables"
    expect(run("plan", BOOK, *SETTINGS, "--shards", 4, "-o", plan), 0)
    auto = ("run", plan, "--shard", "auto")
    expect(run(*auto), 2, "none of the variables", "SLURM_ARRAY_TASK_ID", "HQ_TASK_ID")
    slurm = {"SLURM_ARRAY_TASK_ID": "12", "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_COUNT": "4"}
    table = [
        (3, slurm),
        (3, slurm | {"OMPI_COMM_WORLD_RANK": "0", "SLURM_PROCID": "0"}),
        (1, slurm | {"TILEWALK_SHARD": "1/4"}),
        (2, {"SLURM_ARRAY_TASK_ID": "2"}),
        (3, {"SLURM_ARRAY_TASK_ID": "14", "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_STEP": "2"}),
        (2, {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}),
        (4, {"PMIX_RANK": "3"}),
        (2, {"SLURM_PROCID": "1", "SLURM_NTASKS": "4"}),
        (3, {"JOB_COMPLETION_INDEX": "2"}),
        (1, {"AWS_BATCH_JOB_ARRAY_INDEX": "0"}),
        (4, {"BATCH_TASK_INDEX": "3", "BATCH_TASK_COUNT": "4"}),
        (4, {"LSB_JOBINDEX": "4"}),
        (2, {"LSB_JOBINDEX": "0", "PARALLEL_SEQ": "2"}),
        (2, {"SGE_TASK_ID": "2", "SGE_TASK_FIRST": "1", "SGE_TASK_LAST": "4", "SGE_TASK_STEPSIZE": "1"}),
        (3, {"SGE_TASK_ID": "undefined", "PARALLEL_SEQ": "3"}),
        (1, {"PARALLEL_SEQ": "1"}),
        (4, {"HQ_TASK_ID": "3"}),
    ]
    for number, variables in table:
        expect(run(*auto, **variables), 0, f"shard {number} of 4")
    wrong = [
        slurm | {"SLURM_ARRAY_TASK_COUNT": "2"},
        {"SLURM_ARRAY_TASK_ID": "9", "SLURM_ARRAY_TASK_MIN": "10"},
        {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "8"},
        {"JOB_COMPLETION_INDEX": "4"},
        {"TILEWALK_SHARD": "5/4"},
        {"TILEWALK_SHARD": "1/3"},
        {"SGE_TASK_ID": "2", "SGE_TASK_FIRST": "1", "SGE_TASK_LAST": "9", "SGE_TASK_STEPSIZE": "1"},
    ]
    for variables in wrong:
        expect(run(*auto, **variables), 2)


def check_files_and_metrics(folder):
    one, parts, workers = folder / "one", folder / "parts", folder / "workers"
    expect(run("price", BOOK, *SETTINGS, "-o", folder / "one.csv", "--files", one), 0)
    plan = folder / "plan"
    expect(run("plan", BOOK, *SETTINGS, "--shards", 3, "-o", plan), 0)
    told = {}
    for shard in ("1/3", "2/3", "3/3", "3/3"):  # the last one is done already
        metrics = folder / f"{shard[0]}.prom"
        expect(run("run", plan, "--shard", shard, "--metrics", metrics), 0)
        text = metrics.read_text()
        labels = f'{{command="run",book="{BOOK}",shard="{shard}",stage="pricing"'
        for line in ('tilewalk_last_success_timestamp_seconds%s} ', 'tilewalk_duration_seconds%s} ',
                     'tilewalk_trades%s,status="failed"} 0', 'tilewalk_gpus_lost%s} 0', 'tilewalk_paths%s} 16384'):
            assert f"\n{line % labels}" in text, f"{line % labels} is not in\n{text}"
        assert ("phase=" in text) == (shard not in told), "phases are of the process that did the shard"
        success = [line.split()[-1] for line in text.splitlines() if line.startswith("tilewalk_last_success")]
        assert told.setdefault(shard, success) == success, "the time at which it was done"
    before = metrics.read_bytes()
    (plan / "shard-3-of-3.json").unlink()
    expect(run("run", plan, "--shard", "3/3", "--metrics", metrics), 0, "kept no metrics: none are written")
    expect(run("run", plan, "--shard", "9/3", "--metrics", metrics), 2)
    assert metrics.read_bytes() == before
    expect(run("run", plan, "--shard", "1/3", "--metrics", BOOK), 2, "--metrics")
    expect(run("run", plan, "--shard", "1/3", "--report", folder / "page.html"), 2, "--report")
    expect(run("merge", plan, "-o", folder / "merged.csv", "--files", parts), 0)
    expect(run("price", BOOK, *SETTINGS, "--workers", 2, "-o", folder / "w.csv", "--files", workers), 0)
    assert sorted(f.name for f in one.iterdir()) == ["npv.csv"]
    for other in (parts, workers):
        assert {f.name: f.read_bytes() for f in other.iterdir()} == {f.name: f.read_bytes() for f in one.iterdir()}, other
    expect(run("price", BOOK, *SETTINGS, "--workers", 2, "-o", folder / "w.csv", "--files", folder / "w.csv"), 2, "--files")
    greeks = folder / "greeks"
    expect(run("plan", BOOK, *SETTINGS, "--shards", 1, "-o", greeks, "--greeks", "delta"), 0)
    expect(run("merge", greeks, "-o", folder / "g.csv", "--files", folder / "g"), 2, "plan with --with-differences")
    assert not (folder / "g").exists()


def check_signals(folder):
    plan = folder / "signals"
    whole = folder / "signals.csv"
    # Enough paths that a signal does not arrive in the last block, when the shard would still finish.
    settings = ["--paths", "8M", "--controls", "none", "--threads", "2"]
    expect(run("price", BOOK, *settings, "-o", whole), 0)
    expect(run("plan", BOOK, *settings, "--shards", 1, "-o", plan), 0)
    local = ("run", plan, "--shard", "1/1", "--threads", "1", "--journal", folder / "local")
    journal = folder / "local/shard-1-of-1.journal"
    for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        process = subprocess.Popen([COMMAND, *local], stderr=subprocess.PIPE, text=True)
        begin, before = time.monotonic(), len(list(journal.glob("*.kept")))
        while len(list(journal.glob("*.kept"))) <= before and process.poll() is None and time.monotonic() < begin + PATIENCE:
            time.sleep(0.01)
        assert process.poll() is None, f"the shard was done before it could be stopped: {process.stderr.read()}"
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == code, f"{number}: exit code {process.returncode}: {errors}"
        assert "run the same command again to resume" in errors, errors
    for block in sorted(journal.glob("*.kept"))[1:]:
        block.unlink()
    expect(run(*local), 0, "resumed from 1 block of an earlier attempt")
    expect(run("merge", plan, "-o", folder / "merged.csv"), 0)
    assert (folder / "merged.csv").read_bytes() == whole.read_bytes(), "other bytes after signals"


def children_of(parent):
    out = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(") ", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            out.append(int(entry.name))
    return out


def check_workers(folder):
    whole = folder / "workers_whole.csv"
    expect(run("price", BOOK, *SETTINGS, "-o", whole), 0)
    out = folder / "workers.csv"
    expect(run("price", BOOK, *SETTINGS, "--workers", 3, "-o", out), 0)
    assert out.read_bytes() == whole.read_bytes(), "workers: other bytes"
    expect(run("price", BOOK, *SETTINGS, "--workers", 2, "-o", folder), 2, "it is a folder")
    # One journal serves several requests, and the second run, equal to the first, reuses its work.
    journal = folder / "journal"
    for settings in (SETTINGS, SETTINGS, [*SETTINGS, "--seed", "7"]):
        expect(run("price", BOOK, *settings, "--workers", 2, "--journal", journal, "-o", out), 0)
        expect(run("price", BOOK, *settings, "-o", whole), 0)
        assert out.read_bytes() == whole.read_bytes(), "workers with a journal: other bytes"
    to_a_tolerance = ["--tolerance", "0.5bp", "--controls", "none", "--trade", "asian_eur", "--trade", "digital"]
    expect(run("price", BOOK, *to_a_tolerance, "-o", whole), 0)
    expect(run("price", BOOK, *to_a_tolerance, "--workers", 2, "-o", out), 0)
    assert out.read_bytes() == whole.read_bytes(), "workers to a tolerance: other bytes"
    settings = ["--paths", "4M", "--controls", "none", "--threads", "2"]
    expect(run("price", BOOK, *settings, "-o", whole), 0)
    for kills, code, words in ((1, 0, "and is replaced"), (10**9, 75, "for the third time")):
        process = subprocess.Popen([COMMAND, "price", BOOK, *settings, "--workers", "1", "-o", out],
                                   stderr=subprocess.PIPE, text=True)
        begin, killed = time.monotonic(), 0
        while process.poll() is None and killed < kills and time.monotonic() < begin + PATIENCE:
            for child in children_of(process.pid):
                os.kill(child, signal.SIGKILL)
                killed += 1
            time.sleep(0.002)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == code and words in errors, f"{kills}: {process.returncode}: {errors}"
        if code == 0:
            assert out.read_bytes() == whole.read_bytes(), "a worker that was replaced: other bytes"


def main():
    for check in (check_exit_codes, check_failed_trades, check_variables, check_files_and_metrics, check_signals,
                  check_workers):
        with tempfile.TemporaryDirectory() as name:
            begin = time.monotonic()
            check(pathlib.Path(name))
            print(f"{check.__name__}: passed in {time.monotonic() - begin:.1f} s")


main()
