// SPDX-License-Identifier: Apache-2.0
// The suite `convergence`: how the error of a price (standard deviation, in basis points of spot or notional)
// falls, and the time grows, with the number of paths. Compares independent paths, Sobol points, both with
// controls and importance sampling, and antithetic pairs (two paths each). Errors of independent paths are
// from the spread of payoffs, errors of points from the means of many randomisations. A row is wrong if its
// price differs from that of independent paths beyond chance.
#include "bench/suites/convergence.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bench/measure/attempt.h"
#include "engine/base/machine.h"
#include "engine/base/wording.h"
#include "engine/numerics/quasi/order.h"
#include "engine/reading/settings/precision_named.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace convergence {

namespace {

std::string on_one_asset(const std::string& how, const std::string& trade) {
    return fmt::format(R"(
market: {{as_of: 2026-01-15, currencies: {{USD: {{rate: 0.05}}}}, assets: {{A: {{currency: USD, spot: 100, {}}}}}}}
trades:
  - {{id: trade, {}}}
)",
                       how, trade);
}

constexpr const char* lognormal = "volatility: 0.2";
constexpr const char* call = "product: european, underlying: A, strike: 100, maturity: 1.0";
// Heston's model by full truncation, its most common scheme, at 50 steps a year.
constexpr const char* heston_model =
    "model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7, scheme: full_truncation, "
    "steps_per_year: 50}}";

template <int dates>
std::string asian() {
    return on_one_asset(
        lognormal,
        fmt::format(
            "product: asian, underlying: A, strike: 100, averaging_dates: {{start: 0, end: 1, count: {}}}",
            dates));
}

std::string digital() {
    return on_one_asset(lognormal,
                        "product: digital, underlying: A, strike: 100, payout: 100, maturity: 1.0");
}

std::string barrier_on_dates() {
    return on_one_asset(lognormal,
                        "product: barrier, underlying: A, strike: 100, maturity: 1.0, direction: down, "
                        "barrier: 90, monitoring: discrete, monitoring_dates: {start: 0, end: 1, count: 52}");
}

// A barrier watched continuously; the volatility changes, so that there is more than one step to maturity.
std::string barrier_continuous() {
    return on_one_asset("volatility: {0.25: 0.24, 0.5: 0.22, 0.75: 0.21, 1.0: 0.2}",
                        "product: barrier, underlying: A, strike: 100, maturity: 1.0, direction: down, "
                        "barrier: 90");
}

// A knock-in barrier so high that one path in a thousand pays.
std::string up_and_in() {
    return on_one_asset(lognormal,
                        "product: barrier, underlying: A, strike: 100, maturity: 1.0, direction: up, "
                        "kind: knock_in, barrier: 200");
}

std::string deep_put() {
    return on_one_asset(lognormal,
                        "product: european, option: put, underlying: A, strike: 55, maturity: 1.0");
}

std::string lookback() {
    return on_one_asset(lognormal,
                        "product: lookback, underlying: A, maturity: 1.0, monitoring: discrete, "
                        "monitoring_dates: {start: 0, end: 1, count: 52}");
}

std::string cliquet() {
    return on_one_asset(
        lognormal,
        "product: cliquet, underlying: A, fixings: {start: 0, end: 1, count: 12, include_start: true}, "
        "local_floor: -0.02, local_cap: 0.02, global_floor: 0");
}

std::string variance_swap() {
    return on_one_asset(
        heston_model,
        "product: variance_swap, underlying: A, fixings: {start: 0, end: 1, count: 52, include_start: true}, "
        "strike: 0.2, annualisation: 52, notional: 100");
}

std::string heston() {
    return on_one_asset(heston_model, call);
}

std::string bates() {
    return on_one_asset(
        "model: {bates: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7, jump_intensity: 0.3, "
        "jump_mean: -0.1, jump_sd: 0.06, steps_per_year: 50}}",
        call);
}

std::string rough_bergomi() {
    return on_one_asset(
        "model: {rough_bergomi: {xi: 0.04, eta: 1.9, rho: -0.9, hurst: 0.07, steps_per_year: 50}}", call);
}

