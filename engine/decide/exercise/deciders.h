// SPDX-License-Identifier: Apache-2.0
// Deciders, by which paths leave training data, follow a policy, or bound the worth of every policy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/decide/exercise/notice.h"
#include "engine/decide/exercise/policy.h"
#include "engine/decide/exercise/policy_at_hand.h"
#include "products/language/payoff.h"

namespace tilewalk::exercise {

// Uses no right. Writes each right's training data into states that are outputs, so that passes keep them.
class leaving : public language::decider {
  public:
    struct left_by_right {
        std::size_t block;
        language::party of;
        int at_most, at_least;
        std::vector<language::named_feature> named;  // reasons alone: numbers are of this recording
        bool is_named_beside_states;
        language::compared_assets compared;
        bool is_notice, has_notice;
        std::uint32_t gives, offered, unit, alive;
        std::vector<std::uint32_t> made;   // states added for features that the program has no state for
        std::vector<std::uint32_t> moved;  // by column: state of the sum of normals since the last date
        // Market numbers by which features look ahead, [number][later date].
        std::vector<std::vector<double>> ahead;

        bool decides() const { return is_notice || !has_notice; }
    };

    leaving() = default;
    // Leaves the policy's made features and the columns of its moves, too.
    explicit leaving(const policy& by) : by_(by), moves_(by.moves()) {
        if (!by.has_bound()) by_.normals.clear();
    }

    void begins() override;
    program::value uses(const language::right_at_hand& right, program::recorder& into) override;
    void gives_notice(const language::right_at_hand& right, program::recorder& into) override;
    std::vector<double> looks_ahead(const language::right_at_hand& right, std::size_t before,
                                    std::vector<double> in_the_market) override;
    bool uses_today(const language::right_today& right) override;
    void ends_step(std::span<const double> stops, program::recorder& into) override;
    bool has_end() const override { return true; }
    void ends_path(std::uint32_t value, program::recorder& into) override;

    const std::vector<left_by_right>& rights() const { return rights_; }
    std::uint32_t end_value() const { return end_value_; }
    const std::vector<std::uint32_t>& moved_at_end() const { return moved_at_end_; }
    std::uint32_t first_state() const { return first_state_; }  // states before it are the trade's
    std::uint32_t value_state() const { return value_; }
    const std::optional<language::right_today>& today() const { return today_; }

  private:
    std::uint32_t left(program::recorder& into, const std::string& name, program::value what);
    left_by_right& left_by(const language::right_at_hand& right, bool is_notice, program::recorder& into);
    std::vector<std::uint32_t> left_moves(program::recorder& into, const std::string& name);
    void open_sums(program::recorder& into);

    policy by_;
    interval_moves moves_{0};
    kept_ranks ranks_;
    std::vector<std::vector<double>> ahead_;  // of the right that is recorded next
    std::uint32_t steps_ = 0;                 // counts an interval's steps, if normals are ranked
    std::vector<left_by_right> rights_;
    std::vector<std::uint32_t> sums_, moved_at_end_;
    std::uint32_t end_value_ = 0, value_ = 0, first_state_ = ~std::uint32_t{0};
    std::optional<language::right_today> today_;
};

// Uses a holder's right if it pays more than the policy's continuation value, an issuer's if it pays less.
class following : public language::decider {
  public:
    explicit following(const policy& by) : by_(by), notices_(by) {}
    void begins() override { notices_.begins(); }
    program::value uses(const language::right_at_hand& right, program::recorder& into) override;
    void gives_notice(const language::right_at_hand& right, program::recorder& into) override {
        notices_.decide(right, into);
    }
    std::vector<double> looks_ahead(const language::right_at_hand& right, std::size_t before,
                                    std::vector<double> in_the_market) override {
        return numbers_ahead_of(by_, right, before, std::move(in_the_market));
    }
    bool uses_today(const language::right_today&) override { return false; }

  private:
    const policy& by_;
    given_notices notices_;
};

// Uses no right. Records the dual upper bound: the greatest payment less martingale over all dates and the
// end of a path. Its mean is above the worth of any policy, for any martingale, and close to the best
// policy's worth if the trained policy is good. For issuer's rights it is the least: a lower bound.
class bounding : public language::decider {
  public:
    explicit bounding(const policy& by) : by_(by), moves_(by.moves()), notices_(by) {}
    void begins() override;
    program::value uses(const language::right_at_hand& right, program::recorder& into) override;
    void gives_notice(const language::right_at_hand& right, program::recorder& into) override;
    std::vector<double> looks_ahead(const language::right_at_hand& right, std::size_t before,
                                    std::vector<double> in_the_market) override {
        return numbers_ahead_of(by_, right, before, std::move(in_the_market));
    }
    bool uses_today(const language::right_today&) override { return false; }
    void ends_step(std::span<const double> stops, program::recorder& into) override;
    bool has_end() const override { return true; }
    void ends_path(std::uint32_t value, program::recorder& into) override;

    std::uint32_t bound() const { return best_; }  // state with the path's bound at its end

  private:
    void open(program::recorder& into);
    program::value moved(program::recorder& into, program::value root);
    // Ends an interval at a date of decisions and begins the next. Returns the martingale there.
    program::value next_interval(const rows_of_policy& rows, program::recorder& into);
    void set_slopes(const language::right_at_hand& right, const rows_of_policy& rows, const basis_at_hand& at,
                    program::recorder& into);
    program::value better(program::value a, program::value b) const;

    const policy& by_;
    interval_moves moves_;
    bounded_notices notices_;
    kept_ranks ranks_;
    bool is_open_ = false;
    std::uint32_t martingale_ = 0, best_ = 0;
    std::vector<std::uint32_t> sums_, slopes_;
};

}  // namespace tilewalk::exercise
