// SPDX-License-Identifier: Apache-2.0
#include "products/language/payoff.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <locale>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

#include "products/language/argued_script.h"
#include "products/language/bridge.h"
#include "products/language/checker.h"
#include "products/language/touch.h"
#include "products/program/row_names.h"

namespace tilewalk::language {

using program::operation;
using program::recorder;
using program::value;

namespace {

// Loops unroll, and loops in loops multiply; this many values in one block are enough for any product.
constexpr std::size_t most_values = std::size_t{1} << 20U;

// Where the recorder keeps the states of a script.
struct state_slots {
    std::uint32_t value = 0, alive = 0;
    std::vector<std::vector<std::uint32_t>> variables;  // by variable and element
};

// The values that names have at one point of a block.
struct frame {
    std::vector<std::vector<value>> variables;  // by variable and element; not valid: as the block began
    value paid;                                 // in this block so far; not valid: nothing
    value going;                                // a truth: not stopped in this block; not valid: surely going
};

// One date, or one for each run of a block.
struct moments {
    bool each_run = false;
    std::vector<dates::time_point> times;
};

// Walks the tree of a block, or of the statements above the blocks, and leaves values in the recorder.
class recording {
  public:
    recording(const argued_script& of, const state_slots& slots, recorder& into)
        : of_(of), tree_(of.tree()), slots_(slots), into_(into) {
        start_.resize(tree_.variables.size());
        for (std::size_t i = 0; i < tree_.variables.size(); ++i) {
            start_[i].resize(of.elements(tree_.variables[i]));
            elements_ += start_[i].size();
        }
    }

    // For the statements above all blocks there is no world and nothing was declared.
    frame play_top() {
        frame f{start_, {}, {}};
        run(tree_.top, f);
        return f;
    }

    void play_block(std::size_t number, std::span<const occurrence> runs, world& market) {
        runs_ = runs;
        world_ = &market;
        block_ = &of_.blocks()[number];
        offset_ = of_.offset_of(number);
        const bool stops = tree_.stops;
        value alive;
        if (stops) {
            alive = into_.read(slots_.alive);
            if (is(alive, false)) return;  // over before: nothing is looked at any more
        }
        is_in_parts_ =
            std::any_of(runs.begin(), runs.end(), [](const occurrence& run) { return !run.closes(); });
        frame f{start_, {}, {}};
        run(tree_.blocks[number].body, f);
        if (is_in_parts_) keep_until_the_interval_ends(f);

        for (std::size_t v = 0; v < f.variables.size(); ++v) {
            if (!tree_.variables[v].is_state) continue;
            for (std::size_t e = 0; e < f.variables[v].size(); ++e) {
                if (f.variables[v][e].valid()) into_.write(slots_.variables[v][e], f.variables[v][e]);
            }
        }
        if (f.paid.valid()) {
            const value paid = stops ? program::select(alive, f.paid, number_of(0)) : f.paid;
            into_.write(slots_.value, into_.read(slots_.value) + paid);
        }
        if (f.going.valid()) into_.write(slots_.alive, both(alive, f.going));
    }

  private:
    struct loop_at {
        std::size_t element = 0;
        const std::string* asset = nullptr;
    };

    [[noreturn]] void fail(place where, const std::string& message) const { of_.fail(where, message); }

    void spend(place where, std::size_t values) {
        values_ += values;
        if (values_ > most_values) {
            fail(where, "the block unrolls to more than " + std::to_string(most_values) +
                            " values; its loops are too deep");
        }
    }

    // An interval in parts: what the statements did counts in the last of them alone.
    void keep_until_the_interval_ends(frame& f) {
        const value closes = flag("closes", [](const occurrence& run) { return run.closes(); });
        for (std::size_t v = 0; v < f.variables.size(); ++v) {
            if (!tree_.variables[v].is_state) continue;
            for (std::size_t e = 0; e < f.variables[v].size(); ++e) {
                value& now = f.variables[v][e];
                if (now.valid()) now = program::select(closes, now, at_start(v, e));
            }
        }
        if (f.paid.valid()) f.paid = program::select(closes, f.paid, number_of(0));
        if (f.going.valid()) f.going = either(!closes, f.going);
    }

    template <class F>
    value flag(const std::string& name, const F& is_set) {
        return 0.5 < row(name, [&](const occurrence& run) { return is_set(run) ? 1.0 : 0.0; });
    }

    // A number of the whole interval, from those of its parts: the first part's, then what `with` makes of
    // the number so far and the next part's.
    template <class F>
    value over_parts(const std::string& name, value of_part, const F& with) {
        if (!is_in_parts_) return of_part;
        const std::uint32_t kept = into_.state(name, 0.0);
        const value so_far = into_.read(kept);
        const value opens = flag("opens", [](const occurrence& run) { return run.opens(); });
        const value all = program::select(opens, of_part, with(so_far));
        into_.write(kept, all);
        return all;
    }

    static bool is(value v, bool yes) { return v.valid() && v.is_constant() && (v.constant() != 0) == yes; }

    // The same number, name or operation on the same values is the same value all through a block. So a
    // sample that is asked for twice in the same words is one sample.
    value number_of(double number) {
        value& known = numbers_[std::bit_cast<std::uint64_t>(number)];
        if (!known.valid()) known = into_.constant(number);
        return known;
    }
    value apply(operation code, value a, value b = {}) {
        value& known = applied_[{code, a.index(), b.index()}];
        if (!known.valid()) known = into_.apply(code, a, b);
        return known;
    }
    template <class F>
    value once(const std::string& name, const F& make) {
        value& known = named_[name];
        if (!known.valid()) known = make();
        return known;
    }
    value term(const std::string& name, double number) {
        return once(name, [&] { return into_.term(name, number); });
    }
    template <class F>
    value row(const std::string& name, const F& number_at) {
        return once(name, [&] {
            std::vector<double> numbers;
            numbers.reserve(runs_.size());
            for (const occurrence& run : runs_) numbers.push_back(number_at(run));
            return into_.row(name, numbers);
        });
    }
    value spot(const std::string& asset) {
        return once("spot " + asset, [&] { return world_->spot(asset); });
    }
    value fx(const std::string& currency) {
        return once("fx " + currency, [&] { return world_->fx(currency); });
    }

