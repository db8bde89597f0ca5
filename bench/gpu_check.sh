#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The check of the CUDA back end on a machine with a GPU: builds, tests, sanitizes, measures, and counts the sectors that
# accesses to memory move, in ten minutes; and, asked for by name, the suites of `tilewalk bench` and the check that it
# notices slower kernels.
#
#     bench/gpu_check.sh                      the five parts
#     bench/gpu_check.sh build measure        some of them
#     bench/gpu_check.sh suites regression    the others
#
# OUT is the folder for results (bench/results if unset), with device and date in the names of the files; COMMIT
# the commit if there is no git history; BUILD the build folder. CMake's own variables, such as CMAKE_PREFIX_PATH, hold.
# A part that fails does not stop the next; the exit code says if one did.
set -uo pipefail
cd "$(dirname "$0")/.."

out=${OUT:-bench/results}
build=${BUILD:-build/gpu}
export COMMIT=${COMMIT:-$(git describe --always --dirty --abbrev=12 2> /dev/null || echo unknown)}
export TILEWALK_CACHE_DIR=${TILEWALK_CACHE_DIR:-$PWD/$build/cubins}
mkdir -p "$out" "$build" "$TILEWALK_CACHE_DIR"

device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | tr -cs 'A-Za-z0-9\n' '-')
name=$(date -u +%F)-${device:-no-GPU}
tilewalk=$build/tilewalk
feeds=(inline none unroll register_batched register_rolling smem_batched smem_rolling smem_rolling_async l2_prefetch
    l2_hint bulk_async)

# Contraction is off for both of our compilers: a fused multiply-add happens where the source says fma and nowhere else.
ours=(-std=c++20 -O3 -arch=native --fmad=false --expt-relaxed-constexpr -I .
    -Xcompiler "-O2,-march=x86-64-v3,-ffp-contract=off")

head_of_file() {
    echo "date: $(date -u +%F), commit: $COMMIT"
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader
}

part_build() (
    set -e
    nvcc "${ours[@]}" -c bench/gpu_baselines.cu -o "$build/gpu_baselines.o" &
    baselines=$!
    nvcc -std=c++20 -O3 -arch=native --use_fast_math -I . -c bench/gpu_baselines_curand.cu -o "$build/curand.o"
    wait "$baselines"
    nvcc -arch=native "$build/gpu_baselines.o" "$build/curand.o" -o "$build/gpu_baselines"
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTILEWALK_CUDA=ON
    ninja -C "$build" test_programs gpu_kernels correlation_gpu_bench
)

part_test() (
    export TILEWALK_REQUIRE_GPU=1
    status=0
    TILEWALK_SINGLY=1 ctest --test-dir "$build" --verbose --no-tests=error -j 4 -L '^gpu$' > "$build/ctest.log" 2>&1 || status=$?
    {
        head_of_file
        grep -E '^[0-9]+: .*(combinations|compared|different$|moves compared)|tests passed' "$build/ctest.log" | sed 's/^[0-9]*: //'
    } > "$out/$name-same-bits.txt"
    grep -E 'Failure$|expected|what\(\)|\*\*\*' "$build/ctest.log" | sed -n 1,40p
    sed -n '3,$p' "$out/$name-same-bits.txt"
    [ "$status" -eq 0 ]
)

