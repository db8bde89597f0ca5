// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/decide.h"

#include <algorithm>
#include <cstddef>

#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "kernels/tile.h"
#include "kernels/way_back/arguments.h"
#include "products/program/cost.h"

namespace tilewalk::cuda {

// Measurements behind the choices: bench/results/*-path-kernels.txt (H100), *-lean-walks.txt,
// *-table-of-logarithms.txt and *-resident-blocks.txt (H200).
namespace {

int bytes_of_shock(precision p) {
    return static_cast<int>(bytes_of(program::shock_type(p)));
}

// Numbers that a thread holds for each path: its states and the shocks of one step.
std::size_t numbers_of_path(const program::path_program& p) {
    return p.states.size() + static_cast<std::size_t>(p.slots_per_step());
}
constexpr std::size_t least = 3, few = 6, some = 9;

// The compiler loads a section's row into registers early. With a bound on registers there was no room for 40
// numbers (a swap rate of ten bonds, two-factor rates); with four paths a thread, none for 36.
bool has_short_rows(const program::path_program& p) {
    constexpr std::size_t most_rows = 32;
    return std::all_of(p.sections.begin(), p.sections.end(),
                       [](const program::lane_section& s) { return s.per_run.columns.size() <= most_rows; });
}

// Nodes of a section. A table read counts as eight, since it takes many operations and two addresses.
std::size_t nodes_in_all(const program::lane_section& s) {
    constexpr std::size_t more_for_table = 7;
    const auto tables = static_cast<std::size_t>(
        std::ranges::count_if(s.nodes, [](const program::node& n) { return program::reads_table(n.code); }));
    return s.nodes.size() + tables * more_for_table;
}

std::size_t normal_laws_in(const program::lane_section& s) {
    return static_cast<std::size_t>(std::ranges::count_if(s.nodes, [](const program::node& n) {
        return program::cost(n.code) >= program::cost(program::operation::norm_cdf);
    }));
}

bool has_sections_of(const program::path_program& p, std::size_t most_nodes) {
    return std::all_of(p.sections.begin(), p.sections.end(),
                       [&](const program::lane_section& s) { return nodes_in_all(s) <= most_nodes; });
}

// Bytes of registers in which a thread holds the shocks of several steps.
int bytes_that_wait(const program::path_program& p, const kernel_decision& how) {
    const feed_entry& feed = feed_named(how.feed);
    const int slots = p.slots_per_step();
    if (!feed.makes_use_of(knobs::distance) || feed_shared_bytes(how, slots) > 0) return 0;
    return how[knobs::distance] * slots * how[knobs::width] * bytes_of_shock(how.precision);
}

// Long sections leave fewer registers for shocks: 64 fitted beside sections of up to 62 nodes, not beside 70
// (a swaption, mixed) or 181 (a double barrier, double). Sections that run on every step count together.
bool has_long_sections(const program::path_program& p) {
    constexpr std::size_t long_section = 64;
    std::size_t on_every_step = 0, longest = 0;
    for (const program::lane_section& s : p.sections) {
        longest = std::max(longest, nodes_in_all(s));
        if (&s == &p.sections.front() || s.is_on_every_step) on_every_step += nodes_in_all(s);
    }
    return std::max(longest, on_every_step) > long_section;
}
// Two normal distribution functions in a section of 51 nodes left no room for 32 registers of shocks (a shout
// option, double).
bool has_heavy_sections(const program::path_program& p) {
    constexpr std::size_t heavy_section = 48;
    return std::ranges::any_of(p.sections, [](const program::lane_section& s) {
        return s.nodes.size() > heavy_section && normal_laws_in(s) >= 2;
    });
}
bool crowds_registers(const program::path_program& p, const kernel_decision& how) {
    return bytes_that_wait(p, how) > (has_heavy_sections(p) ? 64 : has_long_sections(p) ? 128 : 256);
}

// Four paths a thread fitted beside four normal distribution functions (a complex chooser), but not beside
// the eight of its antithetic pair in single.
bool has_few_normal_laws(const program::path_program& p) {
    constexpr std::size_t most_functions = 6;
    return std::ranges::all_of(
        p.sections, [](const program::lane_section& s) { return normal_laws_in(s) <= most_functions; });
}

bool reads_tables(const program::path_program& p) {
    return std::ranges::any_of(p.sections, [](const program::lane_section& s) { return !s.tables.empty(); });
}

// Paths per thread, which share the work that is the same for all, as long as their states and shocks fit
// into registers. Four were best for an Asian (one shock, two states) in every precision. One was best for an
// autocallable on five assets, but two in single_fast, whose functions need few registers, unless a section
// of 157 nodes has a long row (two legs of constant maturity rates). With two, an Asian with three
// derivatives carried along (one shock, ten states) took 1.11 times its price's time in double, 1.12 in
// single (H200, 2026-11).
int best_width(const program::path_program& p, const kernel_decision& how) {
    if (numbers_of_path(p) <= few && has_short_rows(p)) return has_few_normal_laws(p) ? 4 : 2;
    const bool is_between = p.outputs.size() > 1 && numbers_of_path(p) <= 2 * few && has_short_rows(p);
    const bool is_light = program::is_fast(how.precision) && (has_short_rows(p) || has_sections_of(p, 150));
    return is_light || is_between ? 2 : 1;
}

// Blocks to be resident on a multiprocessor, which bounds a thread's registers; 0 leaves them to the
// compiler, which often takes too few or too many. Best, in blocks of 256 threads, were two in double, where
// models gain up to a fifth, and in mixed; three in single_fast with tables in the steps. One path a thread
// in double gained beside a step of 132 nodes, and lost a twentieth beside 235. The bound is dropped if a
// kernel would spill.
int best_blocks(const program::path_program& p, const kernel_decision& how) {
    if (how.feed != "inline" || p.sections.size() > 3 || !has_short_rows(p)) return 0;
    const bool four = how[knobs::width] == 4;
    const bool in_double = how.precision == precision::double_ &&
                           (four || (numbers_of_path(p) <= some && has_sections_of(p, 150)));
    const bool in_mixed =
        four && how.precision == precision::mixed && numbers_of_path(p) <= least && has_sections_of(p, 12);
    const bool with_tables = program::is_fast(how.precision) && numbers_of_path(p) <= few &&
                             has_sections_of(p, 24) && reads_tables(p);
    const int of_256 = in_double || in_mixed ? 2 : with_tables ? 3 : 0;
    return of_256 * 256 / how[knobs::block];
}

// With copies of 16 bytes, which need neighbouring elements of shared memory to be neighbours in memory,
// transposed was 1.6 times as fast as padded. With smaller copies padded was no slower.
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
    // A padding that is set implies the padded layout.
    const bool chooses_layout =
        !wish[knobs::layout] && !wish[knobs::padding] && feed_named(how.feed).makes_use_of(knobs::layout);
    if (chooses_width) how[knobs::width] = best_width(p, how);
    const auto arranged = [&] {
        if (chooses_layout) how[knobs::layout] = static_cast<int>(best_layout(how));
        settle_padding(wish, how);
        return fits(how, slots) && !(chooses_width && crowds_registers(p, how));
    };
    while (!arranged() && chooses_width && how[knobs::width] > 1) how[knobs::width] /= 2;
    // 96 registers of shocks do not fit beside long sections even with one path a thread (a Parisian).
    const bool chooses_distance = !wish[knobs::distance] && has_long_sections(p);
    while (chooses_distance && how[knobs::distance] > 1 && bytes_that_wait(p, how) > 256) {
        --how[knobs::distance];
        settle_padding(wish, how);
    }
    // If a step has many shocks: take the longest ring that fits into shared memory, then the largest block.
    while (!wish[knobs::distance] && how[knobs::distance] > 1 && !fits(how, slots)) {
        --how[knobs::distance];
        settle_padding(wish, how);
    }
    while (!wish[knobs::block] && how[knobs::block] > 32 && !fits(how, slots)) how[knobs::block] /= 2;
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
        // The default padding is not mentioned.
        const bool is_found = k == knobs::padding && (how.layout() != kernels::ring_layout::padded ||
                                                      how[k] == found_padding(how[knobs::distance]));
        if (feed.makes_use_of(k) && !is_found) add(k);
    }
    for (const knob_id k : all_knobs())
        if (k.line().of == knob::part::kernel) add(k);
    if (how.blocks > 0) out += ", " + std::to_string(how.blocks) + " blocks resident";
    return out;
}

