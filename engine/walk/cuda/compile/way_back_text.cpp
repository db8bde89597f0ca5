// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/way_back_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/program_text.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "kernels/tile.h"
#include "kernels/way_back/arguments.h"

namespace tilewalk::cuda {

namespace {

using program::adjoint_program;
using program::path_program;

// Most bytes of states before the steps of a piece in shared memory: five blocks of 128 threads then fit in a
// multiprocessor of compute capability 9.0, as many as their registers allow.
constexpr std::size_t most_bytes_of_states = 20 * 1024;
// A thread walks four paths; two if a step has this many shocks or, in double, more nodes on both ways (a
// derivative to a row counts as several, since it waits in a register to be summed); one if there are yet
// more nodes, in single twice as many, since two would lack registers.
constexpr int least_shocks_of_two_paths = 4;
constexpr std::size_t most_nodes_of_four_paths = 90, nodes_of_row = 3, most_nodes_of_two_paths = 400;
// Quiet pieces have code of their own, unless long steps make that not pay.
constexpr std::size_t most_nodes_of_quiet_steps = 160;

std::string list_of(const std::vector<std::size_t>& numbers) {
    std::string out;
    for (const std::size_t n : numbers) out += (out.empty() ? "" : ", ") + std::to_string(n);
    return out.empty() ? "0" : out;
}

std::string table(const std::string& name, const std::vector<std::size_t>& of) {
    return fmt::format(
        "    static constexpr int {}(int i) {{\n        constexpr int of[] = {{{}}};\n        return of[i];\n"
        "    }}\n",
        name, list_of(of));
}

bool is_on_every_step(const path_program& p, std::size_t section) {
    return section == 0 || p.sections[section].is_on_every_step;
}

std::vector<bool> states_of(const adjoint_program& a, const path_program& again, bool quietly) {
    std::vector<bool> out(again.states.size(), false);
    for (std::size_t k = 0; k < a.sections.size(); ++k) {
        if (quietly && !is_on_every_step(again, k)) continue;
        for (const program::derivative_in& g : a.sections[k].given) out[g.number] = true;
        for (const program::state_write& w : again.sections[k].writes) out[w.state] = true;
        for (const program::node& n : again.sections[k].nodes)
            if (n.code == program::operation::state) out[n.args[0]] = true;
    }
    return out;
}

// States carried from piece to piece: all that the way back depends on, quiet pieces' first.
struct carried_states {
    std::vector<std::size_t> all;
    std::size_t quietly = 0;

    carried_states(const adjoint_program& a, const path_program& quiet) {
        const std::vector<bool> of_quiet = states_of(a, quiet, true), of_any = states_of(a, a.again, false);
        for (std::size_t s = 0; s < of_quiet.size(); ++s)
            if (of_quiet[s]) all.push_back(s);
        quietly = all.size();
        for (std::size_t s = 0; s < of_any.size(); ++s)
            if (of_any[s] && !of_quiet[s]) all.push_back(s);
    }
    std::size_t place_of(std::size_t state) const {
        return static_cast<std::size_t>(std::ranges::find(all, state) - all.begin());
    }
};

// Whether sections on every step write a state: before one of them, and from it on.
struct written {
    bool before = false, from_it_on = false;

