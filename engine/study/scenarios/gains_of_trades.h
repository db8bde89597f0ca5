// SPDX-License-Identifier: Apache-2.0
// Weighted sums of a trade's gains over scenarios, with errors that allow for what gains share.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "engine/study/estimate.h"
#include "tilewalk/differences.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::studies {

using value_and_error = std::pair<double, double>;
struct share_of_gain {
    std::size_t scenario = 0;
    double weight = 1;
};

class sums_of_gains {
  public:
    // `r` has the trades of a book from place `first` on. `in_base` takes gains in the currency of totals.
    sums_of_gains(const scenario_results& r, bool in_base, std::size_t first)
        : trades_(r.trades()),
          first_(first),
          gains_(in_base ? r.converted_gains : r.gains),
          errors_(in_base ? r.converted_errors : r.errors),
          parts_(in_base ? r.converted_gain_parts : r.gain_parts),
          // The least number is 0: a gain's own error already says whether its parts are enough.
          run_(r.part_paths, r.base.manifest.paths, 0) {}

    value_and_error gain_of(std::size_t trade, const std::vector<share_of_gain>& shares) const {
        studies::estimate sum;
        double beside = 0;
        for (const share_of_gain& s : shares) {
            const std::size_t cell = cell_of(trade, s.scenario);
            if (!is_figure(gains_[cell])) return {no_figure, no_figure};
            studies::estimate gain(parts_[cell], run_);
            gain.value = gains_[cell];
            // Errors that part means do not show may be alike in all gains, so they are added, not their
            // squares.
            const double error = errors_[cell], shown = gain.error();
            beside += is_figure(error)
                          ? std::abs(s.weight) * std::sqrt(std::max(0.0, (error - shown) * (error + shown)))
                          : no_figure;
            sum.add(gain, s.weight);
        }
        return {sum.value, std::hypot(sum.error(), beside)};
    }

    bool has(std::size_t trade, std::size_t scenario) const {
        return is_figure(gains_[cell_of(trade, scenario)]);
    }
    // Returns the gain as the number rises; if it can't rise, the loss as it falls.
    share_of_gain move(std::size_t trade, std::size_t up, std::size_t down) const {
        return has(trade, up) || !has(trade, down) ? share_of_gain{up, 1} : share_of_gain{down, -1};
    }

  private:
    std::size_t cell_of(std::size_t trade, std::size_t scenario) const {
        return scenario * trades_ + trade - first_;
    }

    const std::size_t trades_, first_;
    const std::vector<double>&gains_, &errors_;
    const std::vector<std::vector<double>>& parts_;
    const studies::run_parts run_;
};

// Gains of trades in their own currencies, `own`, and in the currency of totals, `base`.
struct gains_of_trades {
    const sums_of_gains own, base;
    std::map<std::pair<std::size_t, std::size_t>, const failed_gain*> failures{};  // by scenario and trade

    gains_of_trades(const scenario_results& r, bool has_base, std::size_t first)
        : own(r, false, first), base(r, has_base, first) {
        for (const failed_gain& f : r.failures) failures[{f.scenario, first + f.trade}] = &f;
    }

    // Reports the first failure among these scenarios.
    void add_failure(std::size_t trade, const std::string& what, const std::vector<share_of_gain>& shares,
                     difference_results& to) const {
        for (const share_of_gain& s : shares) {
            const auto found = failures.find({s.scenario, trade});
            if (found == failures.end()) continue;
            to.failures.push_back("trade " + to.values.rows[trade].trade + ", " + what + ": " +
                                  found->second->message);
            if (found->second->kind == error_kind::device) to.worst = error_kind::device;
            return;
        }
    }
};

}  // namespace tilewalk::studies
