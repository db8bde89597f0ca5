// SPDX-License-Identifier: Apache-2.0
// The leverage L(t, x) that makes a stochastic variance v reproduce a surface: L^2 is the local variance over
// the conditional mean of v at x. The particle method estimates this mean (Guyon and Henry-Labordere, "Being
// particular about calibration", Risk, January 2012): particles walk through time under the leverage that
// they have determined so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/market/local_volatility.h"
#include "engine/models/heston.h"
#include "engine/models/step_tables.h"

namespace tilewalk::models {

struct particle_settings {
    std::size_t particles = 0;
    double steps_per_year = 0;
    std::uint64_t seed = 1;
};

// Floor of the conditional mean of the variance.
inline double least_mean_variance(const heston_parameters& p) {
    return 1e-6 * p.v0;
}

// Particles advance on demand; how far they have advanced changes no number. Thread-safe.
class leverage {
  public:
    leverage(markets::local_volatility local, heston_parameters p, const particle_settings& how);

    // L at `points` places in reach of the step. `poll` may throw between steps; a later call resumes.
    step_table table(double from, double to, std::size_t points, const std::function<void()>& poll = {});
    double mean_variance(double years, double x);

    // Differences between option prices on the particles and the surface, at its expiries, as volatilities.
    struct difference {
        double years, deviations, volatility;
    };
    // Up to `years`; empty for a given local volatility.
    std::vector<difference> differences(double years);

    const particle_settings& how() const { return how_; }

  private:
    // Conditional means of the variance at one time, at evenly spaced x, flat outside.
    struct node {
        double years;
        double all_mean;  // unconditional mean of the variance
        double low, high;
        std::vector<double> means;

        double at(double x) const;
    };
    struct particle {
        double x, v;
        auto operator<=>(const particle&) const = default;
    };

    void walk_to(double years, const std::function<void()>& poll = {});
    double next_time() const;
    node seen(double years) const;
    void compare_with_surface(double years);
    void move(double to);
    double mean_of(double years, double x) const;

    markets::local_volatility local_;
    heston_parameters p_;
    particle_settings how_;
    std::vector<double> stops_;  // times at which nodes are forced

    std::mutex lock_;
    double now_ = 0;
    double all_mean_ = 0;              // mean of the variance
    std::vector<particle> particles_;  // sorted by x
    std::vector<node> nodes_;
    std::vector<difference> differences_;
};

}  // namespace tilewalk::models