    // Truths whose one side is decided need no operation.
    static value both(value a, value b) {
        if (is(a, true) || is(b, false)) return b;
        if (is(b, true) || is(a, false)) return a;
        return a && b;
    }
    static value either(value a, value b) {
        if (is(a, false) || is(b, true)) return b;
        if (is(b, false) || is(a, true)) return a;
        return a || b;
    }

    // Statements.
    void run(const statements& list, frame& f) {
        for (const statement& s : list) {
            if (is(f.going, false)) return;
            std::visit([&](const auto& does) { step(s.where, does, f); }, s.does);
        }
    }

    void step(place, const assignment& a, frame& f) {
        const std::size_t element = a.element ? loops_[a.element->slot].element : 0;
        f.variables[a.variable][element] = evaluate(a.to, f);
    }

    void step(place, const branch& b, frame& f) { run_arms(b, 0, f); }

    void run_arms(const branch& b, std::size_t from, frame& f) {
        if (from == b.arms.size()) return run(b.otherwise, f);
        const value condition = evaluate(b.arms[from].condition, f);
        if (is(condition, true)) return run(b.arms[from].body, f);
        if (is(condition, false)) return run_arms(b, from + 1, f);
        spend(b.arms[from].condition.where, elements_ + 1);
        frame other = f;
        run(b.arms[from].body, f);
        run_arms(b, from + 1, other);
        join(condition, f, other);
    }

    // Leaves in `yes` what holds after both ways.
    void join(value condition, frame& yes, const frame& no) {
        for (std::size_t v = 0; v < yes.variables.size(); ++v) {
            for (std::size_t e = 0; e < yes.variables[v].size(); ++e) {
                value& a = yes.variables[v][e];
                value b = no.variables[v][e];
                if (!a.valid() && !b.valid()) continue;
                if (tree_.variables[v].is_state) {
                    if (!a.valid()) a = at_start(v, e);
                    if (!b.valid()) b = at_start(v, e);
                }
                // A local that only one way sets is read on that way only.
                if (!a.valid()) a = b;
                if (b.valid()) a = program::select(condition, a, b);
            }
        }
        if (yes.paid.valid() || no.paid.valid()) {
            const value a = yes.paid.valid() ? yes.paid : number_of(0),
                        b = no.paid.valid() ? no.paid : number_of(0);
            yes.paid = program::select(condition, a, b);
        }
        if (yes.going.valid() || no.going.valid()) {
            const value a = yes.going.valid() ? yes.going : into_.truth(true);
            const value b = no.going.valid() ? no.going : into_.truth(true);
            if (is(a, false)) {
                yes.going = both(!condition, b);
            } else if (is(b, false)) {
                yes.going = both(condition, a);
            } else {
                yes.going = program::select(condition, a, b);
            }
        }
    }

    void step(place where, const loop& l, frame& f) {
        const auto& names = of_.list_of(l.list);
        loops_.emplace_back();
        for (std::size_t i = 0; i < names.size(); ++i) {
            spend(where, 1);
            loops_.back() = {i, &names[i]};
            run(l.body, f);
        }
        loops_.pop_back();
    }

    void step(place, const stop&, frame& f) { f.going = into_.truth(false); }

    // It is the trade that is to be corrected, so no place in the script is given.
    void step(place, const refusal& r, frame&) {
        throw error(error_kind::input, "the terms of the trade are refused: " + r.reason);
    }

    // Payments.
    void step(place where, const payment& p, frame& f) {
        const std::string& currency = p.in ? of_.currency_of(*p.in) : of_.trade_currency();
        const std::string in = currency == of_.trade_currency() ? "" : " in " + p.in->text;
        const std::vector<double> when = payment_years(p, where);
        // In the past a block runs once. Payments before as_of are gone; what was observed before as_of in
        // another currency and is still to be paid is worth today's exchange rate.
        const bool past = world_->is_past();
        if (past && when[0] < -dates::same_time_years) return;
        const bool fixed_before = past && runs_.front().years < -dates::same_time_years;

        value paid = evaluate(p.amount, f);
        if (p.at && !past) {
            paid = paid * discount_inside(*p.at, currency, in, f);
        } else if (!past && is_random(currency)) {
            paid = paid * world_->discount_on_path(of_.trade_currency(), interval_end::end);
            if (p.on) paid = paid * bond(currency, when, written(*p.on));
        } else if (!in.empty() && fixed_before) {
            paid = paid * number_of(discount(currency, when[0]) * world_->fx_today(currency));
        } else {
            paid = paid * discount_of(p, when, currency, in);
        }
        if (!in.empty() && !fixed_before) paid = paid * fx(currency);
        if (f.going.valid()) paid = program::select(f.going, paid, number_of(0));
        f.paid = f.paid.valid() ? f.paid + paid : paid;
    }

