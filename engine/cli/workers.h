// SPDX-License-Identifier: Apache-2.0
// Processes on this machine that do the shards of a plan. A process that dies is replaced.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewalk/shards.h"

namespace tilewalk::cli {

// Does all shards of the plan, `workers` processes at a time, each with these further arguments. Returns 0,
// or the exit code of a process that failed for good after printing why.
int run_in_workers(const shards& plan, const std::filesystem::path& folder, shards::stage of,
                   std::size_t workers, const std::vector<std::string>& arguments);

class passing_folder {
  public:
    passing_folder();
    ~passing_folder();
    passing_folder(const passing_folder&) = delete;
    passing_folder& operator=(const passing_folder&) = delete;
    const std::filesystem::path& at() const { return at_; }

  private:
    std::filesystem::path at_;
};

}  // namespace tilewalk::cli
