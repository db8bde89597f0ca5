// SPDX-License-Identifier: Apache-2.0
// Greeks: prices with the derivatives of paths where these are the derivatives of the price, and differences
// of prices where they are not.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "engine/config/wording.h"
#include "engine/decide/decided.h"
#include "engine/decide/followed.h"
#include "engine/decide/seeds.h"
#include "engine/exercise/training.h"
#include "engine/greeks/measures.h"
#include "engine/greeks/moved_markets.h"
#include "engine/greeks/ways_back.h"
#include "engine/report/greek_sums.h"
#include "engine/study/estimate.h"
#include "engine/threads/crew.h"
#include "engine/verbs/asked.h"
#include "engine/verbs/controls.h"
#include "engine/verbs/jumping_trade.h"
#include "engine/verbs/manifest.h"
#include "engine/verbs/moving_controls.h"
#include "engine/verbs/next_day.h"
#include "engine/verbs/parts_with_policies.h"
#include "engine/verbs/price.h"
#include "engine/verbs/progress_of_walks.h"
#include "engine/verbs/quotes_view.h"
#include "engine/verbs/read_parts.h"
#include "engine/verbs/request.h"
#include "engine/verbs/rights.h"
#include "engine/verbs/rounds.h"
#include "engine/verbs/second_order.h"
#include "tilewalk/engine.h"
#include "tilewalk/timings.h"

namespace tilewalk {

namespace verbs {

namespace {

using greeks::fits;
using greeks::moved_markets;
using greeks::risk_number;
using method = greek_method;

// All numbers of the market that are a risk, and what is wanted of them.
struct asked_greeks {
    std::vector<asked_number> numbers;
    std::vector<bool> is_wanted;  // by number: to it
    bool is_theta_wanted = false;
    std::vector<std::string> second_order;  // measures
};

asked_greeks greeks_asked(const greek_options& wanted, const market& in) {
    std::vector<std::string> measures;
    for (const greek_measure& m : greek_measures()) measures.emplace_back(m.name);
    std::vector<bool> is_used(wanted.wanted.size(), false);
    asked_greeks out;
    for (const greek_measure& m : greek_measures())
        if (m.order == 2 && std::ranges::find(wanted.wanted, m.name) != wanted.wanted.end())
            out.second_order.emplace_back(m.name);
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
    std::vector<std::string> known = measures;
    for (const markets::keyed_number& n : in.state().source->numbers()) {
        risk_number risk = greeks::risk_of(n);
        if (risk.measure.empty()) continue;
        known.push_back(n.key);
        out.is_wanted.push_back(is_wanted(n.key, risk.measure));
        out.numbers.push_back({&n, std::move(risk)});
    }
    known.emplace_back(key_of_day);
    out.is_theta_wanted = is_wanted(std::string(key_of_day), "theta");
    for (std::size_t i = 0; i < wanted.wanted.size(); ++i) {
        if (is_used[i]) continue;
        throw error(error_kind::usage,
                    "found " + config::shown(wanted.wanted[i]) + " among the Greeks, expected a measure (" +
                        language::joined(measures) + ") or a pattern that fits a key of the market" +
                        language::suggestion(wanted.wanted[i], known));
    }
    return out;
}

// The price, or, where somebody may end the trade early, what its policy is worth: differences are those of
// it.
double policy_value(const price_row& row) {
    return row.early ? row.early->policy_value : row.price;
}

// A trade's sensitivity to a number that no derivative of paths gives.
struct bumped {
    std::size_t trade, number;
    bool moves = false;  // it is known that the number moves a jump of the trade
};

// Markets about a number for a difference of prices, and nearer ones for its bias.
struct both_moves {
    moved_markets wide, narrow;
    bool are_there() const { return wide.are_there() && narrow.are_there(); }
};

// Plans in moved markets are made in parallel, and are in memory together.
constexpr std::size_t planned_at_once = 256;
// So are moves of the numbers of programs: enough for many threads to be done at about the same time.
constexpr std::size_t moved_at_once = 4096;

// A derivative in one market has its control move in a way that it has in no other, as far as pilots know. In
// differences of derivatives that counts for more than a control leaves that leaves more.
constexpr double least_gain_of_differences = 1000;

// Whether a payoff may have kinks: a function of its program has.
bool has_kinks(const program::path_program& code) {
    using program::operation;
    constexpr std::array kinked{operation::max, operation::min, operation::abs, operation::select};
    return std::ranges::any_of(code.sections, [&](const program::lane_section& s) {
        return std::ranges::any_of(s.nodes, [&](const program::node& n) {
            return std::ranges::find(kinked, n.code) != kinked.end();
        });
    });
}

class greek_run {
  public:
    greek_run(const resources& with, const book& trades, const market& in, const greek_options& wanted,
              const run_options& options, const std::optional<part_of_run>& part = {})
        : resources_(with),
          book_(trades),
          in_(in),
          wanted_(wanted),
          options_(options),
          by_(wanted.method),
          whole_(settle(options, trades.state(), {&in, 1})),
          part_(part),
          run_(part ? part_of(whole_, *part) : whole_),
          asked_(greeks_asked(wanted, in)),
          progress_(options, trades.size()),
          reads_(trades.size()),
          numbers_of_(trades.size()),
          has_kinks_(trades.size()),
          certain_(trades.size()),
          controls_(in, {run_, with.operations(), options.cancel, jumps_of(), &with.passed()},
                    options.work.get()),
          adjoints_(with.adjoints()) {}

