// SPDX-License-Identifier: Apache-2.0
// The way back through the dates of rights, over the paths that a policy is found from: on each date what is
// to come is fitted, and the martingale's slopes of the interval that begins there. Sums over paths do not
// depend on the number of threads.
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

// An interval between dates, as paths have left it: a number a path for each column of moves, the sums of
// normals first. Each comes to its own by `root`.
struct interval_left {
    std::vector<const double*> sums;
    double root = 0;
};

// A date, as paths have left it: a number a path each.
struct date_left {
    const double *gives = nullptr, *offered = nullptr, *unit = nullptr, *alive = nullptr, *value = nullptr;
    std::vector<const double*> features;
    interval_left before;  // the interval that ends here
};

class backward {
  public:
    // `at_the_end` is all that a path has paid, discounted; `last` the interval after all dates. Throws
    // tilewalk::error (numeric) where a path has no finite number.
    backward(policy& into, std::span<const double> at_the_end, interval_left last, int threads,
             const std::atomic<bool>* cancel);

    // Sets how continuation values are fitted. Called before any date is decided.
    void fit_as(fitting how);
    // Dates are decided from the last to the first.
    void decide(decision_date& d, const date_left& left);
    // The interval that begins today: nothing is known but the numbers of the trade. Returns the mean of what
    // paths are paid.
    double end();
    // By path: all that is paid, discounted, if the policy is followed on the dates decided.
    std::span<const double> total() const { return total_; }
    // The sum of what other decisions pay more on the same paths, and that of its squares about the mean.
    std::array<double, 2> gain_of(std::span<const double> others);

  protected:
    // The paths of a tile that count: those on which the right pays something, and the others alive.
    using sides = std::array<std::vector<std::uint32_t>, 2>;
    // A block of paths: the functions, the moves of the interval that begins here, and room for others.
    struct block {
        std::vector<block_column> features, functions, moves;
        block_column one, other;
        std::vector<double> columns;  // of moves
    };
    using paths_of = std::span<const std::uint32_t>;

    // Adds up the numbers that each of the first tiles finds, in their order.
    using of_tile = std::function<void(std::size_t tile, block&, std::span<double>)>;
    std::vector<double> summed(std::size_t numbers, const of_tile& find, std::size_t tiles);
    std::vector<double> summed(std::size_t numbers, const of_tile& find) {
        return summed(numbers, find, tiles_);
    }
    // Calls `use` with each block of paths that count, side by side.
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
    // The fit of both sides, and the slopes; features are scaled. Leaves estimates.
    fitted_level fitted(const decision_date& d, const date_left& left);
    // Adds the martingale's moves over the interval that begins here.
    void add_moves(const fitted_level& of, const decision_date& d, const date_left& left);
    void use_rights(const decision_date& d, const date_left& left);
    std::size_t living(std::size_t tiles) const;  // on the first tiles

    policy& into_;
    const std::size_t paths_, tiles_;
    const int threads_;
    const std::atomic<bool>* cancel_;
    interval_moves moves_;
    interval_left after_;  // the interval that begins at the date at hand
    std::vector<double>
        total_;  // by path: all that is paid, discounted, if the policy is followed from here on
    std::vector<double> worth_;     // the same as it is estimated here
    std::vector<double> estimate_;  // by path that lives: the value to come
    std::vector<double> rest_;      // by path that lives: what slopes have still to explain
    std::vector<double> moved_;     // by path: moves that are taken off total_; empty: none are
    std::vector<bool> left_out_;    // by function: not used in fits; empty: all are
    std::vector<sides> counted_;    // by tile
    std::vector<double> gram_;      // of all that live, [function][function]
    std::vector<block> blocks_;     // by thread
};

}  // namespace tilewalk::exercise
