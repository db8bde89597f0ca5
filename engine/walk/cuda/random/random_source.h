// SPDX-License-Identifier: Apache-2.0
// A random source fills a run's cubes of shocks on a GPU. A number is a pure function of seed, path, number
// of the shock and source, whatever the chunks, the device, and the rows that other trades need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "engine/walk/arrays/element.h"
#include "engine/walk/cuda/device/device.h"
#include "kernels/fill_kernel.h"
#include "kernels/point_arguments.h"

namespace tilewalk::random {

using kernels::shock_kind;

// Rows of one stream, for trades that read the same streams: number n stands in row first_row + n /
// dimensions * per_step + slots[n % dimensions].
struct keyed_rows {
    kernels::stream_key key;
    kernels::word32 dimensions = 1;
    kernels::word32 per_step = 1;
    std::uint64_t numbers = 0;
    std::uint64_t first_row = 0;
    const kernels::word32* slots = nullptr;  // on the device
};

// Rows of points, for trades that take dimensions in one order: the members of kernels::points_arguments, and
// the rotation that follows. All memory is on the device.
struct placed_points {
    std::uint64_t first_row = 0;
    const kernels::slot_of_points* slots = nullptr;
    const kernels::word32* dimensions = nullptr;
    const kernels::point_visit* visits = nullptr;
    const double *inverse_roots = nullptr, *loadings = nullptr;
    const kernels::word32* steps_of_components = nullptr;
    const kernels::point_segment* segments = nullptr;
    kernels::word32 components = 0, walkers = kernels::warps_of_points(false), stack = 0, steps = 0,
                    slot_count = 1;
    std::size_t directions = 0;  // dimensions up to the last one taken
    const kernels::word32* rotated_slots = nullptr;
    const double* rotation = nullptr;
    kernels::word32 rotated = 0;
};

// A cube in device memory, with paths side by side. A run's trades share a cube of normals and one of
// uniforms. Without keyed rows, row r holds slot r % per_step of step r / per_step of every trade.
struct cube {
    void* first = nullptr;    // aligned to 256 bytes
    std::uint64_t pitch = 0;  // elements from row to row: padded_paths
    std::uint64_t rows = 0;
    shock_kind kind = shock_kind::normal;
    std::span<const keyed_rows> keyed{};      // for a source keyed by name
    std::span<const placed_points> points{};  // for a source of points
};

// The pitch of rows: every row begins at a multiple of 256 bytes.
constexpr std::uint64_t padded_paths(std::uint64_t paths, arrays::element of) {
    const std::uint64_t per_line = 256 / arrays::bytes_of(of);
    return (paths + per_line - 1) / per_line * per_line;
}

// A source at work on one device for one run, used by one thread at a time. Use one stream for all cubes,
// which are filled in its order; wait for it before the source is destroyed.
class random_source {
  public:
    virtual ~random_source() = default;

    // Fills all rows for whole tiles from first_path on, with meaningless numbers beyond the run's end.
    // Returns before the work is done; later work in the stream sees the cube.
    virtual void fill(const cube& into, std::uint64_t first_path, std::uint64_t paths, cuda::stream on) = 0;

    // Number of consecutive paths made together: a power of two times a tile. Unit u begins at path u *
    // unit_paths. Chunks may be cut anywhere, but a chunk that cuts a unit may cost as much as the whole
    // unit.
    virtual std::uint64_t unit_paths() const = 0;
};

struct opening {
    cuda::device& on;
    // Compiles and loads a text, and returns its kernel `name`.
    std::function<cuda::kernel(const std::string& text, const char* name)> kernel_of;
    std::uint64_t seed = 0;
    std::uint64_t run_paths = 0;
    std::uint64_t most_rows = 0;  // most of any cube
    arrays::element of = arrays::element::double_;
    bool approximate = false;      // our own source makes single normals as kernels do in single_fast
    std::uint64_t unit_paths = 0;  // paths of a randomisation of points; 0: the source decides
};

}  // namespace tilewalk::random
