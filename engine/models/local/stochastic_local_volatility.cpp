// SPDX-License-Identifier: Apache-2.0
// Heston's variance times a leverage that reproduces an implied surface: dS / S = L(t, S) sqrt(v) dW.
// `mixing` multiplies Heston's sigma; with 0 the model is local volatility. Paths take the step of
// leveraged_step.h, as do the particles of leverage.h.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/models/local/leverage.h"
#include "engine/models/local/leveraged_step.h"
#include "engine/models/local/local_volatility.h"
#include "kernels/math.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

step_facts steps_of_stochastic_local_volatility() {
    return {.scheme =
                "quadratic-exponential variance; asset by Platen's explicit scheme, with integrated variance "
                "as time; leverage by the particle method",
            .weak_order = "above 1",
            .leaves = 2.3,
            .leaves_too = "noise of particles included",
            .factors = "2",
            .held_against =
                "input implied surface within 10 basis points of volatility (noise of particles: 2.5), local "
                "volatility, Heston"};
}

namespace {

using program::value;

struct settings {
    heston_parameters variance;  // its sigma is already multiplied by `mixing`
    double mixing = 1;
    std::size_t points = 0;
    double steps_per_year = 0, watched_steps_per_year = 0;
    bool is_usual = false;  // true for default steps, tables and particles
};

class leveraged_walk final : public walk {
  public:
    leveraged_walk(const settings& with, std::shared_ptr<leverage> from, std::shared_ptr<step_tables> tables,
                   const markets::asset& of)
        : with_(with), leverage_(std::move(from)), tables_(std::move(tables)), of_(of) {}

    void add_breaks(double last, std::vector<double>& times) const override {
        for (double k = 1; k < last * with_.steps_per_year; ++k) times.push_back(k / with_.steps_per_year);
        const heston_parameters& p = with_.variance;
        std::vector<double> pillars;
        for (const by_term* t : {&p.kappa, &p.theta, &p.sigma, &p.rho}) t->add_breaks(last, pillars);
        times.insert(times.end(), pillars.begin(), pillars.end());
        pillars.push_back(last);
        std::ranges::sort(pillars);
        expect_variance(pillars);
    }
    double longest_step(const path_ahead& of) const override {
        constexpr double least_steps = 16;
        return of.last() / least_steps;
    }
    double longest_watched_step() const override { return 1 / with_.watched_steps_per_year; }

    void begin(section_at_hand& of) override { variance_ = of.state("variance", with_.variance.v0); }

    arrival record(step& of, value x) override {
        last_ = of.grid().back();
        const auto row = [&](std::string_view name, const std::function<double(const heston_step&)>& number) {
            return of.row(
                name, [&](double from, double to) { return number(heston_step(with_.variance, from, to)); });
        };
        const auto lever = record_tables(of, *tables_, "leverage of " + of_.name);
        const auto rows = rows_of_leveraged<value>(row, true);
        const step::apart noise = of.noise_apart(0);
        const auto to =
            move_leveraged<value>(rows, x, of.into().read(variance_), noise.other, noise.alone, lever);
        of.into().write(variance_, to.v);
        if (is_watched_) of.into().write(between_, to.between);
        return {to.x};
    }

    // The bridge takes the variance as known, and the leverage at the start of the step.
    value variance_between(section_at_hand& of, value) override {
        if (!is_watched_) between_ = of.state("between", 0.0);
        is_watched_ = true;
        return of.into().read(between_);
    }
    std::string why_not_lognormal() const override {
        return "is not known ahead under stochastic local volatility; expected an asset with a volatility";
    }
    location where() const override { return of_.where; }

    // Covers the surface's expiries up to the end of the path.
    std::vector<std::string> remarks() const override {
        const leverage::difference* worst = nullptr;
        const auto all = leverage_->differences(last_);
        for (const auto& d : all) {
            if (worst == nullptr || std::abs(d.volatility) > std::abs(worst->volatility)) worst = &d;
        }
        if (worst == nullptr) return {};
        return {fmt::format(
            "options on the {} particles, at the surface's expiries and up to one standard deviation from "
            "the money, are off by at most {:.1f} basis points of volatility (at {} years, {:+.0f} "
            "deviations)",
            leverage_->how().particles, 1e4 * std::abs(worst->volatility), config::shown(worst->years),
            worst->deviations)};
    }

  private:
    // Throws if the mean of the variance nearly vanishes, since no leverage can make up for it.
    void expect_variance(const std::vector<double>& until) const {
        double mean = with_.variance.v0, from = 0;
        for (const double to : until) {
            const heston_step s(with_.variance, from, to);
            mean = mean * s.decay() + s.risen();
            from = to;
            if (mean >= least_mean_variance(with_.variance)) continue;
            throw error(error_kind::input,
                        "the mean variance of '" + of_.name + "' falls to " + config::shown(mean) + " in " +
                            config::shown(to) + " years, expected at least a millionth of v0, which is " +
                            config::shown(least_mean_variance(with_.variance)) + "; give theta more than 0",
                        of_.where);
        }
    }

