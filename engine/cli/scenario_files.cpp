// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/scenario_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <system_error>

#include "engine/cli/exit_code.h"
#include "engine/cli/plans.h"
#include "engine/cli/priced.h"
#include "tilewalk/error.h"

namespace tilewalk::cli {

scenario_files::scenario_files(const std::string& folder) {
    if (folder.empty()) return;
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        throw error(error_kind::io, "--files: can't be made a folder: " + failed.message(), {folder, 0, 0});
    for (const scenario_report& report : scenario_reports())
        outputs_.emplace_back((std::filesystem::path(folder) / report.file).string(), "--files");
}

void scenario_files::keep_apart_from(const std::vector<std::filesystem::path>& inputs,
                                     std::vector<const output*> others) const {
    for (const output& one : outputs_) others.push_back(&one);
    keep_apart(others, inputs);
}

void scenario_files::write(const scenario_results& r) const {
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
        std::ostringstream text;
        scenario_reports()[k].write(text, r);
        outputs_[k].write(text.view());
    }
}

std::string scenario_files_text() {
    constexpr std::size_t columns = 90;
    std::size_t width = 0;
    for (const scenario_report& report : scenario_reports()) width = std::max(width, report.file.size() + 2);
    std::string out;
    for (const scenario_report& report : scenario_reports()) {
        out += fmt::format("{}{:<{}}", out.empty() ? "" : "\n", report.file, width);
        std::string_view left = report.meaning;
        while (width + left.size() > columns) {
            const std::size_t end = left.rfind(' ', columns - width);
            if (end == left.npos) break;
            out += fmt::format("{}\n{:{}}", left.substr(0, end), "", width);
            left.remove_prefix(end + 1);
        }
        out += left;
    }
    return out;
}

int tell_of_scenarios(const scenario_results& r, bool is_seen) {
    tell_of_journal(r.base);
    complain_of_lost_gpus(r.base);
    complain_of_correlations(r.base.manifest.missing_correlations);
    for (const std::string& line : r.remarks) remark("tilewalk: warning: " + line);
    const int code = code_of(r.base, !is_seen);
    if (r.failures.empty()) return code;
    if (!is_seen) {
        constexpr std::size_t most = 20;
        complain(fmt::format(
            "tilewalk: {} no value:",
            r.failures.size() == 1 ? "1 gain has" : std::to_string(r.failures.size()) + " gains have"));
        std::size_t lines = 0, told = 0;
        while (told < r.failures.size() && lines++ < most) {
            const failed_gain& f = r.failures[told];
            // A scenario that is no market fails all trades alike.
            std::size_t alike = 1;
            while (told + alike < r.failures.size() && r.failures[told + alike].scenario == f.scenario &&
                   r.failures[told + alike].message == f.message)
                ++alike;
            const std::string trades =
                alike == 1 ? "trade " + r.base.rows[f.trade].trade : std::to_string(alike) + " trades";
            const scenario& of = r.scenarios[f.scenario];
            complain(fmt::format("scenario {}/{}, {}: {}", of.set, of.name, trades, f.message));
            told += alike;
        }
        if (told < r.failures.size()) complain(fmt::format("and {} more", r.failures.size() - told));
    }
    const bool may_do_better =
        std::ranges::any_of(r.failures, [](const failed_gain& f) { return f.kind == error_kind::device; });
    if (code == try_again || may_do_better) return try_again;
    return code == all_well ? some_failed : code;
}

}  // namespace tilewalk::cli
