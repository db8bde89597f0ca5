#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a machine with a GPU: builds what runs there, runs it plain and under compute-sanitizer, and writes what came out,
# with device, date and commit, to the folder named (bench/results if none is).
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-bench/results}
commit=${2:-$(git describe --always --dirty --abbrev=12 2> /dev/null || echo unknown)}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
# Contraction off on both sides: a fused multiply-add happens where the source says fma and nowhere else.
nvcc -std=c++20 -O3 -arch=native --fmad=false --expt-relaxed-constexpr -I . \
    -Xcompiler -O2,-march=x86-64-v3,-ffp-contract=off tests/device/kernel_bits.cu -o "$build/kernel_bits"
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | tr -cs 'A-Za-z0-9\n' '-')
file=$out/$(date -u +%F)-$gpu-kernel-bits.txt
{
    echo "date: $(date -u +%F), commit: $commit"
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    status=0
    "$build/kernel_bits" || status=$?
    compute-sanitizer --tool memcheck --error-exitcode 9 "$build/kernel_bits" > "$build/memcheck.log" 2>&1 || status=$?
    tail -n 1 "$build/memcheck.log"
    echo "exit code: $status"
} | tee "$file"
grep -qx 'exit code: 0' "$file"
