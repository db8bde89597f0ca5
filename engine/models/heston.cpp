// SPDX-License-Identifier: Apache-2.0
// Two schemes. Andersen's quadratic-exponential scheme (2008) draws the variance from a law with the right
// first two moments and corrects the drift so that every step is a martingale; its steps can be long. Euler's
// scheme with full truncation (Lord, Koekkoek and van Dijk 2010) has weak order 1 and needs short steps.
//
// Given the path of the variance, the asset's own noise is normal. If nothing observes the path in between
// and nothing else moves in the trade's world, a step of the path therefore consists of several parts, which
// are steps of the first scheme: a normal for the asset, and a normal for the variance in each part.
#include "engine/models/heston.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "engine/models/known_law.h"
#include "engine/models/quadratic_exponential.h"
#include "kernels/math.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

step_facts steps_of_heston() {
    return {.scheme = "quadratic-exponential with martingale correction (or Euler, full truncation)",
            .weak_order = "1",
            .leaves = 0.7,
            .other_leaves = 2.0,
            .factors = "2",
            .held_against = "Fourier integrals, moments of a step by quadrature, 107 published prices"};
}

namespace {

using program::value;
using scheme = heston_parameters::scheme;

// Default steps. By quadrature of the law of steps, against Fourier prices of puts and calls of 0.1 to 15
// years at 0.8, 1 and 1.2 of the forward, the quadratic-exponential scheme is off by at most 0.7 basis points
// of the spot over 22 published parameter sets. The integral of the variance by the trapezoid rule has an
// error in the square of kappa times a step: without the term in kappa, kappa 20 and sigma 0.5 left 7.6 basis
// points, with it 0.5. Euler's error has order 1 and is large if the variance is often at zero: with 250
// steps a year it was 8.5 basis points at sigma 1.8 and 7.5 at sigma 1, with these steps at most 1.6.
double usual_steps_per_year(scheme by, const by_term& kappa, const by_term& theta, const by_term& sigma) {
    const double most_sigma = *std::ranges::max_element(sigma.values);
    if (by == scheme::quadratic_exponential)
        return std::max({16.0, 40 * most_sigma, 6 * *std::ranges::max_element(kappa.values)});
    const double pull = *std::ranges::min_element(kappa.values) * *std::ranges::min_element(theta.values);
    const bool is_often_at_zero = most_sigma * most_sigma > 3 * pull;
    return is_often_at_zero ? std::max(250.0, 1000 * most_sigma) : 250;
}

// Default steps of a watched path, whose bridges have a constant variance between steps: an error in
// proportion to the step. For an up-and-out call with sigma 0.66 and rho -0.8 it is 0.7 % of the price with
// 26 steps a year, 0.4 % with 52, 0.2 % with 104 and 0.1 % with 208.
double usual_watched_steps_per_year(const by_term& sigma) {
    return std::max(100.0, 400 * *std::ranges::max_element(sigma.values));
}

// k1 to k3 are K1, K2 and K3 of the paper, with both weights of the variance in time one half: x grows by K0
// + K1 v + K2 v' + sqrt(K3 v + K4 v') z, with K4 = K3. For a martingale K0 + K1 v has to be -K3 v / 2 - log E
// exp(A v'), with A = K2 + K3 / 2, which is exponent().
double k1(const heston_step& s) {
    return 0.5 * s.length * (s.kappa * s.rho_over_sigma() - 0.5) - s.rho_over_sigma();
}
double k2(const heston_step& s) {
    return 0.5 * s.length * (s.kappa * s.rho_over_sigma() - 0.5) + s.rho_over_sigma();
}
double k3(const heston_step& s) {
    return 0.5 * s.length * s.unshared();
}
double exponent(const heston_step& s) {
    return k2(s) + 0.5 * k3(s);
}

// Upper bound of 2 A a and A t (see drawn_variance), by which log E exp(A v') is expanded. Below 1 the mean
// exists. Below short_bound an expansion to third order replaces the logarithm: a step is off by less than
// 1e-8 A v, or 4e-9 if v' has a tail. With 250 steps a year, sigma 0.5 and rho -0.7 this adds up to 1e-8 of
// the forward in a year.
double bound(const heston_step& s) {
    return std::abs(exponent(s)) * s.sigma * s.sigma * s.decayed();
}
constexpr double short_bound = 0x1p-9;

class heston final : public walk {
  public:
    heston(const heston_parameters& p, const markets::asset& of) : p_(p), of_(of) {}

