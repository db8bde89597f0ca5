// SPDX-License-Identifier: Apache-2.0
#include "engine/study/greeks/greek_stages.h"

#include "engine/study/asked.h"
#include "engine/study/greek_sums.h"
#include "engine/study/scenarios/next_day.h"

namespace tilewalk::studies {

namespace {

struct prices_of_days {
    results later;
    std::map<std::string, price_row> today{};  // today's without control, if it is too weak for theta
};

prices_of_days price_days(greek_run& run, const std::vector<std::size_t>& places, const next_day& tomorrow,
                          stages by, const decide::decided_by_trade& decided, results& to) {
    // Least gain of a control in theta: two days have two controls, whose difference outweighs a smaller
    // gain.
    constexpr double least_gain = 100;
    decide::decided_by_trade on_days = *by.held;
    std::vector<std::size_t> without;
    for (const std::size_t i : places) {
        const std::string& id = run.trade(i).id;
        const std::shared_ptr<const controls::control> here = run.controls.here(id);
        const bool serves = here != nullptr && here->fewer_paths >= least_gain;
        decide::decided& of = on_days[id];
        of.control_of_another_day = serves ? here : nullptr;
        if (!serves) of.control = nullptr;
        if (here == nullptr || serves) continue;
        // The points suit the payoff less its control, not the whole payoff.
        of.points.reset();
        without.push_back(i);
    }
    by.held = &on_days;
    const book later = tomorrow.aged(some_of(run.trades, places));
    prices_of_days out{std::move(run.walk(later, {&*tomorrow.in(), 1}, by, to).front().result)};
    if (without.empty()) return out;
    // A policy belongs to one day, so prices of today follow today's.
    for (auto& [trade, of] : on_days)
        if (const auto today = decided.find(trade); today != decided.end()) of.policy = today->second.policy;
    std::vector<priced_book> today = run.walk(some_of(run.trades, without), {&run.in, 1}, by, to);
    for (price_row& row : today.front().result.rows) out.today.emplace(row.trade, std::move(row));
    return out;
}

}  // namespace

void add_theta(greek_run& run, const stages& by, const decide::decided_by_trade& decided, results& to,
               rows_by_trade& rows) {
    const std::vector<std::size_t> places = priced_in(to);
    if (places.empty()) return;
    const next_day tomorrow(run.in);
    std::optional<prices_of_days> found;
    if (tomorrow.in()) found = price_days(run, places, tomorrow, by, decided, to);
    for (std::size_t t = 0; t < places.size(); ++t) {
        const price_row* now = &to.rows[places[t]];
        greek_row& row = rows[places[t]].emplace_back();
        row.trade = now->trade;
        row.measure = "theta";
        row.key = key_of_day;
        row.unit = now->currency + " per 1 day";
        row.method = "bump";
        if (!found) {
            row = failed(std::move(row), tomorrow.why_not(), error_kind::input);
            continue;
        }
        const price_row& then = found->later.rows[t];
        if (then.status == trade_status::failed) {
            row = failed(std::move(row), "a day later it can't be priced: " + then.message, then.kind);
            continue;
        }
        if (const auto alone = found->today.find(now->trade); alone != found->today.end())
            now = &alone->second;
        const studies::run_parts parts(to.manifest);
        set_value(row, now->quantity * (studies::estimate(then, parts) - studies::estimate(*now, parts)),
                  to.manifest);
        if (!row.part_means.empty()) row.walk = report::walk_of_all(std::vector{now, &then});
    }
}

}  // namespace tilewalk::studies
