// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/correlation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/base/wording.h"
#include "kernels/correlation/blocked.h"
#include "kernels/correlation/tiled.h"
#include "kernels/correlation/untiled.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

namespace {

namespace correlation = kernels::correlation;

template <class single, class double_>
constexpr correlation_variant variant(std::string_view name, std::string_view kind,
                                      std::string_view constants) {
    static_assert(single::threads == double_::threads && single::rows == double_::rows &&
                  single::paths == double_::paths);
    return {name,
            kind,
            constants,
            std::uint32_t{double_::threads},
            double_::rows,
            double_::paths,
            single::shared_bytes,
            double_::shared_bytes};
}

template <int unroll>
constexpr correlation_variant untiled(std::string_view name, std::string_view constants) {
    return variant<correlation::untiled<float, float, unroll>, correlation::untiled<double, double, unroll>>(
        name, "untiled", constants);
}
template <int tile, bool unrolled>
constexpr correlation_variant tiled(std::string_view name, std::string_view constants) {
    return variant<correlation::tiled<float, float, tile, unrolled>,
                   correlation::tiled<double, double, tile, unrolled>>(name, "tiled", constants);
}
template <int warps>
constexpr correlation_variant blocked(std::string_view name, std::string_view constants) {
    return variant<correlation::blocked<float, float, warps>, correlation::blocked<double, double, warps>>(
        name, "blocked", constants);
}

constexpr std::array variants{
    untiled<1>("untiled", "1"),
    untiled<8>("untiled_unrolled", "8"),
    tiled<4, false>("tiled_4", "4, false"),
    tiled<4, true>("tiled_4_unrolled", "4, true"),
    tiled<8, false>("tiled_8", "8, false"),
    tiled<8, true>("tiled_8_unrolled", "8, true"),
    tiled<12, false>("tiled_12", "12, false"),
    tiled<12, true>("tiled_12_unrolled", "12, true"),
    tiled<16, false>("tiled_16", "16, false"),
    tiled<16, true>("tiled_16_unrolled", "16, true"),
    tiled<32, false>("tiled_32", "32, false"),
    tiled<32, true>("tiled_32_unrolled", "32, true"),
    blocked<2>("blocked_16", "2"),
    blocked<4>("blocked_32", "4"),
    blocked<8>("blocked_64", "8"),
};

bool is_single(precision p) {
    return program::real_type(p) == program::number_type::single_;
}
std::size_t bytes_of_real(precision p) {
    return bytes_of(program::real_type(p));
}

template <class real>
std::vector<std::byte> packed(const program::move_numbers& from) {
    std::vector<real> numbers;
    numbers.reserve(from.drifts.size() + from.roots.size());
    const auto add = [&](const std::vector<double>& of, std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; ++i) numbers.push_back(static_cast<real>(of[i]));
    };
    for (std::size_t step = 0; step < from.steps; ++step) {
        add(from.drifts, step * from.factors, from.factors);
        add(from.roots, step * from.roots_per_step(), from.roots_per_step());
    }
    std::vector<std::byte> out(numbers.size() * sizeof(real));
    if (!out.empty()) std::memcpy(out.data(), numbers.data(), out.size());
    return out;
}

}  // namespace

std::uint32_t correlation_variant::shared_bytes(precision p) const {
    return is_single(p) ? shared_bytes_single : shared_bytes_double;
}

std::span<const correlation_variant> correlation_variants() {
    return variants;
}

const correlation_variant& find_correlation_variant(std::string_view name) {
    std::vector<std::string> known;
    for (const correlation_variant& v : variants) {
        if (v.name == name) return v;
        known.emplace_back(v.name);
    }
    throw error(error_kind::usage, config::shown(name) + " is no kernel for correlated moves" +
                                       config::alternatives(name, "there are", known));
}

const correlation_variant& best_correlation_variant(std::size_t factors) {
    return find_correlation_variant(factors <= 16   ? "blocked_16"
                                    : factors <= 32 ? "blocked_32"
                                                    : "blocked_64");
}

std::size_t correlation_crossover(precision p) {
    return program::real_type(p) == program::number_type::double_ ? 40 : 48;
}

