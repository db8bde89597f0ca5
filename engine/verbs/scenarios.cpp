// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/scenarios.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/book/rolled.h"
#include "engine/config/wording.h"
#include "engine/greeks/measures.h"
#include "engine/kept/work.h"
#include "engine/market/market_view.h"
#include "engine/reading/market_changes.h"
#include "engine/report/machine.h"
#include "engine/risk/risks.h"
#include "engine/run/units.h"
#include "engine/study/estimate.h"
#include "engine/threads/beside.h"
#include "engine/threads/crew.h"
#include "engine/verbs/asked.h"
#include "engine/verbs/controls.h"
#include "engine/verbs/explained_gains.h"
#include "engine/verbs/manifest.h"
#include "engine/verbs/moving_controls.h"
#include "engine/verbs/request.h"
#include "engine/verbs/rounds_of_gains.h"
#include "engine/verbs/rows.h"
#include "engine/verbs/second_order.h"
#include "tilewalk/remarks.h"
#include "tilewalk/timings.h"

namespace tilewalk {

namespace verbs {

namespace {

// Markets of scenarios that are in memory together, and trades in such markets that are planned together:
// enough for many threads to be done at about the same time.
constexpr std::size_t markets_at_once = 512;
constexpr std::size_t cells_at_once = 32768;
// So are the numbers of their plans, of which paths with many dates have many.
constexpr std::size_t bytes_at_once = std::size_t{96} << 20;

std::size_t bytes_of(const planned& p) {
    if (!p.ready) return 0;
    std::size_t numbers = p.ready->data.terms.size();
    for (const std::vector<double>& rows : p.ready->data.rows) numbers += rows.size();
    return numbers * sizeof(double);
}

// Randomisations are independent by design and may be few; few parts of independent paths say too little.
std::size_t least_parts_of(const settled& run) {
    return run.unit_paths > 0 ? run::least_randomisations : least_parts;
}

studies::estimate worth(const price_row& row, const studies::run_parts& parts) {
    return row.quantity * studies::estimate(row, parts);
}
// A gain in any currency, each of its two worths turned into it.
studies::estimate gain_of(studies::estimate then, double rate_then, const studies::estimate& now,
                          double rate_now) {
    const bool has_moved = then.value != now.value || then.means != now.means;
    then *= rate_then;
    then.add(now, -rate_now);
    // No path has shown what the scenario does to it, so the paths show no error either.
    if (!has_moved && !then.means.empty()) then.beside = no_figure;
    return then;
}
// The same of a trade that the scenario does not move.
studies::estimate gain_of_still(const studies::estimate& still, double rate_then, double rate_now) {
    studies::estimate out = (rate_then - rate_now) * still;
    out.value += 0.0;  // not -0, of a short trade
    return out;
}

using clock = std::chrono::steady_clock;

// The trades of a portfolio in a currency, and what they gain.
struct total {
    portfolio_gains told;
    std::vector<char> has_trade;  // by trade
};

// The base market some days later, with the book as it then stands.
struct base_of_day {
    std::optional<market> in{};
    std::optional<book> trades{};
    std::string why_not{};
    decide::decided_by_trade small_decided{};  // held by small moves; empty: nobody has asked
};

// One progress over all trades in all markets, of workers that walk beside each other.
class progress_of_blocks {
  public:
    progress_of_blocks(const run_options& options, std::size_t cells) : to_(options.on_progress) {
        now_.trades = cells;
    }
    // How far the run of a worker is that prices so many trades and markets.
    void take(std::size_t worker, double cells, const progress& of_run) {
        const std::lock_guard guard(lock_);
        if (of_run.path_steps > 0)
            at_work_[worker] = cells * std::min(1.0, static_cast<double>(of_run.path_steps_done) /
                                                         static_cast<double>(of_run.path_steps));
        now_.policies = std::max(now_.policies, of_run.policies);
        now_.policies_done = std::max(now_.policies_done, of_run.policies_done);
        tell();
    }
    void end(std::size_t worker, std::size_t cells) {
        if (!to_) return;
        const std::lock_guard guard(lock_);
        at_work_[worker] = 0;
        now_.trades_done += cells;
        tell();
    }

