// SPDX-License-Identifier: Apache-2.0
#include "products/program/passes/derivative_rules.h"

#include <string>
#include <utility>

namespace tilewalk::program {

namespace {

bool is_never_negative(const std::vector<node>& nodes, index i) {
    const node& n = nodes[i];
    const auto is_floor = [&](index arg) {
        return nodes[arg].code == operation::constant && nodes[arg].number >= 0;
    };
    return n.code == operation::abs ||
           (n.code == operation::max && (is_floor(n.args[0]) || is_floor(n.args[1])));
}

// Marks nodes that may be infinite or NaN on a path that does not select them.
std::vector<bool> unbounded(const std::vector<node>& nodes) {
    std::vector<bool> out(nodes.size(), false);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        switch (nodes[i].code) {
            case operation::div:
            case operation::log:
            case operation::pow:
            case operation::norm_inv:
            case operation::normal_to_exponential:
                out[i] = true;
                break;
            case operation::sqrt:
                out[i] = out[nodes[i].args[0]] || !is_never_negative(nodes, nodes[i].args[0]);
                break;
            default:
                for (const index arg : operands(nodes[i])) out[i] = out[i] || out[arg];
        }
    }
    return out;
}

constexpr double one_over_root_two_pi = 0x1.9884533d43651p-2;

}  // namespace

derivative_rules::derivative_rules(const lane_section& from, std::vector<bool> truths, way to, section& into)
    : from_(from),
      is_truth_(std::move(truths)),
      way_(to),
      unbounded_(unbounded(from.nodes)),
      into_(into),
      narrowness_(from.nodes.size(), nowhere) {
    into.name = from.name;
    into.nodes = from.nodes;
    for (std::size_t c = 0; c < from.per_run.columns.size(); ++c)
        into.rows.push_back("column " + std::to_string(c));
    for (std::size_t t = 0; t < from.tables.size(); ++t)
        into.tables.push_back({"table " + std::to_string(t), from.tables[t].size});
}

void derivative_rules::smooth(index comparison) {
    narrowness_[comparison] = put(operation::row, {static_cast<index>(into_.rows.size())});
    into_.rows.push_back("narrowness " + std::to_string(comparison));
}

bool derivative_rules::is_passed(index of, std::size_t operand) const {
    const node& n = from_.nodes[of];
    switch (n.code) {
        case operation::floor:
            return false;
        case operation::flaw:
            return operand == 2;
        case operation::less:
        case operation::less_equal:
            return narrowness_[of] != nowhere;
        case operation::equal:
            return is_truth_[n.args[0]] && is_truth_[n.args[1]];
        case operation::logical_not:
        case operation::logical_and:
        case operation::logical_or:
            return is_truth_[n.args[operand]];
        case operation::select:
            return operand > 0 || is_truth_[n.args[0]];
        default:
            return true;
    }
}

bool derivative_rules::makes_infinite(index of) const {
    switch (from_.nodes[of].code) {
        case operation::div:
            return from_.nodes[from_.nodes[of].args[1]].code != operation::constant;
        case operation::log:
        case operation::pow:
        case operation::norm_inv:
            return true;
        default:
            return false;
    }
}

bool derivative_rules::is_choice(operation code) {
    return code == operation::min || code == operation::max || code == operation::select;
}

// The operand that min, max or select takes; at a tie of min or max, the first one.
derivative_rules::choice derivative_rules::choice_of(index of) {
    const auto [a, b, c] = from_.nodes[of].args;
    switch (from_.nodes[of].code) {
        case operation::min:
            return {put(operation::less, {b, a}), 1, 0};
        case operation::max:
            return {put(operation::less, {a, b}), 1, 0};
        default:
            return {a, 1, 2};
    }
}

