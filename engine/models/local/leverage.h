// SPDX-License-Identifier: Apache-2.0
// The leverage L(t, x) that turns a stochastic variance v into a model of a surface: L^2 is the local
// variance over the mean of v among the paths that are at x at t. The particle method finds that mean (Guyon
// and Henry-Labordere, "Being particular about calibration", Risk, January 2012): particles walk through time
// under the leverage that they themselves have shown so far.
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

// The mean of the variance counts as this where it is less.
inline double least_mean_variance(const heston_parameters& p) {
    return 1e-6 * p.v0;
}

// The particles go on as far as somebody has asked; how far changes no number. Threads may ask at once.
class leverage {
  public:
    leverage(markets::local_volatility local, heston_parameters p, const particle_settings& how);

    // L at `points` places that a step from `from` to `to` can reach. `poll` is called before each step of
    // the particles, and may throw: who asks next goes on from there.
    step_table table(double from, double to, std::size_t points, const std::function<void()>& poll = {});
    // The mean of the variance among those at x.
    double mean_variance(double years, double x);

    // Differences of options on the particles from the surface, at its expiries, in the money of volatility.
    struct difference {
        double years, deviations, volatility;
    };
    // Up to this time; none of a local volatility that was given.
    std::vector<difference> differences(double years);

    const particle_settings& how() const { return how_; }

  private:
    // The particles at one time: means of the variance at evenly spaced x, flat outside.
    struct node {
        double years;
        double all_mean;  // of the variance, whatever x
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
    std::vector<double> stops_;  // times that are nodes whatever the steps

    std::mutex lock_;
    double now_ = 0;
    double all_mean_ = 0;              // of the variance
    std::vector<particle> particles_;  // in order of x
    std::vector<node> nodes_;
    std::vector<difference> differences_;
};

}  // namespace tilewalk::models
