// SPDX-License-Identifier: Apache-2.0
// The states of a path in its world: coordinates of factors, copies from before a step, and numbers that
// follow (growth of numeraires, martingales, levels).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/models/world/members.h"
#include "engine/models/world/open_section.h"
#include "products/language/payoff.h"
#include "products/program/recorder.h"

namespace tilewalk::models {

class path_states {
  public:
    path_states(const members& of, const open_section& in) : of_(of), in_(in) {}

    void begin();

    // Coordinate of a factor now: at() as carried, grown() with the growth of numeraires.
    program::value at(const factor& f) const { return in_.into().read(kept_[f.number].now); }
    program::value grown(const factor& f, program::value x) const;
    // Y of the currency's numeraire (rates.h).
    program::value growth(const moving_rates& r) const;

    // The martingale of a factor; risen() multiplies it by the growth of numeraires.
    program::value martingale(const factor& f) const;
    program::value risen(const factor& f) const;
    program::value level(const factor& f) const;
    // Value of future cash dividends at an end of the interval; if `inside`, before a dividend at its end.
    program::value shift(const factor& f, language::interval_end end, bool inside = true) const;

    // Makes steps keep where a factor was before them. Called in sections, before the step is recorded.
    void watch(const factor& f);
    bool is_watched(const factor& f) const { return kept_[f.number].is_watched; }
    program::value before(const factor& f) const { return in_.into().read(kept_[f.number].before); }
    // Coordinate before the jumps at the start of the last step; only if f.jumps().
    program::value before_jumps(const factor& f) const {
        return in_.into().read(kept_[f.number].before_jumps);
    }
    // Coordinate at the end of the last step, before a cash dividend of that day.
    program::value before_fall(const factor& f) const;
    // Y before the last step; the first call makes steps keep it.
    program::value growth_before(const moving_rates& r);

    // Called in the step: `x` is the coordinate before jumps, `start` after jumps, `end` before dividends.
    void keep_start(const factor& f, program::value start, program::value x);
    void keep_before_fall(const factor& f, program::value end);
    void keep_growth(const moving_rates& r);
    void move(const factor& f, program::value to) { in_.into().write(kept_[f.number].now, to); }

  private:
    struct of_factor {
        std::uint32_t now = 0;
        bool is_watched = false;
        std::uint32_t before = 0, before_jumps = 0, before_fall = 0;
    };
    struct of_rates {
        bool is_watched = false;
        std::uint32_t before = 0;
    };

    const members& of_;
    const open_section& in_;
    std::vector<of_factor> kept_ = std::vector<of_factor>(of_.factors().size());
    std::vector<of_rates> kept_of_rates_ = std::vector<of_rates>(of_.rates().size());
};

}  // namespace tilewalk::models
