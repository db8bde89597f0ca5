// SPDX-License-Identifier: Apache-2.0
// The short rate is the curve's forward rate plus normal factors that revert to 0, one (Hull and White 1990)
// or two (G2++, Brigo and Mercurio 2006, section 4.2): r(t) = f(0, t) + convexity(t) + sum of x_k(t). The
// factors and the integral of their sum are jointly normal, so steps of any length are exact. A log bond is
// linear in the factors.
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/market/wording.h"
#include "engine/models/rates/rates.h"
#include "kernels/math.h"
#include "products/program/row_names.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

step_facts steps_of_hull_white() {
    return {.scheme = "exact between dates",
            .factors = "1",
            .held_against =
                "closed forms of bond options, caps and swaptions, martingale tests, 11 published prices"};
}

step_facts steps_of_g2() {
    return {.scheme = "exact between dates",
            .factors = "2",
            .held_against = "closed forms of bond options, caps and swaptions, martingale tests"};
}

namespace {

using markets::volatility;
using program::value;

// A factor of the short rate: dx = -decay x dt + scale(t) dW.
struct normal_factor {
    double decay = 0;
    volatility scale = volatility::flat(0);

    loading decaying() const { return {loading::shape::decaying, decay}; }
    loading integrated() const { return {loading::shape::integrated, decay}; }
};

struct gaussian {
    std::string name;  // name of the model
    std::string currency;
    location where;
    std::vector<normal_factor> factors;
    double rho = 0;  // correlation of two factors

    double noise(std::size_t k, loading::shape by_k, std::size_t l, loading::shape by_l, double from,
                 double to) const {
        const normal_factor &f = factors[k], &g = factors[l];
        return (k == l ? 1 : rho) * covariance(f.scale, {by_k, f.decay}, g.scale, {by_l, g.decay}, from, to);
    }
};

// Covariances of the factors and of the time integral of their sum, at one time.
struct rate_moments {
    std::vector<double> of_factors;   // covariances of the factors, row by row
    std::vector<double> of_integral;  // covariances of the integral with each factor
    double integral = 0;              // variance of the integral

    explicit rate_moments(std::size_t factors) : of_factors(factors * factors, 0), of_integral(factors, 0) {}

    rate_moments after(const gaussian& g, double from, double to) const {
        using shape = loading::shape;
        const std::size_t n = of_integral.size();
        rate_moments next(n);
        next.integral = integral;
        const auto left = [&](std::size_t k) {
            return loading{shape::decaying, g.factors[k].decay}.at(to - from);
        };
        const auto gone = [&](std::size_t k) { return integrated_decay(g.factors[k].decay, to - from); };
        for (std::size_t k = 0; k < n; ++k) {
            double with_integral = of_integral[k];
            for (std::size_t l = 0; l < n; ++l) {
                const double both = of_factors[k * n + l];
                with_integral += gone(l) * both;
                next.of_factors[k * n + l] =
                    left(k) * left(l) * both + g.noise(k, shape::decaying, l, shape::decaying, from, to);
                next.of_integral[k] += g.noise(k, shape::decaying, l, shape::integrated, from, to);
                next.integral +=
                    gone(k) * gone(l) * both + g.noise(k, shape::integrated, l, shape::integrated, from, to);
            }
            next.of_integral[k] += left(k) * with_integral;
            next.integral += 2 * gone(k) * of_integral[k];
        }
        return next;
    }
};

class gaussian_walk final : public rate_walk {
  public:
    gaussian_walk(const gaussian& of, const markets::curve& today) : of_(of), today_(today) {}

    std::vector<std::vector<rate_noise>> noises() const override {
        std::vector<std::vector<rate_noise>> out;
        std::vector<rate_noise> of_integral;
        for (std::size_t k = 0; k < of_.factors.size(); ++k) {
            const normal_factor& f = of_.factors[k];
            out.push_back({{k, &f.scale, f.decaying()}});
            of_integral.push_back({k, &f.scale, f.integrated()});
        }
        out.push_back(std::move(of_integral));
        return out;
    }

    // Throws if the exponential of the integral of the rate varies too much for samples to find its mean.
    void add_breaks(double last, std::vector<double>&) const override {
        constexpr double most_variance = 100;
        const double variance = rate_moments(of_.factors.size()).after(of_, 0, last).integral;
        if (variance <= most_variance) return;
        throw error(error_kind::input,
                    "the rates of " + of_.currency + " move too far until " + markets::rounded(last) +
                        " years: the variance of their integral is " + markets::rounded(variance) +
                        ", expected at most " + markets::rounded(most_variance) +
                        "; lower the volatility, or raise the mean reversion",
                    of_.where);
    }

    void begin(section_at_hand& of) override {
        for (std::size_t k = 0; k < of_.factors.size(); ++k)
            factors_.push_back(of.state(std::string(program::row_names::rate) + std::to_string(k), 0));
        growth_ = of.state("growth", 0);
        times_ = of.grid();
        known_.assign(1, rate_moments(of_.factors.size()));
        for (std::size_t i = 0; i + 1 < times_.size(); ++i)
            known_.push_back(known_.back().after(of_, times_[i], times_[i + 1]));
    }

    void record(rate_step& of) override {
        const std::size_t n = factors_.size();
        value growth =
            of.into().read(growth_) + of.row(program::row_names::convexity, [&](double from, double to) {
                return 0.5 * (at(to).integral - at(from).integral);
            });
        std::vector<value> next;
        for (std::size_t k = 0; k < n; ++k) {
            const normal_factor& f = of_.factors[k];
            const std::string of_factor = std::to_string(k);
            const value x = of.into().read(factors_[k]);
            const value decay = of.row("decay" + of_factor,
                                       [&](double from, double to) { return f.decaying().at(to - from); });
            const value length = of.row("integrated" + of_factor, [&](double from, double to) {
                return integrated_decay(f.decay, to - from);
            });
            next.push_back(fma(decay, x, of.noise(k)));
            growth = fma(length, x, growth);
        }
        of.into().write(growth_, growth + of.noise(n));
        for (std::size_t k = 0; k < n; ++k) of.into().write(factors_[k], next[k]);
    }

