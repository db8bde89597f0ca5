// SPDX-License-Identifier: Apache-2.0
// Each step replaces F^beta by its tangent at the start, under which F + b is lognormal for some b and the
// step has a known law. The volatility is drawn exactly, F moves first by the noise that it shares with the
// volatility and then by its own, with trapezoidal variance, and a bridge in log(F + b) gives the probability
// of absorption at zero. Every step is a martingale, but for approximate absorption under SABR. A correction
// for the mean of what the tangent neglects makes the weak order 2. Near zero the tangent at F would be too
// steep; the tangent at a higher F is used.
#include "engine/models/sabr.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "engine/market/asset.h"
#include "kernels/math.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

step_facts steps_of_sabr() {
    return {.scheme = "as CEV; alpha exact, the integral of its square by the trapezoid rule",
            .weak_order = "2 (probability of absorption: 1)",
            .leaves = 1.1,
            .factors = "2",
            .held_against = "closed forms for beta 0 and for rho 0, 159 published prices"};
}

namespace {

using program::value;

// For a smaller positive beta, b is so much larger than F that F + b loses F in single precision.
constexpr double least_beta = 0.01;

// Largest deviation of F over a step, relative to F, with the tangent at F; else it is at a higher F. With
// eight steps, the probability of absorption in 10 years (beta 0.3, volatility 0.25, F 1) is off by 0.013
// with a limit of 0.5, 0.004 with 1 and 0.002 with 1.5; above, a far tail would dominate the mean.
constexpr double most_deviation = 1.5;
// Relative standard deviation beyond which absorption matters. Its probability is known for normal noise, so
// the shared noise is then taken as normal.
constexpr double sees_boundary = 0.4;

// exp(y) - 1, accurate for small y. Six terms leave a relative error below 1e-11.
value grown(value y) {
    constexpr double small = 0.0625;
    value sum = y * (1.0 / 6) + 1.0;
    for (const double n : {5.0, 4.0, 3.0, 2.0}) sum = fma(y * (1 / n), sum, y.home()->constant(1.0));
    return select(abs(y) < y.home()->constant(small), y * sum, exp(y) - 1.0);
}

// Probability that a Brownian bridge with these distances from the boundary at its ends does not touch it.
value survival(value from, value to, value variance) {
    constexpr double least_variance = 1e-30;
    const value touched = exp(-2.0 * max(from, 0.0) * max(to, 0.0) / max(variance, least_variance));
    return 1.0 - touched;
}

class sabr_walk_of_asset final : public walk {
  public:
    sabr_walk_of_asset(const sabr_parameters& p, const markets::asset& of, const markets::curve& carry)
        : p_(p), of_(of) {
        const double forward = markets::spot_map(of, carry, 0).scale;
        volatility_ = p.alpha * kernels::pow(forward, p.beta - 1);
    }

    coordinate moves_in() const override {
        return p_.beta == 1   ? coordinate::logarithm
               : p_.beta == 0 ? coordinate::level
                              : coordinate::level_from_zero;
    }

    double longest_step(const path_ahead& of) const override {
        if (p_.is_exact()) return 0;
        const double usual = 1 / p_.steps_per_year;
        return p_.least_steps > 0 ? std::min(usual, of.last() / p_.least_steps) : usual;
    }
    double longest_watched_step() const override { return 1 / p_.watched_steps_per_year; }

    void begin(section_at_hand& of) override {
        if (p_.is_stochastic) log_alpha_ = of.state("log_alpha", 0.0);
    }

    arrival record(step& of, value x) override {
        const noises n = noises_of(of);
        if (p_.is_stochastic) of.into().write(log_alpha_, n.log_alpha + n.rise);
        return {p_.beta == 1 ? lognormal(of, n, x) : p_.beta == 0 ? normal(of, n, x) : between(of, n, x)};
    }

    // With 0 < beta < 1 and a stochastic volatility, the probability of absorption is an approximation.
    bool is_martingale() const override { return !p_.is_stochastic || p_.beta == 0 || p_.beta == 1; }