    results told(stages by) {
        const timings::during finding(options_.times, stage::derivatives);
        const std::vector<books::trade>& trades = book_.state().trades;
        by.plan = {};
        by.reads = reads_;
        are_of_book_ = by.are_of_book;
        by.add_ways_back = [&, see = by.see_moves, widths = by.widths](planned_run& r) {
            add_ways_back(r, see, widths);
        };
        by.policies.keeps = true;
        held_ = by.held;
        by.part = part_;
        by.controls.jumps = jumps_of();
        by.controls.least_gain = least_gain_;
        by.controls.about = unmoved_;
        run_options first = progress_.heard();
        first.keep_policies = options_.keep_policies;
        priced_book priced = price_book(resources_, book_, in_, first, by);
        results out = std::move(priced.told);
        const run_options heard = progress_.heard();
        stages usual = usual_stages();
        usual.on_cpu = by.on_cpu;
        const decide::decided_by_trade own_policies = decide::without_policies(decided_);
        usual.held = &own_policies;
        usual.controls.jumps = jumps_of();
        find_by_other_treatments(out, priced.derivatives, heard, usual);
        std::vector<rows_by_number> rows(trades.size());
        threads::for_each(trades.size(), run_.threads, options_.cancel,
                          [&](int, std::uint64_t i) {
                              if (out.rows[i].status == trade_status::failed) return;
                              for (std::size_t k = 0; k < numbers_of_[i].size(); ++k)
                                  rows[i].emplace(numbers_of_[i][k],
                                                  row_of(out, i, k, priced.derivatives[i]));
                          },
                          {});
        add_refused(out, rows);
        add_bumped(out, rows);
        if (by.see_sensitivity)
            for (auto& of_trade : rows)
                for (auto& [n, row] : of_trade) by.see_sensitivity(row);
        std::vector<std::vector<greek_row>> by_trade(trades.size());
        for (std::size_t i = 0; i < trades.size(); ++i)
            for (auto& [n, row] : rows[i]) by_trade[i].push_back(std::move(row));
        const auto in_moved_market = [&](const book& some, const market& moved, std::vector<std::string> keys,
                                         double share, double widths) {
            const greek_options wanted{std::move(keys), wanted_.method};
            progress_.begin(static_cast<double>(some.size()));
            greek_run there(resources_, some, moved, wanted, heard, part_);
            there.move_as(*this, share, widths);
            // Another day has other dates.
            there.least_gain_ = least_gain_of_differences;
            stages in_it = usual;
            if (moved.state().as_of == in_.state().as_of) {
                in_it.held = &decided_;
                there.unmoved_ = &controls_;
            }
            return there.told(in_it);
        };
        if (asked_.is_theta_wanted) add_theta(by_trade, out, heard, usual);
        add_second_order(by_trade, asked_.second_order, out,
                         {book_, in_, asked_.numbers, reads_, in_moved_market});
        price_apart(out, heard);
        if (!is_part_of_another_) {
            stages in_parts = usual;
            in_parts.are_of_book = are_of_book_;
            in_parts.policies = by.policies;
            in_parts.see_moves = by.see_moves;
            in_parts.widths = by.widths;
            in_parts.see_sensitivity = by.see_sensitivity;
            take_from_parts(by_trade, out, in_parts);
        }
        if (!is_part_of_another_) tell_decisions(out);
        for (auto& of_trade : by_trade) report::add_with_totals(out, std::move(of_trade));
        progress_.end();
        return out;
    }

  private:
    // The stages of prices after the first walk.
    stages usual_stages() const {
        stages out;
        out.wants_bounds = false;
        out.part = part_;
        return out;
    }

    // Takes the sensitivities of trades with rights from parts of the run that follow policies of their own,
    // where parts are enough to tell an error.
    void take_from_parts(std::vector<std::vector<greek_row>>& rows, results& to, const stages& by) {
        // The paths of a share may pay nothing where others of the run do.
        const bool has_all = !options_.work || options_.work->has_all() || !options_.work->may_walk();
        const auto is_of_paths = [&](const greek_row& g) {
            return !g.has_failed() && (g.standard_error != 0 || !has_all) &&
                   g.part_means.size() >= least_parts;
        };
        // A policy file asks for the sensitivities of its own policies.
        const sources named(run_);
        std::vector<std::size_t> places;
        std::size_t parts_of_run = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            // A right that is used today waits for no policy.
            const auto& early = to.rows[i].early;
            if (!early || (early->policy_error == 0 && (has_all || early->policy_value != 0))) continue;
            if (named.known(to.rows[i].trade).policy) continue;
            for (const greek_row& g : rows[i])
                if (is_of_paths(g)) parts_of_run = g.part_means.size();
            if (std::ranges::any_of(rows[i], is_of_paths)) places.push_back(i);
        }
        if (places.empty()) return;
        // Paths that somebody else has drawn are not drawn again.
        const bool walks_all = !run_.replay.empty() || !in_.state().scenarios.empty();
        const cut_by_policies cut(parts_of_run);
        const book some = some_of(book_, places);
        found_by_parts found(cut);
        const auto walk = [&](std::size_t number, exercise::fitting fits) {
            part_of_run part{decide::seed_of_part(run_.seed, number), cut.each * to.manifest.part_paths,
                             training_paths_of_part(), fits};
            if (fits == exercise::fitting::by_half_the_degree) part.training_paths /= 2;
            if (walks_all) part.paths = run_.paths;
            run_options heard = progress_.heard();
            if (heard.work) {
                heard.work = std::make_shared<kept::work>(heard.work->of_part(number, cut.parts));
                if (!heard.work->walks_any_of(kernels::tiles_of(part.paths))) return;
            }
            progress_.begin(walks_of_part(some.size(), part));
            greek_run there(resources_, some, in_, wanted_, heard, part);
            there.move_as(*this, 1, 1);
            there.unmoved_ = &controls_;
            const results told = there.told(by);
            add_steps(to.manifest, told.manifest);
            found.add(told, number, fits);
        };
        for (std::size_t p = 0; p < cut.parts; ++p) {
            walk(p, exercise::fitting::less_martingale);
            if (cut_by_policies::is_also_coarse(p)) walk(p, exercise::fitting::by_half_the_degree);
        }
        for (const std::size_t i : places)
            for (greek_row& g : rows[i])
                if (is_of_paths(g)) found.fill(g, to.manifest, walks_all ? g.standard_error : 0);
    }
    // Fits less a martingale err so little that a quarter of the paths is enough. From an eighth, the rho of
    // a put on two assets was 0.3 % off, of which its bias told half.
    std::uint64_t training_paths_of_part() const {
        constexpr std::uint64_t least = 4096, share = 4;
        return std::min(run_.training_paths, std::max(run_.training_paths / share, least));
    }
    double walks_of_part(std::size_t trades, const part_of_run& part) const {
        return static_cast<double>(trades) * static_cast<double>(part.paths) /
               static_cast<double>(run_.paths);
    }

