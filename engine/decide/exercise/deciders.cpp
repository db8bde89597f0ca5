// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/exercise/deciders.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/decide/exercise/policy_at_hand.h"

namespace tilewalk::exercise {

namespace {

using language::right_at_hand;
using program::recorder;
using program::value;

}  // namespace

void leaving::begins() {
    rights_.clear();
    sums_.clear();
    ranks_.close();
    moved_at_end_.clear();
    ahead_.clear();
    first_state_ = ~std::uint32_t{0};
    today_.reset();
}

std::uint32_t leaving::left(recorder& into, const std::string& name, value what) {
    const std::uint32_t state = into.state(name, 0);
    first_state_ = std::min(first_state_, state);
    into.write(state, what);
    into.output(state);
    return state;
}

void leaving::open_sums(recorder& into) {
    if (!sums_.empty()) return;
    for (std::size_t n = 0; n < by_.normals.size(); ++n) {
        sums_.push_back(into.state(numbered("sum of normals", n), 0));
        first_state_ = std::min(first_state_, sums_.back());
    }
    if (sums_.empty() || !by_.are_normals_ranked) return;
    steps_ = into.state("steps of the interval", 0);
    ranks_.open(by_, into);
}

// Ranked normals are left in the order of their assets' ranks, followed by their powers. A power is computed
// of the sum scaled to variance 1, and left with the scale of the sums.
std::vector<std::uint32_t> leaving::left_moves(recorder& into, const std::string& name) {
    open_sums(into);
    std::vector<value> columns;
    for (const std::uint32_t sum : sums_) {
        columns.push_back(into.read(sum));
        into.write(sum, into.constant(0));
    }
    if (ranks_.is_open()) {
        columns = ranks_.in_order(columns, into);
        const value factor = sqrt(max(into.read(steps_), 1));
        into.write(steps_, into.constant(0));
        std::vector<value> normals;
        for (const value v : columns) normals.push_back(v / factor);
        for (const value v : moves_.powers_of(normals, into.constant(1))) columns.push_back(v * factor);
    }
    std::vector<std::uint32_t> out;
    for (std::size_t c = 0; c < columns.size(); ++c)
        out.push_back(left(into, numbered(name + " moves", c), columns[c]));
    return out;
}

leaving::left_by_right& leaving::left_by(const right_at_hand& right, bool is_notice, recorder& into) {
    value_ = right.value_state;
    const std::string name = numbered("right", rights_.size());
    const auto truth = [&](value v) { return select(v, into.constant(1), into.constant(0)); };
    left_by_right& of = rights_.emplace_back();
    of.block = right.block;
    of.of = right.of;
    of.at_most = right.at_most;
    of.at_least = right.at_least;
    for (const language::named_feature& f : right.features) of.named.push_back({{}, f.why_unknown});
    of.is_named_beside_states = right.are_beside_states;
    of.ahead = std::exchange(ahead_, {});
    of.compared = right.compared;
    of.compared.values.clear();  // values are of this recording alone
    of.is_notice = is_notice;
    of.has_notice = right.notice > 0;
    of.gives = left(into, name + " gives", right.gives);
    of.offered = left(into, name + " offered", truth(right.offered));
    of.unit = left(into, name + " unit", right.unit);
    of.alive = left(into, name + " alive", truth(right.alive));
    const std::vector<value> made = made_features_at_hand(by_.made, right, into);
    for (std::size_t f = 0; f < made.size(); ++f)
        of.made.push_back(left(into, numbered(name + " feature", f), made[f]));
    of.moved = left_moves(into, name);
    if (ranks_.is_open()) ranks_.keep(right, into);
    return of;
}

value leaving::uses(const right_at_hand& right, recorder& into) {
    left_by(right, false, into);
    return into.truth(false);
}

void leaving::gives_notice(const right_at_hand& right, recorder& into) {
    left_by(right, true, into);
}

std::vector<double> leaving::looks_ahead(const right_at_hand&, std::size_t,
                                         std::vector<double> in_the_market) {
    ahead_.push_back(in_the_market);
    return in_the_market;
}

bool leaving::uses_today(const language::right_today& right) {
    today_ = right;
    return false;
}

void leaving::ends_step(std::span<const double> stops, recorder& into) {
    for (std::size_t n = 0; n < sums_.size(); ++n)
        into.write(sums_[n],
                   into.read(sums_[n]) + weighted_normal(by_.normals[n], by_.weighs_steps, stops, into));
    if (ranks_.is_open()) into.write(steps_, into.read(steps_) + 1);
}

void leaving::ends_path(std::uint32_t value, recorder& into) {
    value_ = value;
    end_value_ = left(into, "value at the end", into.read(value));
    moved_at_end_ = left_moves(into, "end");
}

value following::uses(const right_at_hand& right, recorder& into) {
    if (right.notice > 0) return notices_.is_of(right, into);
    const rows_of_policy rows(by_, right, into);
    const basis_at_hand at(by_, right, rows, into);
    const value left = select(
        into.constant(0) < at.paid,
        at.to_come(rows, "if paid", [](const decision_date& d) -> const fitted_side& { return d.paid; }),
        at.to_come(rows, "if unpaid", [](const decision_date& d) -> const fitted_side& { return d.unpaid; }));
    const value pays_more = right.of == language::party::holder ? left < at.paid : at.paid < left;
    return by_.notice_slots > 0 ? pays_more && notices_.are_none(into) : pays_more;
}

void bounding::begins() {
    is_open_ = false;
    ranks_.close();
    sums_.clear();
    slopes_.clear();
}

void bounding::open(recorder& into) {
    if (is_open_) return;
    is_open_ = true;
    martingale_ = into.state("martingale", 0);
    best_ = into.state("best of dates", by_.today ? *by_.today : by_.has_holder ? -never : never);
    for (std::size_t n = 0; n < by_.normals.size(); ++n)
        sums_.push_back(into.state(numbered("sum of normals", n), 0));
    for (std::size_t m = 0; m < moves_.size(); ++m)
        slopes_.push_back(into.state(numbered("slope", m), by_.first_slopes[m]));
    ranks_.open(by_, into);
    notices_.open(into);
}

value bounding::better(value a, value b) const {
    return by_.has_holder ? max(a, b) : min(a, b);
}

value bounding::moved(recorder& into, value root) {
    std::vector<value> normals;
    for (const std::uint32_t sum : sums_) normals.push_back(into.read(sum) * root);
    if (ranks_.is_open()) normals = ranks_.in_order(normals, into);
    const std::vector<value> moves = moves_.values(normals, into.constant(1));
    value out = into.read(martingale_);
    for (std::size_t m = 0; m < moves.size(); ++m) out = fma(into.read(slopes_[m]), moves[m], out);
    return out;
}

value bounding::next_interval(const rows_of_policy& rows, recorder& into) {
    const value now = moved(into, rows.row("root of steps", [](const decision_date& d) { return d.root; }));
    into.write(martingale_, now);
    for (const std::uint32_t sum : sums_) into.write(sum, into.constant(0));
    return now;
}

void bounding::set_slopes(const right_at_hand& right, const rows_of_policy& rows, const basis_at_hand& at,
                          recorder& into) {
    const value weight = select(right.alive, right.unit, into.constant(0));
    for (std::size_t m = 0; m < moves_.size(); ++m) {
        const std::vector<value> slopes =
            rows.rows(numbered("slope", m), at.functions.size(), [&](const decision_date& d, std::size_t i) {
                const std::vector<double>& of = d.is_notice() ? d.levels[0].slopes : d.slopes;
                return of[m * by_.functions.functions() + i];
            });
        into.write(slopes_[m], weight * product(slopes, at.functions));
    }
}

value bounding::uses(const right_at_hand& right, recorder& into) {
    open(into);
    const value before = into.read(best_);
    if (right.notice > 0) {
        const bounded_notices::use of = notices_.used(right, into);
        into.write(best_, select(of.was_there, better(before, of.worth), before));
        return into.truth(false);
    }
    const rows_of_policy rows(by_, right, into);
    const value now = next_interval(rows, into);
    const value worth = into.read(right.value_state) + right.gives - now;
    into.write(best_, select(right.offered, better(before, worth), before));
    if (ranks_.is_open()) ranks_.keep(right, into);
    set_slopes(right, rows, basis_at_hand(by_, right, rows, into), into);
    return into.truth(false);
}

void bounding::gives_notice(const right_at_hand& right, recorder& into) {
    open(into);
    const rows_of_policy rows(by_, right, into);
    const value now = next_interval(rows, into);
    const basis_at_hand at(by_, right, rows, into);
    notices_.keep(right, rows, at, now, into);
    set_slopes(right, rows, at, into);
}

void bounding::ends_step(std::span<const double> stops, recorder& into) {
    for (std::size_t n = 0; n < sums_.size(); ++n)
        into.write(sums_[n],
                   into.read(sums_[n]) + weighted_normal(by_.normals[n], by_.weighs_steps, stops, into));
    notices_.ends_step(stops, into);
}

void bounding::ends_path(std::uint32_t value_state, recorder& into) {
    open(into);
    const value now = moved(into, into.term("root of the last steps", by_.last_root));
    into.write(best_, better(into.read(best_), into.read(value_state) - now));
}

}  // namespace tilewalk::exercise
