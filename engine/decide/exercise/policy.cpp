// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/exercise/policy.h"

#include <algorithm>
#include <cmath>

#include "tilewalk/error.h"

namespace tilewalk::exercise {

interval_moves::interval_moves(std::size_t normals, bool are_ranked) : normals_(normals) {
    if (are_ranked) {
        add_ranked();
        return;
    }
    constexpr std::size_t most_squared = 6;
    const int orders = normals == 1 ? 4 : normals <= most_squared ? 2 : 1;
    for (int order = 1; order <= orders; ++order)
        for (std::size_t n = 0; n < normals; ++n) moves_.push_back({n, n, order});
    if (normals > most_squared) return;
    for (std::size_t a = 0; a < normals; ++a)
        for (std::size_t b = a + 1; b < normals; ++b) moves_.push_back({a, b, 1});
}

// Up to 16 ranked normals have a move of order 1 each; the first three have all moves of order 2 and their
// own of order 3, and the first has its square times the second. More normals have order 1 alone. Kernels
// know polynomials of one column, and products of two columns: a polynomial that is a factor becomes a
// column. More moves would spill registers.
void interval_moves::add_ranked() {
    const std::size_t n = normals_;
    for (std::size_t a = 0; a < n; ++a) moves_.push_back({a, a, 1});
    if (n > most_with_powers) return;
    const std::size_t first_three = std::min<std::size_t>(n, 3);
    for (std::size_t a = 0; a < first_three; ++a) {
        moves_.push_back({a, a, 2});
        for (std::size_t b = a + 1; b < first_three; ++b) moves_.push_back({a, b, 1});
    }
    for (std::size_t a = 0; a < first_three; ++a) moves_.push_back({a, a, 3});
    if (n < 2) return;
    powers_.push_back({0, 2});
    moves_.push_back({n, 1, 1});
}

bool policy::tells_volatilities() const {
    return std::ranges::any_of(
        made, [](const made_feature& f) { return f.is == made_feature::feature_type::of_compared; });
}

void drop_martingale(policy& of) {
    of.normals.clear();
    of.rotation.clear();
    of.are_normals_ranked = false;
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
