// SPDX-License-Identifier: Apache-2.0
// Finds the point along a direction of the normals at which a decision of a path turns, such as a price that
// meets a barrier: in closed form if an exponential meets a constant, else by Newton's method.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "products/program/integration/node_list.h"
#include "products/program/integration/rising_nodes.h"
#include "products/program/passes/enlarging.h"
#include "products/program/row_names.h"

namespace tilewalk::program {

// A section being written, with the roots of its truths along the direction of its steps.
class section_maker {
  public:
    section_maker(const path_program& p, std::size_t section, const rising_nodes& at,
                  const directed_steps& steps, std::vector<node>& into)
        : section_(section),
          steps_(steps),
          list_(into),
          from_(p.sections[section].nodes),
          at_(at),
          first_column_(p.sections[section].per_run.columns.size()),
          same_(list_.put_all(from_, [](index, const node&) { return std::nullopt; })) {}

    node_list& list() { return list_; }
    const std::vector<index>& same() const { return same_; }
    const std::vector<further_column>& columns() const { return columns_; }

    index column(std::string name, std::vector<double> by_run) {
        columns_.emplace_back(std::move(name), std::move(by_run));
        return list_.row(static_cast<index>(first_column_ + columns_.size() - 1));
    }
    // How far a state moves if the coordinate along the direction grows by 1.
    index rate(index state) {
        const auto [known, is_new] = rates_.try_emplace(state, nowhere);
        if (!is_new) return known->second;
        std::vector<double> by_run;
        for (const std::size_t step : steps_.before[section_]) by_run.push_back(steps_.rate(step, state));
        return known->second = column(row_names::numbered("rate along", state), std::move(by_run));
    }
    // The coordinate of the step's normal numbers along the direction.
    index place() {
        index out = nowhere;
        for (std::size_t slot = 0; slot < steps_.moves.slots().size(); ++slot) {
            if (!steps_.moves.slots()[slot]) continue;
            std::vector<double> by_run;
            for (const std::size_t step : steps_.before[section_])
                by_run.push_back(steps_.along.at(step)[slot]);
            const index by = column(row_names::numbered("along", slot), std::move(by_run));
            const index z = list_.put(node{operation::normal, {static_cast<index>(slot)}, 0});
            out = out == nowhere ? list_.put(operation::mul, by, z) : list_.put(operation::fma, by, z, out);
        }
        return out;
    }

    // The coordinate beyond which the truth is `wanted`; empty if no formula is found.
    std::optional<index> root(index truth, bool wanted) { return root_of_truth(truth, wanted); }

  private:
    static constexpr int steps_of_newton = 6;
    // A coordinate that no path reaches, and a logarithm whose exponential is 0.
    static constexpr double far_out = 64, least_logarithm = -1e4;
    using levels = std::vector<double>;  // by run

