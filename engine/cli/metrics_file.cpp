// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/metrics_file.h"

#include <algorithm>
#include <optional>

#include "tilewalk/metrics.h"

namespace tilewalk::cli {

namespace {

std::string name_of_command(const std::vector<std::string>& words) {
    if (words.empty()) return "";
    const auto found = std::find_if(words.begin() + 1, words.end(),
                                    [](const std::string& w) { return !w.starts_with('-'); });
    return found == words.end() ? "" : *found;
}

}  // namespace

std::string metrics_of(const told_results& of) {
    const std::vector<input_file>& inputs = of.prices.manifest.inputs;
    std::optional<timings::account> times;
    if (of.times != nullptr) times = of.times->so_far();
    return metrics_text({.command = name_of_command(of.command),
                         .book = inputs.empty() ? "" : inputs.front().file,
                         .prices = of.prices,
                         .scenarios = of.scenarios,
                         .times = times ? &*times : nullptr,
                         .at = of.at.value_or(std::chrono::system_clock::now()),
                         .shard = of.shard,
                         .stage = of.stage});
}

}  // namespace tilewalk::cli