    value variance_between(section_at_hand& of, value) override {
        if (!is_watched_) between_ = of.state("between", 0.0);
        is_watched_ = true;
        return of.into().read(between_);
    }

    std::string why_not_lognormal() const override {
        return "is not known ahead where the volatility goes with the forward; expected an asset with a "
               "volatility";
    }
    location where() const override { return of_.where; }

  private:
    // Noises of one step. Without stochastic volatility only `alone` and `deviation` exist.
    struct noises {
        value log_alpha, rise;   // log(alpha / alpha(0)) at the start, and its rise over the step
        value shared, half_nu;   // standard normal of the volatility; half of nu sqrt(dt)
        value trapezoid;         // mean of alpha^2 at both ends over alpha^2 at the start
        value alone, deviation;  // standard normal of F alone; log of F's deviation at F = 1
    };

    noises noises_of(step& of) const {
        const auto row = [&](std::string_view name, const std::function<double(double)>& of_length) {
            return of.row(name, [&](double from, double to) { return of_length(to - from); });
        };
        noises n;
        const value at_start = row("log_deviation", [&](double length) {
            constexpr double least = 1e-150;
            return kernels::log(std::max(volatility_ * kernels::sqrt(length), least));
        });
        if (!p_.is_stochastic) {
            n.alone = row("per_root", [](double length) { return 1 / kernels::sqrt(length); }) * of.own();
            n.deviation = at_start;
            return n;
        }
        const step::apart noise = of.noise_apart(0);
        const value nu = row("nu", [&](double length) { return p_.nu * kernels::sqrt(length); });
        const value fall = row("fall", [&](double length) { return -0.5 * p_.nu * p_.nu * length; });
        n.log_alpha = of.into().read(log_alpha_);
        n.rise = fma(nu, noise.other, fall);
        n.shared = noise.other;
        n.half_nu = row("half_nu", [&](double length) { return 0.5 * p_.nu * kernels::sqrt(length); });
        n.trapezoid = 0.5 + 0.5 * exp(2.0 * n.rise);
        n.alone = noise.alone;
        n.deviation = at_start + n.log_alpha;
        return n;
    }

    // Log move by the noise z that F shares with the volatility: `by` is p z + q z^2, less the constant that
    // makes the mean of its exponential 1; `deviation` is p.
    struct shared_move {
        value by, deviation;
    };
    shared_move move_of_shared(step& of, const noises& n, value deviation, value is_quadratic) const {
        constexpr double most = 0.25;
        const value rho = of.row("rho", [&](double, double) { return p_.rho; });
        const value linear = deviation * rho;
        const value q =
            select(is_quadratic, max(min(linear * n.half_nu, most), -most), of.into().constant(0.0));
        const value p = linear * (1.0 - q), room = 1.0 - 2.0 * q;
        const value mean = 0.5 * (p * p / room - log(room));
        return {fma(n.shared, fma(q, n.shared, p), -mean), p};
    }

    value unshared_deviation(step& of, const noises& n, value deviation) const {
        if (!p_.is_stochastic) return deviation;
        const value root = of.row("root_unshared", [&](double, double) {
            return kernels::sqrt(std::max(1 - p_.rho * p_.rho, 0.0));
        });
        return deviation * root * sqrt(n.trapezoid);
    }

    void watch(step& of, const noises& n, value deviation) const {
        if (!is_watched_) return;
        const value squared = deviation * deviation;
        of.into().write(between_, p_.is_stochastic ? squared * n.trapezoid : squared);
    }

    value lognormal(step& of, const noises& n, value x) const {
        constexpr double most = 40;  // a deviation whose square is finite in single precision
        const value deviation = exp(min(n.deviation, most)), own = unshared_deviation(of, n, deviation);
        watch(of, n, deviation);
        const value next = x + own * fma(of.into().constant(-0.5), own, n.alone);
        if (!p_.is_stochastic) return next;
        return next + move_of_shared(of, n, deviation, of.into().truth(true)).by;
    }