    // When each run pays; `at` a time inside the interval counts as its end.
    std::vector<double> payment_years(const payment& p, place where) {
        std::vector<double> when;
        when.reserve(runs_.size());
        const moments on = p.on ? moments_of(*p.on) : moments{};
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            if (!p.on) {
                when.push_back(runs_[i].years);
                continue;
            }
            const dates::time_point& day = on.times[on.each_run ? i : 0];
            when.push_back(day.years(of_.as_of()));
            if (when[i] < runs_[i].years - dates::same_time_years) {
                fail(where, "a payment on " + written(*p.on) + " (" + to_string(day) +
                                ") comes before the date that decides it (" + to_string(label_of(runs_[i])) +
                                ")");
            }
        }
        return when;
    }

    // Whether what a payment in this currency is worth today is known along the path only.
    bool is_random(const std::string& currency) const {
        return world_->has_random_rates(currency) || world_->has_random_rates(of_.trade_currency());
    }

    double discount(const std::string& currency, double years) const {
        return years < -dates::same_time_years ? 0.0 : world_->discount(currency, std::max(years, 0.0));
    }

    // What one unit of `currency` paid then is worth today in the trade's currency, but for the exchange rate
    // at hand.
    value discount_of(const payment& p, const std::vector<double>& when, const std::string& currency,
                      const std::string& in) {
        const std::string& own = of_.trade_currency();
        const std::string name = p.on ? "discount " + written(*p.on) + in : "discount";
        if (in.empty() && p.on && !moments_of(*p.on).each_run) return term(name, discount(own, when[0]));
        return row(name, [&](const occurrence& run) {
            const double paid = when[static_cast<std::size_t>(&run - runs_.data())];
            if (in.empty() || !p.on) return discount(own, paid);
            const double now = std::max(run.years, 0.0);
            return world_->discount(own, now) * discount(currency, paid) / world_->discount(currency, now);
        });
    }

    // A time inside the interval: the discount factor is log-linear between the ends. In another currency the
    // payment waits in that currency until the end of the interval, where the exchange rate is known.
    value discount_inside(const expression& at, const std::string& currency, const std::string& in,
                          frame& f) {
        const value start = row("begins", [](const occurrence& run) { return run.begins; });
        const value length = step();
        const auto discount_at = [&](const std::string& name, interval_end end) {
            const bool at_start = end == interval_end::start;
            if (is_random(currency)) {
                const value there = world_->discount_on_path(currency, end);
                return at_start ? over_parts(name + in, there, [](value first) { return first; }) : there;
            }
            return row(name + in, [&](const occurrence& run) {
                return world_->discount(currency, at_start ? run.begins : run.ends);
            });
        };
        const value log_start = program::log(discount_at("discount start", interval_end::start));
        const value log_end = program::log(discount_at("discount end", interval_end::end));
        const value forward = (log_start - log_end) / length;
        const value time = evaluate(at, f);
        const value factor = program::exp(log_start - forward * (time - start));
        if (in.empty()) return factor;
        if (is_random(currency)) {
            return factor * (world_->discount_on_path(of_.trade_currency(), interval_end::end) /
                             world_->discount_on_path(currency, interval_end::end));
        }
        return factor * row("discount ratio" + in, [&](const occurrence& run) {
                   return world_->discount(of_.trade_currency(), run.years) /
                          world_->discount(currency, run.years);
               });
    }

    // Dates.
    std::size_t place_in_schedule(const occurrence& run) const {
        return static_cast<std::size_t>(run.index - 1 + offset_);
    }
    dates::time_point label_of(const occurrence& run) const {
        if (run.index < 1) return {run.ends};
        return block_->labels[static_cast<std::size_t>(run.index - 1)];
    }

    moments moments_of(const expression& e) const {
        const auto each = [&](const auto& of_run) {
            moments m{true, {}};
            for (const occurrence& run : runs_) m.times.push_back(of_run(run));
            return m;
        };
        if (e.means == meaning::today) return each([&](const occurrence& run) { return label_of(run); });
        if (e.means == meaning::previous)
            return each([&](const occurrence& run) { return previous(e, run); });
        if (e.means == meaning::next) return each([&](const occurrence& run) { return next(e, run); });
        if (e.means == meaning::parameter && e.is == form::name && !of_.parameter_of(e.slot).per.empty()) {
            const argument& given = of_.argument_of(e.slot);
            return each([&](const occurrence& run) {
                if (const auto* times = std::get_if<std::vector<dates::time_point>>(&given)) {
                    return (*times)[place_in_schedule(run)];
                }
                return of_.get<dates::time_point>(e.slot);
            });
        }
        return {false, {of_.date_of(e)}};
    }

    dates::time_point previous(const expression& e, const occurrence& run) const {
        if (block_->continuous) return {run.begins};
        const dates::schedule& schedule = of_.schedule_of(e.list);
        const std::size_t at = place_in_schedule(run);
        if (at > 0) return schedule.times[at - 1];
        if (schedule.anchor) return *schedule.anchor;
        if (std::holds_alternative<double>(schedule.times.front().when)) return {0.0};
        fail(e.where, "'previous' of the first date of '" + of_.parameter_of(e.list).name +
                          "': a list of dates does not say when its first period starts; write the schedule "
                          "with start, "
                          "end and every");
    }

    // After the last date nothing comes: its period has no length.
    dates::time_point next(const expression& e, const occurrence& run) const {
        const std::vector<dates::time_point>& times = of_.schedule_of(e.list).times;
        return times[std::min(place_in_schedule(run) + 1, times.size() - 1)];
    }

    value years_of(const expression& e) {
        const moments m = moments_of(e);
        const std::string name = "years " + written(e);
        if (!m.each_run) return term(name, m.times[0].years(of_.as_of()));
        return row(name, [&](const occurrence& run) {
            return m.times[static_cast<std::size_t>(&run - runs_.data())].years(of_.as_of());
        });
    }

