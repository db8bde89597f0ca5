// SPDX-License-Identifier: Apache-2.0
#include "engine/study/files/book_shifts.h"

#include <algorithm>

#include "engine/plan/measures.h"

namespace tilewalk::studies {

namespace {

using report::ore_kind;

// Returns the pairs of numbers for cross gamma and vanna that some trade depends on.
std::set<std::pair<std::size_t, std::size_t>> pairs_in(const book_shifts& shifts,
                                                       const difference_options& wanted) {
    std::set<std::pair<std::size_t, std::size_t>> out;
    for (const std::vector<std::size_t>& numbers : shifts.numbers_of) {
        for (const std::size_t a : numbers) {
            if (shifts.numbers[a].kind != ore_kind::equity_spot) continue;
            for (const std::size_t b : numbers) {
                const ore_kind kind = shifts.numbers[b].kind;
                const bool is_vol = kind == ore_kind::equity_volatility || kind == ore_kind::fx_volatility;
                if ((wanted.cross_gamma && kind == ore_kind::equity_spot && b > a) ||
                    (wanted.vanna && is_vol))
                    out.emplace(a, b);
            }
        }
    }
    return out;
}

}  // namespace

std::size_t book_shifts::add(std::vector<market_change> changes, int days) {
    std::vector<std::tuple<std::string, double, bool>> same;
    for (const market_change& c : changes)
        same.emplace_back(c.key, c.amount, c.is == market_change::way::set);
    std::ranges::sort(same);
    const auto [at, is_new] = known_.try_emplace({days, std::move(same)}, asked.scenarios.size());
    if (is_new)
        asked.scenarios.push_back(
            {"shift", std::to_string(asked.scenarios.size()), std::move(changes), days});
    return at->second;
}

book_shifts::book_shifts(const difference_request& of, const difference_results& told,
                         const keys_by_trade& keys) {
    const report::ore_factors factors(told.numbers);
    asked.currency = told.currency;
    asked.for_differences = true;
    std::set<std::string> all;
    for (const std::set<std::string>& of_trade : keys) all.insert(of_trade.begin(), of_trade.end());
    std::map<std::string, std::size_t> places;
    for (const market_number& n : told.numbers) {
        if (!all.contains(n.key)) continue;
        if (const report::ore_factor* const factor = factors.factor_of(n.key)) {
            places[n.key] = numbers.size();
            const std::size_t up = add({{n.key, factor->shift}});
            const std::size_t down = add({{n.key, -factor->shift}});
            numbers.push_back({&n, factor->kind, factor->shift, up, down});
        } else {
            left_out.push_back(&n);
        }
    }
    day = add({}, 1);
    size_of_day = factors.factor_of(greeks::key_of_day)->shift;
    for (const std::set<std::string>& of_trade : keys) {
        std::vector<std::size_t>& of_these = numbers_of.emplace_back();
        for (const std::string& key : of_trade)
            if (const auto at = places.find(key); at != places.end()) of_these.push_back(at->second);
        std::ranges::sort(of_these);
    }
    for (const auto& [a, b] : pairs_in(*this, of.wanted)) {
        const number_shift &first = numbers[a], &second = numbers[b];
        const std::size_t both = add({{first.number->key, first.size}, {second.number->key, second.size}});
        crosses.push_back({a, b, both});
    }
}

}  // namespace tilewalk::studies
