// SPDX-License-Identifier: Apache-2.0
#include "engine/exercise/deciders.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace tilewalk::exercise {

namespace {

using language::right_at_hand;
using program::recorder;
using program::value;

std::string numbered(const std::string& name, std::size_t number) {
    return name + "#" + std::to_string(number);
}

// Rows of a right's section, whose numbers a policy has by date.
class rows_of_policy {
  public:
    rows_of_policy(const policy& by, const right_at_hand& right, recorder& into) : into_(into) {
        for (std::size_t run = 0; run < right.runs.size(); ++run) {
            for (const decision_date& d : by.dates)
                if (d.block == right.block && d.run == run) dates_.push_back(&d);
        }
    }
    value row(const std::string& name, const std::function<double(const decision_date&)>& number) const {
        std::vector<double> numbers;
        for (const decision_date* d : dates_) numbers.push_back(number(*d));
        return into_.row(name, numbers);
    }
    std::vector<value> rows(const std::string& name, std::size_t count,
                            const std::function<double(const decision_date&, std::size_t)>& number) const {
        std::vector<value> out;
        for (std::size_t i = 0; i < count; ++i)
            out.push_back(row(numbered(name, i), [&](const decision_date& d) { return number(d, i); }));
        return out;
    }

  private:
    recorder& into_;
    std::vector<const decision_date*> dates_;
};

value product(const std::vector<value>& a, const std::vector<value>& b) {
    value sum = a[0] * b[0];
    for (std::size_t i = 1; i < a.size(); ++i) sum = fma(a[i], b[i], sum);
    return sum;
}

// The basis on the date at hand, and what using the right pays then.
struct basis_at_hand {
    value paid;
    std::vector<value> functions;

    basis_at_hand(const policy& by, const right_at_hand& right, const rows_of_policy& rows, recorder& into)
        : paid(right.gives / right.unit) {
        std::vector<value> features;
        for (std::size_t f = 0; f < by.functions.features(); ++f) {
            const value mean =
                rows.row(numbered("mean of feature", f), [&](const decision_date& d) { return d.means[f]; });
            const value scale = rows.row(numbered("scale of feature", f),
                                         [&](const decision_date& d) { return d.scales[f]; });
            const value of = f < by.features.size() ? into.read(by.features[f]) : paid;
            features.push_back((of - mean) * scale);
        }
        functions = by.functions.of(features, into.constant(1));
    }
};

}  // namespace

void leaving::begins() {
    rights_.clear();
    sums_.clear();
    moved_at_end_.clear();
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
    for (std::size_t n = 0; n < normals_.size(); ++n) {
        sums_.push_back(into.state(numbered("sum of normals", n), 0));
        first_state_ = std::min(first_state_, sums_.back());
    }
}

std::vector<std::uint32_t> leaving::left_moves(recorder& into, const std::string& name) {
    open_sums(into);
    std::vector<std::uint32_t> out;
    for (std::size_t n = 0; n < sums_.size(); ++n) {
        out.push_back(left(into, numbered(name + " moves", n), into.read(sums_[n])));
        into.write(sums_[n], into.constant(0));
    }
    return out;
}

value leaving::uses(const right_at_hand& right, recorder& into) {
    value_ = right.value_state;
    const std::string name = numbered("right", rights_.size());
    const auto truth = [&](value v) { return select(v, into.constant(1), into.constant(0)); };
    left_by_right of{right.block, right.of, 0, 0, 0, 0, {}};
    of.gives = left(into, name + " gives", right.gives);
    of.offered = left(into, name + " offered", truth(right.offered));
    of.unit = left(into, name + " unit", right.unit);
    of.alive = left(into, name + " alive", truth(right.alive));
    of.moved = left_moves(into, name);
    rights_.push_back(std::move(of));
    return into.truth(false);
}

void leaving::sees_today(language::party of, double gives) {
    today_.emplace(of, gives);
}

void leaving::ends_step(recorder& into) {
    for (std::size_t n = 0; n < sums_.size(); ++n)
        into.write(sums_[n], into.read(sums_[n]) + into.normal_again(normals_[n]));
}