    // A date to come, for each run.
    std::vector<double> years_ahead(const expression& day, place where, const std::string& what) {
        const moments until = moments_of(day);
        std::vector<double> years;
        years.reserve(runs_.size());
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            const dates::time_point& at = until.times[until.each_run ? i : 0];
            years.push_back(at.years(of_.as_of()));
            if (years[i] < runs_[i].years - dates::same_time_years) {
                fail(where, what + " for " + written(day) + " (" + to_string(at) +
                                ") is asked for after that day, on " + to_string(label_of(runs_[i])));
            }
        }
        return years;
    }

    value forward(const expression& e) {
        const auto years = years_ahead(e.operands[1], e.where, "the forward price");
        const std::string &asset = asset_of(e.operands[0]), named = written(e.operands[1]);
        return once("forward " + asset + " " + named, [&] { return world_->forward(asset, years, named); });
    }

    value option_value(const expression& e, frame& f) {
        const auto years = years_ahead(e.operands[2], e.where, "the value of an option");
        const value strike = evaluate(e.operands[1], f);
        return world_->option_value(e.calls == function::call_value, asset_of(e.operands[0]), strike, years,
                                    written(e.operands[2]));
    }

    // Interest rates.
    value bond(const std::string& currency, std::span<const double> years, const std::string& named) {
        return once("bond " + currency + " " + named, [&] { return world_->bond(currency, years, named); });
    }

    // Until this day, in the currency that comes first.
    value bond(const expression& e, const expression& day) {
        return bond(of_.currency_of(e.operands[0]), years_ahead(day, day.where, "'" + e.text + "'"),
                    written(day));
    }

    value forward_rate(const expression& e) {
        const value from = bond(e, e.operands[1]), to = bond(e, e.operands[2]);
        const value length = year_fraction(e.operands[1], e.operands[2], day_count_of(e, 3));
        return (from / to - 1.0) / length;
    }

    // The schedule of an annuity or a swap rate, its dates numbered from 0.
    const dates::schedule& payments_of(const expression& e) const {
        const dates::schedule& schedule = of_.schedule_of(e.operands[2].slot);
        if (schedule.times.empty()) fail(e.where, "'" + e.text + "' of a schedule without dates");
        return schedule;
    }

    value bond_of_schedule(const expression& e, std::size_t number) {
        const dates::time_point& day = payments_of(e).times[number];
        const std::string named = written(e.operands[2]) + "[" + std::to_string(number) + "]";
        const std::vector<double> years(runs_.size(), day.years(of_.as_of()));
        for (const occurrence& run : runs_) {
            if (years[0] < run.years - dates::same_time_years) {
                fail(e.where, "'" + e.text + "' counts the payment on " + to_string(day) + ", date " +
                                  std::to_string(number + 1) + " of '" + written(e.operands[2]) +
                                  "', which on " + to_string(label_of(run)) +
                                  " has passed; expected a schedule of dates to come");
            }
        }
        return bond(of_.currency_of(e.operands[0]), years, named);
    }

    value annuity(const expression& e) {
        const auto& times = payments_of(e).times;
        const moments start = moments_of(e.operands[1]);
        const std::string convention = day_count_of(e, 3);
        const dates::day_count count = *dates::parse_day_count(convention);
        const std::string name = convention + " of " + written(e.operands[2]);
        const auto first = [&](std::size_t run) {
            const dates::time_point& from = start.times[start.each_run ? run : 0];
            if (!(from.years(of_.as_of()) < times[0].years(of_.as_of()))) {
                fail(e.where, "'" + e.text + "' begins at " + written(e.operands[1]) + " (" +
                                  to_string(from) + "), expected before its first payment on " +
                                  to_string(times[0]));
            }
            return dates::year_fraction(from, times[0], count, of_.as_of());
        };
        const std::string from_start = name + "[0] from " + written(e.operands[1]);
        const value first_length =
            !start.each_run ? term(from_start, first(0)) : row(from_start, [&](const occurrence& run) {
                return first(static_cast<std::size_t>(&run - runs_.data()));
            });
        value sum = first_length * bond_of_schedule(e, 0);
        for (std::size_t i = 1; i < times.size(); ++i) {
            spend(e.where, 3);
            const value length = term(name + "[" + std::to_string(i) + "]",
                                      dates::year_fraction(times[i - 1], times[i], count, of_.as_of()));
            sum = sum + length * bond_of_schedule(e, i);
        }
        return sum;
    }

    // The par rate of a swap that starts on the date at hand and pays at even distances from there.
    value constant_maturity_rate(const expression& e) {
        const auto fixed = [&](std::size_t i) {
            const expression& number = e.operands[i];
            return number.is == form::number ? number.number : of_.get<double>(number.slot);
        };
        const double years = fixed(1), a_year = fixed(2), payments = years * a_year;
        const double whole = std::floor(payments + 0.5);
        if (!(a_year > 0 && a_year <= 366 && whole >= 1 && whole <= 100'000 &&
              std::abs(payments - whole) < 1e-9 * whole)) {
            fail(e.where, "'" + e.text + "' is asked for " + shown(years) + " years with " + shown(a_year) +
                              " payments a year; expected a whole number of payments, at least one");
        }
        const std::string& currency = of_.currency_of(e.operands[0]);
        value sum, ahead;
        for (double k = 1; k <= whole; ++k) {
            spend(e.where, 2);
            std::vector<double> until;
            until.reserve(runs_.size());
            for (const occurrence& run : runs_) until.push_back(run.years + k / a_year);
            ahead = bond(currency, until, shown(k) + " / " + shown(a_year) + " years ahead");
            sum = sum.valid() ? sum + ahead : ahead;
        }
        return (1.0 - ahead) * number_of(a_year) / sum;
    }

