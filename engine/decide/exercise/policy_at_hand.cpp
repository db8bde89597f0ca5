// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/exercise/policy_at_hand.h"

#include <algorithm>
#include <map>
#include <utility>

#include "products/program/row_names.h"

namespace tilewalk::exercise {

using language::right_at_hand;
using program::recorder;
using program::value;

std::string numbered(const std::string& name, std::size_t number) {
    return name + "#" + std::to_string(number);
}

value product(const std::vector<value>& a, const std::vector<value>& b) {
    value sum = a[0] * b[0];
    for (std::size_t i = 1; i < a.size(); ++i) sum = fma(a[i], b[i], sum);
    return sum;
}

value weighted_normal(std::uint32_t slot, bool weighs_steps, std::span<const double> stops, recorder& into) {
    const value normal = into.normal_again(slot);
    if (!weighs_steps) return normal;
    std::vector<double> weights;
    for (std::size_t s = 0; s + 1 < stops.size(); ++s) weights.push_back(weight_of_step(stops, s));
    return normal * into.row("weight of step", weights);
}

rows_of_policy::rows_of_policy(const policy& by, const right_at_hand& right, recorder& into) : into_(into) {
    for (std::size_t run = 0; run < right.runs.size(); ++run) {
        for (const decision_date& d : by.dates)
            if (d.block == right.block && d.run == run) dates_.push_back(&d);
    }
}

value rows_of_policy::row(const std::string& name,
                          const std::function<double(const decision_date&)>& number) const {
    std::vector<double> numbers;
    for (const decision_date* d : dates_) numbers.push_back(number(*d));
    return into_.row(name, numbers);
}

std::vector<value> rows_of_policy::rows(
    const std::string& name, std::size_t count,
    const std::function<double(const decision_date&, std::size_t)>& number) const {
    std::vector<value> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back(row(numbered(name, i), [&](const decision_date& d) { return number(d, i); }));
    return out;
}

namespace {

// Returns the number that the script compares by asset, as keys that sort the largest first: negated if the
// script takes the smallest, and 0 if it is not yet observed.
std::vector<value> compared_at_hand(const right_at_hand& right, recorder& into) {
    std::vector<value> out;
    for (const value v : right.compared.values) {
        const value number =
            select(into.constant(-never) < v && v < into.constant(never), v, into.constant(0));
        out.push_back(right.compared.is_smallest_first ? -number : number);
    }
    return out;
}

// Sorts keys and `others` alike, the largest key first; of many, the first ranks alone. Ties keep order.
void rank(std::vector<value>& keys, std::vector<std::vector<value>>& others) {
    const std::size_t n = keys.size(), ranks = n > most_ranks ? ranks_of_many : n - 1;
    for (std::size_t r = 0; r < ranks; ++r) {
        for (std::size_t i = n - 1; i > r; --i) {
            const value ahead = keys[i - 1], behind = keys[i], swaps = ahead < behind;
            keys[i - 1] = max(ahead, behind);
            keys[i] = min(ahead, behind);
            for (std::vector<value>& of : others) {
                const value first = of[i - 1];
                of[i - 1] = select(swaps, of[i], first);
                of[i] = select(swaps, first, of[i]);
            }
        }
    }
}

// Features of compared assets: the compared numbers by rank, their mean, and other numbers by the same rank.
class compared_features {
  public:
    compared_features(const std::vector<made_feature>& made, const right_at_hand& right, recorder& into) {
        const auto is_of_compared = [](const made_feature& f) {
            return f.is == made_feature::feature_type::compared ||
                   f.is == made_feature::feature_type::mean_compared ||
                   f.is == made_feature::feature_type::of_compared;
        };
        if (std::ranges::none_of(made, is_of_compared)) return;
        keys_ = compared_at_hand(right, into);
        mean_ = into.constant(0);
        for (const value v : keys_) mean_ = mean_ + v;
        mean_ = mean_ * (1 / static_cast<double>(keys_.size()));
        for (const made_feature& f : made) {
            if (f.is != made_feature::feature_type::of_compared || place_of_.contains(f.by_asset)) continue;
            place_of_[f.by_asset] = others_.size();
            std::vector<value>& of = others_.emplace_back();
            for (std::size_t i = 0; i < f.by_asset.size(); ++i)
                of.push_back(into.term(numbered("number of asset " + std::to_string(others_.size()), i),
                                       f.by_asset[i]));
        }
        rank(keys_, others_);
    }
    value value_of(const made_feature& f) const {
        if (f.is == made_feature::feature_type::mean_compared) return mean_;
        return f.is == made_feature::feature_type::compared ? keys_.at(f.number)
                                                            : others_[place_of_.at(f.by_asset)].at(f.number);
    }

