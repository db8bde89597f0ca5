// SPDX-License-Identifier: Apache-2.0
// Normal inverse Gaussian (Barndorff-Nielsen 1997): Brownian motion with drift beta, on the clock of first
// passage times at level delta t of another Brownian motion with drift gamma = sqrt(alpha^2 - beta^2).
#include <memory>

#include "engine/models/jumps.h"
#include "engine/models/subordinated.h"
#include "kernels/math.h"

namespace tilewalk::models {

step_facts steps_of_nig() {
    return {
        .scheme = "exact: Brownian motion at inverse Gaussian times (drawn as by Michael, Schucany and Haas)",
        .held_against = "Fourier integrals"};
}

namespace {

using program::value;

// Draws the clock's time by Michael, Schucany and Haas (1976): a squared normal has two possible times, m / w
// and m w around the mean m, and a uniform picks one. This form of the roots has no cancellation.
class inverse_gaussian_clock final : public random_clock {
  public:
    inverse_gaussian_clock(double delta, double gamma) : delta_(delta), gamma_(gamma) {}

    value over(step& of) const override {
        const value mean =
            of.row("clock_mean", [&](double from, double to) { return delta_ / gamma_ * (to - from); });
        const value half_ratio = of.row(
            "clock_ratio", [&](double from, double to) { return 0.5 / (gamma_ * delta_ * (to - from)); });
        const value z = of.lone_normal(), u = of.uniform();
        const value r = half_ratio * (z * z);
        const value w = 1.0 + (r + sqrt(r) * sqrt(r + 2.0));
        return mean * select(u * (w + 1.0) <= w, 1.0 / w, w);
    }

  private:
    double delta_, gamma_;
};

constexpr parameter_row nig_rows[]{
    {.name = "alpha", .within = {{0.5, 1e6, false}}, .meaning = "steepness: a larger one has thinner tails"},
    // The asset has a mean only for these beta.
    {.name = "beta",
     .meaning = "asymmetry, the drift on the clock",
     .takes = "a number above -alpha and at most alpha - 1"},
    {.name = "delta", .within = {{0, 1000, false}}, .meaning = "scale, the pace of the clock"}};

}  // namespace

extern const parameter_table parameters_of_nig = nig_rows;

std::shared_ptr<const model> read_nig(const config::node& parameters, const reading&) {
    refuse_others(parameters, parameters_of_nig);
    const double alpha = read_parameter(parameters, find_row(nig_rows, "alpha"));
    const double beta = read_parameter(parameters.at("beta"), {-alpha, alpha - 1, false});
    const double delta = read_parameter(parameters, find_row(nig_rows, "delta"));
    const double gamma = kernels::sqrt((alpha - beta) * (alpha + beta));
    const double after = kernels::sqrt((alpha - beta - 1) * (alpha + beta + 1));
    const double drift = -delta * (2 * beta + 1) / (after + gamma);
    expect_moderate(parameters, -(drift + beta * delta / gamma));
    return model_on_clock({"nig", std::make_shared<inverse_gaussian_clock>(delta, gamma), drift, beta, 1,
                           [alpha, beta, delta](double years) {
                               return fourier::characteristic_of(fourier::nig{alpha, beta, delta}, years);
                           }});
}

}  // namespace tilewalk::models
