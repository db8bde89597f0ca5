// SPDX-License-Identifier: Apache-2.0
// The rows of a source that is keyed by name, of independent numbers or of points, which the jobs of a run
// share; and those of a file, or of a source that is not keyed.
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

// Adds to the plan the rows of a job of so many steps that all jobs read alike, from a file or from a source
// that is not keyed. Throws tilewalk::error if the job needs more than there is.
void add_rows_alike(const program::path_program& code, std::uint64_t steps, shock_plan& plan);

class rows_of_jobs {
  public:
    // Fills in the plan's rows.
    explicit rows_of_jobs(shock_plan& plan) : plan_(plan) {}

    // The order in which a job takes points; none: the source has none. Any number of threads may ask, for
    // jobs that are added in one thread then: orders take most of the time of adding.
    std::optional<quasi::order> order_of(const run::job& job, const std::optional<quasi::points>& points);
    // Returns the number of the job's share. With a source of points all normals are points, and uniforms
    // where they are few.
    std::size_t add(const run::job& job, std::optional<quasi::order> order, point_way way = point_way::read);
    std::size_t add(const run::job& job, const std::optional<quasi::points>& points,
                    point_way way = point_way::read) {
        return add(job, order_of(job, points), way);
    }
    // No job comes after this one.
    void end();

    // The first rows of a share, once all are known; `normals` of one whose points are made is the first of
    // its points.
    struct first_rows {
        kernels::word32 normals, uniforms;
        kernels::word32 target_step;
    };
    first_rows of(std::size_t share) const;

  private:
    struct share {
        std::size_t normals, uniforms;
        std::optional<std::size_t> points{};  // the share of the order
    };
    shock_plan& plan_;
    quasi::order_maker maker_;
    std::vector<share> shares_;
};

}  // namespace tilewalk::cuda
