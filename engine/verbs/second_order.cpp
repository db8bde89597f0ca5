// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/second_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/book/book_state.h"
#include "engine/greeks/moved_markets.h"
#include "engine/report/greek_sums.h"
#include "engine/study/estimate.h"
#include "engine/verbs/manifest.h"
#include "engine/verbs/next_day.h"
#include "engine/verbs/read_parts.h"

namespace tilewalk::verbs {

namespace {

// Numbers that move together, and the sensitivities whose changes are wanted then.
struct mover {
    struct wanted {
        std::string measure;
        const asked_number* to;
        bool is_square;  // the sensitivity is to what moves
    };
    const asked_number* like;  // one of those that move
    std::vector<std::string> keys;
    std::vector<wanted> changes;

    std::string key_of(const wanted& w) const {
        return w.is_square ? w.to->number->key : like->number->key + ";" + w.to->number->key;
    }
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

// Sensitivities in one market, by trade and key.
class found_in {
  public:
    explicit found_in(results r) : told_(std::move(r)) {
        for (const greek_row& g : told_.greeks) by_key_[{g.trade, g.key}] = &g;
    }
    const results& told() const { return told_; }
    // Null: the trade does not move with it.
    const greek_row* at(const std::string& trade, const std::string& key) const {
        const auto found = by_key_.find({trade, key});
        return found == by_key_.end() ? nullptr : found->second;
    }
    bool any_is(std::string_view method) const {
        return std::ranges::any_of(told_.greeks, [&](const greek_row& g) { return g.method == method; });
    }

  private:
    results told_;
    std::map<std::pair<std::string, std::string>, const greek_row*> by_key_;
};

double value_of(const greek_row* g) {
    return g == nullptr ? 0 : g->value;
}
// A sensitivity with the error that its paths show; 0 if there is none.
studies::estimate shown_of(const greek_row* g, const run_manifest& told) {
    if (g == nullptr) return {};
    studies::estimate out(*g, studies::run_parts(told));
    if (!out.means.empty()) out.beside = 0;
    return out;
}

using in_four = std::array<const greek_row*, 4>;  // above and below, far and near

std::string how_found(const in_four& at) {
    std::string out;
    for (const greek_row* g : at) {
        if (g == nullptr) continue;
        if (!out.empty() && out != g->method) return "mixed";
        out = g->method;
    }
    return out == "pathwise" ? "bumped_pathwise" : out;
}

void fill(greek_row& row, const in_four& at, const greeks::moved_markets& wide,
          const greeks::moved_markets& narrow, double per, const run_manifest& told) {
    const double far = per * (value_of(at[0]) - value_of(at[1])) / wide.distance;
    const double near = per * (value_of(at[2]) - value_of(at[3])) / narrow.distance;
    for (const greek_row* g : at)
        if (g != nullptr) row.paths = std::max(row.paths, g->paths);
    studies::estimate change = shown_of(at[0], told) - shown_of(at[1], told);
    change *= per;
    change /= wide.distance;
    if (change.means.empty()) change.value = near;
    set_value(row, std::move(change), told);
    row.walk = report::walk_of_all(at);
    // For twice the move the error of a central difference is four times as large, that of a difference on
    // one side twice.
    row.bias = std::abs(far - near) * (wide.is_central && narrow.is_central ? 4.0 / 3 : 2.0);
}

// One mover, in all trades that read it.
class moved_run {
  public:
    moved_run(const mover& m, const second_order_run& run, results& of)
        : m_(m),
          run_(run),
          of_(of),
          wide_(run.in, m.keys, m.like->risk.large),
          narrow_(run.in, m.keys, m.like->risk.large / 2) {
        for (std::size_t i = 0; i < of.rows.size(); ++i)
            if (of.rows[i].status != trade_status::failed && reads_part(run.reads[i], m.like->number->of))
                trades_.push_back(i);
    }