std::string local_volatility() {
    return on_one_asset(
        "model: {local_volatility: {steps_per_year: 50, surface: {by_strike: {"
        "0.25: {80: 0.245, 90: 0.22, 100: 0.2, 110: 0.19, 120: 0.185}, "
        "1.0: {70: 0.24, 85: 0.22, 100: 0.2, 115: 0.19, 130: 0.185}}}}}",
        call);
}

// `count` assets with volatilities from 20 to 30 %; all pairs have the same correlation.
std::string on_assets(int count, double correlation, const std::string& trade) {
    std::string assets, pairs, basket;
    for (int i = 0; i < count; ++i) {
        assets += fmt::format("    A{}: {{currency: USD, spot: 100, volatility: {:.2f}}}\n", i,
                              0.2 + 0.01 * (7 * i % 11));
        basket += fmt::format("{}A{}", i > 0 ? ", " : "", i);
        for (int j = 0; j < i; ++j) pairs += fmt::format("    - [A{}, A{}, {}]\n", i, j, correlation);
    }
    return fmt::format(R"(
market:
  as_of: 2026-01-15
  currencies: {{USD: {{rate: 0.03}}}}
  assets:
{}  correlations:
{}trades:
  - {{id: trade, basket: [{}], {}}}
)",
                       assets, pairs, basket, trade);
}

std::string worst_of_autocallable() {
    return on_assets(
        5, 0.5,
        "product: autocallable, initial_level: 100, observations: {start: 0, end: 1, count: 12}, "
        "call_level: 1.0, coupon: [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.11, 0.12], "
        "protection: 0.6, notional: 100");
}

std::string digital_on_a_basket() {
    return on_assets(5, 0.5, "product: basket_digital, weights: 0.2, strike: 100, maturity: 1.0") + R"(
products:
  - product: basket_digital
    summary: Pays 100 where a basket ends at or above a strike.
    parameters:
      basket: {type: asset_list, help: The assets.}
      weights: {type: number, per: basket, help: Units of each.}
      strike: {type: amount, help: The level that decides.}
      maturity: {type: date, help: The day.}
    example: {basket: [A0, A1], weights: 1, strike: 200, maturity: 1}
    script: |
      on maturity:
          if sum(weights[a] * spot(a) for a in basket) >= strike:
              pay 100
)";
}

std::string worst_of_daily() {
    return on_assets(
        5, 0.5,
        "product: autocallable, initial_level: 100, observations: {start: 0, end: 1, count: 252}, "
        "call_level: 1.05, coupon: 0.08, protection: 0.6, notional: 100");
}

template <int count>
std::string basket() {
    return on_assets(count, 0.3,
                     fmt::format("product: basket, weights: {}, strike: 100, maturity: 1.0", 1.0 / count));
}

std::string swaption() {
    return R"(
market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03, model: {hull_white: {mean_reversion: 0.05, volatility: 0.01}}}}
trades:
  - {id: trade, product: swaption, currency: USD, strike: 0.03, expiry: 5.0, payments: [6.0, 7.0, 8.0, 9.0, 10.0], notional: 100}
)";
}

constexpr std::string_view spot = "spot", notional = "notional";

const std::array catalogue{
    example{"asian_12", &asian<12>, spot},
    example{"asian_52", &asian<52>, spot},
    example{"asian_252", &asian<252>, spot},
    example{"digital", &digital, notional},
    example{"barrier_on_dates", &barrier_on_dates, spot},
    example{"barrier_continuous", &barrier_continuous, spot},
    example{"lookback", &lookback, spot},
    example{"worst_of_autocallable", &worst_of_autocallable, notional},
    example{"worst_of_daily", &worst_of_daily, notional},
    example{"digital_on_a_basket", &digital_on_a_basket, notional},
    example{"cliquet", &cliquet, notional},
    example{"basket_of_10", &basket<10>, spot},
    example{"basket_of_50", &basket<50>, spot},
    example{"heston", &heston, spot},
    example{"local_volatility", &local_volatility, spot},
    example{"rough_bergomi", &rough_bergomi, spot},
    example{"bates", &bates, spot},
    example{"swaption", &swaption, notional},
    example{"variance_swap", &variance_swap, notional},
    example{"up_and_in", &up_and_in, spot},
    example{"deep_put", &deep_put, spot},
};

// A correct price is off by more than this many standard errors in one of 1.7 million rows.
constexpr double most_errors = 5;

