// SPDX-License-Identifier: Apache-2.0
// Functions that add a command to the parser, with its options and examples.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

namespace tilewalk::cli {

struct command {
    CLI::App* app;
    std::function<int()> run;  // returns the exit code
    // The program with the command, such as "tilewalk-bench"; empty if it is in this program.
    std::string program{};
};
using adds_command = command (*)(CLI::App&);

command add_price(CLI::App& to);
command add_greeks(CLI::App& to);
command add_scenarios(CLI::App& to);
command add_plan(CLI::App& to);
command add_run(CLI::App& to);
command add_merge(CLI::App& to);
command add_validate(CLI::App& to);
command add_explain(CLI::App& to);
command add_warm(CLI::App& to);
command add_products(CLI::App& to);
command add_diff(CLI::App& to);
command add_devices(CLI::App& to);
command add_bench(CLI::App& to);
command add_tune(CLI::App& to);
command add_verify(CLI::App& to);
command add_calibrate(CLI::App& to);
command add_market(CLI::App& to);
command add_import(CLI::App& to);
// Keeps a reference to `all`, which must have all commands by the time the command runs.
command add_completion(CLI::App& to, const std::vector<command>& all);
std::string market_keys_text();

// Summaries of programs that are built apart; tilewalk's own help shows the same text.
inline constexpr const char* bench_summary = "Measure a GPU: feeds, memory, reductions, generators";
inline constexpr const char* verify_summary = "Verify prices of random trades against known values";
command add_bench_program(CLI::App& to);
command add_verify_program(CLI::App& to);

}  // namespace tilewalk::cli
