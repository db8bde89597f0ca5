#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the benchmarks of a release build and keeps their output, with machine, date and commit, under bench/results.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1 | tr -cs 'A-Za-z0-9\n' '-' | sed 's/-*$//')
commit=$(git describe --always --dirty --abbrev=12)
for program in asian quantlib lane_operations; do
    [ -x "$build/bench/${program}_bench" ] || continue
    "$build/bench/${program}_bench" --benchmark_repetitions=5 --benchmark_report_aggregates_only=true \
        --benchmark_context=commit="$commit" --benchmark_context=cpu="$cpu" \
        --benchmark_out="bench/results/$(date -u +%F)-${cpu:-unknown}-$program.json" --benchmark_out_format=json
done
