// SPDX-License-Identifier: Apache-2.0
// Pricing: plan every trade, walk on GPUs, walk the rest on the CPU, take shadows, make rows.
#include "engine/verbs/price.h"

#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "engine/arrays/shock_cube.h"
#include "engine/arrays/shock_file.h"
#include "engine/cpu/tile_pool.h"
#include "engine/verbs/answers.h"
#include "engine/verbs/manifest.h"
#include "engine/verbs/rows.h"

namespace tilewalk {

namespace {

using namespace verbs;
using seconds = std::chrono::duration<double>;
using clock = std::chrono::steady_clock;

const market& market_of(const book& trades) {
    if (!trades.market()) {
        throw error(error_kind::usage, "the book names no market; write market: in the book or give one",
                    {trades.state().name, 0, 0});
    }
    return *trades.market();
}

std::vector<planned> plan_all(const std::vector<books::trade>& trades, const markets::market_state& in,
                              const settled& run, const run_options& options, const planner& by,
                              missing_pairs& missing, const teller& tells) {
    std::vector<planned> plans(trades.size());
    shape_store shapes;
    cpu::for_each(
        plans.size(), run.threads, options.cancel,
        [&](int, std::uint64_t i) {
            plans[i] = plan_one(trades[i], in, run, shapes, missing, options.cancel, by);
        },
        [&] { tells.tell(); });
    return plans;
}

void add_rows(const std::vector<books::trade>& trades, const std::vector<planned>& plans,
              std::vector<std::optional<walked_trade>> walked, std::uint64_t paths, priced_book& into) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
        into.moments.push_back(walked[i] ? walked[i]->result.moments : kernels::moments{});
        if (plans[i].needs_paths()) into.told.manifest.part_paths = walked[i]->part_paths;
        into.told.rows.push_back(row_of(trades[i], plans[i], walked[i], paths));
    }
}

}  // namespace

results engine::price(const book& trades, const run_options& options) const {
    return price(trades, market_of(trades), options);
}

results engine::price(const book& trades, const market& in, const run_options& options) const {
    const auto begin = clock::now();
    results r = price_book(settings_, *gpus_, trades, in, options).told;
    const books::book_state& state = trades.state();
    run_options quietly = options;
    quietly.on_progress = {};
    answers::add(r.rows, state.trades, in.state(), [&](const std::vector<books::trade>& changed) {
        auto asked = std::make_shared<books::book_state>();
        asked->name = state.name;
        asked->settings = state.settings;
        asked->trades = changed;
        results got = price_book(settings_, *gpus_, book::of(std::move(asked)), in, quietly).told;
        r.manifest.path_steps += got.manifest.path_steps;
        r.manifest.plan_seconds += got.manifest.plan_seconds;
        r.manifest.path_seconds += got.manifest.path_seconds;
        return got;
    });
    r.manifest.total_seconds = seconds(clock::now() - begin).count();
    return r;
}

priced_book price_book(const engine_settings& settings, cuda::backend& all_gpus, const book& trades,
                       const market& in, const run_options& options, const stages& by) {
    const auto begin = clock::now();
    const auto& state = trades.state();
    const auto& operations = operations_named(settings.instruction_set);
    const settled run = settle(options, trades.settings());
    const std::optional<arrays::shock_file> file = replayed_in(run);
    priced_book made;
    run_manifest& told = made.told.manifest;
    told.started = utc_now();
    teller tells(options);
    tells.now.trades = state.trades.size();

    // A GPU takes a moment to open, which planning needs not wait for.
    auto choosing = std::async(std::launch::async, [&] { return all_gpus.choose(run.device); });
    missing_pairs missing;
    std::vector<planned> plans = plan_all(state.trades, in.state(), run, options, by.plan, missing, tells);
    const cuda::backend::choice gpus = choosing.get();
    // Hashes of large files are made beside the walk.
    auto hashing = std::async(std::launch::async, [&in] {
        for (const markets::scenario_array& a : in.state().scenarios) a.hash.wait();
    });
    told.lost_devices = gpus.lost;
    const auto planned_at = clock::now();

    const std::vector<arrays::shock_cube> scenarios = in.state().scenario_cubes();
    run::walk all;
    all.seed = run.seed;
    all.paths = run.paths;
    all.replay = file ? &*file : nullptr;
    all.scenarios = scenarios;
    all.cancel = options.cancel;
    book_walk walk(plans, run, all, tells);
    walk.on_gpus(all_gpus, gpus, told);
    walk.on_cpu(operations, by.on_cpu);
    walk.take_shadows(operations);
    const auto walked_at = clock::now();

    add_rows(state.trades, plans, walk.take_walked(), run.paths, made);
    describe_run(run, operations.name, state, in, told);
    told.market_changes = in.changes();
    told.missing_correlations = missing.all();
    told.path_steps = tells.now.path_steps;
    told.plan_seconds = seconds(planned_at - begin).count();
    told.path_seconds = seconds(walked_at - planned_at).count();
    told.total_seconds = seconds(clock::now() - begin).count();
    return made;
}

}  // namespace tilewalk
