// SPDX-License-Identifier: Apache-2.0
#include "engine/study/greeks/greek_stages.h"

#include <algorithm>
#include <utility>

#include "engine/plan/moved_markets.h"
#include "engine/study/asked.h"
#include "engine/study/greek_sums.h"

namespace tilewalk::studies {

namespace {

// Limit on plans in moved markets that are in memory together; they are made in parallel.
constexpr std::size_t planned_at_once = 256;

// Fails the rows if the user named a method that can't find them, rather than take another method.
bool refuse(const greek_rows& tell, greek_method by, const std::vector<way_of_trade>& ways, const results& of,
            numbered_rows& rows) {
    const bool is_smoothing = by == greek_method::smoothed;
    if (!is_smoothing && by != greek_method::likelihood_ratio) return false;
    const char* const why =
        is_smoothing ? "it has no derivative that smoothing finds; expected the method auto or bump"
                     : "it moves a jump, or the paths, in a way that no weights on normal random numbers "
                       "express; expected the method auto, smoothed or bump";
    for (const std::size_t i : priced_in(of))
        for (const auto& [n, moves_jump] : ways[i].bumps)
            rows[i].emplace(n, failed(tell.named(i, n, is_smoothing ? "smoothed" : "likelihood_ratio"), why,
                                      error_kind::input));
    return true;
}

// Empty if the number moves no price. `at` has the prices with the number up and down, then with half the
// move if a bias is stated.
std::optional<greek_row> bumped_row(const greek_rows& tell, const results& of, std::size_t i,
                                    const bumped& which, const std::vector<const price_row*>& at,
                                    const greeks::moved_twice& about) {
    const auto& [n, moves_jump] = which;
    greek_row row = tell.named(i, n, "bump");
    for (const price_row* p : at) {
        if (p->status == trade_status::priced) continue;
        const std::string why = "where " + row.key + " has moved, it can't be priced: " + p->message;
        return failed(std::move(row), why, p->kind);
    }
    // Trades with rights are priced here at their policies' worth, not between bounds.
    const auto& early = of.rows[i].early;
    const double here = early ? early->policy_value : of.rows[i].price;
    const bool stands = std::ranges::all_of(at, [&](const price_row* p) { return p->price == here; });
    if (stands && !moves_jump) return std::nullopt;
    const bool has_near = at.size() > 2;
    const double scale = tell.scale(i, n);
    const double far = scale * (at[0]->price - at[1]->price) / about.wide.distance;
    const double near = has_near ? scale * (at[2]->price - at[3]->price) / about.narrow.distance : far;
    if (at[0]->part_means.empty()) {
        row.value = near;
        row.standard_error = 0;
    } else {
        const studies::run_parts parts(of.manifest);
        studies::estimate change = studies::estimate(*at[0], parts) - studies::estimate(*at[1], parts);
        change /= about.wide.distance;
        change.beside = 0;  // `fill` adds the rounding of a control
        tell.fill(row, i, n, std::move(change));
        row.walk = report::walk_of_all(at);
    }
    // All prices are equal, so no path shows the effect and no error is known.
    if (stands) row.standard_error = no_figure;
    row.bias = about.bias(far, near);
    return row;
}

void add_together(greek_run& run, const std::vector<std::size_t>& places, std::span<const bumped> numbers,
                  const stages& by, const greek_rows& tell, results& to, numbered_rows& rows) {
    std::vector<std::optional<greeks::moved_twice>> moves(numbers.size());
    run.each(numbers.size(), [&](std::size_t k) {
        const auto& [n, moves_jump] = numbers[k];
        const greeks::risk_number& risk = run.asked.numbers[n].risk;
        moves[k].emplace(run.in, std::vector{run.asked.key(n)},
                         risk.large * (moves_jump ? risk.at_jumps : 1));
    });
    std::vector<market> in;
    for (const auto& m : moves) {
        if (!m->are_there()) continue;
        in.insert(in.end(), {*m->wide.up, *m->wide.down});
        if (run.states_bias()) in.insert(in.end(), {*m->narrow.up, *m->narrow.down});
    }
    const std::vector<priced_book> priced = run.walk(some_of(run.trades, places), in, by, to);
    auto first = priced.begin();
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        const std::size_t n = numbers[k].first;
        const auto end = first + (!moves[k]->are_there() ? 0 : run.states_bias() ? 4 : 2);
        for (std::size_t t = 0; t < places.size(); ++t) {
            std::vector<const price_row*> at;
            for (auto p = first; p != end; ++p) at.push_back(&p->result.rows[t]);
            std::optional<greek_row> row = at.empty()
                                               ? failed(tell.named(places[t], n, "bump"),
                                                        no_other_market(run.asked.key(n)), error_kind::input)
                                               : bumped_row(tell, to, places[t], numbers[k], at, *moves[k]);
            if (row) rows[places[t]].emplace(n, *std::move(row));
        }
        first = end;
    }
}

}  // namespace

void add_bumped(greek_run& run, const std::vector<way_of_trade>& ways,
                const decide::decided_by_trade& decided, results& to, numbered_rows& rows) {
    const greek_rows tell{run, to, decided};
    if (refuse(tell, run.asked.by, ways, to, rows)) return;
    const stages by{.wants_bounds = false, .controls = {&run.controls}, .part = run.part, .held = &decided};
    std::map<bumped, std::vector<std::size_t>> by_number;
    for (const std::size_t i : priced_in(to))
        for (const bumped& n : ways[i].bumps) by_number[n].push_back(i);
    // Numbers bumped for the same trades are priced together, so that threads have many plans to make.
    std::map<std::vector<std::size_t>, std::vector<bumped>> by_trades;
    for (const auto& [n, places] : by_number) by_trades[places].push_back(n);
    for (const auto& [places, numbers] : by_trades) {
        const std::size_t at_once = std::max(planned_at_once / (4 * places.size()), std::size_t{1});
        for (std::size_t first = 0; first < numbers.size(); first += at_once)
            add_together(run, places,
                         std::span(numbers).subspan(first, std::min(at_once, numbers.size() - first)), by,
                         tell, to, rows);
    }
}

}  // namespace tilewalk::studies
