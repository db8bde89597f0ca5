// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/jumping_trade.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "engine/decide/seeds.h"

namespace tilewalk::verbs {

namespace {

// Widths of smoothing that are tried. Points err by so much less than independent paths that narrower ones,
// with less bias, are the best.
std::array<double, 4> tried_widths(const jumping_trade& of) {
    if (of.takes_points) return {0.25, 0.125, 0.0625, 0.03125};
    return {1, 0.5, 0.25, 0.125};
}
// The paths that try them.
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
    double squared_error = INFINITY;  // its mean, in a run of which the pilot is a share
};

// The best width, from what the pilot found with each of those tried, by part.
judged best_width(std::span<const double> widths, const std::vector<std::vector<double>>& means,
                  double share) {
    // How far the mean is from that of a narrower one, less what is so by chance on average: to forgive more
    // is to take widths whose bias the run then understates.
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

// The findings of a pilot, by trade and treatment.
class pilot {
  public:
    pilot(const settled& run, const run_options& options, const walk_treated& walk)
        : walk_(walk), how_(options) {
        how_.on_progress = {};
        if (how_.work) how_.work = std::make_shared<kept::work>(how_.work->of_pilots());
        how_.overrides.seed = decide::seed_for(run.seed, decide::purpose::treatments);
        how_.overrides.precision = precision::double_;
        how_.overrides.paths = paths_of_pilot(run);
        // These paths may be more than those of the run.
        if (run.unit_paths == 0) how_.overrides.random = source_of(run, false).name;
        share_ = share_of_run(run);
    }

    void walk(const std::vector<std::pair<std::size_t, treatment>>& tries) {
        if (tries.empty()) return;
        priced_book tried = walk_(tries, static_cast<double>(tries.size()) * share_, how_);
        steps_ += tried.told.manifest.path_steps;
        for (std::size_t t = 0; t < tries.size(); ++t) {
            if (tried.told.rows[t].status == trade_status::failed) continue;
            prices_[tries[t].first] = tried.told.rows[t].price;
            found_[tries[t]] = std::move(tried.derivatives[t]);
        }
    }

    std::optional<double> price_of(std::size_t trade) const {
        const auto found = prices_.find(trade);
        return found == prices_.end() ? std::nullopt : std::optional(found->second);
    }
    // The means of a number by part; null where the walk failed.
    const std::vector<double>* means(std::size_t trade, treatment by, std::size_t number) const {
        const auto found = found_.find({trade, by});
        return found == found_.end() ? nullptr : &found->second[number];
    }

    void choose(std::size_t trade, std::size_t number, const jumping_trade& in,
                jumping_trade::choice& of) const {
        judged best{of.by};
        if (of.can_be_smoothed) {
            const auto widths = tried_widths(in);
            std::vector<std::vector<double>> by_width;
            for (const double width : widths)
                if (const auto* const m = means(trade, {width}, number)) by_width.push_back(*m);
            if (by_width.size() == widths.size()) best = best_width(widths, by_width, share_);
        }
        if (of.can_be_scored) {
            // It has no bias. An error that is no number is not less than any.
            const auto* const m = means(trade, likelihood_ratio, number);
            if (m != nullptr && estimate_of(*m).variance * share_ < best.squared_error)
                best.by = likelihood_ratio;
        }
        of.by = best.by;
    }

    std::uint64_t steps() const { return steps_; }

  private:
    const walk_treated& walk_;
    run_options how_;
    double share_ = 1;
    std::uint64_t steps_ = 0;
    std::map<std::size_t, double> prices_;  // by trade
    std::map<std::pair<std::size_t, treatment>, std::vector<std::vector<double>>> found_;
};

bool any_is(const jumping_trade& of, bool jumping_trade::choice::*can) {
    return std::ranges::any_of(of.choices, [&](const auto& c) { return c && (*c).*can; });
}

// The tries of a pilot: likelihood ratios after all else, since they take a mean of the payoff.
struct tries_of_pilot {
    std::vector<std::pair<std::size_t, treatment>> first, then;

    explicit tries_of_pilot(const std::map<std::size_t, jumping_trade>& trades) {
        for (const auto& [i, trade] : trades) {
            if (trade.is_decided) continue;
            if (any_is(trade, &jumping_trade::choice::can_be_smoothed)) {
                for (const double by : tried_widths(trade)) first.emplace_back(i, treatment{by});
            } else {
                first.emplace_back(i, likelihood_ratio);
            }
            if (any_is(trade, &jumping_trade::choice::can_be_scored)) then.emplace_back(i, likelihood_ratio);
        }
    }
};

}  // namespace

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

double walks_of_pilot(const std::map<std::size_t, jumping_trade>& trades, const settled& run) {
    const tries_of_pilot tries(trades);
    return static_cast<double>(tries.first.size() + tries.then.size()) * share_of_run(run);
}

std::uint64_t choose_treatments(std::map<std::size_t, jumping_trade>& trades, const settled& run,
                                const run_options& options, const walk_treated& walk) {
    pilot tried(run, options, walk);
    const tries_of_pilot tries(trades);
    tried.walk(tries.first);
    // The mean of the payoff is not known before.
    for (const auto& [i, by] : tries.then) trades.at(i).control = tried.price_of(i).value_or(0);
    tried.walk(tries.then);
    for (auto& [i, trade] : trades)
        for (std::size_t k = 0; k < trade.choices.size() && !trade.is_decided; ++k)
            if (trade.choices[k]) tried.choose(i, k, trade, *trade.choices[k]);
    return tried.steps();
}

}  // namespace tilewalk::verbs
