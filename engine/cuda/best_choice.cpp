// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/best_choice.h"

#include <algorithm>
#include <cstddef>

#include "engine/cuda/feeds.h"

namespace tilewalk::cuda {

// The figures behind the choices are those of bench/results/*-path-kernels.txt, of an H100.
namespace {

bool walks_in_double(precision p) {
    return p == precision::double_ || p == precision::mixed;
}

int bytes_of_shock(precision p) {
    return p == precision::double_ ? 8 : 4;
}

// How many numbers a path keeps from step to step or takes for one.
std::size_t numbers_of_path(const program::path_program& p) {
    return p.states.size() + static_cast<std::size_t>(p.slots_per_step());
}
constexpr std::size_t least = 3, few = 6, moderate = 12;

// Rows are loaded ahead and wait in registers: a swap rate of ten bonds, with rates of two factors 40 rows,
// had no room under a bound on registers, and one of 36 rows none for four paths a thread.
bool has_short_rows(const program::path_program& p) {
    constexpr std::size_t most_rows = 32;
    return std::all_of(p.sections.begin(), p.sections.end(),
                       [](const program::lane_section& s) { return s.per_run.columns.size() <= most_rows; });
}

// Several paths a thread share the work of a step that is alike for all, as long as their states and shocks
// find room in registers. Four were best for an Asian (one shock, two states) in every precision; for an
// autocallable on five assets one, and two in single_fast, whose functions need few registers.
int best_width(const program::path_program& p, precision of) {
    if (numbers_of_path(p) <= few && has_short_rows(p)) return 4;
    return of == precision::single_fast ? 2 : 1;
}

// To read a table is many operations, and two addresses, in one node.
std::size_t nodes_in_all(const program::lane_section& s) {
    constexpr std::size_t more_for_table = 7;
    const auto tables = static_cast<std::size_t>(
        std::ranges::count_if(s.nodes, [](const program::node& n) { return program::reads_table(n.code); }));
    return s.nodes.size() + tables * more_for_table;
}

// Shocks of several steps that wait in registers leave less room for paths. Beside sections of up to 62 nodes
// 64 registers of them had room; beside 70 (a swaption's, in mixed) and 181 (a double barrier's, in double)
// they had not.
bool crowds_registers(const program::path_program& p, const kernel_choice& how) {
    const feed_entry& feed = feed_named(how.feed);
    const int slots = p.slots_per_step();
    if (!feed.makes_use_of(feed_entry::distance) || feed_shared_bytes(how, slots) > 0) return false;
    constexpr std::size_t long_section = 64;
    const bool is_long = std::ranges::any_of(
        p.sections, [](const program::lane_section& s) { return nodes_in_all(s) > long_section; });
    const int most_bytes = is_long ? 128 : 256;
    return how.distance * slots * how.width * bytes_of_shock(how.precision) > most_bytes;
}

// Where a thread walks four paths, the compiler interleaves their sections, and a bound on registers presses
// long ones into local memory. In double the Asian's of 11 nodes, for which the bound was best, has room and
// one of 16 had not; in single a barrier's of 22 has and one of 25 had not. Of two paths in single the step
// of Heston's model, 101 nodes, has room, and one with jumps besides, 144, had not.
bool has_short_sections(const program::path_program& p, const kernel_choice& how) {
    const std::size_t most_nodes = how.width < 4 ? 120 : walks_in_double(how.precision) ? 12 : 24;
    return has_short_rows(p) &&
           std::all_of(p.sections.begin(), p.sections.end(),
                       [&](const program::lane_section& s) { return nodes_in_all(s) <= most_nodes; });
}

// For a short program the compiler takes fewer registers than are best, or more, unless it is told how many
// blocks are to be resident. Three of 256 threads (80 registers each) were best in single, and two where four
// paths are walked in double. A longer program would be pressed out of its registers by that.
int best_blocks(const program::path_program& p, const kernel_choice& how) {
    if (how.feed != "inline" || p.sections.size() > 3 || !has_short_sections(p, how)) return 0;
    int of_256 = 0;
    if (!walks_in_double(how.precision)) {
        if (numbers_of_path(p) <= moderate) of_256 = 3;
    } else if (how.width == 4 && numbers_of_path(p) <= least && p.sections.size() == 3) {
        of_256 = 2;  // with a section on the way and one at the end
    }
    return of_256 * 256 / how.threads;
}

// Copies of 16 bytes want neighbours in shared memory to be neighbours in memory: transposed was 1.6 times as
// fast as padded; of smaller copies padded was no slower.
kernels::ring_layout best_layout(const kernel_choice& how) {
    return how.width * bytes_of_shock(how.precision) >= 16 ? kernels::ring_layout::transposed
                                                           : kernels::ring_layout::padded;
}

}  // namespace

kernel_choice best_choice(const kernel_choice& asked, const program::path_program& p,
                          const std::function<bool(const kernel_choice&, int)>& fits) {
    kernel_choice how = asked;
    const bool chooses_width = how.width == kernel_choice::automatic_width;
    if (chooses_width) how.width = best_width(p, how.precision);
    const auto arranged = [&] {
        if (asked.has_best_layout) how.layout = best_layout(how);
        return fits(how, p.slots_per_step()) && !(chooses_width && crowds_registers(p, how));
    };
    while (!arranged() && chooses_width && how.width > 1) how.width /= 2;
    // A ring for a step of many shocks is as long as there is room for, in a block as large as then fits.
    while (how.is_open && how.distance > 1 && !fits(how, p.slots_per_step())) --how.distance;
    while (how.is_open && how.threads > 32 && !fits(how, p.slots_per_step())) how.threads /= 2;
    if (how.blocks == kernel_choice::automatic_blocks) how.blocks = best_blocks(p, how);
    return how;
}

}  // namespace tilewalk::cuda
