// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/decide.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "engine/cuda/feeds.h"

namespace tilewalk::cuda {

// The figures behind the choices are in bench/results/*-path-kernels.txt, measured on an H100.
namespace {

bool walks_in_double(precision p) {
    return program::real_type(p) == program::number_type::double_;
}

int bytes_of_shock(precision p) {
    return static_cast<int>(bytes_of(program::shock_type(p)));
}

// Numbers that a path keeps from step to step or takes for one.
std::size_t numbers_of_path(const program::path_program& p) {
    return p.states.size() + static_cast<std::size_t>(p.slots_per_step());
}
constexpr std::size_t least = 3, few = 6, moderate = 12;

// Numbers that wait for later steps because a block of random bits has more than a step takes, beyond those
// that would wait if all shocks were of one stream.
std::size_t numbers_kept(const program::path_program& p, precision of) {
    const int per_block = 16 / bytes_of_shock(of);
    const auto waiting = [&](int dimensions) { return per_block - std::gcd(dimensions, per_block); };
    int kept = 0;
    for (const auto& [streams, slots] : {std::pair(&p.normal_streams, p.normals_per_step),
                                         std::pair(&p.uniform_streams, p.uniforms_per_step)}) {
        if (slots == 0) continue;
        for (const program::place_in_stream& place : program::places_in_streams(*streams, slots))
            if (place.dimension == 0) kept += waiting(static_cast<int>(place.dimensions));
        kept -= waiting(slots);
    }
    return static_cast<std::size_t>(std::max(kept, 0));
}

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
    return program::is_fast(of) ? 2 : 1;
}

// Reading a table is many operations, and two addresses, in one node.
std::size_t nodes_in_all(const program::lane_section& s) {
    constexpr std::size_t more_for_table = 7;
    const auto tables = static_cast<std::size_t>(
        std::ranges::count_if(s.nodes, [](const program::node& n) { return program::reads_table(n.code); }));
    return s.nodes.size() + tables * more_for_table;
}

// Shocks of several steps that wait in registers leave less room for paths. Beside sections of up to 62 nodes
// 64 registers of them had room; beside 70 (a swaption's, in mixed) and 181 (a double barrier's, in double)
// they had not.
bool crowds_registers(const program::path_program& p, const kernel_decision& how) {
    const feed_entry& feed = feed_named(how.feed);
    const int slots = p.slots_per_step();
    if (!feed.makes_use_of(knobs::distance) || feed_shared_bytes(how, slots) > 0) return false;
    constexpr std::size_t long_section = 64;
    const bool is_long = std::ranges::any_of(
        p.sections, [](const program::lane_section& s) { return nodes_in_all(s) > long_section; });
    const int most_bytes = is_long ? 128 : 256;
    return how[knobs::distance] * slots * how[knobs::width] * bytes_of_shock(how.precision) > most_bytes;
}

// The compiler interleaves the sections of four paths that a thread walks, and a bound on registers presses
// long ones into local memory. In double the Asian's of 11 nodes, for which the bound was best, has room and
// one of 16 had not; in single a barrier's of 22 has and one of 25 had not. Of two paths in single the step
// of Heston's model, 101 nodes, has room, and one with jumps besides, 144, had not.
bool has_short_sections(const program::path_program& p, const kernel_decision& how) {
    const std::size_t most_nodes = how[knobs::width] < 4 ? 120 : walks_in_double(how.precision) ? 12 : 24;
    return has_short_rows(p) &&
           std::all_of(p.sections.begin(), p.sections.end(),
                       [&](const program::lane_section& s) { return nodes_in_all(s) <= most_nodes; });
}

// For a short program the compiler takes fewer registers than are best, or more, unless it is told how many
// blocks are to be resident. Three of 256 threads (80 registers each) were best in single, and two where four
// paths are walked in double. A longer program would be pressed out of its registers by that.
int best_blocks(const program::path_program& p, const kernel_decision& how) {
    if (how.feed != "inline" || p.sections.size() > 3 || !has_short_sections(p, how)) return 0;
    int of_256 = 0;
    if (!walks_in_double(how.precision)) {
        if (numbers_of_path(p) + numbers_kept(p, how.precision) <= moderate) of_256 = 3;
    } else if (how[knobs::width] == 4 && numbers_of_path(p) <= least && p.sections.size() == 3) {
        of_256 = 2;  // with a section on the way and one at the end
    }
    return of_256 * 256 / how[knobs::block];
}

// Copies of 16 bytes want neighbours in shared memory to be neighbours in memory: transposed was 1.6 times as
// fast as padded. For smaller copies padded was no slower.
kernels::ring_layout best_layout(const kernel_decision& how) {
    return how[knobs::width] * bytes_of_shock(how.precision) >= 16 ? kernels::ring_layout::transposed
                                                                   : kernels::ring_layout::padded;
}

void settle_padding(const kernel_wish& wish, kernel_decision& how) {
    if (wish[knobs::padding]) return;
    how[knobs::padding] =
        how.layout() == kernels::ring_layout::padded ? found_padding(how[knobs::distance]) : 0;
}

}  // namespace

