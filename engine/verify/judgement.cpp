// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/judgement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace tilewalk::verify {

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
                std::span<const double> truths) {
    judgement out;
    std::vector<scored_trade> all;
    std::map<std::size_t, std::vector<scored_trade>> by_truth;
    for (std::size_t i = 0; i < trades.size(); ++i) {
        const scored_trade s = score(trades[i], got[i], truths[i]);
        all.push_back(s);
        by_truth[trades[i].truth].push_back(s);
        out.z.push_back(s.z);
        out.failed += !got[i].failure.empty();
    }
    out.of = judge_all(all);
    for (const auto& [truth, of_row] : by_truth) {
        row_judgement& r = out.rows.emplace_back();
        r.truth = truth;
        r.trades = of_row.size();
        for (const scored_trade& s : of_row) r.largest_z = std::max(r.largest_z, std::abs(s.z));
        r.of = judge_row(of_row, by_truth.size());
    }
    out.worst.resize(trades.size());
    std::iota(out.worst.begin(), out.worst.end(), std::size_t{0});
    std::ranges::stable_sort(out.worst, std::greater{}, [&](std::size_t i) { return std::abs(out.z[i]); });
    constexpr std::size_t most = 10;
    if (out.worst.size() > most) out.worst.resize(most);
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