    std::optional<index> both(std::optional<index> a, std::optional<index> b, bool need_both) {
        if (!a || !b) return std::nullopt;
        return list_.put(need_both ? operation::max : operation::min, *a, *b);
    }
    std::optional<index> root_of_truth(index i, bool wanted) {
        if (!at_.depends(i)) {
            const index always = list_.number(-far_out), never = list_.number(far_out);
            return list_.put(operation::select, same_[i], wanted ? always : never, wanted ? never : always);
        }
        const node& n = from_[i];
        if (n.code == operation::logical_not) return root_of_truth(n.args[0], !wanted);
        if (joins_truths(n.code))
            return both(root_of_truth(n.args[0], wanted), root_of_truth(n.args[1], wanted),
                        (n.code == operation::logical_and) == wanted);
        const auto [less, more] = std::pair(n.args[0], n.args[1]);
        if (!at_.depends(less)) return root_of_number(more, less, wanted);
        if (!at_.depends(more)) return root_of_number(less, more, !wanted);
        return by_newton(more, less, {});
    }
    std::optional<index> root_of_number(index i, index level, bool rises) {
        if (!at_.is_uniform(level)) return std::nullopt;
        levels numbers;
        for (std::size_t run = 0; run < at_.runs(); ++run) numbers.push_back(at_.number(run, level));
        return root_of(i, std::move(numbers), rises);
    }
    // The coordinate at which a rising or falling number reaches a level.
    std::optional<index> root_of(index i, levels level, bool rises) {
        if (std::ranges::any_of(level, [](double x) { return std::isnan(x); })) return std::nullopt;
        const node& n = from_[i];
        const auto changed = [&](auto by) {
            for (std::size_t run = 0; run < level.size(); ++run) level[run] = by(run, level[run]);
            return level;
        };
        const auto uniform = [&](std::size_t k) { return at_.is_uniform(n.args[k]); };
        const auto number = [&](std::size_t run, std::size_t k) { return at_.number(run, n.args[k]); };
        switch (n.code) {
            case operation::state: {
                const index to = column("level", std::move(level));
                return list_.put(operation::div, list_.put(operation::sub, to, same_[i]), rate(n.args[0]));
            }
            case operation::min:
            case operation::max: {
                const bool need_both = (n.code == operation::min) == rises;
                return both(root_of(n.args[0], level, rises), root_of(n.args[1], level, rises), need_both);
            }
            case operation::exp:
                return root_of(n.args[0], changed([](std::size_t, double x) {
                                   return x > 0 ? std::log(x) : least_logarithm;
                               }),
                               rises);
            case operation::neg:
                return root_of(n.args[0], changed([](std::size_t, double x) { return -x; }), !rises);
            case operation::mul:
                for (const std::size_t k : {std::size_t{0}, std::size_t{1}})
                    if (uniform(k))
                        return root_of(n.args[1 - k],
                                       changed([&](std::size_t run, double x) { return x / number(run, k); }),
                                       rises == (at_.sign(n.args[k]) > 0));
                break;
            case operation::div:
                if (uniform(1))
                    return root_of(n.args[0],
                                   changed([&](std::size_t run, double x) { return x * number(run, 1); }),
                                   rises == (at_.sign(n.args[1]) > 0));
                break;
            case operation::add:
                for (const std::size_t k : {std::size_t{0}, std::size_t{1}})
                    if (uniform(k))
                        return root_of(n.args[1 - k],
                                       changed([&](std::size_t run, double x) { return x - number(run, k); }),
                                       rises);
                break;
            case operation::sub:
                if (uniform(1))
                    return root_of(n.args[0],
                                   changed([&](std::size_t run, double x) { return x + number(run, 1); }),
                                   rises);
                if (uniform(0))
                    return root_of(n.args[1],
                                   changed([&](std::size_t run, double x) { return number(run, 0) - x; }),
                                   !rises);
                break;
            default:
                break;
        }
        return by_newton(i, nowhere, std::move(level));
    }

