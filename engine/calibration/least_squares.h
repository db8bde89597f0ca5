// SPDX-License-Identifier: Apache-2.0
// Deterministic least squares between bounds from several starting points, by Levenberg-Marquardt.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tilewalk::calibrations {

struct between {
    enum class scale { even, geometric };  // how a step of the variable moves the parameter
    double low = 0, high = 0;
    scale by = scale::even;
};

struct least_squares {
    std::vector<between> bounds;  // by parameter
    std::size_t residuals = 0;    // at least as many as parameters
    std::function<void(std::span<const double> parameters, std::span<double> residuals)> evaluate;
    // A root mean square that counts as zero; no further starting point is tried then.
    double good_enough = 0;
    std::size_t most_evaluations = 200;  // limit of the last descent, not counting slopes
    // True if residuals have kinks, so that rounding leaves a larger slope at the minimum.
    bool has_kinks = false;
    const std::atomic<bool>* cancel = nullptr;
};

struct minimum {
    std::vector<double> at;
    double sum_of_squares = 0;
    bool has_converged = false;
    std::vector<bool> is_at_bound;
    // Parameters that could move, possibly together, with hardly an effect; excludes those at a bound.
    std::vector<std::size_t> undetermined;
    std::uint64_t iterations = 0, evaluations = 0;  // over all starting points
    std::size_t starts = 0;
};

// Throws tilewalk::error if a residual is not a number, (cancelled) if cancelled.
minimum minimise(const least_squares& of, const std::vector<std::vector<double>>& starts);

// How a minimum moves when the targets of the residuals move.
struct moved_minimum {
    // Derivatives by parameter and residual, to a number subtracted from it; 0 for a parameter at its bound.
    std::vector<std::vector<double>> slopes;
    // Change of the residuals by one more step: next to nothing at a minimum.
    double root_mean_square_left = 0;
    // False if the residuals leave a direction of the parameters open; there are no derivatives then.
    bool is_determined = true;
};
// Differentiates the condition of a minimum: the sum over residuals of each times its slope is 0. Second
// derivatives of nonzero residuals count. Does not search.
moved_minimum move_minimum(const least_squares& of, std::span<const double> at);

// Returns the coefficients of the best combination.
std::vector<double> linear_fit(const std::vector<std::vector<double>>& columns, std::span<const double> to);

}  // namespace tilewalk::calibrations