constexpr int randomisations_of_a_walk = 64;  // the most that a run takes
constexpr int threads_timed = 1, all_threads = 0;

struct source {
    std::string random;
    std::optional<tilewalk::construction> construction{};  // empty for independent paths
    bool is_in_arrays = false;  // a GPU reads moves from arrays, instead of drawing them in paths
    bool has_controls = false, has_importance = false, has_pairs = false, has_preintegration = false;
    bool is_independent() const { return !construction; }
    bool is_plain() const {
        return is_independent() && !has_controls && !has_importance && !has_pairs && !has_preintegration;
    }
    bool has_pilot() const {
        return construction == construction::automatic || has_controls || has_importance ||
               has_preintegration;
    }
    std::uint64_t samples_of(std::uint64_t paths) const { return has_pairs ? paths / 2 : paths; }
    std::string how() const {
        return is_independent() ? "none"
                                : std::string(name_of(*construction)) + (is_in_arrays ? "_in_arrays" : "");
    }
    std::string words() const {
        return (is_independent() ? random : random + ", " + how()) + (has_controls ? ", controls" : "") +
               (has_importance ? ", importance" : "") + (has_pairs ? ", pairs" : "") +
               (has_preintegration ? ", preintegration" : "");
    }
};

std::vector<source> sources(bool on_cpu) {
    std::vector<source> out{{"philox"}};
    using enum construction;
    for (const construction how : {steps, bridge, principal, coarse}) out.push_back({"sobol", how});
    if (!on_cpu) out.push_back({"sobol", coarse, true});
    out.push_back({"sobol", automatic});
    out.push_back({"philox", {}, false, true});
    out.push_back({"sobol", automatic, false, true});
    out.push_back({"philox", {}, false, false, true});
    out.push_back({"sobol", automatic, false, true, true});
    out.push_back({"philox", {}, false, false, false, true});
    out.push_back({.random = "sobol", .construction = automatic, .has_preintegration = true});
    return out;
}

class walker {
  public:
    walker(const place& at, const example& of, const std::atomic<bool>* cancel)
        : at_(at), book_(book::parse(of.book(), "benchmark")), cancel_(cancel) {}

    bool is_on_cpu() const { return at_.device == "cpu"; }

    results walked(const source& from, std::uint64_t paths, std::uint64_t seed, int units,
                   int threads) const {
        run_options options;
        options.cancel = cancel_;
        options.overrides.device = at_.device;
        options.overrides.precision = precision_named(at_.precision);
        options.overrides.random = from.random;
        options.overrides.controls = from.has_controls ? technique::automatic : technique::none;
        if (from.has_importance) options.overrides.importance = technique::automatic;
        if (from.has_pairs) options.overrides.antithetic = antithetic::pairs;
        if (from.has_preintegration) options.overrides.preintegration = technique::automatic;
        options.overrides.paths = from.samples_of(paths);
        options.overrides.seed = seed;
        if (is_on_cpu()) options.overrides.threads = threads;
        if (!from.is_independent()) {
            options.overrides.construction = from.construction;
            if (from.is_in_arrays) options.overrides.prefetch = "smem_rolling_async";
            options.overrides.randomisations = units;
        }
        results out = engine_.price(book_, options);
        const price_row& r = out.rows.at(0);
        if (r.status != trade_status::priced) throw error(error_kind::internal, r.message);
        const auto expected = from.is_independent() ? 0u : static_cast<std::uint64_t>(units);
        if (r.paths != from.samples_of(paths) || r.randomisations != expected ||
            (expected > 0 && r.part_means.size() != expected))
            throw error(
                error_kind::internal,
                fmt::format("walked {} paths in {} randomisations with {} means, expected {} in {}", r.paths,
                            r.randomisations, r.part_means.size(), from.samples_of(paths), expected));
        if (!is_on_cpu() && out.manifest.devices.empty())
            throw error(error_kind::internal, "the GPU has walked none of it");
        return out;
    }