  private:
    // Steps are in thousandths of a price.
    void tell() {
        constexpr double fine = 1000;
        const double done = static_cast<double>(now_.trades_done) + at_work_[0] + at_work_[1];
        now_.path_steps = static_cast<std::uint64_t>(fine * static_cast<double>(now_.trades));
        now_.path_steps_done =
            std::max(now_.path_steps_done, static_cast<std::uint64_t>(std::llround(fine * done)));
        to_(now_);
    }

    const std::function<void(const progress&)>& to_;
    std::mutex lock_;
    progress now_;
    std::array<double, 2> at_work_{};  // by worker: prices, as good as done
};

// Scenarios in which the same trades move.
struct block {
    int days = 0;
    bool is_near = false, is_small = false;  // the moves are
    std::vector<std::size_t> trades;         // by place
    std::vector<std::size_t> scenarios;      // by number
};

class scenario_run {
  public:
    scenario_run(const resources& with, const book& trades, const market& in, const scenario_list& asked,
                 const run_options& options, bool are_of_book)
        : resources_(with),
          are_of_book_(are_of_book),
          book_(trades),
          in_(in),
          asked_(asked),
          options_(options),
          run_(settle(options, trades.state(), {&in, 1})),
          reads_(trades.size()),
          controls_(in, {run_, with.operations(), options.cancel, jumps_of_controls::any, &with.passed()},
                    options.work.get()),
          progress_(options, trades.size() * (asked.scenarios.size() + 1)),
          block_times_(options.times) {}

    scenario_results told() {
        price_base();
        find_drifts();
        price_without_controls();
        begin_totals();
        const std::size_t all = asked_.scenarios.size(), trades = book_.size();
        out_.gains.assign(all * trades, no_figure);
        out_.errors.assign(all * trades, no_figure);
        if (!asked_.currency.empty()) {
            out_.converted_gains = out_.gains;
            out_.converted_errors = out_.errors;
        }
        if (asked_.for_differences) {
            out_.gain_parts.resize(all * trades);
            if (!asked_.currency.empty()) out_.converted_gain_parts.resize(all * trades);
        }
        for (const scenario& s : asked_.scenarios)
            if (s.days != 0) day(s.days, has_small_moves(s));
        for (std::size_t first = 0; first < all; first += markets_at_once)
            walk_scenarios(first, std::min(first + markets_at_once, all));
        end_totals();
        out_.part_paths = part_paths_;
        out_.risks = risk::risks_of(out_, asked_);
        tell_of_impossible();
        tell_of_few_parts();
        if (asked_.explains && is_ours(asked_.scenarios.size())) explain();
        out_.base.manifest.total_seconds = std::chrono::duration<double>(clock::now() - begin_).count();
        return std::move(out_);
    }

  private:
    const std::vector<books::trade>& trades() const { return book_.state().trades; }
    // All results of the run have the same parts; those of trades that need no path tell of none.
    studies::run_parts parts_of(const run_manifest& told) {
        if (told.part_paths > 0) part_paths_ = told.part_paths;
        return {told.part_paths, run_.paths, least_parts_of(run_)};
    }
    bool has_base(std::size_t trade) const { return out_.base.rows[trade].status == trade_status::priced; }

