// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/kernel_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/program_text.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/device/spaces.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

namespace {

struct kernel_end {
    std::string more_of_choice;
    std::string_view header = "kernels/path_kernel.h", name = "walk", arguments = "path_arguments",
                     call = "walk_tile";
};

// Memory space of shocks and scenarios, for the text. A kernel that draws its shocks reads targets and
// scenarios by address, whatever the space; naming one fixed space then lets one text serve for all.
std::string_view space_of(const program::path_program& p, const kernel_decision& how) {
    if (reads_shocks(how)) return space_named(how.space).type;
    const bool from_memory = way_of_points(how) == point_way::targets || p.scenarios_per_step > 0;
    return from_memory ? "read_only" : "global";
}

std::string source_text(const program::path_program& p, const kernel_decision& how) {
    const std::string_view space = space_of(p, how);
    const std::string scenarios = scenarios_text(p, space);
    if (reads_shocks(how))
        return fmt::format("arrays<shape, {}, spaces::{}, {}>", p.normals_per_step, space, scenarios);
    const std::string drawn = draws_text(program::traits_of(how.precision), how.rounds, scenarios);
    switch (way_of_points(how)) {
        case point_way::targets:
            return fmt::format("draws_to_targets<shape, {}, lone_slots<{}>>", drawn,
                               fmt::join(p.lone_normals, ", "));
        case point_way::made:
            return fmt::format("draws_of_points<shape, {}>", drawn);
        case point_way::read:
            break;
    }
    return drawn;
}

std::string text_with(const program::path_program& p, const kernel_decision& how, const kernel_end& end) {
    const program::precision_traits& words = program::traits_of(how.precision);
    // Only the fast precision allows contraction; in all others the arithmetic is the CPU's.
    const program::path_program code = words.is_fast ? program::contract(p) : p;
    const feed_entry& feed = feed_named(how.feed);
    const space_entry& rows = space_named(how.row_space);
    const reduction_entry& reduction = reduction_named(how.reduction);
    std::vector<std::string> headers{std::string(words.header), feed.header(),
                                     std::string(rows.header),  "kernels/operations.h",
                                     std::string(end.header),   reduction.header()};
    const point_way points = way_of_points(how);
    if (points == point_way::targets) headers.emplace_back("kernels/targets.h");
    if (points == point_way::made) headers.emplace_back("kernels/points_of_path.h");
    return fmt::format(
        R"({includes}
namespace tilewalk::kernels::generated {{

namespace math = {math};

{program}
struct choice {{
    using real = {real};
    using program = generated::program;
    using shape = {shape};
    using memory = thread_memory<spaces::{space}>;
    using numbers = numbers_in_memory<real, spaces::{row_space}>;
    using source = {source};
    using feed = feeds::{feed}<shape, memory{own}>;
    using reduction = reductions::{reduction}<{threads}>;
{more}}};

}}  // namespace tilewalk::kernels::generated

extern "C" __global__ void __launch_bounds__({bounds})
{name}(const __grid_constant__ tilewalk::kernels::{arguments} a) {{
    extern __shared__ __align__(128) char shared[];
    tilewalk::kernels::{call}<tilewalk::kernels::generated::choice>(a, shared);
}}
)",
        fmt::arg("includes", includes_text(headers)), fmt::arg("reduction", reduction.name),
        fmt::arg("math", words.math), fmt::arg("program", cuda::program_text(code, "program")),
        fmt::arg("real", word_of(words.real)), fmt::arg("shape", shape_text(how, p.slots_per_step())),
        fmt::arg("bounds", bounds_text(static_cast<std::uint32_t>(how[knobs::block]), how.blocks)),
        fmt::arg("threads", how[knobs::block]), fmt::arg("space", space_of(p, how)),
        fmt::arg("row_space", rows.type), fmt::arg("source", source_text(p, how)),
        fmt::arg("feed", feed.type()), fmt::arg("own", feed.own_arguments(how)),
        fmt::arg("more", end.more_of_choice), fmt::arg("name", end.name),
        fmt::arg("arguments", end.arguments), fmt::arg("call", end.call));
}

}  // namespace

std::string path_kernel_text(const program::path_program& p, const kernel_decision& how) {
    return text_with(p, how, {});
}

std::string leaving_kernel_text(const program::path_program& p, const kernel_decision& how,
                                const left_states& leaves) {
    std::vector<std::uint64_t> counts(p.sections.size()), firsts, states;
    for (std::size_t k = 0; k < counts.size(); ++k) {
        firsts.push_back(states.size());
        if (k >= leaves.size()) continue;
        counts[k] = leaves[k].size();
        states.insert(states.end(), leaves[k].begin(), leaves[k].end());
    }
    kernel_end end;
    end.header = "kernels/exercise/leaving_kernel.h";
    end.name = "leave";
    end.arguments = "leaving_arguments";
    end.call = "leave_tile";
    end.more_of_choice =
        "    struct left {\n        static constexpr int sections = " + std::to_string(counts.size()) +
        ";\n        " + table_text("count(int k)", "k", counts) + "        " +
        table_text("first(int k)", "k", firsts) + "        " +
        table_text("state(int k, int i)", "first(k) + i", states) + "    };\n";
    return text_with(p, how, end);
}

std::size_t path_kernel_shared_bytes(const program::path_program& p, const kernel_decision& how) {
    // The reduction reuses the shared memory of the feed.
    const std::size_t feed = feed_shared_bytes(how, p.slots_per_step());
    return p.payoff_rows() * kernels::paths_per_tile * sizeof(double) +
           std::max(feed, reduction_named(how.reduction).shared_bytes);
}

std::string merge_kernel_text() {
    return fmt::format(R"(#include "kernels/merge_kernel.h"

extern "C" __global__ void __launch_bounds__({0}) merge_tiles(const __grid_constant__ tilewalk::kernels::merge_arguments a) {{
    tilewalk::kernels::merge_tiles_of_trade<{0}>(a);
}}
)",
                       merge_threads);
}

}  // namespace tilewalk::cuda