    value log_growth(section_at_hand& of) const override { return of.into().read(growth_); }

    // P(t, T) is P(0, T) / P(0, t) times the exponential of -sum of B_k x_k - half the sum of B_k B_l
    // cov(x_k, x_l) + 2 B_k cov(x_k, I_l), with the integrated decays B over T - t, integrals I and
    // covariances at t. The last sum is the variance that the integral until T adds to the integral until t.
    value bond(section_at_hand& of, std::span<const double> maturities,
               const std::string& named) const override {
        const auto by_run = [&](const std::string& name, const auto& number) {
            std::size_t run = 0;
            return of.row(name + " " + named,
                          [&](double, double now) { return number(now, maturities[run++]); });
        };
        const auto left = [&](std::size_t k, double now, double until) {
            return integrated_decay(of_.factors[k].decay, std::max(until - now, 0.0));
        };
        value exponent = by_run("bond_convexity", [&](double now, double until) {
            const rate_moments& then = at(now);
            const std::size_t n = of_.factors.size();
            double sum = 0;
            for (std::size_t k = 0; k < n; ++k) {
                double of_both = 2 * then.of_integral[k];
                for (std::size_t l = 0; l < n; ++l)
                    of_both += left(l, now, until) * then.of_factors[k * n + l];
                sum += left(k, now, until) * of_both;
            }
            return -0.5 * sum;
        });
        for (std::size_t k = 0; k < of_.factors.size(); ++k) {
            const value slope = by_run("bond_slope" + std::to_string(k),
                                       [&](double now, double until) { return -left(k, now, until); });
            exponent = fma(slope, of.into().read(factors_[k]), exponent);
        }
        const value expected = by_run(
            "bond", [&](double now, double until) { return today_.discount(until) / today_.discount(now); });
        return expected * exp(exponent);
    }

  private:
    const rate_moments& at(double time) const {
        const auto place = std::ranges::lower_bound(times_, time - dates::same_time_years);
        return known_[static_cast<std::size_t>(place - times_.begin())];
    }

    const gaussian& of_;
    const markets::curve& today_;
    std::vector<rate_moments> known_;  // moments at each grid time
    std::span<const double> times_;
    std::vector<std::uint32_t> factors_;
    std::uint32_t growth_ = 0;
};

class gaussian_model final : public rate_model {
  public:
    explicit gaussian_model(gaussian of) : of_(std::move(of)) {}

    std::string describe() const override { return of_.name + ", exact between dates"; }
    bool is_exact() const override { return true; }
    std::vector<own_factor> factors() const override {
        std::vector<own_factor> out{{"rate", by_term::flat(1)}};
        if (of_.factors.size() > 1) out.push_back({"rate_2", by_term::flat(of_.rho)});
        return out;
    }
    location where() const override { return of_.where; }
    std::unique_ptr<rate_walk> start(const markets::curve& today) const override {
        return std::make_unique<gaussian_walk>(of_, today);
    }

  private:
    gaussian of_;
};

normal_factor read_factor(const config::node& parameters, const parameter_row& decay,
                          const parameter_row& scale, dates::date as_of) {
    const by_term levels = read_by_term(parameters, scale, as_of);
    return {read_parameter(parameters, decay), volatility::piecewise(levels.years, levels.values)};
}

constexpr range of_decay{0, 10}, of_scale{0, 1};
constexpr parameter_row hull_white_rows[]{
    {.name = "mean_reversion", .within = of_decay, .meaning = "speed of reversion"},
    {.name = "volatility",
     .within = of_scale,
     .meaning = "volatility of the short rate",
     .may_be_by_term = true}};
constexpr parameter_row g2_rows[]{
    {.name = "a", .within = of_decay, .meaning = "speed of reversion of the first factor"},
    {.name = "sigma",
     .within = of_scale,
     .meaning = "volatility of the first factor",
     .may_be_by_term = true},
    {.name = "b", .within = of_decay, .meaning = "speed of reversion of the second factor"},
    {.name = "eta", .within = of_scale, .meaning = "volatility of the second factor", .may_be_by_term = true},
    {.name = "rho", .within = {{-1, 1}}, .meaning = "correlation of the factors"}};

}  // namespace

extern const parameter_table parameters_of_hull_white = hull_white_rows, parameters_of_g2 = g2_rows;

std::shared_ptr<const rate_model> read_hull_white(const config::node& parameters, const rate_reading& of) {
    refuse_others(parameters, parameters_of_hull_white);
    return std::make_shared<gaussian_model>(
        gaussian{"hull_white",
                 of.currency,
                 parameters.where(),
                 {read_factor(parameters, find_row(hull_white_rows, "mean_reversion"),
                              find_row(hull_white_rows, "volatility"), of.as_of)},
                 0});
}

std::shared_ptr<const rate_model> read_g2(const config::node& parameters, const rate_reading& of) {
    refuse_others(parameters, parameters_of_g2);
    return std::make_shared<gaussian_model>(
        gaussian{"g2",
                 of.currency,
                 parameters.where(),
                 {read_factor(parameters, find_row(g2_rows, "a"), find_row(g2_rows, "sigma"), of.as_of),
                  read_factor(parameters, find_row(g2_rows, "b"), find_row(g2_rows, "eta"), of.as_of)},
                 read_parameter(parameters, find_row(g2_rows, "rho"))});
}

}  // namespace tilewalk::models
