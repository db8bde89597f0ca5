// SPDX-License-Identifier: Apache-2.0
// The leverage L(t, x), with which a stochastic variance v reproduces a volatility surface: L^2 is the local
// variance divided by the conditional mean of v at x. The particle method estimates this mean (Guyon and
// Henry-Labordere, "Being particular about calibration", Risk, January 2012): particles walk through time
// under the leverage that they have determined so far.
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

// Floor on the overall mean of the variance.
inline double least_mean_variance(const heston_parameters& p) {
    return 1e-6 * p.v0;
}

// Computes the leverage. Particles advance on demand, and no number depends on how far they are. Thread-safe.
class leverage {
  public:
    leverage(markets::local_volatility local, heston_parameters p, const particle_settings& how);

    // L over a step at `points` places. `poll` may throw between steps; the next call resumes.
    step_table table(double from, double to, std::size_t points, const std::function<void()>& poll = {});
    double mean_variance(double years, double x);

    // Option price on the particles minus the surface's, as a volatility, at one of the surface's expiries.
    struct difference {
        double years, deviations, volatility;
    };
    // Differences up to `years`; empty if the local volatility was given without an implied surface.
    std::vector<difference> differences(double years);

    const particle_settings& how() const { return how_; }

  private:
    // Conditional means of the variance at a time, at evenly spaced x from low to high; flat outside.
    struct node {
        double years;
        double all_mean;  // mean of the variance over all x
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
    std::vector<double> stops_;  // times at which steps have to end

    std::mutex lock_;
    double now_ = 0;
    double all_mean_ = 0;              // mean of the variance over all x at now_
    std::vector<particle> particles_;  // sorted by x
    std::vector<node> nodes_;
    std::vector<difference> differences_;
};

}  // namespace tilewalk::models
