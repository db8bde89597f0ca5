// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/exercise/notice.h"

#include <cmath>
#include <functional>
#include <utility>

namespace tilewalk::exercise {

namespace {

using language::right_at_hand;
using program::recorder;
using program::value;

enum notice_case : std::size_t { without_notice, with_notice };

// Returns a row by payment of the section: number(k) if its notice is by.dates[k], `none` if that is past.
value row_of_payments(const policy& by, const right_at_hand& right, recorder& into, const std::string& name,
                      double none, const std::function<double(std::size_t)>& number) {
    std::vector<double> numbers;
    for (const language::occurrence& run : right.runs) {
        numbers.push_back(none);
        for (std::size_t k = 0; k < by.dates.size(); ++k) {
            const decision_date& d = by.dates[k];
            if (d.block == right.block && d.index == run.index) numbers.back() = number(k);
        }
    }
    return into.row(name, numbers);
}

}  // namespace

// Returns by path all payments if the right is used: those before it, and its own.
std::vector<double> notice_backward::of_payment(const payment_left& payment) const {
    std::vector<double> out(paths_);
    for (std::size_t p = 0; p < paths_; ++p)
        out[p] = payment.value[p] + (payment.offered[p] != 0 ? payment.gives[p] : 0);
    return out;
}

void notice_backward::decide_notice(decision_date& d, date_left left, const payment_left& payment) {
    left.offered = left.alive;
    take_sides(left);
    scale_features(d, left);
    d.levels.resize(2);
    d.levels[without_notice] = fitted(d, left);
    std::vector<double> without = estimate_, used = of_payment(payment), used_worth = used;
    for (const double x : used)
        if (!std::isfinite(x)) throw_not_finite();
    std::swap(total_, used);
    std::swap(worth_, used_worth);
    const interval_left after = std::exchange(after_, payment.since_notice);
    d.levels[with_notice] = fitted(d, left);
    after_ = after;
    std::swap(total_, used);
    std::swap(worth_, used_worth);
    const bool is_holder = d.of == language::party::holder;
    for (std::size_t p = 0; p < paths_; ++p) {
        if (left.alive[p] == 0) {
            worth_[p] = total_[p];
            continue;
        }
        const bool uses = is_holder ? without[p] < estimate_[p] : estimate_[p] < without[p];
        if (uses) total_[p] = used[p];
        worth_[p] = left.value[p] + left.unit[p] * (uses ? estimate_[p] : without[p]);
    }
    after_ = left.before;
}

value given_notices::given(recorder& into) {
    if (!state_) state_ = into.state("notice", 0);
    return into.read(*state_);
}

value given_notices::are_none(recorder& into) {
    return given(into) < into.constant(0.5);
}

value given_notices::is_of(const right_at_hand& right, recorder& into) {
    const value number = row_of_payments(by_, right, into, "number of notice", -1,
                                         [](std::size_t k) { return static_cast<double>(k + 1); });
    const value now = given(into);
    return number - 0.5 < now && now < number + 0.5;
}

void given_notices::decide(const right_at_hand& right, recorder& into) {
    const rows_of_policy rows(by_, right, into);
    const basis_at_hand at(by_, right, rows, into);
    const auto to_come = [&](const std::string& name, notice_case of) {
        return select(
            into.constant(0) < at.paid,
            at.to_come(rows, name + " if paid",
                       [=](const decision_date& d) -> const fitted_side& { return d.levels[of].paid; }),
            at.to_come(rows, name + " if unpaid",
                       [=](const decision_date& d) -> const fitted_side& { return d.levels[of].unpaid; }));
    };
    const value without = to_come("without notice", without_notice);
    const value with = to_come("with notice", with_notice);
    const value better = right.of == language::party::holder ? without < with : with < without;
    const value number = rows.row("number of notice", [&](const decision_date& d) {
        return static_cast<double>(&d - by_.dates.data() + 1);
    });
    const value now = given(into);
    into.write(*state_, select(right.alive && are_none(into) && better, number, now));
}

void bounded_notices::open(recorder& into) {
    slots_.clear();
    for (std::size_t s = 0; s < by_.notice_slots; ++s) {
        const std::string name = numbered("notice", s);
        slot& of = slots_.emplace_back(
            slot{into.state(name + " there", 0), into.state(name + " martingale", 0), {}, {}});
        for (std::size_t n = 0; n < by_.normals.size(); ++n)
            of.sums.push_back(into.state(numbered(name + " sum of normals", n), 0));
        for (std::size_t m = 0; m < moves_.size(); ++m)
            of.slopes.push_back(into.state(numbered(name + " slope", m), 0));
    }
}

void bounded_notices::keep(const right_at_hand& right, const rows_of_policy& rows, const basis_at_hand& at,
                           value martingale, recorder& into) {
    const value weight = select(right.alive, right.unit, into.constant(0));
    std::vector<value> slopes;
    for (std::size_t m = 0; m < moves_.size(); ++m) {
        slopes.push_back(
            weight *
            product(rows.rows(numbered("slope with notice", m), at.functions.size(),
                              [&](const decision_date& d, std::size_t i) {
                                  return d.levels[with_notice].slopes[m * by_.functions.functions() + i];
                              }),
                    at.functions));
    }
    for (std::size_t s = 0; s < slots_.size(); ++s) {
        const slot& of = slots_[s];
        const value is_here = 0.5 < rows.row(numbered("is of slot", s),
                                             [=](const decision_date& d) { return d.slot == s ? 1.0 : 0.0; });
        const auto put = [&](std::uint32_t state, value what) {
            into.write(state, select(is_here, what, into.read(state)));
        };
        put(of.alive, select(right.alive, into.constant(1), into.constant(0)));
        put(of.martingale, martingale);
        for (const std::uint32_t sum : of.sums) put(sum, into.constant(0));
        for (std::size_t m = 0; m < moves_.size(); ++m) put(of.slopes[m], slopes[m]);
    }
}

bounded_notices::use bounded_notices::used(const right_at_hand& right, recorder& into) const {
    const value root = row_of_payments(by_, right, into, "root since notice", 0,
                                       [&](std::size_t k) { return by_.dates[k].root_until_paid; });
    value moved = into.constant(0), was_there = into.constant(0);
    for (std::size_t s = 0; s < slots_.size(); ++s) {
        const slot& of = slots_[s];
        const value is_here =
            0.5 < row_of_payments(by_, right, into, numbered("is of slot", s), 0,
                                  [&](std::size_t k) { return by_.dates[k].slot == s ? 1.0 : 0.0; });
        std::vector<value> normals;
        for (const std::uint32_t sum : of.sums) normals.push_back(into.read(sum) * root);
        const std::vector<value> moves = moves_.values(normals, into.constant(1));
        value martingale = into.read(of.martingale);
        for (std::size_t m = 0; m < moves.size(); ++m)
            martingale = fma(into.read(of.slopes[m]), moves[m], martingale);
        moved = select(is_here, martingale, moved);
        was_there = select(is_here, into.read(of.alive), was_there);
    }
    const value gives = select(right.offered, right.gives, into.constant(0));
    return {into.read(right.value_state) + gives - moved, into.constant(0.5) < was_there};
}

void bounded_notices::ends_step(std::span<const double> stops, recorder& into) {
    for (const slot& of : slots_)
        for (std::size_t n = 0; n < of.sums.size(); ++n)
            into.write(of.sums[n], into.read(of.sums[n]) +
                                       weighted_normal(by_.normals[n], by_.weighs_steps, stops, into));
}

}  // namespace tilewalk::exercise
