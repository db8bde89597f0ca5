// SPDX-License-Identifier: Apache-2.0
// Backward induction over the dates of rights, on training paths. Each date fits the continuation value, and
// the martingale's slopes by moves of the interval that begins there. Sums do not depend on threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/decide/exercise/policy.h"
#include "engine/decide/exercise/regression.h"

namespace tilewalk::exercise {

// Training data of an interval, [column][path]: sums of normals (times `root`, variance 1), then powers.
struct interval_left {
    std::vector<const double*> sums;
    double root = 0;
};

// Training data of a date: each pointer leads to one number per path.
struct date_left {
    const double *gives = nullptr, *offered = nullptr, *unit = nullptr, *alive = nullptr, *value = nullptr;
    std::vector<const double*> features;
    interval_left before;  // the interval that ends here
};

class backward {
  public:
    // `at_the_end`: by path, all payments without rights, discounted. `last`: the interval after all dates.
    // Throws tilewalk::error (numeric) if a path has a number that is not finite.
    backward(policy& into, std::span<const double> at_the_end, interval_left last, int threads,
             const std::atomic<bool>* cancel);

    // Must be called before any date is decided.
    void fit_as(fitting how);
    // Must be called from the last date to the first.
    void decide(decision_date& d, const date_left& left);
    // Fits the martingale's slopes of the interval that begins today. Returns the mean of total().
    double end();
    // By path: all payments, discounted, if the policy is followed on the dates decided so far.
    std::span<const double> total() const { return total_; }
    // Returns the sum over paths of `others` less total(), and the sum of squares about its mean.
    std::array<double, 2> gain_of(std::span<const double> others);

  protected:
    // Living paths of a tile that the fit takes: where using the right pays something, and where it does not.
    using sides = std::array<std::vector<std::uint32_t>, 2>;
    // Scratch memory for a block of paths: functions, and moves of the interval that begins on the date.
    struct block {
        std::vector<block_column> features, functions, moves;
        block_column one, other;
        std::vector<double> columns;  // numbers from which moves are computed
    };
    using paths_of = std::span<const std::uint32_t>;

    // Adds up in order, over the first `tiles` tiles, the `numbers` numbers that `find` writes for each.
    using of_tile = std::function<void(std::size_t tile, block&, std::span<double>)>;
    std::vector<double> summed(std::size_t numbers, const of_tile& find, std::size_t tiles);
    std::vector<double> summed(std::size_t numbers, const of_tile& find) {
        return summed(numbers, find, tiles_);
    }
    // Calls `use` with blocks of a tile's counted paths, first of one side (see sides), then of the other.
    void for_blocks(std::size_t tile, const std::function<void(int side, paths_of)>& use) const;
    void fill_functions(block& b, paths_of paths, const decision_date& d, const date_left& left) const;
    void fill_moves(block& b, paths_of paths) const;

    void take_sides(const date_left& left);
    void take_all();
    void scale_features(decision_date& d, const date_left& left);
    void fit_sides(fitted_level& to, const decision_date& d, const date_left& left);
    void estimate_rest(const fitted_level& of, const decision_date& d, const date_left& left);
    void fit_slopes(std::vector<double>& slopes, const decision_date& d, const date_left& left,
                    std::size_t functions);
    // Fits the continuation values of both sides, and the slopes. Updates estimate_ and rest_.
    fitted_level fitted(const decision_date& d, const date_left& left);
    void add_moves(const fitted_level& of, const decision_date& d, const date_left& left);
    void use_rights(const decision_date& d, const date_left& left);
    std::size_t living(std::size_t tiles) const;  // living paths in the first tiles

    policy& into_;
    const std::size_t paths_, tiles_;
    const int threads_;
    const std::atomic<bool>* cancel_;
    interval_moves moves_;
    interval_left after_;  // the interval that begins at the current date
    // By path: all payments, discounted, if the policy is followed from here on.
    std::vector<double> total_;
    std::vector<double> worth_;     // by path: total_, but with estimates for what is to come
    std::vector<double> estimate_;  // by living path: the continuation value
    std::vector<double> rest_;      // by living path: worth that slopes have still to explain
    std::vector<double> moved_;     // by path: moves subtracted from total_; empty if none are
    std::vector<bool> left_out_;    // by function: left out of fits; empty if all are used
    std::vector<sides> counted_;    // by tile: the paths that fits take
    std::vector<double> gram_;      // [function][function], over both sides
    std::vector<block> blocks_;     // scratch memory by thread
};

}  // namespace tilewalk::exercise
