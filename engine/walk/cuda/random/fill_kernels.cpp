// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/random/fill_kernels.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tilewalk/error.h"

namespace tilewalk::random {

namespace {

std::string kernel_text(const char* arguments, const std::string& function) {
    return fmt::format(R"(#include "kernels/fast.h"
#include "kernels/fill_kernel.h"
#include "kernels/ptx.h"

extern "C" __global__ void __launch_bounds__(256) fill(const __grid_constant__ tilewalk::kernels::{} a) {{
    using namespace tilewalk::kernels;
    {}(a, blockIdx.x, int(threadIdx.x));
}}
)",
                       arguments, function);
}

const char* type_of(arrays::element of) {
    return of == arrays::element::double_ ? "double" : "float";
}

const char* word_of(shock_kind kind) {
    return kind == shock_kind::normal ? "shock_kind::normal" : "shock_kind::uniform";
}

template <class arguments>
void launch(const opening& from, cuda::kernel fill, std::uint64_t blocks, arguments& a, cuda::stream on) {
    if (blocks == 0) return;
    std::array<void*, 1> pointers{&a};
    cuda::launch how;
    how.blocks = static_cast<std::uint32_t>(blocks);
    how.threads = kernels::fill_threads;
    from.on.run(fill, how, pointers, on);
}

kernels::cube_argument part_of(const opening& from, const cube& into, const bits_block& what) {
    const std::uint64_t offset = what.first_row * into.pitch + what.at;
    return {static_cast<std::byte*>(into.first) + offset * arrays::bytes_of(from.of), into.pitch, what.rows,
            what.paths};
}

std::uint64_t blocks_to_convert(arrays::element of, const kernels::cube_argument& into) {
    return of == arrays::element::double_ ? kernels::blocks_to_convert<double>(into)
                                          : kernels::blocks_to_convert<float>(into);
}

}  // namespace

std::uint64_t resident_blocks(cuda::device& on, cuda::kernel what, const cuda::launch& how) {
    return static_cast<std::uint64_t>(
        std::max(on.properties().multiprocessors * on.attributes(what, how).blocks_per_multiprocessor, 1));
}

std::string draw_text(arrays::element of, shock_kind kind, bool approximate, int rounds) {
    const bool is_double = of == arrays::element::double_;
    if (rounds != kernels::philox_rounds && (is_double || !approximate))
        throw error(error_kind::internal, "shocks of fewer rounds are for single_fast");
    const std::string draws = is_double     ? "double_draws"
                              : approximate ? fmt::format("fast_draws_of<{}>", rounds)
                                            : "single_draws";
    return kernel_text("draws_arguments",
                       fmt::format("draw_shocks<{}, {}, wide_stores>", draws, word_of(kind)));
}

std::string convert_bits_text(arrays::element of, shock_kind kind) {
    return kernel_text("bits_arguments",
                       fmt::format("convert_bits<{}, {}, wide_stores>", type_of(of), word_of(kind)));
}

std::string convert_points_text(arrays::element of) {
    return kernel_text("bits_arguments", fmt::format("convert_points<{}, wide_stores>", type_of(of)));
}

std::string points_text(arrays::element of, shock_kind kind, bool has_components, bool approximate) {
    const std::string draws = of == arrays::element::double_ ? "double_draws"
                              : approximate ? fmt::format("fast_draws_of<{}>", kernels::philox_rounds)
                                            : "single_draws";
    return fmt::format(R"({}#include "kernels/ptx.h"
#include "kernels/point_fill.h"

extern __shared__ __align__(128) char shared[];

extern "C" __global__ void __launch_bounds__({}, 2) fill(const __grid_constant__ tilewalk::kernels::points_arguments a) {{
    using namespace tilewalk::kernels;
    fill_of_points<{}, {}, {}>(a, shared).fill();
}}
)",
                       approximate ? "#include \"kernels/fast.h\"\n" : "",
                       kernels::warps_of_points(has_components) * kernels::paths_of_warp, draws,
                       word_of(kind), has_components);
}

std::string rotation_text(arrays::element of) {
    return fmt::format(R"(#include "kernels/ptx.h"
#include "kernels/rotate_points.h"

extern __shared__ __align__(128) char shared[];

extern "C" __global__ void __launch_bounds__(256) rotate(const __grid_constant__ tilewalk::kernels::rotation_arguments a) {{
    tilewalk::kernels::rotate_points<{}>(a, shared);
}}
)",
                       of == arrays::element::double_ ? "double" : "float");
}

std::vector<std::string> texts_of_points(arrays::element of, bool approximate) {
    return {points_text(of, shock_kind::normal, false, approximate),
            points_text(of, shock_kind::normal, true, approximate),
            points_text(of, shock_kind::uniform, false, approximate), rotation_text(of)};
}

void draw_cube(const opening& from, const cube& into, std::uint64_t first_path, std::uint64_t paths,
               cuda::stream on, int rounds) {
    check_chunk(from, into, first_path, paths);
    const cuda::kernel fill = from.kernel_of(draw_text(from.of, into.kind, from.approximate, rounds), "fill");
    const keyed_rows nameless{{}, 1, 1, into.rows, 0, nullptr};
    const auto all = into.keyed.empty() ? std::span(&nameless, 1) : into.keyed;
    for (const keyed_rows& of : all) {
        kernels::draws_arguments a{
            {static_cast<std::byte*>(into.first) + of.first_row * into.pitch * arrays::bytes_of(from.of),
             into.pitch, into.rows - of.first_row, paths},
            from.seed,
            first_path,
            of.numbers,
            of.key,
            of.dimensions,
            of.per_step,
            of.slots};
        const std::uint64_t blocks = from.of == arrays::element::double_
                                         ? kernels::blocks_to_draw<kernels::double_draws>(a)
                                         : kernels::blocks_to_draw<kernels::single_draws>(a);
        launch(from, fill, blocks, a, on);
    }
}

void convert_bits(const opening& from, const cube& into, const bits_block& what, cuda::stream on) {
    kernels::bits_arguments a{part_of(from, into, what), what.bits, what.pitch, 0, 0};
    launch(from, from.kernel_of(convert_bits_text(from.of, into.kind), "fill"),
           blocks_to_convert(from.of, a.into), a, on);
}

void convert_points(const opening& from, const cube& into, const bits_block& what, std::uint64_t unit,
                    cuda::stream on) {
    kernels::bits_arguments a{part_of(from, into, what), what.bits, what.pitch, from.seed, unit};
    launch(from, from.kernel_of(convert_points_text(from.of), "fill"), blocks_to_convert(from.of, a.into), a,
           on);
}

void check_chunk(const opening& from, const cube& into, std::uint64_t first_path, std::uint64_t paths) {
    constexpr std::uint64_t tile = kernels::paths_per_tile;
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(into.first) % 256 == 0 &&
                            into.pitch * arrays::bytes_of(from.of) % 256 == 0;
    if (first_path % tile == 0 && paths % tile == 0 && paths <= into.pitch && into.rows <= from.most_rows &&
        is_aligned)
        return;
    throw error(error_kind::internal,
                "a cube of shocks is no whole number of tiles, or badly aligned, or larger than announced");
}

}  // namespace tilewalk::random