    jumps_of_controls jumps_of() const {
        const bool sees_none = by_ == method::pathwise || by_ == method::likelihood_ratio;
        return sees_none ? jumps_of_controls::none : jumps_of_controls::beside_those_of_payoffs;
    }
    std::vector<std::string> keys_of(std::size_t n) const { return {asked_.numbers[n].number->key}; }

    // Moves numbers as another run does, by a share of it, so that differences of the two runs are taken
    // over the same distances; and smooths jumps by so many times the widths that are decided on.
    void move_as(const greek_run& other, double share, double widths) {
        std::map<std::string_view, double> moves;
        for (const asked_number& n : other.asked_.numbers) moves[n.number->key] = n.risk.large;
        for (asked_number& n : asked_.numbers) n.risk.large = share * moves.at(n.number->key);
        states_bias_ = false;
        is_part_of_another_ = true;
        widths_ = widths;
    }

    // Finds for each trade the numbers that move it, and those among them that its paths give derivatives to.
    void add_ways_back(planned_run& r, const decltype(stages::see_moves)& see, double widths) {
        const std::vector<books::trade>& trades = book_.state().trades;
        decided_ = decided_in(r);
        for (planned& p : r.plans)
            if (p.rights && !is_part_of_another_) p.walks_by_parts = cut_by_policies::walks;
        for (std::size_t i = 0; i < trades.size() && unmoved_ == nullptr; ++i)
            if (r.plans[i].is_priced_apart) priced_apart_.emplace(i, r.plans[i].control);
        std::vector<std::vector<std::size_t>> read(trades.size());
        std::vector<bool> is_read(asked_.numbers.size(), false);
        for (std::size_t i = 0; i < trades.size(); ++i) {
            if (r.plans[i].failure) continue;
            for (std::size_t n = 0; n < asked_.numbers.size(); ++n) {
                if (!asked_.is_wanted[n] || !reads_part(reads_[i], asked_.numbers[n].number->of)) continue;
                read[i].push_back(n);
                is_read[n] = true;
            }
        }
        std::vector<std::optional<moved_markets>> about(asked_.numbers.size());
        threads::for_each(asked_.numbers.size(), run_.threads, options_.cancel,
                          [&](int, std::uint64_t n) {
                              if (is_read[n]) about[n].emplace(in_, keys_of(n), asked_.numbers[n].risk.small);
                          },
                          {});
        std::vector<std::pair<std::size_t, std::size_t>> pairs;  // of a trade and a number that it reads
        std::vector<std::size_t> begins;                         // by trade from `first` on: its first pair
        std::size_t first = 0;
        threads::crew crew(run_.threads);
        const auto find_ways_back = [&] {
            std::vector<std::unique_ptr<const plan::trade_numbers>> numbers(begins.size());
            crew.for_each(begins.size(), options_.cancel,
                          [&](int, std::uint64_t k) {
                              const std::size_t i = first + k;
                              if (r.plans[i].subtracts() != nullptr) add_control(r.plans[i], i, read[i]);
                              if (read[i].empty()) return;
                              numbers[k] = numbers_of(r.plans[i], i);
                          },
                          {});
            std::vector<std::optional<program::path_data>> moves(pairs.size());
            crew.for_each(pairs.size(), options_.cancel,
                          [&](int, std::uint64_t k) {
                              const auto [i, n] = pairs[k];
                              moves[k] = moves_of(numbers[i - first].get(), r.plans[i], i, *about[n], n);
                          },
                          {});
            std::vector<std::vector<bumped>> bumps(begins.size());
            crew.for_each(begins.size(), options_.cancel,
                          [&](int, std::uint64_t k) {
                              const std::size_t i = first + k;
                              const auto own = std::span(moves).subspan(begins[k], read[i].size());
                              if (see) {
                                  std::vector<std::string> keys;
                                  for (const std::size_t n : read[i])
                                      keys.push_back(asked_.numbers[n].number->key);
                                  see(keys, own);
                              }
                              add_way_back(r.plans[i], i, read[i], own, bumps[k]);
                          },
                          {});
            for (const auto& of_trade : bumps) bumps_.insert(bumps_.end(), of_trade.begin(), of_trade.end());
            first += begins.size();
            begins.clear();
            pairs.clear();
        };
        for (std::size_t i = 0; i < trades.size(); ++i) {
            begins.push_back(pairs.size());
            for (const std::size_t n : read[i]) pairs.emplace_back(i, n);
            if (pairs.size() >= moved_at_once) find_ways_back();
        }
        find_ways_back();
        const sources from(run_, nullptr, held_);
        for (auto& [i, trade] : jumping_) take_decided(i, trade, from);
        progress_.expect(walks_to_come());
        if (has_pilot()) {
            steps_of_pilot_ = choose_treatments(jumping_, run_, options_,
                                                [&](const auto& tries, double walks, run_options how) {
                                                    progress_.begin(walks);
                                                    how.on_progress = progress_.heard().on_progress;
                                                    return walk_with(tries, how);
                                                });
        }
        progress_.begin(static_cast<double>(trades.size()), true);
        std::vector<std::size_t> jumping;
        for (auto& [i, trade] : jumping_) {
            keep_jumps(i, trade);
            for (auto& c : trade.choices)
                if (c) c->by.width *= widths * widths_;
            jumping.push_back(i);
        }
        threads::for_each(jumping.size(), run_.threads, options_.cancel,
                          [&](int, std::uint64_t k) {
                              const jumping_trade& trade = jumping_.at(jumping[k]);
                              trade.add_derivatives(r.plans[jumping[k]], trade.first());
                          },
                          {});
    }

    const std::string& key_of(std::size_t i, std::size_t k) const {
        return asked_.numbers[numbers_of_[i][k]].number->key;
    }
    // A number about which nothing was decided takes a pilot for the trade.
    void take_decided(std::size_t i, jumping_trade& trade, const sources& from) {
        const std::shared_ptr<const decide::treated_jumps> jumps =
            from.known(book_.state().trades[i].id).jumps;
        if (!jumps) return;
        trade.control = jumps->control;
        trade.is_decided = true;
        for (std::size_t k = 0; k < trade.choices.size(); ++k) {
            if (!trade.choices[k]) continue;
            jumping_trade::choice& c = *trade.choices[k];
            const auto found = jumps->by.find(key_of(i, k));
            const bool fits = found != jumps->by.end() &&
                              (found->second.is_smoothing() ? c.can_be_smoothed : c.can_be_scored);
            if (fits) c.by = found->second;
            trade.is_decided = trade.is_decided && fits;
        }
    }
    void keep_jumps(std::size_t i, const jumping_trade& trade) {
        auto made = std::make_shared<decide::treated_jumps>();
        made->control = trade.control;
        for (std::size_t k = 0; k < trade.choices.size(); ++k)
            if (trade.choices[k]) made->by[key_of(i, k)] = trade.choices[k]->by;
        decided_[book_.state().trades[i].id].jumps = std::move(made);
    }

