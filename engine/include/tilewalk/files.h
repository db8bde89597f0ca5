// SPDX-License-Identifier: Apache-2.0
// Files for risk systems, made from differences and scenarios.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>

namespace tilewalk {

struct difference_results;
class market;
struct scenario_results;

struct difference_report {
    std::string_view file;     // "npv.csv"
    std::string_view meaning;  // a sentence for the help
    void (*write)(std::ostream& out, const difference_results& r);
    bool is_of_values = false;  // true: results of valued() are enough to write it
    bool is_of_simm = false;    // true: the market must have a section `simm:`
};
std::span<const difference_report> difference_reports();
std::span<const difference_report> value_reports();
bool has_simm(const market& in);

struct scenario_report {
    std::string_view file;     // "var.csv"
    std::string_view meaning;  // a sentence for docs/scenarios.md
    void (*write)(std::ostream& out, const scenario_results& r);
};
std::span<const scenario_report> scenario_reports();

}  // namespace tilewalk
