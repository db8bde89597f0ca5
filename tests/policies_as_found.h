// SPDX-License-Identifier: Apache-2.0
// Policies of trades with rights, found by GPUs and by the CPU.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/book/book_state.h"
#include "engine/cpu/lane_operations.h"
#include "engine/cuda/policies.h"
#include "engine/exercise/training.h"
#include "engine/market/market_state.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::tests {

using named_untrained = std::vector<std::pair<std::string, exercise::untrained>>;

inline named_untrained untrained_of(const book& all, const market& in, std::uint64_t paths) {
    named_untrained out;
    for (const books::trade& t : all.state().trades) {
        if (t.failure) throw error(*t.failure);
        auto made = exercise::untrained_of(t, in.state(), paths, {});
        if (made && !made->is_certain && made->by.is_plain()) out.emplace_back(t.id, std::move(*made));
    }
    return out;
}

// All must be found, and be those of the CPU to the bit.
inline void expect_policies_of_the_cpu(const named_untrained& trades, cuda::policies& by) {
    constexpr std::uint64_t seed = 7;
    std::vector<const exercise::untrained*> of;
    for (const auto& [id, t] : trades) of.push_back(&t);
    const auto found = by.find(of, seed, nullptr);
    for (std::size_t i = 0; i < of.size(); ++i) {
        const std::string& id = trades[i].first;
        if (!found[i].by) {
            ADD_FAILURE() << id << ": " << (found[i].failure ? found[i].failure->what() : "");
            continue;
        }
        const exercise::policy expected =
            exercise::trained(*of[i], {seed, cpu::runnable_instruction_sets().sets[0], 2, {}, {}, nullptr});
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
            for (const auto side : {&exercise::decision_date::paid, &exercise::decision_date::unpaid}) {
                const std::string of_side = side == &exercise::decision_date::paid ? "paid, " : "unpaid, ";
                expect((a.*side).rank, (b.*side).rank, where + of_side + "rank");
                expect((a.*side).low, (b.*side).low, where + of_side + "least");
                expect((a.*side).high, (b.*side).high, where + of_side + "most");
                expect((a.*side).coefficients, (b.*side).coefficients, where + of_side + "coefficients");
            }
            expect(a.slopes, b.slopes, where + "slopes");
        }
        if (!differs) expect(got.first_slopes, expected.first_slopes, "slopes of today");
        expect(got.gain_of_step, expected.gain_of_step, "gain");
        expect(got.error_of_gain, expected.error_of_gain, "error of the gain");
    }
}

}  // namespace tilewalk::tests
