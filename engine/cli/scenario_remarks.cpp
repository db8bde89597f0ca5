// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/scenario_remarks.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/priced.h"
#include "tilewalk/error.h"

namespace tilewalk::cli {

int tell_of_scenarios(const scenario_results& r, bool is_seen) {
    tell_of_journal(r.base);
    tell_of_gpus(r.base);
    complain_of_correlations(r.base.manifest.missing_correlations);
    if (!is_seen)
        for (const std::string& line : r.remarks) remark("tilewalk: warning: " + line);
    const int code = code_of(r.base, !is_seen);
    if (r.failures.empty()) return code;
    if (!is_seen) {
        constexpr std::size_t most = 20;
        complain(fmt::format(
            "tilewalk: {} no value:",
            r.failures.size() == 1 ? "1 gain has" : std::to_string(r.failures.size()) + " gains have"));
        std::size_t lines = 0, listed = 0;
        while (listed < r.failures.size() && lines++ < most) {
            const failed_gain& f = r.failures[listed];
            std::size_t alike = 1;
            while (listed + alike < r.failures.size() && r.failures[listed + alike].scenario == f.scenario &&
                   r.failures[listed + alike].message == f.message)
                ++alike;
            const std::string trades =
                alike == 1 ? "trade " + r.base.rows[f.trade].trade : std::to_string(alike) + " trades";
            const scenario& of = r.scenarios[f.scenario];
            complain(fmt::format("scenario {}/{}, {}: {}", of.set, of.name, trades, f.message));
            listed += alike;
        }
        if (listed < r.failures.size()) complain(fmt::format("and {} more", r.failures.size() - listed));
    }
    const bool may_do_better =
        std::ranges::any_of(r.failures, [](const failed_gain& f) { return f.kind == error_kind::device; });
    if (code == try_again || may_do_better) return try_again;
    return code == all_well ? some_failed : code;
}

}  // namespace tilewalk::cli
