// SPDX-License-Identifier: Apache-2.0
// Scenarios that are asked for: markets by their differences from a base market.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/load_options.h"
#include "tilewalk/manifest.h"
#include "tilewalk/market.h"

namespace tilewalk {

// A market by its differences from a base market.
struct scenario {
    std::string set;   // that it belongs to, such as "stress", "ladder" and "history"
    std::string name;  // no other scenario of the set has it
    std::vector<market_change> changes{};
    int days = 0;  // that pass
    // The days between which the market moved so, in ISO form; empty where there are none.
    std::string first_day{}, last_day{};
};

// Scenarios in order, and what is to be told of them.
struct scenario_list {
    std::vector<scenario> scenarios;
    // Sets whose scenarios are equally likely, so that their gains have a tail.
    std::vector<std::string> likely_sets{};
    std::vector<double> levels{0.01, 0.025, 0.05};  // parts of a likely set that are its tail
    // All gains are converted into this currency, too; empty: each stays in its own.
    std::string currency{};
    bool explains = false;  // gains by sensitivities
    // Gains are added to and subtracted from one another, as for differences of the second order: scenarios
    // keep the paths of small moves where no day passes, and the results hold the gains of parts.
    bool for_differences = false;
    std::vector<input_file> inputs{};    // files that it was read from
    std::vector<std::string> remarks{};  // on what was read, a sentence each

    // A file of scenarios, in YAML or CSV, whose relative moves count from `base`. Throws tilewalk::error
    // (input) for a key that the market does not have, naming the nearest.
    static scenario_list load(const std::filesystem::path& file, const market& base,
                              const load_options& options = {});
    // The same from text; files that it names are looked for in `folder`.
    static scenario_list parse(std::string_view yaml, const std::string& name, const market& base,
                               const std::filesystem::path& folder = {}, const load_options& options = {});
};

}  // namespace tilewalk
