// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "products/program/passes.h"

namespace tilewalk::program {

namespace {

constexpr std::array all{
    pass{"fold", "computes what is constant and drops operations that change nothing", &fold, false},
    pass{"share", "one node for equal operations on equal operands", &share, false},
    pass{"drop_dead", "drops nodes, writes and states that no output depends on", &drop_dead, false},
    pass{"regroup", "multiplies factors that are alike for all paths among themselves", &regroup, true},
    pass{"fold", "once more", &fold, true},
    pass{"share", "once more", &share, true},
    pass{"drop_dead", "once more", &drop_dead, true},
};

void check([[maybe_unused]] const program& p, [[maybe_unused]] std::string_view after) {
#ifndef NDEBUG
    if (const std::string fault = fault_of(p); !fault.empty())
        throw std::logic_error("after " + std::string(after) + ": " + fault);
#endif
}

}  // namespace

std::span<const pass> passes() {
    return all;
}

program optimise(const program& p, const pass_options& with) {
    program out = p;
    check(out, "recording");
    for (const pass& one : all) {
        if ((one.is_fast && !with.is_fast) ||
            std::ranges::find(with.left_out, one.name) != with.left_out.end())
            continue;
        out = one.run(out);
        check(out, one.name);
    }
    return out;
}

}  // namespace tilewalk::program
