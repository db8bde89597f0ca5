// SPDX-License-Identifier: Apache-2.0
// A random source fills the shock cube of a run on a GPU. What stands in the cube for a path and a shock
// number is a pure function of the seed, the path, the number and the source: not of the chunks in which a
// run is worked through, of the device, or of how many rows its neighbours in the book ask for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/arrays/element.h"
#include "engine/cuda/device.h"
#include "kernels/fill_kernel.h"

namespace tilewalk::random {

using kernels::shock_kind;

// A cube in device memory. Row r holds shock number r, that is slot r % per_step of step r / per_step; paths
// stand side by side. All trades of a run share one cube of normals and one of uniforms.
struct cube {
    void* first = nullptr;    // aligned to 256 bytes
    std::uint64_t pitch = 0;  // elements from row to row: padded_paths
    std::uint64_t rows = 0;
    shock_kind kind = shock_kind::normal;
};

// The pitch of rows of so many paths: rows begin on 256 bytes.
constexpr std::uint64_t padded_paths(std::uint64_t paths, arrays::element of) {
    const std::uint64_t per_line = 256 / arrays::bytes_of(of);
    return (paths + per_line - 1) / per_line * per_line;
}

// A source at work on one device for one run. One thread at a time; cubes are filled in the order of the
// stream, so it is the same one each time; wait for it before the source goes.
class random_source {
  public:
    virtual ~random_source() = default;

    // Fills all rows for the paths from first_path on, which are whole tiles; also those beyond the end of
    // the run, which nobody counts. Returns before it is done: what follows on the stream sees the cube.
    virtual void fill(const cube& into, std::uint64_t first_path, std::uint64_t paths, cuda::stream on) = 0;

    // Consecutive paths that are made together, a power of two of tiles; unit u holds the paths from
    // u * unit_paths on. Any chunk will do, but one that cuts through a unit may cost as much as the whole.
    virtual std::uint64_t unit_paths() const = 0;
};

// What a source is opened with. The device must outlive it.
struct opening {
    cuda::device& on;
    // A kernel of this text, compiled and loaded.
    std::function<cuda::kernel(const std::string& text, const char* name)> kernel_of;
    std::uint64_t seed = 0;
    std::uint64_t run_paths = 0;
    std::uint64_t most_rows = 0;  // of any cube
    arrays::element of = arrays::element::double_;
    bool approximate = false;  // our own source makes single normals as kernels in single_fast do
};

}  // namespace tilewalk::random