    struct reference {
        sample payoffs;
        double steps = 0;  // path-steps per path
    };
    reference independent(std::uint64_t paths) const {
        const results got = walked({"philox"}, paths, first_seed, 0, all_threads);
        return {payoffs_of(got), static_cast<double>(got.manifest.path_steps) / static_cast<double>(paths)};
    }
    // Payoffs of independent paths with a technique such as controls. Each number of paths has its own seed.
    sample independent_as(const source& from, std::uint64_t paths) const {
        const auto seed = first_seed + 1 + static_cast<std::uint64_t>(std::countr_zero(paths));
        return payoffs_of(walked(from, paths, seed, 0, all_threads));
    }

    // Randomisation means of several runs of `paths` paths, with seeds for this number of paths alone.
    // Sources with a pilot keep the usual number of randomisations, because more would enlarge the pilot.
    sample means(const source& from, std::uint64_t paths) const {
        const int units = from.has_pilot() ? static_cast<int>(randomisations) : randomisations_of_a_walk;
        const int runs = at_.seeds * randomisations_of_a_walk / units;
        std::vector<double> all;
        const auto first = first_seed + 1 + static_cast<std::uint64_t>(runs * std::countr_zero(paths));
        for (int s = 0; s < runs; ++s) {
            const auto seed = first + static_cast<std::uint64_t>(s);
            const price_row r = walked(from, paths / randomisations * static_cast<std::uint64_t>(units), seed,
                                       units, all_threads)
                                    .rows.at(0);
            all.insert(all.end(), r.part_means.begin(), r.part_means.end());
        }
        return sample_of(all);
    }

    summary time(const source& from, std::uint64_t paths, const stop_rule& until) const {
        const auto take = [&]() -> std::optional<double> {
            return 1e3 * walked(from, paths, first_seed, randomisations, threads_timed).manifest.path_seconds;
        };
        take();  // compiles kernels and warms caches
        return bench::measure(take, until, seconds_now)->of;
    }

  private:
    static constexpr std::uint64_t first_seed = 42;

    static sample payoffs_of(const results& got) {
        const price_row& r = got.rows.at(0);
        const double n = static_cast<double>(r.paths), kurtosis = n / r.effective_hits;
        return {r.price, r.standard_error * r.standard_error * n, n,
                std::sqrt(std::max(kurtosis - 1, 0.0) / n)};
    }

    const place& at_;
    engine engine_;
    book book_;
    const std::atomic<bool>* cancel_;
};

row row_of(const char* suite, const place& at, const example& of, const source& from) {
    row r;
    r.suite = suite;
    r.axes = {{"case", of.name},
              {"random", from.random},
              {"construction", from.how()},
              {"precision", at.precision},
              {"device", at.device == "cpu" ? "cpu" : "gpu"}};
    if (from.has_controls) r.axes["controls"] = "auto";
    if (from.has_importance) r.axes["importance"] = "auto";
    if (from.has_pairs) r.axes["antithetic"] = "pairs";
    if (from.has_preintegration) r.axes["preintegration"] = "auto";
    return r;
}

const point* point_with(const line& of, double paths) {
    const auto found = std::ranges::find(of, paths, &point::paths);
    return found == of.end() ? nullptr : &*found;
}

void tell_line(row& r, const line& of, std::span<const double> noise, const source& from,
               const line& of_philox) {
    if (of.empty()) throw error(error_kind::internal, "no row of this line has an error");
    // The slope -1/2 of independent paths is known, so it is not estimated.
    constexpr double by_chance = -0.5;
    const bool is_independent = from.is_independent();
    const std::optional<slope> fell = slope_of(of, noise);
    if (fell && !is_independent) {
        r.figures["slope"] = fell->value;
        r.figures["slope_noise"] = fell->noise;
    }
    const auto there = place_of(1, of, is_independent || !fell ? by_chance : fell->value);
    if (!there) return;
    r.figures["paths_to_1bp"] = there->paths;
    r.figures["found"] = there->found;
    if (there->milliseconds == 0) return;
    r.figures["time_to_1bp_milliseconds"] = there->milliseconds;
    if (from.is_plain()) return;
    if (const auto theirs = place_of(1, of_philox, by_chance); theirs && theirs->milliseconds > 0)
        r.figures["times_as_fast_as_philox"] = theirs->milliseconds / there->milliseconds;
}

}  // namespace

std::span<const example> examples() {
    return catalogue;
}