    void tell_decisions(results& to) const {
        std::map<std::size_t, decide::decided> of_derivatives;
        for (const auto& [i, control] : priced_apart_) of_derivatives[i].control_of_derivatives = control;
        for (const auto& [i, trade] : jumping_) of_derivatives[i].jumps = decided_.at(to.rows[i].trade).jumps;
        for (const auto& [i, of] : of_derivatives)
            if (price_row& row = to.rows[i]; row.status != trade_status::failed)
                row.decisions = decide::with_derivatives(row.decisions, of);
    }

    // Prices are those that `price` finds, whatever control their derivatives have.
    void price_apart(results& to, const run_options& heard) {
        std::vector<std::size_t> places;
        for (const auto& [i, control] : priced_apart_)
            if (to.rows[i].status != trade_status::failed) places.push_back(i);
        if (places.empty()) return;
        progress_.begin(static_cast<double>(places.size()));
        stages by;
        by.are_of_book = are_of_book_;
        // Shifts of a trade suit its control, and points suit both.
        decide::decided_by_trade policies;
        for (const auto& [trade, what] : decided_) policies[trade].policy = what.policy;
        by.held = run_.chooses_importance ? &policies : &decided_;
        priced_book priced = price_book(resources_, some_of(book_, places), in_, heard, by);
        add_steps(to.manifest, priced.told.manifest);
        for (std::size_t k = 0; k < places.size(); ++k) to.rows[places[k]] = std::move(priced.told.rows[k]);
    }

    void add_control(const planned& p, std::size_t i, const std::vector<std::size_t>& read) {
        const books::trade& t = book_.state().trades[i];
        controls_.add(t, p);
        if (read.empty()) return;
        try {
            std::vector<std::string> keys;
            for (const std::size_t n : read) keys.push_back(asked_.numbers[n].number->key);
            controls_.find_drifts(t.id, keys);
        } catch (const std::exception& e) {
            throw_if_cancelled(e);  // differences of prices say what is wrong
        }
    }

    // Null where no difference of the program's numbers says how the price moves.
    std::unique_ptr<const plan::trade_numbers> numbers_of(const planned& p, std::size_t i) const {
        if (by_ == method::bump) return nullptr;
        const ready_trade& of = p.as_recorded();
        plan::maker_of_deciders rights;
        if (p.rights) {
            // A right that is used today is no part of the program.
            if (of.certain || p.rights->used_today) return nullptr;
            rights = [policy = p.rights->policy] { return exercise::follower_of(*policy); };
        }
        std::optional<controls::subtracted> adds;
        if (p.subtracts() != nullptr) adds.emplace(*p.subtracts());
        return std::make_unique<const plan::trade_numbers>(
            book_.state().trades[i], in_.state(), *of.code, of.idle, run_.how.precision,
            poll_of(options_.cancel), std::move(rights), adds ? &*adds : nullptr);
    }
    // The numbers of a trade's program in a moved market, as it is recorded there with the control that it
    // then has.
    struct numbers_there {
        std::shared_ptr<const program::path_data> recorded{};  // null: it has another program
        double control_mean = 0;
    };
    numbers_there moved_numbers(const plan::trade_numbers& of, std::size_t i, const market& moved) const {
        const plan::poll often = poll_of(options_.cancel);
        const auto control = controls_.in(book_.state().trades[i].id, moved);
        if (!control) return {of.in(moved.state(), often)};
        controls::subtracted adds(*control);
        auto recorded = of.in(moved.state(), often, &adds);
        return {std::move(recorded), adds.mean()};
    }

    // Nothing where no difference of the program's numbers says how the price moves.
    std::optional<program::path_data> moves_of(const plan::trade_numbers* of, const planned& p, std::size_t i,
                                               const moved_markets& about, std::size_t n) const {
        if (!about.are_there()) return std::nullopt;
        const auto& here = in_.state();
        const auto& above = about.up->state();
        const auto& below = about.down->state();
        if (reads_[i].are_alike(here, above) && reads_[i].are_alike(here, below)) return program::path_data();
        // A number that is added to scenarios moves none of the program.
        if (of == nullptr || asked_.numbers[n].number->is_added) return std::nullopt;
        try {
            const numbers_there up = moved_numbers(*of, i, *about.up);
            const numbers_there down = moved_numbers(*of, i, *about.down);
            if (!up.recorded || !down.recorded) return std::nullopt;
            if (up.recorded == down.recorded) return program::path_data();
            if (!p.recorded) return greeks::moves_of_numbers(*up.recorded, *down.recorded, about.distance);
            return greeks::moves_of_numbers(p.as_walked(*up.recorded, up.control_mean),
                                            p.as_walked(*down.recorded, down.control_mean), about.distance);
        } catch (const std::exception& e) {
            throw_if_cancelled(e);  // a difference of prices says what is wrong
            return std::nullopt;
        }
    }

