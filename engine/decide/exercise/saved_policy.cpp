// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/exercise/saved_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "engine/base/digest.h"
#include "engine/base/wording.h"
#include "products/dates/date.h"

namespace tilewalk::exercise {

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw error(error_kind::input, "its saved policy does not fit: " + why);
}

bool is_volatility(const std::string& feature) {
    return feature.starts_with(name_of_volatility);
}

std::string names_text(const std::vector<std::string>& names) {
    return names.empty() ? "nothing" : config::joined(names);
}

double days_passed(const saved_policy& saved, const markets::market_view& in) {
    const std::optional<dates::date> found = dates::parse_date(saved.as_of);
    if (!found) refuse("its as_of is " + config::shown(saved.as_of) + ", expected YYYY-MM-DD");
    return (in.as_of.serial - found->serial) / 365.0;
}

bool are_finite(const std::vector<double>& numbers) {
    return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

void check_numbers(const saved_policy& saved, const policy& by) {
    const std::size_t functions = by.functions.functions(), features = by.functions.features();
    const std::size_t moves = by.moves().size();
    const auto are = [](const std::vector<double>& numbers, std::size_t count) {
        return numbers.size() == count && are_finite(numbers);
    };
    const auto are_levels = [&](const decision_date& d) {
        return std::ranges::all_of(d.levels, [&](const fitted_level& l) {
            return are(l.paid.coefficients, functions) && are(l.unpaid.coefficients, functions) &&
                   are(l.slopes, moves * functions);
        });
    };
    bool fit = by.uses > 0 || are(saved.first_slopes, moves);
    for (const std::vector<double>& slopes : saved.first_slopes_by_uses) fit = fit && are(slopes, moves);
    for (const saved_policy::date& d : saved.dates) {
        fit = fit && are(d.levels, features - 1) && are(d.found.means, features) &&
              are(d.found.scales, features) && are_finite(d.found.ahead) && are_levels(d.found) &&
              (!d.found.is_notice() || d.found.levels.size() == 2);
        if (d.found.levels.empty())
            fit = fit && are(d.found.paid.coefficients, functions) &&
                  are(d.found.unpaid.coefficients, functions) && are(d.found.slopes, moves * functions);
    }
    if (!fit) refuse("it has lists of the wrong length, or numbers that are not finite; train it anew");
}

void check_fit(const saved_policy& saved, const books::trade& t, const policy_to_find& of) {
    if (saved.product != t.product_name)
        refuse("it was trained for the product " + config::shown(saved.product) + ", expected " +
               config::shown(t.product_name) + ", the trade's");
    if (saved.script != config::sha256(t.product->payoff.source()))
        refuse("it was trained for another script of the product " + config::shown(t.product_name) +
               "; train it anew");
    if (saved.features != of.known)
        refuse("it decides by " + names_text(saved.features) +
               ", expected the features of the trade: " + names_text(of.known));
    if (saved.functions != of.by.functions.functions())
        refuse("it has " + std::to_string(saved.functions) + " basis functions, expected " +
               std::to_string(of.by.functions.functions()));
    if (saved.normals != (of.by.has_bound() ? of.by.normals.size() : 0))
        refuse("it was trained with " + std::to_string(saved.normals) +
               " normal random numbers a step, expected the " + std::to_string(of.by.normals.size()) +
               " that move the trade");
    check_numbers(saved, of.by);
}

// Returns the saved date of the right that is nearest to `wanted`. Refuses a policy whose dates have moved by
// more than half their longest interval.
std::size_t nearest_date(const saved_policy& saved, const decision_date& wanted, double years,
                         const std::string& label) {
    std::size_t out = saved.dates.size();
    double nearest = std::numeric_limits<double>::infinity(), longest = 0, before = 0;
    for (std::size_t k = 0; k < saved.dates.size(); ++k) {
        const saved_policy::date& d = saved.dates[k];
        if (d.found.block != wanted.block || d.found.of != wanted.of) continue;
        longest = std::max(longest, d.years - before);
        before = d.years;
        if (const double apart = std::abs(d.years - years); apart < nearest) {
            nearest = apart;
            out = k;
        }
    }
    if (out == saved.dates.size() || nearest > 0.5 * longest)
        refuse("it has no decision near " + label + ", expected one on each date of the trade");
    return out;
}

void take_found(decision_date& to, const decision_date& found, const policy& by) {
    to.means = found.means;
    to.scales = found.scales;
    if (found.ahead.size() != to.ahead.size())
        refuse("it was trained in a market of another kind: its features take " +
               std::to_string(found.ahead.size()) + " prices and rates of later dates, expected " +
               std::to_string(to.ahead.size()));
    to.ahead = found.ahead;
    to.paid = found.paid;
    to.unpaid = found.unpaid;
    to.slopes = found.slopes;
    to.levels = found.levels;
    if (by.uses == 0) {
        if (found.levels.size() != (to.is_notice() ? 2u : 0u))
            refuse(std::string("it is for a right ") +
                   (found.levels.empty() ? "without notice"
                    : found.is_notice()  ? "with notice"
                                         : "that may be used several times") +
                   ", expected one " +
                   (to.is_notice() ? "with notice" : "without notice that may be used once"));
        return;
    }
    const auto cases = static_cast<std::size_t>(by.uses) + 1;
    if (found.levels.size() < cases)
        refuse("it is for a right with up to " +
               std::to_string(std::max<std::size_t>(found.levels.size(), 1) - 1) + " uses, expected the " +
               std::to_string(by.uses) + " of the trade");
    to.levels.resize(cases);
}

// Returns the slopes at mean features of an interval that began before today: the constant's coefficients.
std::vector<double> in_the_middle(const std::vector<double>& slopes, std::size_t functions) {
    std::vector<double> out;
    for (std::size_t m = 0; m < slopes.size(); m += functions) out.push_back(slopes[m]);
    return out;
}

void take_first_slopes(policy& to, const saved_policy& saved, std::size_t first) {
    const std::size_t functions = to.functions.functions();
    if (to.uses == 0) {
        if (first == 0) {
            to.first_slopes = saved.first_slopes;
        } else {
            const decision_date& before = saved.dates[first - 1].found;
            to.first_slopes =
                in_the_middle(before.is_notice() ? before.levels[0].slopes : before.slopes, functions);
        }
        return;
    }
    const auto cases = static_cast<std::size_t>(to.uses) + 1;
    const std::size_t found =
        first == 0 ? saved.first_slopes_by_uses.size() : saved.dates[first - 1].found.levels.size();
    if (found < cases)
        refuse("it has the martingales of its upper bound for " + std::to_string(found) +
               " numbers of uses left, expected " + std::to_string(cases) + "; train it anew");
    for (std::size_t uses = 0; uses < cases; ++uses) {
        to.first_slopes_by_uses.push_back(
            first == 0 ? saved.first_slopes_by_uses[uses]
                       : in_the_middle(saved.dates[first - 1].found.levels[uses].slopes, functions));
    }
}

// Moves a date's features to today's market, so that decisions depend on prices and rates as quoted. Returns
// the furthest move in standard deviations.
double move_to_market(decision_date& d, const std::vector<double>& then, const std::vector<double>& now,
                      const std::vector<bool>& are_products) {
    double furthest = 0;
    for (std::size_t f = 0; f < now.size(); ++f) {
        const double mean = d.means[f], scale = d.scales[f];
        if (!are_products[f]) {
            d.means[f] += then[f] - now[f];
        } else if (const double ratio = then[f] / now[f]; std::isfinite(ratio) && ratio > 0) {
            d.means[f] *= ratio;
            d.scales[f] /= ratio;
        }
        furthest = std::max(furthest, std::abs(d.means[f] - mean) * scale);
    }
    return furthest;
}

}  // namespace

