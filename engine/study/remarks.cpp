// SPDX-License-Identifier: Apache-2.0
// Remarks that concern a whole run rather than a trade.
#include "tilewalk/results.h"

#include <algorithm>

#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"
#include "engine/study/manifest.h"

namespace tilewalk {

std::string remark_on_correlations(const std::vector<factor_pair>& missing) {
    const factor_pair& first = missing.at(0);
    return "the market states no correlation of " + config::pairs_text(missing) + ": taken as 0; add [" +
           first.first + ", " + first.second + ", 0] under correlations if that is meant";
}

std::string studies::remark_on_few_parts(const run_manifest& of, std::size_t randomisations) {
    if (of.part_paths == 0) return {};
    const std::uint64_t parts = (of.paths + of.part_paths - 1) / of.part_paths;
    if (parts >= least_parts) return {};
    const std::string most = std::to_string(least_parts);
    if (randomisations > 0)
        return "no standard errors: the run has " + report::counted(parts, "randomisation") +
               ", and an error needs " + most + "; use " + most + " randomisations";
    return "no standard errors: " + report::counted(of.paths, "path") + " make " +
           report::counted(parts, "part") + " of the run, and an error needs " + most + "; use " +
           std::to_string(least_parts * of.part_paths) + " paths";
}

std::string remark_on_few_parts(const results& of) {
    const auto lacks_error = [](const greek_row& row) {
        return is_figure(row.value) && !is_figure(row.standard_error);
    };
    if (std::ranges::none_of(of.greeks, lacks_error)) return {};
    std::size_t randomisations = 0;
    for (const price_row& row : of.rows) randomisations = std::max(randomisations, row.randomisations);
    return studies::remark_on_few_parts(of.manifest, randomisations);
}

}  // namespace tilewalk
