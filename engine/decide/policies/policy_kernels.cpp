// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/policies/policy_kernels.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/compile/program_text.h"

namespace tilewalk::cuda {

namespace {

using kernels::path_reads;

struct reads_of_feed {
    std::string_view feed;
    path_reads reads;
};
constexpr auto reads_of_feeds = std::to_array<reads_of_feed>({
    {"none", path_reads::none},
    {"unroll", path_reads::none},
    {"register_batched", path_reads::register_rolling},
    {"register_rolling", path_reads::register_rolling},
    {"smem_batched", path_reads::smem_rolling_async},
    {"smem_rolling", path_reads::smem_rolling_async},
    {"smem_rolling_async", path_reads::smem_rolling_async},
    {"l2_prefetch", path_reads::l2_prefetch},
    {"l2_hint", path_reads::l2_prefetch},
    {"bulk_async", path_reads::smem_rolling_async},
    {"inline", path_reads::register_rolling},
});

std::string_view name_of(path_reads reads) {
    switch (reads) {
        case path_reads::none:
            return "none";
        case path_reads::register_rolling:
            return "register_rolling";
        case path_reads::l2_prefetch:
            return "l2_prefetch";
        case path_reads::smem_rolling_async:
            return "smem_rolling_async";
    }
    return {};
}

// Writes a function of kernels' text that returns number(i) for i < count.
std::string basis_table(const std::string& name, std::size_t count,
                        const std::function<std::uint64_t(std::size_t)>& number) {
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(number(i));
    return "    " + table_text(name + "(int i)", "i", numbers);
}

// Writes the text of a kernel that calls the function `calls` of policy_search<basis>.
std::string kernel_of(const char* name, const char* calls, const std::string& threads) {
    return fmt::format(
        R"(
extern "C" __global__ void __launch_bounds__({threads})
{name}(const __grid_constant__ tilewalk::kernels::backward_arguments a) {{
    tilewalk::kernels::generated::search::{calls}(a, reinterpret_cast<double*>(shared));
}}
)",
        fmt::arg("threads", threads), fmt::arg("name", name), fmt::arg("calls", calls));
}

std::string basis_text(const exercise::policy& by, const policy_kernels& of) {
    const exercise::interval_moves moves = by.moves();
    const auto& of_moves = moves.moves();
    const auto& products = by.functions.products();
    return fmt::format(
        R"(#include "kernels/exercise/backward_kernel.h"

namespace tilewalk::kernels::generated {{

struct basis {{
    static constexpr int states = {states}, functions = {functions}, normals = {normals}, moves = {moves};
    static constexpr path_reads reads = path_reads::{reads};
    static constexpr bool has_uses = {has_uses}, has_notices = {has_notices};
{tables}}};
using search = policy_search<basis>;

}}  // namespace tilewalk::kernels::generated

extern __shared__ __align__(128) char shared[];
)",
        fmt::arg("states", by.functions.features() - 1), fmt::arg("functions", of.sizes.functions),
        fmt::arg("normals", of.sizes.normals), fmt::arg("moves", of.sizes.moves),
        fmt::arg("reads", name_of(of.sizes.reads)), fmt::arg("has_uses", by.uses > 0),
        fmt::arg("has_notices", by.weighs_steps),
        fmt::arg(
            "tables",
            basis_table("before", products.size(), [&](std::size_t k) { return products[k].before; }) +
                basis_table("feature", products.size(), [&](std::size_t k) { return products[k].feature; }) +
                basis_table("first_of", of_moves.size(), [&](std::size_t m) { return of_moves[m].first; }) +
                basis_table("second_of", of_moves.size(), [&](std::size_t m) { return of_moves[m].second; }) +
                basis_table("order_of", of_moves.size(),
                            [&](std::size_t m) { return static_cast<std::uint64_t>(of_moves[m].order); })));
}

void make_way_back(policy_kernels& to, const exercise::policy& by) {
    const std::string basis = basis_text(by, to);
    const bool has_moves = to.sizes.moves > 0;
    const std::string of_tile =
        bounds_text(kernels::paths_of_block, 2 * to.tile_bytes() <= 200 * 1024 ? 2 : 1);
    const std::string of_date = bounds_text(kernels::paths_of_block, 1);
    to.of_dates.text = basis + kernel_of("list_paths", "list_paths", of_tile) +
                       kernel_of("sum_features", "sum_features<false>", of_tile) +
                       kernel_of("sum_squares", "sum_features<true>", of_tile) +
                       kernel_of("make_factors", "make_factors", of_date) +
                       kernel_of("find_gain", "gain", bounds_text(threads_of_gain, 1));
    if (has_moves)
        to.of_dates.text += kernel_of("begin_slopes", "step<false>", of_date) +
                            kernel_of("step_slopes", "step<true>", of_date);
    const auto of_sums = [&](bool are_few) {
        return are_few ? bounds_text(to.sums(true).threads, 4) : of_tile;
    };
    const std::string of_slopes = of_sums(to.sizes.has_few_slopes());
    to.of_sums.text = basis + kernel_of("sum_functions", "sum_functions", of_sums(to.sizes.has_few_fits()));
    if (has_moves)
        to.of_sums.text += kernel_of("sum_moves", "sum_moves<false>", of_slopes) +
                           kernel_of("sum_image", "sum_moves<true>", of_slopes);
    const int resident_sweeps = to.sizes.functions <= 12 ? 5 : to.sizes.has_few_functions() ? 4 : 2;
    to.of_sweep.text =
        basis +
        kernel_of("sweep", "sweep", bounds_text(kernels::backward_sizes::threads_of_sweep, resident_sweeps));
}

}  // namespace

path_reads path_reads_of(const kernel_wish& how) {
    if (!how.feed) return path_reads::register_rolling;
    return std::ranges::find(reads_of_feeds, feed_named(*how.feed).name, &reads_of_feed::feed)->reads;
}

policy_kernels policy_kernels_of(const exercise::untrained& of, path_reads reads) {
    policy_kernels out;
    kernel_decision how;
    how.precision = program::precision::double_;
    left_states leaves;
    for (const auto& section : of.leaves) leaves.push_back(section.states);
    out.leaving.text = leaving_kernel_text(of.made.code, how, leaves);
    out.leaving_threads = static_cast<std::uint32_t>(how[knobs::block]);
    out.leaving_shared_bytes =
        static_cast<std::uint32_t>(feed_shared_bytes(how, of.made.code.slots_per_step()));
    const exercise::interval_moves moves = of.by.moves();
    out.sizes = {static_cast<int>(of.by.functions.features()), static_cast<int>(of.by.functions.functions()),
                 static_cast<int>(moves.size()), static_cast<int>(moves.columns()), reads};
    make_way_back(out, of.by);
    return out;
}

}  // namespace tilewalk::cuda
