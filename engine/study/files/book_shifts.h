// SPDX-License-Identifier: Apache-2.0
// The scenarios of differences: each number that trades depend on and ORE has a factor for goes up and down;
// and a day passes.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "engine/decide/inner_options.h"
#include "engine/reading/book_state.h"
#include "engine/study/files/ore_factors.h"
#include "tilewalk/differences.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::studies {

struct difference_request {
    const book& trades;
    const market& in;
    const difference_options& wanted;
    const inner_options& options;
    std::optional<simm_data> simm;

    const std::string& id(std::size_t trade) const { return state_of(trades).trades[trade].id; }
    // Returns the currency whose price the asset is in SIMM; empty for an equity or an unknown name.
    std::string currency_priced_by(std::string_view asset) const {
        if (!simm) return {};
        const auto found = simm->names.find(asset);
        return found == simm->names.end() ? "" : found->second.fx;
    }
};

// By trade: keys of the market's numbers that it depends on.
using keys_by_trade = std::vector<std::set<std::string>>;

// A number of the market, and the places of the scenarios that move it up and down.
struct number_shift {
    const market_number* number = nullptr;
    report::ore_kind kind{};
    double size = 0;
    std::size_t up = 0, down = 0;
};

// Two numbers, by place, and the place of the scenario that moves both up.
struct cross_shift {
    std::size_t first = 0, second = 0, both = 0;
};

class book_shifts {
  public:
    book_shifts() = default;
    // `told` must outlive this, which points into its numbers.
    book_shifts(const difference_request& of, const difference_results& told, const keys_by_trade& keys);
    // Returns the place of a scenario with these changes. Adds it if there is none yet.
    std::size_t add(std::vector<market_change> changes, int days = 0);

    scenario_list asked;
    std::vector<number_shift> numbers;                 // in the order of the market's file
    std::vector<std::vector<std::size_t>> numbers_of;  // by trade: places of the numbers it depends on
    std::vector<const market_number*> left_out;        // trades depend on them, ORE has no factor
    std::vector<cross_shift> crosses;
    std::size_t day = 0;
    double size_of_day = 0;

  private:
    std::map<std::pair<int, std::vector<std::tuple<std::string, double, bool>>>, std::size_t> known_;
};

}  // namespace tilewalk::studies
