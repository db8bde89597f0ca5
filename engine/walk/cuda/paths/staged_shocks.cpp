// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/staged_shocks.h"

#include "engine/walk/cuda/device/loaded_device.h"

namespace tilewalk::cuda {

staged_shocks::staged_shocks(loaded_device& on, const shock_plan& plan, kernels::word64 tiles,
                             std::size_t sets, stream fills)
    : device_(on.get()), cubes_(on, plan, tiles, sets, fills), sets_(sets), fills_(fills) {}

void staged_shocks::fill(std::size_t set, const run::tile_range& chunk) {
    cubes_.fill(set, chunk.first, chunk.count, fills_);
    filled_.emplace(new_event(device_, fills_));
}

void staged_shocks::make_current(const run::tile_range& chunk, stream reader) {
    if (ahead_ == chunk) {
        set_ = 1 - set_;
    } else {
        fill(set_, chunk);
    }
    ahead_ = {};
    device_.wait_for(reader, filled_->get());
}

void staged_shocks::make_ahead(const run::tile_range& next) {
    if (sets_ < 2 || next.count == 0) return;
    fill(1 - set_, next);
    ahead_ = next;
}

bool staged_shocks::keep_in_l2(launch& how) const {
    if (!cubes_.persists()) return false;
    how.persisting = normals(1).first;
    how.persisting_bytes = cubes_.bytes_of_normals();
    return true;
}

}  // namespace tilewalk::cuda