    // A number as a function of the coordinate, and its derivative; `derivative` is nowhere if it is 0.
    struct tangent {
        index number = nowhere, derivative = nowhere;
    };
    bool is_smooth(index i) const {
        const node& n = from_[i];
        if (!at_.depends(i) || n.code == operation::state) return true;
        const bool is_one = n.code == operation::exp || n.code == operation::neg ||
                            n.code == operation::add || n.code == operation::sub ||
                            n.code == operation::mul || n.code == operation::div || n.code == operation::fma;
        return is_one && std::ranges::all_of(operands(n), [&](index arg) { return is_smooth(arg); });
    }
    index sum(index a, index b) {
        return a == nowhere ? b : b == nowhere ? a : list_.put(operation::add, a, b);
    }
    index product(index a, index b) { return b == nowhere ? nowhere : list_.put(operation::mul, a, b); }
    index opposite(index a) { return a == nowhere ? nowhere : list_.put(operation::neg, a); }
    tangent at(index i, index v, std::map<index, tangent>& known) {
        if (!at_.depends(i)) return {same_[i], nowhere};
        const auto found = known.find(i);
        if (found != known.end()) return found->second;
        const node& n = from_[i];
        std::array<tangent, 3> x{};
        for (std::size_t k = 0; k < operands(n).size(); ++k) x[k] = at(n.args[k], v, known);
        tangent out;
        if (n.code == operation::state) {
            const index by = rate(n.args[0]);
            out = {v == nowhere ? same_[i] : list_.put(operation::fma, by, v, same_[i]), by};
        } else {
            out.number = list_.put(n.code, x[0].number, x[1].number, x[2].number);
            switch (n.code) {
                case operation::exp:
                    out.derivative = product(out.number, x[0].derivative);
                    break;
                case operation::neg:
                    out.derivative = opposite(x[0].derivative);
                    break;
                case operation::add:
                    out.derivative = sum(x[0].derivative, x[1].derivative);
                    break;
                case operation::sub:
                    out.derivative = sum(x[0].derivative, opposite(x[1].derivative));
                    break;
                case operation::div: {
                    const index top = sum(x[0].derivative, opposite(product(out.number, x[1].derivative)));
                    out.derivative = top == nowhere ? nowhere : list_.put(operation::div, top, x[1].number);
                    break;
                }
                default: {
                    const index of_product =
                        sum(product(x[1].number, x[0].derivative), product(x[0].number, x[1].derivative));
                    out.derivative = n.code == operation::fma ? sum(of_product, x[2].derivative) : of_product;
                }
            }
        }
        return known[i] = out;
    }
    struct side {
        std::vector<std::pair<index, bool>> parts{};  // nodes to be added; true: negate first
        index constant = nowhere;
        bool is_empty() const { return parts.empty() && constant == nowhere; }
    };
    // Splits a sum into positive terms, `its`, and negative ones, `other`; false if a sign is unknown.
    bool split(index i, bool is_for, side& its, side& other) const {
        const node& n = from_[i];
        if (n.code == operation::add || n.code == operation::sub)
            return split(n.args[0], is_for, its, other) &&
                   split(n.args[1], is_for == (n.code == operation::add), its, other);
        if (n.code == operation::neg) return split(n.args[0], !is_for, its, other);
        const int sign = at_.sign_on_paths(i);
        if (sign == 0 || !is_smooth(i)) return false;
        ((sign > 0) == is_for ? its : other).parts.emplace_back(i, sign < 0);
        return true;
    }
    tangent logarithm(const side& of, index v, std::map<index, tangent>& known) {
        tangent all{of.constant, nowhere};
        for (const auto& [i, is_negative] : of.parts) {
            const tangent x = at(i, v, known);
            all = {sum(all.number, is_negative ? opposite(x.number) : x.number),
                   sum(all.derivative, is_negative ? opposite(x.derivative) : x.derivative)};
        }
        return {list_.put(operation::log, all.number),
                all.derivative == nowhere ? nowhere : list_.put(operation::div, all.derivative, all.number)};
    }
    // The coordinate at which `more`, less `less` if given, reaches a level. Newton's method compares the
    // logarithms of two sums of exponentials, which are nearly linear.
    std::optional<index> by_newton(index more, index less, levels level) {
        side its, other;
        if (!split(more, true, its, other) || (less != nowhere && !split(less, false, its, other)))
            return std::nullopt;
        const auto all_are = [&](auto test) { return std::ranges::all_of(level, test); };
        const bool is_above = all_are([](double x) { return x > 0; }),
                   is_below = all_are([](double x) { return x < 0; });
        if (!all_are([](double x) { return std::isfinite(x); })) return std::nullopt;
        if (!level.empty() && (is_above || is_below)) {
            for (double& x : level) x = std::abs(x);
            (is_above ? other : its).constant = column("level", std::move(level));
        } else if (!all_are([](double x) { return x == 0; })) {
            return std::nullopt;
        }
        if (its.is_empty() || other.is_empty()) return std::nullopt;
        const index most = list_.number(far_out), least = list_.number(-far_out);
        index v = nowhere;
        for (int step = 0; step < steps_of_newton; ++step) {
            std::map<index, tangent> known;
            const tangent a = logarithm(its, v, known), b = logarithm(other, v, known);
            const index slope = sum(a.derivative, opposite(b.derivative));
            if (slope == nowhere) return std::nullopt;
            const index by = list_.put(operation::div, list_.put(operation::sub, a.number, b.number), slope);
            v = v == nowhere ? list_.put(operation::neg, by) : list_.put(operation::sub, v, by);
            v = list_.put(operation::max, list_.put(operation::min, v, most), least);
        }
        return v;
    }

    std::size_t section_;
    const directed_steps& steps_;
    node_list list_;
    const std::vector<node>& from_;
    const rising_nodes& at_;
    std::size_t first_column_;
    std::vector<further_column> columns_;
    std::map<index, index> rates_;
    std::vector<index> same_;
};

}  // namespace tilewalk::program