    written(const path_program& quiet, std::size_t section, std::uint32_t state) {
        for (std::size_t k = 0; k < quiet.sections.size(); ++k) {
            if (!is_on_every_step(quiet, k)) continue;
            for (const program::state_write& w : quiet.sections[k].writes)
                if (w.state == state) (k < section ? before : from_it_on) = true;
        }
    }
};

// Prints given(k, derivative) for each state that section k of the way back is given.
template <class statement>
std::string giving(const adjoint_program& a, const statement& given) {
    std::string out;
    for (std::size_t k = 0; k < a.sections.size(); ++k) {
        std::string all;
        for (const program::derivative_in& g : a.sections[k].given) all += given(k, g);
        if (!all.empty()) out += fmt::format("        if constexpr (k == {}) {{\n{}        }}\n", k, all);
    }
    return out;
}

std::string ways_text(const adjoint_program& a, const path_program& quiet, const carried_states& carried) {
    std::vector<std::size_t> of_paths, of_run, first_of_run, of_runs, of_tables;
    std::string add_in_tables;
    for (const auto* const all : {&a.initial_states, &a.terms})
        for (const program::derivative_in& d : *all) of_paths.push_back(d.state);
    for (std::size_t k = 0; k < a.sections.size(); ++k) {
        const program::section_derivatives& s = a.sections[k];
        first_of_run.push_back(of_runs.size());
        of_run.push_back(s.rows.size() + s.scenarios.size());
        for (const auto* const all : {&s.rows, &s.scenarios})
            for (const program::derivative_in& d : *all) of_runs.push_back(d.state);
        std::size_t first = 0;
        std::string all;
        for (const program::derivative_in_table& t : s.tables) {
            const std::size_t size = a.again.sections[k].tables[t.table].size;
            for (const auto& read : t.reads)
                all += fmt::format("            add({}, {}, b[{}], b[{}]);\n", first, size, read.state,
                                   read.position);
            first += size;
        }
        of_tables.push_back(first);
        if (!all.empty())
            add_in_tables += fmt::format("        if constexpr (k == {}) {{\n{}        }}\n", k, all);
    }
    bool repeats = false;
    const std::string give = giving(a, [](std::size_t, const program::derivative_in& g) {
        return fmt::format("            b[{}] = s[{}];\n", g.state, g.number);
    });
    const std::string give_quietly = giving(a, [&](std::size_t k, const program::derivative_in& g) {
        if (!is_on_every_step(quiet, k)) return std::string();
        const written by(quiet, k, g.number);
        repeats = repeats || (by.before && by.from_it_on);
        return fmt::format("            b[{}] = {}({});\n", g.state, by.before ? "behind" : "before",
                           carried.place_of(g.number));
    });
    return fmt::format(
        R"(struct ways {{
    static constexpr int carried = {carried}, carried_quietly = {carried_quietly};
    static constexpr int of_paths = {of_paths};
    // A section is given a state that is known neither before the step nor behind it.
    static constexpr bool repeats = {repeats};
{carried_of}{state_of_path}{of_run}{of_tables}    static constexpr int state_of_run(int k, int i) {{
        constexpr int first[] = {{{first_of_run}}}, of[] = {{{of_runs}}};
        return of[first[k] + i];
    }}

    template <int k, class real>
    static void give(const real (&s)[{states}], real (&b)[{back_states}]) {{
{give}    }}
    template <int k, class states, class more_states, class real>
    static void give_quietly(const states& before, const more_states& behind, real (&b)[{back_states}]) {{
{give_quietly}    }}
    template <int k, class real, class adder>
    static void add_in_tables(const real (&b)[{back_states}], const adder& add) {{
{add_in_tables}    }}
}};
)",
        fmt::arg("carried", carried.all.size()), fmt::arg("carried_quietly", carried.quietly),
        fmt::arg("of_paths", of_paths.size()), fmt::arg("repeats", repeats),
        fmt::arg("carried_of", table("carried_of", carried.all)),
        fmt::arg("state_of_path", table("state_of_path", of_paths)),
        fmt::arg("of_run", table("of_run", of_run)), fmt::arg("of_tables", table("of_tables", of_tables)),
        fmt::arg("add_in_tables", add_in_tables), fmt::arg("first_of_run", list_of(first_of_run)),
        fmt::arg("of_runs", list_of(of_runs)), fmt::arg("states", a.again.states.size()),
        fmt::arg("back_states", a.back.states.size()), fmt::arg("give", give),
        fmt::arg("give_quietly", give_quietly));
}

const reduction_entry& reduction() {
    return reduction_named("tree");
}

std::size_t nodes_of_step(const path_program& p) {
    std::size_t out = 0;
    for (std::size_t k = 0; k < p.sections.size(); ++k)
        if (is_on_every_step(p, k)) out += p.sections[k].nodes.size();
    return out;
}

