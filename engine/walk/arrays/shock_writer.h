// SPDX-License-Identifier: Apache-2.0
// Writes files of shocks, in both forms that are read back (see shock_file.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace tilewalk::arrays {

// Shocks of all paths, [step][slot][path].
template <class shock>
struct shock_arrays {
    std::uint64_t steps = 0;
    std::uint64_t normals_per_step = 0;
    std::uint64_t uniforms_per_step = 0;
    std::uint64_t paths = 0;
    std::span<const shock> normals;
    std::span<const shock> uniforms;
};

// `shock` is float or double. They throw tilewalk::error: io; usage, if an array does not have the stated
// size, or has uniforms, which a NumPy array can't tell from normals.
template <class shock>
void write_shocks(const std::filesystem::path& file, const shock_arrays<shock>& what);
template <class shock>
void write_numpy(const std::filesystem::path& file, const shock_arrays<shock>& what);

}  // namespace tilewalk::arrays
