// SPDX-License-Identifier: Apache-2.0
// A random source fills a run's cubes of shocks on a GPU. Each number depends on nothing but the seed, the
// path, the number of the shock and the source: not on chunks, devices or other trades.
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

// Rows that trades share, for one stream. The stream's number n is in row first_row + n / dimensions *
// per_step + slots[n % dimensions].
struct keyed_rows {
    kernels::stream_key key;
    kernels::word32 dimensions = 1;
    kernels::word32 per_step = 1;
    std::uint64_t numbers = 0;
    std::uint64_t first_row = 0;
    const kernels::word32* slots = nullptr;  // in device memory
};

// Rows of points for trades with one order of dimensions: the members of kernels::points_arguments, then
// those of the rotation that follows. All memory is on the device.
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
    std::size_t directions = 0;  // dimensions up to the last that is taken
    const kernels::word32* rotated_slots = nullptr;
    const double* rotation = nullptr;
    kernels::word32 rotated = 0;
};

// An array of shocks in device memory: a row of paths for each shock. Trades share one of normals and one of
// uniforms. Unless rows are keyed, row r has slot r % per_step of step r / per_step of every trade.
struct cube {
    void* first = nullptr;    // a multiple of 256 bytes
    std::uint64_t pitch = 0;  // elements from one row to the next: padded_paths()
    std::uint64_t rows = 0;
    shock_kind kind = shock_kind::normal;
    std::span<const keyed_rows> keyed{};      // if the source is keyed by name
    std::span<const placed_points> points{};  // if the source has points
};

// The pitch of rows, with which every row begins at a multiple of 256 bytes.
constexpr std::uint64_t padded_paths(std::uint64_t paths, arrays::element of) {
    const std::uint64_t per_line = 256 / arrays::bytes_of(of);
    return (paths + per_line - 1) / per_line * per_line;
}

// A source, opened on one device for one run, for one thread at a time. All cubes must be filled in one
// stream, which must be waited for before the source is destroyed.
class random_source {
  public:
    virtual ~random_source() = default;

    // Fills all rows for whole tiles from first_path on; numbers beyond the run's last path mean nothing.
    // Returns before the cube is filled; work queued later in stream `on` finds it filled.
    virtual void fill(const cube& into, std::uint64_t first_path, std::uint64_t paths, cuda::stream on) = 0;

    // Paths of a unit, which are made together: a power of two of tiles. Chunks may begin and end within a
    // unit, but making part of it may cost as much as all of it.
    virtual std::uint64_t unit_paths() const = 0;
};

struct opening {
    cuda::device& on;
    // Compiles and loads `text`, and returns its kernel `name`.
    std::function<cuda::kernel(const std::string& text, const char* name)> kernel_of;
    std::uint64_t seed = 0;
    std::uint64_t run_paths = 0;
    std::uint64_t most_rows = 0;  // of the largest cube
    arrays::element of = arrays::element::double_;
    bool approximate = false;      // whether normals of type single are those of single_fast
    std::uint64_t unit_paths = 0;  // paths of a randomisation; 0: the source decides
};

}  // namespace tilewalk::random
