// SPDX-License-Identifier: Apache-2.0
// The derivative rule of each operation: how a derivative is carried from the operation's result to an
// operand on the way back, and from an operand to the result on the way forward.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

class derivative_rules {
  public:
    enum class way : std::uint8_t { back, forth };

    // Appends nodes to `into`, which begins with the nodes, rows and tables of `from`. `truths` marks the
    // nodes of `from` that hold truths of smoothed comparisons.
    derivative_rules(const lane_section& from, std::vector<bool> truths, way, section& into);

    // Gives the comparison a derivative, which reads 1 / width from a row of its own.
    void smooth(index comparison);

    bool is_passed(index of, std::size_t operand) const;
    // The derivative d carried through node `of`. On the way forward, d may be infinite for a finite value.
    index through(index of, std::size_t operand, index d, bool may_be_infinite = false);
    // True if the derivative carried through the node may be infinite where the node's value is finite.
    bool makes_infinite(index of) const;

    struct choice {
        index condition;
        std::size_t if_so, if_not;  // operand taken if the condition is true; else
    };
    static bool is_choice(operation code);
    static bool decides(operation code, std::size_t operand) {
        return code == operation::select && operand == 0;
    }
    choice choice_of(index of);

    index plus(index a, index b) { return a == nowhere ? b : put(operation::add, {a, b}); }
    index constant(double x) { return append(into_.nodes, {operation::constant, {}, x}); }
    // Callers give the operands in braces, which fix the order in which compilers evaluate nested calls.
    index put(operation code, std::array<index, 3> of) { return append(into_.nodes, {code, of, 0}); }

  private:
    index product(index a, index b) { return put(operation::mul, {a, b}); }
    index where(index condition, index d) { return put(operation::select, {condition, d, constant(0)}); }
    index unless(index condition, index d) { return put(operation::select, {condition, constant(0), d}); }
    index if_taken(index derivative, index product);
    index quotient(index d, index by);
    index times(index d, bool may_be_infinite, index factor, bool is_unbounded);
    index decided(index d, bool may_be_infinite, index if_so, index if_not);
    index smoothed(index of, index d);
    index bell(index x, double factor);
    index slope(index position, index table);

    const lane_section& from_;
    std::vector<bool> is_truth_;
    way way_;
    std::vector<bool> unbounded_;
    section& into_;
    std::vector<index> narrowness_;  // by node of `from_`: one over the width
};

}  // namespace tilewalk::program
