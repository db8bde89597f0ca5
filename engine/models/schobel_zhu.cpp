// SPDX-License-Identifier: Apache-2.0
// Schobel and Zhu (1999): the volatility itself reverts to a mean, ds = kappa (theta - s) dt + sigma dW', and
// may pass through zero. It is drawn exactly; what the asset shares with it follows from where it went, as in
// Broadie and Kaya's and Andersen's schemes for Heston's model, with the integrals of s and s^2 over a step
// by the trapezoid rule.
#include <algorithm>
#include <functional>
#include <memory>

#include "engine/models/model.h"
#include "kernels/math.h"

namespace tilewalk::models {

namespace {

using program::value;

// Below it the volatility counts as known: what the asset shares with it is divided by it.
constexpr double least_sigma = 1e-6;

struct parameters_of_volatility {
    double vol0 = 0, kappa = 0, theta = 0, sigma = 0, rho = 0, steps_per_year = 0;

    double shared() const { return sigma > least_sigma ? rho : 0; }
};

class schobel_zhu_walk final : public walk {
  public:
    schobel_zhu_walk(const parameters_of_volatility& p, const markets::asset& of) : p_(p), of_(of) {}

    double longest_step(double) const override { return 1 / p_.steps_per_year; }
    void begin(step& of) override { volatility_ = of.state("volatility", p_.vol0); }

    moved record(step& of, value x) override {
        const auto row = [&](std::string_view name,
                             double (*number)(const parameters_of_volatility&, double)) {
            return of.row(name, [this, number](double from, double to) { return number(p_, to - from); });
        };
        using p = parameters_of_volatility;
        const value decay = row("decay", [](const p& by, double dt) { return kernels::exp(-by.kappa * dt); });
        const value risen = row(
            "risen", [](const p& by, double dt) { return by.theta * (1 - kernels::exp(-by.kappa * dt)); });
        const value noise = row("noise", [](const p& by, double dt) {
            const double reverted = 2 * by.kappa * dt;
            // Of the variance of the volatility over the step, what it would be without reversion.
            const double share = reverted < 1e-8 ? 1 : (1 - kernels::exp(-reverted)) / reverted;
            return by.sigma * kernels::sqrt(share);
        });
        const value half = row("half", [](const p&, double dt) { return 0.5 * dt; });
        const value s = of.into().read(volatility_), noise_of_volatility = of.other(0);
        const value after = fma(s, decay, fma(noise, noise_of_volatility, risen));

        const value squares = fma(s, s, after * after), variance = half * squares;
        const value of_square = row("of_square", [](const p& by, double dt) {
            const double per = by.sigma > least_sigma ? by.shared() / by.sigma : 0;
            return 0.5 * dt * (per * by.kappa - 0.5);
        });
        const value of_level = row("of_level", [](const p& by, double dt) {
            const double per = by.sigma > least_sigma ? by.shared() / by.sigma : 0;
            return -0.5 * dt * per * by.kappa * by.theta;
        });
        const value of_growth = row("of_growth", [](const p& by, double) {
            return by.sigma > least_sigma ? 0.5 * by.shared() / by.sigma : 0;
        });
        const value steady =
            row("steady", [](const p& by, double dt) { return -0.5 * by.shared() * by.sigma * dt; });
        const value unshared = row("unshared", [](const p& by, double dt) {
            return 1 / kernels::sqrt(std::max(1 - by.shared() * by.shared(), 1e-12) * dt);
        });
        const value alone_share = row(
            "alone_share", [](const p& by, double) { return kernels::sqrt(1 - by.shared() * by.shared()); });
        const value correlation = row("correlation", [](const p& by, double) { return -by.shared(); });
        const value alone = unshared * fma(correlation, noise_of_volatility, of.own());
        const value growth = fma(after, after, -(s * s));
        of.into().write(volatility_, after);
        if (is_watched_) of.into().write(between_, variance);
        return {x + (steady + fma(of_square, squares,
                                  fma(of_level, s + after,
                                      fma(of_growth, growth, alone_share * sqrt(variance) * alone))))};
    }

    value variance_between(step& of, value) override {
        if (!is_watched_) between_ = of.state("between", 0.0);
        is_watched_ = true;
        return of.into().read(between_);
    }
    std::string why_not_lognormal() const override {
        return "is not known ahead under stochastic volatility; expected an asset with a volatility";
    }
    location where() const override { return of_.where; }

  private:
    const parameters_of_volatility& p_;
    const markets::asset& of_;
    std::uint32_t volatility_ = 0, between_ = 0;
    bool is_watched_ = false;
};

class schobel_zhu final : public model {
  public:
    explicit schobel_zhu(const parameters_of_volatility& p) : p_(p) {}
    std::string describe() const override {
        return "schobel_zhu, at least " + config::shown(p_.steps_per_year) + " steps a year";
    }
    std::vector<own_factor> own_factors() const override { return {{"volatility", by_term::flat(p_.rho)}}; }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        return std::make_unique<schobel_zhu_walk>(p_, of);
    }

  private:
    parameters_of_volatility p_;
};

}  // namespace

std::shared_ptr<const model> read_schobel_zhu(const config::node& parameters, const reading&) {
    parameters.only({"vol0", "kappa", "theta", "sigma", "rho", "steps_per_year"});
    parameters_of_volatility p;
    p.vol0 = read_parameter(parameters, "vol0", {0, 5});
    p.kappa = read_parameter(parameters, "kappa", {0, 100});
    p.theta = read_parameter(parameters, "theta", {0, 5});
    p.sigma = read_parameter(parameters, "sigma", {0, 10});
    p.rho = read_parameter(parameters, "rho", {-1, 1});
    // The trapezoid rule errs with the square of a step and what the volatility does over it.
    p.steps_per_year = read_parameter(parameters, "steps_per_year", {0.01, 100'000},
                                      std::max({16.0, 8 * p.kappa, 40 * p.sigma}));
    return std::make_shared<schobel_zhu>(p);
}

}  // namespace tilewalk::models
