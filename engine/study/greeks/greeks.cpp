// SPDX-License-Identifier: Apache-2.0
// Greeks: pathwise derivatives if their mean is the derivative of the price, else differences of prices.
#include <algorithm>
#include <utility>

#include "engine/decide/followed.h"
#include "engine/decide/sources.h"
#include "engine/study/asked.h"
#include "engine/study/greek_sums.h"
#include "engine/study/greeks/greek_stages.h"
#include "engine/study/greeks/quotes_view.h"
#include "engine/study/request.h"
#include "engine/study/rounds/rounds.h"
#include "tilewalk/timings.h"

namespace tilewalk {

namespace studies {

namespace {

// Least gain of a control where derivatives are differenced: a pilot knows only roughly how a control moves
// with the market, and with a weaker control that error outweighs the gain.
constexpr double least_gain_of_differences = 1000;

struct planned_greeks {
    std::vector<way_of_trade> ways;  // by trade
    jumping_trades jumping;
    std::uint64_t steps_of_pilot = 0;
    decide::decided_by_trade decided;
    std::map<std::size_t, decide::decided> of_derivatives;  // by trade; its price takes `decided`
};

// Returns the expected walks of single trades: two for a trade that jumps, up to four for a difference.
double walks_to_come(const greek_run& run, const planned_greeks& plans) {
    const auto count = [&](std::string_view measure) {
        return static_cast<double>(std::ranges::count_if(
            run.asked.numbers, [&](const asked_number& n) { return n.risk.measure == measure; }));
    };
    double of_book = 1 + (run.asked.is_theta_wanted ? 1 : 0);
    bool moves_spots = false;
    for (const std::string& m : run.asked.second_order) {
        of_book += m == "volga" ? 4 * (count("vega") + 1) : m == "charm" ? 2 : 0;
        moves_spots = moves_spots || (m != "volga" && m != "charm");
    }
    if (moves_spots) of_book += 4 * count("delta");
    std::size_t others = 2 * plans.jumping.size();
    for (const way_of_trade& way : plans.ways) others += (run.states_bias() ? 4 : 2) * way.bumps.size();
    return of_book * static_cast<double>(run.trades.size()) + walks_of_pilot(run, plans.jumping) +
           static_cast<double>(others);
}

// Chooses treatments of jumps, and adds what they need to the first walk.
void treat_jumps(greek_run& run, planned_run& r, const stages& by, planned_greeks& plans) {
    const sources from(run.run, nullptr, by.held);
    for (auto& [i, trade] : plans.jumping)
        if (const auto known = from.known(run.trade(i).id).jumps) trade.take_decisions(*known);
    run.progress.expect(walks_to_come(run, plans));
    plans.steps_of_pilot = choose_treatments(run, plans.jumping, plans.decided);
    run.progress.begin(static_cast<double>(run.trades.size()), true);
    std::vector<std::size_t> places;
    for (auto& [i, trade] : plans.jumping) {
        plans.decided[run.trade(i).id].jumps = plans.of_derivatives[i].jumps = trade.decisions();
        for (auto& c : trade.choices)
            if (c) c->by.width *= by.widths * (run.outer ? run.outer->widths : 1);
        places.push_back(i);
    }
    run.each(places.size(), [&](std::size_t k) {
        const jumping_trade& trade = plans.jumping.at(places[k]);
        trade.add_derivatives(r.plans[places[k]], trade.first());
    });
}

planned_greeks plan_greeks(greek_run& run, planned_run& r, const stages& by) {
    planned_greeks out;
    out.decided = decided_in(r);
    for (planned& p : r.plans)
        if (p.rights && !run.outer) p.walks_by_parts = walks_by_parts;
    for (std::size_t i = 0; i < r.plans.size() && by.controls.about == nullptr; ++i)
        if (const planned& p = r.plans[i]; p.is_priced_apart)
            out.of_derivatives[i].control_of_derivatives = p.control;
    out.ways = add_ways_back(run, r, by);
    for (std::size_t i = 0; i < out.ways.size(); ++i)
        if (auto& jumping = out.ways[i].jumping) out.jumping.emplace(i, *std::move(jumping));
    treat_jumps(run, r, by, out);
    return out;
}

numbered_rows rows_of_paths(const greek_run& run, const planned_greeks& plans, const found_by_trade& treated,
                            const std::vector<std::vector<std::vector<double>>>& derivatives,
                            const results& of) {
    const greek_rows tell{run, of, plans.decided};
    numbered_rows out(of.rows.size());
    run.each(of.rows.size(), [&](std::size_t i) {
        if (of.rows[i].status == trade_status::failed) return;
        const way_of_trade& way = plans.ways[i];
        const auto jumping = plans.jumping.find(i);
        for (std::size_t k = 0; k < way.numbers.size(); ++k) {
            const bool jumps = jumping != plans.jumping.end() && jumping->second.choices[k];
            out[i].emplace(way.numbers[k],
                           jumps ? tell.treated(i, way, k, jumping->second.choices[k]->by, treated.at(i))
                                 : tell.pathwise(i, way, k, derivatives[i]));
        }
    });
    return out;
}

// Prices trades again whose derivatives took another control, so that their prices are those of `price`.
void price_apart(greek_run& run, const planned_greeks& plans, bool are_of_book, results& to) {
    std::vector<std::size_t> places;
    for (const auto& [i, of] : plans.of_derivatives)
        if (of.control_of_derivatives && to.rows[i].status != trade_status::failed) places.push_back(i);
    if (places.empty()) return;
    // Importance shifts suit one control only and are chosen anew; points suit both.
    decide::decided_by_trade policies;
    for (const auto& [trade, what] : plans.decided) policies[trade].policy = what.policy;
    const stages by{.are_of_book = are_of_book,
                    .held = run.run.chooses_importance ? &policies : &plans.decided};
    std::vector<priced_book> priced = run.walk(some_of(run.trades, places), {&run.in, 1}, by, to);
    for (std::size_t k = 0; k < places.size(); ++k)
        to.rows[places[k]] = std::move(priced.front().result.rows[k]);
}

results find_greeks(greek_run& run, stages by);

first_order in_moved_markets(greek_run& run, const planned_greeks& plans, const stages& usual) {
    return [&](const book& some, const market& moved, std::vector<std::string> keys, double share,
               double widths) {
        const greek_options wanted{std::move(keys), run.wanted.method};
        run.progress.begin(static_cast<double>(some.size()));
        // Decisions hold for one day: on another, the trades have other dates.
        const bool is_same_day = state_of(moved).as_of == state_of(run.in).as_of;
        stages in_it = usual;
        if (is_same_day) in_it.held = &plans.decided;
        const inner_options of_walk = run.progress.options_of_walk();
        const outer_greeks outer{run.asked, share, widths, least_gain_of_differences,
                                 is_same_day ? &run.controls : nullptr};
        greek_run there{run.with, some, moved, wanted, of_walk, run.part, outer};
        return find_greeks(there, in_it);
    };
}

void find_by_parts(greek_run& run, const stages& of_run, stages by, results& to, rows_by_trade& rows) {
    by.are_of_book = of_run.are_of_book;
    by.policies = of_run.policies;
    by.see_moves = of_run.see_moves;
    by.widths = of_run.widths;
    by.see_sensitivity = of_run.see_sensitivity;
    const auto walk = [&](const book& some, const part_of_run& part, const inner_options& how) {
        const outer_greeks outer{.asked = run.asked, .controls = &run.controls};
        greek_run there{run.with, some, run.in, run.wanted, how, part, outer};
        return find_greeks(there, by);
    };
    take_from_parts(run, walk, to, rows);
}

results find_greeks(greek_run& run, stages by) {
    const timings::during finding(run.options.times, stage::derivatives);
    std::vector<markets::market_reads> reads(run.trades.size());
    planned_greeks plans;
    by.plan = {};
    by.reads = reads;
    by.add_ways_back = [&](planned_run& r) { plans = plan_greeks(run, r, by); };
    by.policies.keeps = true;
    by.part = run.part;
    by.controls = {nullptr, run.jumps()};
    if (run.outer) by.controls = {run.outer->controls, run.jumps(), run.outer->least_gain};
    inner_options of_walk = run.progress.options_of_walk();
    of_walk.keep_policies = run.options.keep_policies;
    priced_book priced = price_book(run.with, run.trades, run.in, of_walk, by);
    results out = std::move(priced.result);
    out.manifest.path_steps += plans.steps_of_pilot;
    stages usual{.on_cpu = by.on_cpu,
                 .wants_bounds = false,
                 .controls = {nullptr, run.jumps()},
                 .part = run.part,
                 .held = &plans.decided};
    const auto treated = find_by_treatments(run, plans.jumping, priced.derivatives, out, usual);
    const decide::decided_by_trade own_policies = decide::without_policies(plans.decided);
    usual.held = &own_policies;
    numbered_rows numbered = rows_of_paths(run, plans, treated, priced.derivatives, out);
    add_bumped(run, plans.ways, plans.decided, out, numbered);
    rows_by_trade rows(numbered.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (auto& [n, row] : numbered[i]) {
            if (by.see_sensitivity) by.see_sensitivity(row);
            rows[i].push_back(std::move(row));
        }
    if (run.asked.is_theta_wanted) add_theta(run, usual, plans.decided, out, rows);
    add_second_order(rows, out, {run, reads, in_moved_markets(run, plans, usual)});
    price_apart(run, plans, by.are_of_book, out);
    if (!run.outer) {
        find_by_parts(run, by, usual, out, rows);
        for (const auto& [i, of] : plans.of_derivatives)
            if (price_row& row = out.rows[i]; row.status != trade_status::failed)
                row.decisions = decide::with_derivatives(row.decisions, of);
    }
    for (auto& of_trade : rows) report::add_with_totals(out, std::move(of_trade));
    run.progress.end();
    return out;
}

}  // namespace

results greeks_as_asked(const resources& with, const book& trades, const market& in,
                        const greek_options& wanted, const inner_options& options, bool are_of_book) {
    const study of = study_of(wanted);
    const asked_of_study asked =
        asked_of(are_of_book && of == study::greeks ? study::greeks_in_session : of, trades, options);
    const with_journal kept(asked.trades, {&in, 1}, {.greeks = &wanted}, asked.options);
    const auto find = [&](const book& some, const inner_options& how, stages by) {
        by.are_of_book = are_of_book;
        return seen_as(wanted, in, options.cancel, [&](const greek_options& of_market) {
            return greeks_of_book(with, some, in, of_market, how, by);
        });
    };
    results out = greeks_in_rounds(asked.trades, in, kept.options(), find);
    add_answers(out, with, asked.trades, in, kept.options());
    kept.finish(out.manifest);
    return out;
}

}  // namespace studies

results engine::greeks(const book& trades, const market& in, const greek_options& wanted,
                       const run_options& options) const {
    return studies::greeks_as_asked(studies::resources(*state_), trades, in, wanted, {options});
}

results greeks_of_book(const studies::resources& with, const book& trades, const market& in,
                       const greek_options& wanted, const studies::inner_options& options, const stages& by) {
    studies::greek_run run{with, trades, in, wanted, options};
    return studies::find_greeks(run, by);
}

}  // namespace tilewalk