std::optional<saved_policy> saved_of(const books::trade& t, const markets::market_view& in, const policy& by,
                                     const plan::poll& often) {
    std::optional<policy_to_find> of = policy_to_find_of(t, in, often, by.tells_volatilities());
    if (!of || of->is_certain) return std::nullopt;
    saved_policy out;
    out.trade = t.id;
    out.product = t.product_name;
    out.script = config::sha256(t.product->payoff.source());
    out.as_of = to_string(in.as_of);
    out.features = std::move(of->known);
    out.functions = by.functions.functions();
    out.normals = by.has_bound() ? by.normals.size() : 0;
    out.training_paths = by.paths;
    if (by.today) out.is_used_today = by.is_used_today;
    if (by.uses == 0) out.first_slopes = by.first_slopes;
    out.first_slopes_by_uses = by.first_slopes_by_uses;
    out.gain_of_step = by.gain_of_step;
    out.error_of_gain = by.error_of_gain;
    for (std::size_t k = 0; k < by.dates.size(); ++k) {
        policy_to_find::date& d = of->dates[k];
        out.dates.push_back({d.years, std::move(d.label), std::move(d.levels), by.dates[k]});
    }
    return out;
}

std::optional<policy> policy_as_saved(const books::trade& t, const markets::market_view& in,
                                      const saved_policy& saved, const plan::poll& often) {
    std::optional<policy_to_find> of =
        policy_to_find_of(t, in, often, std::ranges::any_of(saved.features, is_volatility));
    if (!of) return std::nullopt;
    if (of->is_certain) return std::move(of->by);
    if (saved.normals == 0) drop_martingale(of->by);
    check_fit(saved, t, *of);
    policy out = std::move(of->by);
    if (out.today && !saved.is_used_today)
        refuse("it has no decision for " + to_string(in.as_of) +
               ", expected one, as the right can be used that day; train it anew");
    out.is_used_today = out.today && (out.must_be_used_today || *saved.is_used_today);
    out.paths = saved.training_paths;
    const double passed = days_passed(saved, in);
    std::size_t first = saved.dates.size();
    bool has_moved = passed != 0 || out.dates.size() != saved.dates.size();
    for (std::size_t k = 0; k < out.dates.size(); ++k) {
        decision_date& d = out.dates[k];
        const std::size_t from = nearest_date(saved, d, of->dates[k].years + passed, of->dates[k].label);
        first = std::min(first, from);
        take_found(d, saved.dates[from].found, out);
        d.forced_from = out.uses - out.least_uses + static_cast<int>(out.dates.size() - k);
        out.moved = std::max(
            out.moved, move_to_market(d, saved.dates[from].levels, of->dates[k].levels, of->are_products));
        has_moved = has_moved || saved.dates[from].levels != of->dates[k].levels;
    }
    // The gain by steps holds only in the market that it was found in.
    if (!has_moved) {
        out.gain_of_step = saved.gain_of_step;
        out.error_of_gain = saved.error_of_gain;
    }
    if (out.has_bound()) take_first_slopes(out, saved, out.dates.empty() ? 0 : first);
    return out;
}

}  // namespace tilewalk::exercise
