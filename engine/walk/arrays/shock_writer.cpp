// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/arrays/shock_writer.h"

#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/walk/arrays/layout.h"
#include "tilewalk/error.h"

namespace tilewalk::arrays {

namespace {

template <class shock>
constexpr arrays::element element_of = sizeof(shock) == sizeof(double) ? arrays::element::double_
                                                                       : arrays::element::single_;

template <class shock>
void write(const std::filesystem::path& file, std::string_view head, const shock_arrays<shock>& what) {
    const std::uint64_t rows = what.steps * what.paths;
    if (what.normals.size() != rows * what.normals_per_step ||
        what.uniforms.size() != rows * what.uniforms_per_step) {
        throw error(
            error_kind::usage,
            fmt::format("found {} normals and {} uniforms, expected {} steps of {} and {} on {} paths",
                        what.normals.size(), what.uniforms.size(), what.steps, what.normals_per_step,
                        what.uniforms_per_step, what.paths));
    }
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    const auto put = [&](const void* bytes, std::size_t count) {
        out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
    };
    put(head.data(), head.size());
    put(what.normals.data(), what.normals.size_bytes());
    put(what.uniforms.data(), what.uniforms.size_bytes());
    out.close();
    if (!out) throw error(error_kind::io, "the file can't be written", {file.string()});
}

// The header of a NumPy file. Spaces and a line feed pad it to a multiple of 64 bytes, as NumPy does.
std::string numpy_head(std::string_view descr, std::uint64_t steps, std::uint64_t slots,
                       std::uint64_t paths) {
    const std::string fields = fmt::format(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}, {}), }}", descr, steps, slots, paths);
    constexpr std::size_t before = 10;
    const std::size_t length = (before + fields.size() + 1 + 63) / 64 * 64 - before;
    std::string head("\x93NUMPY\x01\x00", 8);
    head += static_cast<char>(length & 0xff);
    head += static_cast<char>(length >> 8);
    return head + fields + std::string(length - fields.size() - 1, ' ') + '\n';
}

}  // namespace

template <class shock>
void write_shocks(const std::filesystem::path& file, const shock_arrays<shock>& what) {
    write<shock>(file,
                 header_of({element_of<shock>, what.steps, what.normals_per_step, what.uniforms_per_step,
                            what.paths, header_bytes}),
                 what);
}

template <class shock>
void write_numpy(const std::filesystem::path& file, const shock_arrays<shock>& what) {
    if (what.uniforms_per_step != 0)
        throw error(error_kind::usage, "found uniforms for a NumPy array of shocks, expected normals alone");
    const bool is_double = element_of<shock> == arrays::element::double_;
    write<shock>(file, numpy_head(is_double ? "<f8" : "<f4", what.steps, what.normals_per_step, what.paths),
                 what);
}

template void write_shocks(const std::filesystem::path&, const shock_arrays<double>&);
template void write_shocks(const std::filesystem::path&, const shock_arrays<float>&);
template void write_numpy(const std::filesystem::path&, const shock_arrays<double>&);
template void write_numpy(const std::filesystem::path&, const shock_arrays<float>&);

}  // namespace tilewalk::arrays
