// SPDX-License-Identifier: Apache-2.0
// Writes files of shocks in both forms of shock_file.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace tilewalk::arrays {

// [step][slot][path]
template <class shock>
struct shock_arrays {
    std::uint64_t steps = 0;
    std::uint64_t normals_per_step = 0;
    std::uint64_t uniforms_per_step = 0;
    std::uint64_t paths = 0;
    std::span<const shock> normals;
    std::span<const shock> uniforms;
};

// Throws tilewalk::error: io; usage for an array of a wrong size, or for uniforms, which NumPy's form lacks.
template <class shock>
void write_shocks(const std::filesystem::path& file, const shock_arrays<shock>& what);
template <class shock>
void write_numpy(const std::filesystem::path& file, const shock_arrays<shock>& what);

}  // namespace tilewalk::arrays
