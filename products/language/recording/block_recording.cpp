// SPDX-License-Identifier: Apache-2.0
#include "products/language/recording/block_recording.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "products/language/recording/payments.h"

namespace tilewalk::language::recording {

namespace {

class block_recording {
  public:
    block_recording(const block_at_hand& at, const state_slots& slots)
        : at_(at),
          made_(at_),
          checks_(at_, made_),
          variables_(at_, slots, made_),
          days_(at_, made_),
          market_(at_, made_),
          expressions_(at_, made_, checks_, variables_, days_, market_),
          payments_(at_, made_, days_, market_, expressions_) {}
    block_recording(const block_recording&) = delete;
    block_recording& operator=(const block_recording&) = delete;

    frame play(const statements& body, bool is_played = true) {
        frame f = variables_.at_first();
        f.is_played = is_played;
        run(body, f);
        return f;
    }

    void record(const statements& body, value alive) {
        frame f = play(body);
        if (made_.is_in_parts()) {
            variables_.keep_until_the_interval_ends(f);
            if (!f.flaws.empty()) f.flaws = checks_.only(variables_.interval_ends(), f.flaws);
        }
        write(f, alive);
    }

    // Records a right. Its use pays what its body pays and ends the trade, unless it can be used again.
    // Rights on past dates count as not used.
    void record_right(const block_syntax& of, value alive, decider* by) {
        const bool is_past = at_.market->is_past();
        if (is_past && at_.runs.front().years < -dates::same_time_years) return;
        if (is_past && at_.of->notice >= dates::same_time_years) return;
        frame f = play(of.body, by != nullptr);
        if (by == nullptr || !f.paid.valid() || !f.going.valid()) return;
        const value offered = both(alive, is(f.going, false) ? made_.truth(true) : !f.going);
        if (is(offered, false)) return;
        frame out = variables_.at_first();
        out.flaws = f.flaws;
        const bool goes_on = at_.of->at_most > 0;
        if (is_past) {
            const double before = goes_on ? 0 : at_.into.read(variables_.value_state()).constant();
            const right_today today{*of.right_of, before + f.paid.constant(), at_.of->at_most,
                                    at_.of->at_least};
            if (by->uses_today(today) && goes_on)
                write_used(made_.truth(true), true, f.paid, alive, std::move(out));
            return;
        }
        right_at_hand right = at_hand(number_of_block(), alive, *by);
        right.gives = f.paid;
        right.offered = offered;
        write_used(both(offered, by->uses(right, at_.into)), goes_on, f.paid, alive, std::move(out));
    }

    // Records a decision on a notice date. The right's payment is not known yet; the payment if it were used
    // now is its best indicator.
    void record_notice(const block_syntax& of, value alive, decider* by) {
        if (by == nullptr || at_.market->is_past()) return;
        const frame f = play(of.body, false);
        right_at_hand right = at_hand(*at_.of->notice_of, alive, *by);
        right.gives = f.paid.valid() ? number_or_0(f.paid) : made_.number(0);
        right.offered = alive;
        by->gives_notice(right, at_.into);
    }

  private:
    std::size_t number_of_block() const {
        return static_cast<std::size_t>(at_.of - at_.script.blocks().data());
    }

    right_at_hand at_hand(std::size_t block, value alive, decider& by) {
        const std::string& own = at_.script.trade_currency();
        const language::block& of = at_.script.blocks()[block];
        right_at_hand out;
        out.block = block;
        out.of = *of.right_of;
        out.runs = at_.runs;
        out.unit = at_.market->has_random_rates(own) ? at_.market->discount_on_path(own, interval_end::end)
                                                     : made_.row("discount", [&](const occurrence& run) {
                                                           return at_.market->discount(own, run.years);
                                                       });
        out.alive = alive;
        out.value_state = variables_.value_state();
        out.at_most = of.at_most;
        out.at_least = of.at_least;
        out.notice = of.notice;
        out.compared = expressions_.compared();
        out.are_beside_states = at_.script.tree().states_word.has_value();
        const features_ahead here(*at_.market, by, out);
        std::vector<named_feature> features;
        for (const expression& e : at_.script.tree().features)
            features.push_back(feature(e, out.are_beside_states));
        out.features = std::move(features);
        return out;
    }

    // For its lifetime, the decider chooses the numbers by which the market prices later dates.
    class features_ahead final : public numbers_ahead {
      public:
        features_ahead(world& market, decider& by, const right_at_hand& right)
            : market_(market), by_(by), right_(right) {
            market_.look_ahead_by(this);
        }
        ~features_ahead() override { market_.look_ahead_by(nullptr); }
        features_ahead(const features_ahead&) = delete;
        features_ahead& operator=(const features_ahead&) = delete;
        std::vector<double> used(std::vector<double> in_the_market) override {
            return by_.looks_ahead(right_, before_++, std::move(in_the_market));
        }

