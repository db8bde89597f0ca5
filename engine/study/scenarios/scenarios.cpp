// SPDX-License-Identifier: Apache-2.0
#include "engine/study/scenarios/scenarios.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/base/beside.h"
#include "engine/base/crew.h"
#include "engine/base/wording.h"
#include "engine/study/asked.h"
#include "engine/study/manifest.h"
#include "engine/study/request.h"
#include "engine/study/risk/risks.h"
#include "engine/study/rows.h"
#include "engine/study/scenarios/base_of_gains.h"
#include "engine/study/scenarios/explained_gains.h"
#include "engine/study/scenarios/gains_sheet.h"
#include "engine/study/scenarios/rounds_of_gains.h"
#include "tilewalk/results.h"
#include "tilewalk/timings.h"

namespace tilewalk {

namespace studies {

namespace {

// Limits on markets in memory, and on trades times markets planned together: enough to keep threads busy.
constexpr std::size_t markets_at_once = 512;
constexpr std::size_t cells_at_once = 32768;
// Limit on the memory of numbers in plans made together; paths with many dates have many numbers.
constexpr std::size_t bytes_at_once = std::size_t{96} << 20;

// A scenario's market, and the trades that read something in it that differs from the base market.
struct moved_market {
    std::optional<market> in{};  // empty if invalid, or left to another process
    std::vector<std::size_t> trades{};
};

// Scenarios that move the same trades, to be priced together.
struct block {
    int days = 0;
    bool is_small = false;
    std::vector<std::size_t> trades;
    std::vector<std::size_t> scenarios{};
    std::vector<market> in{};

    bool is_near() const { return is_small && days == 0; }
    std::size_t cells() const { return scenarios.size() * trades.size(); }
};

class walk_of_scenarios {
  public:
    walk_of_scenarios(const gains_request& r, const base_of_gains& base, gains_sheet& sheet,
                      progress_of_blocks& reporter, scenario_results& to)
        : r_(r), base_(base), sheet_(sheet), reporter_(reporter), to_(to) {}

    void walk_all() {
        const std::size_t all = r_.asked.scenarios.size();
        for (std::size_t first = 0; first < all; first += markets_at_once) {
            const std::size_t end = std::min(first + markets_at_once, all);
            std::vector<moved_market> markets(end - first);
            {
                const timings::during planning(r_.options.times, stage::planning);
                threads::for_each(markets.size(), r_.run.threads, r_.options.cancel,
                                  [&](int, std::uint64_t k) {
                                      if (r_.has_share_of(first + k)) markets[k] = move_market(first + k);
                                  },
                                  {});
            }
            walk_blocks(blocks_of(first, markets));
        }
    }
    // Remarks that tails leave out scenarios whose market is invalid.
    void tell_of_impossible() {
        for (const std::string& set : r_.asked.likely_sets) {
            const auto impossible = impossible_.find(set);
            if (impossible == impossible_.end()) continue;
            const auto all = std::ranges::count(r_.asked.scenarios, set, &scenario::set);
            to_.remarks.push_back(
                fmt::format("{} of {} scenarios of {} give no valid market and are left out of its tail",
                            impossible->second, all, config::shown(set)));
        }
    }

  private:
    // Makes the scenario's market. Trades that it fails, or leaves as they are, go to the sheet at once.
    moved_market move_market(std::size_t number) {
        const scenario& of = r_.asked.scenarios[number];
        moved_market out;
        try {
            out.in = market_of(of);
        } catch (const error& e) {
            for (std::size_t i = 0; i < r_.trades.size(); ++i)
                if (sheet_.has_base(i)) sheet_.fail(number, i, e.message(), e.kind());
            const std::lock_guard guard(lock_);
            ++impossible_[of.set];
            return out;
        }
        // Differences subtract gains from each other, so all must be on the same kind of paths.
        const bool is_on_near = r_.asked.for_differences && r_.is_near(of);
        for (std::size_t i = 0; i < r_.trades.size(); ++i) {
            if (!sheet_.has_base(i)) continue;
            if (base_.reads[i].are_alike(state_of(r_.in), state_of(*out.in)))
                sheet_.add_still(number, i, *out.in, is_on_near ? base_.near[i] : base_.far[i]);
            else
                out.trades.push_back(i);
        }
        return out;
    }
    market market_of(const scenario& of) const {
        const base_of_day& base = base_.days.at(of.days);
        if (!base.in) throw error(error_kind::input, base.why_not);
        // Changes to a present value are dropped, since they would have a part of the market made again.
        std::vector<market_change> changes;
        for (const market_change& c : of.changes) {
            const double now = base.in->number(c.key).value;
            if (c.is == market_change::way::set ? c.amount != now : c.amount != 0) changes.push_back(c);
        }
        return changes.empty() ? *base.in : base.in->changed(changes);
    }

