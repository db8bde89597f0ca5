// SPDX-License-Identifier: Apache-2.0
// Unites programs with the same step into one that has the sections of all; a trade's timeline runs its own
// sections only. Terms that choose between branches of a script make dozens of shapes, each with a kernel to
// compile; united, they make a few. No bit changes: every section does the same on the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "products/program/passes.h"
#include "products/program/timeline.h"

namespace tilewalk::plan {

// The places of a program's sections and states in its united program.
struct seat {
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    std::size_t program = 0;
    std::vector<std::uint32_t> sections;  // by section; nowhere if it does nothing
    std::vector<std::uint32_t> states;    // by state
};

struct united_programs {
    // For walking only: arithmetic done once per trade is left out, since a trade's data is bound before.
    std::vector<program::path_program> programs;
    std::vector<seat> seats;  // by program in `shapes`
};

// Limit on united programs that differ in sections on every step. Up to this many stay apart, since such a
// section needs no test; beyond, it stays on every step only if all programs united with it run it so.
inline constexpr std::size_t most_programs_apart = 16;

// The more sections a program may have, the fewer programs there are, but the more registers a trade takes
// for sections of others: a book of 10,000 mixed trades takes 30 kernels of 6 sections, 22 of 8, or 11 of 16,
// one of which spills. The order of `shapes` does not matter.
united_programs unite(std::span<const program::path_program* const> shapes, std::size_t most_sections = 8);

program::path_data seated(const program::path_data& data, const seat& to, const program::path_program& into);
program::timeline seated(const program::timeline& when, const seat& to);

}  // namespace tilewalk::plan