// ---- walking both ways -----------------------------------------------------------------------------------

namespace {

using program::adjoint_program;
using program::path_program;

// States before the steps of a piece go to shared memory if a block's take no more than this: five blocks of
// 128 threads then fit on a multiprocessor of compute capability 9.0, as many as their registers allow.
constexpr std::size_t most_bytes_of_states = 20 * 1024;
// A thread walks four paths at once; two if a step has at least 4 shocks or, in double, more than 90 nodes on
// both ways together; one if it has more than 400 nodes (800 in single), for which two would have no
// registers. Up to 90, a derivative with respect to a number of a row counts as three nodes: it waits in a
// register.
constexpr int least_shocks_of_two_paths = 4;
constexpr std::size_t most_nodes_of_four_paths = 90, nodes_of_row = 3, most_nodes_of_two_paths = 400;
// Quiet pieces (no section runs but those of every step) have code of their own up to this many nodes a step.
constexpr std::size_t most_nodes_of_quiet_steps = 160;

std::size_t nodes_of_step(const path_program& p) {
    std::size_t out = 0;
    for (std::size_t k = 0; k < p.sections.size(); ++k)
        if (is_on_every_step(p, k)) out += p.sections[k].nodes.size();
    return out;
}

constexpr std::size_t whole_16(std::size_t bytes) {
    return (bytes + 15) / 16 * 16;
}

}  // namespace

