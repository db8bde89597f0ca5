// SPDX-License-Identifier: Apache-2.0
// The sources `philox` and `philox_7`, which give the bits that path kernels draw themselves. A unit is a
// tile, because a path's shocks do not depend on other paths.
#include <memory>

#include "engine/walk/cuda/random/fill_kernels.h"

namespace tilewalk::random {

namespace {

class philox final : public random_source {
  public:
    philox(const opening& from, int rounds) : from_(from), rounds_(rounds) {}

    void fill(const cube& into, std::uint64_t first_path, std::uint64_t paths, cuda::stream on) override {
        draw_cube(from_, into, first_path, paths, on, rounds_);
    }
    std::uint64_t unit_paths() const override { return kernels::paths_per_tile; }

  private:
    opening from_;
    int rounds_;
};

}  // namespace

std::size_t no_scratch(std::uint64_t) {
    return 0;
}

std::unique_ptr<random_source> open_philox(const opening& from) {
    return std::make_unique<philox>(from, kernels::philox_rounds);
}

std::unique_ptr<random_source> open_philox_7(const opening& from) {
    return std::make_unique<philox>(from, kernels::fewest_philox_rounds);
}

}  // namespace tilewalk::random