  private:
    std::vector<value> keys_;
    value mean_;
    std::map<std::vector<double>, std::size_t> place_of_;
    std::vector<std::vector<value>> others_;
};

}  // namespace

void kept_ranks::open(const policy& by, recorder& into) {
    if (is_open() || !by.are_normals_ranked) return;
    rotation_ = by.rotation;
    for (std::size_t i = 0; i < by.normals.size(); ++i)
        states_.push_back(into.state(numbered("compared", i), -static_cast<double>(i)));
}

std::vector<value> kept_ranks::in_order(const std::vector<value>& drawn, recorder& into) const {
    const std::size_t n = states_.size();
    std::vector<value> keys;
    for (const std::uint32_t s : states_) keys.push_back(into.read(s));
    std::vector<std::vector<value>> of{drawn};
    for (std::size_t i = 0; i < n && !rotation_.empty(); ++i) {
        std::vector<value> row;
        for (std::size_t j = 0; j < n; ++j)
            row.push_back(into.term(numbered("rotation", i) + "," + std::to_string(j), rotation_[i * n + j]));
        of[0][i] = product(row, drawn);
    }
    rank(keys, of);
    return std::move(of[0]);
}

void kept_ranks::keep(const right_at_hand& right, recorder& into) {
    const std::vector<value> now = compared_at_hand(right, into);
    for (std::size_t i = 0; i < states_.size(); ++i) into.write(states_[i], now[i]);
}

std::vector<value> made_features_at_hand(const std::vector<made_feature>& made, const right_at_hand& right,
                                         recorder& into) {
    std::vector<value> out;
    // Ranked values of states, not yet taken by a feature; keyed by the states.
    std::map<std::vector<std::uint32_t>, std::vector<value>> ranked;
    const auto read = [&](const std::vector<std::uint32_t>& states) {
        std::vector<value> all;
        for (const std::uint32_t s : states) all.push_back(into.read(s));
        return all;
    };
    const compared_features compared(made, right, into);
    for (const made_feature& f : made) {
        if (f.is == made_feature::feature_type::named) {
            const language::named_feature& named = right.features.at(f.number);
            if (!named.number.valid()) {
                throw error(error_kind::input,
                            "found a policy that decides by a feature that the models of the trade do not "
                            "determine: " +
                                named.why_unknown);
            }
            out.push_back(named.number);
        } else if (f.is != made_feature::feature_type::mean && f.is != made_feature::feature_type::ranked) {
            out.push_back(compared.value_of(f));
        } else if (f.is == made_feature::feature_type::mean) {
            value sum = into.constant(0);
            for (const value v : read(f.states)) sum = sum + v;
            out.push_back(sum * (1 / static_cast<double>(f.states.size())));
        } else {
            auto [at, is_new] = ranked.try_emplace(f.states);
            std::vector<value>& rest = at->second;
            if (is_new) rest = read(f.states);
            value largest = rest.back();
            rest.pop_back();
            for (value& v : rest) {
                const value other = min(v, largest);
                largest = max(v, largest);
                v = other;
            }
            out.push_back(largest);
        }
    }
    return out;
}

std::vector<double> numbers_ahead_of(const policy& by, const right_at_hand& right, std::size_t before,
                                     std::vector<double> in_the_market) {
    for (const decision_date& d : by.dates) {
        if (d.block == right.block && d.run < in_the_market.size() && before < d.ahead.size())
            in_the_market[d.run] = d.ahead[before];
    }
    return in_the_market;
}

basis_at_hand::basis_at_hand(const policy& by, const right_at_hand& right, const rows_of_policy& rows,
                             recorder& into)
    : paid(right.gives / right.unit) {
    const std::size_t states = by.features.size();
    const std::vector<value> made = made_features_at_hand(by.made, right, into);
    std::vector<value> features;
    for (std::size_t f = 0; f < by.functions.features(); ++f) {
        const value mean =
            rows.row(numbered("mean of feature", f), [&](const decision_date& d) { return d.means[f]; });
        const value scale =
            rows.row(numbered("scale of feature", f), [&](const decision_date& d) { return d.scales[f]; });
        const value of = f < states                 ? into.read(by.features[f])
                         : f < states + made.size() ? made[f - states]
                                                    : paid;
        features.push_back((of - mean) * scale);
    }
    functions = by.functions.values(features, into.constant(1));
}

value basis_at_hand::to_come(const rows_of_policy& rows, const std::string& when,
                             const std::function<const fitted_side&(const decision_date&)>& side) const {
    const std::string name = std::string(program::row_names::to_come).append(when);
    const std::vector<value> coefficients =
        rows.rows(name, functions.size(),
                  [&](const decision_date& d, std::size_t i) { return side(d).coefficients[i]; });
    const value low = rows.row(name + " at least", [&](const decision_date& d) { return side(d).low; });
    const value high = rows.row(name + " at most", [&](const decision_date& d) { return side(d).high; });
    return min(max(product(coefficients, functions), low), high);
}

}  // namespace tilewalk::exercise
