// SPDX-License-Identifier: Apache-2.0
#include "engine/study/scenarios/base_of_gains.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <set>
#include <utility>

#include "engine/base/crew.h"
#include "engine/plan/measures.h"
#include "engine/reading/market_changes.h"
#include "engine/reading/rolled.h"
#include "engine/study/asked.h"
#include "engine/study/manifest.h"

namespace tilewalk::studies {

bool gains_request::has_small_moves(const scenario& of) const {
    if (asked.for_differences) return true;
    double size = 0;
    for (const market_change& c : of.changes) {
        const double now = in.number(c.key).value;
        const double by = c.is == market_change::way::set ? c.amount - now : c.amount;
        const double large = greeks::risk_of(state_of(in).source->find(c.key)).large;
        size = std::hypot(size, by / large);
    }
    return size <= 1;
}

namespace {

std::size_t bytes_of_numbers(const planned& p) {
    if (!p.ready) return 0;
    std::size_t numbers = p.ready->data.terms.size();
    for (const std::vector<double>& rows : p.ready->data.rows) numbers += rows.size();
    return numbers * sizeof(double);
}

// A process that walks a share of the work only makes decisions here, if no gain on these paths is its own.
inner_options options_of_share(const gains_request& r, progress_of_blocks& reporter, bool has_gains) {
    inner_options out = reporter.options_of_walk(0, r.trades.size());
    if (r.options.work && !has_gains) out.work = std::make_shared<kept::work>(r.options.work->of_decisions());
    return out;
}

// Prices the book with controls for near gains. Returns the trades that have controls.
std::vector<std::size_t> price_with_controls(const gains_request& r, progress_of_blocks& reporter,
                                             base_of_gains& to) {
    std::vector<std::size_t> with_control;
    stages by;
    by.wants_quarters = true;
    by.are_of_book = true;
    by.reads = to.reads;
    by.policies.keeps = true;
    by.see_plans = [&](const planned_run& made) {
        to.near_decided = decided_in(made);
        for (std::size_t i = 0; i < r.trades.size(); ++i) {
            const planned& p = made.plans[i];
            to.bytes.push_back(bytes_of_numbers(p));
            if (p.subtracts() == nullptr) continue;
            with_control.push_back(i);
            if (!p.subtracts()->jumps()) to.controls->add(r.all_trades()[i], p);
        }
    };
    inner_options with = options_of_share(r, reporter, r.options.work && r.options.work->has_market(0));
    with.keep_policies = r.options.keep_policies;
    to.result = std::move(price_book(r.with, r.trades, r.in, with, by).result);
    const studies::run_parts parts = r.parts(to.result.manifest.part_paths);
    for (const price_row& row : to.result.rows) to.near.push_back(worth_of_position(row, parts));
    reporter.end(0, r.trades.size());
    return with_control;
}

// Finds how controls move with every number that near scenarios change; each number takes a pilot.
void find_drifts(const gains_request& r, const std::vector<std::size_t>& with_control, moving_controls& of) {
    std::set<std::string> moved;
    for (const scenario& s : r.asked.scenarios)
        if (r.is_near(s))
            for (const market_change& c : s.changes) moved.insert(c.key);
    const std::vector<std::string> keys(moved.begin(), moved.end());
    threads::for_each(with_control.size(), r.run.threads, r.options.cancel,
                      [&](int, std::uint64_t k) {
                          try {
                              of.find_drifts(r.all_trades()[with_control[k]].id, keys);
                          } catch (const std::exception& e) {
                              throw_if_cancelled(e);  // pricing the trade reports what is wrong
                          }
                      },
                      {});
}

// Prices trades with controls again, without them, for far gains. Near gains take these prices, too, if a
// control jumps: it then serves no gain.
void price_without_controls(const gains_request& r, const std::vector<std::size_t>& with_control,
                            progress_of_blocks& reporter, base_of_gains& to) {
    bool has_gains = false;
    for (std::size_t s = 0; s < r.asked.scenarios.size(); ++s) has_gains = has_gains || r.has_share_of(s);
    decide::decided_by_trade none, decided;
    for (const std::size_t i : with_control) {
        const std::string& id = r.all_trades()[i].id;
        none[id].control = nullptr;
        if (const auto near = to.near_decided.find(id); near != to.near_decided.end())
            none[id].policy = near->second.policy;
    }
    stages by = stages_of_gains();
    by.held = &none;
    by.policies.keeps = true;
    by.see_plans = [&](const planned_run& made) { decided = decided_in(made); };
    const results plain = std::move(price_book(r.with, some_of(r.trades, with_control), r.in,
                                               options_of_share(r, reporter, has_gains), by)
                                        .result);
    add_steps(to.result.manifest, plain.manifest);
    for (std::size_t k = 0; k < with_control.size(); ++k) {
        const std::size_t i = with_control[k];
        if (plain.rows[k].status == trade_status::priced)
            to.far[i] = worth_of_position(plain.rows[k], r.parts(plain.manifest.part_paths));
        const std::string& id = r.all_trades()[i].id;
        const auto found = decided.find(id);
        const bool has_decided = found != decided.end();
        decide::decided& small = to.days[0].small_decided[id];
        small = has_decided ? found->second : decide::decided{};
        small.control = nullptr;
        if (to.controls->here(id) != nullptr) continue;
        to.near[i] = to.far[i];
        to.near_decided.erase(id);
        if (has_decided) to.near_decided.insert(*found);
    }
}

base_of_day roll(const gains_request& r, int days) {
    base_of_day out;
    try {
        const auto now = std::make_shared<const markets::market_state>(state_of(r.in));
        out.in =
            with_state<market>(std::make_shared<const markets::market_state>(markets::rolled(now, days)));
    } catch (const error& e) {
        if (e.kind() != error_kind::input) throw;
        out.why_not =
            std::to_string(days) + (days == 1 ? " day" : " days") + " later it is no market: " + e.message();
        return out;
    }
    auto rolled = std::make_shared<books::book_state>(state_of(r.trades));
    for (books::trade& t : rolled->trades) t = books::rolled(std::move(t), days);
    out.trades.emplace(with_state<book>(std::move(rolled)));
    return out;
}

// Returns decisions for small moves on another day: those of far gains, with policies trained on that day.
decide::decided_by_trade decisions_of_day(const gains_request& r, const base_of_gains& base,
                                          const base_of_day& day, progress_of_blocks& reporter) {
    decide::decided_by_trade out = base.far_decided;
    std::vector<std::size_t> with_rights;
    for (std::size_t i = 0; i < r.trades.size(); ++i)
        if (base.result.rows[i].status == trade_status::priced && plan::has_rights(r.all_trades()[i]))
            with_rights.push_back(i);
    if (with_rights.empty()) return out;
    stages by = stages_of_gains();
    by.policies.keeps = true;
    by.held = &base.far_decided;
    by.see_plans = [&](const planned_run& made) {
        for (const auto& [trade, of] : decided_in(made)) out[trade].policy = of.policy;
    };
    price_book(r.with, some_of(*day.trades, with_rights), *day.in,
               reporter.options_of_walk(0, r.trades.size()), by);
    return out;
}

}  // namespace

base_of_gains price_base(const gains_request& r, progress_of_blocks& reporter) {
    base_of_gains out;
    out.reads.resize(r.trades.size());
    out.controls =
        std::make_unique<moving_controls>(r.in,
                                          pilot_of_controls{r.run, r.with.operations(), r.options.cancel,
                                                            jumps_of_controls::any, &r.with.passed()},
                                          r.options.work.get());
    const std::vector<std::size_t> with_control = price_with_controls(r, reporter, out);
    find_drifts(r, with_control, *out.controls);
    out.far = out.near;
    base_of_day& today = out.days[0] = {r.in, r.trades, {}, out.near_decided};
    for (const books::trade& t : r.all_trades()) today.small_decided[t.id].control = nullptr;
    if (!with_control.empty() && !r.asked.scenarios.empty())
        price_without_controls(r, with_control, reporter, out);
    out.far_decided = decide::without_policies(today.small_decided);
    std::map<int, bool> has_small_moves;  // by days from the base market
    for (const scenario& s : r.asked.scenarios)
        if (s.days != 0) has_small_moves[s.days] |= r.has_small_moves(s);
    for (const auto& [days, is_followed] : has_small_moves) {
        base_of_day& day = out.days[days] = roll(r, days);
        if (is_followed && day.trades) day.small_decided = decisions_of_day(r, out, day, reporter);
    }
    return out;
}

}  // namespace tilewalk::studies
