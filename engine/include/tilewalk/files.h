// SPDX-License-Identifier: Apache-2.0
// Files that risk systems read, written from differences and from scenarios.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>

namespace tilewalk {

struct difference_results;
class market;
struct scenario_results;

// A file that a risk system reads, or that holds more than it reads.
struct difference_report {
    std::string_view file;     // its name, such as "npv.csv"
    std::string_view meaning;  // a sentence for the page of help
    void (*write)(std::ostream& out, const difference_results& r);
    bool is_of_values = false;  // true: valued() has all that it tells
    bool is_of_simm = false;    // true: of a market that has `simm:` alone
};
// The files of values come first.
std::span<const difference_report> difference_reports();
// The files of values alone.
std::span<const difference_report> value_reports();
// Whether a market has what files of SIMM tell.
bool has_simm(const market& in);

// A file that a risk system reads, or that holds more than it reads.
struct scenario_report {
    std::string_view file;     // its name, such as "var.csv"
    std::string_view meaning;  // a sentence for docs/scenarios.md
    void (*write)(std::ostream& out, const scenario_results& r);
};
std::span<const scenario_report> scenario_reports();

}  // namespace tilewalk
