// SPDX-License-Identifier: Apache-2.0
// Reports of differences, shared by the commands that write their files.
#pragma once

#include <vector>

#include "engine/cli/report_folder.h"
#include "tilewalk/differences.h"
#include "tilewalk/files.h"
#include "tilewalk/market.h"

namespace tilewalk::cli {

// Returns the reports for which the market has all data.
std::vector<difference_report> reports_of(const market& in);
// Throws tilewalk::error (io) if the folder has a file of an earlier run that this market has no report for.
void refuse_old_reports(const report_folder& files, const market& in);
// Prints on standard error what the files lack. Returns `code`, or a worse exit code if something failed.
int tell_of_differences(const difference_results& r, int code);

}  // namespace tilewalk::cli
