// SPDX-License-Identifier: Apache-2.0
// Times a workload's path kernels, one decision after another, with as many warps as the caller allows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/chunk.h"
#include "engine/walk/cuda/paths/noise_rows.h"
#include "engine/walk/cuda/paths/point_rows.h"
#include "engine/walk/cuda/random/point_tables.h"
#include "engine/walk/cuda/random/random_source.h"
#include "engine/walk/tuning/gpu_timer.h"
#include "engine/walk/tuning/workload.h"
#include "kernels/arguments.h"

namespace tilewalk::tuning {

class path_timer {
  public:
    static constexpr std::uint64_t seed = 42;

    // Fills arrays for `paths` paths (0: the workload's number), or for as many as fit into memory: see
    // paths().
    path_timer(gpu_timer& on, const workload& of, std::uint64_t paths);

    const workload& timed() const { return of_; }
    std::uint64_t paths() const { return paths_; }
    std::string text(const cuda::kernel_decision& how) const;
    // Why a kernel with this decision can't be built or run on the device; empty if it can.
    std::string why_not(const cuda::kernel_decision& how) const;

    // A loaded kernel with its launch, for at most `warps` warps on a multiprocessor; 0: as many as fit.
    struct prepared {
        cuda::kernel k{};
        cuda::launch how;
        int warps = 0;  // that run at once on a multiprocessor
        int registers = 0;
        std::size_t local_bytes = 0, shared_bytes = 0;
    };
    prepared prepare(const cuda::kernel_decision& how, int warps);
    void launch(const cuda::kernel_decision& how, const prepared& what);
    // Makes the points that a kernel with this decision reads, again.
    void fill(const cuda::kernel_decision& how);

    // Results of a launch: all tiles of the first trade's first output, then of its next output, and so on.
    std::vector<kernels::tile_result> results();

    std::uint64_t bytes_read(const cuda::kernel_decision& how) const;

  private:
    struct arrays_of_kernel {
        cuda::point_rows points;
        std::optional<cuda::device_memory> records, normals, uniforms;
        std::uint64_t pitch = 0;
        std::vector<cuda::device_memory> memory;  // tables from which points are made
        std::vector<random::placed_points> placed;
        cuda::point_rows::target_tables tables;
        std::unique_ptr<random::random_source> source;
        const kernels::made_point* made_points = nullptr;
    };
    std::uint64_t normal_rows(const arrays_of_kernel& of) const;
    std::size_t results_rows() const;
    void share_rows(std::vector<kernels::trade_record> records, cuda::point_way way);
    arrays_of_kernel& of_way(cuda::point_way way) { return arrays_[static_cast<std::size_t>(way)]; }
    arrays_of_kernel& arrays_for(const cuda::kernel_decision& how);
    void fill_points(arrays_of_kernel& of);
    kernels::path_arguments arguments(const cuda::kernel_decision& how);

    gpu_timer& on_;
    const workload& of_;
    std::uint64_t paths_;
    cuda::noise_rows normals_, uniforms_;
    std::optional<cuda::device_memory> numbers_, words_;
    std::optional<cuda::chunk_memory> results_;
    std::array<arrays_of_kernel, 3> arrays_;  // by point_way
    random::point_tables tables_;
};

}  // namespace tilewalk::tuning
