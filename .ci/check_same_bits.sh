#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prices the books of configs/ with two builds, the one named and one by clang with the lane loops at -O1 and all else not
# optimised, and wants the same bits: check_same_bits.sh build/release/tilewalk
set -euo pipefail
cd "$(dirname "$0")/.."

ours=${1:?usage: check_same_bits.sh COMMAND}
if ! command -v clang++ > /dev/null; then
    echo "SKIPPED: clang++ is not installed"
    exit 0
fi
build=build/same_bits
log=$(mktemp)
scratch=$(mktemp -d)
trap 'rm -rf "$log" "$scratch"' EXIT
if ! { cmake -S . -B $build -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 \
        -DTILEWALK_KERNEL_OPTIMISATION=-O1 -DTILEWALK_TESTS=OFF -DTILEWALK_BENCH=OFF -DTILEWALK_CUDA=OFF -DTILEWALK_BY_FOLDER=ON &&
        cmake --build $build -j "$(nproc)" --target tilewalk_cli; } > "$log" 2>&1; then
    cat "$log"
    exit 1
fi

# All of a result but what is allowed to differ: the manifest says who computed it, and how long it took.
cat > "$scratch/rows.py" <<'PYTHON'
import json, sys
rows = [json.load(open(name))["rows"] for name in sys.argv[1:]]
priced = sum(row["status"] == "priced" for row in rows[0])
different = [(a, b) for a, b in zip(*rows) if a != b]
for a, b in different:
    print("different bits:", a, b, sep="\n  ")
print(f"{priced} priced trades, {len(different)} different")
sys.exit(1 if different or len(rows[0]) != len(rows[1]) or not priced else 0)
PYTHON
status=0
for book in configs/books/*.yaml; do
    for command in "$ours" $build/tilewalk; do
        code=0
        "$command" price "$book" --format json --output "$scratch/$(dirname "$command" | tr / _).json" || code=$?
        [ $code -eq 0 ] || [ $code -eq 3 ] || { echo "$command price $book: exit code $code"; exit 1; }
    done
    printf '%s: ' "$book"
    python3 "$scratch/rows.py" "$scratch"/*.json || status=1
done
exit $status
