// SPDX-License-Identifier: Apache-2.0
// Schobel and Zhu (1999): the volatility reverts to a mean, ds = kappa (theta - s) dt + sigma dW', and may
// pass through zero. Steps draw it exactly. The integrals of s and s^2 over a step are replaced by their
// means on a bridge between both ends, and the variance of the integrals is added to the asset's. Every step
// is corrected to be a martingale. The weak order is 2.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "engine/models/known_law.h"
#include "engine/models/model.h"
#include "kernels/math.h"

namespace tilewalk::models {

step_facts steps_of_schobel_zhu() {
    return {.scheme = "exact volatility; its integrals over a step by their means given both ends",
            .weak_order = "2",
            .leaves = 1.0,
            .factors = "2",
            .held_against = "Fourier integrals, 135 published prices"};
}

namespace {

using program::value;

// A polynomial in the volatility s before a step and its noise n over the step, whose variance is about dt.
struct quadratic {
    double one = 0, s = 0, ss = 0, n = 0, sn = 0, nn = 0;

    friend quadratic operator+(const quadratic& a, const quadratic& b) {
        return {a.one + b.one, a.s + b.s, a.ss + b.ss, a.n + b.n, a.sn + b.sn, a.nn + b.nn};
    }
    friend quadratic operator*(double by, const quadratic& a) {
        return {by * a.one, by * a.s, by * a.ss, by * a.n, by * a.sn, by * a.nn};
    }
    quadratic squared() const { return {one * one, 2 * one * s, s * s, 2 * one * n, 2 * s * n, n * n}; }
    quadratic shifted(double from) const {
        return {one - from * s + from * from * ss, s - 2 * from * ss, ss, n - from * sn, sn, nn};
    }
};

struct parameters_of_volatility {
    double vol0 = 0, kappa = 0, theta = 0, sigma = 0, rho = 0, steps_per_year = 0, watched_steps_per_year = 0;
    double least_steps = 0;  // minimum number of steps of a path; 0 if the user set steps_per_year
};

// A step: s moves to decay s + risen + sigma n, the log asset by growth + sqrt(variance) z (normals n, z).
struct volatility_step {
    double decay = 0, risen = 0, noise = 0;  // noise: standard deviation of n
    quadratic integral;                      // integral of s^2
    quadratic growth, variance;
    bool is_martingale = false;

    volatility_step(const parameters_of_volatility& p, double dt) {
        const double h = p.kappa * dt, e = kernels::exp(-h), e2 = e * e;
        decay = e;
        risen = p.theta * (1 - e);
        // On the bridge of y = s - theta from y to y', the mean of the integral of y is level (y + y'), and
        // the mean of the integral of y^2 is ends (y^2 + y'^2) + 2 cross y y' + sigma^2 spread. sigma^2
        // wander is the variance of the integral of y. All are elementary; series replace them for small h.
        double share, level, ends, cross, spread, wander;
        if (h < 0.01) {
            const double hh = h * h;
            share = 1 - h + hh * (2.0 / 3 - h / 3 + hh * 2 / 15);
            level = dt * (1.0 / 2 - hh * (1.0 / 24 - hh / 240));
            ends = dt * (1.0 / 3 - hh * (2.0 / 45 - hh * 2 / 315));
            cross = dt * (1.0 / 6 - hh * (7.0 / 180 - hh * 31 / 5040));
            spread = dt * dt * (1.0 / 6 - hh * (1.0 / 90 - hh / 945));
            wander = dt * dt * dt * (1.0 / 12 - hh * (1.0 / 120 - hh * 17 / 20160));
        } else {
            const double open = 1 - e2, bent = h * (1 + e2) - open;
            share = open / (2 * h);
            level = (1 - e) / ((1 + e) * p.kappa);
            ends = (1 - e2 * e2 - 4 * h * e2) / (2 * p.kappa * open * open);
            cross = e * bent / (p.kappa * open * open);
            spread = bent / (2 * p.kappa * p.kappa * open);
            wander = (dt - 2 * level) / (p.kappa * p.kappa);
        }
        noise = kernels::sqrt(share * dt);

        // The integral as a polynomial in y and n, by y' = e y + sigma n.
        integral = quadratic{p.theta * p.theta * dt + p.sigma * p.sigma * spread,
                             2 * p.theta * level * (1 + e),
                             ends * (1 + e2) + 2 * cross * e,
                             2 * p.theta * level * p.sigma,
                             2 * p.sigma * (ends * e + cross),
                             ends * p.sigma * p.sigma}
                       .shifted(p.theta);
        // The integral of s dW', by Ito's formula; divisions by sigma cancel.
        const quadratic of_noise = quadratic{p.sigma * (p.kappa * spread - 0.5 * dt),
                                             0,
                                             0,
                                             p.theta * (1 + p.kappa * level),
                                             e + 2 * p.kappa * (ends * e + cross),
                                             p.sigma * (0.5 + p.kappa * ends)}
                                       .shifted(p.theta);
        const double unshared = 1 - p.rho * p.rho;
        growth = -0.5 * integral + p.rho * of_noise;
        variance = unshared * integral;
        // Adds the variance of the integrals; without noise of its own (|rho| = 1) the asset can't carry it.
        if (unshared > least_unshared) {
            const double of_mean = 2 * p.rho * p.kappa - p.sigma;
            const quadratic slope = quadratic{of_mean * p.theta - p.rho * p.kappa * p.theta,
                                              0.5 * of_mean * (1 + e), 0, 0.5 * of_mean * p.sigma}
                                        .shifted(p.theta);
            variance = variance + wander * slope.squared();
        }
        is_martingale = correct(share * dt);
    }

