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
    enum class scale { even, geometric };  // whether the variable's steps add to the parameter or multiply it
    double low = 0, high = 0;
    scale by = scale::even;
};

struct least_squares {
    std::vector<between> bounds;  // by parameter
    std::size_t residuals = 0;    // at least as many as parameters
    std::function<void(std::span<const double> parameters, std::span<double> residuals)> evaluate;
    // A root mean square that counts as zero: once it is reached, no further starting point is tried.
    double good_enough = 0;
    std::size_t most_evaluations = 200;  // of the last descent, not counting those for slopes
    // True if residuals have kinks: a larger slope at the minimum then counts as converged.
    bool has_kinks = false;
    const std::atomic<bool>* cancel = nullptr;
};

struct minimum {
    std::vector<double> at;
    double sum_of_squares = 0;
    bool has_converged = false;
    std::vector<bool> is_at_bound;
    // Parameters that could move, alone or together, with hardly an effect; none of them is at a bound.
    std::vector<std::size_t> undetermined;
    std::uint64_t iterations = 0, evaluations = 0;  // over all starting points
    std::size_t starts = 0;
};

// Throws tilewalk::error if a residual is not a number, and (cancelled) once `cancel` is set.
minimum minimise(const least_squares& of, const std::vector<std::vector<double>>& starts);

// How a minimum moves when numbers that the residuals subtract (their targets) move.
struct moved_minimum {
    // Derivatives by parameter, with respect to the target of each residual; 0 for a parameter at its bound.
    std::vector<std::vector<double>> slopes;
    // By how much one more step would change the residuals: next to nothing at a minimum.
    double root_mean_square_left = 0;
    // False if the residuals leave a direction of the parameters open; `slopes` are then 0.
    bool is_determined = true;
};
// Differentiates the condition that the residuals times their derivatives sum to 0. Takes second derivatives
// into account, if residuals are not 0. Does not search for the minimum.
moved_minimum move_minimum(const least_squares& of, std::span<const double> at);

// The coefficients of the linear combination of `columns` that is nearest to `to`.
std::vector<double> linear_fit(const std::vector<std::vector<double>>& columns, std::span<const double> to);

}  // namespace tilewalk::calibrations
