// SPDX-License-Identifier: Apache-2.0
#include "engine/models/jumps.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/market/term_reader.h"
#include "engine/market/wording.h"
#include "engine/models/black_scholes.h"
#include "kernels/math.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

namespace {

using program::value;

// The most jumps in a step, and the largest mean for which more jumps have a probability below 1e-13.
struct capacity {
    std::size_t jumps;
    double mean;
};
constexpr std::array capacities{capacity{4, 0.0065}, capacity{8, 0.15}, capacity{16, 1.32}};

double longest_on(std::span<const double> grid) {
    double longest = 0;
    for (std::size_t i = 0; i + 1 < grid.size(); ++i) longest = std::max(longest, grid[i + 1] - grid[i]);
    return longest;
}

// P(N > k) for a Poisson number N, summed from the smallest term.
double beyond(std::size_t k, double mean) {
    constexpr std::size_t terms = 64;
    std::array<double, terms> of{};
    of[0] = kernels::exp(-mean);
    for (std::size_t j = 1; j < terms; ++j) of[j] = of[j - 1] * mean / static_cast<double>(j);
    double sum = 0;
    for (std::size_t j = terms; --j > k;) sum += of[j];
    return sum;
}

double shorter(double a, double b) {
    return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

class jumping final : public walk {
  public:
    jumping(std::unique_ptr<walk> inner, std::shared_ptr<const jump_law> jumps, double watched_steps_per_year)
        : inner_(std::move(inner)), jumps_(std::move(jumps)), longest_watched_(1 / watched_steps_per_year) {}

    const markets::volatility& scale() const override { return inner_->scale(); }
    double drift(double from, double to) const override { return inner_->drift(from, to); }
    void add_breaks(double last, std::vector<double>& times) const override {
        inner_->add_breaks(last, times);
    }
    double longest_step(const path_ahead& of) const override {
        return shorter(inner_->longest_step(of), longest_step_of(jumps_->intensity()));
    }
    double longest_watched_step() const override {
        return shorter(inner_->longest_watched_step(), jumps_->intensity() > 0 ? longest_watched_ : 0);
    }

    void begin(section_at_hand& of) override { inner_->begin(of); }
    // The jump compensator accrues over time, so the bridge from `start` to the end of the step contains it.
    arrival record(step& of, value x) override {
        const value start = x + jumps_->sum_over(of);
        const value compensator =
            of.row("jump_drift", [&](double from, double to) { return -jumps_->growth() * (to - from); });
        return {inner_->record(of, start).x + compensator, start};
    }
    bool jumps() const override { return jumps_->intensity() > 0; }
    bool is_martingale() const override { return inner_->is_martingale(); }
    value variance_between(section_at_hand& of, value scaled) override {
        return inner_->variance_between(of, scaled);
    }
    std::string detail() const override { return inner_->detail(); }

    std::string why_not_lognormal() const override {
        return "is not known ahead of an asset that jumps; expected an asset with a volatility";
    }
    location where() const override { return inner_->where(); }

  private:
    std::unique_ptr<walk> inner_;
    std::shared_ptr<const jump_law> jumps_;
    double longest_watched_;
};

class normal_jumps final : public jump_law {
  public:
    normal_jumps(double intensity, double mean, double deviation)
        : intensity_(intensity), mean_(mean), deviation_(deviation) {}

    double intensity() const override { return intensity_; }
    double mean() const override { return intensity_ * mean_; }
    double growth() const override {
        return intensity_ * (kernels::exp(mean_ + 0.5 * deviation_ * deviation_) - 1);
    }
    value sum_over(step& of) const override {
        const value none = of.into().constant(0.0), one = of.into().constant(1.0);
        value number = none;
        for (const value is_more : more_jumps_than(of, "jumps", intensity_)) {
            number = number + select(is_more, one, none);
        }
        const value mean = of.row("jump_mean", [&](double, double) { return mean_; });
        const value deviation = of.row("jump_sd", [&](double, double) { return deviation_; });
        return fma(number, mean, deviation * sqrt(number) * of.lone_normal());
    }

    fourier::characteristic beside(double volatility, double years) const override {
        return fourier::characteristic_of(fourier::merton{volatility, {intensity_, mean_, deviation_}},
                                          years);
    }
    fourier::characteristic beside(const fourier::heston& variance, double years) const override {
        return fourier::characteristic_of(fourier::bates{variance, {intensity_, mean_, deviation_}}, years);
    }

  private:
    double intensity_, mean_, deviation_;
};

class jump_diffusion final : public model {
  public:
    jump_diffusion(std::string name, markets::volatility vol, std::shared_ptr<const jump_law> jumps,
                   double watched_steps_per_year)
        : name_(std::move(name)),
          vol_(std::move(vol)),
          jumps_(std::move(jumps)),
          watched_steps_per_year_(watched_steps_per_year) {}

    std::string describe() const override {
        return name_ + ", exact between dates; watched continuously, at least " +
               config::about(watched_steps_per_year_) + " steps a year";
    }
    std::optional<double> steps_leave() const override { return 0.0; }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        return with_jumps(lognormal_walk(vol_, of), jumps_, watched_steps_per_year_);
    }
    std::optional<double> implied_volatility(double years, double log_moneyness) const override {
        const double level = kernels::sqrt(vol_.total_variance(years) / years);
        return implied_by([&] { return jumps_->beside(level, years); }, years, log_moneyness);
    }

  private:
    std::string name_;
    markets::volatility vol_;
    std::shared_ptr<const jump_law> jumps_;
    double watched_steps_per_year_;
};

}  // namespace