    void add_way_back(planned& p, std::size_t i, const std::vector<std::size_t>& read,
                      std::span<std::optional<program::path_data>> found, std::vector<bumped>& bumps) {
        if (p.failure) return;
        const ready_trade& ready = *p.ready;
        std::vector<program::path_data> moves;
        std::vector<std::optional<jumping_trade::choice>> choices;
        std::vector<program::wanted_numbers> along;  // by number of the market
        program::wanted_numbers wanted = program::no_number_of(*ready.code);
        for (std::size_t k = 0; k < read.size(); ++k) {
            const std::size_t n = read[k];
            std::optional<program::path_data>& move = found[k];
            if (!move) {
                bumps.push_back({i, n});
                continue;
            }
            program::wanted_numbers moved_by_it = program::no_number_of(*ready.code);
            if (!greeks::mark_moved(*move, moved_by_it, *ready.code)) continue;
            std::optional<jumping_trade::choice> choice;
            if (!ready.certain && by_ != method::pathwise) {
                const auto& jumps = adjoints_->jumps_of(ready.code, ready.data, ready.when);
                const auto moved = program::moved_by(*ready.code, jumps, moved_by_it);
                if (!moved.empty()) {
                    choice = choice_for(moved, ready, *move);
                    if (!choice) {
                        bumps.push_back({i, n, true});
                        continue;
                    }
                }
            }
            greeks::mark_moved(*move, wanted, *ready.code);
            numbers_of_[i].push_back(n);
            choices.push_back(choice);
            moves.push_back(*std::move(move));
            along.push_back(std::move(moved_by_it));
        }
        if (moves.empty()) return;
        has_kinks_[i] = has_kinks(*ready.code);
        if (ready.certain) {
            for (const auto& move : moves) certain_[i].push_back(move.initial_states[ready.code->outputs[0]]);
            return;
        }
        const auto can = [&](bool jumping_trade::choice::*is_so) {
            return std::ranges::any_of(choices, [&](const auto& c) { return c && (*c).*is_so; });
        };
        const bool any_smoothed = can(&jumping_trade::choice::can_be_smoothed),
                   any_scored = can(&jumping_trade::choice::can_be_scored);
        if (!any_smoothed && !any_scored) {
            const auto back = adjoints_->adjoint_of(ready.code, wanted);
            if (const auto forth = adjoints_->tangents_of(ready.code, along, back))
                p.with_tangents = std::make_shared<const ready_trade>(ready, forth, moves);
            else
                p.back = std::make_shared<const greeks::ready_way_back>(back, ready.data, moves);
            return;
        }
        jumping_trade made{.ready = p.ready, .smoothed = nullptr};
        made.takes_points = p.points.has_value() || run_.points.has_value();
        std::vector<program::jump> smoothed;
        if (any_smoothed) smoothed = adjoints_->smoothable_of(ready.code, ready.data, ready.when);
        made.smoothed = adjoints_->adjoint_of(ready.code, wanted, smoothed);
        made.smoothed_forth = adjoints_->tangents_of(ready.code, along, made.smoothed);
        made.usual = program::widths_for(*ready.code, ready.data, ready.when, smoothed, whole_.paths);
        if (any_scored) {
            const auto& scored = adjoints_->scored_of(ready.code, ready.data, ready.when);
            made.scored = adjoints_->scored_adjoint_of(ready.code, *scored, wanted);
            made.scored_data = program::data_of_scored(*scored, ready.data);
        }
        made.moves = std::move(moves);
        made.choices = std::move(choices);
        const std::lock_guard guard(lock_);
        jumping_.emplace(i, std::move(made));
    }

    // How the jumps that a number moves can be treated; none where that is in no way that is asked for.
    std::optional<jumping_trade::choice> choice_for(const std::vector<program::jump>& moved,
                                                    const ready_trade& ready,
                                                    const program::path_data& move) {
        if (by_ == method::bump) return std::nullopt;
        jumping_trade::choice out;
        const auto are_among = [&](const auto& is_one) { return std::ranges::all_of(moved, is_one); };
        if (by_ != method::likelihood_ratio) {
            const auto& can_be = adjoints_->smoothable_of(ready.code, ready.data, ready.when);
            out.can_be_smoothed = are_among(
                [&](const program::jump& j) { return std::ranges::find(can_be, j) != can_be.end(); });
        }
        // `auto` knows the error of a difference of prices, which it takes where jumps can't be smoothed.
        if (by_ == method::likelihood_ratio || (by_ == method::automatic && out.can_be_smoothed)) {
            const auto& scored = adjoints_->scored_of(ready.code, ready.data, ready.when);
            out.can_be_scored = scored && are_among([&](const program::jump& j) {
                                    return std::ranges::find(scored->jumps, j, &program::scored_jump::at) !=
                                           scored->jumps.end();
                                }) &&
                                program::stand_still_together(*scored, ready.data, ready.when, move);
        }
        if (!out.can_be_smoothed && !out.can_be_scored) return std::nullopt;
        if (out.can_be_smoothed) out.by = usual_smoothing;
        return out;
    }

    bool moves_jump(std::size_t i, std::size_t k) const {
        const auto found = jumping_.find(i);
        return found != jumping_.end() && found->second.choices[k].has_value();
    }

    // Walks some trades, each with its jumps treated in one way.
    priced_book walk_with(const std::vector<std::pair<std::size_t, treatment>>& treated,
                          const run_options& how, stages by = {}) const {
        std::vector<std::size_t> places;
        std::vector<std::shared_ptr<const ready_trade>> ready;
        for (const auto& [i, as] : treated) {
            places.push_back(i);
            ready.push_back(jumping_.at(i).ready);
        }
        by.ready = ready;
        by.held = &decided_;
        by.add_ways_back = [&](planned_run& r) {
            threads::for_each(treated.size(), run_.threads, options_.cancel,
                              [&](int, std::uint64_t t) {
                                  const auto& [i, as] = treated[t];
                                  if (!r.plans[t].failure) jumping_.at(i).add_derivatives(r.plans[t], as);
                              },
                              {});
        };
        return price_book(resources_, some_of(book_, places), in_, how, by);
    }

    // Paths of a file have no others for a pilot.
    bool has_pilot() const { return states_bias_ && run_.replay.empty() && !jumping_.empty(); }

    // Trades that all walks walk together, as far as can be told when the first walk begins: derivatives have
    // two widths of smoothing, differences of prices four markets and those of derivatives four.
    double walks_to_come() const {
        const auto count = [&](std::string_view measure) {
            return static_cast<double>(std::ranges::count_if(
                asked_.numbers, [&](const asked_number& n) { return n.risk.measure == measure; }));
        };
        double of_book = 1 + (asked_.is_theta_wanted ? 1 : 0);
        bool moves_spots = false;
        for (const std::string& m : asked_.second_order) {
            if (m == "volga")
                of_book += 4 * (count("vega") + 1);
            else if (m == "charm")
                of_book += 2;
            else
                moves_spots = true;
        }
        if (moves_spots) of_book += 4 * count("delta");
        return of_book * static_cast<double>(book_.size()) +
               (has_pilot() ? walks_of_pilot(jumping_, run_) : 0) +
               static_cast<double>(2 * jumping_.size() + (states_bias_ ? 4 : 2) * bumps_.size());
    }

