// SPDX-License-Identifier: Apache-2.0
// Plans the rows of shocks that jobs read from arrays. A source keyed by name (independent numbers or points)
// has rows for each group of jobs that share them; a file or any other source has the same rows for all jobs.
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

// Plans rows that are the same for all jobs. Throws tilewalk::error if a job needs more than there are.
void add_rows_alike(const program::path_program& code, std::uint64_t steps, shock_plan& plan);

class rows_of_jobs {
  public:
    explicit rows_of_jobs(shock_plan& plan) : plan_(plan) {}

    // Empty if the source has no points. Thread-safe, unlike add(), as making orders takes most of the time.
    std::optional<quasi::order> order_of(const run::job& job, const std::optional<quasi::points>& points);
    // Returns the job's share. If the source has points, all normals are points; so are few uniforms.
    std::size_t add(const run::job& job, std::optional<quasi::order> order, point_way way = point_way::read);
    std::size_t add(const run::job& job, const std::optional<quasi::points>& points,
                    point_way way = point_way::read) {
        return add(job, order_of(job, points), way);
    }
    // Call after the last add().
    void end();

    // First rows of a share, valid after end(). If its paths compute points, `normals` is the first point.
    struct first_rows {
        kernels::word32 normals, uniforms;
        kernels::word32 target_step;
    };
    first_rows first_rows_of(std::size_t share) const;

  private:
    struct share {
        std::size_t normals, uniforms;
        std::optional<std::size_t> points{};  // share in point_rows
    };
    shock_plan& plan_;
    quasi::order_maker maker_;
    std::vector<share> shares_;
};

}  // namespace tilewalk::cuda
