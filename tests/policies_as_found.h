// SPDX-License-Identifier: Apache-2.0
// Exercise policies of trades with rights: those that GPUs train have the bits of those that the CPU trains.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/decide/exercise/training.h"
#include "engine/decide/policies/policies.h"
#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"
#include "engine/walk/arrays/shock_cube.h"
#include "engine/walk/cpu/lane_operations.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::tests {

using named_untrained = std::vector<std::pair<std::string, exercise::untrained>>;

inline named_untrained untrained_of(const book& all, const market& in, std::uint64_t paths,
                                    exercise::found_beside wanted = exercise::found_beside::bound_and_gain) {
    named_untrained out;
    for (const books::trade& t : state_of(all).trades) {
        if (t.failure) throw error(*t.failure);
        auto made = exercise::untrained_of(t, state_of(in), paths, {}, wanted);
        if (made && !made->is_certain) out.emplace_back(t.id, std::move(*made));
    }
    return out;
}

// Expects that `by` finds a policy for every trade, with the bits of the one that the CPU trains.
inline void expect_policies_of_the_cpu(const named_untrained& trades, cuda::policies& by,
                                       std::span<const arrays::shock_cube> scenarios = {}) {
    constexpr std::uint64_t seed = 7;
    ASSERT_FALSE(trades.empty());
    std::vector<cuda::wanted_policy> of;
    for (const auto& [id, t] : trades) of.push_back({&t, scenarios});
    const auto found = by.find(of, seed, nullptr);
    for (std::size_t i = 0; i < of.size(); ++i) {
        const std::string& id = trades[i].first;
        if (!found[i].by) {
            ADD_FAILURE() << id << ": " << (found[i].failure ? found[i].failure->what() : "");
            continue;
        }
        const exercise::policy expected = exercise::trained(
            *of[i].of, {seed, cpu::runnable_instruction_sets().sets[0], 2, scenarios, {}, nullptr});
        const exercise::policy& got = *found[i].by;
        EXPECT_EQ(got.paths, expected.paths) << id;
        EXPECT_EQ(got.is_used_today, expected.is_used_today) << id;
        ASSERT_EQ(got.dates.size(), expected.dates.size()) << id;
        bool differs = false;
        const auto expect = [&](const auto& a, const auto& b, const std::string& what) {
            EXPECT_EQ(a, b) << id << ", " << what;
            differs = differs || a != b;
        };
        for (std::size_t d = expected.dates.size(); d-- > 0 && !differs;) {
            const auto &a = got.dates[d], &b = expected.dates[d];
            const std::string where = "date " + std::to_string(d) + ", ";
            expect(a.means, b.means, where + "means");
            expect(a.scales, b.scales, where + "scales");
            const auto expect_fit = [&](const auto& one, const auto& other, const std::string& place) {
                const auto expect_side = [&](const exercise::fitted_side& x, const exercise::fitted_side& y,
                                             const std::string& of_side) {
                    expect(x.rank, y.rank, place + of_side + "rank");
                    expect(x.low, y.low, place + of_side + "least");
                    expect(x.high, y.high, place + of_side + "most");
                    expect(x.coefficients, y.coefficients, place + of_side + "coefficients");
                };
                expect_side(one.paid, other.paid, "paid, ");
                expect_side(one.unpaid, other.unpaid, "unpaid, ");
                expect(one.slopes, other.slopes, place + "slopes");
            };
            expect_fit(a, b, where);
            expect(a.forced_from, b.forced_from, where + "forced from");
            ASSERT_EQ(a.levels.size(), b.levels.size()) << id << ", " << where;
            for (std::size_t l = 0; l < b.levels.size(); ++l)
                expect_fit(a.levels[l], b.levels[l], where + "level " + std::to_string(l) + ", ");
        }
        if (!differs) expect(got.first_slopes, expected.first_slopes, "slopes of today");
        if (!differs)
            expect(got.first_slopes_by_uses, expected.first_slopes_by_uses, "slopes of today by uses");
        expect(got.gain_of_step, expected.gain_of_step, "gain");
        expect(got.error_of_gain, expected.error_of_gain, "error of the gain");
    }
}

}  // namespace tilewalk::tests
