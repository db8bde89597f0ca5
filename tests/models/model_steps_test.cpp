// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (hundreds of millions of path-steps)
// Steps of models on hand-made shocks: the mean of the asset after one step by quadrature over its normals,
// and the room for jumps in a step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "bench/measure/walk.h"
#include "tests/market_text.h"
#include "tests/model_market.h"
#include "tests/plain_walk.h"

namespace tilewalk::model_steps_test {
namespace {

using tests::dollar_market;
using tests::in_book;

bench::planned_walk plan_of(const std::string& model, const std::string& trade) {
    cuda::kernel_wish how;
    how.precision = program::precision::double_;
    return bench::plan_walk(in_book(dollar_market(0, {{"A", "spot: 1, model: {" + model + "}"}})) +
                                "products:\n" + forward_product + late_forward_product +
                                "trades:\n  - {id: t, " + trade + "}\n",
                            how);
}

using shocks = std::function<double(std::uint64_t number)>;

double paid(const bench::planned_walk& of, const shocks& normal, const shocks& uniform) {
    return tests::plain_walk<double>(of.code, of.trade.data, of.trade.when, normal, uniform);
}

struct gauss {
    std::vector<double> places, weights;

    explicit gauss(int points) {
        const auto both = [&](double x) {  // Hermite polynomials of the last two orders
            std::array<double, 2> h{0, 1};
            for (int n = 0; n < points; ++n) h = {h[1], x * h[1] - n * h[0]};
            return h;
        };
        double scale = 1;
        for (int n = 2; n < points; ++n) scale *= n;  // (points - 1)!
        constexpr double spacing = 1.0 / 64, end = 12;
        for (double x = -end; x < end; x += spacing) {
            double low = x, high = x + spacing;
            if (both(low)[1] * both(high)[1] > 0) continue;
            for (int i = 0; i < 60; ++i) {
                const double middle = 0.5 * (low + high);
                (both(low)[1] * both(middle)[1] > 0 ? low : high) = middle;
            }
            const double before = both(low)[0];
            places.push_back(low);
            weights.push_back(scale / (points * before * before));
        }
    }
};

struct one_step {
    std::string model;
    double years;
    int normals, points;
};

double mean_of(const one_step& s) {
    const auto walked =
        plan_of(s.model, fmt::format("product: forward, underlying: A, maturity: {}", s.years));
    EXPECT_EQ(walked.trade.when.steps(), 1u) << s.model;
    EXPECT_EQ(walked.code.normals_per_step, s.normals) << s.model;
    const gauss rule(s.points);
    EXPECT_EQ(rule.places.size(), static_cast<std::size_t>(s.points));
    std::vector<std::size_t> at(static_cast<std::size_t>(s.normals), 0);
    double sum = 0;
    for (;;) {
        double weight = 1;
        for (const std::size_t i : at) weight *= rule.weights[i];
        sum += weight * (paid(
                             walked, [&](std::uint64_t n) { return rule.places[at[n]]; },
                             [](std::uint64_t) { return 0.5; }) -
                         1);
        std::size_t k = 0;
        while (k < at.size() && ++at[k] == rule.places.size()) at[k++] = 0;
        if (k == at.size()) return sum;
    }
}

// The expansion for short steps keeps all terms that matter: a flat one of second order would be off by 1e-8.
TEST(model_steps, have_the_forward_as_their_mean) {
    const std::string mild = "v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.3, rho: -0.7, steps_per_year: ",
                      wild = "v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.9, rho: -0.9, steps_per_year: ";
    for (const one_step& s : {
             one_step{"heston: {" + mild + "1000}", 0.001, 2, 12},
             one_step{"heston: {" + wild + "1000}", 0.001, 2, 12},
             one_step{"heston: {" + mild + "1000}", 0.003, 4, 10},  // three scheme steps at a time
             one_step{"heston: {" + mild + "10}", 0.1, 2, 32},
             one_step{"heston: {" + wild + "100}", 0.01, 2, 32},
             one_step{
                 "schobel_zhu: {vol0: 0.2, kappa: 4, theta: 0.25, sigma: 0.3, rho: -0.7, steps_per_year: 20}",
                 0.05, 2, 32},
             one_step{"sabr: {alpha: 0.3, beta: 1, rho: -0.6, nu: 0.8, steps_per_year: 20}", 0.05, 2, 32},
             one_step{"sabr: {alpha: 0.3, beta: 0, rho: -0.6, nu: 0.8, steps_per_year: 20}", 0.05, 2, 32},
             one_step{"rough_bergomi: {xi: 0.04, eta: 1.5, rho: -0.7, hurst: 0.1, steps_per_year: 20}", 0.05,
                      3, 16},
         }) {
        EXPECT_NEAR(mean_of(s), 0, 1e-10) << s.model;
    }
}

double beyond(int k, double mean) {
    double sum = 0;
    for (int j = k + 1; j < k + 60; ++j) sum += std::exp(j * std::log(mean) - mean - std::lgamma(j + 1.0));
    return sum;
}

TEST(model_steps, have_room_for_the_jumps_of_the_longest) {
    const double jump = -0.125;
    int checked = 0;
    for (const std::string model :
         {"merton: {volatility: 0.1, jump_intensity: 1, jump_mean: -0.125, jump_sd: 0}",
          "bates: {v0: 0.04, kappa: 1, theta: 0.04, sigma: 0.3, rho: -0.5, steps_per_year: 2, "
          "jump_intensity: 1, "
          "jump_mean: -0.125, jump_sd: 0}"}) {
        for (const std::string dates : {"[0.001, 1.0]", "[0.999, 1.0]"}) {
            const auto walked = plan_of(model, "product: late_forward, underlying: A, dates: " + dates);
            ASSERT_EQ(walked.code.uniforms_per_step, 1) << model;
            const auto& times = walked.trade.when.times;
            const auto normal = [](std::uint64_t) { return 0.0; };
            const double none = paid(walked, normal, [](std::uint64_t) { return 1 - 0x1p-53; });
            for (std::size_t step = 0; step < walked.trade.when.steps(); ++step) {
                for (const double u : {0.3, 1e-2, 1e-4, 1e-6, 1e-9, 1e-12}) {
                    const double got =
                        paid(walked, normal, [&](std::uint64_t n) { return n == step ? u : 1 - 0x1p-53; });
                    int jumps = 0;
                    while (u < beyond(jumps, times[step + 1] - times[step])) ++jumps;
                    EXPECT_NEAR(std::log(got / none) / jump, jumps, 1e-6)
                        << model << ", dates " << dates << ", step " << step << ", u " << u;
                    checked += jumps > 4;
                }
            }
        }
    }
    EXPECT_GT(checked, 8);
}

}  // namespace
}  // namespace tilewalk::model_steps_test
