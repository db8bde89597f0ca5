// SPDX-License-Identifier: Apache-2.0
#include "engine/study/greeks/greek_stages.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/plan/moved_markets.h"
#include "engine/study/asked.h"
#include "engine/study/greek_sums.h"
#include "engine/study/manifest.h"
#include "engine/study/read_parts.h"
#include "engine/study/scenarios/next_day.h"

namespace tilewalk::studies {

namespace {

// Numbers of the market that move together, and the sensitivities whose change with them is wanted.
struct mover {
    struct wanted {
        std::string measure;
        const asked_number* to;
        bool is_square;  // `to` itself moves, as for gamma
    };
    const asked_number* like;  // one of the numbers that move, for units and sizes
    std::vector<std::string> keys;
    std::vector<wanted> changes;
};

std::vector<mover> movers_for(const std::vector<std::string>& measures,
                              const std::vector<asked_number>& numbers) {
    const auto is_wanted = [&](const char* m) { return std::ranges::find(measures, m) != measures.end(); };
    const bool gamma = is_wanted("gamma"), cross = is_wanted("cross_gamma"), vanna = is_wanted("vanna");
    std::vector<mover> out;
    std::map<markets::market_part, std::size_t> volatilities_of;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const asked_number& n = numbers[i];
        if (n.risk.measure == "delta" && (gamma || cross || vanna)) {
            mover m{&n, {n.number->key}, {}};
            if (gamma) m.changes.push_back({"gamma", &n, true});
            for (std::size_t k = 0; k < numbers.size(); ++k) {
                const asked_number& to = numbers[k];
                if (cross && k > i && to.risk.measure == "delta")
                    m.changes.push_back({"cross_gamma", &to, false});
                if (vanna && to.risk.measure == "vega") m.changes.push_back({"vanna", &to, false});
            }
            if (!m.changes.empty()) out.push_back(std::move(m));
        }
        if (n.risk.measure == "vega" && is_wanted("volga")) {
            const auto [at, is_new] = volatilities_of.try_emplace(n.number->of, out.size());
            if (is_new) out.push_back({&n, {}, {}});
            out[at->second].keys.push_back(n.number->key);
            out[at->second].changes.push_back({"volga", &n, true});
        }
    }
    return out;
}

class found_in {
  public:
    explicit found_in(results r) : told_(std::move(r)) {
        for (std::size_t i = 0; i < told_.greeks.size(); ++i)
            by_key_[{told_.greeks[i].trade, told_.greeks[i].key}] = i;
    }
    const results& told() const { return told_; }
    // Null if the number does not move the trade.
    const greek_row* at(const std::string& trade, const std::string& key) const {
        const auto found = by_key_.find({trade, key});
        return found == by_key_.end() ? nullptr : &told_.greeks[found->second];
    }
    bool any_is(std::string_view method) const {
        return std::ranges::any_of(told_.greeks, [&](const greek_row& g) { return g.method == method; });
    }

  private:
    results told_;
    std::map<std::pair<std::string, std::string>, std::size_t> by_key_;
};

double value_of(const greek_row* g) {
    return g == nullptr ? 0 : g->value;
}
// Returns a sensitivity with only the error that its part means show; 0 if `g` is null.
studies::estimate shown_of(const greek_row* g, const run_manifest& manifest) {
    if (g == nullptr) return {};
    studies::estimate out(*g, studies::run_parts(manifest));
    if (!out.means.empty()) out.beside = 0;
    return out;
}

using in_four = std::array<const greek_row*, 4>;  // up and down, then by half the move

std::string how_found(const in_four& at) {
    std::string out;
    for (const greek_row* g : at) {
        if (g == nullptr) continue;
        if (!out.empty() && out != g->method) return "mixed";
        out = g->method;
    }
    return out == "pathwise" ? "bumped_pathwise" : out;
}

class moved_run {
  public:
    moved_run(const mover& m, const second_order_run& run, results& of)
        : m_(m), run_(run), of_(of), about_(run.of.in, m.keys, m.like->risk.large), trades_(priced_in(of)) {
        std::erase_if(trades_, [&](std::size_t i) { return !reads_part(run.reads[i], m.like->number->of); });
    }