    static std::string shown(double number) {
        std::ostringstream text;
        text.imbue(std::locale::classic());
        text << number;
        return text.str();
    }

    // That of argument `i`, in quotes or a choice of the trade.
    std::string day_count_of(const expression& e, std::size_t i) const {
        if (e.operands.size() <= i) return "act_365f";
        const expression& given = e.operands[i];
        return given.is == form::text ? given.text : of_.get<std::string>(given.slot);
    }

    value year_fraction(const expression& begin, const expression& end, const std::string& convention) {
        const moments from = moments_of(begin), to = moments_of(end);
        const dates::day_count count = *dates::parse_day_count(convention);
        const auto fraction = [&](std::size_t run) {
            return dates::year_fraction(from.times[from.each_run ? run : 0], to.times[to.each_run ? run : 0],
                                        count, of_.as_of());
        };
        const std::string name = "year_fraction " + written(begin) + " " + written(end) + " " + convention;
        if (!from.each_run && !to.each_run) return term(name, fraction(0));
        return row(name, [&](const occurrence& run) {
            return fraction(static_cast<std::size_t>(&run - runs_.data()));
        });
    }

    // Expressions.
    value evaluate(const expression& e, frame& f) {
        spend(e.where, 1);
        switch (e.is) {
            case form::number:
                return number_of(e.number);
            case form::truth:
                return into_.truth(e.number != 0);
            case form::name:
                return evaluate_name(e, f);
            case form::element:
                return evaluate_element(e, f);
            case form::negate:
                return apply(operation::neg, evaluate(e.operands[0], f));
            case form::logical_not:
                return apply(operation::logical_not, evaluate(e.operands[0], f));
            case form::binary:
                return evaluate_binary(e, f);
            case form::call:
                return evaluate_call(e, f);
            case form::aggregate:
                return evaluate_aggregate(e, f);
            case form::text:
                break;
        }
        throw error(error_kind::internal, "a text is evaluated");
    }

    value evaluate_name(const expression& e, const frame& f) {
        switch (e.means) {
            case meaning::variable:
                return variable_of(e.slot, 0, f);
            case meaning::parameter:
                return evaluate_parameter(e);
            case meaning::time:
                return row("time", [](const occurrence& run) { return run.ends; });
            case meaning::step:
                return step();
            case meaning::index:
                return row("index", [&](const occurrence& run) {
                    return static_cast<double>(place_in_schedule(run) + 1);
                });
            case meaning::count:
                return schedule_size(e.list);
            default:
                throw error(error_kind::internal, "'" + e.text + "' has no value of its own");
        }
    }

    value evaluate_parameter(const expression& e) {
        const parameter& p = of_.parameter_of(e.slot);
        if (p.type == parameter_type::boolean) return into_.truth(of_.get<bool>(e.slot));
        if (p.per.empty()) return term("param:" + p.name, of_.get<double>(e.slot));
        const argument& given = of_.argument_of(e.slot);
        return row("param:" + p.name, [&](const occurrence& run) {
            if (const auto* numbers = std::get_if<std::vector<double>>(&given))
                return (*numbers)[place_in_schedule(run)];
            return of_.get<double>(e.slot);
        });
    }

    value evaluate_element(const expression& e, const frame& f) {
        const std::size_t element = loops_[e.operands[0].slot].element;
        if (e.means == meaning::variable) return variable_of(e.slot, element, f);
        const parameter& p = of_.parameter_of(e.slot);
        const argument& given = of_.argument_of(e.slot);
        const auto* numbers = std::get_if<std::vector<double>>(&given);
        return term("param:" + p.name + "[" + std::to_string(element) + "]",
                    numbers != nullptr ? (*numbers)[element] : of_.get<double>(e.slot));
    }

    value variable_of(std::size_t variable, std::size_t element, const frame& f) {
        const value v = f.variables[variable][element];
        return v.valid() ? v : at_start(variable, element);
    }

    // The value of a state when the block began: read once.
    value at_start(std::size_t variable, std::size_t element) {
        value& v = read_[{variable, element}];
        if (!v.valid()) v = into_.read(slots_.variables[variable][element]);
        return v;
    }

    value schedule_size(std::size_t parameter) {
        return term(program::row_names::schedule_size(of_.parameter_of(parameter).name),
                    static_cast<double>(of_.schedule_of(parameter).times.size()));
    }

    value evaluate_binary(const expression& e, frame& f) {
        const expression &left = e.operands[0], &right = e.operands[1];
        if (e.sign == binary_operator::logical_and || e.sign == binary_operator::logical_or) {
            const bool is_and = e.sign == binary_operator::logical_and;
            const value a = evaluate(left, f);
            if (is(a, !is_and)) return a;  // the other side is not even looked at
            const value b = evaluate(right, f);
            return is_and ? both(a, b) : either(a, b);
        }
        if (left.of == type::choice) {
            const bool same = of_.get<std::string>(left.slot) == right.text;
            return into_.truth(same == (e.sign == binary_operator::equal));
        }
        if (left.of == type::date) return compare_dates(e.sign, years_of(left), years_of(right));
        const value a = evaluate(left, f);
        const value b = evaluate(right, f);
        switch (e.sign) {
            case binary_operator::add:
                return apply(operation::add, a, b);
            case binary_operator::subtract:
                return apply(operation::sub, a, b);
            case binary_operator::multiply:
                return apply(operation::mul, a, b);
            case binary_operator::divide:
                return apply(operation::div, a, b);
            case binary_operator::less:
                return apply(operation::less, a, b);
            case binary_operator::less_equal:
                return apply(operation::less_equal, a, b);
            case binary_operator::greater:
                return apply(operation::less, b, a);
            case binary_operator::greater_equal:
                return apply(operation::less_equal, b, a);
            case binary_operator::equal:
                return apply(operation::equal, a, b);
            default:
                return apply(operation::logical_not, apply(operation::equal, a, b));
        }
    }