    // Finds what the first walk did not: it treated the jumps of a trade in one way.
    void find_by_other_treatments(results& to, const std::vector<std::vector<std::vector<double>>>& first,
                                  const run_options& heard, const stages& usual) {
        to.manifest.path_steps += steps_of_pilot_;
        std::vector<std::pair<std::size_t, treatment>> others;
        for (auto& [i, trade] : jumping_) {
            if (to.rows[i].status == trade_status::failed) continue;
            trade.found[trade.first()] = {first[i], to.rows[i].walk};
            for (const treatment& by : trade.needed(states_bias_))
                if (!trade.found.contains(by)) others.emplace_back(i, by);
        }
        if (others.empty()) return;
        progress_.begin(static_cast<double>(others.size()));
        priced_book priced = walk_with(others, heard, usual);
        add_steps(to.manifest, priced.told.manifest);
        for (std::size_t t = 0; t < others.size(); ++t)
            if (const price_row& row = priced.told.rows[t]; row.status != trade_status::failed)
                jumping_.at(others[t].first).found[others[t].second] = {std::move(priced.derivatives[t]),
                                                                        row.walk};
    }

    greek_row treated_row(const results& of, std::size_t i, std::size_t k) const {
        const std::size_t n = numbers_of_[i][k];
        const jumping_trade& trade = jumping_.at(i);
        const treatment by = trade.choices[k]->by;
        greek_row row = row_for(of, i, n, by.is_smoothing() ? "smoothed" : "likelihood_ratio");
        const auto found_by = [&](treatment t) {
            const auto found = trade.found.find(t);
            return found == trade.found.end() ? nullptr : &found->second;
        };
        const bool has_bias = states_bias_ && by.is_smoothing();
        const auto* const as_chosen = found_by(by);
        const auto* const wider = has_bias ? found_by({2 * by.width}) : nullptr;
        if (as_chosen == nullptr || (has_bias && wider == nullptr)) {
            row.message = "its paths could not be walked again with its jumps treated in another way";
            row.kind = error_kind::numeric;
            return row;
        }
        const std::vector<double>& means = as_chosen->means[k];
        const studies::run_parts parts(of.manifest);
        fill(row, of, i, n, {means, parts});
        row.walk = as_chosen->walk;
        if (row.has_failed()) return row;
        // No path has come near the jump, so the paths show no error either.
        if (std::ranges::all_of(means, [&](double m) { return m == means.front(); }))
            row.standard_error = no_figure;
        if (!has_bias) return row;
        greek_row wide = row;
        fill(wide, of, i, n, {wider->means[k], parts});
        row.bias = bias_of_smoothing(row.value, wide.value);
        return row;
    }

    greek_row row_of(const results& of, std::size_t i, std::size_t k,
                     std::vector<std::vector<double>>& derivatives) const {
        const std::size_t n = numbers_of_[i][k];
        if (!certain_[i].empty()) return certain_row(of, i, n, certain_[i][k]);
        return moves_jump(i, k) ? treated_row(of, i, k) : pathwise_row(of, i, n, derivatives[k]);
    }

    using rows_by_number = std::map<std::size_t, greek_row>;
    using row_map = std::vector<rows_by_number>;  // by trade

    // A method that is asked for by name is not replaced by another.
    void add_refused(const results& to, row_map& rows) {
        if (by_ != method::smoothed && by_ != method::likelihood_ratio) return;
        const bool is_smoothing = by_ == method::smoothed;
        for (const bumped& b : bumps_) {
            if (to.rows[b.trade].status == trade_status::failed) continue;
            greek_row row = row_for(to, b.trade, b.number, is_smoothing ? "smoothed" : "likelihood_ratio");
            row.message =
                is_smoothing
                    ? "it has no derivative that smoothing finds; expected the method auto or bump"
                    : "it moves a jump, or the paths, in a way that no normal number of a step makes up "
                      "for; expected the method auto, smoothed or bump";
            row.kind = error_kind::input;
            rows[b.trade].emplace(b.number, std::move(row));
        }
        bumps_.clear();
    }

    greek_row row_for(const results& of, std::size_t i, std::size_t n, const char* by) const {
        const asked_number& asked = asked_.numbers[n];
        greek_row row;
        row.trade = of.rows[i].trade;
        row.measure = asked.risk.measure;
        row.key = asked.number->key;
        row.unit = of.rows[i].currency + " per " + asked.risk.per_words;
        row.method = by;
        return row;
    }

    // From the derivative of one unit.
    void fill(greek_row& row, const results& of, std::size_t i, std::size_t n,
              studies::estimate of_unit) const {
        const double scale = of.rows[i].quantity * asked_.numbers[n].risk.per;
        of_unit *= scale;
        set_value(row, std::move(of_unit), of.manifest);
        const price_row& priced = of.rows[i];
        const auto decided = decided_.find(priced.trade);
        const bool is_integrated = decided != decided_.end() && decided->second.integrates.value_or(false);
        const bool may_be_rounding = is_integrated || controls_.here(priced.trade) != nullptr;
        if (!may_be_rounding || !(row.standard_error >= 0)) return;
        constexpr double of_a_number = 0x1p-51;  // a difference of two
        const double size = std::abs(priced.price) + std::abs(controls_.mean_here(priced.trade));
        const double rounding = of_a_number * size / asked_.numbers[n].risk.small * std::abs(scale);
        row.standard_error =
            std::max({row.standard_error, rounding, least_share_of_error * std::abs(row.value)});
    }

    greek_row pathwise_row(const results& of, std::size_t i, std::size_t n,
                           std::vector<double>& means) const {
        greek_row row = row_for(of, i, n, "pathwise");
        fill(row, of, i, n, {std::move(means), studies::run_parts(of.manifest)});
        row.walk = of.rows[i].walk;
        // The derivative of a payoff with a kink jumps, and moves by whole paths: as the price of one that
        // jumps, it errs by one path at least, which is as much as the paths that carry the price have each.
        // The rest that a control leaves of the payoff carries another variance, and has kinks of both near
        // each other, or, of an exact one, none.
        const auto control = controls_.here(of.rows[i].trade);
        const double hits = control == nullptr
                                ? of.rows[i].effective_hits
                                : control->share_of_hits * static_cast<double>(of.manifest.paths);
        const bool has_kinks_left = has_kinks_[i] && !(control != nullptr && control->leaves_rounding());
        if (of.rows[i].randomisations > 0 && row.standard_error >= 0 && has_kinks_left && hits > 0)
            row.standard_error = std::hypot(row.standard_error, row.value / hits);
        return row;
    }