    std::vector<block> blocks_of(std::size_t first, std::span<const moved_market> markets) {
        std::map<std::tuple<int, bool, std::vector<std::size_t>>, std::vector<std::size_t>> alike;
        for (std::size_t k = 0; k < markets.size(); ++k) {
            const scenario& of = r_.asked.scenarios[first + k];
            if (!markets[k].in) continue;
            reporter_.end(0, r_.trades.size() - markets[k].trades.size());
            if (!markets[k].trades.empty())
                alike[{of.days, r_.has_small_moves(of), markets[k].trades}].push_back(k);
        }
        std::vector<block> out;
        for (const auto& [of, scenarios] : alike) {
            const auto& [days, is_small, trades] = of;
            const std::size_t at_once = scenarios_at_once(trades);
            for (std::size_t n = 0; n < scenarios.size(); ++n) {
                if (n % at_once == 0) out.push_back({days, is_small, trades});
                out.back().scenarios.push_back(first + scenarios[n]);
                out.back().in.push_back(*markets[scenarios[n]].in);
            }
        }
        return out;
    }
    std::size_t scenarios_at_once(const std::vector<std::size_t>& trades) const {
        std::size_t bytes = 1;
        for (const std::size_t i : trades) bytes += base_.bytes[i];
        return std::max(std::min(cells_at_once / trades.size(), bytes_at_once / bytes), std::size_t{1});
    }

    // Works on two blocks at a time if there are GPUs: one is planned while the other is walked.
    void walk_blocks(const std::vector<block>& blocks) {
        const auto gpus = r_.with.gpus().chosen(r_.run.device);
        const bool are_overlapped = !r_.options.work && blocks.size() > 1 && gpus && !gpus->devices.empty();
        std::atomic<std::size_t> next = 0;
        const auto work = [&](std::size_t worker) {
            for (std::size_t b = next++; b < blocks.size(); b = next++)
                walk(blocks[b], worker, are_overlapped ? nullptr : r_.options.times);
        };
        if (!are_overlapped) return work(0);
        const timings::during walking(r_.options.times, stage::walking);  // the workers' stages overlap
        std::future<void> beside = threads::beside([&] { work(1); });
        try {
            work(0);
        } catch (...) {
            next = blocks.size();  // makes the other worker end
            throw;
        }
        beside.get();
    }

    void walk(const block& of, std::size_t worker, timings* times) {
        inner_options with = reporter_.options_of_walk(worker, of.cells());
        with.times = times;
        const base_of_day& base = base_.days.at(of.days);
        stages by = stages_of_gains();
        // Larger moves train policies of their own: a policy extrapolates where its training had no paths.
        by.held = of.is_near() ? &base_.near_decided : of.is_small ? &base.small_decided : &base_.far_decided;
        if (of.is_near()) by.controls.about = base_.controls.get();
        const std::vector<priced_book> priced =
            price_book(r_.with, some_of(*base.trades, of.trades), of.in, with, by);
        const timings::during adding(times, stage::rows);
        threads::for_each(of.in.size(), r_.run.threads, r_.options.cancel,
                          [&](int, std::uint64_t m) { add(of, m, priced[m].result); }, {});
        {
            const std::lock_guard guard(lock_);
            const run_manifest& first = priced.front().result.manifest;  // has the facts of the whole walk
            to_.part_paths = std::max(to_.part_paths, first.part_paths);
            run_manifest& manifest = to_.base.manifest;
            add_walk(manifest, first);
            manifest.plan_seconds += first.plan_seconds;
            for (const priced_book& p : priced) {
                add_steps(manifest, p.result.manifest);
                for (const price_row& row : p.result.rows) tell_of_gpu(row);
            }
        }
        reporter_.end(worker, of.cells());
    }

