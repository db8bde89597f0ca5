// SPDX-License-Identifier: Apache-2.0
#include "engine/study/risk/risks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "engine/study/risk/noise.h"
#include "engine/study/risk/sampling.h"
#include "engine/study/risk/tails.h"
#include "engine/walk/units.h"

namespace tilewalk::risk {

namespace {

// Gains of single trades in the currency of a total, by scenario and trade; empty if not kept.
struct cells {
    std::span<const double> gains, errors;
    std::size_t trades = 0;

    double gain(std::size_t scenario, std::size_t trade) const { return gains[scenario * trades + trade]; }
    double error(std::size_t scenario, std::size_t trade) const { return errors[scenario * trades + trade]; }
};

cells cells_of(const scenario_results& r, const portfolio_gains& of) {
    const std::size_t all = r.scenarios.size() * r.trades();
    const auto& gains = of.is_converted ? r.converted_gains : r.gains;
    const auto& errors = of.is_converted ? r.converted_errors : r.errors;
    if (gains.size() != all || errors.size() != all) return {};
    return {gains, errors, r.trades()};
}

bool is_priced_in_base(const scenario_results& r, std::size_t trade) {
    return r.base.rows[trade].status == trade_status::priced;
}

}  // namespace

gains_of_set gains_in(const scenario_results& r, const portfolio_gains& of, std::string_view set) {
    gains_of_set out;
    std::vector<char> is_of_set(r.scenarios.size()), fails(r.trades());
    const auto in_base = static_cast<std::size_t>(
        std::ranges::count_if(of.trades, [&](std::size_t t) { return is_priced_in_base(r, t); }));
    std::vector<std::size_t> failed(r.scenarios.size());
    for (const failed_gain& f : r.failures)
        failed[f.scenario] += std::ranges::find(of.trades, f.trade) != of.trades.end() ? 1U : 0U;
    for (std::size_t s = 0; s < r.scenarios.size(); ++s) {
        // A scenario that fails every trade is left out: it is itself wrong, such as an invalid market.
        is_of_set[s] = r.scenarios[s].set == set && (in_base == 0 || failed[s] < in_base);
        if (is_of_set[s]) out.scenarios.push_back(s);
    }
    for (const failed_gain& f : r.failures)
        if (is_of_set[f.scenario]) fails[f.trade] = true;
    for (const std::size_t t : of.trades) {
        const bool was_priced = is_priced_in_base(r, t);
        (was_priced && !fails[t] ? out.trades : out.left_out).push_back(t);
        out.is_summed_anew |= was_priced && fails[t];
    }
    const cells own = cells_of(r, of);
    for (const std::size_t s : out.scenarios) {
        double gain = of.gains[s];
        if (out.is_summed_anew) {
            gain = own.trades > 0 ? 0 : no_figure;
            if (own.trades > 0)
                for (const std::size_t t : out.trades) gain += own.gain(s, t);
        }
        out.gains.push_back(gain);
    }
    return out;
}

namespace {

class portfolio_in_set {
  public:
    portfolio_in_set(const scenario_results& r, const portfolio_gains& of, std::string_view set,
                     std::span<const double> levels)
        : r_(r), of_(of), own_(cells_of(r, of)), in_(gains_in(r, of, set)), find_(places_of(levels)) {
        risk_.set = set;
        risk_.portfolio = of.portfolio;
        risk_.currency = of.currency;
        risk_.is_converted = of.is_converted;
        risk_.scenarios = in_.gains.size();
        risk_.left_out = in_.left_out;
        for (const double level : levels) risk_.tails.emplace_back().level = level;
    }

    portfolio_risk risk() {
        if (!std::ranges::all_of(in_.gains, [](double g) { return std::isfinite(g); })) return risk_;
        const std::span<const tail_values> found = find_.tails_of(in_.gains);
        tails_.assign(found.begin(), found.end());
        add_tails();
        add_noise();
        add_shares();
        return std::move(risk_);
    }

  private:
    std::vector<std::size_t> places_of(std::span<const double> levels) {
        for (const double level : levels) places_.push_back(place_of_quantile(level, in_.gains.size()));
        return places_;
    }

    void add_tails() {
        // Equal gains stay in the order of their scenarios.
        order_.resize(in_.gains.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return in_.gains[i]; });
        std::vector<double> sorted;
        for (const std::size_t i : order_) sorted.push_back(in_.gains[i]);
        for (std::size_t l = 0; l < tails_.size(); ++l) {
            const sampling_errors by_chance = sampling_errors_of(sorted, places_[l], tails_[l].within);
            tail& t = risk_.tails[l];
            t.at = in_.scenarios[order_[places_[l] - 1]];
            t.quantile = {tails_[l].quantile, no_figure, by_chance.quantile};
            t.shortfall = {tails_[l].shortfall, no_figure, by_chance.shortfall};
        }
    }

    bool is_exact() const {
        if (in_.is_summed_anew)
            return std::ranges::all_of(in_.scenarios, [&](std::size_t s) {
                return std::ranges::all_of(in_.trades, [&](std::size_t t) { return own_.error(s, t) == 0; });
            });
        return of_.means_of_parts.empty() && of_.errors.size() == r_.scenarios.size() &&
               std::ranges::all_of(in_.scenarios, [&](std::size_t s) { return of_.errors[s] == 0; });
    }