    void add_breaks(double last, std::vector<double>& times) const override {
        for (const by_term* t : {&p_.kappa, &p_.theta, &p_.sigma, &p_.rho}) t->add_breaks(last, times);
    }
    double longest_step(const path_ahead& of) const override {
        const double longest = longest_part(of.last());
        if (p_.by != scheme::quadratic_exponential || !of.is_by_itself) return longest;
        // With 1, 3 or 7 parts, the normals of a step (one for the asset and one for each part) fill whole
        // blocks of random bits. On a GPU, the asset's normal and its use cost half a part. On an H100
        // (2026-11-22, single_fast, 252 parts a year) 1, 3 and 7 parts per step ran 0.27, 0.36 and 0.40 times
        // 10^12 parts a second.
        double best = longest, least = 0;
        for (const int parts : {1, 3, 7}) {
            double cost = 0;
            for (std::size_t i = 0; i + 1 < of.stops.size(); ++i)
                cost += (parts + 0.5) * std::ceil((of.stops[i + 1] - of.stops[i]) / (parts * longest) - 1e-6);
            if (parts == 1 || cost < least) best = parts * longest, least = cost;
        }
        return best;
    }
    double longest_watched_step() const override { return 1 / p_.watched_steps_per_year; }

    void begin(section_at_hand& of) override { variance_ = of.state("variance", p_.v0); }

    arrival record(step& of, value x) override {
        const value v = of.into().read(variance_);
        const after_step to = p_.by == scheme::quadratic_exponential ? quadratic_exponential(of, x, v)
                                                                     : full_truncation(of, x, v);
        of.into().write(variance_, to.v);
        if (is_watched_) {
            const value half = row(of, "half_step", [](const heston_step& s) { return 0.5 * s.length; });
            of.into().write(between_, half * to.ends);
        }
        return {to.x};
    }
    bool is_martingale() const override { return is_martingale_; }
    std::string detail() const override {
        return parts_ == 1 ? "" : fmt::format(", {} steps at a time", parts_);
    }

    // The bridge takes the variance as known, although the variance is correlated with the path.
    value variance_between(section_at_hand& of, value) override {
        if (!is_watched_) between_ = of.state("between", 0.0);
        is_watched_ = true;
        return of.into().read(between_);
    }

    std::string why_not_lognormal() const override {
        return "is not known ahead under stochastic variance; expected an asset with a volatility";
    }
    location where() const override { return of_.where; }

  private:
    struct after_step {
        value x, v;
        value ends;  // variance at the start plus variance at the end, summed over parts
    };

    struct sum {
        value total;
        void add(value one) { total = total.valid() ? total + one : one; }
    };

    double longest_part(double last) const {
        const double usual = 1 / p_.steps_per_year;
        return p_.least_steps > 0 ? std::min(usual, last / p_.least_steps) : usual;
    }
    heston_step part(double from, double to) const { return {p_, from, from + (to - from) / parts_}; }

    value row(step& of, std::string_view name,
              const std::function<double(const heston_step&)>& number) const {
        return of.row(name, [&](double from, double to) { return number(part(from, to)); });
    }

    after_step full_truncation(step& of, value x, value v) const {
        const value length = row(of, "length", [](const heston_step& s) { return s.length; });
        const value kappa = row(of, "kappa", [](const heston_step& s) { return s.kappa * s.length; });
        const value theta = row(of, "theta", [](const heston_step& s) { return s.theta; });
        const value sigma = row(of, "sigma", [](const heston_step& s) { return s.sigma; });
        const value positive = max(v, 0.0), root = sqrt(positive);
        const value after = v + fma(kappa, theta - positive, sigma * root * of.other(0));
        return {x + fma(-0.5 * length, positive, root * of.own()), after, positive + max(after, 0.0)};
    }

