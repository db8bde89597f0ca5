// SPDX-License-Identifier: Apache-2.0
// The packed trades of a run in the memory of one device, in the order of their launches.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/walk/cuda/device/loaded_device.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/device/spaces.h"
#include "engine/walk/cuda/paths/launch_sizes.h"
#include "engine/walk/cuda/paths/run_state.h"
#include "engine/walk/cuda/paths/staging.h"
#include "kernels/arguments.h"

namespace tilewalk::cuda {

class trades_on_device {
  public:
    // Uploads the trades in stream `s` and waits. `run` must outlive this.
    trades_on_device(loaded_device& on, const run_state& run, stream s);

    // Uploads the trades that changed, for work queued later in `s`. No work may still read the trades.
    void bring_changes(stream s);

    const launch_sizes& sizes(std::size_t group) const { return sizes_[group]; }
    const std::vector<job_list>& lists(std::size_t group) const { return lists_[group]; }
    const kernels::trade_record* records(std::size_t group, const job_list& list) const;
    void point(kernels::path_arguments& a) const;

    // Whether numbers are in constant memory, which is refilled for each launch.
    bool numbers_are_constant() const { return row_space_.lives_in == residence::constant_variable; }
    // Uploads a list's numbers to constant memory. The group's kernel must be loaded.
    void upload_constants(const job_group& g, const job_list& list, stream s);
    // Asks for the numbers to be kept in the second-level cache, if their space does so.
    void keep_in_l2(launch& how) const;

  private:
    void arrange();
    std::vector<kernels::trade_record> records_in_order() const;
    void bring_numbers(stream s);
    void upload_numbers(staging& through);
    void open_texture();

    loaded_device& on_;
    const run_state& run_;
    const space_entry& row_space_;
    device_memory words_, records_;
    std::optional<device_memory> numbers_;
    std::optional<pinned_memory> mapped_numbers_;
    std::optional<owned_texture> numbers_texture_;
    void* numbers_at_ = nullptr;
    std::vector<launch_sizes> sizes_;           // by group
    std::vector<std::vector<job_list>> lists_;  // by group
    std::vector<std::size_t> first_record_;     // by group
};

}  // namespace tilewalk::cuda
