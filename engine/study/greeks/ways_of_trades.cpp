// SPDX-License-Identifier: Apache-2.0
#include "engine/study/greeks/greek_stages.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "engine/decide/exercise/training.h"
#include "engine/plan/moved_markets.h"
#include "engine/study/read_parts.h"

namespace tilewalk::studies {

namespace {

// Limit on moved numbers in memory together: enough for all threads to end at about the same time.
constexpr std::size_t moved_at_once = 4096;

// How programs' numbers move with the market's, as differences. Trades are places in the book.
class moves_of_trades {
  public:
    // `plans`, and `reads`, the parts of the market that they have read, must outlive this.
    moves_of_trades(greek_run& run, const std::vector<planned>& plans,
                    std::span<const markets::market_reads> reads)
        : run_(run), plans_(plans), reads_(reads), read_(plans.size()), about_(run.asked.numbers.size()) {
        const auto& numbers = run.asked.numbers;
        std::vector<bool> is_read(numbers.size(), false);
        for (std::size_t i = 0; i < plans.size(); ++i) {
            if (plans[i].failure) continue;
            for (std::size_t n = 0; n < numbers.size(); ++n) {
                if (!run.asked.is_wanted[n] || !reads_part(reads[i], numbers[n].number->of)) continue;
                read_[i].push_back(n);
                is_read[n] = true;
            }
        }
        run.each(numbers.size(), [&](std::size_t n) {
            if (is_read[n]) about_[n].emplace(run.in, std::vector{run.asked.key(n)}, numbers[n].risk.small);
        });
    }

    // Returns the wanted numbers in parts of the market that the trade's plan has read.
    const std::vector<std::size_t>& read(std::size_t trade) const { return read_[trade]; }
    void find_drifts(std::size_t trade) const {
        if (plans_[trade].subtracts() == nullptr) return;
        const books::trade& t = run_.trade(trade);
        run_.controls.add(t, plans_[trade]);
        if (read_[trade].empty()) return;
        try {
            run_.controls.find_drifts(t.id, run_.asked.keys(read_[trade]));
        } catch (const std::exception& e) {
            throw_if_cancelled(e);  // bumped prices will report the error
        }
    }

    // Returns the trade's numbers for moved markets; null if only differences of prices show how the price
    // moves.
    std::unique_ptr<const plan::trade_numbers> numbers(std::size_t trade) const {
        if (read_[trade].empty() || run_.asked.by == greek_method::bump) return nullptr;
        const planned& p = plans_[trade];
        const ready_trade& of = p.as_recorded();
        plan::maker_of_deciders rights;
        if (p.rights) {
            // A right that is used today is not in the program, whose numbers then say too little.
            if (of.certain || p.rights->used_today) return nullptr;
            rights = [policy = p.rights->policy] { return exercise::follower_of(*policy); };
        }
        std::optional<controls::subtracted> adds;
        if (p.subtracts() != nullptr) adds.emplace(*p.subtracts());
        return std::make_unique<const plan::trade_numbers>(
            run_.trade(trade), state_of(run_.in), *of.code, of.idle, run_.run.how.precision,
            poll_of(run_.options.cancel), std::move(rights), adds ? &*adds : nullptr);
    }

    // Returns how the program moves with the number read(trade)[k]; empty if its price must be bumped. `of`
    // is numbers(trade).
    std::optional<program::path_data> moves(const plan::trade_numbers* of, std::size_t trade,
                                            std::size_t k) const {
        const std::size_t n = read_[trade][k];
        const greeks::moved_markets& about = *about_[n];
        if (!about.are_there()) return std::nullopt;
        const auto is_alike = [&](const market& moved) {
            return reads_[trade].are_alike(state_of(run_.in), state_of(moved));
        };
        if (is_alike(*about.up) && is_alike(*about.down)) return program::path_data();
        // A shift of a row of scenarios changes paths, not numbers of the program.
        if (of == nullptr || run_.asked.numbers[n].number->is_added) return std::nullopt;
        // Numbers, null if the market makes another program; and the control's mean.
        using recorded = std::pair<std::shared_ptr<const program::path_data>, double>;
        const auto in = [&](const market& moved) -> recorded {
            const plan::poll often = poll_of(run_.options.cancel);
            const auto control = run_.controls.in(run_.trade(trade).id, moved);
            if (!control) return {of->in(state_of(moved), often), 0};
            controls::subtracted adds(*control);
            auto numbers = of->in(state_of(moved), often, &adds);
            return {std::move(numbers), adds.mean()};
        };
        try {
            const auto [up, mean_up] = in(*about.up);
            const auto [down, mean_down] = in(*about.down);
            if (!up || !down) return std::nullopt;
            if (up == down) return program::path_data();
            const planned& p = plans_[trade];
            if (!p.recorded) return greeks::moves_of_numbers(*up, *down, about.distance);
            return greeks::moves_of_numbers(p.as_walked(*up, mean_up), p.as_walked(*down, mean_down),
                                            about.distance);
        } catch (const std::exception& e) {
            throw_if_cancelled(e);  // bumped prices will report the error
            return std::nullopt;
        }
    }

