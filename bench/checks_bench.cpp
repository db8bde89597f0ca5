// SPDX-License-Identifier: Apache-2.0
// Benchmark: what it costs to check script operations that may leave their domain, such as sqrt, on one core.
#include <benchmark/benchmark.h>

#include <string>

#include "engine/plan/trade_program.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cpu/lane_program.h"
#include "engine/walk/cpu/tile_pool.h"
#include "tilewalk/tilewalk.h"

namespace {

using namespace tilewalk;

constexpr std::uint64_t paths = 1 << 16;

// Scripts with operations that stay in their domain on all paths, though the script does not prove it. The
// first script has one check a path, the others one on each date.
book scripts() {
    const auto product = [](const std::string& name, const std::string& body) {
        return "  - product: " + name +
               "\n    summary: A script.\n    parameters:\n      u: {type: asset, help: The asset.}\n"
               "      dates: {type: schedule, help: The dates.}\n"
               "    example: {u: A, dates: {start: 0, end: 1, count: 252}}\n    script: |\n" +
               body;
    };
    std::string text =
        "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n"
        "  assets: {A: {currency: USD, spot: 100, volatility: 0.2}}\nproducts:\n" +
        product("root_at_the_end",
                "      total = 0\n      on dates:\n          total = total + spot(u)\n"
                "      on last(dates):\n          pay min(sqrt(total - 1), 1000)\n") +
        product("root_on_each_date",
                "      total = 0\n      on dates:\n          total = total + min(sqrt(spot(u) - 1), 100)\n"
                "      on last(dates):\n          pay total\n") +
        product("logarithm_on_each_date",
                "      total = 0\n      on dates:\n          total = total + min(log(spot(u) - 1), 100)\n"
                "      on last(dates):\n          pay total\n") +
        product("quotient_on_each_date",
                "      total = 0\n      on dates:\n          total = total + min(100 / (spot(u) - 1), 100)\n"
                "      on last(dates):\n          pay total\n") +
        "trades:\n";
    for (const char* name :
         {"root_at_the_end", "root_on_each_date", "logarithm_on_each_date", "quotient_on_each_date"})
        text += "  - {id: " + std::string(name) + ", product: " + name +
                ", u: A, dates: {start: 0, end: 1, count: 252}}\n";
    return book::parse(text);
}

// Replaces each flaw (the node of a domain check) by its last operand, so that passes drop the check.
void without_checks(program::recorder::recorded& made, const std::vector<double>&) {
    for (program::section& s : made.code.sections)
        for (program::node& n : s.nodes)
            if (n.code == program::operation::flaw)
                n = {program::operation::select, {n.args[2], n.args[2], n.args[2]}, 0};
}

void walk(benchmark::State& state, std::size_t trade, program::precision in, bool checks) {
    static const book of = scripts();
    const plan::trade_program made = plan::plan_trade(state_of(of).trades.at(trade), state_of(*of.market()),
                                                      in, checks ? plan::amendment{} : without_checks);
    const cpu::lane_program code = cpu::compile(made.code);
    const std::vector<cpu::path_job> jobs{{&code, &made.data, &made.when, 1, paths, in}};
    const cpu::lane_operations& operations = *cpu::runnable_instruction_sets().sets.front();
    for (auto _ : state) {
        const auto found = cpu::walk_all(jobs, operations, 1, nullptr, {});
        benchmark::DoNotOptimize(found.front().whole().moments.mean);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(paths * made.when.steps()));
}

void register_all() {
    const book of = scripts();
    for (std::size_t t = 0; t < state_of(of).trades.size(); ++t) {
        for (const program::precision in :
             {program::precision::double_, program::precision::single, program::precision::mixed}) {
            for (const bool checks : {false, true}) {
                const std::string name = state_of(of).trades[t].id + "/" + std::string(program::name_of(in)) +
                                         (checks ? "/checked" : "/unchecked");
                benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
                    walk(state, t, in, checks);
                })->Unit(benchmark::kMillisecond);
            }
        }
    }
}

const bool registered = (register_all(), true);

}  // namespace
