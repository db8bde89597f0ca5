// SPDX-License-Identifier: Apache-2.0
// Seeds of all that a run walks beside its prices: no two purposes have one in common, nor have near seeds.
#include "engine/decide/seeds.h"

#include <gtest/gtest.h>

#include <set>

namespace tilewalk::seeds_test {
namespace {

TEST(seeds, of_purposes_and_parts_are_all_different) {
    std::set<std::uint64_t> found;
    std::size_t count = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        found.insert(seed);
        ++count;
        for (const decide::purpose what : decide::all_purposes()) {
            found.insert(decide::seed_for(seed, what));
            ++count;
        }
        for (std::uint64_t part = 0; part < 64; ++part) {
            found.insert(decide::seed_of_part(seed, part));
            found.insert(decide::seed_of_round(seed, std::uint64_t{65536} << (part / 4) | part % 4));
            count += 2;
        }
    }
    EXPECT_EQ(found.size(), count);
}

}  // namespace
}  // namespace tilewalk::seeds_test
