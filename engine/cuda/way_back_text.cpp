// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/way_back_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/cuda/program_text.h"
#include "engine/cuda/reductions.h"
#include "kernels/tile.h"
#include "kernels/way_back_arguments.h"

namespace tilewalk::cuda {

namespace {

std::string list_of(const std::vector<std::size_t>& numbers) {
    std::string out;
    for (const std::size_t n : numbers) out += (out.empty() ? "" : ", ") + std::to_string(n);
    return out.empty() ? "0" : out;
}

// A function of a constant index, as a table.
std::string table(const std::string& name, const std::vector<std::size_t>& of) {
    return fmt::format(
        "    static constexpr int {}(int i) {{\n        constexpr int of[] = {{{}}};\n        return "
        "of[i];\n    "
        "}}\n",
        name, list_of(of));
}

std::string ways_text(const program::adjoint_program& a) {
    std::vector<std::size_t> carried, of_paths, of_run, first_of_run, of_runs;
    for (const std::uint32_t s : carried_states(a)) carried.push_back(s);
    for (const auto* const all : {&a.initial_states, &a.terms})
        for (const program::derivative_in& d : *all) of_paths.push_back(d.state);
    std::string give;
    for (std::size_t k = 0; k < a.sections.size(); ++k) {
        const program::section_derivatives& s = a.sections[k];
        first_of_run.push_back(of_runs.size());
        of_run.push_back(s.rows.size());
        for (const program::derivative_in& d : s.rows) of_runs.push_back(d.state);
        if (s.given.empty()) continue;
        give += fmt::format("        if constexpr (k == {}) {{\n", k);
        for (const program::derivative_in& g : s.given)
            give += fmt::format("            b[{}] = s[{}];\n", g.state, g.number);
        give += "        }\n";
    }
    return fmt::format(
        "struct ways {{\n    static constexpr int carried = {};\n    static constexpr int of_paths = "
        "{};\n{}{}{}"
        "    static constexpr int state_of_run(int k, int i) {{\n        constexpr int first[] = {{{}}}, "
        "of[] = "
        "{{{}}};\n        return of[first[k] + i];\n    }}\n\n"
        "    template <int k, class real>\n    static void give(const real (&s)[{}], real (&b)[{}]) {{\n{}   "
        " "
        "}}\n}};\n",
        carried.size(), of_paths.size(), table("carried_of", carried), table("state_of_path", of_paths),
        table("of_run", of_run), list_of(first_of_run), list_of(of_runs), a.again.states.size(),
        a.back.states.size(), give);
}

const reduction_entry& reduction() {
    return reduction_named("tree");
}

}  // namespace

std::vector<std::uint32_t> carried_states(const program::adjoint_program& a) {
    std::vector<bool> is_carried(a.again.states.size(), false);
    for (std::size_t k = 0; k < a.sections.size(); ++k) {
        for (const program::derivative_in& g : a.sections[k].given) is_carried[g.number] = true;
        for (const program::state_write& w : a.again.sections[k].writes) is_carried[w.state] = true;
        for (const program::node& n : a.again.sections[k].nodes)
            if (n.code == program::operation::state) is_carried[n.args[0]] = true;
    }
    std::vector<std::uint32_t> out;
    for (std::uint32_t s = 0; s < is_carried.size(); ++s)
        if (is_carried[s]) out.push_back(s);
    return out;
}

bool has_kernel(const program::path_program& p, const program::adjoint_program& a) {
    const bool has_others = std::ranges::any_of(a.sections, [](const program::section_derivatives& s) {
        return !s.tables.empty() || !s.scenarios.empty();
    });
    return !has_others && !a.back.outputs.empty() && p.outputs.size() == 1 && p.crossed.empty() &&
           p.scenarios_per_step == 0 && p.sections.size() <= kernels::most_sections;
}

std::string way_back_kernel_text(const program::path_program& p, const program::adjoint_program& a,
                                 const way_back_decision& how) {
    const program::precision_traits& words = program::traits_of(how.precision);
    const auto text_of = [&](const program::path_program& code, const char* name) {
        return program_text(words.is_fast ? program::contract(code) : code, name);
    };
    const std::string includes =
        includes_text({std::string(words.header), "kernels/feeds/inline.h", "kernels/operations.h",
                       "kernels/way_back.h", reduction().header()});
    return fmt::format(
        R"({includes}
namespace tilewalk::kernels::generated {{

namespace math = {math};

{program}
{again}
{back}
{ways}
struct choice {{
    using real = {real};
    using program = generated::program;
    using again = generated::again;
    using back = generated::back;
    using ways = generated::ways;
    using shape = feed_shape<{shock}, {slots}, {width}, {threads}, 1, 1, ring_layout::plain, 0>;
    using memory = thread_memory<spaces::global>;
    using numbers = numbers_in_memory<real, spaces::read_only>;
    using source = feeds::random_draws<{draws}, program::normal_slots, program::uniform_slots, no_scenarios>;
    using feed = feeds::inline_<shape, memory>;
    using reduction = reductions::tree<{threads}>;
    static constexpr int piece_steps = {piece_steps};
    static constexpr bool keeps_shocks = {keeps_shocks};
}};

}}  // namespace tilewalk::kernels::generated

extern "C" __global__ void __launch_bounds__({threads})
walk_both_ways(const __grid_constant__ tilewalk::kernels::way_back_arguments a) {{
    extern __shared__ __align__(128) char shared[];
    tilewalk::kernels::walk_tile_both_ways<tilewalk::kernels::generated::choice>(a, shared);
}}

extern "C" __global__ void merge_derivatives(const __grid_constant__ tilewalk::kernels::derivative_merge_arguments a) {{
    tilewalk::kernels::merge_derivatives_of_part(a);
}}
)",
        fmt::arg("includes", includes), fmt::arg("math", words.math),
        fmt::arg("program", text_of(p, "program")), fmt::arg("again", text_of(a.again, "again")),
        fmt::arg("back", text_of(a.back, "back")), fmt::arg("ways", ways_text(a)),
        fmt::arg("real", word_of(words.real)), fmt::arg("shock", word_of(words.shock)),
        fmt::arg("slots", p.slots_per_step()), fmt::arg("width", how.width), fmt::arg("threads", how.block),
        fmt::arg("draws", draws_text(words, how.rounds)), fmt::arg("piece_steps", how.piece_steps),
        fmt::arg("keeps_shocks", how.keeps_shocks));
}

std::size_t way_back_shared_bytes() {
    return kernels::paths_per_tile * sizeof(double) + reduction().shared_bytes;
}

}  // namespace tilewalk::cuda
