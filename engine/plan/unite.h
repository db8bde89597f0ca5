// SPDX-License-Identifier: Apache-2.0
// Few programs for trades of many shapes. Programs whose step is the same become one that has the sections of
// all; a trade runs those that are its own, and its timeline says which, as ever. Terms that choose between
// branches of a script make dozens of shapes, each a kernel to compile; united they make a few. No bit
// changes: every section does what it did, on the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "products/program/passes.h"
#include "products/program/timeline.h"

namespace tilewalk::plan {

// The places of a program's parts in the one that it was united into.
struct seat {
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    std::size_t program = 0;
    std::vector<std::uint32_t> sections;  // by section; nowhere: it does nothing, so it never runs
    std::vector<std::uint32_t> states;    // by state
};

struct united_programs {
    // Only for walking: their uniform code is empty, since a trade's data is bound before it moves in.
    std::vector<program::path_program> programs;
    std::vector<seat> seats;  // by program given
};

// Programs with the same step and other sections on every step stay apart as long as there are no more
// programs than this: a walk that need not ask for such a section is faster. Among more, a section stays on
// every step if it is so for all programs that have it.
inline constexpr std::size_t most_programs_apart = 16;

// The more sections a program may have, the fewer programs there are, and the more registers a trade pays for
// that are not its own: a book of 10,000 mixed trades takes 30 kernels of 6 sections, 22 of 8, and 11 of 16,
// of which one spills. The same programs in another order make the same united ones.
united_programs unite(std::span<const program::path_program* const> shapes, std::size_t most_sections = 8);

// A trade's data and timeline for the program that its own was united into.
program::path_data seated(const program::path_data& data, const seat& to, const program::path_program& into);
program::timeline seated(const program::timeline& when, const seat& to);

}  // namespace tilewalk::plan