    // All decisions are those of the base market, so that differences are of the same kind of paths.
    void price_base() {
        stages by;
        by.wants_quarters = true;
        by.are_of_book = are_of_book_;
        by.reads = reads_;
        by.policies.keeps = true;
        by.see_plans = [&](const planned_run& r) {
            near_decided_ = decided_in(r);
            for (const planned& p : r.plans) bytes_of_trades_.push_back(bytes_of(p));
            for (std::size_t i = 0; i < trades().size(); ++i) {
                if (r.plans[i].subtracts() == nullptr) continue;
                with_control_.push_back(i);
                if (!r.plans[i].subtracts()->jumps()) controls_.add(trades()[i], r.plans[i]);
            }
        };
        run_options with = heard(0);
        with.keep_policies = options_.keep_policies;
        if (options_.work && !options_.work->has_market(0))
            with.work = std::make_shared<kept::work>(options_.work->of_decisions());
        priced_book priced = price_book(resources_, book_, in_, with, by);
        out_.base = std::move(priced.told);
        out_.scenarios = asked_.scenarios;
        out_.inputs = asked_.inputs;
        for (const books::trade& t : trades()) out_.portfolios.push_back(t.portfolio);
        const studies::run_parts parts = parts_of(out_.base.manifest);
        for (const price_row& row : out_.base.rows) near_.push_back(worth(row, parts));
        progress_.end(0, trades().size());
    }

    // Finds once how controls move with all numbers that any scenario moves: each is a pilot.
    void find_drifts() {
        std::set<std::string> moved;
        for (const scenario& s : asked_.scenarios) {
            if (!is_near(s)) continue;
            for (const market_change& c : s.changes) moved.insert(c.key);
        }
        const std::vector<std::string> keys(moved.begin(), moved.end());
        threads::for_each(
            with_control_.size(), run_.threads, options_.cancel,
            [&](int, std::uint64_t k) {
                try {
                    controls_.find_drifts(trades()[with_control_[k]].id, keys);
                } catch (const std::exception& e) {
                    throw_if_cancelled(e);  // where the trade is priced it is said what is wrong
                }
            },
            {});
    }

    // The worth of trades on the paths of gains without controls, with the points that suit those.
    void price_without_controls() {
        far_ = near_;
        small_decided_ = near_decided_;
        for (const books::trade& t : trades()) small_decided_[t.id].control = nullptr;
        if (!with_control_.empty() && !asked_.scenarios.empty()) decide_without_controls();
        far_decided_ = decide::without_policies(small_decided_);
    }

    void decide_without_controls() {
        run_options with = heard(0);
        if (options_.work && !has_ours())
            with.work = std::make_shared<kept::work>(options_.work->of_decisions());
        stages by = usual();
        decide::decided_by_trade none, decided;
        for (const std::size_t i : with_control_) {
            const std::string& id = trades()[i].id;
            none[id].control = nullptr;
            if (const auto near = near_decided_.find(id); near != near_decided_.end())
                none[id].policy = near->second.policy;
        }
        by.held = &none;
        by.policies.keeps = true;
        by.see_plans = [&](const planned_run& r) { decided = decided_in(r); };
        const results plain =
            std::move(price_book(resources_, some_of(book_, with_control_), in_, with, by).told);
        add_steps(out_.base.manifest, plain.manifest);
        for (std::size_t k = 0; k < with_control_.size(); ++k) {
            const std::size_t i = with_control_[k];
            if (plain.rows[k].status == trade_status::priced)
                far_[i] = worth(plain.rows[k], parts_of(plain.manifest));
            const std::string& id = trades()[i].id;
            const bool is_far_alone = controls_.here(id) == nullptr;
            for (decide::decided_by_trade* const to : {&small_decided_, &near_decided_}) {
                if (to == &near_decided_ && !is_far_alone) continue;
                to->erase(id);
                if (const auto found = decided.find(id); found != decided.end()) to->insert(*found);
            }
            small_decided_[id].control = nullptr;
            if (is_far_alone) near_[i] = far_[i];
        }
    }

