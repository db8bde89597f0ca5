// SPDX-License-Identifier: Apache-2.0
#include "engine/models/world/stops.h"

#include <cmath>

#include "products/dates/date.h"

namespace tilewalk::models {

namespace {

// The bridge of a watched path takes rates as linear over a step. For an asset that is sold once it has
// fallen by 5 %, the price is off by 1.2e-3 with 2 steps a year, rate volatility 3 % and correlation -0.8;
// with 10 or 50 steps, errors are within the standard error of 2e-4.
constexpr double watched_steps_per_year_of_rates = 50;

}  // namespace

void add_stops(const members& of, double from, double to, std::vector<double>& times) {
    const auto add = [&](const std::vector<double>& pillars) {
        for (const double t : pillars) {
            if (t > from && t < to) times.push_back(t);
        }
    };
    add(of.domestic().pillars());
    for (const factor& f : of.factors()) {
        for (const driver& d : f.moves_with) add(d.vol->pillars());
        for (const driver& d : f.quanto) add(d.vol->pillars());
        add(f.carry->pillars());
        if (!f.is_asset()) continue;
        const auto stop_every = [&](double longest) {
            const double steps = std::ceil((to - from) / longest);
            for (double k = 1; k < steps; ++k) times.push_back(from + (to - from) * (k / steps));
        };
        if (const double longest = f.walk->longest_watched_step(); longest > 0) stop_every(longest);
        if (f.rates) stop_every(1 / watched_steps_per_year_of_rates);
        add(f.asset->dividend_yield.pillars());
        for (const auto& d : f.asset->dividends) {
            if (d.years > from && d.years < to) times.push_back(d.years);
        }
    }
}

void add_breaks(const members& of, double last, std::vector<double>& times) {
    for (const factor& f : of.factors()) {
        if (f.walk) f.walk->add_breaks(last, times);
        if (!f.falls) continue;
        for (const markets::dividend& d : f.asset->dividends) {
            if (!d.proportional && d.years <= last + dates::same_time_years) times.push_back(d.years);
        }
    }
    for (const moving_rates& r : of.rates()) r.walk->add_breaks(last, times);
}

double longest_step(const members& of, std::span<const double> stops) {
    const bool is_by_itself = of.sources().size() == 1 && of.sources().front().quanto->empty();
    double longest = 0;
    const auto meet = [&](double here) {
        if (here > 0 && (longest == 0 || here < longest)) longest = here;
    };
    for (const factor& f : of.factors()) meet(f.walk ? f.walk->longest_step({stops, is_by_itself}) : 0);
    for (const moving_rates& r : of.rates()) meet(r.walk->longest_step(stops.back()));
    return longest;
}

std::optional<double> steps_leave(const members& of, const path_states& states) {
    for (const moving_rates& r : of.rates())
        if (!r.model->is_exact()) return {};
    const std::span<const factor> factors = of.factors();
    const bool is_by_itself =
        factors.size() == 1 && factors[0].quanto.empty() && !factors[0].falls && of.rates().empty();
    double left = 0;
    std::size_t watched = 0;
    for (const factor& f : factors) {
        if (!f.is_asset()) continue;
        if (states.is_watched(f)) {
            // Not exact if several assets are watched (bridges are taken as independent given their ends),
            // with cash dividends (a level minus future dividends is not log-linear), or if rates move (they
            // are not linear).
            const bool is_exact =
                f.walk->longest_watched_step() == 0 && !f.has_cash_dividends && of.rates().empty();
            if (!is_exact || ++watched > 1) return {};
        }
        const model& by = model_of(*f.asset);
        const std::optional<double> leaves = by.steps_leave();
        if (!leaves || (!is_by_itself && (*leaves > 0 || !by.is_as_exact_beside_others()))) return {};
        left = *leaves;
    }
    return left;
}

}  // namespace tilewalk::models
