// SPDX-License-Identifier: Apache-2.0
// The forms in which gains in scenarios are written, and what they have in common.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tilewalk/scenarios.h"
#include "tilewalk/write.h"

namespace tilewalk::report {

void scenario_table(std::ostream& out, const scenario_results& r, const text_form& form);
void scenario_json(std::ostream& out, const scenario_results& r, const text_form& form);

// Messages by scenario and trade.
class messages_of_failures {
  public:
    explicit messages_of_failures(const scenario_results& r);
    // Empty where the trade is priced there.
    std::string_view of(std::size_t scenario, std::size_t trade) const;

  private:
    const scenario_results& r_;
    std::unordered_map<std::size_t, const failed_gain*> at_;
};

// The value of a trade in totals; none of one that failed.
double base_value(const price_row& row);
std::size_t parts_of(const price_row& row);
// A 95 % interval by Student's t, whose parts say how many degrees of freedom the error has; nothing where
// the paths show none.
std::optional<std::pair<double, double>> gain_interval(double gain, double error, std::size_t parts);

// The sets that have tails, in their order.
std::vector<std::string_view> likely_sets_of(const scenario_results& r);
// The portfolios of totals or risks that a report for one currency shows: those converted into it, or all
// where nothing is converted.
template <class Item>
std::vector<const Item*> shown_of(const std::vector<Item>& all) {
    std::vector<const Item*> converted, every;
    for (const Item& item : all) {
        every.push_back(&item);
        if (item.is_converted) converted.push_back(&item);
    }
    return converted.empty() ? every : converted;
}

}  // namespace tilewalk::report
