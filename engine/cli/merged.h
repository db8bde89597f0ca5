// SPDX-License-Identifier: Apache-2.0
// The report on a request whose shards are done.
#pragma once

#include <optional>
#include <string>

#include "engine/cli/plans.h"
#include "engine/cli/settings.h"
#include "engine/cli/side_files.h"
#include "tilewalk/shards.h"

namespace tilewalk::cli {

sharded_request request_of(const std::string& book_file, const spoken& options, const chosen_book& of);

// Merges shards, writes results and returns the exit code. `folder_of_files` is empty for no files.
int report_merged(const shards& all, const settings& with, const std::optional<std::string>& totals,
                  const std::string& folder_of_files, bool spreadsheet_safe, bool tiles, side_files& beside);

}  // namespace tilewalk::cli
