// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/judgement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "engine/verify/truth.h"

namespace tilewalk::verify {

namespace {

void take_worst(judgement& to, std::vector<observation> of) {
    for (const observation& o : of) to.z.push_back(o.z);
    std::ranges::stable_sort(of, std::greater{}, [](const observation& o) { return std::abs(o.z); });
    constexpr std::size_t most = 10;
    if (of.size() > most) of.resize(most);
    to.worst = std::move(of);
}

}  // namespace

bool row_judgement::holds() const {
    return std::ranges::all_of(of, &statistic::holds);
}

bool judgement::holds() const {
    return failed == 0 && std::ranges::all_of(of, &statistic::holds) &&
           std::ranges::all_of(rows, &row_judgement::holds);
}

judgement::finding judgement::strongest() const {
    finding found;
    const auto look_at = [&](const std::vector<statistic>& all, const row_judgement* row) {
        for (const statistic& s : all) {
            if (found.what == nullptr || s.reach() > found.what->reach()) found = {&s, row};
        }
    };
    look_at(of, nullptr);
    for (const row_judgement& r : rows) look_at(r.of, &r);
    return found;
}

judgement judge(std::span<const drawn_trade> trades, std::span<const priced_trade> got,
                std::span<const double> known) {
    judgement out;
    struct scored {
        std::vector<scored_trade> prices;
        std::vector<scored_bounds> bounds;
        double largest_z = 0;
    };
    scored all;
    std::map<std::size_t, scored> by_truth;
    std::vector<observation> seen;
    for (std::size_t i = 0; i < trades.size(); ++i) {
        scored& row = by_truth[trades[i].truth];
        double z = 0;
        if (truths()[trades[i].truth].is == truth_entry::verified_by::bounds) {
            const scored_bounds s = score_bounds(trades[i], got[i], known[i]);
            all.bounds.push_back(s);
            row.bounds.push_back(s);
            z = std::max({s.lower_z, s.upper_z, 0.0});
        } else {
            const scored_trade s = score(trades[i], got[i], known[i]);
            all.prices.push_back(s);
            row.prices.push_back(s);
            z = s.z;
        }
        row.largest_z = std::max(row.largest_z, std::abs(z));
        seen.push_back({i, {}, z, got[i].price, got[i].standard_error, known[i], 0, {}, got[i].failure});
        out.failed += !got[i].failure.empty();
    }
    out.trades = trades.size();
    if (!all.prices.empty()) out.of = judge_all(all.prices);
    if (!all.bounds.empty())
        for (statistic& s : judge_all_bounds(all.bounds)) out.of.push_back(std::move(s));
    for (const auto& [truth, of_row] : by_truth) {
        row_judgement& r = out.rows.emplace_back();
        r.truth = truth;
        r.trades = of_row.prices.size() + of_row.bounds.size();
        r.largest_z = of_row.largest_z;
        r.of = of_row.bounds.empty() ? judge_row(of_row.prices, by_truth.size())
                                     : judge_row_of_bounds(of_row.bounds, by_truth.size());
    }
    take_worst(out, std::move(seen));
    return out;
}

judgement judge_sensitivities(std::span<const drawn_trade> trades, std::span<const priced_trade> got) {
    using judged_as = scored_sensitivity::judged_as;
    judgement out;
    std::vector<scored_trade> drawn;
    std::vector<double> any, beyond_bias;
    std::map<std::size_t, std::pair<row_judgement, std::vector<scored_trade>>> by_truth;
    std::vector<observation> seen;
    for (std::size_t i = 0; i < trades.size(); ++i) {
        auto& [row, drawn_of_row] = by_truth[trades[i].truth];
        row.truth = trades[i].truth;
        ++row.trades;
        const std::vector<scored_sensitivity> scored = score_sensitivities(trades[i], got[i]);
        for (const scored_sensitivity& s : scored) {
            const std::string& key = trades[i].sensitivities[s.key].key;
            const bool is_there = s.key < got[i].sensitivities.size();
            const found_sensitivity of = is_there ? got[i].sensitivities[s.key] : found_sensitivity{};
            const std::string& failure = got[i].failure.empty() ? of.failure : got[i].failure;
            seen.push_back({i, key, s.z, of.value, of.standard_error, s.truth, of.bias, of.method, failure});
            out.failed += !failure.empty();
            out.biased += s.is == judged_as::biased;
            out.exact += s.is == judged_as::exact;
            any.push_back(s.z);
            ++row.sensitivities;
            if (std::abs(s.z) <= row.largest_z) continue;
            row.largest_z = std::abs(s.z);
            row.key_of_largest = key;
        }
        const auto first_of = [&](judged_as is) -> const scored_sensitivity* {
            for (std::size_t n = 0; n < scored.size(); ++n) {
                const scored_sensitivity& s = scored[(trades[i].lot + n) % scored.size()];
                if (s.is == is) return &s;
            }
            return nullptr;
        };
        if (const auto* s = first_of(judged_as::chance)) {
            drawn.push_back({s->z, s->lean});
            drawn_of_row.push_back(drawn.back());
        }
        if (const auto* s = first_of(judged_as::biased)) beyond_bias.push_back(s->z);
    }
    out.trades = trades.size();
    out.of = judge_all_sensitivities(drawn, any, beyond_bias);
    for (auto& [truth, of] : by_truth) {
        auto& [row, drawn_of_row] = of;
        if (!drawn_of_row.empty()) row.of = judge_row(drawn_of_row, by_truth.size());
        out.rows.push_back(std::move(row));
    }
    take_worst(out, std::move(seen));
    return out;
}

std::vector<double> truths_of(std::span<const drawn_trade> trades) {
    std::vector<double> out;
    for (const drawn_trade& t : trades) out.push_back(t.price);
    return out;
}

bool outcome::is_complete() const {
    return trades.size() == trades_wanted && mistakes.size() == mistakes_wanted;
}

bool outcome::holds() const {
    return of_engine.holds() && std::ranges::all_of(mistakes, &planted::is_caught);
}

}  // namespace tilewalk::verify