    // Times that the path takes for one are one: the last of equal steps may miss the end by a rounding.
    static value compare_dates(binary_operator sign, value a, value b) {
        const value later = b + dates::same_time_years < a, earlier = a + dates::same_time_years < b;
        switch (sign) {
            case binary_operator::less:
                return earlier;
            case binary_operator::less_equal:
                return !later;
            case binary_operator::greater:
                return later;
            case binary_operator::greater_equal:
                return !earlier;
            case binary_operator::equal:
                return !(later || earlier);
            default:
                return later || earlier;
        }
    }

    const std::string& asset_of(const expression& e) const {
        if (e.means == meaning::loop_asset) return *loops_[e.slot].asset;
        return of_.get<std::string>(e.slot);
    }

    value evaluate_call(const expression& e, frame& f) {
        const auto argument_at = [&](std::size_t i) { return evaluate(e.operands[i], f); };
        switch (e.calls) {
            case function::min:
            case function::max: {
                value v = argument_at(0);
                for (std::size_t i = 1; i < e.operands.size(); ++i) {
                    v = apply(e.calls == function::min ? operation::min : operation::max, v, argument_at(i));
                }
                return v;
            }
            case function::abs:
                return apply(operation::abs, argument_at(0));
            case function::exp:
                return apply(operation::exp, argument_at(0));
            case function::log:
                return apply(operation::log, argument_at(0));
            case function::sqrt:
                return apply(operation::sqrt, argument_at(0));
            case function::pow: {
                const value base = argument_at(0);
                return apply(operation::pow, base, argument_at(1));
            }
            case function::floor:
                return apply(operation::floor, argument_at(0));
            case function::norm_cdf:
                return apply(operation::norm_cdf, argument_at(0));
            case function::spot:
                return spot(asset_of(e.operands[0]));
            case function::fx: {
                const std::string& currency = of_.currency_of(e.operands[0]);
                return currency == of_.trade_currency() ? number_of(1) : fx(currency);
            }
            case function::forward:
                return forward(e);
            case function::call_value:
            case function::put_value:
                return option_value(e, f);
            case function::bond:
                return bond(e, e.operands[1]);
            case function::forward_rate:
                return forward_rate(e);
            case function::annuity:
                return annuity(e);
            case function::swap_rate: {
                const value begin = bond(e, e.operands[1]);
                const value end = bond_of_schedule(e, payments_of(e).times.size() - 1);
                return (begin - end) / annuity(e);
            }
            case function::constant_maturity_rate:
                return constant_maturity_rate(e);
            case function::given:
                return into_.truth(of_.is_given(e.operands[0].slot));
            case function::size:
                if (e.operands[0].of == type::schedule) return schedule_size(e.operands[0].slot);
                return number_of(fixed_number(e));
            case function::position:
                return number_of(fixed_number(e));
            case function::year_fraction:
                return year_fraction(e.operands[0], e.operands[1], day_count_of(e, 2));
            default:
                return evaluate_interval(e, f);
        }
    }

    // What happens between the ends of the interval. In the past only the fixing at its end is known.
    value evaluate_interval(const expression& e, frame& f) {
        const std::string& asset = asset_of(e.operands[0]);
        std::vector<value> levels;
        for (std::size_t i = 1; i < e.operands.size(); ++i) levels.push_back(evaluate(e.operands[i], f));
        if (world_->is_past()) {
            const value seen = spot(asset);
            tell_of_touch(e.calls, asset, seen, levels);
            return interval_in_the_past(e.calls, seen, levels);
        }

        // Asked twice in a block, a sample is the same.
        std::vector<std::uint32_t> asked;
        for (const value level : levels) asked.push_back(level.index());
        value& known = intervals_[{e.calls, asset, std::move(asked)}];
        if (!known.valid()) known = over_interval(e, asset, levels);
        return known;
    }

