// SPDX-License-Identifier: Apache-2.0
// The part of the suite `random` that asks what a trade of few dimensions would gain if its points did not
// pass through memory: sums along the points of each path, which are made in registers, or in shared memory,
// or read from a cube that is filled for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/measure/suites.h"
#include "bench/measure/timing.h"
#include "engine/cuda/memory.h"
#include "engine/cuda/random/point_tables.h"
#include "kernels/studies/point_sums_job.h"

namespace tilewalk::bench::normals {

std::string sum_made_text(arrays::element of);
std::string sum_shared_text(arrays::element of);
std::string sum_read_text(arrays::element of);
// Fills the cube that is read, as it would for a trade.
std::string sum_filled_text(arrays::element of);
std::vector<std::string> texts_of_point_sums();

// The sums of the first paths.
std::vector<double> sums_by_the_cpu(arrays::element of, kernels::word32 dimensions, std::uint64_t paths);

class point_sums {
  public:
    // Paths are of one randomisation, and fill whole tiles.
    point_sums(gpu_timer& on, arrays::element of, kernels::word32 dimensions, std::uint64_t paths);

    // All leave the same sums.
    void make_in_registers();
    void make_in_shared_memory();
    void fill_and_read();
    // The first step of the last.
    void fill();
    // Sums by path of what ran last. They are forgotten.
    std::vector<double> taken();

  private:
    void run_those_there(cuda::kernel k, void* arguments);
    void run(cuda::kernel k, const cuda::launch& how, void* arguments);
    std::uint64_t blocks_for_all() const;

    gpu_timer& on_;
    arrays::element of_;
    cuda::kernel made_, shared_, filled_, read_;
    random::point_tables tables_;
    cuda::device_memory slot_, numbers_, cube_, sums_;
    kernels::studies::point_sums_job job_{};
    cuda::in_flight waits_;
};

// Measures both in both precisions, for each number of dimensions, with at most so many paths.
void measure_point_sums(gpu_timer& on, std::span<const kernels::word32> dimensions, std::uint64_t most_paths,
                        const sink& to);

}  // namespace tilewalk::bench::normals
