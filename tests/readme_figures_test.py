# SPDX-License-Identifier: Apache-2.0
# docs/bench.md states speeds of models as two result files have them, the newest of an H200 and of an AMD EPYC.
import json
import os
import pathlib
import re
import sys

source = pathlib.Path(os.environ.get("TILEWALK_SOURCE_DIR", pathlib.Path(__file__).parent.parent))
PAGE = "docs/bench.md"
HEAD = ["row", "what it walks", "H200, `single_fast`", "H200, `single`", "H200, `double`", "processor, `double`"]


def speeds(pattern, device):
    """10^9 path-steps a second by model and precision, from the newest file."""
    file = max((source / "bench" / "results").glob(pattern))
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return {(r["axes"]["model"], r["axes"]["precision"]): r["figures"]["path_steps_per_second"] / 1e9
            for r in rows if r.get("axes", {}).get("device") == device and "path_steps_per_second" in r["figures"]}


def faults(text, gpu, cpu):
    """The faults of the table in this text."""
    table = None
    told = set()
    for number, line in enumerate(text.splitlines(), 1):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            table = None
        elif table is None:
            table = cells
        elif table == HEAD and (model := re.fullmatch(r"`(\w+)`", cells[0])):
            told.add(model[1])
            measured = [gpu.get((model[1], p), 0) for p in ("single_fast", "single", "double")] + [cpu.get((model[1], "double"), 0)]
            for head, cell, rate in zip(HEAD[2:], cells[2:], measured):
                if float(cell) != float(f"{rate:.3g}"):
                    yield f"{PAGE}:{number}: {model[1]}, {head}: found {cell}, expected {rate:.3g}"
    for model in sorted({m for m, _ in gpu} - told):
        yield f"{PAGE}: no row of {model}"


gpu, cpu = speeds("*-NVIDIA-H200-bench-models.jsonl", "gpu"), speeds("*-AMD-EPYC-bench-models.jsonl", "cpu")
text = (source / PAGE).read_text()
assert len(gpu) >= 20 and len(list(faults("", gpu, cpu))) == len({m for m, _ in gpu})
assert list(faults(text.replace("| 1050 |", "| 1051 |"), gpu, cpu)), "another figure was not noticed"
found = list(faults(text, gpu, cpu))
print("\n".join(found) or f"{len(gpu)} rates, 0 faults")
sys.exit(1 if found else 0)
