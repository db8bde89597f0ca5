// SPDX-License-Identifier: Apache-2.0
// Rough Bergomi (Bayer, Friz and Gatheral 2016): the variance is xi(t) exp(eta Y(t) - eta^2 var Y(t) / 2)
// with the Gaussian process of rough_noise.h. The log asset takes an Euler step with the variance at its
// start, so the mean of the variance is xi and every step is a martingale.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "engine/models/model.h"
#include "engine/models/rough_noise.h"
#include "kernels/math.h"

namespace tilewalk::models {

step_facts steps_of_rough_bergomi() {
    return {.scheme =
                "hybrid: noise of the newest step exact, kernel of the past as up to 16 exponentials; Euler "
                "for the log asset",
            .weak_order = "min(1, 3 H + 1/2)",
            .leaves = 1.3,
            .factors = "2",
            .held_against = "simulation with the exact covariance, SABR at H = 1/2, power law of the skew"};
}

namespace {

using program::value;

struct rough_parameters {
    by_term xi;
    double eta = 0, rho = 0, hurst = 0, steps_per_year = 0;
    double least_steps = 0;  // minimum number of steps of a path; 0 if the user set steps_per_year
};

class rough_bergomi_walk final : public walk {
  public:
    rough_bergomi_walk(const rough_parameters& p, const markets::asset& of) : p_(p), of_(of) {}

    void add_breaks(double last, std::vector<double>& times) const override { p_.xi.add_breaks(last, times); }
    double longest_step(const path_ahead& of) const override {
        const double usual = 1 / p_.steps_per_year;
        return p_.least_steps > 0 ? std::min(usual, of.last() / p_.least_steps) : usual;
    }

    void begin(section_at_hand& of) override {
        noise_.emplace(p_.hurst, of.grid());
        variance_ = of.state("variance", p_.xi.from(0));
        for (std::size_t j = 0; j < noise_->factors(); ++j)
            factors_.push_back(of.state("factor" + std::to_string(j), 0.0));
    }

    arrival record(step& of, value x) override {
        const auto row = [&](const std::string& name,
                             const std::function<double(const rough_noise::step&)>& number) {
            return of.row(name, [&](double from, double) { return number(noise_->from(from)); });
        };
        const value v = of.into().read(variance_), move = of.other(0);
        const value length = of.row("length", [](double from, double to) { return to - from; });
        if (is_watched_) of.into().write(between_, length * v);

        // With hurst 1/2 the kernel is constant, and a step of Y is dZ alone.
        const bool is_rough = noise_->steps().front().of_fresh > 0;
        const value fresh = is_rough ? of.lone_normal() : value();
        const auto with_noise = [&](const std::string& name, value base, auto&& move_of, auto&& fresh_of) {
            const value moved = fma(row(name + "_move", move_of), move, base);
            return is_rough ? fma(row(name + "_fresh", fresh_of), fresh, moved) : moved;
        };
        value past = of.into().constant(0.0);
        for (std::size_t j = 0; j < factors_.size(); ++j) {
            const std::string name = "factor" + std::to_string(j);
            const value decay =
                row(name + "_decay", [j](const rough_noise::step& s) { return s.factors[j].decay; });
            const value kept = decay * of.into().read(factors_[j]);
            past = past + kept;
            of.into().write(factors_[j],
                            with_noise(
                                name, kept, [j](const rough_noise::step& s) { return s.factors[j].of_move; },
                                [j](const rough_noise::step& s) { return s.factors[j].of_fresh; }));
        }
        const value y = with_noise(
            "newest", past, [](const rough_noise::step& s) { return s.of_move; },
            [](const rough_noise::step& s) { return s.of_fresh; });
        const value eta = row("eta", [this](const rough_noise::step&) { return p_.eta; });
        const value correction = row(
            "correction", [this](const rough_noise::step& s) { return -0.5 * p_.eta * p_.eta * s.variance; });
        const value xi = of.row("xi", [this](double, double to) { return p_.xi.from(to); });
        of.into().write(variance_, xi * exp(fma(eta, y, correction)));
        return {x + fma(-0.5 * length, v, sqrt(v) * of.own())};
    }
    bool is_martingale() const override { return true; }

