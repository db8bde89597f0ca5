// SPDX-License-Identifier: Apache-2.0
#include "products/dates/calendar.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tilewalk/error.h"

namespace tilewalk::dates {

namespace {

constexpr std::array<std::pair<std::string_view, roll>, 5> roll_names{
    {{"unadjusted", roll::unadjusted},
     {"following", roll::following},
     {"modified_following", roll::modified_following},
     {"preceding", roll::preceding},
     {"modified_preceding", roll::modified_preceding}}};

date nearest_business_day(date d, const calendar& days, int direction) {
    do d.serial += direction;
    while (!days.is_business_day(d));
    return d;
}

}  // namespace

calendar::calendar(std::bitset<7> weekend, std::vector<date> holidays)
    : weekend_(weekend), holidays_(std::move(holidays)) {
    if (weekend_.all()) {
        throw error(error_kind::input,
                    "found a weekend of all seven days, expected at least one business day a week");
    }
    std::ranges::sort(holidays_);
    holidays_.erase(std::unique(holidays_.begin(), holidays_.end()), holidays_.end());
}

calendar calendar::weekends() {
    return {std::bitset<7>(0b1100000), {}};
}

bool calendar::is_business_day(date d) const {
    return !weekend_[static_cast<std::size_t>(weekday(d))] && !std::ranges::binary_search(holidays_, d);
}

calendar calendar::joined_with(const calendar& other) const {
    std::vector<date> all = holidays_;
    all.insert(all.end(), other.holidays_.begin(), other.holidays_.end());
    return {weekend_ | other.weekend_, std::move(all)};
}

std::optional<roll> parse_roll(std::string_view name) {
    for (const auto& [known, rule] : roll_names) {
        if (name == known) return rule;
    }
    return std::nullopt;
}

date next_business_day(date d, const calendar& days) {
    return nearest_business_day(d, days, 1);
}

date adjust(date d, const calendar& days, roll rule) {
    if (rule == roll::unadjusted || days.is_business_day(d)) return d;
    const bool is_forward = rule == roll::following || rule == roll::modified_following;
    const date found = nearest_business_day(d, days, is_forward ? 1 : -1);
    const bool stays_in_month = rule == roll::modified_following || rule == roll::modified_preceding;
    if (!stays_in_month || civil(found).month == civil(d).month) return found;
    return nearest_business_day(d, days, is_forward ? -1 : 1);
}

}  // namespace tilewalk::dates
