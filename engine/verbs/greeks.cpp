// SPDX-License-Identifier: Apache-2.0
// Greeks: prices with the derivatives of paths where these are the derivatives of the price, and differences
// of prices where they are not.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/config/wording.h"
#include "engine/cpu/crew.h"
#include "engine/cuda/random/catalogue.h"
#include "engine/greeks/measures.h"
#include "engine/greeks/ways_back.h"
#include "engine/report/greek_sums.h"
#include "engine/run/units.h"
#include "engine/verbs/price.h"
#include "engine/verbs/read_parts.h"
#include "tilewalk/engine.h"

namespace tilewalk {

namespace verbs {

namespace {

using greeks::risk_number;

enum class method { automatic, pathwise, bump };

method method_named(const std::string& name) {
    const std::vector<std::string> names{"auto", "pathwise", "bump"};
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<method>(found - names.begin());
    throw error(error_kind::usage, "found the method of Greeks " + config::shown(name) +
                                       ", expected one of " + language::joined(names) +
                                       language::suggestion(name, names));
}

// Whether the whole text fits a pattern in which * stands for any text.
bool fits(std::string_view pattern, std::string_view text) {
    const std::size_t star = pattern.find('*');
    if (star == pattern.npos) return pattern == text;
    if (!text.starts_with(pattern.substr(0, star))) return false;
    const std::string_view rest = pattern.substr(star + 1);
    for (std::size_t at = star; at <= text.size(); ++at)
        if (fits(rest, text.substr(at))) return true;
    return false;
}

// A number of the market to which sensitivities are wanted.
struct asked_number {
    const markets::keyed_number* number;
    risk_number risk;
};

std::vector<asked_number> numbers_asked(const greek_options& wanted, const market& in) {
    std::vector<std::string> measures;
    for (const greek_measure& m : greek_measures()) measures.emplace_back(m.name);
    std::vector<bool> is_used(wanted.wanted.size(), false);
    const auto is_wanted = [&](const std::string& key, std::string_view measure) {
        bool any = wanted.wanted.empty();
        for (std::size_t i = 0; i < wanted.wanted.size(); ++i) {
            const std::string& one = wanted.wanted[i];
            const bool is_this = one == measure || fits(one, key);
            is_used[i] = is_used[i] || is_this || std::ranges::find(measures, one) != measures.end();
            any = any || is_this;
        }
        return any;
    };
    std::vector<asked_number> out;
    std::vector<std::string> known = measures;
    for (const markets::keyed_number& n : in.state().source->numbers()) {
        risk_number risk = greeks::risk_of(n);
        if (risk.measure.empty()) continue;
        known.push_back(n.key);
        if (is_wanted(n.key, risk.measure)) out.push_back({&n, std::move(risk)});
    }
    for (std::size_t i = 0; i < wanted.wanted.size(); ++i) {
        if (is_used[i]) continue;
        throw error(error_kind::usage,
                    "found " + config::shown(wanted.wanted[i]) + " among the Greeks, expected a measure (" +
                        language::joined(measures) + ") or a pattern that fits a key of the market" +
                        language::suggestion(wanted.wanted[i], known));
    }
    return out;
}

// The market in which a number has moved, by less where it can't move as far.
std::optional<market> moved(const market& in, const std::string& key, double& by) {
    constexpr int most_halvings = 4;
    for (int i = 0; i <= most_halvings; ++i, by /= 2) {
        try {
            return in.shifted(key, by);
        } catch (const error& e) {
            if (e.kind() != error_kind::input) throw;
        }
    }
    by = 0;
    return std::nullopt;
}

// The markets on both sides of a number, by at most so much; on one side alone where the other has none.
struct market_pair {
    std::optional<market> up, down;
    double distance = 0;
    bool is_central = false;

    market_pair(const market& in, const std::string& key, double by) {
        double above = by, below = -by;
        up = moved(in, key, above);
        down = moved(in, key, below);
        if (!up && !down) return;
        if (!up) up = in;
        if (!down) down = in;
        distance = above - below;
        is_central = above == -below;
    }
    bool is_there() const { return distance > 0; }
};

// A trade's sensitivity to a number that no derivative of paths gives.
struct bumped {
    std::size_t trade, number;
    bool moves = false;  // it is known that the number moves the trade
};

class greek_run {
  public:
    greek_run(const engine_settings& settings, cuda::backend& gpus, const book& trades, const market& in,
              const greek_options& wanted, const run_options& options)
        : settings_(settings),
          gpus_(gpus),
          book_(trades),
          in_(in),
          options_(options),
          by_(method_named(wanted.method)),
          run_(settle(options, trades.settings())),
          asked_(numbers_asked(wanted, in)),
          reads_(trades.size()),
          numbers_of_(trades.size()),
          certain_(trades.size()) {
        if (random::find(run_.random, random::back_end::gpu).rounds > 0) return;
        throw error(error_kind::usage, "found random: " + run_.random +
                                           " for Greeks, whose paths are drawn twice; expected philox or "
                                           "philox_7");
    }