index derivative_rules::through(index of, std::size_t operand, index d, bool may_be_infinite) {
    const node n = from_.nodes[of];
    const auto [a, b, c] = n.args;
    const auto by = [&](index factor, index factor_of) {
        return times(d, may_be_infinite, factor, unbounded_[factor_of]);
    };
    switch (n.code) {
        case operation::neg:
            return put(operation::neg, {d});
        case operation::abs:
            return put(operation::select,
                       {put(operation::less, {a, constant(0)}), put(operation::neg, {d}), d});
        case operation::sqrt: {
            const index half = put(operation::div, {product(constant(0.5), d), of});
            return where(put(operation::less, {constant(0), of}), half);
        }
        case operation::exp:
            return by(of, of);
        case operation::log:
            return quotient(d, a);
        case operation::sin:
            return by(put(operation::cos, {a}), a);
        case operation::cos:
            return by(put(operation::neg, {put(operation::sin, {a})}), a);
        case operation::norm_cdf:
            return by(bell(a, one_over_root_two_pi), a);
        case operation::norm_inv:
            return quotient(d, bell(of, one_over_root_two_pi));
        case operation::normal_to_exponential:
            // The derivative is density(x) / P(X > x), and 0 below -1 and above 9, where x is clamped.
            return where(put(operation::logical_and, {put(operation::less, {constant(-1), a}),
                                                      put(operation::less, {a, constant(9)})}),
                         product(d, product(bell(a, one_over_root_two_pi), put(operation::exp, {of}))));
        case operation::sub:
            return operand == 0 ? d : put(operation::neg, {d});
        case operation::mul:
        case operation::fma:
            return operand == 2 ? d : by(n.args[1 - operand], n.args[1 - operand]);
        case operation::div: {
            const index over = put(operation::div, {d, b});
            if (way_ == way::forth) {
                return operand == 0 ? over : put(operation::neg, {times(over, may_be_infinite, of, true)});
            }
            if (operand == 1) return if_taken(d, put(operation::neg, {product(over, of)}));
            return from_.nodes[b].code == operation::constant ? over : if_taken(d, over);
        }
        case operation::pow: {
            const auto made = [&](index factor) { return times(d, may_be_infinite, factor, true); };
            const index raised =
                operand == 1
                    ? made(product(of, put(operation::log, {a})))
                    : made(product(b, put(operation::pow, {a, put(operation::sub, {b, constant(1)})})));
            // At 0 the power is finite, but its derivative may be infinite.
            return way_ == way::forth ? if_taken(d, raised) : raised;
        }
        case operation::select:
            if (operand == 0) return decided(d, may_be_infinite, b, c);
            [[fallthrough]];
        case operation::min:
        case operation::max: {
            const choice one = choice_of(of);
            return operand == one.if_so ? where(one.condition, d) : unless(one.condition, d);
        }
        case operation::less:
        case operation::less_equal: {
            const index bump = smoothed(of, d);
            return operand == 1 ? bump : put(operation::neg, {bump});
        }
        case operation::equal:
            // `equal` of two truths is one of them or, if the other is false, its negation.
            return put(operation::select, {n.args[1 - operand], d, put(operation::neg, {d})});
        case operation::logical_not:
            return put(operation::neg, {d});
        case operation::logical_and:
            return where(n.args[1 - operand], d);
        case operation::logical_or:
            return unless(n.args[1 - operand], d);
        case operation::interpolate:
            return times(d, may_be_infinite, slope(a, b), false);
        default:
            return d;
    }
}

index derivative_rules::if_taken(index derivative, index product) {
    return unless(put(operation::equal, {derivative, constant(0)}), product);
}

index derivative_rules::quotient(index d, index by) {
    const index made = put(operation::div, {d, by});
    return way_ == way::back ? if_taken(d, made) : made;
}

// d times factor, without 0 * infinity = NaN. On the way back the factor may be infinite where no path
// selects it. On the way forward, an infinite derivative may meet a factor 0 of the payoff.
index derivative_rules::times(index d, bool may_be_infinite, index factor, bool is_unbounded) {
    const index made = product(d, factor);
    if (way_ == way::back) return is_unbounded ? if_taken(d, made) : made;
    return may_be_infinite ? if_taken(factor, made) : made;
}

// d times the difference between a truth's two outcomes, if_so and if_not.
index derivative_rules::decided(index d, bool may_be_infinite, index if_so, index if_not) {
    const index difference = put(operation::sub, {if_so, if_not});
    const bool is_unbounded = unbounded_[if_so] || unbounded_[if_not];
    // On the way forward too, a zero derivative times an infinite difference has to be 0.
    if (way_ == way::forth && is_unbounded) return if_taken(d, product(d, difference));
    return times(d, may_be_infinite, difference, is_unbounded);
}

// d times a smoothing kernel: 15 / 32 (3 - 10 x^2 + 7 x^4) / width for |x| < 1, x = (b - a) / width.
index derivative_rules::smoothed(index of, index d) {
    const auto [a, b, c] = from_.nodes[of].args;
    const index x = product(put(operation::sub, {b, a}), narrowness_[of]);
    const index squared = product(x, x);
    const index inner = put(operation::fma, {squared, constant(7.0 * 15 / 32), constant(-10.0 * 15 / 32)});
    const index bump = put(operation::fma, {squared, inner, constant(3.0 * 15 / 32)});
    return where(put(operation::less, {squared, constant(1)}), product(d, product(bump, narrowness_[of])));
}

// factor * exp(-x^2 / 2).
index derivative_rules::bell(index x, double factor) {
    return product(constant(factor), put(operation::exp, {product(constant(-0.5), product(x, x))}));
}

// The difference of the table's two numbers around a position; 0 beyond the table's ends.
index derivative_rules::slope(index position, index table) {
    const auto last = static_cast<double>(from_.tables[table].size - 1);
    const auto at = [&](index x) { return put(operation::interpolate, {x, table}); };
    const index below =
        put(operation::min,
            {put(operation::floor, {put(operation::max, {position, constant(0)})}), constant(last - 1)});
    const index rise = put(operation::sub, {at(put(operation::add, {below, constant(1)})), at(below)});
    const index is_inside =
        put(operation::logical_and, {put(operation::less_equal, {constant(0), position}),
                                     put(operation::less_equal, {position, constant(last)})});
    return where(is_inside, rise);
}

}  // namespace tilewalk::program
