// SPDX-License-Identifier: Apache-2.0
// The sections of a page of results, one function for each. A section with nothing to report is empty.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/page.h"

namespace tilewalk::page {

class page_content {
  public:
    const results& r;
    const beside_results& beside;
    std::vector<currency_total> totals;
    // Indices of priced trades with an error beyond rounding, from the largest share_of_error to the
    // smallest.
    std::vector<std::size_t> by_error;

    page_content(const results& of, const beside_results& with);
    // The trade's error as a fraction of the error of its currency's total. If the total has no error, the
    // root of the trades' summed squared errors takes its place. no_figure if the trade has no error.
    double share_of_error(const price_row& row) const;

  private:
    std::vector<double> errors_;  // by total: its error
};

struct section {
    std::string_view id, title;
    std::string (*markup)(const page_content& of);
};
// All sections in the order of the page.
std::span<const section> sections();

std::string totals_section(const page_content& of);
std::string to_look_at_section(const page_content& of);
std::string largest_errors_section(const page_content& of);
std::string trades_section(const page_content& of);
std::string sensitivities_section(const page_content& of);
std::string scenarios_section(const page_content& of);
std::string tails_section(const page_content& of);
std::string convergence_section(const page_content& of);
std::string time_section(const page_content& of);
std::string origin_section(const page_content& of);
std::string command_section(const page_content& of);

std::string name_cell(std::string_view name);  // a line may break after each semicolon

}  // namespace tilewalk::page