way_back_decision best_way_back(program::precision precision, int rounds, const path_program& p,
                                const adjoint_program& a) {
    way_back_decision out;
    out.precision = precision;
    out.rounds = rounds;
    // In single_fast, a single shock a step is drawn again faster than it is read back.
    out.keeps_shocks = !program::is_fast(precision) || p.slots_per_step() > 1;
    // Four paths of a thread share the work that is the same for all, if there are enough registers.
    const bool is_double = program::bytes_of(program::real_type(precision)) == sizeof(double);
    const std::size_t nodes = nodes_of_step(p) + nodes_of_step(a.back);
    std::size_t rows = 0;
    for (std::size_t k = 0; k < a.sections.size(); ++k)
        if (is_on_every_step(p, k)) rows += a.sections[k].rows.size();
    const bool are_four = p.slots_per_step() < least_shocks_of_two_paths &&
                          (!is_double || nodes + rows * nodes_of_row <= most_nodes_of_four_paths);
    const bool is_one = nodes > most_nodes_of_two_paths * (is_double ? 1 : 2);
    out.reads.precision = precision;
    out.reads.rounds = rounds;
    out.reads[knobs::width] = is_one ? 1 : are_four ? 4 : 2;
    out.reads[knobs::block] = 128;
    // With one or two paths a thread, no registers are left for the addresses of a prefetch.
    out.reads.feed = are_four && !is_one ? "l2_prefetch" : "none";
    out.reads[knobs::distance] = 4;
    out.reads.space = "global";
    return out;
}

kernel_wish open_wish_of(const way_back_decision& how) {
    kernel_wish out;
    static_cast<kernel_basis&>(out) = how.reads;
    out.precision = how.precision;
    out.rounds = how.rounds;
    return out;
}

way_back_decision read_by(way_back_decision how, const kernel_decision& reads) {
    how.keeps_shocks = reads_shocks(reads);
    how.reads = reads;
    return how;
}

bool have_same_bits(const way_back_decision& a, const way_back_decision& b) {
    return !program::is_fast(a.precision) || a.width() == b.width();
}

way_back_decision for_arrays(way_back_decision how) {
    how.reads_arrays = true;
    how.keeps_shocks = false;
    if (!reads_shocks(how.reads)) how.reads.feed = "none";
    return how;
}

std::string why_no_kernel(const path_program& p, const adjoint_program& a) {
    if (a.back.outputs.empty()) return "their paths depend on no number that is asked about";
    if (!p.crossed.empty())
        return "sums of two of their payoffs are taken, too, which a GPU does on the way forth alone";
    return {};
}

way_back_memory memory_of(const path_program& p, const adjoint_program& a, std::size_t carried,
                          std::size_t carried_quietly, const way_back_decision& how) {
    const program::precision_traits& words = program::traits_of(how.precision);
    const auto paths = static_cast<std::size_t>(how.paths_per_pass());
    const std::size_t state_bytes = paths * program::bytes_of(program::real_type(how.precision));
    const auto fits = [&](std::size_t states) { return states * state_bytes <= most_bytes_of_states; };
    way_back_memory out;
    out.carried = carried;
    out.has_quiet_pieces = nodes_of_step(p) + nodes_of_step(a.back) <= most_nodes_of_quiet_steps;
    out.piece_steps = static_cast<std::size_t>(how.piece_steps);
    if (out.piece_steps == 0)
        out.piece_steps = !fits(9 * carried_quietly) && fits(5 * carried_quietly) ? 4 : 8;
    const std::size_t held = out.piece_steps * carried,
                      held_quietly = out.has_quiet_pieces ? (out.piece_steps + 1) * carried_quietly : 0;
    out.holds_in_shared = fits(held);
    out.holds_quietly = fits(held_quietly);
    const auto of_both = [&](bool in_shared) {
        return std::max(out.holds_in_shared == in_shared ? held : 0,
                        out.holds_quietly == in_shared ? held_quietly : 0);
    };
    out.states_bytes = of_both(true) * state_bytes;
    out.states_in_memory = of_both(false);
    const std::size_t drawn =
        how.reads_back() ? 0 : out.piece_steps * static_cast<std::size_t>(p.slots_per_step());
    const std::size_t drawn_bytes = drawn * paths * program::bytes_of(words.shock);
    out.draws_to_shared = drawn_bytes <= most_bytes_of_states;
    if (!out.draws_to_shared) out.shocks_in_memory = drawn;

    out.feed_bytes =
        whole_16(std::max(how.reads_back() ? feed_shared_bytes(how.reads, p.slots_per_step()) : 0,
                          static_cast<std::uint64_t>(reduction_named("tree").shared_bytes)));
    constexpr std::size_t slots = 16;  // slots per warp in kernels::sums_of_warp
    out.sum_bytes = static_cast<std::size_t>(how.block()) / kernels::threads_of_warp * slots *
                    (kernels::threads_of_warp + 1) * (words.is_fast ? sizeof(float) : sizeof(double));
    out.shared_bytes = static_cast<std::uint32_t>(
        p.outputs.size() * kernels::paths_per_tile * sizeof(double) + out.feed_bytes + out.sum_bytes +
        out.states_bytes + (out.draws_to_shared ? drawn_bytes : 0));
    return out;
}

}  // namespace tilewalk::cuda