    static constexpr double least_unshared = 1e-12;

  private:
    // Makes the step a martingale: subtracts log E exp(growth + variance / 2) over the normal n from
    // `growth`. Returns false if there is no mean.
    bool correct(double variance_of_noise) {
        const quadratic all = growth + 0.5 * variance;
        const double room = 1 - 2 * all.nn * variance_of_noise;
        if (!(room > 0)) return false;
        const double half = 0.5 * variance_of_noise / room;
        growth.one -= all.one + half * all.n * all.n - 0.5 * kernels::log(room);
        growth.s -= all.s + 2 * half * all.n * all.sn;
        growth.ss -= all.ss + half * all.sn * all.sn;
        return true;
    }
};

class schobel_zhu_walk final : public walk {
  public:
    schobel_zhu_walk(const parameters_of_volatility& p, const markets::asset& of) : p_(p), of_(of) {}

    double longest_step(const path_ahead& of) const override {
        const double usual = 1 / p_.steps_per_year;
        return p_.least_steps > 0 ? std::min(usual, of.last() / p_.least_steps) : usual;
    }
    double longest_watched_step() const override { return 1 / p_.watched_steps_per_year; }
    void begin(section_at_hand& of) override { volatility_ = of.state("volatility", p_.vol0); }

    arrival record(step& of, value x) override {
        const std::span<const double> grid = of.grid();
        is_martingale_ = true;
        for (std::size_t i = 0; i + 1 < grid.size(); ++i)
            is_martingale_ = is_martingale_ && volatility_step(p_, grid[i + 1] - grid[i]).is_martingale;
        const auto row = [&](const std::string& name,
                             const std::function<double(const volatility_step&)>& f) {
            return of.row(name, [&](double from, double to) { return f(volatility_step(p_, to - from)); });
        };
        const value s = of.into().read(volatility_);
        const step::apart noise = of.noise_apart(0);
        const value n = row("noise", [](const volatility_step& by) { return by.noise; }) * noise.other;
        const auto made = [&](const std::string& name, quadratic volatility_step::*which) {
            const auto part = [&](const char* of_what, double quadratic::*number) {
                return row(name + of_what, [=](const volatility_step& by) { return (by.*which).*number; });
            };
            const value of_s = fma(s, part("_ss", &quadratic::ss), part("_s", &quadratic::s));
            const value of_n = fma(s, part("_sn", &quadratic::sn),
                                   fma(n, part("_nn", &quadratic::nn), part("_n", &quadratic::n)));
            return fma(s, of_s, fma(n, of_n, part("_one", &quadratic::one)));
        };
        const value sigma = row("sigma", [this](const volatility_step&) { return p_.sigma; });
        const value decay = row("decay", [](const volatility_step& by) { return by.decay; });
        const value risen = row("risen", [](const volatility_step& by) { return by.risen; });
        of.into().write(volatility_, fma(s, decay, fma(sigma, n, risen)));
        if (is_watched_) of.into().write(between_, max(made("integral", &volatility_step::integral), 0.0));

        const value deviation = sqrt(max(made("variance", &volatility_step::variance), 0.0));
        return {x + fma(deviation, noise.alone, made("growth", &volatility_step::growth))};
    }