std::string shape_text(const way_back_decision& how, const path_program& p, const feed_entry& feed) {
    const auto used = [&](knob_id k, int otherwise) {
        return feed.makes_use_of(k) ? how.reads[k] : otherwise;
    };
    const int layout = used(knobs::layout, static_cast<int>(kernels::ring_layout::plain));
    const bool is_padded = layout == static_cast<int>(kernels::ring_layout::padded);
    return fmt::format("feed_shape<{}, {}, {}, {}, {}, {}, ring_layout::{}, {}>",
                       word_of(program::traits_of(how.precision).shock), p.slots_per_step(), how.width(),
                       how.block(), used(knobs::distance, 1), used(knobs::rows, 1),
                       text_of(knobs::layout.line(), layout), is_padded ? how.reads[knobs::padding] : 0);
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
    // The GPU's hardware makes one shock a step again faster than memory brings it.
    out.keeps_shocks = !program::is_fast(precision) || p.slots_per_step() > 1;
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
    // One and two paths have no registers to spare for a prefetch's addresses.
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

way_back_kernel way_back_kernel_of(const path_program& p, const adjoint_program& a,
                                   const way_back_decision& how) {
    const program::precision_traits& words = program::traits_of(how.precision);
    const auto text_of_program = [&](const path_program& code, const char* name) {
        return program_text(words.is_fast ? program::contract(code) : code, name);
    };
    const path_program quiet = program::again_quietly(a);
    const carried_states carried(a, quiet);
    const bool has_quiet_pieces = nodes_of_step(p) + nodes_of_step(a.back) <= most_nodes_of_quiet_steps;
    const feed_entry& reads = feed_named(how.reads_back() ? how.reads.feed : "inline");

    const auto paths = static_cast<std::size_t>(how.paths_per_pass());
    const std::size_t state_bytes = paths * program::bytes_of(program::real_type(how.precision));
    const auto fits = [&](std::size_t states) { return states * state_bytes <= most_bytes_of_states; };
    auto steps = static_cast<std::size_t>(how.piece_steps);
    if (steps == 0) steps = !fits(9 * carried.quietly) && fits(5 * carried.quietly) ? 4 : 8;
    const std::size_t held = steps * carried.all.size(),
                      held_quietly = has_quiet_pieces ? (steps + 1) * carried.quietly : 0;
    const std::size_t states_shared = std::max(fits(held) ? held : 0, fits(held_quietly) ? held_quietly : 0);
    way_back_kernel out;
    out.piece_steps = steps;
    out.carried = carried.all.size();
    out.states_in_memory = std::max(fits(held) ? 0 : held, fits(held_quietly) ? 0 : held_quietly);
    const std::size_t drawn = how.reads_back() ? 0 : steps * static_cast<std::size_t>(p.slots_per_step());
    const std::size_t drawn_bytes = drawn * paths * program::bytes_of(words.shock);
    const bool draws_to_shared = drawn_bytes <= most_bytes_of_states;
    if (!draws_to_shared) out.shocks_in_memory = drawn;

    const std::size_t feed_bytes =
        whole_16(std::max(how.reads_back() ? feed_shared_bytes(how.reads, p.slots_per_step()) : 0,
                          static_cast<std::uint64_t>(reduction().shared_bytes)));
    const std::string sum = words.is_fast ? "float" : "double";
    constexpr std::size_t slots = 16;  // see kernels::sums_of_warp
    const std::size_t sum_bytes = static_cast<std::size_t>(how.block()) / kernels::threads_of_warp * slots *
                                  (kernels::threads_of_warp + 1) *
                                  (words.is_fast ? sizeof(float) : sizeof(double));
    out.shared_bytes = static_cast<std::uint32_t>(
        p.outputs.size() * kernels::paths_per_tile * sizeof(double) + feed_bytes + sum_bytes +
        states_shared * state_bytes + (draws_to_shared ? drawn_bytes : 0));
    const std::string includes =
        includes_text({std::string(words.header), "kernels/feeds/inline.h", reads.header(),
                       "kernels/operations.h", "kernels/way_back/kernel.h", reduction().header()});
    const std::string scenarios =
        p.scenarios_per_step == 0
            ? "no_scenarios"
            : fmt::format("scenarios_in_memory<shape, {}, spaces::global>", p.scenarios_per_step);
    const std::string shape = shape_text(how, p, reads);
    const std::string own = how.reads_back() ? reads.own_arguments(how.reads) : "";
    out.text = fmt::format(
        R"({includes}
namespace tilewalk::kernels::generated {{

namespace math = {math};

{program}
{again}
{quiet}
{back}
{ways}
struct choice {{
    using real = {real};
    using sum = {sum};
    using program = generated::program;
    using again = generated::again;
    using quiet = generated::quiet;
    using back = generated::back;
    using ways = generated::ways;
    using shape = {shape};
    using memory = thread_memory<spaces::global>;
    using numbers = numbers_in_memory<real, spaces::read_only>;
    using source = {source};
    using feed = feeds::{feed};
    using reduction = reductions::tree<{threads}>;
    static constexpr int piece_steps = {piece_steps};
    static constexpr bool has_quiet_pieces = {has_quiet_pieces};
    static constexpr bool keeps_shocks = {keeps_shocks}, reads_arrays = {reads_arrays};
    using back_shape = {back_shape};
    using back_feed = feeds::{back_feed}<back_shape, memory{own}>;
    static constexpr word32 feed_bytes = {feed_bytes};
    static constexpr word32 states_bytes = {states_bytes};
    static constexpr int states_in_memory = {states_in_memory};
    static constexpr bool holds_in_shared = {holds_in_shared}, holds_quietly_in_shared = {holds_quietly};
    static constexpr bool draws_to_shared = {draws_to_shared};
}};
static_assert(sums_of_warp<choice::sum, {width}, {threads}>::shared_bytes() == {sum_bytes});

}}  // namespace tilewalk::kernels::generated

extern "C" __global__ void __launch_bounds__({bounds})
walk_both_ways(const __grid_constant__ tilewalk::kernels::way_back_arguments a) {{
    extern __shared__ __align__(128) char shared[];
    tilewalk::kernels::walk_tile_both_ways<tilewalk::kernels::generated::choice>(a, shared);
}}

extern "C" __global__ void merge_derivatives(const __grid_constant__ tilewalk::kernels::derivative_merge_arguments a) {{
    tilewalk::kernels::merge_derivatives_of_part(a);
}}
)",
        fmt::arg("includes", includes), fmt::arg("math", words.math),
        fmt::arg("program", text_of_program(p, "program")),
        fmt::arg("again", text_of_program(a.again, "again")),
        fmt::arg("quiet", text_of_program(quiet, "quiet")), fmt::arg("back", text_of_program(a.back, "back")),
        fmt::arg("ways", ways_text(a, quiet, carried)), fmt::arg("real", word_of(words.real)),
        fmt::arg("sum", sum), fmt::arg("width", how.width()), fmt::arg("threads", how.block()),
        fmt::arg("bounds", how.reads.blocks > 0
                               ? fmt::format("{} TILEWALK_RESIDENT_BLOCKS({})", how.block(), how.reads.blocks)
                               : fmt::to_string(how.block())),
        fmt::arg("shape",
                 how.reads_arrays
                     ? shape
                     : fmt::format("feed_shape<{}, {}, {}, {}, 1, 1, ring_layout::plain, 0>",
                                   word_of(words.shock), p.slots_per_step(), how.width(), how.block())),
        fmt::arg(
            "source",
            how.reads_arrays
                ? fmt::format("arrays<shape, {}, spaces::global, {}>", p.normals_per_step, scenarios)
                : fmt::format("feeds::random_draws<{}, program::normal_slots, program::uniform_slots, {}>",
                              draws_text(words, how.rounds), scenarios)),
        fmt::arg("feed", how.reads_arrays ? fmt::format("{}<shape, memory{}>", reads.type(), own)
                                          : "inline_<shape, memory>"),
        fmt::arg("piece_steps", steps), fmt::arg("has_quiet_pieces", has_quiet_pieces),
        fmt::arg("keeps_shocks", how.keeps_shocks), fmt::arg("reads_arrays", how.reads_arrays),
        fmt::arg("back_shape", shape), fmt::arg("back_feed", reads.type()), fmt::arg("own", own),
        fmt::arg("feed_bytes", feed_bytes), fmt::arg("states_bytes", states_shared * state_bytes),
        fmt::arg("states_in_memory", out.states_in_memory), fmt::arg("holds_in_shared", fits(held)),
        fmt::arg("holds_quietly", fits(held_quietly)), fmt::arg("draws_to_shared", draws_to_shared),
        fmt::arg("sum_bytes", sum_bytes));
    return out;
}

}  // namespace tilewalk::cuda