    void begin_totals() {
        std::vector<std::string> portfolios{""}, currencies;
        const auto add = [](std::vector<std::string>& to, const std::string& name) {
            if (std::ranges::find(to, name) == to.end()) to.push_back(name);
        };
        for (std::size_t i = 0; i < trades().size(); ++i) {
            add(portfolios, trades()[i].portfolio);
            if (has_base(i)) add(currencies, out_.base.rows[i].currency);
        }
        const auto add_total = [&](const std::string& portfolio, const std::string& currency,
                                   bool is_converted) {
            total made{{portfolio, currency, is_converted}, std::vector<char>(trades().size(), 0)};
            for (std::size_t i = 0; i < trades().size(); ++i) {
                if (!portfolio.empty() && trades()[i].portfolio != portfolio) continue;
                if (!has_base(i) || !(is_converted || out_.base.rows[i].currency == currency)) continue;
                made.told.trades.push_back(i);
                made.has_trade[i] = 1;
                made.told.base_value += base_rate(i, is_converted) * out_.base.rows[i].value_in_totals();
            }
            if (made.told.trades.empty()) return;
            const std::size_t all = asked_.scenarios.size();
            for (const std::size_t i : made.told.trades)
                made.told.parts = std::max(made.told.parts, far_[i].means.size());
            made.told.gains.assign(all, 0.0);
            made.told.errors.assign(all, 0.0);
            made.told.failed.assign(all, 0);
            made.told.means_of_parts.assign(all * made.told.parts, 0.0);
            totals_.push_back(std::move(made));
        };
        for (const std::string& portfolio : portfolios) {
            for (const std::string& currency : currencies) add_total(portfolio, currency, false);
            if (!asked_.currency.empty()) add_total(portfolio, asked_.currency, true);
        }
    }

    // Units of the currency of totals for one of the trade's.
    double rate_in(const market& m, std::size_t trade) const {
        return m.state().fx_spot(out_.base.rows[trade].currency, asked_.currency);
    }
    double base_rate(std::size_t trade, bool is_converted) const {
        return is_converted ? rate_in(in_, trade) : 1.0;
    }

    // The base market so many days later, and policies of that day where somebody follows them; made once.
    void day(int days, bool is_followed) {
        const auto [at, is_new] = days_.try_emplace(days);
        base_of_day& made = at->second;
        if (is_new) roll(days, made);
        if (is_followed && made.small_decided.empty() && made.trades) find_policies_of_day(made);
    }

    void roll(int days, base_of_day& made) {
        try {
            const auto now = std::make_shared<const markets::market_state>(in_.state());
            made.in.emplace(std::make_shared<const markets::market_state>(markets::rolled(now, days)));
        } catch (const error& e) {
            if (e.kind() != error_kind::input) throw;
            made.why_not = std::to_string(days) + (days == 1 ? " day" : " days") +
                           " later it is no market: " + e.message();
            return;
        }
        auto rolled = std::make_shared<books::book_state>(book_.state());
        for (books::trade& t : rolled->trades) t = books::rolled(std::move(t), days);
        made.trades.emplace(book::of(std::move(rolled)));
    }

    void find_policies_of_day(base_of_day& made) {
        made.small_decided = far_decided_;
        std::vector<std::size_t> with_rights;
        for (std::size_t i = 0; i < trades().size(); ++i)
            if (has_base(i) && plan::has_rights(trades()[i])) with_rights.push_back(i);
        if (with_rights.empty()) return;
        stages by = usual();
        by.policies.keeps = true;
        by.held = &far_decided_;
        const book some = some_of(*made.trades, with_rights);
        by.see_plans = [&](const planned_run& r) {
            for (const auto& [trade, of] : decided_in(r)) made.small_decided[trade].policy = of.policy;
        };
        price_book(resources_, some, *made.in, heard(0), by);
    }

    static stages usual() {
        stages out;
        out.wants_bounds = false;
        out.wants_quarters = true;
        return out;
    }

