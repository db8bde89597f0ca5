// SPDX-License-Identifier: Apache-2.0
// Local volatility, by Dupire's formula or given as a grid, as tables for the steps of a path.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "engine/market/surface.h"

namespace tilewalk::markets {

struct local_volatility_grid {
    std::vector<double> years, spots;               // strictly increasing
    std::vector<std::vector<double>> volatilities;  // one row for each time
};

// The volatility sigma(t, x) of dX = sigma X dW, with X = spot / forward and x = log X.
//
// An implied surface has sigma^2 = w_t / g: the growth of total variance over Gatheral's g, the effect of the
// smile on the density. Where the surface has arbitrage, this ratio is no valid variance, so w_t is floored
// at 0, g is floored at least_ratio, and sigma is capped at most_volatility.
class local_volatility {
  public:
    static constexpr double least_ratio = 0.04;  // limits sigma to 5 sqrt(w_t)
    static constexpr double most_volatility = 10;
    // Half the width of a table, in standard deviations at the end of the step. A path is outside with a
    // probability of 6e-5, and then has the volatility of the table's end. The largest error of an implied
    // volatility within 3 deviations, over two surfaces with sharp smiles (surface_test.cpp), in basis
    // points, by width and number of points:
    //     points    50    64   100   200      of which 0.2 is the test's own
    //     3.5     1.35  0.93  0.92  0.91
    //     4       1.43  0.89  0.25  0.25
    //     5       4.81  2.26  0.36  0.24
    // At a single x a table of 100 points is off by 0.2 basis points on average, by 6 in the bend of the
    // sharpest SVI smile (256 points: by 1), and by 40 at the last quote of a spline, where its curvature has
    // a kink. Prices depend on the average alone.
    static constexpr double table_deviations = 4;

    using forward_function = std::function<double(double years)>;

    static local_volatility of_surface(implied_surface surface);
    static local_volatility of_grid(local_volatility_grid grid, forward_function forward);

    // The implied surface; null if the local volatility was given as a grid.
    const implied_surface* implied() const { return std::get_if<implied_surface>(&form_); }

    // The mean of sigma^2 over [t0, t1] at x, t0 < t1, integrated between expiries (or times of the grid).
    double local_variance(double t0, double t1, double x) const;

    // The range of x, low < 0 < high, that a table for the step from t0 to t1 should cover.
    std::pair<double, double> table_range(double t0, double t1) const;
    // Fills `out`, of size >= 2, with volatilities at evenly spaced x including both ends, for linear
    // interpolation. The interpolating lines lie above a convex smile by a twelfth of the second difference
    // on average, which would bias prices, so the volatilities are lowered by that much.
    void table(double t0, double t1, double x_low, double x_high, std::span<double> out) const;

  private:
    struct given {
        local_volatility_grid grid;
        forward_function forward;

        double at(double years, double x) const;
    };

    explicit local_volatility(std::variant<implied_surface, given> form) : form_(std::move(form)) {}
    template <class Piece>
    double over_pieces(double t0, double t1, Piece piece) const;

    std::variant<implied_surface, given> form_;
    std::vector<double> kinks_;  // times at which the volatility, or its slope in time, may jump
};

}  // namespace tilewalk::markets