    std::span<const double> means_of(std::size_t scenario) const {
        return std::span(of_.means_of_parts).subspan(scenario * of_.parts, of_.parts);
    }

    void add_noise() {
        if (is_exact()) {
            for (tail& t : risk_.tails) t.quantile.noise = t.shortfall.noise = 0;
            return;
        }
        const std::size_t parts = of_.parts;
        if (in_.is_summed_anew || parts < least_parts || of_.errors.size() != r_.scenarios.size() ||
            of_.means_of_parts.size() != r_.scenarios.size() * parts)
            return;
        std::vector<double> means;
        for (const std::size_t s : in_.scenarios) {
            const std::span<const double> own = means_of(s);
            means.insert(means.end(), own.begin(), own.end());
        }
        const run_manifest& m = r_.base.manifest;
        const std::vector<noise_errors> noise =
            noise_errors_of(in_.gains, means, shares_of_parts(parts, m.part_paths, m.paths), find_);
        for (std::size_t l = 0; l < tails_.size(); ++l) {
            // Errors that part means do not show may all be alike in a tail, so their mean is taken.
            double beside = 0;
            bool has_errors = true;
            for (std::size_t i = 0; i < in_.gains.size(); ++i) {
                if (in_.gains[i] > tails_[l].quantile) continue;
                const std::size_t s = in_.scenarios[i];
                has_errors &= is_figure(of_.errors[s]);
                beside += run::error_beside_parts(of_.errors[s], means_of(s));
            }
            if (!has_errors) continue;
            tail& t = risk_.tails[l];
            t.quantile.noise =
                std::hypot(noise[l].quantile, run::error_beside_parts(of_.errors[t.at], means_of(t.at)));
            t.shortfall.noise =
                std::hypot(noise[l].shortfall, beside / static_cast<double>(tails_[l].within));
        }
    }

    // Works on a few trades at a time, for the cache: in memory, gains of a scenario lie side by side.
    void add_shares() {
        if (own_.trades == 0) return;
        const std::size_t trades = in_.trades.size(), scenarios = in_.gains.size();
        risk_.shares.resize(tails_.size() * trades);
        constexpr std::size_t at_once = 8;
        std::array<std::vector<double>, at_once> gains, errors;
        for (std::size_t first = 0; first < trades; first += at_once) {
            const std::size_t some = std::min(at_once, trades - first);
            for (std::size_t i = 0; i < some; ++i) {
                gains[i].resize(scenarios);
                errors[i].resize(scenarios);
            }
            for (std::size_t s = 0; s < scenarios; ++s) {
                for (std::size_t i = 0; i < some; ++i) {
                    gains[i][s] = own_.gain(in_.scenarios[s], in_.trades[first + i]);
                    errors[i][s] = own_.error(in_.scenarios[s], in_.trades[first + i]);
                }
            }
            for (std::size_t i = 0; i < some; ++i) add_shares_of(first + i, gains[i], errors[i]);
        }
    }

    void add_shares_of(std::size_t place, std::span<const double> gains, std::span<const double> errors) {
        without_.resize(gains.size());
        for (std::size_t s = 0; s < gains.size(); ++s) without_[s] = in_.gains[s] - gains[s];
        const std::span<const tail_values> without = find_.tails_of(without_);
        for (std::size_t l = 0; l < tails_.size(); ++l) {
            const std::size_t at = order_[places_[l] - 1];
            double gain = 0, error = 0;
            for (std::size_t s = 0; s < gains.size(); ++s) {
                if (in_.gains[s] > tails_[l].quantile) continue;
                gain += gains[s];
                error += errors[s];
            }
            const double within = static_cast<double>(tails_[l].within);
            trade_in_tail& share = risk_.shares[l * in_.trades.size() + place];
            share.trade = in_.trades[place];
            share.level = risk_.tails[l].level;
            share.component_quantile = gains[at];
            share.component_quantile_error = errors[at];
            share.component_shortfall = gain / within;
            share.component_shortfall_error = error / within;
            share.incremental_quantile = tails_[l].quantile - without[l].quantile;
            share.incremental_shortfall = tails_[l].shortfall - without[l].shortfall;
        }
    }

    const scenario_results& r_;
    const portfolio_gains& of_;
    cells own_;
    gains_of_set in_;
    std::vector<std::size_t> places_;
    tail_finder find_;
    std::vector<tail_values> tails_;
    std::vector<std::size_t> order_;
    std::vector<double> without_;
    portfolio_risk risk_;
};

}  // namespace

std::vector<portfolio_risk> risks_of(const scenario_results& r, const scenario_list& asked) {
    std::vector<portfolio_risk> out;
    for (const std::string& set : asked.likely_sets) {
        if (std::ranges::find(r.scenarios, set, &scenario::set) == r.scenarios.end()) continue;
        for (const portfolio_gains& of : r.totals)
            out.push_back(portfolio_in_set(r, of, set, asked.levels).risk());
    }
    return out;
}

}  // namespace tilewalk::risk