    void add_to(std::vector<std::vector<greek_row>>& rows) {
        if (trades_.empty()) return;
        if (!wide_.are_there() || !narrow_.are_there()) {
            add_failures(rows, "no market has another " + m_.like->number->key + " beside the others");
            return;
        }
        const book some = some_of(run_.trades, trades_);
        std::vector<std::string> keys;
        for (const mover::wanted& w : m_.changes) keys.push_back(w.to->number->key);
        const auto in = [&](const market& moved, double share, double widths) {
            found_in found(run_.sensitivities(some, moved, keys, share, widths));
            add_steps(of_.manifest, found.told().manifest);
            return found;
        };
        const std::array<found_in, 4> found{in(*wide_.up, 1, 1), in(*wide_.down, 1, 1),
                                            in(*narrow_.up, 0.5, 1), in(*narrow_.down, 0.5, 1)};
        std::vector<found_in> smoother;
        if (found[0].any_is("smoothed") || found[1].any_is("smoothed")) {
            smoother.push_back(in(*wide_.up, 1, 2));
            smoother.push_back(in(*wide_.down, 1, 2));
        }
        for (std::size_t t = 0; t < trades_.size(); ++t) {
            for (const mover::wanted& w : m_.changes) {
                auto row = row_of(t, w, found);
                if (!row) continue;
                if (row->method == "smoothed" && !row->has_failed()) {
                    const auto at = [&](const found_in& f) {
                        return value_of(f.at(row->trade, w.to->number->key));
                    };
                    const double wide =
                        m_.like->risk.per * (at(smoother[0]) - at(smoother[1])) / wide_.distance;
                    row->bias += bias_of_smoothing(row->value, wide);
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
        row.key = m_.key_of(w);
        row.unit = of_.rows[trade].currency + " per " + w.to->risk.per_words +
                   (w.is_square ? " squared" : " and " + m_.like->risk.per_words);
        return row;
    }

    void add_failures(std::vector<std::vector<greek_row>>& rows, const std::string& why) const {
        for (const std::size_t i : trades_) {
            for (const mover::wanted& w : m_.changes) {
                if (!reads_part(run_.reads[i], w.to->number->of)) continue;
                greek_row row = named(i, w);
                row.method = "bump";
                row.message = why;
                row.kind = error_kind::input;
                rows[i].push_back(std::move(row));
            }
        }
    }

    // None where the trade moves with none of the two in any of the markets.
    std::optional<greek_row> row_of(std::size_t t, const mover::wanted& w,
                                    const std::array<found_in, 4>& found) const {
        greek_row row = named(trades_[t], w);
        in_four at{};
        for (std::size_t m = 0; m < found.size(); ++m) {
            const price_row& priced = found[m].told().rows[t];
            if (priced.status == trade_status::failed)
                return failed(row, "it can't be priced: " + priced.message, priced.kind);
            at[m] = found[m].at(row.trade, w.to->number->key);
            if (at[m] != nullptr && at[m]->has_failed()) return failed(row, at[m]->message, at[m]->kind);
        }
        if (std::ranges::all_of(at, [](const greek_row* g) { return g == nullptr; })) return std::nullopt;
        row.method = how_found(at);
        fill(row, at, wide_, narrow_, m_.like->risk.per, of_.manifest);
        return row;
    }
    greek_row failed(greek_row row, const std::string& why, error_kind kind) const {
        row.method = "bump";
        row.message = "where " + m_.like->number->key + " has moved, " + why;
        row.kind = kind;
        return row;
    }

    const mover& m_;
    const second_order_run& run_;
    results& of_;
    greeks::moved_markets wide_, narrow_;
    std::vector<std::size_t> trades_;
};

// How the deltas of all trades change in a day.
class charm_run {
  public:
    charm_run(const second_order_run& run, results& of) : run_(run), of_(of), tomorrow_(run.in) {
        for (std::size_t i = 0; i < of.rows.size(); ++i)
            if (of.rows[i].status != trade_status::failed) trades_.push_back(i);
        for (const asked_number& n : run.numbers) {
            if (n.risk.measure != "delta") continue;
            spots_.push_back(&n);
            keys_.push_back(n.number->key);
        }
    }

    void add_to(std::vector<std::vector<greek_row>>& rows) {
        if (trades_.empty() || spots_.empty()) return;
        const book some = some_of(run_.trades, trades_);
        const found_in now = found(some, run_.in, 1, 1);
        std::optional<found_in> then, now_near, then_near, now_smoother, then_smoother;
        if (tomorrow_.in()) {
            const book later = tomorrow_.of(some);
            then.emplace(found(later, *tomorrow_.in(), 1, 1));
            if (now.any_is("bump") || then->any_is("bump")) {
                now_near.emplace(found(some, run_.in, 0.5, 1));
                then_near.emplace(found(later, *tomorrow_.in(), 0.5, 1));
            }
            if (now.any_is("smoothed") || then->any_is("smoothed")) {
                now_smoother.emplace(found(some, run_.in, 1, 2));
                then_smoother.emplace(found(later, *tomorrow_.in(), 1, 2));
            }
        }
        for (std::size_t t = 0; t < trades_.size(); ++t) {
            for (const asked_number* spot : spots_) {
                const std::string& id = of_.rows[trades_[t]].trade;
                const std::string& key = spot->number->key;
                const greek_row* const today = now.at(id, key);
                if (today == nullptr) continue;
                greek_row row = *today;
                row.measure = "charm";
                row.key += ";" + std::string(key_of_day);
                row.unit += " and 1 day";
                if (!row.has_failed()) {
                    if (then) {
                        fill(row, t, *today, *then);
                        add_bias(row, {today, then->at(id, key)},
                                 {now_near ? now_near->at(id, key) : nullptr,
                                  then_near ? then_near->at(id, key) : nullptr},
                                 {now_smoother ? now_smoother->at(id, key) : nullptr,
                                  then_smoother ? then_smoother->at(id, key) : nullptr});
                    } else {
                        fail(row, tomorrow_.why_not(), error_kind::input);
                    }
                }
                rows[trades_[t]].push_back(std::move(row));
            }
        }
    }

  private:
    using two_days = std::array<const greek_row*, 2>;

    found_in found(const book& trades, const market& in, double share, double widths) {
        found_in out(run_.sensitivities(trades, in, keys_, share, widths));
        add_steps(of_.manifest, out.told().manifest);
        return out;
    }
    static void fail(greek_row& row, const std::string& why, error_kind kind) {
        row.value = row.standard_error = no_figure;
        row.part_means.clear();
        row.message = why;
        row.kind = kind;
    }

    // A trade that is over the next day has no delta any more.
    void fill(greek_row& row, std::size_t t, const greek_row& today, const found_in& then) const {
        const price_row& priced = then.told().rows[t];
        const greek_row* const later = then.at(today.trade, today.key);
        if (priced.status == trade_status::failed)
            return fail(row, "a day later it can't be priced: " + priced.message, priced.kind);
        if (later != nullptr && later->has_failed()) return fail(row, later->message, later->kind);
        row.method = later == nullptr || later->method == today.method
                         ? (today.method == "pathwise" ? "bumped_pathwise" : today.method)
                         : "mixed";
        set_value(row, shown_of(later, of_.manifest) - shown_of(&today, of_.manifest), of_.manifest);
        if (row.part_means.empty()) return;
        row.walk = report::walk_of_all(two_days{&today, later});
        if (row.standard_error >= 0)
            row.standard_error = std::max(row.standard_error, rounding_of_difference({&today, later}));
    }
    // Derivatives of two days that a control leaves exact are out by rounding, all paths alike. Differences
    // in the market leave out about the same on both days.
    static double rounding_of_difference(const two_days& of) {
        constexpr double of_one = 1e-9;
        double out = 0;
        for (const greek_row* g : of)
            if (g != nullptr && g->standard_error <= 2 * least_share_of_error * std::abs(g->value))
                out = std::hypot(out, of_one * g->value);
        return out;
    }
    // Each pair is of today and of the day after: as found, with nearer moves, and with smoother jumps.
    static void add_bias(greek_row& row, const two_days& as_found, const two_days& near,
                         const two_days& smoother) {
        const auto is_by = [&](std::string_view method) {
            return std::ranges::any_of(
                as_found, [&](const greek_row* g) { return g != nullptr && g->method == method; });
        };
        const auto change = [](const two_days& of) { return value_of(of[1]) - value_of(of[0]); };
        if (row.has_failed()) return;
        if (is_by("bump")) row.bias += 4.0 / 3 * std::abs(change(near) - row.value);
        if (is_by("smoothed")) row.bias += bias_of_smoothing(row.value, change(smoother));
    }

    const second_order_run& run_;
    results& of_;
    next_day tomorrow_;
    std::vector<std::size_t> trades_;
    std::vector<const asked_number*> spots_;
    std::vector<std::string> keys_;
};

}  // namespace

void add_second_order(std::vector<std::vector<greek_row>>& rows, const std::vector<std::string>& measures,
                      results& of, const second_order_run& run) {
    for (const mover& m : movers_for(measures, run.numbers)) moved_run(m, run, of).add_to(rows);
    if (std::ranges::find(measures, "charm") != measures.end()) charm_run(run, of).add_to(rows);
}

double bias_of_smoothing(double value, double wide) {
    return std::abs(wide - value);
}

book some_of(const book& trades, const std::vector<std::size_t>& places) {
    auto some = std::make_shared<books::book_state>();
    some->name = trades.state().name;
    some->settings = trades.state().settings;
    for (const std::size_t i : places) {
        some->trades.push_back(trades.state().trades[i]);
        some->trades.back().report.reset();
    }
    return book::of(std::move(some));
}

void set_value(greek_row& row, studies::estimate of, const run_manifest& told) {
    row.value = of.mean_of_parts();
    if (!of.means.empty()) row.paths = told.paths;
    if (!std::isfinite(row.value)) {
        row.message = "a path has a derivative that is not a finite number";
        row.kind = error_kind::numeric;
        row.value = no_figure;
        return;
    }
    row.standard_error = of.error();
    row.part_means = std::move(of.means);
}

}  // namespace tilewalk::verbs