fourier::characteristic jump_law::beside(const fourier::heston&, double) const {
    throw error(error_kind::usage, "the law of these jumps beside Heston's variance is not known");
}

double longest_step_of(double intensity) {
    return intensity > 0 ? capacities.back().mean / intensity : 0;
}

// Uses tail probabilities P(N > k), since in single precision small ones keep their digits.
std::vector<value> more_jumps_than(step& of, std::string_view name, double intensity) {
    const double mean = intensity * longest_on(of.grid());
    const auto enough = std::ranges::find_if(capacities, [&](const capacity& c) { return mean <= c.mean; });
    const std::size_t most = enough == capacities.end() ? capacities.back().jumps : enough->jumps;
    const value u = of.uniform();
    std::vector<value> out;
    for (std::size_t k = 0; k < most; ++k) {
        const value tail = of.row(std::string(name) + "_beyond_" + std::to_string(k),
                                  [&](double from, double to) { return beyond(k, intensity * (to - from)); });
        out.push_back(u < tail);
    }
    return out;
}

std::unique_ptr<walk> with_jumps(std::unique_ptr<walk> inner, std::shared_ptr<const jump_law> jumps,
                                 double watched_steps_per_year) {
    return std::make_unique<jumping>(std::move(inner), std::move(jumps), watched_steps_per_year);
}

value walk_by_jumps::variance_between(section_at_hand&, value) {
    throw error(
        error_kind::input,
        "asset '" + of_.name + "' moves only by jumps (" + name_ +
            "), so its path between two dates does not follow from its values there; expected a product that "
            "looks at it only on dates: give watching_dates or monitoring_dates if the product has them",
        of_.where);
}

std::string walk_by_jumps::why_not_lognormal() const {
    return "is not known ahead of an asset that moves by jumps; expected an asset with a volatility";
}

std::shared_ptr<const model> lognormal_with_jumps(std::string name, const config::node& parameters,
                                                  dates::date as_of, std::shared_ptr<const jump_law> jumps) {
    return std::make_shared<jump_diffusion>(
        std::move(name), markets::read_volatility(parameters.at(volatility_row.name), as_of),
        std::move(jumps), read_parameter(parameters, watched_jumps_row));
}

std::shared_ptr<const jump_law> read_normal_jumps(const config::node& parameters) {
    const double intensity = read_parameter(parameters, intensity_row);
    const double mean = read_parameter(parameters, find_row(normal_jump_rows, "jump_mean"));
    const double deviation = read_parameter(parameters, find_row(normal_jump_rows, "jump_sd"));
    auto out = std::make_shared<normal_jumps>(intensity, mean, deviation);
    expect_moderate(parameters, *out);
    return out;
}

// For a lognormal asset the gap is half the squared volatility.
void expect_moderate(const config::node& parameters, double gap) {
    constexpr double most_volatility = 5;
    if (gap <= 0.5 * most_volatility * most_volatility) return;
    parameters.fail("found jumps that move the asset as much as a volatility of " +
                    markets::rounded(kernels::sqrt(2 * gap)) + ", expected at most " +
                    config::shown(most_volatility) + "; make them smaller or rarer");
}

void expect_moderate(const config::node& parameters, const jump_law& jumps) {
    expect_moderate(parameters, jumps.growth() - jumps.mean());
}

}  // namespace tilewalk::models
