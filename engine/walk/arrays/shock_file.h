// SPDX-License-Identifier: Apache-2.0
// A file of shocks to walk instead of random ones: a user's own scenarios, or another engine's. Two forms are
// read, told apart by their first bytes:
//
// - a NumPy array (.npy, versions 1 to 3) of normals, float64 or float32 ('<f8', '<f4') in C order, with the
//   shape (steps, slots, paths), or (steps, paths) for one normal a step;
// - Tilewalk's own, all numbers little-endian:
//
//       byte  0  8 characters  TWSHOCKS
//             8  32 bits       version, 1
//            12  32 bits       bytes of a number, 4 (float32) or 8 (float64)
//            16  64 bits       steps
//            24  64 bits       normals a step
//            32  64 bits       uniforms a step
//            40  64 bits       paths
//            48  64 bits       0
//            56  64 bits       FNV-1a, of 64 bits, of the 56 bytes before
//            64  the normals   [step][slot][path]
//                the uniforms  [step][slot][path]
//
// The file is mapped: it may be larger than memory, and must not change while it is used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/walk/arrays/element.h"
#include "engine/walk/arrays/shock_cube.h"

namespace tilewalk::arrays {

using arrays::element;

using arrays::shock_cube;

struct needs {
    std::uint64_t steps = 0;
    std::uint64_t normals_per_step = 0;
    std::uint64_t uniforms_per_step = 0;
    std::uint64_t paths = 0;
};

class shock_file {
  public:
    // Checks every number: normals must be finite, uniforms within (0, 1), also when rounded to type
    // `walked_as`. Throws tilewalk::error: io if the file is unreadable, input if a number is invalid.
    shock_file(const std::filesystem::path& file, element walked_as);

    // The array has no slots if the file has no shocks of its kind.
    const shock_cube& normals() const { return normals_; }
    const shock_cube& uniforms() const { return uniforms_; }
    std::uint64_t paths() const { return normals_.paths; }

    // Throws tilewalk::error (input) if the file has fewer steps, slots or paths than a trade needs.
    void check(const needs& of_trade) const;

  private:
    std::string name_;
    std::shared_ptr<const void> mapped_;
    shock_cube normals_, uniforms_;
};

// Copies `count` paths of a row, from first_path on; beyond the array's end, repeats its last path.
template <class shock>
void copy_row(const shock_cube& from, std::uint64_t step, std::uint64_t slot, std::uint64_t first_path,
              std::uint64_t count, shock* to);

}  // namespace tilewalk::arrays
