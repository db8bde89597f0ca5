// SPDX-License-Identifier: Apache-2.0
// Seeds that follow from a run's seed, for all that it walks beside prices: no two purposes, and no two
// neighbouring seeds, share one.
#include "engine/decide/seeds.h"

#include <gtest/gtest.h>

#include <map>
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

// Expected seeds are from a Philox and a SplitMix64 in Python that pass the known answers of Random123 and of
// Vigna. Versions must agree, so that a run that is continued or repeated walks the same paths.
TEST(seeds, are_those_of_every_version) {
    using decide::purpose;
    const std::map<purpose, std::uint64_t> of_42{
        {purpose::points, 0x2441d5a8926b648d},       {purpose::controls, 0xa2d840c787a98ec7},
        {purpose::importance, 0x383cba6997d1fdf0},   {purpose::treatments, 0x9e3779b97f4a7c3f},
        {purpose::training, 0x3c9b9ea46ba79b8e},     {purpose::bounds, 0xc13ef03773f6390c},
        {purpose::nested_bounds, 0x89f2d345dc75b330}};
    for (const purpose what : decide::all_purposes())
        EXPECT_EQ(decide::seed_for(42, what), of_42.at(what)) << static_cast<int>(what);
    EXPECT_EQ(decide::seed_of_part(42, 3), 0xd0987fe74d4f4a72);
    EXPECT_EQ(decide::seed_of_round(42, 65536), 0x6ec0812cbff90ca0);
}

}  // namespace
}  // namespace tilewalk::seeds_test
