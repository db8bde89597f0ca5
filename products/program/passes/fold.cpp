// SPDX-License-Identifier: Apache-2.0
// Constant folding: computes operations on constants and drops identities.
#include "products/program/evaluate.h"
#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

namespace {

bool is(const node& n, double number) {
    return n.code == operation::constant &&
           std::bit_cast<std::uint64_t>(n.number) == std::bit_cast<std::uint64_t>(number);
}

}  // namespace

program fold(const program& p) {
    return rebuild(p, [&](section& into, const node& n) -> index {
        // Only functions are folded: a table's numbers are data, not part of the program.
        if (!is_function(n.code)) return append(into, n);
        const int arity = entry_of(n.code).arity;
        const auto arg = [&](int i) -> const node& {
            return into.nodes[n.args[static_cast<std::size_t>(i)]];
        };
        bool all_constant = true;
        for (int i = 0; i < arity; ++i) all_constant = all_constant && arg(i).code == operation::constant;
        if (all_constant) {
            const auto number = [&](int i) { return i < arity ? arg(i).number : 0.0; };
            return append(into, {operation::constant, {}, evaluate(n.code, number(0), number(1), number(2))});
        }
        // Apply only identities that hold for every operand, including -0.0, infinities and NaN.
        switch (n.code) {
            case operation::mul:
                if (is(arg(1), 1.0)) return n.args[0];
                if (is(arg(0), 1.0)) return n.args[1];
                break;
            case operation::div:
                if (is(arg(1), 1.0)) return n.args[0];
                break;
            case operation::sub:
                if (is(arg(1), 0.0)) return n.args[0];
                break;
            case operation::add:
                if (is(arg(1), -0.0)) return n.args[0];
                if (is(arg(0), -0.0)) return n.args[1];
                break;
            case operation::neg:
                if (arg(0).code == operation::neg) return arg(0).args[0];
                break;
            case operation::logical_and:
                if (is(arg(0), 1.0) && entry_of(arg(1).code).result == result_type::truth) return n.args[1];
                if (is(arg(1), 1.0) && entry_of(arg(0).code).result == result_type::truth) return n.args[0];
                break;
            case operation::logical_or:
                if (is(arg(0), 0.0) && entry_of(arg(1).code).result == result_type::truth) return n.args[1];
                if (is(arg(1), 0.0) && entry_of(arg(0).code).result == result_type::truth) return n.args[0];
                break;
            case operation::select:
                if (arg(0).code == operation::constant) return arg(0).number != 0 ? n.args[1] : n.args[2];
                if (n.args[1] == n.args[2]) return n.args[1];
                break;
            default:
                break;
        }
        return append(into, n);
    });
}

}  // namespace tilewalk::program
