#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Times value at risk by full revaluation: a made-up book in made-up days, from the command to the file.
#
#     bench/scenario_times.sh TILEWALK TRADES DAYS PATHS [OPTIONS of tilewalk scenarios]
#
# Tells the time of each stage, the whole time and the most memory that the process had.
set -eu
tilewalk=$1 trades=$2 days=$3 paths=$4
shift 4
here=$(cd "$(dirname "$0")/.." && pwd)
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
python3 "$here/bench/make_history.py" "$here/configs/markets/demo.yaml" --days $((days + 1)) --tilewalk "$tilewalk" \
    --output "$at/levels.csv"
echo "history: {levels: levels.csv}" > "$at/scenarios.yaml"
if [ -n "${BOOK:-}" ]; then
    cp "$BOOK" "$at/book.yaml"
else
    python3 "$here/bench/make_book.py" --trades "$trades" --output "$at/book.yaml"
fi
echo "$trades trades, $days scenarios, $paths paths; $*"
python3 - "$tilewalk" scenarios "$at/book.yaml" --market "$here/configs/markets/demo.yaml" --scenarios "$at/scenarios.yaml" \
    --paths "$paths" -o "$at/gains.csv" --timings "$@" <<'END'
import resource, subprocess, sys, time
begin = time.perf_counter()
code = subprocess.run(sys.argv[1:]).returncode
took = time.perf_counter() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{took:.2f} s from the command to the file, {used.ru_utime + used.ru_stime:.1f} s of processors, "
      f"{used.ru_maxrss / 2**20:.2f} GiB at most, exit code {code}")
sys.exit(code if code not in (0, 3) else 0)
END
