// SPDX-License-Identifier: Apache-2.0
// A right of several uses (swing). A use is worth its payment, and costs one use more afterwards: the
// continuation value with j uses left, less that with j - 1.
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

// Uses left for which the continuation value of a date is fitted. More uses than `last` are worth the same.
struct fitted_uses {
    std::size_t lowest = 0, last = 0;
    int forced_from = 0;  // see decision_date
};
// dates_before` includes the date itself.
fitted_uses uses_fitted(const policy& by, std::size_t dates_before, std::size_t dates_after);
fitted_uses uses_of_today(const policy& by);
// Takes the means of what paths are paid if a right of today is used, and if not.
void decide_use_of_today(policy& by, double if_used, double if_not);

// Backward induction by uses left, each fitted like a right that ends the trade.
class swing_backward : private backward {
  public:
    // dates`: the number of future dates.
    swing_backward(policy& into, std::span<const double> at_the_end, interval_left last, std::size_t dates,
                   int threads, const std::atomic<bool>* cancel);

    using backward::fit_as;
    // Called from the last date to the first.
    void decide(decision_date& d, const date_left& left);
    // Ends with today, and whether a right of today is used.
    void end();

  private:
    // Numbers by path, with so many uses left.
    struct level {
        std::vector<double> total, worth, estimate;
    };
    void swap_with(level& l);
    void use_rights(const decision_date& d, const date_left& left, std::size_t lowest);

    std::vector<level> levels_;  // by uses left
    std::size_t dates_before_;   // still to be decided
    std::size_t dates_after_ = 0;
};

// Uses a right if it pays more than the policy's value of one use more, or if it must be used.
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

// Uses no right. Finds on each path what the best dates, known afterwards, would have been worth less
// martingales, one for each number of uses left: whatever they are, the mean is more than any decision is
// worth. With u(k, j) for the best from date k on with j uses left, payments z and moves of the martingales m
// after the date,
//     u(k, j) = max(u(k + 1, j) - m(j), z + u(k + 1, j - 1) - m(j - 1)),
// so that its mean, given what is known on date k, is at least the value of j uses if that of u(k + 1, ...)
// is. Paths find it forwards: the best so far that has left j uses.
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

    std::uint32_t bound() const { return bound_; }  // state that holds it at the end of the path

  private:
    std::size_t most() const { return static_cast<std::size_t>(by_.uses); }
    void open(program::recorder& into);
    // By uses left: the best so far, less the martingale's move over the interval that ends here.
    std::vector<program::value> best_now(program::recorder& into, program::value root);

    const policy& by_;
    interval_moves moves_;
    bool is_open_ = false;
    std::uint32_t bound_ = 0;
    std::vector<std::uint32_t> best_, sums_;
    std::vector<std::vector<std::uint32_t>> slopes_;  // by uses left and move
};

}  // namespace tilewalk::exercise
