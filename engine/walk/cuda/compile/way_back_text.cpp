// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/way_back_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/program_text.h"
#include "engine/walk/cuda/compile/reductions.h"

namespace tilewalk::cuda {

namespace {

using program::adjoint_program;
using program::path_program;

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

// States that are kept at the start of each piece: all that walking it again and back depends on. States of
// quiet pieces (those in which only the sections of every step run) come first.
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

// Whether sections that run on every step write a state: before section `section`, and in it or after it.
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

// Text of given(k, derivative) for each forward state that section k needs before it is walked back.
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

// Text that adds up derivatives with respect to numbers of tables. Sets of_tables[k] to how many of them
// section k has.
std::string adding_in_tables(const adjoint_program& a, std::vector<std::size_t>& of_tables) {
    std::string out;
    for (std::size_t k = 0; k < a.sections.size(); ++k) {
        std::size_t first = 0;
        std::string all;
        for (const program::derivative_in_table& t : a.sections[k].tables) {
            const std::size_t size = a.again.sections[k].tables[t.table].size;
            for (const auto& read : t.reads)
                all += fmt::format("            add({}, {}, b[{}], b[{}]);\n", first, size, read.state,
                                   read.position);
            first += size;
        }
        of_tables.push_back(first);
        if (!all.empty()) out += fmt::format("        if constexpr (k == {}) {{\n{}        }}\n", k, all);
    }
    return out;
}

std::string ways_text(const adjoint_program& a, const path_program& quiet, const carried_states& carried) {
    std::vector<std::size_t> of_paths, of_run, first_of_run, of_runs, of_tables;
    const std::string add_in_tables = adding_in_tables(a, of_tables);
    for (const auto* const all : {&a.initial_states, &a.terms})
        for (const program::derivative_in& d : *all) of_paths.push_back(d.state);
    for (const program::section_derivatives& s : a.sections) {
        first_of_run.push_back(of_runs.size());
        of_run.push_back(s.rows.size() + s.scenarios.size());
        for (const auto* const all : {&s.rows, &s.scenarios})
            for (const program::derivative_in& d : *all) of_runs.push_back(d.state);
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

// Text of a kernel's choices. If shocks are in arrays, both ways read them with one feed; otherwise the way
// forward draws them, and the way back reads those that were kept or draws them again.
std::string choice_text(const path_program& p, const way_back_decision& how, const way_back_memory& memory) {
    const program::precision_traits& words = program::traits_of(how.precision);
    kernel_decision back = how.reads, forth = how.reads;
    back.precision = forth.precision = how.precision;
    if (!how.reads_back()) back.feed = "inline";
    if (!how.reads_arrays) forth.feed = "inline";
    const std::string scenarios = scenarios_text(p, "global");
    const auto feed_text = [](const kernel_decision& by, const char* shape) {
        const feed_entry& feed = feed_named(by.feed);
        return fmt::format("feeds::{}<{}, memory{}>", feed.type(), shape, feed.own_arguments(by));
    };
    return fmt::format(
        R"(struct choice {{
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
    using feed = {feed};
    using reduction = reductions::tree<{threads}>;
    static constexpr int piece_steps = {piece_steps};
    static constexpr bool has_quiet_pieces = {has_quiet_pieces};
    static constexpr bool keeps_shocks = {keeps_shocks}, reads_arrays = {reads_arrays};
    using back_shape = {back_shape};
    using back_feed = {back_feed};
    static constexpr word32 feed_bytes = {feed_bytes};
    static constexpr word32 states_bytes = {states_bytes};
    static constexpr int states_in_memory = {states_in_memory};
    static constexpr bool holds_in_shared = {holds_in_shared}, holds_quietly_in_shared = {holds_quietly};
    static constexpr bool draws_to_shared = {draws_to_shared};
}};
static_assert(sums_of_warp<choice::sum, {width}, {threads}>::shared_bytes() == {sum_bytes});
)",
        fmt::arg("real", word_of(words.real)), fmt::arg("sum", words.is_fast ? "float" : "double"),
        fmt::arg("shape", shape_text(forth, p.slots_per_step())),
        fmt::arg("source", how.reads_arrays ? fmt::format("arrays<shape, {}, spaces::global, {}>",
                                                          p.normals_per_step, scenarios)
                                            : draws_text(words, how.rounds, scenarios)),
        fmt::arg("feed", feed_text(forth, "shape")), fmt::arg("width", how.width()),
        fmt::arg("threads", how.block()), fmt::arg("piece_steps", memory.piece_steps),
        fmt::arg("has_quiet_pieces", memory.has_quiet_pieces), fmt::arg("keeps_shocks", how.keeps_shocks),
        fmt::arg("reads_arrays", how.reads_arrays),
        fmt::arg("back_shape", shape_text(back, p.slots_per_step())),
        fmt::arg("back_feed", feed_text(back, "back_shape")), fmt::arg("feed_bytes", memory.feed_bytes),
        fmt::arg("states_bytes", memory.states_bytes), fmt::arg("states_in_memory", memory.states_in_memory),
        fmt::arg("holds_in_shared", memory.holds_in_shared), fmt::arg("holds_quietly", memory.holds_quietly),
        fmt::arg("draws_to_shared", memory.draws_to_shared), fmt::arg("sum_bytes", memory.sum_bytes));
}

}  // namespace

way_back_kernel way_back_kernel_of(const path_program& p, const adjoint_program& a,
                                   const way_back_decision& how) {
    const program::precision_traits& words = program::traits_of(how.precision);
    const auto text_of_program = [&](const path_program& code, const char* name) {
        return program_text(words.is_fast ? program::contract(code) : code, name);
    };
    const path_program quiet = program::again_quietly(a);
    const carried_states carried(a, quiet);
    const way_back_memory memory = memory_of(p, a, carried.all.size(), carried.quietly, how);
    const feed_entry& reads = feed_named(how.reads_back() ? how.reads.feed : "inline");
    const std::string includes = includes_text(
        {std::string(words.header), "kernels/feeds/inline.h", reads.header(), "kernels/operations.h",
         "kernels/way_back/kernel.h", reduction_named("tree").header()});
    std::string text = fmt::format(
        R"({includes}
namespace tilewalk::kernels::generated {{

namespace math = {math};

{program}
{again}
{quiet}
{back}
{ways}
{choice}
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
        fmt::arg("ways", ways_text(a, quiet, carried)), fmt::arg("choice", choice_text(p, how, memory)),
        fmt::arg("bounds", bounds_text(static_cast<std::uint32_t>(how.block()), how.reads.blocks)));
    return {memory, {std::move(text)}};
}

}  // namespace tilewalk::cuda
