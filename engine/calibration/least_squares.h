// SPDX-License-Identifier: Apache-2.0
// The smallest sum of squares over parameters between bounds, from several starting points: the method of
// Levenberg and Marquardt in a variable that no step takes out of them. The same figures every time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tilewalk::calibrations {

struct between {
    enum class scale { even, geometric };  // what one step of the variable does
    double low = 0, high = 0;
    scale by = scale::even;
};

struct least_squares {
    std::vector<between> bounds;  // of each parameter
    std::size_t residuals = 0;    // at least as many as parameters
    std::function<void(std::span<const double> parameters, std::span<double> residuals)> evaluate;
    // A root of the mean square that is as good as zero: no other starting point is tried.
    double good_enough = 0;
    std::size_t most_evaluations = 200;  // of the last descent, slopes aside
    // The residuals have kinks: rounding leaves more of a slope at the minimum.
    bool has_kinks = false;
    const std::atomic<bool>* cancel = nullptr;
};

struct minimum {
    std::vector<double> at;
    double sum_of_squares = 0;
    bool has_converged = false;
    std::vector<bool> is_at_bound;
    // Parameters that could move, together where there are several, and change the residuals by next to
    // nothing; none at a bound is among them.
    std::vector<std::size_t> undetermined;
    std::uint64_t iterations = 0, evaluations = 0;  // over all starting points
    std::size_t starts = 0;
};

// The best of what is found from each of the starting points. A residual that is not a number stops the fit
// as an error; throws tilewalk::error (cancelled), too.
minimum minimise(const least_squares& of, const std::vector<std::vector<double>>& starts);

// A minimum where what the residuals are taken from moves.
struct moved_minimum {
    // The derivatives of the parameters, by parameter and residual: to a number that is taken away from that
    // residual. A parameter at its bound has slopes of 0.
    std::vector<std::vector<double>> slopes;
    // By how much one more step would change the residuals: next to nothing at a minimum.
    double root_mean_square_left = 0;
    // Directions of parameters that the residuals do not determine: there are no derivatives then.
    bool is_determined = true;
};
// From the equation that holds at a minimum: the sum over residuals of each times its slope is 0. So the
// curvature of the residuals counts where they are not 0. No search is made.
moved_minimum move_minimum(const least_squares& of, std::span<const double> at);

// The coefficients of the combination of columns that comes nearest to `to`.
std::vector<double> linear_fit(const std::vector<std::vector<double>>& columns, std::span<const double> to);

}  // namespace tilewalk::calibrations