    after_step quadratic_exponential(step& of, value x, value v) {
        const auto grid = of.grid();
        double longest = 0;
        for (std::size_t i = 0; i + 1 < grid.size(); ++i) longest = std::max(longest, grid[i + 1] - grid[i]);
        parts_ = std::max(1, static_cast<int>(std::ceil(longest / longest_part(grid.back()) - 1e-5)));

        const auto named = [&](std::string_view name,
                               const std::function<double(const heston_step&)>& number) {
            return row(of, name, number);
        };
        const auto rows = rows_of_variance<value>(
            named, any_step(of, &heston_step::has_tail),
            any_step(of, [](const heston_step& s) { return s.risen() < variance_rows<value>::least_mean; }));
        const bool all_move = !any_step(of, [](const heston_step& s) { return !s.is_moving; });
        const bool are_short = !any_step(of, [](const heston_step& s) { return bound(s) > short_bound; });
        is_martingale_ = !any_step(of, [](const heston_step& s) { return bound(s) >= 1; });
        const step::apart noise = of.noise_apart(0);

        // Sums over parts: variance between parts; variance at ends as the asset sees it; skews or drifts.
        const value first = v;
        sum between, ends, skews, drifts;
        for (int i = 0; i < parts_; ++i) {
            const drawn_variance<value> drawn(rows, v, i == 0 ? noise.other : of.normal());
            if (are_short) {
                skews.add(drawn.skew());
            } else {
                drifts.add(exact_drift(of, drawn, v));
            }
            if (!all_move) ends.add(seen(of, drawn));
            v = drawn.after();
            if (i + 1 < parts_) between.add(v);
        }
        const value starts = parts_ > 1 ? first + between.total : first;
        if (all_move) ends = {parts_ > 1 ? between.total + v : v};
        const value both = starts + ends.total;
        const value drift = are_short ? short_drift(of, starts, skews.total) : drifts.total;
        const value deviation = sqrt(max(named("k3", k3) * both, 0.0));
        return {x + fma(deviation, noise.alone, fma(named("k2", k2), ends.total, drift)), v, both};
    }

    value seen(step& of, const drawn_variance<value>& drawn) const {
        const value is_moving =
            row(of, "is_moving", [](const heston_step& s) { return s.is_moving ? 1.0 : 0.0; });
        return fma(is_moving, drawn.after() - drawn.mean(), drawn.mean());
    }

    value short_drift(step& of, value starts, value skews) const {
        const value by_v = row(of, "by_v", [](const heston_step& s) {
            const double a = exponent(s);
            return -0.5 * k3(s) - a * s.decay() - 0.5 * a * a * s.spread();
        });
        const value flat = row(of, "flat", [this](const heston_step& s) {
            const double a = exponent(s);
            return parts_ * (-a * s.risen() - 0.5 * a * a * s.spread_of_mean());
        });
        const value of_skew = row(of, "of_skew", [](const heston_step& s) {
            const double a = exponent(s);
            return -4 * a * a * a;
        });
        return fma(of_skew, skews, fma(by_v, starts, flat));
    }
    value exact_drift(step& of, const drawn_variance<value>& drawn, value v) const {
        std::optional<value> uncorrected;
        if (!is_martingale_) {
            uncorrected = fma(row(of, "k1", k1), v, row(of, "uncorrected", [](const heston_step& s) {
                                  return -s.rho_over_sigma() * s.kappa * s.theta * s.length;
                              }));
        }
        const value start = row(of, "half_k3", [](const heston_step& s) { return -0.5 * k3(s); }) * v;
        return drawn.corrected(row(of, "exponent", exponent), start, uncorrected);
    }