    // Makes the markets of some scenarios, finds the trades that they move, and prices these.
    void walk_scenarios(std::size_t first, std::size_t end) {
        std::vector<std::optional<market>> in(end - first);
        std::vector<std::optional<error>> impossible(end - first);
        std::vector<std::vector<std::size_t>> moved(end - first);
        {
            const timings::during planning(options_.times, stage::planning);
            threads::for_each(end - first, run_.threads, options_.cancel,
                              [&](int, std::uint64_t k) {
                                  if (!is_ours(first + k)) return;
                                  make_market(asked_.scenarios[first + k], in[k], impossible[k]);
                                  if (in[k]) moved[k] = moved_in(*in[k]);
                              },
                              {});
        }
        std::map<std::tuple<int, bool, bool, std::vector<std::size_t>>, std::vector<std::size_t>> alike;
        for (std::size_t k = 0; k < in.size(); ++k) {
            if (!is_ours(first + k)) continue;
            if (impossible[k]) {
                impossible_.insert(first + k);
                for (std::size_t i = 0; i < trades().size(); ++i)
                    if (has_base(i)) fail(first + k, i, impossible[k]->message(), impossible[k]->kind());
                continue;
            }
            stand_still(first + k, moved[k], *in[k]);
            const scenario& of = asked_.scenarios[first + k];
            alike[{of.days, is_near(of), has_small_moves(of), std::move(moved[k])}].push_back(k);
        }
        std::vector<block> blocks;
        for (const auto& [of, scenarios] : alike) {
            const auto& [days, near, small, moving] = of;
            if (moving.empty()) continue;
            const std::size_t at_once = scenarios_at_once(moving);
            for (std::size_t k = 0; k < scenarios.size(); k += at_once) {
                const auto begin = scenarios.begin() + static_cast<std::ptrdiff_t>(k);
                const auto count = static_cast<std::ptrdiff_t>(std::min(at_once, scenarios.size() - k));
                blocks.push_back({days, near, small, moving, {begin, begin + count}});
            }
        }
        walk_blocks(blocks, first, in);
    }

    std::size_t scenarios_at_once(const std::vector<std::size_t>& moving) const {
        std::size_t bytes = 1;
        for (const std::size_t i : moving) bytes += bytes_of_trades_[i];
        return std::max(std::min(cells_at_once / moving.size(), bytes_at_once / bytes), std::size_t{1});
    }

    bool has_ours() const {
        for (std::size_t s = 0; s < asked_.scenarios.size(); ++s)
            if (is_ours(s)) return true;
        return false;
    }
    // A share of the work may have other scenarios. The sensitivities that explain gains count as the last.
    bool is_ours(std::size_t scenario) const {
        return !options_.work || options_.work->has_market(scenario + 1);
    }

    void make_market(const scenario& of, std::optional<market>& in, std::optional<error>& why_not) {
        try {
            const market* base = &in_;
            if (of.days != 0) {
                const base_of_day& then = days_.at(of.days);
                if (!then.in) throw error(error_kind::input, then.why_not);
                base = &*then.in;
            }
            // A change to what is there already would have its part of the market read again.
            std::vector<market_change> changes;
            for (const market_change& c : of.changes) {
                const double now = base->number(c.key).value;
                if (c.is == market_change::way::set ? c.amount != now : c.amount != 0) changes.push_back(c);
            }
            in = changes.empty() ? *base : base->changed(changes);
        } catch (const error& e) {
            why_not = e;
        }
    }

    // Trades that read something of the market that is another there.
    std::vector<std::size_t> moved_in(const market& other) const {
        std::vector<std::size_t> out;
        for (std::size_t i = 0; i < trades().size(); ++i)
            if (has_base(i) && !reads_[i].are_alike(in_.state(), other.state())) out.push_back(i);
        return out;
    }

    // Trades that nothing moves gain nothing; turned into another currency they may.
    void stand_still(std::size_t scenario, const std::vector<std::size_t>& moved, const market& in) {
        auto next = moved.begin();
        for (std::size_t i = 0; i < trades().size(); ++i) {
            if (next != moved.end() && *next == i) {
                ++next;
                continue;
            }
            if (!has_base(i)) continue;
            std::optional<studies::estimate> converted;
            // Differences of differences are of one kind of paths.
            const bool is_on_near = asked_.for_differences && is_near(asked_.scenarios[scenario]);
            const studies::estimate& still = is_on_near ? near_[i] : far_[i];
            if (!asked_.currency.empty()) converted = gain_of_still(still, rate_in(in, i), rate_in(in_, i));
            add(scenario, i, gain_of_still(still, 1, 1), converted);
        }
        progress_.end(0, trades().size() - moved.size());
    }