    results told(stages by) {
        const std::vector<books::trade>& trades = book_.state().trades;
        by.plan = [&](const books::trade& t, const markets::market_state& m, program::precision p,
                      const plan::poll& often) {
            return plan::plan_trade(t, {m, &reads_[static_cast<std::size_t>(&t - trades.data())]}, p, {},
                                    often);
        };
        by.add_ways_back = [&](planned_run& r) { add_ways_back(r); };
        priced_book priced = price_book(settings_, gpus_, book_, in_, options_, by);
        results out = std::move(priced.told);
        std::map<std::pair<std::size_t, std::size_t>, greek_row> rows;  // by trade and number
        for (std::size_t i = 0; i < trades.size(); ++i) {
            if (out.rows[i].status == trade_status::failed) continue;
            for (std::size_t k = 0; k < numbers_of_[i].size(); ++k) {
                const std::size_t n = numbers_of_[i][k];
                rows.emplace(std::pair(i, n), certain_[i].empty()
                                                  ? pathwise_row(out, i, n, priced.derivatives[i][k])
                                                  : certain_row(out, i, n, certain_[i][k]));
            }
        }
        add_bumped(out, rows);
        for (const auto& [at, row] : rows) out.greeks.push_back(row);
        add_totals_of_trades(out);
        return out;
    }

  private:
    // Finds for each trade the numbers that move it, and those among them that its paths give derivatives to.
    void add_ways_back(planned_run& r) {
        const std::vector<books::trade>& trades = book_.state().trades;
        std::vector<std::vector<std::size_t>> read(trades.size());
        std::vector<bool> is_read(asked_.size(), false);
        for (std::size_t i = 0; i < trades.size(); ++i) {
            if (r.plans[i].failure) continue;
            for (std::size_t n = 0; n < asked_.size(); ++n) {
                if (!reads_part(reads_[i], asked_[n].number->of)) continue;
                read[i].push_back(n);
                is_read[n] = true;
            }
        }
        std::vector<std::optional<market_pair>> about(asked_.size());
        cpu::for_each(asked_.size(), run_.threads, options_.cancel,
                      [&](int, std::uint64_t n) {
                          if (is_read[n]) about[n].emplace(in_, asked_[n].number->key, asked_[n].risk.small);
                      },
                      {});
        std::vector<std::vector<bumped>> bumps(trades.size());
        cpu::for_each(trades.size(), run_.threads, options_.cancel,
                      [&](int, std::uint64_t i) { find_way_back(r.plans[i], i, read[i], about, bumps[i]); },
                      {});
        for (const auto& of_trade : bumps) bumps_.insert(bumps_.end(), of_trade.begin(), of_trade.end());
    }

