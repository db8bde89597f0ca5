// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/difference_remarks.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"

namespace tilewalk::cli {

std::vector<difference_report> reports_of(const market& in) {
    std::vector<difference_report> out;
    for (const difference_report& report : difference_reports())
        if (!report.is_of_simm || has_simm(in)) out.push_back(report);
    return out;
}

void refuse_old_reports(const report_folder& files, const market& in) {
    for (const difference_report& report : difference_reports())
        if (report.is_of_simm && !has_simm(in)) files.refuse_old(report.file, "the market has no 'simm'");
}

int tell_of_differences(const difference_results& r, int code) {
    for (const std::string& line : r.remarks) remark("tilewalk: --files: " + line);
    if (!r.simm) remark("tilewalk: --files: the market has no 'simm', so there is no crif.csv");
    if (r.failures.empty()) return code;
    constexpr std::size_t most = 20;
    complain(fmt::format("tilewalk: --files: {} no value:",
                         r.failures.size() == 1 ? "1 difference has"
                                                : std::to_string(r.failures.size()) + " differences have"));
    for (std::size_t k = 0; k < std::min(most, r.failures.size()); ++k) complain(r.failures[k]);
    if (r.failures.size() > most) complain(fmt::format("and {} more", r.failures.size() - most));
    if (code == try_again || r.worst == error_kind::device) return try_again;
    return code == all_well ? some_failed : code;
}

}  // namespace tilewalk::cli
