#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes every target for SECONDS, all at once: tests/fuzz/run.sh [SECONDS]. Seeds are the books, markets,
# quotes, scenarios and products that come with Tilewalk. Inputs that break a target stay in build/fuzz/found;
# run the target on such a file to reproduce the failure.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
build=build/fuzz
seeds=$build/seeds
found=$build/found

cmake --preset fuzz
cmake --build --preset fuzz -j "$(nproc)" --target fuzz_targets
rm -rf "$seeds"
mkdir -p "$found" "$seeds"/{book,market,portfolio,quotes,scenarios,script,table}
cp configs/books/*.yaml "$seeds/book"
cp configs/markets/*.yaml "$seeds/market"
cp configs/calibration/*.yaml "$seeds/quotes"
cp configs/scenarios/* "$seeds/scenarios"
printf '%s' '{"market": "m.yaml", "trades": [{"id": "a", "product": "asian", "underlying": "ACME", "strike": 1e2, ' \
    '"averaging_dates": [0.25, 0.5], "quantity": -2, "note": "\u00e9\ud83d\ude00"}, {"id": "b", "product": null}]}' \
    > "$seeds/book/trades.json"
# Makes a seed of each trade, because the whole portfolio is longer than a fuzzer's input.
awk -v folder="$seeds/portfolio" '/<Trade /{out = folder "/" ++n ".xml"; print "<Portfolio>" > out} out{print > out}
    /<\/Trade>/{print "</Portfolio>" > out; close(out); out = ""}' tests/data/ore/portfolio.xml
printf '%s\n' 'id,product,underlying,option,strike,maturity,averaging_dates,quantity,report' \
    'a,european,ACME,put,100,1.0,,-2,implied_volatility' '"b, c",asian,ACME,,100,,"{start: 0, end: 1, count: 4}",,' \
    'd,asian,ACME,,1e2,,0.25;0.5,,"{fair: strike, price: 1}"' > "$seeds/table/trades.csv"
for product in products/library/*.yaml configs/products/*.yaml; do
    name=$(basename "$product" .yaml)
    { echo "$name" && sed '1,/^script: |/d; s/^  //' "$product"; } > "$seeds/script/$name"
    { echo "trades:" && sed -n 's/^example: {\(.*\)}$/  - {id: a, product: '"$name"', \1}/p' "$product"; } > "$seeds/book/$name.yaml"
done

running=()
for target in book market portfolio quotes scenarios script table; do
    mkdir -p "$build/corpus/$target"
    "$build/tests/fuzz/${target}_fuzz" "$build/corpus/$target" "$seeds/$target" -max_total_time="$seconds" -timeout=60 -report_slow_units=60 \
        -rss_limit_mb=1024 -max_len=4096 -artifact_prefix="$found/$target-" -print_final_stats=1 -verbosity=0 \
        > "$build/$target.log" 2>&1 &
    running+=("$target:$!")
done
failed=0
for one in "${running[@]}"; do
    if wait "${one#*:}"; then
        echo "${one%%:*}: $(grep -h number_of_executed_units "$build/${one%%:*}.log")"
    else
        tail -n 60 "$build/${one%%:*}.log"
        failed=1
    fi
done
exit $failed