sample sample_of(std::span<const double> values) {
    if (values.size() < 2) throw error(error_kind::internal, "a spread takes two numbers at least");
    sample out;
    out.count = static_cast<double>(values.size());
    for (const double x : values) out.mean += x / out.count;
    double m2 = 0, m4 = 0;
    for (const double x : values) {
        const double squared = (x - out.mean) * (x - out.mean);
        m2 += squared / out.count;
        m4 += squared * squared / out.count;
    }
    out.variance = m2 * out.count / (out.count - 1);
    if (m2 > 0) out.noise = std::sqrt((m4 / (m2 * m2) - (out.count - 3) / (out.count - 1)) / out.count);
    return out;
}

std::string why_wrong(const sample& means, const sample& payoffs) {
    if (!(means.variance > 0)) return "all randomisations have the same mean";
    const double off = means.mean - payoffs.mean,
                 error = std::sqrt(means.variance / means.count + payoffs.variance / payoffs.count);
    if (std::abs(off) <= most_errors * error) return {};
    return fmt::format("the price is {}, from independent paths {}, further apart than {} errors of {}",
                       means.mean, payoffs.mean, most_errors, error);
}

std::optional<slope> slope_of(const line& of, std::span<const double> noise) {
    if (of.size() < 2) return std::nullopt;
    const auto n = static_cast<double>(of.size());
    double mean_x = 0, mean_y = 0;
    for (const point& p : of) {
        mean_x += std::log(p.paths) / n;
        mean_y += std::log(p.error) / n;
    }
    double xx = 0, xy = 0, noisy = 0;
    for (std::size_t i = 0; i < of.size(); ++i) {
        const double x = std::log(of[i].paths) - mean_x;
        xx += x * x;
        xy += x * (std::log(of[i].error) - mean_y);
        noisy += x * noise[i] * x * noise[i];
    }
    return slope{xy / xx, std::sqrt(noisy) / xx};
}

std::optional<place_on_line> place_of(double error, const line& of, double falls_by) {
    if (of.front().error <= error) return place_on_line{of.front().paths, of.front().milliseconds, "at most"};
    for (std::size_t i = 1; i < of.size(); ++i) {
        const point &before = of[i - 1], &after = of[i];
        if (after.error > error) continue;
        const double share = std::log(error / before.error) / std::log(after.error / before.error);
        const auto between = [&](double a, double b) { return a * std::pow(b / a, share); };
        return place_on_line{between(before.paths, after.paths),
                             before.milliseconds > 0 ? between(before.milliseconds, after.milliseconds) : 0,
                             "interpolated"};
    }
    if (!(falls_by < 0)) return std::nullopt;
    const double more = std::pow(error / of.back().error, 1 / falls_by);
    return place_on_line{more * of.back().paths, more * of.back().milliseconds, "extrapolated"};
}

void measure(const place& at, const example& of, const stop_rule& until,
             const std::function<void(const std::string&)>& says, const std::atomic<bool>* cancel,
             const sink& to) {
    const walker with(at, of, cancel);
    const auto in_bp = [&](double variance) { return 1e4 * std::sqrt(variance) / of.size; };
    std::optional<walker::reference> beside;
    line of_philox;
    for (const source& from : sources(with.is_on_cpu())) {
        says(fmt::format("convergence: {}, {}, {}", of.name, from.words(), at.precision));
        line found;
        std::vector<double> noise;  // relative noise of the errors
        for (std::uint64_t paths = fewest_paths; paths <= at.most_paths; paths *= 2) {
            row made = row_of("convergence", at, of, from);
            made.axes["paths"] = paths;
            attempt(std::move(made), to, [&](row& r) {
                if (!beside) beside = with.independent(at.most_paths);
                const sample& payoffs = beside->payoffs;
                const double by_chance = payoffs.variance / static_cast<double>(paths);
                sample means;
                point here{static_cast<double>(paths), in_bp(by_chance)};
                // The number of values a price is the mean of: payoffs, or randomisation means.
                const double samples =
                    static_cast<double>(from.is_independent() ? from.samples_of(paths) : randomisations);
                if (!from.is_plain()) {
                    means =
                        from.is_independent() ? with.independent_as(from, paths) : with.means(from, paths);
                    r.wrong = why_wrong(means, payoffs);
                    if (!r.wrong.empty()) return;
                    here.error = in_bp(means.variance / samples);
                }
                r.figures["error_bp"] = here.error;
                r.figures["bp_of"] = of.bp_of;
                if (!from.is_plain()) {
                    const double fewer = by_chance / (means.variance / samples);
                    r.figures["fewer_paths"] = fewer;
                    r.figures["fewer_paths_noise"] = fewer * std::hypot(means.noise, payoffs.noise);
                }
                if (at.is_timed) {
                    const summary took = with.time(from, paths, until);
                    here.milliseconds = took.median;
                    r.figures["milliseconds"] = took.median;
                    r.figures["noise"] = took.noise;
                    if (with.is_on_cpu()) r.figures["threads"] = threads_timed;
                    if (const point* theirs = point_with(of_philox, here.paths);
                        !from.is_plain() && theirs != nullptr) {
                        r.figures["ratio_at_equal_time"] =
                            r.figures["fewer_paths"].get<double>() * theirs->milliseconds / here.milliseconds;
                    }
                }
                r.figures["steps"] = beside->steps;
                r.figures["price"] = from.is_plain() ? payoffs.mean : means.mean;
                found.push_back(here);
                noise.push_back(means.noise / 2);
                if (from.is_plain()) of_philox = found;
            });
        }
        attempt(row_of("convergence_to_1bp", at, of, from), to,
                [&](row& r) { tell_line(r, found, noise, from, of_philox); });
    }
}

}  // namespace convergence

