// SPDX-License-Identifier: Apache-2.0
// Backward induction over the dates of rights, on training paths: each date fits the continuation value, and
// the martingale's slopes of the interval that begins there. Sums do not depend on the number of threads.
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

// An interval: by column of moves a number a path, sums of normals first, in units of `root`.
struct interval_left {
    std::vector<const double*> sums;
    double root = 0;
};

// A date: one number a path each.
struct date_left {
    const double *gives = nullptr, *offered = nullptr, *unit = nullptr, *alive = nullptr, *value = nullptr;
    std::vector<const double*> features;
    interval_left before;  // the interval that ends here
};

class backward {
  public:
    // at_the_end`: all that a path has paid, discounted; `last`: the interval after all dates. Throws
    // tilewalk::error (numeric) if a path has no finite number.
    backward(policy& into, std::span<const double> at_the_end, interval_left last, int threads,
             const std::atomic<bool>* cancel);

    // Must be called before any date is decided.
    void fit_as(fitting how);
    // Must be called from the last date to the first.
    void decide(decision_date& d, const date_left& left);
    // Fits the interval that begins today. Returns the mean of what paths are paid.
    double end();
    // By path: all that is paid, discounted, if the policy is followed on the dates decided.
    std::span<const double> total() const { return total_; }
    // Returns the sum of `others` less total(), and of the squares about its mean.
    std::array<double, 2> gain_of(std::span<const double> others);

  protected:
    // The counted paths of a tile: those that the right pays, and the others alive.
    using sides = std::array<std::vector<std::uint32_t>, 2>;
    // Memory for a block of paths: functions, and moves of the interval that begins here.
    struct block {
        std::vector<block_column> features, functions, moves;
        block_column one, other;
        std::vector<double> columns;  // of moves
    };
    using paths_of = std::span<const std::uint32_t>;

    // Adds up the numbers of the first tiles, in their order.
    using of_tile = std::function<void(std::size_t tile, block&, std::span<double>)>;
    std::vector<double> summed(std::size_t numbers, const of_tile& find, std::size_t tiles);
    std::vector<double> summed(std::size_t numbers, const of_tile& find) {
        return summed(numbers, find, tiles_);
    }
    // Calls `use` with each block of counted paths of one side, then of the other.
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
    // Fits both sides and the slopes to scaled features. Leaves estimates.
    fitted_level fitted(const decision_date& d, const date_left& left);
    void add_moves(const fitted_level& of, const decision_date& d, const date_left& left);
    void use_rights(const decision_date& d, const date_left& left);
    std::size_t living(std::size_t tiles) const;  // on the first tiles

    policy& into_;
    const std::size_t paths_, tiles_;
    const int threads_;
    const std::atomic<bool>* cancel_;
    interval_moves moves_;
    interval_left after_;  // the interval that begins at the current date
    std::vector<double>
        total_;  // by path: all that is paid, discounted, if the policy is followed from here on
    std::vector<double> worth_;     // likewise, as estimated here
    std::vector<double> estimate_;  // by living path: the continuation value
    std::vector<double> rest_;      // by living path: what slopes have still to explain
    std::vector<double> moved_;     // by path: moves taken off total_; empty if none are
    std::vector<bool> left_out_;    // by function: not used in fits; empty if all are
    std::vector<sides> counted_;    // by tile
    std::vector<double> gram_;      // of all living paths, [function][function]
    std::vector<block> blocks_;     // by thread
};

}  // namespace tilewalk::exercise
