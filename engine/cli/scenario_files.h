// SPDX-License-Identifier: Apache-2.0
// Shared by the commands that report scenarios: the folder of files for risk systems, and the exit code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/cli/output.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::cli {

class scenario_files {
  public:
    // Makes the folder; empty: no file is wanted. Throws tilewalk::error (io).
    explicit scenario_files(const std::string& folder);
    // See keep_apart.
    void keep_apart_from(const std::vector<std::filesystem::path>& inputs,
                         std::vector<const output*> others) const;
    void write(const scenario_results& r) const;

  private:
    std::vector<output> outputs_;  // in the order of scenario_reports()
};

// A line for each file.
std::string scenario_files_text();

// Tells on standard error what went wrong, but for failures that the reader sees, and gives the exit code.
int tell_of_scenarios(const scenario_results& r, bool is_seen);

}  // namespace tilewalk::cli