# Runs every tool of compute-sanitizer on a small run with every feed. Kernels are compiled beforehand.
part_sanitize() (
    logs=$(mktemp -d)
    trap 'rm -rf "$logs"' EXIT
    python3 bench/make_book.py --trades 24 --seed 7 --paths 2500 --output "$logs/book.yaml"
    for feed in "${feeds[@]}"; do
        "$tilewalk" price "$logs/book.yaml" --device 0 --prefetch "$feed" --format csv \
            > "$logs/$feed.csv" 2> "$logs/$feed.err" &
    done
    wait
    sanitize() {
        local tool=$1 feed=$2 status=0
        compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 5 \
            "$tilewalk" price "$logs/book.yaml" --device 0 --prefetch "$feed" --format csv \
            > "$logs/$tool.$feed" 2>&1 || status=$?
        echo "$tool $feed: exit code $status, $(grep -hE 'ERROR SUMMARY|RACECHECK SUMMARY' "$logs/$tool.$feed" |
            tail -n 1 | sed 's/^=* *//')" > "$logs/line.$tool.$feed"
        [ "$status" -eq 0 ] || grep -h '=========' "$logs/$tool.$feed" | head -n 12 >> "$logs/line.$tool.$feed"
        # racecheck takes bulk copies for writes of the thread that starts them and does not see the barriers that end
        # them, so it reports each copy as a race with the next one to the same place. Only pairs of two writes are
        # accepted here; tests/kernels/feeds_test.cpp shows on a model that each copy was waited for.
        if [ "$tool $feed" = "racecheck bulk_async" ] && [ "$status" -eq 9 ] &&
            ! grep -qE 'Race reported between Read|and Read access|Warning' "$logs/$tool.$feed" &&
            grep -q 'Race reported between Write access at walk' "$logs/$tool.$feed"; then
            sed -i '1s/$/; writes of bulk copies alone, which it can not order/' "$logs/line.$tool.$feed"
        fi
    }
    export -f sanitize
    export logs tilewalk
    for tool in memcheck racecheck initcheck synccheck; do
        for feed in "${feeds[@]}"; do echo "$tool $feed"; done
    done | xargs -P 8 -L 1 bash -c 'sanitize "$0" "$1"'
    {
        head_of_file
        cat "$logs"/line.*
    } > "$out/$name-sanitizers.txt"
    local good='exit code 0, .*SUMMARY: 0|bulk copies alone' clean
    clean=$(grep -cE "$good" "$out/$name-sanitizers.txt")
    echo "$clean of $((4 * ${#feeds[@]})) runs clean"
    grep -vE 'exit code 0, .*SUMMARY: 0' "$out/$name-sanitizers.txt" | sed -n '3,40p'
    [ "$clean" -eq $((4 * ${#feeds[@]})) ]
)

part_measure() (
    set -e
    python3 bench/gpu_figures.py --build "$build" --output "$out/$name-gpu-figures.json" > "$out/$name-gpu-figures.txt" ||
        status=$?
    cat "$out/$name-gpu-figures.txt"
    # Measures from how many assets on it is faster to correlate ahead of the paths, and which kernel does so fastest.
    {
        head_of_file
        "$(find "$build" -name correlation_gpu_bench -type f)" \
            --benchmark_filter='basket/.*/(in_kernel|ahead)/assets:(16|24|32|40|48|64)/' 2> /dev/null
    } > "$out/$name-correlation.txt" || status=$?
    exit "${status:-0}"
)

# Profiles one walk with each feed. Counts the 32-byte sectors that a request for global memory moves, and the sectors
# it would move if accesses were ideal. Counts also what decides whether prefetching pays: the share of the memory's
# bandwidth in use, and how many warps wait for a load whenever one issues an instruction.
part_access() (
    set -e
    printf '%s\n' 'market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {A: {currency: USD, spot: 100,' \
        '  volatility: 0.2}}}' 'trades:' '  - {id: asian, product: asian, underlying: A, strike: 100,' \
        '     averaging_dates: {start: 0, end: 1, count: 252}}' > "$build/access.yaml"
    metrics=l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio,memory_l2_theoretical_sectors_global
    metrics+=,memory_l2_theoretical_sectors_global_ideal,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
    metrics+=,dram__bytes_read.sum.pct_of_peak_sustained_elapsed
    metrics+=,smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio
    {
        head_of_file
        for feed in "${feeds[@]}"; do
            echo "$feed:"
            ncu --metrics "$metrics" --kernel-name walk --launch-count 1 "$tilewalk" price "$build/access.yaml" --device 0 \
                --paths 131072 --random philox --controls none --prefetch "$feed" --format csv 2>&1 |
                sed -nE 's/^ *((l1tex|memory|dram|smsp)[a-z0-9_.]+) +[a-z%]* +([0-9.,]+)$/    \1 \3/p; /ERROR/p'
        done
    } > "$out/$name-access.txt"
    sed -n '3,$p' "$out/$name-access.txt"
    # Fails if a request moves more sectors than the ideal.
    awk '/_global /{all = $2} /_global_ideal /{if ($2 != all) exit 1; n++} END {exit n > 0 ? 0 : 1}' "$out/$name-access.txt"
)

# Runs all suites of `tilewalk bench`, saves their rows, and draws the charts of the first suite, prefetch.
part_suites() (
    export TILEWALK_COMMIT=$COMMIT
    status=0
    one() {
        local file="$out/$name-bench-$1.jsonl"
        shift
        "$tilewalk" bench "$@" --output "$file" || status=$?
        echo "$*: $(grep -c '"axes"' "$file") rows, $(grep -c '"wrong"' "$file") wrong, $(grep -c '"skipped"' "$file") skipped"
    }
    mkdir -p "$out/figures"
    one prefetch prefetch asian --figures "$out/figures" --report "$build/prefetch.html"
    one prefetch-single prefetch asian --precision single_fast --distances 4,8,12 --figures "$out/figures"
    one prefetch-heavy prefetch heston_step --distances 4,8
    one prefetch-five prefetch autocallable --distances 2,4 --paths 131072
    for suite in l2_hint tiles memory reductions random peers auto models convergence; do one "$suite" "$suite"; done
    exit "$status"
)

# Five equal runs must raise no alarm; a feed that a forged baseline claims was 10 % faster must raise one.
part_regression() (
    sweep=(prefetch asian --distances 4,8 --occupancy 32,16 --format json)
    "$tilewalk" bench "${sweep[@]}" --save "$build/baseline.jsonl" > /dev/null
    python3 - "$build/baseline.jsonl" "$build/planted.jsonl" << 'END'
import json, sys
with open(sys.argv[1]) as rows, open(sys.argv[2], "w") as planted:
    for line in map(json.loads, rows):
        figures = line.get("figures", {})
        if line.get("axes", {}).get("feed") == "smem_rolling_async" and "ratio" in figures:
            figures["milliseconds"] *= 0.9
            figures["ratio"] /= 0.9
        planted.write(json.dumps(line, separators=(",", ":")) + "\n")
END
    status=0
    {
        head_of_file
        for run in 1 2 3 4 5; do
            "$tilewalk" bench "${sweep[@]}" --against "$build/baseline.jsonl" 2>&1 > /dev/null | sed -n 1,12p
            code=${PIPESTATUS[0]}
            echo "the same again, run $run: exit code $code"
            [ "$code" -eq 0 ] || status=1
        done
        "$tilewalk" bench "${sweep[@]}" --against "$build/planted.jsonl" 2>&1 > /dev/null | sed -n 1,40p
        code=${PIPESTATUS[0]}
        echo "against a baseline in which smem_rolling_async took 10 % less: exit code $code"
        [ "$code" -eq 4 ] || status=1
    } > "$out/$name-regression.txt"
    cat "$out/$name-regression.txt"
    exit "$status"
)

failed=()
summary=""
for part in "${@:-build test sanitize measure access}"; do
    for one in $part; do
        case $one in
            build | test | sanitize | measure | access | suites | regression) ;;
            *)
                echo "usage: $0 [build] [test] [sanitize] [measure] [access] [suites] [regression]; found '$one'" >&2
                exit 2
                ;;
        esac
        begin=$SECONDS
        if "part_$one" > "$build/$one.log" 2>&1; then
            word="well"
        else
            word="FAILED"
            failed+=("$one")
        fi
        summary+="$one: $word, $((SECONDS - begin)) s"$'\n'
        # Prints the end of each part's log: 60 lines if the part failed, 40 of the measurements, 6 of others.
        tail -n "$([ "$word" = well ] && { [ "$one" = measure ] && echo 40 || echo 6; } || echo 60)" "$build/$one.log"
    done
done
printf '%s' "$summary"
[ ${#failed[@]} -eq 0 ]