    // The integral of alpha over the shared noise is the rise of alpha divided by nu.
    value normal(step& of, const noises& n, value x) const {
        const value deviation = exp(n.deviation);
        watch(of, n, deviation);
        const value next = fma(unshared_deviation(of, n, deviation), n.alone, x);
        if (!p_.is_stochastic) return next;
        constexpr double least_nu = 1e-4;  // with a smaller nu, alpha is taken as constant
        const value is_moving = of.row("is_moving", [&](double, double) { return p_.nu > least_nu ? 1 : 0; });
        const value rho = of.row("rho", [&](double, double) { return p_.rho; });
        const value per_deviation = of.row("per_deviation", [&](double from, double to) {
            return 1 / (std::max(p_.nu, least_nu) * kernels::sqrt(to - from));
        });
        const value integral =
            select(of.into().constant(0.5) < is_moving, grown(n.rise) * per_deviation, n.shared);
        return fma(rho * deviation, integral, next);
    }

    value between(step& of, const noises& n, value x) const {
        constexpr double least_level = 1e-30, most_log_ratio = 60;
        const auto number = [&](std::string_view name, double v) {
            return of.row(name, [v](double, double) { return v; });
        };
        const double beta = p_.beta;
        const value zero = of.into().constant(0.0), one = of.into().constant(1.0);
        const value is_alive = zero < x;
        const value log_relative =
            fma(number("beta_less_1", beta - 1), log(max(x, least_level)), n.deviation);

        // The tangent at F, or at the higher F whose relative deviation is most_deviation. `ratio` is b / F,
        // and `deviation` the deviation of log(F + b), including the mean of what the tangent neglects.
        const double log_most = kernels::log(most_deviation);
        const value relative = exp(min(log_relative, log_most));
        const value above = max(log_relative - log_most, 0.0);
        const value ratio = number("b_over_f", (1 - beta) / beta) *
                            exp(min(above * number("per_power", 1 / (1 - beta)), most_log_ratio));
        const value bent = fma(number("bend", -0.5 * beta * (1 - beta)), relative * relative, one);
        const value deviation = number("beta", beta) * relative * sqrt(bent);

        const value start = log(1.0 + 1.0 / ratio);  // distance of log(F + b) from the boundary log(b)
        value moved_by = zero, lives = one, at = start;
        if (p_.is_stochastic) {
            const value is_far = deviation * (1.0 + ratio) <= of.into().constant(sees_boundary);
            const shared_move first = move_of_shared(of, n, deviation, is_far);
            moved_by = first.by;
            at = start + moved_by;
            lives = survival(start, at, first.deviation * first.deviation);
        }
        const value own = unshared_deviation(of, n, deviation);
        const value then = own * fma(of.into().constant(-0.5), own, n.alone);
        const value end = at + then;
        lives = lives * survival(at, end, own * own);
        moved_by = moved_by + then;
        const value risen = grown(moved_by), next = x * (1.0 + risen * (1.0 + ratio));
        const value is_absorbed = next <= zero || lives <= of.uniform() || !is_alive;
        const value after = select(is_absorbed, zero, next);
        if (is_watched_) {
            const value before = exp(log_relative) * x;
            const value log_end = fma(number("beta", beta), log(max(after, least_level)), n.deviation);
            const value at_end =
                select(is_absorbed, zero, exp(p_.is_stochastic ? log_end + n.rise : log_end));
            of.into().write(between_, select(is_alive, 0.5 * fma(before, before, at_end * at_end), zero));
        }
        return after;
    }

    sabr_parameters p_;
    const markets::asset& of_;
    double volatility_ = 0;  // volatility today of a forward that is 1
    std::uint32_t log_alpha_ = 0, between_ = 0;
    bool is_watched_ = false;
};

class sabr final : public model {
  public:
    explicit sabr(sabr_parameters p) : p_(p) {}
    std::string describe() const override {
        return "sabr, dF = alpha F^" + config::shown(p_.beta) + " dW, " + models::describe(p_);
    }
    std::vector<own_factor> own_factors() const override { return {{"alpha", by_term::flat(p_.rho)}}; }
    bool is_alike_at_any_level() const override { return false; }
    std::optional<double> steps_leave() const override {
        return p_.has_usual_steps() ? steps_of_sabr().leaves : std::nullopt;
    }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve& carry) const override {
        return sabr_walk(p_, of, carry);
    }