    template <class condition>
    bool any_step(step& of, const condition& is_so) const {
        const auto grid = of.grid();
        for (std::size_t i = 0; i + 1 < grid.size(); ++i) {
            if (std::invoke(is_so, part(grid[i], grid[i + 1]))) return true;
        }
        return false;
    }

    heston_parameters p_;
    const markets::asset& of_;
    int parts_ = 1;  // steps of the scheme in each step of the path
    bool is_martingale_ = true;
    std::uint32_t variance_ = 0, between_ = 0;
    bool is_watched_ = false;
};

class heston_model final : public model {
  public:
    explicit heston_model(heston_parameters p) : p_(std::move(p)) {}
    std::string describe() const override { return "heston, " + models::describe(p_); }
    std::vector<own_factor> own_factors() const override { return {{"variance", p_.rho}}; }
    std::optional<double> implied_volatility(double years, double log_moneyness) const override {
        return models::implied_volatility(p_, years, log_moneyness);
    }
    std::optional<double> steps_leave() const override {
        if (!p_.has_usual_steps()) return {};
        const step_facts facts = steps_of_heston();
        return p_.by == scheme::quadratic_exponential ? facts.leaves : facts.other_leaves;
    }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        return heston_walk(p_, of);
    }

  private:
    heston_parameters p_;
};

}  // namespace

extern const parameter_table parameters_of_heston = heston_rows;

heston_parameters read_heston_parameters(const config::node& parameters, dates::date as_of) {
    heston_parameters p;
    p.v0 = read_parameter(parameters, find_row(heston_rows, "v0"));
    p.kappa = read_by_term(parameters, find_row(heston_rows, "kappa"), as_of);
    p.theta = read_by_term(parameters, find_row(heston_rows, "theta"), as_of);
    p.sigma = read_by_term(parameters, find_row(heston_rows, "sigma"), as_of);
    p.rho = read_by_term(parameters, find_row(heston_rows, "rho"), as_of);
    p.by = static_cast<scheme>(read_choice(parameters, find_row(heston_rows, "scheme")));
    p.steps_per_year = read_parameter(parameters, find_row(heston_rows, "steps_per_year"),
                                      usual_steps_per_year(p.by, p.kappa, p.theta, p.sigma));
    // For short paths: a single step is nearly normal, so that options of a few days would see no smile.
    p.least_steps = parameters.find("steps_per_year") == nullptr ? 16 : 0;
    p.watched_steps_per_year = read_parameter(parameters, find_row(heston_rows, "watched_steps_per_year"),
                                              usual_watched_steps_per_year(p.sigma));
    return p;
}

std::optional<double> implied_volatility(const heston_parameters& p, double years, double log_moneyness) {
    std::vector<double> ends;
    for (const by_term* t : {&p.kappa, &p.theta, &p.sigma, &p.rho})
        ends.insert(ends.end(), t->years.begin(), t->years.end());
    ends.push_back(years);
    std::ranges::sort(ends);
    fourier::heston_by_term law{p.v0, {}};
    double from = 0;
    for (const double until : ends) {
        if (!(until > from)) continue;
        law.pieces.push_back(
            {until, p.kappa.from(from), p.theta.from(from), p.sigma.from(from), p.rho.from(from)});
        from = until;
    }
    return implied_by([&] { return fourier::characteristic_of(law, years); }, years, log_moneyness);
}

std::string describe(const heston_parameters& p) {
    return std::string(heston_schemes[static_cast<std::size_t>(p.by)]) + ", at least " +
           config::about(p.steps_per_year) + " steps a year, " + config::about(p.watched_steps_per_year) +
           " where watched continuously";
}

std::unique_ptr<walk> heston_walk(const heston_parameters& p, const markets::asset& of) {
    return std::make_unique<heston>(p, of);
}

std::shared_ptr<const model> read_heston(const config::node& parameters, const reading& of) {
    refuse_others(parameters, parameters_of_heston);
    return std::make_shared<heston_model>(read_heston_parameters(parameters, of.as_of));
}

}  // namespace tilewalk::models