    void find_way_back(planned& p, std::size_t i, const std::vector<std::size_t>& read,
                       const std::vector<std::optional<market_pair>>& about, std::vector<bumped>& bumps) {
        if (p.failure) return;
        const ready_trade& ready = *p.ready;
        const greeks::planned_numbers as_is{*ready.code, ready.data, ready.when};
        std::vector<program::path_data> moves;
        program::wanted_numbers wanted = program::no_number_of(*ready.code);
        const plan::poll often = poll_of(options_.cancel);
        for (const std::size_t n : read) {
            // A number that is added to scenarios moves none of the program.
            if (by_ == method::bump || asked_[n].number->is_added || !about[n]->is_there()) {
                bumps.push_back({i, n});
                continue;
            }
            std::optional<program::path_data> move;
            try {
                const books::trade& t = book_.state().trades[i];
                const auto up = plan::plan_trade(t, about[n]->up->state(), run_.how.precision, {}, often);
                const auto down = plan::plan_trade(t, about[n]->down->state(), run_.how.precision, {}, often);
                move = greeks::moves_of_numbers(as_is, {up.code, up.data, up.when},
                                                {down.code, down.data, down.when}, about[n]->distance);
            } catch (const std::exception& e) {
                throw_if_cancelled(e);  // a difference of prices says what is wrong
            }
            if (!move) {
                bumps.push_back({i, n});
                continue;
            }
            program::wanted_numbers moved_by_it = program::no_number_of(*ready.code);
            if (!greeks::mark_moved(*move, moved_by_it, *ready.code)) continue;
            if (!ready.certain && by_ == method::automatic) {
                const auto& jumps = adjoints_.jumps_of(ready.code, ready.data, ready.when);
                if (!program::moved_by(*ready.code, jumps, moved_by_it).empty()) {
                    bumps.push_back({i, n, true});
                    continue;
                }
            }
            greeks::mark_moved(*move, wanted, *ready.code);
            numbers_of_[i].push_back(n);
            moves.push_back(*std::move(move));
        }
        if (moves.empty()) return;
        if (ready.certain) {
            for (const auto& move : moves) certain_[i].push_back(move.initial_states[ready.code->outputs[0]]);
            return;
        }
        p.back = std::make_shared<const greeks::ready_way_back>(adjoints_.adjoint_of(ready.code, wanted),
                                                                ready.data, moves);
    }

    greek_row row_for(const results& of, std::size_t i, std::size_t n, const char* by) const {
        const asked_number& asked = asked_[n];
        greek_row row;
        row.trade = of.rows[i].trade;
        row.measure = asked.risk.measure;
        row.key = asked.number->key;
        row.unit = of.rows[i].currency + " per " + asked.risk.per_words;
        row.method = by;
        return row;
    }

    // The value and its error, from the mean derivative of one unit by part of the run.
    void fill(greek_row& row, const results& of, std::size_t i, std::size_t n,
              std::vector<double> means) const {
        const double scale = of.rows[i].quantity * asked_[n].risk.per;
        for (double& m : means) m *= scale;
        row.paths = run_.paths;
        double sum = 0;
        const std::uint64_t part = of.manifest.part_paths;
        for (std::size_t p = 0; p < means.size(); ++p) {
            const std::uint64_t first = p * part;
            sum += means[p] * static_cast<double>(std::min(part, run_.paths - first));
        }
        row.value = sum / static_cast<double>(run_.paths);
        if (!std::isfinite(row.value)) {
            row.message = "a path has a derivative that is not a finite number";
            row.kind = error_kind::numeric;
            row.value = no_figure;
            return;
        }
        if (means.size() >= least_parts) row.standard_error = run::error_of_parts(means, part, run_.paths);
        row.part_means = std::move(means);
    }

    greek_row pathwise_row(const results& of, std::size_t i, std::size_t n,
                           std::vector<double>& means) const {
        greek_row row = row_for(of, i, n, "pathwise");
        fill(row, of, i, n, std::move(means));
        return row;
    }

    greek_row certain_row(const results& of, std::size_t i, std::size_t n, double derivative) const {
        greek_row row = row_for(of, i, n, "pathwise");
        row.value = of.rows[i].quantity * asked_[n].risk.per * derivative;
        row.standard_error = 0;
        return row;
    }

    using row_map = std::map<std::pair<std::size_t, std::size_t>, greek_row>;

    void add_bumped(results& to, row_map& rows) {
        std::map<std::size_t, std::vector<bumped>> by_number;
        for (const bumped& b : bumps_)
            if (to.rows[b.trade].status != trade_status::failed) by_number[b.number].push_back(b);
        for (const auto& [n, trades] : by_number) {
            const market_pair wide(in_, asked_[n].number->key, asked_[n].risk.large);
            const market_pair narrow(in_, asked_[n].number->key, asked_[n].risk.large / 2);
            if (!wide.is_there() || !narrow.is_there()) {
                for (const bumped& b : trades) {
                    greek_row& row =
                        rows.emplace(std::pair(b.trade, n), row_for(to, b.trade, n, "bump")).first->second;
                    row.message = "no market has another " + asked_[n].number->key + " beside the others";
                    row.kind = error_kind::input;
                }
                continue;
            }
            const std::array in{*wide.up, *wide.down, *narrow.up, *narrow.down};
            auto some = std::make_shared<books::book_state>();
            some->name = book_.state().name;
            some->settings = book_.state().settings;
            for (const bumped& b : trades) {
                some->trades.push_back(book_.state().trades[b.trade]);
                some->trades.back().report.reset();
            }
            run_options quietly = options_;
            quietly.on_progress = {};
            const std::vector<priced_book> priced =
                price_book(settings_, gpus_, book::of(std::move(some)), in, quietly);
            for (std::size_t t = 0; t < trades.size(); ++t) {
                std::array<const price_row*, 4> at{};
                for (std::size_t m = 0; m < at.size(); ++m) at[m] = &priced[m].told.rows[t];
                if (auto row = bumped_row(to, trades[t], at, wide, narrow))
                    rows.emplace(std::pair(trades[t].trade, n), *std::move(row));
            }
            to.manifest.path_steps += 4 * priced[0].told.manifest.path_steps;
        }
    }