    // A touch is as likely and an extreme as far as where jumps come before all else; a mean is that of jumps
    // that come first and of jumps that come last, since they are as likely at every moment.
    value over_interval(const expression& e, const std::string& asset, const std::vector<value>& levels) {
        const bridge path = world_->path_between(asset);
        // Distances of the ends of the path from a level: upwards for one that is reached from above.
        struct ends {
            value start, end;
        };
        const auto above = [&](value level) {
            const value start = path.start - world_->to_coordinate(asset, level, interval_end::start);
            return ends{start, path.end - world_->to_coordinate(asset, level, interval_end::end)};
        };
        const auto below = [&](value level) {
            const ends up = above(level);
            const value start = -up.start;
            return ends{start, -up.end};
        };
        const std::string name = e.text + " " + asset;
        const auto touched = [&](value in_part) {
            return over_parts(name, in_part, [&](value so_far) { return so_far + (1.0 - so_far) * in_part; });
        };
        const auto length = [&] {
            return row("length", [](const occurrence& run) { return run.years - run.start_years; });
        };
        switch (e.calls) {
            case function::touched_below:
            case function::touched_above: {
                const ends d = e.calls == function::touched_below ? above(levels[0]) : below(levels[0]);
                return touched(touch_probability(d.start, d.end, path.variance));
            }
            case function::touched_outside: {
                const ends lower = above(levels[0]), upper = below(levels[1]);
                return touched(
                    exit_probability({lower.start, lower.end, upper.start, upper.end}, path.variance));
            }
            case function::lowest:
            case function::highest: {
                const bool is_low = e.calls == function::lowest;
                const auto sampled = is_low ? sampled_lowest : sampled_highest;
                const value in_part = world_->from_coordinate(
                    asset, sampled(path.start, path.end, path.variance, into_.uniform()));
                return over_parts(name, in_part, [&](value so_far) {
                    return is_low ? min(so_far, in_part) : max(so_far, in_part);
                });
            }
            case function::mean_spot: {
                const auto mean_from = [&](value start, value end) {
                    return mean_between(start, end, path.variance, [&](double at, value m, value v) {
                        return world_->mean_price(asset, at, m, v);
                    });
                };
                value mean = mean_from(path.start, path.end);
                if (path.unjumped.valid()) {
                    const value jump = path.start - path.unjumped;
                    mean = 0.5 * (mean + mean_from(path.unjumped, path.end - jump));
                }
                if (!is_in_parts_) return mean;
                const value in_part = length() * mean;
                return over_parts(name, in_part, [&](value so_far) { return so_far + in_part; }) / step();
            }
            case function::time_above:
            case function::time_below: {
                const bool is_above = e.calls == function::time_above;
                const ends d = is_above ? above(levels[0]) : below(levels[0]);
                value share = share_above(d.start, d.end, path.variance);
                if (path.unjumped.valid()) {
                    const value jump = path.start - path.unjumped, away = is_above ? -jump : jump;
                    share = 0.5 * (share + share_above(d.start + away, d.end + away, path.variance));
                }
                const value in_part = length() * share;
                return over_parts(name, in_part, [&](value so_far) { return so_far + in_part; });
            }
            case function::drawn_time_above:
            case function::drawn_time_below: {
                const ends d = e.calls == function::drawn_time_above ? above(levels[0]) : below(levels[0]);
                share_shocks shocks;
                shocks.touch = into_.uniform();
                shocks.first_normal = into_.normal();
                shocks.first_uniform = into_.uniform();
                shocks.last_normal = into_.normal();
                shocks.between = into_.uniform();
                const value in_part = length() * sampled_share_above(d.start, d.end, path.variance, shocks);
                return over_parts(name, in_part, [&](value so_far) { return so_far + in_part; });
            }
            default:
                break;
        }
        const bool from_above = e.calls == function::touch_time_below || e.calls == function::touches_below ||
                                e.calls == function::last_time_below;
        const ends d = from_above ? above(levels[0]) : below(levels[0]);
        const auto probability = [&] { return touch_probability(d.start, d.end, path.variance); };
        if (e.calls == function::touches_below || e.calls == function::touches_above) {
            const value likely = probability();
            const value in_part = program::select(into_.uniform() < likely, number_of(1), number_of(0));
            return over_parts(name, in_part, [&](value so_far) { return max(so_far, in_part); });
        }
        // The first touch and the last one are drawn together.
        value& first = touches_[{from_above, asset, levels[0].index()}];
        if (!first.valid()) {
            const value normal = into_.normal();
            first = sampled_touch(d.start, d.end, path.variance, normal, into_.uniform());
        }
        const bool is_last = e.calls == function::last_time_below || e.calls == function::last_time_above;
        value fraction = first;
        if (is_last) {
            const value normal = into_.normal();
            fraction = sampled_last_touch(d.start, d.end, path.variance, first, normal, into_.uniform());
        }
        const value start = row("start", [](const occurrence& run) { return run.start_years; });
        const value in_part = start + length() * fraction;
        if (!is_in_parts_) return in_part;
        // The first touch, if there is one, is as likely in this part as it is not before and then here; the
        // last one so far is in this part if any is.
        const value here = probability(), fresh = into_.uniform();
        value is_here;
        over_parts(name + " chance", here, [&](value so_far) {
            const value now = (1.0 - so_far) * here, all = so_far + now;
            is_here = fresh * all < (is_last ? here : now);
            return all;
        });
        return over_parts(name, in_part,
                          [&](value so_far) { return program::select(is_here, in_part, so_far); });
    }

    value step() {
        return row("step", [](const occurrence& run) { return run.ends - run.begins; });
    }

    void tell_of_touch(function asked, const std::string& asset, value seen,
                       const std::vector<value>& levels) const {
        auto* listener = dynamic_cast<touch_listener*>(world_);
        if (listener == nullptr || levels.empty()) return;
        const bool looks_down = asked == function::touched_below || asked == function::touched_outside;
        const bool looks_up = asked == function::touched_above || asked == function::touched_outside;
        if (looks_down && seen.constant() <= levels.front().constant())
            listener->saw_touch(asset, levels.front().constant());
        if (looks_up && seen.constant() >= levels.back().constant())
            listener->saw_touch(asset, levels.back().constant());
    }

    value interval_in_the_past(function asked, value level, const std::vector<value>& levels) {
        const value one = number_of(1), none = number_of(0);
        switch (asked) {
            case function::touched_below:
            case function::touches_below:
                return program::select(level <= levels[0], one, none);
            case function::touched_above:
            case function::touches_above:
                return program::select(level >= levels[0], one, none);
            case function::touched_outside:
                return program::select(level <= levels[0] || level >= levels[1], one, none);
            case function::lowest:
            case function::highest:
            case function::mean_spot:
                return level;
            case function::time_above:
            case function::drawn_time_above:
                return program::select(level > levels[0], step(), none);
            case function::time_below:
            case function::drawn_time_below:
                return program::select(level < levels[0], step(), none);
            default:
                return number_of(runs_.front().years);
        }
    }

