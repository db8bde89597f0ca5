// SPDX-License-Identifier: Apache-2.0
#include "engine/exercise/policy.h"

#include <cmath>

#include "tilewalk/error.h"

namespace tilewalk::exercise {

interval_moves::interval_moves(std::size_t normals) {
    constexpr std::size_t most_squared = 6;
    const int orders = normals == 1 ? 4 : normals <= most_squared ? 2 : 1;
    for (int order = 1; order <= orders; ++order)
        for (std::size_t n = 0; n < normals; ++n) moves_.push_back({n, n, order});
    if (normals > most_squared) return;
    for (std::size_t a = 0; a < normals; ++a)
        for (std::size_t b = a + 1; b < normals; ++b) moves_.push_back({a, b, 1});
}

void decide_today(policy& by, double to_come) {
    if (by.today) by.is_used_today = by.has_holder ? *by.today > to_come : *by.today < to_come;
}

void take_gain(policy& by, std::uint64_t paths, double sum, double squares) {
    const auto count = static_cast<double>(paths);
    by.gain_of_step = sum / count;
    by.error_of_gain = std::sqrt(squares) / count;
}

void throw_not_finite() {
    throw error(error_kind::numeric, "a path that trains a decision gave no finite number");
}

}  // namespace tilewalk::exercise