    // Two blocks at a time where GPUs walk them: one is planned while the other is walked.
    void walk_blocks(const std::vector<block>& blocks, std::size_t first,
                     const std::vector<std::optional<market>>& in) {
        const bool one_by_one = options_.work || resources_.open(run_.device).devices.empty();
        std::atomic<std::size_t> next = 0;
        const auto work = [&](std::size_t worker) {
            for (std::size_t b = next++; b < blocks.size(); b = next++) walk(blocks[b], first, in, worker);
        };
        std::future<void> beside;
        std::optional<timings::during> walking;  // whose stages overlap
        if (!one_by_one && blocks.size() > 1) {
            walking.emplace(options_.times, stage::walking);
            block_times_ = nullptr;
            beside = threads::beside([&] { work(1); });
        }
        try {
            work(0);
        } catch (...) {
            next = blocks.size();
            if (beside.valid()) beside.wait();
            throw;
        }
        if (beside.valid()) beside.get();
    }

    void walk(const block& of, std::size_t first, const std::vector<std::optional<market>>& all,
              std::size_t worker) {
        run_options with = heard(worker, of.scenarios.size() * of.trades.size());
        with.times = block_times_;
        const base_of_day* const then = of.days == 0 ? nullptr : &days_.at(of.days);
        std::vector<market> in;
        for (const std::size_t k : of.scenarios) in.push_back(*all[k]);
        stages by = usual();
        // A policy decides by extrapolation where paths come that it was not found on, so larger moves have
        // policies of their own.
        const decide::decided_by_trade& small = then == nullptr ? small_decided_ : then->small_decided;
        by.held = of.is_near ? &near_decided_ : of.is_small ? &small : &far_decided_;
        if (of.is_near) by.controls.about = &controls_;
        const book some = some_of(then == nullptr ? book_ : *then->trades, of.trades);
        std::vector<priced_book> priced = price_book(resources_, some, in, with, by);
        const studies::run_parts parts = parts_of(priced.front().told.manifest);
        const timings::during adding(block_times_, stage::rows);
        threads::for_each(in.size(), run_.threads, options_.cancel,
                          [&](int, std::uint64_t m) {
                              add_scenario(of, first + of.scenarios[m], priced[m].told, parts, in[m]);
                          },
                          {});
        {
            const std::lock_guard guard(lock_);
            run_manifest& told = out_.base.manifest;
            add_walk(told, priced.front().told.manifest);  // all have the facts of the whole walk
            told.plan_seconds += priced.front().told.manifest.plan_seconds;
            for (const priced_book& p : priced) {
                add_steps(told, p.told.manifest);
                for (const price_row& row : p.told.rows) tell_of_gpu(row);
            }
        }
        progress_.end(worker, in.size() * of.trades.size());
    }

    // Whether moves are no larger than those of differences for sensitivities. So small, they leave a policy
    // near the best.
    bool has_small_moves(const scenario& of) const {
        if (asked_.for_differences) return true;
        double size = 0;
        for (const market_change& c : of.changes) {
            const double now = in_.number(c.key).value;
            const double by = c.is == market_change::way::set ? c.amount - now : c.amount;
            const double large = greeks::risk_of(in_.state().source->find(c.key)).large;
            size = std::hypot(size, by / large);
        }
        return size <= 1;
    }
    // A control that moves with the market leaves next to nothing of a small gain, and the more of it the
    // larger the moves are; beyond, the points that suit the payoff alone leave less. Jumps of controls would
    // move to where no path comes.
    bool is_near(const scenario& of) const { return of.days == 0 && has_small_moves(of); }

