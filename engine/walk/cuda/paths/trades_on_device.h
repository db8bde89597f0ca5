// SPDX-License-Identifier: Apache-2.0
// The trades of a run in the memory of one device, in the order of their launches.
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
    // Uploads in `s`, and waits for it. `run` is kept.
    trades_on_device(loaded_device& on, const run_state& run, stream s);

    // Brings what the run's changes say; work given to `s` from now on finds it. All work that reads the
    // trades has ended.
    void bring_changes(stream s);

    // The launches of a group, by its number, and its jobs in lists, in their order.
    const launch_sizes& sizes(std::size_t group) const { return sizes_[group]; }
    const std::vector<job_list>& lists(std::size_t group) const { return lists_[group]; }
    // The records of the jobs of a list.
    const kernels::trade_record* records(std::size_t group, const job_list& list) const;
    // Tells a kernel where numbers and words are.
    void point(kernels::path_arguments& a) const;

    // Numbers in constant memory change from launch to launch; everywhere else all stay for the run.
    bool numbers_are_constant() const { return row_space_.lives_in == residence::constant_variable; }
    // Puts the numbers of a list into the variable of the group's kernel, which is loaded.
    void upload_constants(const job_group& g, const job_list& list,
                          const std::shared_ptr<const std::string>& cubin, stream s);
    // Asks that the numbers stay in the second-level cache, if that is the space they live in.
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