    void add_to(rows_by_trade& rows) {
        if (trades_.empty()) return;
        if (!about_.are_there()) return add_failures(rows);
        const book some = some_of(run_.of.trades, trades_);
        std::vector<std::string> keys;
        for (const mover::wanted& w : m_.changes) keys.push_back(w.to->number->key);
        const auto in = [&](const market& moved, double share, double widths) {
            found_in found(run_.sensitivities(some, moved, keys, share, widths));
            add_steps(of_.manifest, found.told().manifest);
            return found;
        };
        const auto& [wide, narrow] = about_;
        const std::array<found_in, 4> found{in(*wide.up, 1, 1), in(*wide.down, 1, 1), in(*narrow.up, 0.5, 1),
                                            in(*narrow.down, 0.5, 1)};
        std::vector<found_in> smoother;
        if (found[0].any_is("smoothed") || found[1].any_is("smoothed")) {
            smoother.push_back(in(*wide.up, 1, 2));
            smoother.push_back(in(*wide.down, 1, 2));
        }
        for (std::size_t t = 0; t < trades_.size(); ++t) {
            for (const mover::wanted& w : m_.changes) {
                auto row = row_of(t, w, found);
                if (!row) continue;
                if (row->method == "smoothed" && !row->has_failed()) {
                    const auto at = [&](const found_in& f) {
                        return value_of(f.at(row->trade, w.to->number->key));
                    };
                    const double as_smooth =
                        m_.like->risk.per * (at(smoother[0]) - at(smoother[1])) / wide.distance;
                    row->bias += bias_of_smoothing(row->value, as_smooth);
                }
                rows[trades_[t]].push_back(*std::move(row));
            }
        }
    }

  private:
    greek_row named(std::size_t trade, const mover::wanted& w) const {
        greek_row row;
        row.trade = of_.rows[trade].trade;
        row.measure = w.measure;
        row.method = "bump";
        row.key = w.to->number->key;
        if (!w.is_square) row.key = m_.like->number->key + ";" + row.key;
        row.unit = of_.rows[trade].currency + " per " + w.to->risk.per_words +
                   (w.is_square ? " squared" : " and " + m_.like->risk.per_words);
        return row;
    }

    void add_failures(rows_by_trade& rows) const {
        for (const std::size_t i : trades_) {
            for (const mover::wanted& w : m_.changes) {
                if (!reads_part(run_.reads[i], w.to->number->of)) continue;
                const std::string why = no_other_market(m_.like->number->key);
                rows[i].push_back(failed(named(i, w), why, error_kind::input));
            }
        }
    }

    // Empty if the trade has this sensitivity in none of the moved markets.
    std::optional<greek_row> row_of(std::size_t t, const mover::wanted& w,
                                    const std::array<found_in, 4>& found) const {
        greek_row row = named(trades_[t], w);
        const std::string where = "where " + m_.like->number->key + " has moved, ";
        in_four at{};
        for (std::size_t m = 0; m < found.size(); ++m) {
            const price_row& priced = found[m].told().rows[t];
            if (priced.status == trade_status::failed)
                return failed(row, where + "it can't be priced: " + priced.message, priced.kind);
            at[m] = found[m].at(row.trade, w.to->number->key);
            if (at[m] != nullptr && at[m]->has_failed())
                return failed(row, where + at[m]->message, at[m]->kind);
        }
        if (std::ranges::all_of(at, [](const greek_row* g) { return g == nullptr; })) return std::nullopt;
        row.method = how_found(at);
        const double per = m_.like->risk.per;
        const double far = per * (value_of(at[0]) - value_of(at[1])) / about_.wide.distance;
        const double near = per * (value_of(at[2]) - value_of(at[3])) / about_.narrow.distance;
        for (const greek_row* g : at)
            if (g != nullptr) row.paths = std::max(row.paths, g->paths);
        studies::estimate change = shown_of(at[0], of_.manifest) - shown_of(at[1], of_.manifest);
        change *= per;
        change /= about_.wide.distance;
        if (change.means.empty()) change.value = near;
        set_value(row, std::move(change), of_.manifest);
        row.walk = report::walk_of_all(at);
        row.bias = about_.bias(far, near);
        return row;
    }

    const mover& m_;
    const second_order_run& run_;
    results& of_;
    greeks::moved_twice about_;
    std::vector<std::size_t> trades_;
};

// Finds charm: the change of every delta over a day.
class charm_run {
  public:
    charm_run(const second_order_run& run, results& of)
        : run_(run), of_(of), tomorrow_(run.of.in), trades_(priced_in(of)) {
        for (const asked_number& n : run.of.asked.numbers)
            if (n.risk.measure == "delta") keys_.push_back(n.number->key);
    }

