// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/policy_kernels.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "engine/cuda/feeds.h"
#include "engine/cuda/kernel_text.h"
#include "engine/cuda/program_text.h"

namespace tilewalk::cuda {

namespace {

// A table of the basis: number(i) for i < count.
std::string basis_table(const std::string& name, std::size_t count,
                        const std::function<std::uint64_t(std::size_t)>& number) {
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(number(i));
    return "    " + table_text(name + "(int i)", "i", numbers);
}

int bytes_of(const kernels::backward_sizes& sizes) {
    return sizes.doubles() * static_cast<int>(sizeof(double));
}

// A block waits for memory and for its threads most of the time, so that a multiprocessor takes two where
// their numbers fit; those of more moves fill its registers.
std::string backward_text(const exercise::policy& by, const kernels::backward_sizes& sizes) {
    const exercise::interval_moves moves = by.moves();
    const auto& products = by.functions.products();
    const auto& of_moves = moves.moves();
    return fmt::format(
        R"(#include "kernels/exercise/backward_kernel.h"

namespace tilewalk::kernels::generated {{

struct basis {{
    static constexpr int states = {states}, functions = {functions}, normals = {normals}, moves = {moves};
{tables}}};

}}  // namespace tilewalk::kernels::generated

extern "C" __global__ void __launch_bounds__({threads} TILEWALK_RESIDENT_BLOCKS({resident}))
find_policy(const __grid_constant__ tilewalk::kernels::backward_arguments a) {{
    extern __shared__ __align__(128) char shared[];
    tilewalk::kernels::find_policy<tilewalk::kernels::generated::basis>(a, reinterpret_cast<double*>(shared));
}}
)",
        fmt::arg("states", by.functions.features() - 1), fmt::arg("functions", sizes.functions),
        fmt::arg("normals", moves.columns()), fmt::arg("moves", sizes.moves),
        fmt::arg("threads", kernels::paths_of_block),
        fmt::arg("resident", by.normals.size() <= 1 && 2 * bytes_of(sizes) <= 160 * 1024 ? 2 : 1),
        fmt::arg(
            "tables",
            basis_table("before", products.size(), [&](std::size_t k) { return products[k].before; }) +
                basis_table("feature", products.size(), [&](std::size_t k) { return products[k].feature; }) +
                basis_table("first_of", of_moves.size(), [&](std::size_t m) { return of_moves[m].first; }) +
                basis_table("second_of", of_moves.size(), [&](std::size_t m) { return of_moves[m].second; }) +
                basis_table("order_of", of_moves.size(),
                            [&](std::size_t m) { return static_cast<std::uint64_t>(of_moves[m].order); })));
}

policy_kernels::way_back way_back_of(const exercise::policy& by) {
    policy_kernels::way_back out;
    out.sizes = {static_cast<int>(by.functions.features()), static_cast<int>(by.functions.functions()),
                 static_cast<int>(by.moves().size())};
    out.text = backward_text(by, out.sizes);
    out.shared_bytes = static_cast<std::uint32_t>(bytes_of(out.sizes));
    return out;
}

}  // namespace

policy_kernels policy_kernels_of(const exercise::untrained& of) {
    policy_kernels out;
    kernel_decision how;
    how.precision = program::precision::double_;
    left_states leaves;
    for (const auto& section : of.leaves) leaves.push_back(section.states);
    out.leaving = leaving_kernel_text(of.made.code, how, leaves);
    out.leaving_threads = static_cast<std::uint32_t>(how[knobs::block]);
    out.leaving_shared_bytes =
        static_cast<std::uint32_t>(feed_shared_bytes(how, of.made.code.slots_per_step()));
    out.all = way_back_of(of.by);
    if (of.has_gain()) {
        exercise::policy without_bound = of.by;
        without_bound.normals.clear();
        out.every_second = way_back_of(without_bound);
    }
    return out;
}

bool is_found_on_gpus(const exercise::untrained& of) {
    return !of.is_certain && of.by.is_plain() && of.made.data.scenarios.empty();
}

}  // namespace tilewalk::cuda