    value variance_between(section_at_hand& of, value) override {
        if (!is_watched_) between_ = of.state("between", 0.0);
        is_watched_ = true;
        return of.into().read(between_);
    }
    std::string detail() const override {
        return fmt::format(", the past in {} exponentials within {:.1e} of the kernel", noise_->factors(),
                           noise_->kernel().error);
    }
    std::string why_not_lognormal() const override {
        return "is not known ahead under rough variance; expected an asset with a volatility";
    }
    location where() const override { return of_.where; }

  private:
    const rough_parameters& p_;
    const markets::asset& of_;
    std::optional<rough_noise> noise_;  // set by begin()
    std::uint32_t variance_ = 0, between_ = 0;
    std::vector<std::uint32_t> factors_;
    bool is_watched_ = false;
};

class rough_bergomi final : public model {
  public:
    explicit rough_bergomi(rough_parameters p) : p_(std::move(p)) {}
    std::string describe() const override {
        return "rough_bergomi, hurst " + config::shown(p_.hurst) + ", at least " +
               config::about(p_.steps_per_year) + " steps a year";
    }
    std::vector<own_factor> own_factors() const override { return {{"variance", by_term::flat(p_.rho)}}; }
    std::optional<double> steps_leave() const override {
        return p_.least_steps > 0 ? steps_of_rough_bergomi().leaves : std::nullopt;
    }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        return std::make_unique<rough_bergomi_walk>(p_, of);
    }

  private:
    rough_parameters p_;
};

// Default steps. For options of half a year to two years, a fifth out of the money (H100, 2^24 paths), prices
// with 250 steps a year differ from prices with steps a quarter as long by 4.3 basis points of the spot at
// (xi 0.055, eta 1.9, rho -0.9, hurst 0.07), by 1.1 at (0.04, 1.5, -0.7, 0.1) and by less than 0.2 at (0.04,
// 1, -0.7, 0.3). The weak order gives the number of steps that brings the first difference below 2.
double usual_steps_per_year(const rough_parameters& p) {
    constexpr double fewest = 250, most = 4000, mild = 0.18;
    const double xi = *std::ranges::max_element(p.xi.values);
    const double wild = p.eta * p.eta * kernels::abs(p.rho) * kernels::sqrt(xi) / mild;
    if (!(wild > 1)) return fewest;
    const double order = std::min(1.0, 3 * p.hurst + 0.5);
    return std::min(std::ceil(fewest * kernels::pow(wild, 1 / order)), most);
}

constexpr parameter_row rough_bergomi_rows[]{
    {.name = "xi", .within = {{0, 25}}, .meaning = "mean of the variance", .may_be_by_term = true},
    {.name = "eta", .within = {{0, 5}}, .meaning = "volatility of the variance"},
    // With rho > 0 the asset would not be a martingale (Gassiat 2019), and option prices would not converge.
    {.name = "rho", .within = {{-1, 0}}, .meaning = "correlation of the asset and its variance"},
    {.name = "hurst",
     .within = {{0, 0.5, false, true}},
     .meaning = "roughness of the variance, its Hurst exponent: 0.5 is not rough"},
    {.name = "steps_per_year",
     .within = {{0.01, 100'000}},
     .meaning = "least steps a year",
     .otherwise = "computed: 250 to 4000, by xi, eta, rho and hurst"}};

}  // namespace

extern const parameter_table parameters_of_rough_bergomi = rough_bergomi_rows;

std::shared_ptr<const model> read_rough_bergomi(const config::node& parameters, const reading& of) {
    refuse_others(parameters, parameters_of_rough_bergomi);
    rough_parameters p;
    p.xi = read_by_term(parameters, find_row(rough_bergomi_rows, "xi"), of.as_of);
    p.eta = read_parameter(parameters, find_row(rough_bergomi_rows, "eta"));
    p.rho = read_parameter(parameters, find_row(rough_bergomi_rows, "rho"));
    p.hurst = read_parameter(parameters, find_row(rough_bergomi_rows, "hurst"));
    p.steps_per_year =
        read_parameter(parameters, find_row(rough_bergomi_rows, "steps_per_year"), usual_steps_per_year(p));
    p.least_steps = parameters.find("steps_per_year") == nullptr ? 50 : 0;
    return std::make_shared<rough_bergomi>(std::move(p));
}

}  // namespace tilewalk::models
