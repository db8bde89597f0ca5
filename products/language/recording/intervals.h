// SPDX-License-Identifier: Apache-2.0
// Functions of an asset's path inside an interval: touches, extremes, means, and times beyond a level.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "products/language/recording/market_at_hand.h"

namespace tilewalk::language::recording {

class intervals {
  public:
    intervals(const block_at_hand& at, values& made, market_at_hand& market)
        : at_(at), made_(made), market_(market) {}

    // The answer of an interval function for these levels; in the past, by the fixing at the interval's end.
    value value_of(function asked, const std::string& asset, const std::vector<value>& levels);

  private:
    struct question {
        function asked;
        const std::string& asset;
        const std::vector<value>& levels;
        bridge path;
    };
    // Distances of the two ends of the path from a level, positive while it is not reached.
    struct distances {
        value start, end;
    };

    value in_the_past(function asked, value level, const std::vector<value>& levels);
    value to_come(const question& q);
    value touched(const question& q);
    value extreme(const question& q);
    value mean_spot(const question& q);
    value mean_log_spot(const question& q);
    value variance_of_mean(const question& q);
    value time_beyond(const question& q);
    value variance_of_time_beyond(const question& q);
    value drawn_time_beyond(const question& q);
    value touches(const question& q);
    value time_of_touch(const question& q);

    distances from_above(const question& q, value level);
    distances from_below(const question& q, value level);
    value normal_between(const std::string& asset);
    value uniform_between(const std::string& asset);
    value part_length();
    value sum_over_parts(const question& q, value in_part);
    value mean_over_parts(const question& q, value mean);
    value mean_price(const question& q, const bridge& path);
    void tell_of_touch(function asked, const std::string& asset, value seen,
                       const std::vector<value>& levels) const;

    const block_at_hand& at_;
    values& made_;
    market_at_hand& market_;
    // Answers by function, asset and levels, so that a sample requested twice in a block is the same.
    std::map<std::tuple<function, std::string, std::vector<std::uint32_t>>, value> known_;
    // First touches, by direction (true: from above), asset and level.
    std::map<std::tuple<bool, std::string, std::uint32_t>, value> first_touches_;
};

}  // namespace tilewalk::language::recording
