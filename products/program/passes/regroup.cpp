// SPDX-License-Identifier: Apache-2.0
// Gathers the factors of a product that are the same for all paths.
#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

program regroup(const program& p) {
    std::vector<reach> known;
    const section* of = nullptr;
    return rebuild(p, [&](section& into, const node& n) -> index {
        if (of != &into) {
            known.clear();
            of = &into;
        }
        extend(known, into.nodes);
        if (n.code != operation::mul && n.code != operation::div) return append(into, n);
        const auto is_uniform = [&](index i) { return known[i] != reach::path; };
        index of_path = n.args[0], factor = n.args[1];
        if (n.code == operation::mul && is_uniform(of_path)) std::swap(of_path, factor);
        if (is_uniform(of_path) || !is_uniform(factor)) return append(into, n);
        if (n.code == operation::div) {
            const index one = append(into, {operation::constant, {}, 1.0});
            factor = append(into, {operation::div, {one, factor, 0}, 0});
        }
        // The pass puts the uniform factor of its products second.
        const node inner = into.nodes[of_path];
        if (inner.code == operation::mul && is_uniform(inner.args[1])) {
            of_path = inner.args[0];
            factor = append(into, {operation::mul, {inner.args[1], factor, 0}, 0});
        }
        return append(into, {operation::mul, {of_path, factor, 0}, 0});
    });
}

}  // namespace tilewalk::program