bool makes_moves_ahead(std::string_view setting, std::size_t factors, precision p) {
    if (setting == "auto") return factors >= correlation_crossover(p);
    if (setting == "matrix") return true;
    if (setting == "kernel") return false;
    throw error(error_kind::usage,
                "correlation is 'auto', 'kernel' or 'matrix', found '" + std::string(setting) + "'");
}

std::string correlation_text(const correlation_variant& v, precision p) {
    return fmt::format(
        R"(#include "kernels/correlation/kernel.h"
#include {header}

using variant = tilewalk::kernels::correlation::{kind}<{shock}, {real}, {constants}>;
static_assert(variant::threads == {threads} && variant::rows == {rows} && variant::paths == {paths} &&
              variant::shared_bytes == {shared_bytes}, "the text is of another variant than the launch");

extern "C" __global__ void __launch_bounds__({threads})
correlate(const __grid_constant__ tilewalk::kernels::correlation::arguments a) {{
    extern __shared__ __align__(16) char shared[];
    tilewalk::kernels::correlation::correlate_block<variant>(a, shared);
}}
)",
        fmt::arg("kind", v.kind), fmt::arg("header", fmt::format("\"kernels/correlation/{}.h\"", v.kind)),
        fmt::arg("constants", v.constants), fmt::arg("shock", word_of(program::shock_type(p))),
        fmt::arg("real", word_of(program::real_type(p))), fmt::arg("threads", v.threads),
        fmt::arg("rows", v.rows), fmt::arg("paths", v.paths), fmt::arg("shared_bytes", v.shared_bytes(p)));
}

std::vector<std::byte> correlation_numbers(const program::move_numbers& from, precision p) {
    return is_single(p) ? packed<float>(from) : packed<double>(from);
}

std::uint64_t correlation_numbers_bytes(std::size_t factors, std::size_t steps, precision p) {
    return steps * correlation::numbers_per_step(factors) * bytes_of_real(p);
}

std::uint64_t correlation_moves_bytes(const correlation_job& job, precision p) {
    return job.steps * job.factors * job.move_pitch * bytes_of_real(p);
}

std::vector<correlation_launch> correlation_launches(const correlation_job& job, const correlation_variant& v,
                                                     precision p, std::uint64_t most_blocks) {
    std::vector<correlation_launch> out;
    if (job.paths == 0 || job.factors == 0) return out;
    const std::size_t shock_bytes = bytes_of(program::shock_type(p));
    const std::size_t real_bytes = bytes_of_real(p);
    const correlation::arguments whole{job.numbers,
                                       job.shocks,
                                       job.moves,
                                       job.shock_pitch,
                                       job.move_pitch,
                                       job.paths,
                                       static_cast<std::uint32_t>(job.factors),
                                       0};
    const std::uint64_t blocks = correlation::blocks_per_step(whole, v.rows, v.paths);
    if (blocks > most_blocks) {
        throw error(error_kind::usage,
                    fmt::format("correlating {} factors on {} paths at once takes more blocks than a launch "
                                "can have; take fewer paths at a time",
                                job.factors, job.paths));
    }
    const std::size_t most_steps = most_blocks / blocks;
    for (std::size_t first = 0; first < job.steps; first += most_steps) {
        const std::size_t steps = std::min(most_steps, job.steps - first);
        correlation_launch& l = out.emplace_back();
        l.how.blocks = static_cast<std::uint32_t>(steps * blocks);
        l.how.threads = v.threads;
        l.how.shared_bytes = v.shared_bytes(p);
        l.arguments = whole;
        const auto ahead = [](const void* from, std::uint64_t bytes) {
            return static_cast<const std::byte*>(from) + bytes;
        };
        l.arguments.numbers = ahead(job.numbers, correlation_numbers_bytes(job.factors, first, p));
        l.arguments.shocks = ahead(job.shocks, first * job.factors * job.shock_pitch * shock_bytes);
        l.arguments.moves =
            static_cast<std::byte*>(job.moves) + first * job.factors * job.move_pitch * real_bytes;
    }
    return out;
}

void make_moves(device& on, kernel k, const correlation_variant& v, precision p, const correlation_job& job,
                stream s) {
    for (correlation_launch& l : correlation_launches(job, v, p)) {
        void* arguments[] = {&l.arguments};
        on.run(k, l.how, arguments, s);
    }
}

}  // namespace tilewalk::cuda
