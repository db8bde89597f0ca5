set -u
export COMMIT=$1 TILEWALK_COMMIT=$1 BUILD=/tmp/b/gpu TILEWALK_CACHE_DIR=/tmp/b/cubins
mkdir -p /tmp/b/cubins; t0=$SECONDS
cmake -S . -B $BUILD -G Ninja -DCMAKE_BUILD_TYPE=Release -DTILEWALK_CUDA=ON > /dev/null
ninja -C $BUILD tilewalk_cli tilewalk_bench_cli gpu_kernels same_bits_gpu_test > /tmp/n.log 2>&1 || tail -20 /tmp/n.log; echo "build $((SECONDS-t0))"
tw=$BUILD/tilewalk
(timeout $((575-(SECONDS-t0))) $BUILD/tests/same_bits_gpu_test --gtest_filter='same_bits.the_whole_library:*on_gpu*:*every_model*' > $OUT/library.txt 2>&1; echo "library rc $?" >> $OUT/library.txt; tail -8 $OUT/library.txt | cut -c1-300) & lib=$!
cat > /tmp/new.yaml <<'Y'
market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {ACME: {currency: USD, spot: 100, volatility: 0.25}, BETA: {currency: USD, spot: 100, volatility: 0.3, dividend_model: spot, dividends: [{date: 2026-06-01, amount: 2}]}}}
trades:
  - {id: a, product: parisian, underlying: ACME, option: call, strike: 100, maturity: 1.0, direction: down, kind: knock_out, barrier: 90, window: 0.08}
  - {id: b, product: cumulative_parisian, underlying: ACME, option: call, strike: 100, maturity: 1.0, direction: down, kind: knock_out, barrier: 90, window: 0.25}
  - {id: c, product: step_option, underlying: ACME, option: call, strike: 100, maturity: 1.0, direction: down, barrier: 90, knock_out_rate: 4}
  - {id: d, product: corridor_accrual, underlying: ACME, lower: 90, upper: 110, coupon: 0.08, maturity: 1.0}
  - {id: e, product: continuous_asian, underlying: ACME, option: call, strike: 100, maturity: 1.0}
  - {id: f, product: continuous_asian, underlying: BETA, option: call, strike: 100, maturity: 1.0}
Y
$tw price /tmp/new.yaml --paths 2500 --device 0 --prefetch bulk_async --format csv > /tmp/new.csv 2>/tmp/new.err; tail -2 /tmp/new.err
(compute-sanitizer --tool racecheck --racecheck-report all --error-exitcode 9 --print-limit 40 $tw price /tmp/new.yaml --paths 2500 --device 0 --prefetch bulk_async --format csv > $OUT/racecheck.txt 2>&1; echo "racecheck $?")
left() { echo $((580-(SECONDS-t0))); }
: > $OUT/steps.jsonl
one() { local model=$1; shift; s=$SECONDS; timeout $(left) $tw bench steps $model "$@" --format json > /tmp/steps.$model 2>/tmp/steps.$model.err; echo "steps $model $? $((SECONDS-s)) s $(grep -c axes /tmp/steps.$model)"; tail -1 /tmp/steps.$model.err | cut -c1-200; cat /tmp/steps.$model >> $OUT/steps.jsonl; }
for m in merton kou cgmy forward_market local_volatility rough_bergomi; do one $m; done
one sabr --paths 33554432
one stochastic_local_volatility
tail --pid=$lib -f /dev/null
echo "all $((SECONDS-t0))"