    greek_row certain_row(const results& of, std::size_t i, std::size_t n, double derivative) const {
        greek_row row = row_for(of, i, n, "pathwise");
        row.value = of.rows[i].quantity * asked_.numbers[n].risk.per * derivative;
        row.standard_error = 0;
        return row;
    }

    void add_bumped(results& to, row_map& rows) {
        // At a jump they move further.
        std::map<std::pair<std::size_t, bool>, std::vector<bumped>> by_number;
        for (const bumped& b : bumps_)
            if (to.rows[b.trade].status != trade_status::failed) by_number[{b.number, b.moves}].push_back(b);
        // Numbers that are bumped for the same trades are bumped together, so that planning has many plans
        // to make at a time.
        std::map<std::vector<std::size_t>, std::vector<const std::vector<bumped>*>> by_trades;
        for (const auto& [n, of_number] : by_number) {
            std::vector<std::size_t> places;
            for (const bumped& b : of_number) places.push_back(b.trade);
            by_trades[places].push_back(&of_number);
        }
        for (const auto& [places, all] : by_trades) {
            const book some = some_of(book_, places);
            const std::size_t at_once = std::max(planned_at_once / (4 * places.size()), std::size_t{1});
            for (std::size_t first = 0; first < all.size(); first += at_once)
                add_bumped(to, rows, some,
                           std::span(all).subspan(first, std::min(at_once, all.size() - first)));
        }
    }

    // Adds the rows of numbers that are bumped for the same trades, which are `some`.
    void add_bumped(results& to, row_map& rows, const book& some,
                    std::span<const std::vector<bumped>* const> of_numbers) {
        std::vector<std::optional<both_moves>> moves(of_numbers.size());
        threads::for_each(of_numbers.size(), run_.threads, options_.cancel,
                          [&](int, std::uint64_t k) {
                              const std::size_t n = of_numbers[k]->front().number;
                              const risk_number& risk = asked_.numbers[n].risk;
                              const double by =
                                  risk.large * (of_numbers[k]->front().moves ? risk.at_jumps : 1);
                              moves[k] = both_moves{moved_markets(in_, keys_of(n), by),
                                                    moved_markets(in_, keys_of(n), by / 2)};
                          },
                          {});
        std::vector<market> in;
        for (const auto& m : moves) {
            if (!m->are_there()) continue;
            in.insert(in.end(), {*m->wide.up, *m->wide.down});
            if (states_bias_) in.insert(in.end(), {*m->narrow.up, *m->narrow.down});
        }
        progress_.begin(static_cast<double>(in.size() * some.size()));
        std::vector<priced_book> priced;
        stages by = usual_stages();
        by.controls.about = &controls_;
        by.held = &decided_;
        if (!in.empty()) priced = price_book(resources_, some, in, progress_.heard(), by);
        for (const priced_book& p : priced) add_steps(to.manifest, p.told.manifest);
        auto first = priced.begin();
        for (std::size_t k = 0; k < of_numbers.size(); ++k) {
            const std::vector<bumped>& trades = *of_numbers[k];
            const std::size_t n = trades.front().number;
            if (!moves[k]->are_there()) {
                for (const bumped& b : trades) {
                    greek_row& row = rows[b.trade].emplace(n, row_for(to, b.trade, n, "bump")).first->second;
                    row.message = "no market has another " + row.key + " beside the others";
                    row.kind = error_kind::input;
                }
                continue;
            }
            const auto end = first + (states_bias_ ? 4 : 2);
            for (std::size_t t = 0; t < trades.size(); ++t) {
                std::vector<const price_row*> at;
                for (auto p = first; p != end; ++p) at.push_back(&p->told.rows[t]);
                if (auto row = bumped_row(to, trades[t], at, moves[k]->wide, moves[k]->narrow))
                    rows[trades[t].trade].emplace(n, *std::move(row));
            }
            first = end;
        }
    }

    // The control that a trade has today and on the day after. Two days have two controls, whose difference
    // counts for more than a control leaves that leaves more: null where it does.
    std::shared_ptr<const controls::control> control_of_days(const std::string& trade) const {
        constexpr double least_gain = 100;
        const std::shared_ptr<const controls::control> here = controls_.here(trade);
        return here != nullptr && here->fewer_paths >= least_gain ? here : nullptr;
    }
    // It has one today.
    bool is_without_on_two_days(const std::string& trade) const {
        return controls_.here(trade) != nullptr && control_of_days(trade) == nullptr;
    }
    // By trade, those at these places that have controls today, but none in a difference of two days, as
    // `by` holds.
    std::map<std::string, price_row> prices_without_controls(results& to,
                                                             const std::vector<std::size_t>& places,
                                                             const run_options& heard, const stages& by) {
        std::vector<std::size_t> without;
        for (const std::size_t i : places) {
            if (is_without_on_two_days(to.rows[i].trade)) without.push_back(i);
        }
        std::map<std::string, price_row> out;
        if (without.empty()) return out;
        progress_.begin(static_cast<double>(without.size()));
        results priced = std::move(price_book(resources_, some_of(book_, without), in_, heard, by).told);
        add_steps(to.manifest, priced.manifest);
        for (price_row& row : priced.rows) out.emplace(row.trade, std::move(row));
        return out;
    }

