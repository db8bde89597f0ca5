// SPDX-License-Identifier: Apache-2.0
// Variance gamma (Madan, Carr and Chang 1998): Brownian motion on a gamma clock of variance nu a year.
#include <array>
#include <memory>
#include <vector>

#include "engine/market/wording.h"
#include "engine/models/jumps.h"
#include "engine/models/subordinated.h"
#include "kernels/math.h"

namespace tilewalk::models {

step_facts steps_of_variance_gamma() {
    return {.scheme = "exact: Brownian motion at gamma times (drawn as by Marsaglia and Tsang)",
            .held_against = "Fourier integrals, 27 published prices"};
}

namespace {

using program::value;

// Draws the clock's time by Marsaglia and Tsang (2000): d (1 + c z)^3 with a normal z, accepted or rejected
// by a uniform. In place of a loop, takes the first accepted of seven tries, or the seventh without a test.
// The shape is raised to at least 2, where a try is rejected with probability below 0.0184, and lowered again
// by two uniforms. Six rejections have probability 4e-11; the law is wrong only if the seventh try would be
// rejected as well, with probability 0.0184^7 < 1e-12.
class gamma_clock final : public random_clock {
  public:
    explicit gamma_clock(double nu) : nu_(nu) {}

    value over(step& of) const override {
        constexpr std::size_t tries = 7;
        constexpr double least_root = 1e-12;  // keeps logarithms finite in rejected tries
        program::recorder& into = of.into();
        const value d = of.row("gamma_d", [&](double from, double to) { return d_of(from, to); });
        const value c =
            of.row("gamma_c", [&](double from, double to) { return 1 / kernels::sqrt(9 * d_of(from, to)); });
        const value one = into.constant(1.0);

        std::vector<value> cubes, is_good;
        for (std::size_t i = 0; i < tries; ++i) {
            const value z = of.lone_normal(), t = c * z, root = max(1.0 + t, 0.0);
            cubes.push_back(root * root * root);
            if (i + 1 == tries) break;
            const value u = of.uniform();
            // The bound of log u: z^2 / 2 + d - d v + d log v, v = root^3, without cancellation near v = 1.
            const value over_one = t * fma(t, t + 3.0, 3.0 * one);
            const value least_log = 0.5 * z * z - d * (over_one - 3.0 * log(max(root, least_root)));
            is_good.push_back(log(u) < least_log && root > into.constant(least_root));
        }
        value cube = cubes.back();
        for (std::size_t i = tries - 1; i-- > 0;) cube = select(is_good[i], cubes[i], cube);

        // Lowers the shape: a gamma variate of shape a is a variate of shape a + 1 times u^(1/a).
        const value first = log(of.uniform()), second = log(of.uniform());
        const value per_shape =
            of.row("gamma_per_shape", [&](double from, double to) { return nu_ / (to - from); });
        const value per_next = of.row("gamma_per_next_shape",
                                      [&](double from, double to) { return 1 / ((to - from) / nu_ + 1); });
        const value scale =
            of.row("gamma_scale", [&](double from, double to) { return nu_ * d_of(from, to); });
        return scale * cube * exp(fma(first, per_shape, second * per_next));
    }

  private:
    double d_of(double from, double to) const { return (to - from) / nu_ + 2 - 1.0 / 3; }

    double nu_;
};

double log_less(double y) {
    if (kernels::abs(y) > 1e-3) return kernels::log(1 - y);
    return -y * (1 + y * (1.0 / 2 + y * (1.0 / 3 + y * (1.0 / 4 + y * (1.0 / 5)))));
}

constexpr parameter_row variance_gamma_rows[]{
    {.name = "sigma", .within = {{0, 5}}, .meaning = "volatility on the clock"},
    {.name = "nu", .within = {{1e-6, 100}}, .meaning = "variance of the clock a year"},
    {.name = "theta", .within = {{-5, 5}}, .meaning = "drift on the clock"}};

}  // namespace

extern const parameter_table parameters_of_variance_gamma = variance_gamma_rows;

std::shared_ptr<const model> read_variance_gamma(const config::node& parameters, const reading&) {
    refuse_others(parameters, parameters_of_variance_gamma);
    const double sigma = read_parameter(parameters, find_row(variance_gamma_rows, "sigma"));
    const double nu = read_parameter(parameters, find_row(variance_gamma_rows, "nu"));
    const double theta = read_parameter(parameters, find_row(variance_gamma_rows, "theta"));
    const double share = theta * nu + 0.5 * sigma * sigma * nu;
    if (!(share < 1)) {
        parameters.fail("found theta nu + sigma^2 nu / 2 = " + markets::rounded(share) +
                        ", with which the asset has no mean; expected it below 1");
    }
    const double drift = log_less(share) / nu;
    expect_moderate(parameters, -(drift + theta));
    return model_on_clock(
        {"variance_gamma", std::make_shared<gamma_clock>(nu), drift, theta, sigma,
         [sigma, nu, theta](double years) {
             return fourier::characteristic_of(fourier::variance_gamma{sigma, nu, theta}, years);
         }});
}

}  // namespace tilewalk::models