  private:
    greek_run& run_;
    const std::vector<planned>& plans_;
    std::span<const markets::market_reads> reads_;
    std::vector<std::vector<std::size_t>> read_;               // by trade: numbers of the market
    std::vector<std::optional<greeks::moved_markets>> about_;  // by number; empty if no trade reads it
};

bool has_kinks(const program::path_program& code) {
    using program::operation;
    constexpr std::array kinked{operation::max, operation::min, operation::abs, operation::select};
    for (const program::lane_section& s : code.sections)
        for (const program::node& n : s.nodes)
            if (std::ranges::find(kinked, n.code) != kinked.end()) return true;
    return false;
}

using choice = jumping_trade::choice;

// Returns the treatments possible for these jumps; empty if the method asked for is none of them.
std::optional<choice> choice_for(const greek_run& run, const ready_trade& ready,
                                 const std::vector<program::jump>& moved, const program::path_data& move) {
    const greek_method by = run.asked.by;
    if (by == greek_method::bump) return std::nullopt;
    choice out;
    const auto are_among = [&](const auto& all, const auto place) {
        return std::ranges::all_of(moved, [&](const program::jump& j) {
            return std::ranges::find(all, j, place) != std::ranges::end(all);
        });
    };
    if (by != greek_method::likelihood_ratio)
        out.can_be_smoothed =
            are_among(run.adjoints->smoothable_of(ready.code, ready.data, ready.when), std::identity{});
    // The method auto bumps prices, with a known error, if jumps can't be smoothed.
    if (by == greek_method::likelihood_ratio || (by == greek_method::automatic && out.can_be_smoothed)) {
        const auto& scored = run.adjoints->scored_of(ready.code, ready.data, ready.when);
        out.can_be_scored = scored && are_among(scored->jumps, &program::scored_jump::at) &&
                            program::stand_still_together(*scored, ready.data, ready.when, move);
    }
    if (!out.can_be_smoothed && !out.can_be_scored) return std::nullopt;
    if (out.can_be_smoothed) out.by = usual_smoothing;
    return out;
}

struct derivatives_of_paths {
    std::vector<program::path_data> moves{};
    std::vector<std::optional<choice>> choices{};
    std::vector<program::wanted_numbers> along{};
    program::wanted_numbers wanted;  // the program's numbers that move
};

// Splits numbers into those with derivatives of paths, which are returned, and to.bumps, which take
// differences of prices. Numbers that move nothing are in neither.
derivatives_of_paths derivatives_for(const greek_run& run, const ready_trade& ready,
                                     const std::vector<std::size_t>& read,
                                     std::span<std::optional<program::path_data>> moves, way_of_trade& to) {
    derivatives_of_paths out{.wanted = program::no_number_of(*ready.code)};
    for (std::size_t k = 0; k < read.size(); ++k) {
        if (!moves[k]) {
            to.bumps.emplace_back(read[k], false);
            continue;
        }
        program::wanted_numbers moved_by_it = program::no_number_of(*ready.code);
        if (!greeks::mark_moved(*moves[k], moved_by_it, *ready.code)) continue;
        std::optional<choice> chosen;
        if (!ready.certain && run.asked.by != greek_method::pathwise) {
            const auto& jumps = run.adjoints->jumps_of(ready.code, ready.data, ready.when);
            const auto moved = program::moved_by(*ready.code, jumps, moved_by_it);
            if (!moved.empty()) {
                chosen = choice_for(run, ready, moved, *moves[k]);
                if (!chosen) {
                    to.bumps.emplace_back(read[k], true);
                    continue;
                }
            }
        }
        greeks::mark_moved(*moves[k], out.wanted, *ready.code);
        to.numbers.push_back(read[k]);
        out.choices.push_back(chosen);
        out.moves.push_back(*std::move(moves[k]));
        out.along.push_back(std::move(moved_by_it));
    }
    return out;
}

jumping_trade jumping_with(const greek_run& run, const planned& p, const std::vector<std::size_t>& numbers,
                           derivatives_of_paths of) {
    const ready_trade& ready = *p.ready;
    greeks::adjoint_store& adjoints = *run.adjoints;
    jumping_trade made{.ready = p.ready, .smoothed = nullptr};
    made.choices = std::move(of.choices);
    made.keys = run.asked.keys(numbers);
    made.takes_points = p.points.has_value() || run.run.points.has_value();
    std::vector<program::jump> smoothed;
    if (made.any_can(&choice::can_be_smoothed))
        smoothed = adjoints.smoothable_of(ready.code, ready.data, ready.when);
    made.smoothed = adjoints.adjoint_of(ready.code, of.wanted, smoothed);
    made.smoothed_forth = adjoints.tangents_of(ready.code, of.along, made.smoothed);
    made.usual = program::widths_for(*ready.code, ready.data, ready.when, smoothed, run.whole.paths);
    if (made.any_can(&choice::can_be_scored)) {
        const auto& scored = adjoints.scored_of(ready.code, ready.data, ready.when);
        made.scored = adjoints.scored_adjoint_of(ready.code, *scored, of.wanted);
        made.scored_data = program::data_of_scored(*scored, ready.data);
    }
    made.moves = std::move(of.moves);
    return made;
}

way_of_trade add_way_back(const greek_run& run, planned& p, const std::vector<std::size_t>& read,
                          std::span<std::optional<program::path_data>> moves) {
    way_of_trade out;
    if (p.failure) return out;
    const ready_trade& ready = *p.ready;
    derivatives_of_paths of = derivatives_for(run, ready, read, moves, out);
    if (of.moves.empty()) return out;
    out.has_kinks = has_kinks(*ready.code);
    if (ready.certain) {
        for (const auto& move : of.moves) out.certain.push_back(move.initial_states[ready.code->outputs[0]]);
    } else if (std::ranges::any_of(of.choices, [](const auto& c) { return c.has_value(); })) {
        out.jumping = jumping_with(run, p, out.numbers, std::move(of));
    } else {
        const auto back = run.adjoints->adjoint_of(ready.code, of.wanted);
        if (const auto forth = run.adjoints->tangents_of(ready.code, of.along, back))
            p.with_tangents = std::make_shared<const ready_trade>(ready, forth, of.moves);
        else
            p.back = std::make_shared<const greeks::ready_way_back>(back, ready.data, of.moves);
    }
    return out;
}

}  // namespace

std::vector<way_of_trade> add_ways_back(greek_run& run, planned_run& to, const stages& by) {
    const moves_of_trades of(run, to.plans, by.reads);
    std::vector<way_of_trade> out(to.plans.size());
    threads::crew crew(run.run.threads);
    const auto each = [&](std::size_t count, const auto& task) {
        crew.for_each(count, run.options.cancel, [&](int, std::uint64_t k) { task(k); }, {});
    };
    for (std::size_t first = 0, end = 0; first < out.size(); first = end) {
        std::vector<std::pair<std::size_t, std::size_t>> pairs;  // a trade and a number that it reads
        std::vector<std::vector<std::optional<program::path_data>>> moves;  // by trade
        for (; end < out.size() && pairs.size() < moved_at_once; ++end) {
            moves.emplace_back(of.read(end).size());
            for (std::size_t k = 0; k < of.read(end).size(); ++k) pairs.emplace_back(end, k);
        }
        std::vector<std::unique_ptr<const plan::trade_numbers>> numbers(moves.size());
        each(numbers.size(), [&](std::size_t t) {
            of.find_drifts(first + t);
            numbers[t] = of.numbers(first + t);
        });
        each(pairs.size(), [&](std::size_t p) {
            const auto [i, k] = pairs[p];
            moves[i - first][k] = of.moves(numbers[i - first].get(), i, k);
        });
        each(moves.size(), [&](std::size_t t) {
            const std::vector<std::size_t>& read = of.read(first + t);
            if (by.see_moves) by.see_moves(run.asked.keys(read), moves[t]);
            out[first + t] = add_way_back(run, to.plans[first + t], read, moves[t]);
        });
    }
    return out;
}

}  // namespace tilewalk::studies
