// SPDX-License-Identifier: Apache-2.0
// Unites programs of the same step into one that has the sections of all; a trade's timeline runs those that
// are its own. Terms that choose between branches of a script make dozens of shapes, each a kernel to
// compile; united they make a few. No bit changes: every section does what it did, on the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "products/program/passes.h"
#include "products/program/timeline.h"

namespace tilewalk::plan {

// The places of a program's parts in its united program.
struct seat {
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    std::size_t program = 0;
    std::vector<std::uint32_t> sections;  // by section; nowhere if it does nothing and never runs
    std::vector<std::uint32_t> states;    // by state
};

struct united_programs {
    // For walking only: uniform code is empty, since a trade's data is bound before it moves in.
    std::vector<program::path_program> programs;
    std::vector<seat> seats;  // by program given
};

// Limit on programs with the same step but other sections on every step: not to test for such a section is
// faster. Among more, a section stays on every step only if all united programs run it so.
inline constexpr std::size_t most_programs_apart = 16;

// The more sections a program may have, the fewer programs there are, and the more registers a trade pays for
// that are not its own: a book of 10,000 mixed trades takes 30 kernels of 6 sections, 22 of 8, and 11 of 16,
// of which one spills. The order of the programs does not matter.
united_programs unite(std::span<const program::path_program* const> shapes, std::size_t most_sections = 8);

program::path_data seated(const program::path_data& data, const seat& to, const program::path_program& into);
program::timeline seated(const program::timeline& when, const seat& to);

}  // namespace tilewalk::plan