    void add(const block& of, std::size_t m, const results& then) {
        const studies::run_parts parts = r_.parts(then.manifest.part_paths);
        for (std::size_t k = 0; k < of.trades.size(); ++k) {
            const std::size_t i = of.trades[k];
            const price_row& row = then.rows[k];
            if (row.status != trade_status::priced)
                sheet_.fail(of.scenarios[m], i, row.message, row.kind);
            else
                sheet_.add(of.scenarios[m], i, of.in[m], worth_of_position(row, parts),
                           of.is_near() ? base_.near[i] : base_.far[i]);
        }
    }

    // Remarks that a GPU failed, once for each reason; the prices, by the CPU, are right.
    void tell_of_gpu(const price_row& row) {
        const std::size_t at = row.message.find(because_of_gpu);
        if (at == row.message.npos || !reasons_.insert(row.message.substr(at)).second) return;
        to_.remarks.push_back("trade " + config::shown(row.trade) + " in scenarios: " + row.message);
    }

    const gains_request& r_;
    const base_of_gains& base_;
    gains_sheet& sheet_;
    progress_of_blocks& reporter_;
    scenario_results& to_;
    std::mutex lock_;  // guards the members below and the manifest in to_
    std::set<std::string> reasons_;
    std::map<std::string, std::size_t> impossible_;  // number of invalid scenarios, by set
};

void tell_of_few_parts(scenario_results& to) {
    bool lacks_error = false;
    for (std::size_t k = 0; k < to.gains.size(); ++k)
        lacks_error = lacks_error || (is_figure(to.gains[k]) && !is_figure(to.errors[k]));
    if (!lacks_error) return;
    std::size_t randomisations = 0;
    for (const price_row& row : to.base.rows) randomisations = std::max(randomisations, row.randomisations);
    std::string few = remark_on_few_parts(to.base.manifest, randomisations);
    if (!few.empty()) to.remarks.push_back(std::move(few));
}

void explain(const gains_request& r, scenario_results& to) {
    inner_options quietly = r.options;
    quietly.on_progress = {};
    const greek_options wanted = greeks_of_moves(r.in, r.asked);
    if (wanted.wanted.empty()) return;
    results found = greeks_of_book(r.with, r.trades, r.in, wanted, quietly, {.are_of_book = true});
    add_steps(to.base.manifest, found.manifest);
    if (r.options.work && !r.options.work->has_all() && r.options.work->may_walk()) return;
    explain_gains(to, r.in, found);
    to.base.greeks = std::move(found.greeks);
    to.numbers = r.in.numbers();
}

scenario_results gains_of_run(const gains_request& r) {
    const auto begin = std::chrono::steady_clock::now();
    progress_of_blocks reporter(r.options, r.trades.size() * (r.asked.scenarios.size() + 1));
    base_of_gains base = price_base(r, reporter);
    scenario_results out;
    out.base = std::move(base.result);
    out.part_paths = out.base.manifest.part_paths;
    out.scenarios = r.asked.scenarios;
    out.inputs = r.asked.inputs;
    gains_sheet sheet(r, base.far, out);
    walk_of_scenarios walk(r, base, sheet, reporter, out);
    walk.walk_all();
    sheet.end();
    out.risks = risk::risks_of(out, r.asked);
    walk.tell_of_impossible();
    tell_of_few_parts(out);
    if (r.asked.explains && r.has_share_of(r.asked.scenarios.size())) explain(r, out);
    out.base.manifest.total_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return out;
}

}  // namespace

scenario_results scenarios_as_asked(const resources& with, const book& trades, const market& in,
                                    const scenario_list& asked, const inner_options& options, study of) {
    const auto [walked, how] = asked_of(asked.explains ? study::explained_scenarios : of, trades, options);
    const with_journal kept(walked, {&in, 1}, {.scenarios = &asked}, how);
    scenario_results out = scenarios_in_rounds(
        walked, in, kept.options(), [&](const book& of_round, const inner_options& how_of_round) {
            return gains_of_run({with, of_round, in, asked, how_of_round});
        });
    kept.finish(out.base.manifest);
    return out;
}

}  // namespace studies

scenario_results engine::scenarios(const book& trades, const market& in, const scenario_list& asked,
                                   const run_options& options) const {
    return studies::scenarios_as_asked(studies::resources(*state_), trades, in, asked, {options});
}

}  // namespace tilewalk