  private:
    sabr_parameters p_;
};

constexpr parameter_row sabr_rows[]{
    {.name = "alpha",
     .within = {{0, 1e12}},
     .meaning = "volatility today, the factor of F^beta, in units of F^(1 - beta)"},
    beta_row,
    {.name = "rho", .within = {{-1, 1}}, .meaning = "correlation of the forward and its volatility"},
    {.name = "nu", .within = {{0, 20}}, .meaning = "volatility of the volatility"},
    power_steps_row,
    watched_power_row};

}  // namespace

extern const parameter_table parameters_of_sabr = sabr_rows;

double read_beta(const config::node& parameters) {
    const double beta = read_parameter(parameters, beta_row);
    if (beta > 0 && beta < least_beta) {
        parameters.at("beta").fail("found " + parameters.at("beta").text() +
                                   ", expected 0, which is normal and goes below zero, or between " +
                                   config::shown(least_beta) + " and 1");
    }
    return beta;
}

// Default steps. Over 10 years with volatility 0.25 and nu 0.3 they misprice an option at twice the forward
// by less than 1 %, others by less than 0.1 %. Higher volatilities soon bring absorption, whose error has
// order 1 and scales with spot: at 1.5 (alpha 0.4, beta 0.5, nu 0.8, rho -0.6, F 0.07) it was some 3.5 basis
// points of the spot with 228 steps a year, at 0.7 it was 1.8 with 50 (each +- 1; 1 and 2 years, H100, 2^24
// paths).
void read_steps(const config::node& parameters, const reading& of, sabr_parameters& p) {
    // With beta 0 only the volatility needs steps, which can be long.
    const bool is_normal = p.beta == 0;
    const double per_nu = is_normal ? 10 : 100, fewest = is_normal ? 2 : 8;
    constexpr double most = 800;
    const double forward = markets::spot_map(of.asset, of.carry, 0).scale;
    const double volatility = is_normal ? 0 : p.alpha * kernels::pow(forward, p.beta - 1);
    const double per_variance = 100 * std::clamp(3 * volatility, 1.0, 3.0);
    const double usual = std::ceil(
        std::clamp(std::max(per_nu * p.nu * p.nu, per_variance * volatility * volatility), fewest, most));
    p.steps_per_year = read_parameter(parameters, power_steps_row, usual);
    p.least_steps = parameters.find("steps_per_year") == nullptr ? 16 : 0;
    p.watched_steps_per_year = read_parameter(parameters, watched_power_row, std::max(usual, 100.0));
}

std::string describe(const sabr_parameters& p) {
    const std::string at_zero = p.beta == 1   ? "F above zero"
                                : p.beta == 0 ? "F may be negative"
                                              : "F absorbed at zero";
    const std::string of_what = "F the forward in today's money, " + at_zero;
    if (p.is_exact()) return of_what + ", exact between dates";
    return of_what + ", at least " + config::about(p.steps_per_year) + " steps a year, " +
           config::about(p.watched_steps_per_year) + " where watched continuously";
}

std::unique_ptr<walk> sabr_walk(const sabr_parameters& p, const markets::asset& of,
                                const markets::curve& carry) {
    return std::make_unique<sabr_walk_of_asset>(p, of, carry);
}

std::shared_ptr<const model> read_sabr(const config::node& parameters, const reading& of) {
    refuse_others(parameters, parameters_of_sabr);
    sabr_parameters p;
    p.alpha = read_parameter(parameters, find_row(sabr_rows, "alpha"));
    p.beta = read_beta(parameters);
    p.rho = read_parameter(parameters, find_row(sabr_rows, "rho"));
    p.nu = read_parameter(parameters, find_row(sabr_rows, "nu"));
    p.is_stochastic = true;
    read_steps(parameters, of, p);
    return std::make_shared<sabr>(p);
}

}  // namespace tilewalk::models