namespace {

constexpr std::uint64_t paths_on_gpu = std::uint64_t{1} << 22, paths_on_cpu = std::uint64_t{1} << 17;

std::span<const convergence::example> asked_for(const request& r) {
    const auto all = convergence::examples();
    if (r.subject.empty()) return all;
    const auto found = std::ranges::find(all, r.subject, &convergence::example::name);
    if (found != all.end()) return {found, 1};
    std::vector<std::string> known;
    for (const convergence::example& e : all) known.emplace_back(e.name);
    throw error(error_kind::usage, "found " + config::shown(r.subject) + ", expected one of " +
                                       config::joined(known) + config::suggestion(r.subject, known));
}

std::vector<std::string> precisions_of(const request& r) {
    return r.precisions.empty() ? std::vector<std::string>{"double"} : r.precisions;
}

// Lowers the fewest samples to 7: times vary by much less than the lines differ.
stop_rule fewer_samples(stop_rule until) {
    until.fewest = std::min<std::size_t>(until.fewest, 7);
    return until;
}

void measure_on(const std::string& device, std::uint64_t most_paths, const request& asked,
                const stop_rule& until, const std::function<void(const std::string&)>& says,
                const std::atomic<bool>* cancel, const sink& to) {
    for (const convergence::example& of : asked_for(asked)) {
        for (const std::string& precision : precisions_of(asked)) {
            if (device == "cpu" && program::is_fast(precision_named(precision))) {
                row r;
                r.suite = "convergence";
                r.axes = {{"case", of.name}, {"precision", precision}, {"device", "cpu"}};
                skip(std::move(r), to, "this precision stands for what a GPU approximates, and takes one");
                continue;
            }
            convergence::place at{device, precision};
            at.most_paths = asked.paths > 0 ? asked.paths : most_paths;
            at.is_timed = asked.is_timed;
            convergence::measure(at, of, fewer_samples(until), says, cancel, to);
        }
    }
}

}  // namespace

void check_convergence(const request& asked) {
    asked_for(asked);
    for (const std::string& precision : asked.precisions) precision_named(precision);
    if (asked.paths > 0 && asked.paths < convergence::fewest_paths) {
        throw error(error_kind::usage,
                    fmt::format("found {} paths, expected {} or more: a run of Sobol points has {} "
                                "randomisations of 1,024 paths at least",
                                asked.paths, convergence::fewest_paths, convergence::randomisations));
    }
}

void run_convergence_on_cpu(const cpu_bench& on, const request& asked, const std::string&, const sink& to) {
    measure_on("cpu", paths_on_cpu, asked, on.until, on.says, on.cancel, to);
}

void run_convergence(gpu_timer& on, const request& asked, const sink& to) {
    measure_on("cuda", paths_on_gpu, asked, on.until(), on.says, on.cancel, to);
}

}  // namespace tilewalk::bench