void leaving::ends_path(std::uint32_t value, recorder& into) {
    value_ = value;
    end_value_ = left(into, "value at the end", into.read(value));
    moved_at_end_ = left_moves(into, "end");
}

value following::uses(const right_at_hand& right, recorder& into) {
    const rows_of_policy rows(by_, right, into);
    const basis_at_hand at(by_, right, rows, into);
    const auto to_come = [&](const std::string& name, const fitted_side decision_date::*side) {
        const std::vector<value> coefficients =
            rows.rows(name, at.functions.size(),
                      [&](const decision_date& d, std::size_t i) { return (d.*side).coefficients[i]; });
        const value low = rows.row(name + " at least", [&](const decision_date& d) { return (d.*side).low; });
        const value high =
            rows.row(name + " at most", [&](const decision_date& d) { return (d.*side).high; });
        return min(max(product(coefficients, at.functions), low), high);
    };
    const value left = select(into.constant(0) < at.paid, to_come("to come if paid", &decision_date::paid),
                              to_come("to come if unpaid", &decision_date::unpaid));
    return right.of == language::party::holder ? left < at.paid : at.paid < left;
}

void bounding::begins() {
    is_open_ = false;
    sums_.clear();
    slopes_.clear();
}

void bounding::open(recorder& into) {
    if (is_open_) return;
    is_open_ = true;
    constexpr double never = 1e37;  // which is a number in single, too
    martingale_ = into.state("martingale", 0);
    best_ = into.state("best of dates", by_.today ? *by_.today : by_.has_holder ? -never : never);
    for (std::size_t n = 0; n < by_.normals.size(); ++n)
        sums_.push_back(into.state(numbered("sum of normals", n), 0));
    for (std::size_t m = 0; m < moves_.size(); ++m)
        slopes_.push_back(into.state(numbered("slope", m), by_.first_slopes[m]));
}

value bounding::better(value a, value b) const {
    return by_.has_holder ? max(a, b) : min(a, b);
}

// The martingale after the interval that ends here.
value bounding::moved(recorder& into, value root) {
    std::vector<value> normals;
    for (const std::uint32_t sum : sums_) normals.push_back(into.read(sum) * root);
    const std::vector<value> moves = moves_.of(normals, into.constant(1));
    value out = into.read(martingale_);
    for (std::size_t m = 0; m < moves.size(); ++m) out = fma(into.read(slopes_[m]), moves[m], out);
    return out;
}

value bounding::uses(const right_at_hand& right, recorder& into) {
    open(into);
    const rows_of_policy rows(by_, right, into);
    const value now = moved(into, rows.row("root of steps", [](const decision_date& d) { return d.root; }));
    into.write(martingale_, now);
    for (const std::uint32_t sum : sums_) into.write(sum, into.constant(0));
    const value before = into.read(best_);
    const value worth = into.read(right.value_state) + right.gives - now;
    into.write(best_, select(right.offered, better(before, worth), before));
    const basis_at_hand at(by_, right, rows, into);
    const value weight = select(right.alive, right.unit, into.constant(0));
    for (std::size_t m = 0; m < moves_.size(); ++m) {
        const std::vector<value> slopes =
            rows.rows(numbered("slope", m), at.functions.size(), [&](const decision_date& d, std::size_t i) {
                return d.slopes[m * by_.functions.functions() + i];
            });
        into.write(slopes_[m], weight * product(slopes, at.functions));
    }
    return into.truth(false);
}

void bounding::ends_step(recorder& into) {
    for (std::size_t n = 0; n < sums_.size(); ++n)
        into.write(sums_[n], into.read(sums_[n]) + into.normal_again(by_.normals[n]));
}

void bounding::ends_path(std::uint32_t value_state, recorder& into) {
    open(into);
    const value now = moved(into, into.term("root of the last steps", by_.last_root));
    into.write(best_, better(into.read(best_), into.read(value_state) - now));
}

}  // namespace tilewalk::exercise