    void add_theta(std::vector<std::vector<greek_row>>& rows, results& to, const run_options& heard,
                   const stages& usual) {
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < to.rows.size(); ++i)
            if (to.rows[i].status != trade_status::failed) places.push_back(i);
        if (places.empty()) return;
        const next_day tomorrow(in_);
        std::optional<results> later;
        std::map<std::string, price_row> plain;
        if (tomorrow.in()) {
            const book trades = tomorrow.of(some_of(book_, places));
            progress_.begin(static_cast<double>(trades.size()));
            // Points that suit what a control leaves are not those of a trade without one.
            decide::decided_by_trade decided = *usual.held;
            for (const std::size_t i : places) {
                const std::string& id = to.rows[i].trade;
                decide::decided& of = decided[id];
                of.control_of_another_day = control_of_days(id);
                if (of.control_of_another_day == nullptr) of.control = nullptr;
                if (is_without_on_two_days(id)) of.points.reset();
            }
            stages by = usual;
            by.held = &decided;
            later = std::move(price_book(resources_, trades, *tomorrow.in(), heard, by).told);
            add_steps(to.manifest, later->manifest);
            // Policies are of a day.
            for (auto& [trade, of] : decided)
                if (const auto today = decided_.find(trade); today != decided_.end())
                    of.policy = today->second.policy;
            plain = prices_without_controls(to, places, heard, by);
        }
        for (std::size_t t = 0; t < places.size(); ++t) {
            const auto without = plain.find(to.rows[places[t]].trade);
            const price_row& now = without == plain.end() ? to.rows[places[t]] : without->second;
            greek_row& row = rows[places[t]].emplace_back();
            row.trade = now.trade;
            row.measure = "theta";
            row.key = key_of_day;
            row.unit = now.currency + " per 1 day";
            row.method = "bump";
            if (!later || later->rows[t].status == trade_status::failed) {
                row.message =
                    later ? "a day later it can't be priced: " + later->rows[t].message : tomorrow.why_not();
                row.kind = later ? later->rows[t].kind : error_kind::input;
                continue;
            }
            const price_row& then = later->rows[t];
            const studies::run_parts parts(to.manifest);
            set_value(row, now.quantity * (studies::estimate(then, parts) - studies::estimate(now, parts)),
                      to.manifest);
            if (row.part_means.empty()) continue;
            row.walk = report::walk_of_all(std::vector{&now, &then});
        }
    }

    // Prices are those in the markets above and below, far and, for the bias, near. None where the number
    // moves nothing.
    std::optional<greek_row> bumped_row(const results& of, const bumped& which,
                                        const std::vector<const price_row*>& at, const moved_markets& wide,
                                        const moved_markets& narrow) const {
        const std::size_t i = which.trade, n = which.number;
        greek_row row = row_for(of, i, n, "bump");
        for (const price_row* p : at) {
            if (p->status == trade_status::priced) continue;
            row.message = "where " + row.key + " has moved, it can't be priced: " + p->message;
            row.kind = p->kind;
            return row;
        }
        const bool stands =
            std::ranges::all_of(at, [&](const price_row* p) { return p->price == policy_value(of.rows[i]); });
        if (stands && !which.moves) return std::nullopt;
        const double scale = of.rows[i].quantity * asked_.numbers[n].risk.per;
        const double far = scale * (at[0]->price - at[1]->price) / wide.distance;
        const double near = states_bias_ ? scale * (at[2]->price - at[3]->price) / narrow.distance : far;
        if (at[0]->part_means.empty()) {
            row.value = near;
            row.standard_error = 0;
        } else {
            const studies::run_parts parts(of.manifest);
            studies::estimate change = studies::estimate(*at[0], parts) - studies::estimate(*at[1], parts);
            change /= wide.distance;
            change.beside = 0;  // `fill` states what a control leaves
            fill(row, of, i, n, std::move(change));
            row.walk = report::walk_of_all(at);
        }
        // No path has shown what the number does, so the paths show no error either.
        if (stands) row.standard_error = no_figure;
        // For twice the move the error of a central difference is four times as large, that of a difference
        // on one side twice.
        row.bias = std::abs(far - near) * (wide.is_central && narrow.is_central ? 4.0 / 3 : 2.0);
        return row;
    }

    const resources& resources_;
    const book& book_;
    const market& in_;
    const greek_options& wanted_;
    const run_options& options_;
    method by_;
    settled whole_;
    std::optional<part_of_run> part_;
    settled run_;  // that part of the whole
    asked_greeks asked_;
    progress_of_walks progress_;
    bool are_of_book_ = false, is_part_of_another_ = false;
    bool states_bias_ = true;                           // of differences of prices, and of smoothing
    double widths_ = 1;                                 // of smoothing, by those of the run it is for
    std::vector<markets::market_reads> reads_;          // by trade
    std::vector<std::vector<std::size_t>> numbers_of_;  // by trade: those that derivatives are found to
    std::vector<char> has_kinks_;                       // by trade; threads write their own
    std::vector<std::vector<double>> certain_;          // by trade that needs no path: the derivatives
    std::mutex lock_;
    std::map<std::size_t, jumping_trade> jumping_;  // by trade
    std::uint64_t steps_of_pilot_ = 0;
    // By trade whose price has another control: that of its derivatives.
    std::map<std::size_t, std::shared_ptr<const controls::control>> priced_apart_;
    std::vector<bumped> bumps_;
    // Moved markets of the same day follow the policies of this one: rights are used in each as is best in
    // this one, which changes no value to the first order.
    decide::decided_by_trade decided_;
    const decide::decided_by_trade* held_ = nullptr;  // by the run that this is a part of
    mutable moving_controls controls_;                // of this market's trades
    moving_controls* unmoved_ = nullptr;              // of the market that this one is moved from
    double least_gain_ = 0;                           // of controls
    const std::shared_ptr<greeks::adjoint_store> adjoints_;
};

}  // namespace

results greeks_as_asked(const resources& with, const book& trades, const market& in,
                        const greek_options& wanted, const run_options& options, bool are_of_book) {
    const study of = study_of(wanted);
    const asked_of_study asked =
        asked_of(are_of_book && of == study::greeks ? study::greeks_in_session : of, trades, options);
    const with_journal kept(asked.trades, {&in, 1}, {.greeks = &wanted}, asked.options);
    const auto find = [&](const book& some, const run_options& how, stages by) {
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

}  // namespace verbs

results engine::greeks(const book& trades, const market& in, const greek_options& wanted,
                       const run_options& options) const {
    return verbs::greeks_as_asked(verbs::resources(settings_, *gpus_), trades, in, wanted, options);
}

results greeks_of_book(const verbs::resources& with, const book& trades, const market& in,
                       const greek_options& wanted, const run_options& options, const stages& by) {
    return verbs::greek_run(with, trades, in, wanted, options).told(by);
}

}  // namespace tilewalk
