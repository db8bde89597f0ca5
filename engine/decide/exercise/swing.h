// SPDX-License-Identifier: Apache-2.0
// A right of several uses (swing). A use gains its payment and costs one of the uses left, which is worth the
// continuation value with j uses left less the value with j - 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/decide/exercise/backward.h"
#include "engine/decide/exercise/policy.h"
#include "engine/decide/exercise/policy_at_hand.h"
#include "products/language/payoff.h"

namespace tilewalk::exercise {

// Numbers of uses left, `lowest` to `last`, that a date fits. More uses are worth the same as `last`.
struct fitted_uses {
    std::size_t lowest = 0, last = 0;
    int forced_from = 0;  // see decision_date
};
// `dates_before` counts the date itself and those before it.
fitted_uses uses_fitted(const policy& by, std::size_t dates_before, std::size_t dates_after);
fitted_uses uses_of_today(const policy& by);
// Sets is_used_today. `if_used`: mean of all payments but today's, if today's right is used; `if_not`: mean
// of all payments if it is not.
void decide_use_of_today(policy& by, double if_used, double if_not);

// Backward induction for each number of uses left; each is fitted like a right that ends the trade.
class swing_backward : private backward {
  public:
    // `dates`: the number of future dates.
    swing_backward(policy& into, std::span<const double> at_the_end, interval_left last, std::size_t dates,
                   int threads, const std::atomic<bool>* cancel);

    using backward::fit_as;
    // Must be called from the last date to the first.
    void decide(decision_date& d, const date_left& left);
    // Fits the interval that begins today, and decides whether today's right is used.
    void end();

  private:
    // Numbers by path if so many uses are left; see backward for the names.
    struct level {
        std::vector<double> total, worth, estimate;
    };
    void swap_with(level& l);
    void use_rights(const decision_date& d, const date_left& left, std::size_t lowest);

    std::vector<level> levels_;  // by uses left
    std::size_t dates_before_;   // dates that are still to be decided
    std::size_t dates_after_ = 0;
};

// Uses the right if it pays more than one use is worth to the policy, or if it must be used.
class following_uses : public language::decider {
  public:
    explicit following_uses(const policy& by) : by_(by) {}
    program::value uses(const language::right_at_hand& right, program::recorder& into) override;
    std::vector<double> looks_ahead(const language::right_at_hand& right, std::size_t before,
                                    std::vector<double> in_the_market) override {
        return numbers_ahead_of(by_, right, before, std::move(in_the_market));
    }
    bool uses_today(const language::right_today&) override { return by_.is_used_today; }

  private:
    const policy& by_;
};

// Uses no right. Records the dual upper bound: on each path the best choice of dates, with hindsight, less
// martingales, one for each number of uses left. Its mean is above the worth of any policy, whatever the
// martingales. Let u(k, j) be the best from date k on with j uses left, z the payment, and m(j) the move of
// martingale j after the date:
//     u(k, j) = max(u(k + 1, j) - m(j), z + u(k + 1, j - 1) - m(j - 1)).
// Given what is known on date k, the mean of u(k, j) is at least the value of j uses, if the same holds
// for u(k + 1, ...). The program goes forward: it keeps, by uses left, the best so far.
class bounding_uses : public language::decider {
  public:
    explicit bounding_uses(const policy& by) : by_(by), moves_(by.moves()) {}
    void begins() override;
    program::value uses(const language::right_at_hand& right, program::recorder& into) override;
    std::vector<double> looks_ahead(const language::right_at_hand& right, std::size_t before,
                                    std::vector<double> in_the_market) override {
        return numbers_ahead_of(by_, right, before, std::move(in_the_market));
    }
    bool uses_today(const language::right_today&) override { return false; }
    void ends_step(std::span<const double> stops, program::recorder& into) override;
    bool has_end() const override { return true; }
    void ends_path(std::uint32_t value, program::recorder& into) override;

    std::uint32_t bound() const { return bound_; }  // state with the path's bound at its end

  private:
    std::size_t most() const { return static_cast<std::size_t>(by_.uses); }
    void open(program::recorder& into);
    // Returns by uses left the best so far, less the martingale's move over the interval that ends here.
    std::vector<program::value> best_now(program::recorder& into, program::value root);

    const policy& by_;
    interval_moves moves_;
    bool is_open_ = false;
    std::uint32_t bound_ = 0;
    std::vector<std::uint32_t> best_, sums_;
    std::vector<std::vector<std::uint32_t>> slopes_;  // [uses left][move]
};

}  // namespace tilewalk::exercise
