// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "products/program/evaluate.h"

namespace tilewalk::plan {

namespace {

using program::operation;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr range anything{-infinity, infinity};

double of(operation code, double a, double b = 0, double c = 0) {
    return program::evaluate(code, a, b, c);
}

// Widens a range: computed functions are monotone but for their last bits, of which float loses more.
range widened(range r) {
    constexpr double part = 1e-6;
    if (r.is_point()) return r;
    return {r.low - part * std::abs(r.low), r.high + part * std::abs(r.high)};
}

// Replaces an end that is NaN by an infinite one.
range checked(range r) {
    if (std::isnan(r.low)) r.low = -infinity;
    if (std::isnan(r.high)) r.high = infinity;
    return r;
}

bool has(range r, double x) {
    return r.low <= x && x <= r.high;
}

// Takes 0 times an infinite end as 0, since every number on a path is finite.
double times(double a, double b) {
    return a == 0 || b == 0 ? 0.0 : a * b;
}

range product(range a, range b) {
    const auto [low, high] =
        std::minmax({times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)});
    return checked({low, high});
}

range quotient(range a, range b) {
    if (has(b, 0)) return anything;
    const auto [low, high] = std::minmax({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
    for (const double end : {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high})
        if (std::isnan(end)) return anything;
    return {low, high};
}

range sum(range a, range b) {
    return checked({a.low + b.low, a.high + b.high});
}

range negative(range a) {
    return {-a.high, -a.low};
}

range rising(operation code, range a) {
    return widened(checked({of(code, a.low), of(code, a.high)}));
}

range power(range a, range b) {
    if (!(a.low > 0)) return anything;
    range r{infinity, -infinity};
    for (const double x : {a.low, a.high}) {
        for (const double y : {b.low, b.high}) {
            if (!std::isfinite(x) || !std::isfinite(y)) return {0, infinity};
            const double end = of(operation::pow, x, y);
            r = {std::min(r.low, end), std::max(r.high, end)};
        }
    }
    return widened(checked(r));
}

constexpr range false_or_true{0, 1};
constexpr range truth(bool always, bool never) {
    return always ? range{1, 1} : never ? range{0, 0} : false_or_true;
}
bool is_true(range r) {
    return !has(r, 0);
}
bool is_false(range r) {
    return r.low == 0 && r.high == 0;
}

range applied(operation code, range a, range b, range c, int arity) {
    if (a.is_point() && (arity < 2 || b.is_point()) && (arity < 3 || c.is_point())) {
        const double x = of(code, a.low, b.low, c.low);
        return std::isnan(x) ? anything : range{x, x};
    }
    switch (code) {
        case operation::neg:
            return negative(a);
        case operation::abs:
            return has(a, 0) ? range{0, std::max(-a.low, a.high)} : a.low > 0 ? a : negative(a);
        case operation::sqrt:
            return rising(code, {std::max(a.low, 0.0), std::max(a.high, 0.0)});
        case operation::exp:
            return rising(code, a);
        case operation::log:
            return a.low > 0 ? rising(code, a) : anything;
        case operation::sin:
        case operation::cos:
            return {-1, 1};
        case operation::floor:
            return checked({of(code, a.low), of(code, a.high)});
        case operation::norm_cdf: {
            const range r = rising(code, a);
            return {std::max(r.low, 0.0), std::min(r.high, 1.0)};
        }
        case operation::flaw:
            return c;
        case operation::norm_inv:
            return anything;
        case operation::normal_to_exponential:
            return {0, infinity};
        case operation::add:
            return sum(a, b);
        case operation::sub:
            return sum(a, negative(b));
        case operation::mul:
            return product(a, b);
        case operation::div:
            return quotient(a, b);
        case operation::min:
            return {std::min(a.low, b.low), std::min(a.high, b.high)};
        case operation::max:
            return {std::max(a.low, b.low), std::max(a.high, b.high)};
        case operation::pow:
            return power(a, b);
        case operation::fma:
            return sum(product(a, b), c);
        case operation::less:
            return truth(a.high < b.low, a.low >= b.high);
        case operation::less_equal:
            return truth(a.high <= b.low, a.low > b.high);
        case operation::equal:
            return truth(false, a.high < b.low || b.high < a.low);
        case operation::logical_not:
            return truth(is_false(a), is_true(a));
        case operation::logical_and:
            return truth(is_true(a) && is_true(b), is_false(a) || is_false(b));
        case operation::logical_or:
            return truth(is_true(a) || is_true(b), is_false(a) && is_false(b));
        case operation::select:
            if (is_true(a)) return b;
            if (is_false(a)) return c;
            return {std::min(b.low, c.low), std::max(b.high, c.high)};
        default:
            return anything;
    }
}

range interpolated(std::span<const double> table) {
    const auto [low, high] = std::ranges::minmax_element(table);
    return widened({*low, *high});
}

class interval_walk {
  public:
    interval_walk(const program::path_program& code, const program::path_data& data)
        : code_(code), data_(data) {
        for (const double x : data.initial_states) states_.push_back({x, x});
    }

    void run(std::size_t number, std::size_t run) {
        const program::lane_section& s = code_.sections[number];
        const std::span<const double> row(data_.rows[number].data() + run * data_.widths[number],
                                          data_.widths[number]);
        nodes_.clear();
        for (const program::node& n : s.nodes) nodes_.push_back(result(s, n, row));
        // States are written after all nodes have read them.
        for (const program::state_write& w : s.writes) states_[w.state] = nodes_[w.node];
    }
    range state(std::uint32_t number) const { return states_[number]; }

  private:
    range result(const program::lane_section& s, const program::node& n, std::span<const double> row) const {
        const auto operand = [&](int i) { return nodes_[n.args[static_cast<std::size_t>(i)]]; };
        // An infinite constant stays a point: the logarithm of a level 0 lies below every number.
        const auto point = [](double x) { return std::isnan(x) ? anything : range{x, x}; };
        switch (n.code) {
            case operation::constant:
                return point(n.number);
            case operation::term:
                return point(data_.terms[n.args[0]]);
            case operation::row:
                return point(row[n.args[0]]);
            case operation::state:
                return states_[n.args[0]];
            case operation::normal:
            case operation::scenario:
                return anything;
            case operation::uniform:
                return {0, 1};
            case operation::interpolate:
                return interpolated(row.subspan(s.place_of_table(n.args[1]), s.tables[n.args[1]].size));
            default: {
                const int arity = program::entry_of(n.code).arity;
                return applied(n.code, operand(0), arity > 1 ? operand(1) : range{},
                               arity > 2 ? operand(2) : range{}, arity);
            }
        }
    }

    const program::path_program& code_;
    const program::path_data& data_;
    std::vector<range> states_, nodes_;
};

}  // namespace

bool range::is_bounded() const {
    return std::isfinite(low) && std::isfinite(high);
}

range bounds_of(const program::path_program& code, const program::path_data& data,
                const program::timeline& when) {
    interval_walk path(code, data);
    for (std::size_t step = 0; step < when.steps(); ++step) {
        path.run(0, step);
        for (const program::event e : when.events_after(step)) path.run(e.section, e.row);
    }
    const range found = path.state(code.outputs[0]);
    return found.is_point() && !found.is_bounded() ? anything : found;
}

}  // namespace tilewalk::plan
