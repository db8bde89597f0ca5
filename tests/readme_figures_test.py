# SPDX-License-Identifier: Apache-2.0
# The speeds of the README's tables of models are those of one file of results, the newest of an H100.
import json
import os
import pathlib
import re
import sys

source = pathlib.Path(os.environ.get("TILEWALK_SOURCE_DIR", pathlib.Path(__file__).parent.parent))
file = max((source / "bench" / "results").glob("*-NVIDIA-H100-*-bench-models.jsonl"))
speeds = {}
for line in file.read_text().splitlines():
    row = json.loads(line)
    axes = row.get("axes", {})
    if axes.get("device") == "gpu":
        speeds[axes["model"], axes["precision"]] = row["figures"]["path_steps_per_second"]

rows = faults = 0
table = None
for number, line in enumerate((source / "README.md").read_text().splitlines(), 1):
    cells = [c.strip() for c in line.strip("|").split("|")]
    if not line.startswith("|"):
        table = None
    elif table is None:
        table = cells
    elif table[-1] == "H100" and (model := re.fullmatch(r"`(\w+)`", cells[0])):
        rows += 1
        for told, precision in zip(cells[-1].split(" / "), ("single_fast", "double")):
            measured = speeds.get((model[1], precision), 0) / 1e9
            if abs(float(told) - measured) > max(0.5, 0.005 * measured):  # whole numbers of three digits
                faults += 1
                print(f"README.md:{number}: {model[1]} in {precision}: found {told}, expected {measured} of {file.name}")
print(f"{rows} models, {faults} faults")
sys.exit(1 if faults or rows < 10 else 0)