    // Prices are those in the markets above and below, far and near. None where the number moves nothing.
    std::optional<greek_row> bumped_row(const results& of, const bumped& which,
                                        const std::array<const price_row*, 4>& at, const market_pair& wide,
                                        const market_pair& narrow) const {
        const std::size_t i = which.trade, n = which.number;
        greek_row row = row_for(of, i, n, "bump");
        for (const price_row* p : at) {
            if (p->status == trade_status::priced) continue;
            row.message = "where " + row.key + " has moved, it can't be priced: " + p->message;
            row.kind = p->kind;
            return row;
        }
        const bool stands =
            std::ranges::all_of(at, [&](const price_row* p) { return p->price == of.rows[i].price; });
        if (stands && !which.moves) return std::nullopt;
        const double scale = of.rows[i].quantity * asked_[n].risk.per;
        const double far = scale * (at[0]->price - at[1]->price) / wide.distance;
        const double near = scale * (at[2]->price - at[3]->price) / narrow.distance;
        if (at[0]->part_means.empty()) {
            row.value = near;
            row.standard_error = 0;
        } else {
            std::vector<double> means;
            for (std::size_t p = 0; p < at[0]->part_means.size(); ++p)
                means.push_back((at[0]->part_means[p] - at[1]->part_means[p]) / wide.distance);
            fill(row, of, i, n, std::move(means));
        }
        // No path has shown what the number does, so the paths show no error either.
        if (stands) row.standard_error = no_figure;
        // For twice the move the error of a central difference is four times as large, that of a difference
        // on one side twice.
        row.bias = std::abs(far - near) * (wide.is_central && narrow.is_central ? 4.0 / 3 : 2.0);
        return row;
    }

    // All volatilities together, all rates together: where numbers of a measure move in one unit.
    void add_totals_of_trades(results& to) const {
        std::vector<greek_row> out;
        for (std::size_t first = 0; first < to.greeks.size();) {
            std::size_t last = first;
            while (last < to.greeks.size() && to.greeks[last].trade == to.greeks[first].trade) ++last;
            const std::span of_trade = std::span(to.greeks).subspan(first, last - first);
            for (const greek_measure& m : greek_measures()) {
                std::vector<const greek_row*> all;
                for (const greek_row& r : of_trade)
                    if (r.measure == m.name) all.push_back(&r);
                for (const greek_row* r : all) out.push_back(*r);
                if (all.size() < 2 || !m.has_total) continue;
                if (auto total = report::sum_of(all, to.manifest)) {
                    total->key.clear();
                    out.push_back(*std::move(total));
                }
            }
            first = last;
        }
        to.greeks = std::move(out);
    }

    const engine_settings& settings_;
    cuda::backend& gpus_;
    const book& book_;
    const market& in_;
    const run_options& options_;
    method by_;
    settled run_;
    std::vector<asked_number> asked_;
    std::vector<markets::market_reads> reads_;          // by trade
    std::vector<std::vector<std::size_t>> numbers_of_;  // by trade: those that derivatives are found to
    std::vector<std::vector<double>> certain_;          // by trade that needs no path: the derivatives
    std::vector<bumped> bumps_;
    greeks::adjoint_store adjoints_;
};

}  // namespace

}  // namespace verbs

results engine::greeks(const book& trades, const market& in, const greek_options& wanted,
                       const run_options& options) const {
    results out = greeks_of_book(settings_, *gpus_, trades, in, wanted, options);
    verbs::add_answers(out, settings_, *gpus_, trades, in, options);
    return out;
}

results greeks_of_book(const engine_settings& settings, cuda::backend& gpus, const book& trades,
                       const market& in, const greek_options& wanted, const run_options& options,
                       const stages& by) {
    return verbs::greek_run(settings, gpus, trades, in, wanted, options).told(by);
}

}  // namespace tilewalk