      private:
        world& market_;
        decider& by_;
        const right_at_hand& right_;
        std::size_t before_ = 0;
    };

    named_feature feature(const expression& e, bool may_be_unknown) {
        try {
            frame now = variables_.at_first();
            now.is_played = false;
            return {number_or_0(expressions_.evaluate(e, now))};
        } catch (const not_known_ahead& why) {
            if (!may_be_unknown) throw;
            return {{}, why.message()};
        }
    }

    // Replaces a number that is not defined yet by 0, such as a mean before its first day.
    value number_or_0(value v) {
        constexpr double most = 1e37;  // finite in single precision too
        return program::select(made_.number(-most) < v && v < made_.number(most), v, made_.number(0));
    }

    // Pays for the right on paths where `used` is true, and ends the trade there unless `goes_on`.
    void write_used(value used, bool goes_on, value paid, value alive, frame out) {
        if (!is(used, false)) {
            out.paid = program::select(used, paid, made_.number(0));
            if (!goes_on) out.going = !used;
        }
        write(out, alive);
    }

    void write(frame& f, value alive) {
        checks_.write(f, alive);
        variables_.write(f, alive);
    }

    void run(const statements& list, frame& f) {
        for (const statement& s : list) {
            if (is(f.going, false)) return;
            std::visit([&](const auto& does) { step(s.where, does, f); }, s.does);
        }
    }

    void step(place, const assignment& a, frame& f) {
        const std::size_t element = a.element ? expressions_.element_at(*a.element) : 0;
        f.variables[a.variable][element] = expressions_.number(a.to, f);
    }

    void step(place, const branch& b, frame& f) { run_arms(b, 0, f); }

    void run_arms(const branch& b, std::size_t from, frame& f) {
        if (from == b.arms.size()) return run(b.otherwise, f);
        const branch::arm& arm = b.arms[from];
        const value condition = expressions_.evaluate(arm.condition, f);
        if (is(condition, true)) return run(arm.body, f);
        if (is(condition, false)) return run_arms(b, from + 1, f);
        made_.spend(arm.condition.where, variables_.elements() + 1);
        const flaws before = f.flaws;
        frame other = f;
        run(arm.body, f);
        run_arms(b, from + 1, other);
        variables_.join(condition, f, other);
        checks_.join(condition, before, f.flaws, other.flaws);
    }

    void step(place where, const loop& l, frame& f) {
        expressions_.for_each_asset(l.list, [&] {
            made_.spend(where, 1);
            run(l.body, f);
        });
    }

    void step(place where, const payment& p, frame& f) { payments_.pay(where, p, f); }

    void step(place where, const settlement& s, frame& f) {
        payments_.pay(where, s.gives, f);
        f.going = made_.truth(false);
    }

    void step(place, const stop&, frame& f) { f.going = made_.truth(false); }

    // The user has to correct the trade and not the script, so the message gives no place in the script.
    void step(place, const refusal& r, frame&) {
        throw error(error_kind::input, "the terms of the trade are refused: " + r.reason);
    }

    block_at_hand at_;
    values made_;
    checks checks_;
    frames variables_;
    block_dates days_;
    market_at_hand market_;
    expressions expressions_;
    payments payments_;
};

}  // namespace

frame play_top(const argued_script& script, const state_slots& slots, program::recorder& into) {
    return block_recording({script, into}, slots).play(script.tree().top);
}

void record_block(const argued_script& script, const state_slots& slots, std::size_t number,
                  std::span<const occurrence> runs, world& market, program::recorder& into, decider* by,
                  const ranges* known, checked_operations* checked) {
    const syntax& tree = script.tree();
    value alive;
    if (tree.stops) {
        alive = into.read(slots.alive);
        if (is(alive, false)) return;  // the script has stopped
    }
    const block_at_hand at{script, into,   &script.blocks()[number], script.offset_of(number), runs, &market,
                           known,  checked};
    block_recording recording(at, slots);
    if (at.of->notice_of) return recording.record_notice(tree.blocks[*at.of->notice_of], alive, by);
    const block_syntax& of = tree.blocks[number];
    if (of.right_of) {
        recording.record_right(of, alive, by);
    } else {
        recording.record(of.body, alive);
    }
}

}  // namespace tilewalk::language::recording