    value evaluate_aggregate(const expression& e, frame& f) {
        const auto& names = of_.list_of(e.list);
        std::vector<value> each;
        loops_.emplace_back();
        for (std::size_t i = 0; i < names.size(); ++i) {
            loops_.back() = {i, &names[i]};
            each.push_back(evaluate(e.operands.back(), f));
        }
        loops_.pop_back();
        if (e.calls == function::nth) return nth(e.operands[0], std::move(each));
        value v = each[0];
        for (std::size_t i = 1; i < each.size(); ++i) {
            if (e.calls == function::worst) {
                v = program::min(v, each[i]);
            } else if (e.calls == function::best) {
                v = program::max(v, each[i]);
            } else {
                v = v + each[i];
            }
        }
        return e.calls == function::average ? v / static_cast<double>(each.size()) : v;
    }

    // A number that no path and no term of a kernel can change: it decides how the program looks.
    double fixed_number(const expression& e) const {
        switch (e.is) {
            case form::number:
                return e.number;
            case form::name:
                return of_.get<double>(e.slot);
            case form::binary: {
                const double a = fixed_number(e.operands[0]), b = fixed_number(e.operands[1]);
                return e.sign == binary_operator::add ? a + b : a - b;
            }
            default: {
                const std::size_t slot = e.operands[0].slot;
                const bool is_position = e.calls == function::position;
                return static_cast<double>(is_position ? loops_[slot].element + 1 : of_.list_of(slot).size());
            }
        }
    }

    // The k-th smallest: k passes of a bubble sort from the nearer end, as a network of min and max.
    value nth(const expression& rank, std::vector<value> each) {
        const double k = fixed_number(rank);
        const std::size_t n = each.size();
        if (!(k >= 1 && k <= static_cast<double>(n))) {
            fail(rank.where, "'nth' is asked for number " + std::to_string(static_cast<long>(k)) + " of " +
                                 std::to_string(n) + " assets; expected 1 to " + std::to_string(n));
        }
        const auto from_below = static_cast<std::size_t>(k), from_above = n + 1 - from_below;
        const bool upwards = from_below <= from_above;
        const std::size_t passes = upwards ? from_below : from_above;
        for (std::size_t pass = 0; pass < passes; ++pass) {
            for (std::size_t i = n - 1; i > pass; --i) {
                const value a = each[i - 1], b = each[i];
                each[i - 1] = upwards ? program::min(a, b) : program::max(a, b);
                each[i] = upwards ? program::max(a, b) : program::min(a, b);
            }
        }
        return each[passes - 1];
    }

    const argued_script& of_;
    const syntax& tree_;
    const state_slots& slots_;
    recorder& into_;
    std::span<const occurrence> runs_;
    world* world_ = nullptr;
    const block* block_ = nullptr;
    int offset_ = 0;
    std::size_t elements_ = 0;               // of all variables
    std::vector<std::vector<value>> start_;  // nothing assigned yet, in the right shape
    std::vector<loop_at> loops_;
    std::map<std::uint64_t, value> numbers_;
    std::map<std::string, value> named_;
    std::map<std::tuple<operation, std::uint32_t, std::uint32_t>, value> applied_;
    std::map<std::pair<std::size_t, std::size_t>, value> read_;
    std::map<std::tuple<function, std::string, std::vector<std::uint32_t>>, value> intervals_;
    // Samples of first touches, by whether the level is reached from above, by asset and level.
    std::map<std::tuple<bool, std::string, std::uint32_t>, value> touches_;
    bool is_in_parts_ = false;  // some interval of the block is
    std::size_t values_ = 0;
};

}  // namespace

double world::fx_today(const std::string& currency) const {
    throw error(error_kind::internal,
                "a world without a past is asked for today's exchange rate of '" + currency + "'");
}

bool world::has_random_rates(const std::string&) const {
    return false;
}
value world::discount_on_path(const std::string& currency, interval_end) {
    throw error(error_kind::internal,
                "a world without random rates is asked for a path's discount factor of '" + currency + "'");
}

struct payoff::state {
    argued_script script;
    state_slots slots;
    bool declared = false;
};

payoff::payoff(std::shared_ptr<const product> of, arguments args, dates::date as_of,
               std::string trade_currency)
    : state_(new state{{std::move(of), std::move(args), as_of, std::move(trade_currency)}, {}, false}) {}

payoff::~payoff() = default;
payoff::payoff(payoff&&) noexcept = default;
payoff& payoff::operator=(payoff&&) noexcept = default;

const std::vector<block>& payoff::blocks() const {
    return state_->script.blocks();
}
const std::vector<std::string>& payoff::assets() const {
    return state_->script.assets();
}
const std::vector<std::string>& payoff::currencies() const {
    return state_->script.currencies();
}

const std::vector<std::string>& payoff::rate_currencies() const {
    return state_->script.rate_currencies();
}

void payoff::declare(recorder& into) {
    const syntax& tree = state_->script.tree();
    state_slots& slots = state_->slots;
    const frame first = recording(state_->script, slots, into).play_top();
    slots.value = into.state("value", 0.0);
    into.output(slots.value);
    slots.variables.assign(tree.variables.size(), {});
    for (std::size_t v = 0; v < tree.variables.size(); ++v) {
        const variable& of = tree.variables[v];
        if (!of.is_state) continue;
        for (std::size_t e = 0; e < first.variables[v].size(); ++e) {
            const std::string name = of.list ? of.name + "[" + std::to_string(e) + "]" : of.name;
            slots.variables[v].push_back(into.state(name, first.variables[v][e].constant()));
        }
    }
    if (tree.stops) slots.alive = into.state("alive", 1.0);
    state_->declared = true;
}

void payoff::record(std::size_t number, std::span<const occurrence> runs, world& market, recorder& into) {
    if (!state_->declared)
        throw error(error_kind::internal, "a block is recorded before its states are declared");
    if (runs.empty()) return;
    recording(state_->script, state_->slots, into).play_block(number, runs, market);
}

}  // namespace tilewalk::language
