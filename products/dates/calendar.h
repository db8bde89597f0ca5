// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <optional>
#include <string_view>
#include <vector>

#include "products/dates/date.h"

namespace tilewalk::dates {

class calendar {
  public:
    calendar() = default;
    // Business days are all days but those of `weekend` (bit 0 is Monday) and `holidays`. Throws
    // tilewalk::error (input) if all seven days are weekend.
    calendar(std::bitset<7> weekend, std::vector<date> holidays);
    static calendar weekends();

    bool is_business_day(date d) const;
    bool is_every_day() const { return weekend_.none() && holidays_.empty(); }
    calendar joined_with(const calendar& other) const;

  private:
    std::bitset<7> weekend_;
    std::vector<date> holidays_;  // sorted, without duplicates
};

enum class roll { unadjusted, following, modified_following, preceding, modified_preceding };
std::optional<roll> parse_roll(std::string_view name);

date next_business_day(date d, const calendar& days);
date adjust(date d, const calendar& days, roll rule);

}  // namespace tilewalk::dates