    void add_scenario(const block& of, std::size_t scenario, const results& then,
                      const studies::run_parts& parts, const market& in) {
        const std::vector<studies::estimate>& now = of.is_near ? near_ : far_;
        for (std::size_t k = 0; k < of.trades.size(); ++k) {
            const std::size_t i = of.trades[k];
            const price_row& row = then.rows[k];
            if (row.status != trade_status::priced)
                fail(scenario, i, row.message, row.kind);
            else
                add(scenario, i, worth(row, parts), now[i], in);
        }
    }

    void fail(std::size_t scenario, std::size_t trade, const std::string& message, error_kind kind) {
        {
            const std::lock_guard guard(lock_);
            out_.failures.push_back({scenario, trade, message, kind});
        }
        for (total& t : totals_)
            if (t.has_trade[trade]) ++t.told.failed[scenario];
    }

    void add(std::size_t scenario, std::size_t trade, const studies::estimate& then,
             const studies::estimate& now, const market& in) {
        std::optional<studies::estimate> converted;
        if (!asked_.currency.empty()) converted = gain_of(then, rate_in(in, trade), now, rate_in(in_, trade));
        add(scenario, trade, gain_of(then, 1, now, 1), converted);
    }

    void add(std::size_t scenario, std::size_t trade, const studies::estimate& own,
             const std::optional<studies::estimate>& converted) {
        const std::size_t cell = scenario * trades().size() + trade;
        out_.gains[cell] = own.value;
        out_.errors[cell] = own.error();
        if (converted) {
            out_.converted_gains[cell] = converted->value;
            out_.converted_errors[cell] = converted->error();
        }
        if (asked_.for_differences) {
            out_.gain_parts[cell] = own.means;
            if (converted) out_.converted_gain_parts[cell] = converted->means;
        }
        for (total& t : totals_) {
            if (!t.has_trade[trade]) continue;
            const studies::estimate& d = t.told.is_converted ? *converted : own;
            t.told.gains[scenario] += d.value;
            for (std::size_t p = 0; p < t.told.parts; ++p)
                t.told.means_of_parts[scenario * t.told.parts + p] += d.mean(p);
        }
    }

    void end_totals() {
        for (total& t : totals_) {
            const studies::run_parts parts(part_paths_, run_.paths, least_parts_of(run_));
            for (std::size_t s = 0; s < t.told.gains.size(); ++s) {
                const auto first =
                    t.told.means_of_parts.begin() + static_cast<std::ptrdiff_t>(s * t.told.parts);
                t.told.errors[s] =
                    studies::estimate({first, first + static_cast<std::ptrdiff_t>(t.told.parts)}, parts)
                        .error();
                // A sum of no gain is none, where it would pass for a loss that nobody has.
                if (t.told.failed[s] == t.told.trades.size()) t.told.gains[s] = t.told.errors[s] = no_figure;
            }
            out_.totals.push_back(std::move(t.told));
        }
        std::ranges::sort(out_.failures, {},
                          [](const failed_gain& f) { return std::pair(f.scenario, f.trade); });
    }

    void explain() {
        run_options quietly = options_;
        quietly.on_progress = {};
        const greek_options wanted = greeks_of_moves(in_, asked_);
        if (wanted.wanted.empty()) return;
        stages by;
        by.are_of_book = are_of_book_;
        results found = greeks_of_book(resources_, book_, in_, wanted, quietly, by);
        add_steps(out_.base.manifest, found.manifest);
        if (options_.work && !options_.work->has_all() && options_.work->may_walk()) return;
        explain_gains(out_, in_, found);
        out_.base.greeks = std::move(found.greeks);
        out_.numbers = in_.numbers();
    }

    // Scenarios that are no market are in no tail, which then is of fewer.
    void tell_of_impossible() {
        for (const std::string& set : asked_.likely_sets) {
            std::size_t all = 0, impossible = 0;
            for (std::size_t s = 0; s < asked_.scenarios.size(); ++s) {
                if (asked_.scenarios[s].set != set) continue;
                ++all;
                impossible += impossible_.contains(s) ? 1U : 0U;
            }
            if (impossible > 0)
                out_.remarks.push_back(std::to_string(impossible) + " of " + std::to_string(all) +
                                       " scenarios of " + config::shown(set) +
                                       " are no markets: its tail is that of the others");
        }
    }