    void add_to(rows_by_trade& rows) {
        if (trades_.empty() || keys_.empty()) return;
        const days found = found_in_both(1, 1);
        const auto any_is = [&](std::string_view method) {
            return found.size() > 1 && (found[0].any_is(method) || found[1].any_is(method));
        };
        const days near = any_is("bump") ? found_in_both(0.5, 1) : days(),
                   smoother = any_is("smoothed") ? found_in_both(1, 2) : days();
        for (std::size_t t = 0; t < trades_.size(); ++t) {
            const std::string& id = of_.rows[trades_[t]].trade;
            for (const std::string& key : keys_) {
                const greek_row* const today = found[0].at(id, key);
                if (today == nullptr) continue;
                greek_row& row = rows[trades_[t]].emplace_back(*today);
                row.measure = "charm";
                row.key += ";" + std::string(greeks::key_of_day);
                row.unit += " and 1 day";
                if (!row.has_failed()) fill(row, t, *today, found);
                if (row.has_failed()) continue;
                const greek_row* const later = found[1].at(id, key);
                const auto is_by = [&](std::string_view method) {
                    return today->method == method || (later != nullptr && later->method == method);
                };
                const auto change = [&](const days& in) {
                    return value_of(in[1].at(id, key)) - value_of(in[0].at(id, key));
                };
                if (is_by("bump")) row.bias += 4.0 / 3 * std::abs(change(near) - row.value);
                if (is_by("smoothed")) row.bias += bias_of_smoothing(row.value, change(smoother));
            }
        }
    }

  private:
    using days = std::vector<found_in>;  // today, and the next day if there is one

    days found_in_both(double share, double widths) const {
        const book some = some_of(run_.of.trades, trades_);
        days out;
        out.emplace_back(run_.sensitivities(some, run_.of.in, keys_, share, widths));
        if (const auto& in = tomorrow_.in())
            out.emplace_back(run_.sensitivities(tomorrow_.aged(some), *in, keys_, share, widths));
        for (const found_in& of_day : out) add_steps(of_.manifest, of_day.told().manifest);
        return out;
    }
    static void lose(greek_row& row, const std::string& why, error_kind kind) {
        row.value = row.standard_error = no_figure;
        row.part_means.clear();
        row = failed(std::move(row), why, kind);
    }

    // Sets the row to tomorrow's delta less today's. A trade that is over tomorrow has the delta 0.
    void fill(greek_row& row, std::size_t t, const greek_row& today, const days& found) const {
        if (found.size() < 2) return lose(row, tomorrow_.why_not(), error_kind::input);
        const price_row& priced = found[1].told().rows[t];
        const greek_row* const later = found[1].at(today.trade, today.key);
        if (priced.status == trade_status::failed)
            return lose(row, "a day later it can't be priced: " + priced.message, priced.kind);
        if (later != nullptr && later->has_failed()) return lose(row, later->message, later->kind);
        row.method = later == nullptr || later->method == today.method
                         ? (today.method == "pathwise" ? "bumped_pathwise" : today.method)
                         : "mixed";
        set_value(row, shown_of(later, of_.manifest) - shown_of(&today, of_.manifest), of_.manifest);
        if (row.part_means.empty()) return;
        row.walk = report::walk_of_all(std::array{&today, later});
        if (row.standard_error >= 0)
            row.standard_error = std::max(row.standard_error, rounding_of_difference({&today, later}));
    }
    // Returns the rounding of deltas that a control makes exact: alike on all paths, so no part shows it.
    // Errors of finite differences cancel, as both days have about the same.
    static double rounding_of_difference(const std::array<const greek_row*, 2>& of) {
        constexpr double of_one = 1e-9;
        double out = 0;
        for (const greek_row* g : of)
            if (g != nullptr && g->standard_error <= 2 * least_share_of_error * std::abs(g->value))
                out = std::hypot(out, of_one * g->value);
        return out;
    }

    const second_order_run& run_;
    results& of_;
    next_day tomorrow_;
    std::vector<std::size_t> trades_;
    std::vector<std::string> keys_;
};

}  // namespace

void add_second_order(rows_by_trade& rows, results& to, const second_order_run& run) {
    const std::vector<std::string>& measures = run.of.asked.second_order;
    for (const mover& m : movers_for(measures, run.of.asked.numbers)) moved_run(m, run, to).add_to(rows);
    if (std::ranges::find(measures, "charm") != measures.end()) charm_run(run, to).add_to(rows);
}

}  // namespace tilewalk::studies
