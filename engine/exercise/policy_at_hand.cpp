// SPDX-License-Identifier: Apache-2.0
#include "engine/exercise/policy_at_hand.h"

#include <map>

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

std::vector<value> made_features_at_hand(const std::vector<made_feature>& made, const right_at_hand& right,
                                         recorder& into) {
    std::vector<value> out;
    // Numbers still to be ranked, once the largest were taken out.
    std::map<std::vector<std::uint32_t>, std::vector<value>> ranked;
    const auto read = [&](const std::vector<std::uint32_t>& states) {
        std::vector<value> all;
        for (const std::uint32_t s : states) all.push_back(into.read(s));
        return all;
    };
    for (const made_feature& f : made) {
        if (f.is == made_feature::kind::named) {
            out.push_back(right.features.at(f.number));
        } else if (f.is == made_feature::kind::mean) {
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
    functions = by.functions.of(features, into.constant(1));
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
