// SPDX-License-Identifier: Apache-2.0
// Runs the shards of a plan in worker processes on this machine. A worker that dies is replaced.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewalk/shards.h"

namespace tilewalk::cli {

// Runs all shards of the plan, in `workers` processes at a time, each with these arguments added. Returns 0,
// or the exit code of a worker that failed for good after printing why.
int run_in_workers(const shards& plan, const std::filesystem::path& folder, shards::stage of,
                   std::size_t workers, const std::vector<std::string>& arguments);

class passing_folder {
  public:
    passing_folder();
    ~passing_folder();
    passing_folder(const passing_folder&) = delete;
    passing_folder& operator=(const passing_folder&) = delete;
    const std::filesystem::path& path() const { return at_; }

  private:
    std::filesystem::path at_;
};

}  // namespace tilewalk::cli
