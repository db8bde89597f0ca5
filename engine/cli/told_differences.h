// SPDX-License-Identifier: Apache-2.0
// The files of differences, and the end of commands that write them.
#pragma once

#include <vector>

#include "engine/cli/report_folder.h"
#include "tilewalk/differences.h"
#include "tilewalk/files.h"
#include "tilewalk/market.h"

namespace tilewalk::cli {

// The reports for which the market has the needed data.
std::vector<difference_report> reports_of(const market& in);
// Throws tilewalk::error (usage) if the folder has a file of an earlier run that this market can't replace.
void refuse_old_reports(const report_folder& files, const market& in);
// Prints on standard error what the files lack. Returns the exit code, starting from `code`.
int tell_of_differences(const difference_results& r, int code);

}  // namespace tilewalk::cli
