// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "products/language/recording/checks.h"
#include "products/language/recording/frames.h"
#include "products/language/recording/interest_rates.h"
#include "products/language/recording/intervals.h"

namespace tilewalk::language::recording {

class expressions {
  public:
    expressions(const block_at_hand& at, values& made, checks& checked, frames& variables, block_dates& days,
                market_at_hand& market)
        : at_(at),
          made_(made),
          checks_(checked),
          variables_(variables),
          days_(days),
          market_(market),
          rates_(at, made, days, market),
          intervals_(at, made, market) {}

    // Records the expression. Checks operations that may leave their domain; flaws go into the frame.
    value evaluate(const expression& e, frame& f);
    // Like evaluate(), but also checks for an overflow that the script would hide later.
    value number(const expression& e, frame& f);

    // Calls `with` for each asset of a list, as the asset of the innermost loop.
    void for_each_asset(std::size_t list, const std::function<void()>& with);
    const compared_assets& compared() const { return compared_; }
    // The current position of the loop's asset `index` in the loop's list, from 0.
    std::size_t element_at(const expression& index) const { return loops_[index.slot].element; }

  private:
    struct asset_of_loop {
        std::size_t element = 0;
        const std::string* name = nullptr;
    };
    // Opens a loop for its lifetime, so that an exception closes it too.
    class open_loop {
      public:
        explicit open_loop(std::vector<asset_of_loop>& loops) : loops_(loops) { loops_.emplace_back(); }
        ~open_loop() { loops_.pop_back(); }
        open_loop(const open_loop&) = delete;
        open_loop& operator=(const open_loop&) = delete;

      private:
        std::vector<asset_of_loop>& loops_;
    };

    value unchecked(const expression& e, frame& f);
    value name(const expression& e, frame& f);
    value parameter_of(const expression& e);
    value element(const expression& e, frame& f);
    value binary(const expression& e, frame& f);
    value call(const expression& e, frame& f);
    value arithmetic(const expression& e, frame& f);
    value aggregate(const expression& e, frame& f);
    value nth(const expression& rank, std::vector<value> each);
    void keep_compared(const expression& e, const std::vector<value>& each);

    value schedule_size(std::size_t parameter);
    value forward(const expression& e);
    value option_value(const expression& e, frame& f);
    value interval(const expression& e, frame& f);
    double fixed_number(const expression& e) const;
    const std::string& asset_of(const expression& e) const;

    const block_at_hand& at_;
    values& made_;
    checks& checks_;
    frames& variables_;
    block_dates& days_;
    market_at_hand& market_;
    interest_rates rates_;
    intervals intervals_;
    std::vector<asset_of_loop> loops_;
    compared_assets compared_;
};

}  // namespace tilewalk::language::recording