    bool is_martingale() const override { return is_martingale_; }

    value variance_between(section_at_hand& of, value) override {
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
    bool is_watched_ = false, is_martingale_ = false;
};

class schobel_zhu final : public model {
  public:
    explicit schobel_zhu(const parameters_of_volatility& p) : p_(p) {}
    std::string describe() const override {
        return "schobel_zhu, at least " + config::about(p_.steps_per_year) + " steps a year, " +
               config::about(p_.watched_steps_per_year) + " where watched continuously";
    }
    std::vector<own_factor> own_factors() const override { return {{"volatility", by_term::flat(p_.rho)}}; }
    std::optional<double> implied_volatility(double years, double log_moneyness) const override {
        const fourier::schobel_zhu law{p_.vol0, p_.kappa, p_.theta, p_.sigma, p_.rho};
        return implied_by([&] { return fourier::characteristic_of(law, years); }, years, log_moneyness);
    }
    std::optional<double> steps_leave() const override {
        return p_.least_steps > 0 ? steps_of_schobel_zhu().leaves : std::nullopt;
    }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        return std::make_unique<schobel_zhu_walk>(p_, of);
    }

  private:
    parameters_of_volatility p_;
};

constexpr parameter_row schobel_zhu_rows[]{
    {.name = "vol0", .within = {{0, 5}}, .meaning = "volatility today"},
    {.name = "kappa", .within = {{0, 100}}, .meaning = "speed of reversion"},
    {.name = "theta", .within = {{0, 5}}, .meaning = "mean of the volatility"},
    {.name = "sigma", .within = {{0, 10}}, .meaning = "volatility of the volatility"},
    {.name = "rho", .within = {{-1, 1}}, .meaning = "correlation of the asset and its volatility"},
    {.name = "steps_per_year",
     .within = {{0.01, 100'000}},
     .meaning = "least steps a year",
     .otherwise = "computed: the largest of 16, 8 kappa and 40 sigma"},
    {.name = "watched_steps_per_year",
     .within = {{1, 100'000}},
     .meaning = "least steps a year where watched continuously",
     .otherwise = "computed: the larger of 100 and 400 sigma"}};

}  // namespace

extern const parameter_table parameters_of_schobel_zhu = schobel_zhu_rows;

std::shared_ptr<const model> read_schobel_zhu(const config::node& parameters, const reading&) {
    refuse_others(parameters, parameters_of_schobel_zhu);
    parameters_of_volatility p;
    p.vol0 = read_parameter(parameters, find_row(schobel_zhu_rows, "vol0"));
    p.kappa = read_parameter(parameters, find_row(schobel_zhu_rows, "kappa"));
    p.theta = read_parameter(parameters, find_row(schobel_zhu_rows, "theta"));
    p.sigma = read_parameter(parameters, find_row(schobel_zhu_rows, "sigma"));
    p.rho = read_parameter(parameters, find_row(schobel_zhu_rows, "rho"));
    // The trapezoid rule's error grows with the square of the step and the volatility's movement in a step.
    p.steps_per_year = read_parameter(parameters, find_row(schobel_zhu_rows, "steps_per_year"),
                                      std::max({16.0, 8 * p.kappa, 40 * p.sigma}));
    // A single step is nearly lognormal, so short paths have at least 8 steps: options of a few days far from
    // the money would otherwise see no smile. The default of watched steps follows Heston's rule.
    p.least_steps = parameters.find("steps_per_year") == nullptr ? 8 : 0;
    p.watched_steps_per_year = read_parameter(
        parameters, find_row(schobel_zhu_rows, "watched_steps_per_year"), std::max(100.0, 400 * p.sigma));
    return std::make_shared<schobel_zhu>(p);
}

}  // namespace tilewalk::models