kernel_decision with_presets(const kernel_wish& wish) {
    kernel_decision how;
    static_cast<kernel_basis&>(how) = wish;
    how.feed = feed_of(wish).name;
    for (const knob_id k : all_knobs()) how[k] = wish[k].value_or(k.line().preset);
    settle_padding(wish, how);
    how.blocks = wish.blocks.value_or(0);
    return how;
}

kernel_decision decide(const kernel_wish& wish, const program::path_program& p, const fits_devices& fits,
                       const kernel_decision* measured) {
    const int slots = p.slots_per_step();
    if (measured != nullptr && wish.is_open() && fits(*measured, slots)) return *measured;
    kernel_decision how = with_presets(wish);
    const bool chooses_width = !wish[knobs::width];
    // Only the layout padded has a padding.
    const bool chooses_layout =
        !wish[knobs::layout] && !wish[knobs::padding] && feed_named(how.feed).makes_use_of(knobs::layout);
    if (chooses_width) how[knobs::width] = best_width(p, how.precision);
    const auto arranged = [&] {
        if (chooses_layout) how[knobs::layout] = static_cast<int>(best_layout(how));
        settle_padding(wish, how);
        return fits(how, slots) && !(chooses_width && crowds_registers(p, how));
    };
    while (!arranged() && chooses_width && how[knobs::width] > 1) how[knobs::width] /= 2;
    // A ring for a step of many shocks is as long as there is room for, in a block as large as then fits.
    while (wish.is_open() && how[knobs::distance] > 1 && !fits(how, slots)) {
        --how[knobs::distance];
        settle_padding(wish, how);
    }
    while (wish.is_open() && how[knobs::block] > 32 && !fits(how, slots)) how[knobs::block] /= 2;
    if (!wish.blocks) how.blocks = best_blocks(p, how);
    return how;
}

std::string described(const kernel_decision& how) {
    const feed_entry& feed = feed_named(how.feed);
    std::string out = how.feed;
    const auto add = [&](knob_id k) {
        const bool is_name = !k.line().values.names.empty();
        out += ", " + (is_name ? "" : std::string(k.line().name) + " ") + text_of(k.line(), how[k]);
    };
    for (const knob_id k : all_knobs()) {
        // A padding goes without saying where it is the one that is found.
        const bool is_found = k == knobs::padding && (how.layout() != kernels::ring_layout::padded ||
                                                      how[k] == found_padding(how[knobs::distance]));
        if (feed.makes_use_of(k) && !is_found) add(k);
    }
    for (const knob_id k : all_knobs())
        if (k.line().of == knob::part::kernel) add(k);
    if (how.blocks > 0) out += ", " + std::to_string(how.blocks) + " blocks resident";
    return out;
}

}  // namespace tilewalk::cuda
