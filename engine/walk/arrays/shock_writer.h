// SPDX-License-Identifier: Apache-2.0
// Writes files of shocks in the two formats that shock_file.h describes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace tilewalk::arrays {

// Arrays to write, indexed [step][slot][path].
template <class shock>
struct shock_arrays {
    std::uint64_t steps = 0;
    std::uint64_t normals_per_step = 0;
    std::uint64_t uniforms_per_step = 0;
    std::uint64_t paths = 0;
    std::span<const shock> normals;
    std::span<const shock> uniforms;
};

// Throw tilewalk::error: io; usage for an array of wrong size, or for uniforms, which NumPy's format lacks.
template <class shock>
void write_shocks(const std::filesystem::path& file, const shock_arrays<shock>& what);
template <class shock>
void write_numpy(const std::filesystem::path& file, const shock_arrays<shock>& what);

}  // namespace tilewalk::arrays
