// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "products/language/recording/values.h"

namespace tilewalk::language::recording {

struct run_dates {
    bool each_run = false;
    std::vector<dates::time_point> times;

    const dates::time_point& of(std::size_t run) const { return times[each_run ? run : 0]; }
};

class block_dates {
  public:
    block_dates(const block_at_hand& at, values& made) : at_(at), made_(made) {}

    run_dates dates_of(const expression& e) const;
    value years_of(const expression& e);
    // The years from as_of to `day`, a later date, for each run. `what` is the question, for a message.
    std::vector<double> years_ahead(const expression& day, place where, const std::string& what) const;
    value year_fraction(const expression& begin, const expression& end, const std::string& convention);
    // The day count in argument `i`, written in quotes or as a choice of the trade.
    std::string day_count_of(const expression& e, std::size_t i) const;

  private:
    dates::time_point previous(const expression& e, const occurrence& run) const;
    dates::time_point next(const expression& e, const occurrence& run) const;

    const block_at_hand& at_;
    values& made_;
};

}  // namespace tilewalk::language::recording
