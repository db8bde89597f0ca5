// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "products/program/evaluate.h"
#include "products/program/integration/step_moves.h"

namespace tilewalk::program {

// The nodes of a section being made; folds selects on known truths.
class node_list {
  public:
    explicit node_list(std::vector<node>& into) : into_(into) {}
    index number(double x) { return append(into_, {operation::constant, {}, x}); }
    index state(index s) { return append(into_, {operation::state, {s}, 0}); }
    index row(index column) { return append(into_, {operation::row, {column}, 0}); }
    index term(index column) { return append(into_, {operation::term, {column}, 0}); }
    known_number known(index i) const {
        return into_[i].code == operation::constant ? known_number(into_[i].number) : std::nullopt;
    }

    index put(operation code, index a, index b = 0, index c = 0) { return put({code, {a, b, c}, 0}); }
    index put(const node& n) {
        const auto& a = n.args;
        const auto is = [&](std::size_t k, double x) { return known(a[k]) == x; };
        const auto beside = [&](double nothing) {
            return is(0, nothing) ? a[1] : is(1, nothing) ? a[0] : nowhere;
        };
        switch (n.code) {
            case operation::select:
                if (const known_number truth = known(a[0])) return *truth != 0 ? a[1] : a[2];
                if (a[1] == a[2] || (known(a[1]) && known(a[1]) == known(a[2]))) return a[1];
                break;
            case operation::logical_not:
                if (const known_number truth = known(a[0])) return number(*truth != 0 ? 0 : 1);
                break;
            case operation::logical_and:
            case operation::mul:
                if (is(0, 0) || is(1, 0)) return number(0);
                if (const index other = beside(1); other != nowhere) return other;
                break;
            case operation::logical_or:
                if (is(0, 1) || is(1, 1)) return number(1);
                [[fallthrough]];
            case operation::add:
                if (const index other = beside(0); other != nowhere) return other;
                break;
            case operation::fma:
                if (is(0, 0) || is(1, 0)) return a[2];
                if (is(2, 0)) return put(operation::mul, a[0], a[1]);
                break;
            case operation::sub:
                if (is(1, 0)) return a[0];
                [[fallthrough]];
            default:
                const auto of = operands(n);
                const bool is_known =
                    !of.empty() && is_function(n.code) &&
                    std::ranges::all_of(of, [&](index arg) { return known(arg).has_value(); });
                if (!is_known) break;
                const auto at = [&](std::size_t k) { return k < of.size() ? *known(a[k]) : 0.0; };
                return number(evaluate(n.code, at(0), at(1), at(2)));
        }
        return append(into_, n);
    }

    // Copies the nodes of another section, except where `standing_for` gives a replacement.
    std::vector<index> put_all(const std::vector<node>& from,
                               const std::function<std::optional<index>(index, const node&)>& standing_for) {
        std::vector<index> out;
        for (index i = 0; i < from.size(); ++i) {
            node n = from[i];
            for (index& arg : operands(n)) arg = out[arg];
            const std::optional<index> other = standing_for(i, from[i]);
            out.push_back(other ? *other : put(n));
        }
        return out;
    }

  private:
    std::vector<node>& into_;
};

}  // namespace tilewalk::program
