// SPDX-License-Identifier: Apache-2.0
#include "engine/study/greeks/jumping_trade.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/decide/seeds.h"
#include "engine/study/asked.h"
#include "engine/study/greeks/greek_stages.h"
#include "engine/study/manifest.h"

namespace tilewalk::studies {

namespace {

// Points have so much smaller errors that narrower widths, which have less bias, are best.
std::array<double, 4> tried_widths(const jumping_trade& of) {
    if (of.takes_points) return {0.25, 0.125, 0.0625, 0.03125};
    return {1, 0.5, 0.25, 0.125};
}
constexpr std::uint64_t share_of_pilot = 8, least_paths_of_pilot = 16384;

std::uint64_t paths_of_pilot(const settled& run) {
    return std::max(run.paths / share_of_pilot, least_paths_of_pilot);
}
double share_of_run(const settled& run) {
    return static_cast<double>(paths_of_pilot(run)) / static_cast<double>(run.paths);
}

struct estimate {
    double mean = 0, variance = 0;
};
estimate estimate_of(const std::vector<double>& parts) {
    const auto count = static_cast<double>(parts.size());
    estimate out;
    for (const double m : parts) out.mean += m / count;
    for (const double m : parts) out.variance += (m - out.mean) * (m - out.mean) / count / (count - 1);
    return out;
}

struct judged {
    treatment by{};
    double squared_error = INFINITY;  // mean square error expected of the run
};

// Returns the best width. `means` are the pilot's, by width and part; `share` is its paths over the run's.
judged best_width(std::span<const double> widths, const std::vector<std::vector<double>>& means,
                  double share) {
    // Squared distance from the mean at a narrower width, less its variance. If more were subtracted, widths
    // would be chosen whose bias the run understates.
    const auto squared_bias = [&](std::size_t width) {
        double out = 0;
        for (std::size_t narrower = width + 1; narrower < means.size(); ++narrower) {
            std::vector<double> apart = means[width];
            for (std::size_t p = 0; p < apart.size(); ++p) apart[p] -= means[narrower][p];
            const estimate e = estimate_of(apart);
            out = std::max(out, e.mean * e.mean - e.variance);
        }
        return out;
    };
    judged out{usual_smoothing};
    for (std::size_t w = 0; w < means.size(); ++w) {
        const bool is_last = w + 1 == means.size();
        const double bias = is_last ? squared_bias(w - 1) / 16 : squared_bias(w);
        const double error = bias + estimate_of(means[w]).variance * share;
        if (error < out.squared_error) out = {{widths[w]}, error};
    }
    return out;
}

using treated_trades = std::vector<std::pair<std::size_t, treatment>>;

// Walks each trade by its treatment and adds the derivatives to `found`.
run_manifest walk_treated(const greek_run& run, const jumping_trades& trades, const treated_trades& treated,
                          const inner_options& how, stages by, found_by_trade& found) {
    std::vector<std::size_t> places;
    std::vector<std::shared_ptr<const ready_trade>> ready;
    for (const auto& [i, as] : treated) {
        places.push_back(i);
        ready.push_back(trades.at(i).ready);
    }
    by.ready = ready;
    by.add_ways_back = [&](planned_run& r) {
        run.each(treated.size(), [&](std::size_t t) {
            const auto& [i, as] = treated[t];
            if (!r.plans[t].failure) trades.at(i).add_derivatives(r.plans[t], as);
        });
    };
    priced_book priced = price_book(run.with, some_of(run.trades, places), run.in, how, by);
    for (std::size_t t = 0; t < treated.size(); ++t)
        if (const price_row& row = priced.result.rows[t]; row.status != trade_status::failed)
            found[treated[t].first][treated[t].second] = {std::move(priced.derivatives[t]), row.walk,
                                                          row.price};
    return std::move(priced.result.manifest);
}

inner_options options_of_pilot(greek_run& run) {
    inner_options out = run.options;
    out.on_progress = run.progress.options_of_walk().on_progress;
    if (out.work) out.work = std::make_shared<kept::work>(out.work->of_pilots());
    out.overrides.seed = decide::seed_for(run.run.seed, decide::purpose::treatments);
    out.overrides.precision = precision::double_;
    out.overrides.paths = paths_of_pilot(run.run);
    // The pilot may have more paths and another precision than the run's random source supports.
    if (run.run.unit_paths == 0) out.overrides.random = random::on_any_device(source_of(run.run, false)).name;
    return out;
}

// `share`: the pilot's paths over the run's.
void choose(const jumping_trade& trade, std::size_t number, const found_by_treatment& found, double share,
            jumping_trade::choice& of) {
    judged best{of.by};
    if (of.can_be_smoothed) {
        const auto widths = tried_widths(trade);
        std::vector<std::vector<double>> by_width;
        for (const double width : widths)
            if (const auto at = found.find({width}); at != found.end())
                by_width.push_back(at->second.means[number]);
        if (by_width.size() == widths.size()) best = best_width(widths, by_width, share);
    }
    if (const auto at = found.find(by_likelihood_ratio); of.can_be_scored && at != found.end()) {
        // Likelihood ratios have no bias. They are not chosen if their variance is NaN.
        if (estimate_of(at->second.means[number]).variance * share < best.squared_error)
            best.by = by_likelihood_ratio;
    }
    of.by = best.by;
}

// Likelihood ratios are tried last, as they subtract a mean payoff that the other walks find.
struct tries_of_pilot {
    treated_trades first, then;