    settings with_;
    std::shared_ptr<leverage> leverage_;
    std::shared_ptr<step_tables> tables_;
    const markets::asset& of_;
    double last_ = 0;
    std::uint32_t variance_ = 0, between_ = 0;
    bool is_watched_ = false;
};

class leveraged_model final : public model {
  public:
    leveraged_model(const markets::surface_reading& read, settings with, const particle_settings& how)
        : with_(std::move(with)),
          remarks_(remarks_of(read)),
          implied_(read.local.implied() ? std::optional(*read.local.implied()) : std::nullopt),
          leverage_(std::make_shared<leverage>(read.local, with_.variance, how)),
          tables_(std::make_shared<step_tables>(
              [from_particles = leverage_, points = with_.points](double from, double to, const auto& poll) {
                  return from_particles->table(from, to, points, poll);
              })) {}
    std::string describe() const override {
        return fmt::format(
            "stochastic_local_volatility, quadratic_exponential, a mixing of {}, {} particles, {} points a "
            "step, at least {} steps a year, {} where watched continuously",
            config::shown(with_.mixing), leverage_->how().particles, with_.points,
            config::about(with_.steps_per_year), config::about(with_.watched_steps_per_year));
    }
    std::vector<std::string> remarks() const override { return remarks_; }
    std::uint64_t tables_made() const override { return tables_->made(); }
    bool is_alike_at_any_level() const override { return false; }
    std::optional<double> implied_volatility(double years, double log_moneyness) const override {
        if (!implied_) return std::nullopt;
        return implied_->implied_volatility(years, log_moneyness);
    }
    std::vector<own_factor> own_factors() const override { return {{"variance", with_.variance.rho}}; }
    std::optional<double> steps_leave() const override {
        return with_.is_usual ? steps_of_stochastic_local_volatility().leaves : std::nullopt;
    }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        return std::make_unique<leveraged_walk>(with_, leverage_, tables_, of);
    }

  private:
    settings with_;
    std::vector<std::string> remarks_;
    std::optional<markets::implied_surface> implied_;
    std::shared_ptr<leverage> leverage_;
    std::shared_ptr<step_tables> tables_;
};

constexpr parameter_row of_variance(std::string_view name, parameter_row as) {
    as.name = name;
    return as;
}

constexpr parameter_row leveraged_parameter_rows[]{
    surface_row,
    {.name = "heston", .meaning = "the variance", .takes = "a mapping"},
    // v0 has to be above 0, since the leverage is divided by it.
    {.name = "heston.v0", .within = {{1e-8, 25}}, .meaning = find_row(heston_rows, "v0").meaning},
    of_variance("heston.kappa", find_row(heston_rows, "kappa")),
    of_variance("heston.theta", find_row(heston_rows, "theta")),
    of_variance("heston.sigma", find_row(heston_rows, "sigma")),
    of_variance("heston.rho", find_row(heston_rows, "rho")),
    {.name = "mixing", .within = {{0, 1}}, .meaning = "share of sigma that is used", .preset = 1},
    {.name = "particles",
     .within = {{256, 1 << 20}},
     .meaning = "particles that find the leverage",
     .takes = "a whole number",
     .preset = 16'384},
    points_row,
    {.name = "steps_per_year", .within = {{1, 100'000}}, .meaning = "least steps a year", .preset = 100},
    watched_surface_row};

}  // namespace

extern const parameter_table parameters_of_stochastic_local_volatility = leveraged_parameter_rows;

std::shared_ptr<const model> read_stochastic_local_volatility(const config::node& parameters,
                                                              const reading& of) {
    refuse_others(parameters, parameters_of_stochastic_local_volatility);
    const config::node& heston = parameters.at("heston");
    if (!heston.is_mapping()) {
        heston.fail("found " + heston.found() +
                    ", expected the variance, such as {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: "
                    "-0.7}");
    }
    refuse_others(heston, leveraged_parameter_rows, "heston.");
    settings with;
    read_parameter(heston.at("v0"), find_row(leveraged_parameter_rows, "heston.v0").within.value());
    with.variance = read_heston_parameters(heston, of.as_of);
    with.mixing = read_parameter(parameters, find_row(leveraged_parameter_rows, "mixing"));
    for (double& sigma : with.variance.sigma.values) sigma *= with.mixing;
    constexpr const parameter_row &steps = find_row(leveraged_parameter_rows, "steps_per_year"),
                                  &particles = find_row(leveraged_parameter_rows, "particles");
    with.points = read_whole(parameters, points_row);
    with.steps_per_year = read_parameter(parameters, steps);
    with.watched_steps_per_year = read_parameter(parameters, watched_surface_row);
    const particle_settings how{read_whole(parameters, particles), with.steps_per_year};
    with.is_usual = double(with.points) == points_row.preset && with.steps_per_year == steps.preset &&
                    double(how.particles) == particles.preset;
    return std::make_shared<leveraged_model>(read_surface_of(parameters, of), std::move(with), how);
}

}  // namespace tilewalk::models
