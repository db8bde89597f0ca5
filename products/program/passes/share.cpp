// SPDX-License-Identifier: Apache-2.0
// Common subexpression elimination: equal operations on equal operands become one node.
#include <map>
#include <tuple>

#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

program share(const program& p) {
    using key = std::tuple<operation, std::array<index, 3>, std::uint64_t>;
    std::map<key, index> seen;
    const section* of = nullptr;
    return rebuild(p, [&](section& into, const node& n) -> index {
        if (of != &into) {
            seen.clear();
            of = &into;
        }
        const key k{n.code, n.args, std::bit_cast<std::uint64_t>(n.number)};
        if (const auto found = seen.find(k); found != seen.end()) return found->second;
        const index i = append(into, n);
        seen.emplace(k, i);
        return i;
    });
}

}  // namespace tilewalk::program