    tries_of_pilot(const greek_run& run, const jumping_trades& trades) {
        // The pilot needs paths of its own, which a file of shocks does not have.
        if (!run.states_bias() || !run.run.replay.empty()) return;
        for (const auto& [i, trade] : trades) {
            if (trade.is_decided) continue;
            if (trade.any_can(&jumping_trade::choice::can_be_smoothed))
                for (const double by : tried_widths(trade)) first.emplace_back(i, treatment{by});
            else
                first.emplace_back(i, by_likelihood_ratio);
            if (trade.any_can(&jumping_trade::choice::can_be_scored))
                then.emplace_back(i, by_likelihood_ratio);
        }
    }
};

}  // namespace

bool jumping_trade::any_can(bool choice::*so) const {
    return std::ranges::any_of(choices, [&](const auto& c) { return c && (*c).*so; });
}

void jumping_trade::take_decisions(const decide::treated_jumps& jumps) {
    control = jumps.control;
    is_decided = true;
    for (std::size_t k = 0; k < choices.size(); ++k) {
        if (!choices[k]) continue;
        const auto found = jumps.by.find(keys[k]);
        const bool fits =
            found != jumps.by.end() &&
            (found->second.is_smoothing() ? choices[k]->can_be_smoothed : choices[k]->can_be_scored);
        if (fits) choices[k]->by = found->second;
        is_decided = is_decided && fits;
    }
}

std::shared_ptr<const decide::treated_jumps> jumping_trade::decisions() const {
    auto out = std::make_shared<decide::treated_jumps>();
    out->control = control;
    for (std::size_t k = 0; k < choices.size(); ++k)
        if (choices[k]) out->by[keys[k]] = choices[k]->by;
    return out;
}

void jumping_trade::add_derivatives(planned& to, treatment by) const {
    if (!by.is_smoothing()) {
        to.back = std::make_shared<const greeks::ready_way_back>(scored, scored_data, moves, control);
        return;
    }
    program::smoothing wide = usual;
    for (auto& of_jump : wide)
        for (double& w : of_jump) w *= by.width;
    if (smoothed_forth)
        to.with_tangents = std::make_shared<const ready_trade>(*ready, smoothed_forth, moves, wide);
    else
        to.back = std::make_shared<const greeks::ready_way_back>(smoothed, ready->data, moves, wide);
}

treatment jumping_trade::first() const {
    treatment widest{};
    for (const auto& c : choices)
        if (c && c->by.is_smoothing()) widest = std::max(widest, c->by);
    return widest.is_smoothing() ? widest : usual_smoothing;
}

std::set<treatment> jumping_trade::needed(bool states_bias) const {
    std::set<treatment> out;
    for (const auto& c : choices) {
        if (!c) continue;
        out.insert(c->by);
        if (states_bias && c->by.is_smoothing()) out.insert({2 * c->by.width});
    }
    return out;
}

double walks_of_pilot(const greek_run& run, const jumping_trades& trades) {
    const tries_of_pilot tries(run, trades);
    return static_cast<double>(tries.first.size() + tries.then.size()) * share_of_run(run.run);
}

std::uint64_t choose_treatments(greek_run& run, jumping_trades& trades,
                                const decide::decided_by_trade& held) {
    const tries_of_pilot tries(run, trades);
    if (tries.first.empty()) return 0;
    const inner_options how = options_of_pilot(run);
    const double share = share_of_run(run.run);
    const stages by{.held = &held};
    found_by_trade found;
    std::uint64_t steps = 0;
    const auto walk = [&](const treated_trades& treated) {
        if (treated.empty()) return;
        run.progress.begin(static_cast<double>(treated.size()) * share);
        steps += walk_treated(run, trades, treated, how, by, found).path_steps;
    };
    walk(tries.first);
    // begin() has the narrowest smoothing, whose mean payoff has the least bias.
    for (const auto& [i, as] : tries.then)
        trades.at(i).control = found[i].empty() ? 0 : found[i].begin()->second.price;
    walk(tries.then);
    for (auto& [i, trade] : trades)
        for (std::size_t k = 0; k < trade.choices.size() && !trade.is_decided; ++k)
            if (trade.choices[k]) choose(trade, k, found[i], share, *trade.choices[k]);
    return steps;
}

found_by_trade find_by_treatments(greek_run& run, const jumping_trades& trades,
                                  const std::vector<std::vector<std::vector<double>>>& first, results& to,
                                  const stages& by) {
    found_by_trade out;
    treated_trades others;
    for (const auto& [i, trade] : trades) {
        const price_row& row = to.rows[i];
        if (row.status == trade_status::failed) continue;
        out[i][trade.first()] = {first[i], row.walk, row.price};
        for (const treatment& other : trade.needed(run.states_bias()))
            if (other != trade.first()) others.emplace_back(i, other);
    }
    if (others.empty()) return out;
    run.progress.begin(static_cast<double>(others.size()));
    add_steps(to.manifest, walk_treated(run, trades, others, run.progress.options_of_walk(), by, out));
    return out;
}

}  // namespace tilewalk::studies
