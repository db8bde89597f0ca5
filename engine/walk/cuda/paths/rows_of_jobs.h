// SPDX-License-Identifier: Apache-2.0
// Rows of shocks of a run's jobs: shared, in a source keyed by name, of independent numbers or of points; or
// the same for all, in a file or another source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/numerics/quasi/order.h"
#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/paths/shock_cubes.h"
#include "engine/walk/job.h"
#include "kernels/arguments.h"

namespace tilewalk::cuda {

// Plans rows that all jobs read alike. Throws tilewalk::error if a job needs more than there is.
void add_rows_alike(const program::path_program& code, std::uint64_t steps, shock_plan& plan);

class rows_of_jobs {
  public:
    explicit rows_of_jobs(shock_plan& plan) : plan_(plan) {}

    // Empty if the source has no points. Thread-safe, unlike add(): making orders takes most of the time.
    std::optional<quasi::order> order_of(const run::job& job, const std::optional<quasi::points>& points);
    // Returns the job's share. With a source of points all normals are points, and uniforms if they are few.
    std::size_t add(const run::job& job, std::optional<quasi::order> order, point_way way = point_way::read);
    std::size_t add(const run::job& job, const std::optional<quasi::points>& points,
                    point_way way = point_way::read) {
        return add(job, order_of(job, points), way);
    }
    // Call after the last add().
    void end();

    // Valid after end(). `normals` is the first point of a share whose points are made by paths.
    struct first_rows {
        kernels::word32 normals, uniforms;
        kernels::word32 target_step;
    };
    first_rows of(std::size_t share) const;

  private:
    struct share {
        std::size_t normals, uniforms;
        std::optional<std::size_t> points{};  // the order's
    };
    shock_plan& plan_;
    quasi::order_maker maker_;
    std::vector<share> shares_;
};

}  // namespace tilewalk::cuda
