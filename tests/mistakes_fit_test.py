# SPDX-License-Identifier: Apache-2.0
# Every row of tests/mistakes/ fits the source in exactly one place and names existing tests, so that a change of a quoted line is noticed
# before the nightly run.
import subprocess
import sys

import mistake_tables

faults = []
names = set()
count = 0
for table in mistake_tables.tables:
    try:
        rows = mistake_tables.rows_of(table)
    except mistake_tables.Fault as fault:
        faults.append(f"{table.name}: {fault}")
        continue
    for row in rows:
        count += 1
        name = row.get("name", "a row without a name")
        try:
            mistake = mistake_tables.Mistake(row)
            if name in names:
                raise mistake_tables.Fault("another row has this name")
            names.add(name)
            mistake.texts()
            for test in mistake.fails:
                mistake_tables.program_of(test)
        except mistake_tables.Fault as fault:
            faults.append(f"{table.name}: {name}: {fault}")
# Mistakes listed in tests/mistakes/accepted must fit the sources as well.
drawn = subprocess.run([sys.executable, "-B", mistake_tables.source / "tests" / "drawn_mistakes.py", "all", "--list", "--count", "0"],
                       capture_output=True, text=True, check=True)
faults += [line for line in drawn.stdout.split("\n") if line]
print(*faults, f"{count} mistakes, {len(faults)} faults", sep="\n")
sys.exit(1 if faults or not count else 0)
