// SPDX-License-Identifier: Apache-2.0
// Writers of gains in scenarios, one for each form of output, and the functions that they share.
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

class messages_of_failures {
  public:
    explicit messages_of_failures(const scenario_results& r);
    // The message of a trade that failed in the scenario; empty if it was priced.
    std::string_view message_of(std::size_t scenario, std::size_t trade) const;

  private:
    const scenario_results& r_;
    std::unordered_map<std::size_t, const failed_gain*> at_;
};

// A trade's value as it counts in totals; no_figure for a failed trade.
double base_value(const price_row& row);
std::size_t parts_of(const price_row& row);
// The 95 % interval by Student's t with `parts` - 1 degrees of freedom; empty if the error is unknown.
std::optional<std::pair<double, double>> gain_interval(double gain, double error, std::size_t parts);

std::vector<std::string_view> likely_sets_of(const scenario_results& r);
// The portfolios to show in a report in one currency: those converted to it, or all if nothing is converted.
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
