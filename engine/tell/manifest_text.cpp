// SPDX-License-Identifier: Apache-2.0
// Sentences on how results were made.
#include "engine/tell/manifest_text.h"

#include <algorithm>

#include "engine/base/shown_numbers.h"
#include "tilewalk/printable.h"
#include "tilewalk/setting_table.h"

namespace tilewalk::report {

namespace {

// Names the choices of GPU settings, such as "distance 4, layout plain".
std::string choices_text(const run_settings& said) {
    std::string out;
    for (const auto& known : setting_table()) {
        const auto text = known.text(said);
        if (known.of == run_setting::part::gpu && text && *text != known.preset)
            out += (out.empty() ? "" : ", ") + known.name + " " + printable(*text);
    }
    return out;
}

run_settings settings_that_held(const run_manifest& m) {
    run_settings held = m.settings;
    held.paths = m.paths;
    held.seed = m.seed;
    held.precision = choice_named<precision>(m.precision);
    held.random = m.random;
    return over(held, default_settings());
}

}  // namespace

std::string draws_text(const run_manifest& m) {
    std::string out = printable(m.precision) + " precision";
    if (m.settings.replay) {
        out += ", shocks of " + printable(*m.settings.replay);
    } else if (m.random != *default_settings().random) {
        out += ", random numbers of " + printable(m.random);
    }
    return out + (m.settings.antithetic == antithetic::pairs ? ", antithetic pairs" : "");
}

std::string devices_text(const std::vector<std::string>& names) {
    std::vector<std::string> seen;
    std::string out;
    for (const auto& name : names) {
        if (std::ranges::find(seen, name) != seen.end()) continue;
        seen.push_back(name);
        const auto alike = std::ranges::count(names, name);
        out += (out.empty() ? "" : ", ") + (alike > 1 ? std::to_string(alike) + " x " : "") + printable(name);
    }
    return out;
}

std::string gpu_text(const run_manifest& m) {
    if (m.devices.empty()) return {};
    const std::string chosen = choices_text(m.settings);
    std::string share;
    if (m.path_steps_on_gpus < m.path_steps)
        share =
            fixed(100 * static_cast<double>(m.path_steps_on_gpus) / static_cast<double>(m.path_steps), 1) +
            "% of the path-steps, the processor the others; ";
    return devices_text(m.devices) + ": " + share + counted(m.launches, "launch", "launches") + ", " +
           duration(m.kernel_seconds) + "; " + counted(m.kernels_compiled, "kernel") + " compiled, " +
           std::to_string(m.kernels_from_cache) + " from the cache" + (chosen.empty() ? "" : "; " + chosen) +
           '\n';
}

std::vector<std::string> settings_that_differ(const run_manifest& first, const run_manifest& second) {
    const run_settings a = settings_that_held(first), b = settings_that_held(second);
    std::vector<std::string> names;
    for (const auto& known : setting_table())
        if (known.text(a) != known.text(b)) names.push_back(known.name);
    return names;
}

}  // namespace tilewalk::report
