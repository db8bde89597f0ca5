// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/sample.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "engine/base/crew.h"
#include "engine/base/mixed.h"

namespace tilewalk::verify {

namespace {

std::uint64_t mixed(std::uint64_t seed, std::uint64_t number) {
    return run::mixed(seed * run::golden + number + 1);
}

drawn_trade draw(const sample_wanted& wanted, std::size_t number) {
    constexpr double higher = 1.001;
    const std::size_t which = wanted.truths[number % wanted.truths.size()];
    dice d(mixed(wanted.seed, 2 * number));
    for (;;) {
        const known_trade t = truths()[which].draw(d);
        const double price = t.price({}), high = t.price({.forwards = higher});
        if (!std::isfinite(price) || !std::isfinite(high)) {
            throw error(error_kind::internal, "the known price is no number of\n" + t.book);
        }
        // The error of a trade worth almost nothing has no useful z, so draw another. The true price decides
        // this, never the engine's price.
        if (std::abs(price) < 0.01 * t.scale) continue;
        const bool has_bounds = truths()[which].is == truth_entry::verified_by::bounds;
        const std::uint64_t paths = has_bounds ? std::min(wanted.paths, most_paths_of_bounds) : wanted.paths;
        const std::string points =
            wanted.random == "philox" ? "" : fmt::format(", construction: {}", wanted.construction);
        // Without control variates: if one matches a payoff exactly, no error of the paths would show.
        std::string text = fmt::format(
            "settings: {{paths: {}, seed: {}, precision: {}, controls: none, random: {}{}}}\n{}", paths,
            mixed(wanted.seed, 2 * number + 1), wanted.precision, wanted.random, points, t.book);
        book parsed = book::parse(text, fmt::format("trade_{}.yaml", number));
        drawn_trade out{which,
                        std::move(text),
                        std::move(parsed),
                        price,
                        high > price ? 1.0 : -1.0,
                        high,
                        t.scale,
                        {},
                        mixed(~wanted.seed, number)};
        if (!wanted.with_sensitivities) return out;
        for (const movable_number& n : t.numbers) {
            const auto slope = known_sensitivity(t, n.key, n.step);
            if (!slope) continue;
            if (!std::isfinite(*slope))
                throw error(error_kind::internal,
                            "the known price has no derivative to " + n.key + " of\n" + t.book);
            out.sensitivities.push_back({n.key, n.step, *slope});
        }
        return out;
    }
}

priced_trade told(const results& of) {
    const price_row& row = of.rows.at(0);
    priced_trade p;
    p.path_steps = of.manifest.path_steps;
    if (row.status == trade_status::failed) p.failure = row.message;
    for (const std::string& gpu : of.manifest.devices) p.walked_on += (p.walked_on.empty() ? "" : ", ") + gpu;
    if (p.walked_on.empty()) p.walked_on = "CPU";
    p.price = row.price;
    p.standard_error = row.standard_error;
    if (row.randomisations > 0) {
        p.degrees_of_freedom = row.degrees_of_freedom();
        p.skew = row.early ? 0 : row.lean;
    }
    p.early = row.early;
    return p;
}

priced_trade found(const drawn_trade& t, const stages& by, cuda::backend& gpus,
                   const studies::inner_options& options) {
    greek_options asked;
    for (const drawn_trade::sensitivity& s : t.sensitivities) asked.wanted.push_back(s.key);
    const results got =
        greeks_of_book(studies::resources({}, gpus), t.book, *t.book.market(), asked, options, by);
    priced_trade out = told(got);
    for (const drawn_trade::sensitivity& s : t.sensitivities) {
        found_sensitivity& one = out.sensitivities.emplace_back();
        const auto row = std::ranges::find(got.greeks, s.key, &greek_row::key);
        if (row == got.greeks.end()) continue;
        one = {row->value, row->standard_error,    row->bias,   row->method,
               row->unit,  row->part_means.size(), row->message};
    }
    return out;
}

double move_of(const std::string& unit) {
    if (unit.ends_with(" per 1 bp")) return 1e-4;
    return unit.find(" per 1 % of ") != unit.npos ? 1e-2 : 1;
}

}  // namespace

std::vector<drawn_trade> draw_sample(const sample_wanted& wanted, const std::function<void()>& watch) {
    std::vector<std::optional<drawn_trade>> drawn(wanted.trades);
    threads::for_each(
        wanted.trades, wanted.threads, wanted.cancel,
        [&](int, std::uint64_t i) { drawn[i] = draw(wanted, i); }, watch);
    std::vector<drawn_trade> out;
    out.reserve(wanted.trades);
    for (auto& t : drawn) out.push_back(std::move(*t));
    return out;
}

std::vector<priced_trade> price_sample(
    std::span<const drawn_trade> trades, const pricing_wanted& wanted, cuda::backend& gpus,
    const std::function<void(std::size_t done, std::uint64_t steps)>& done) {
    std::vector<priced_trade> out(trades.size());
    std::atomic<std::size_t> count{0};
    std::atomic<std::uint64_t> steps{0};
    studies::inner_options options;
    options.overrides.threads = 1;  // trades run in parallel, each as a book with one thread
    options.overrides.device = wanted.device;
    options.cancel = wanted.cancel;
    try {
        threads::for_each(
            trades.size(), wanted.threads, wanted.cancel,
            [&](int, std::uint64_t i) {
                priced_trade& p = out[i];
                if (wanted.with_sensitivities) {
                    p = found(trades[i], wanted.by, gpus, options);
                } else {
                    const book& b = trades[i].book;
                    const priced_book got =
                        price_book(studies::resources({}, gpus), b, *b.market(), options, wanted.by);
                    const kernels::moments& m = got.moments.at(0);
                    p = told(got.result);
                    if (m.m2 > 0 && !p.degrees_of_freedom) p.skew = m.m3 / (m.m2 * std::sqrt(m.m2));
                }
                steps += p.path_steps;
                ++count;
            },
            [&] {
                if (done) done(count, steps);
            });
    } catch (const error& e) {
        if (e.kind() != error_kind::cancelled) throw;
    }
    return out;
}

scored_trade score(const drawn_trade& t, const priced_trade& got, double truth) {
    const double error = got.price - truth;
    double z = farthest_z;
    if (got.standard_error > 0) {
        z = without_skew(error / got.standard_error, got.skew);
        if (got.degrees_of_freedom) z = run::normal_of_student(z, *got.degrees_of_freedom);
    } else if (std::abs(error) <= 1e-9 * t.scale) {
        z = 0;
    }
    if (!got.failure.empty() || !std::isfinite(z)) z = farthest_z;
    return {std::clamp(z, -farthest_z, farthest_z), t.lean};
}

scored_bounds score_bounds(const drawn_trade& t, const priced_trade& got, double truth) {
    scored_bounds out;
    if (!got.failure.empty() || !got.early) return out;
    const early_exercise& e = *got.early;
    const auto z_of = [&](double beyond, double error, double skew) {
        if (error > 0) {
            const double z = without_skew(beyond / error, skew);
            return got.degrees_of_freedom ? run::normal_of_student(z, *got.degrees_of_freedom) : z;
        }
        return beyond <= 1e-9 * t.scale ? 0 : farthest_z;
    };
    const double lower = z_of(e.lower_bound - truth, e.lower_error, got.skew);
    // A few paths that almost all agree may have missed a rare path, and what it would add.
    const double rare = 1e-4 * std::abs(truth);
    const double below = truth - e.upper_bound;
    const double upper = z_of(below > 0 ? std::max(below - rare, 0.0) : below, e.upper_error, 0);
    if (!std::isfinite(lower) || !std::isfinite(upper)) return out;
    out.lower_z = std::clamp(lower, -farthest_z, farthest_z);
    out.upper_z = std::clamp(upper, -farthest_z, farthest_z);
    out.truth = truth / t.scale;
    out.given_away = (truth - e.lower_bound) / t.scale;
    out.lower_error = e.lower_error / t.scale;
    out.left_open = (e.upper_bound - truth) / t.scale;
    out.upper_error = e.upper_error / t.scale;
    return out;
}

std::vector<scored_sensitivity> score_sensitivities(const drawn_trade& t, const priced_trade& got) {
    using judged_as = scored_sensitivity::judged_as;
    constexpr double little = 0.05;  // bias that does not count, in standard errors
    std::vector<scored_sensitivity> out;
    for (std::size_t k = 0; k < t.sensitivities.size(); ++k) {
        const drawn_trade::sensitivity& known = t.sensitivities[k];
        const bool is_there = k < got.sensitivities.size();
        const found_sensitivity of = is_there ? got.sensitivities[k] : found_sensitivity{};
        scored_sensitivity& s = out.emplace_back();
        const double per = move_of(of.unit);
        s.key = k;
        s.truth = per * known.per_unit;
        s.lean = s.truth < 0 ? -1 : 1;
        const double error = of.value - s.truth, size = std::abs(error);
        s.z = farthest_z;
        if (!got.failure.empty() || !of.failure.empty()) continue;
        // Rounding in the engine's value; error of quadratures and differences in the true value.
        const double unit = t.scale * per / known.step, rounding = 1e-10 * unit, left = 1e-8 * unit;
        if (of.standard_error > rounding) {
            const bool is_biased = of.bias > little * of.standard_error;
            const double beyond = is_biased ? std::max(size - of.bias, 0.0) : size;
            s.is = is_biased ? judged_as::biased : judged_as::chance;
            s.z = std::copysign(
                run::normal_of_student(beyond / of.standard_error, static_cast<double>(of.parts) - 1), error);
        } else if (of.standard_error >= 0) {
            s.is = judged_as::exact;
            if (size <= of.bias + left + 1e-6 * std::abs(s.truth)) s.z = 0;
        }
        if (!std::isfinite(s.z)) s.z = farthest_z;
        s.z = std::clamp(s.z, -farthest_z, farthest_z);
    }
    return out;
}

}  // namespace tilewalk::verify