    void tell_of_few_parts() {
        bool lacks_error = false;
        for (std::size_t k = 0; k < out_.gains.size(); ++k)
            lacks_error = lacks_error || (is_figure(out_.gains[k]) && !is_figure(out_.errors[k]));
        if (!lacks_error) return;
        std::size_t randomisations = 0;
        for (const price_row& row : out_.base.rows)
            randomisations = std::max(randomisations, row.randomisations);
        std::string few = remark_on_few_parts(out_.base.manifest, randomisations);
        if (!few.empty()) out_.remarks.push_back(std::move(few));
    }

    // Prices are right without the GPU, but whoever waits for them should know; once for each reason.
    void tell_of_gpu(const price_row& row) {
        const std::size_t at = row.message.find(because_of_gpu);
        if (at == row.message.npos || !reasons_.insert(row.message.substr(at)).second) return;
        out_.remarks.push_back("trade " + config::shown(row.trade) + " in scenarios: " + row.message);
    }

    // Options of a run of a worker, which prices so many trades and markets; 0: of the base market.
    run_options heard(std::size_t worker, std::size_t cells = 0) {
        run_options out = options_;
        out.keep_policies = false;
        if (!options_.on_progress) return out;
        const double all = static_cast<double>(cells == 0 ? trades().size() : cells);
        out.on_progress = [this, worker, all](const progress& p) { progress_.take(worker, all, p); };
        return out;
    }

    const resources& resources_;
    const bool are_of_book_;
    const book& book_;
    const market& in_;
    const scenario_list& asked_;
    const run_options& options_;
    const clock::time_point begin_ = clock::now();
    const settled run_;
    std::atomic<std::uint64_t> part_paths_ = 0;
    scenario_results out_;
    std::vector<markets::market_reads> reads_;  // by trade
    std::vector<std::size_t> bytes_of_trades_;  // likewise, of their plans
    moving_controls controls_;
    std::vector<std::size_t> with_control_;  // trades
    // By trade, in the base market: on the paths of near gains, with controls, and of far ones, without.
    std::vector<studies::estimate> near_, far_;
    // Policies of the base market are among the decisions that near and small moves hold.
    decide::decided_by_trade near_decided_, small_decided_, far_decided_;
    std::map<int, base_of_day> days_;
    std::mutex lock_;  // of failures and facts while blocks are walked
    std::set<std::string> reasons_;
    std::set<std::size_t> impossible_;  // scenarios
    std::vector<total> totals_;
    progress_of_blocks progress_;
    timings* block_times_ = nullptr;  // none where blocks overlap
};

}  // namespace

scenario_results scenarios_as_asked(const resources& with, const book& trades, const market& in,
                                    const scenario_list& asked, const run_options& options,
                                    bool are_of_book) {
    const study of = asked.explains ? study::explained_scenarios
                     : are_of_book  ? study::scenarios_in_session
                                    : study::scenarios;
    const auto [walked, how] = asked_of(of, trades, options);
    const with_journal kept(walked, {&in, 1}, {.scenarios = &asked}, how);
    scenario_results out = scenarios_in_rounds(
        walked, in, kept.options(), [&](const book& of_round, const run_options& how_of_round) {
            return scenario_run(with, of_round, in, asked, how_of_round, are_of_book).told();
        });
    kept.finish(out.base.manifest);
    return out;
}

}  // namespace verbs

scenario_results engine::scenarios(const book& trades, const market& in, const scenario_list& asked,
                                   const run_options& options) const {
    return verbs::scenarios_as_asked(verbs::resources(settings_, *gpus_), trades, in, asked, options);
}

}  // namespace tilewalk
