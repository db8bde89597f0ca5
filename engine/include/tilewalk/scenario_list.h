// SPDX-License-Identifier: Apache-2.0
// Scenarios to value: markets by their differences from a base market.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/load_options.h"
#include "tilewalk/manifest.h"
#include "tilewalk/market.h"

namespace tilewalk {

struct scenario {
    std::string set;   // "stress", "ladder", "history" or another
    std::string name;  // unique in its set
    std::vector<market_change> changes{};
    int days = 0;  // passing days
    // Days between which the market moved like this, in ISO form; may be empty.
    std::string first_day{}, last_day{};
};

struct scenario_list {
    std::vector<scenario> scenarios;
    // Sets of equally likely scenarios; only these have tail figures.
    std::vector<std::string> likely_sets{};
    std::vector<double> levels{0.01, 0.025, 0.05};  // tail probabilities
    // Currency for converted gains; empty: none.
    std::string currency{};
    bool explains = false;  // explain gains by sensitivities
    // True if gains will be added and subtracted, as in second-order differences: scenarios without a passing
    // day then keep the paths of small moves, and results hold the gains of each part.
    bool for_differences = false;
    std::vector<input_file> inputs{};    // files that were read
    std::vector<std::string> remarks{};  // a sentence each

    // Reads YAML or CSV; relative moves start from `base`. Throws tilewalk::error (input) for an unknown key.
    static scenario_list load(const std::filesystem::path& file, const market& base,
                              const load_options& options = {});
    static scenario_list parse(std::string_view yaml, const std::string& name, const market& base,
                               const std::filesystem::path& folder = {}, const load_options& options = {});
};

}  // namespace tilewalk
