// SPDX-License-Identifier: Apache-2.0
#include "engine/study/manifest.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>

#include "engine/base/digest.h"
#include "engine/base/machine.h"
#include "engine/market/market_state.h"
#include "products/program/precision.h"
#include "tilewalk/version.h"

namespace tilewalk::studies {

std::string utc_now() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

namespace {

constexpr std::optional<std::string> run_settings::*settings_with_files[] = {
    &run_settings::replay, &run_settings::policy, &run_settings::decisions};

}  // namespace

std::vector<file_of_setting> files_named_by(const run_settings& all) {
    std::vector<file_of_setting> out;
    for (const auto setting : settings_with_files) {
        if (const auto& named = all.*setting)
            out.push_back({arrays::name_of(*named), arrays::map_file(*named)});
    }
    return out;
}

std::vector<input_file> fingerprints_of(const std::vector<file_of_setting>& files) {
    std::vector<input_file> out;
    for (const file_of_setting& one : files) {
        const auto* const bytes = reinterpret_cast<const char*>(one.held.bytes.data());
        out.push_back({one.name, config::sha256({bytes, one.held.bytes.size()})});
    }
    return out;
}

void describe_run(const settled& run, std::string_view instruction_set, const books::book_state& book,
                  const market& in, const std::vector<input_file>& named, run_manifest& into) {
    into.version = version();
    into.compiler = compiler();
    into.instruction_set = instruction_set;
    into.machine = machine_name();
    into.as_of = in.as_of();
    into.settings = run.said;
    for (const auto setting : settings_with_files) {
        if (auto& file = into.settings.*setting) file = arrays::name_of(*file);
    }
    into.precision = program::name_of(run.how.precision);
    into.random = run.random;
    into.seed = run.seed;
    into.paths = run.paths;
    into.threads = run.threads;
    into.inputs = book.inputs;
    const auto add_input = [&into](const input_file& one) {
        const auto is_it = [&](const input_file& f) { return f.hash == one.hash; };
        if (std::none_of(into.inputs.begin(), into.inputs.end(), is_it)) into.inputs.push_back(one);
    };
    // A market inside the book's file has no hash of its own.
    if (!state_of(in).hash.empty()) add_input({state_of(in).name, state_of(in).hash});
    for (const markets::scenario_array& a : state_of(in).scenarios) add_input({a.name, a.hash.get()});
    for (const input_file& one : named) add_input(one);
}

void add_walk(run_manifest& to, const run_manifest& of) {
    to.path_seconds += of.path_seconds;
    to.kernels_compiled += of.kernels_compiled;
    if (to.kernels_refused.empty()) to.kernels_refused = of.kernels_refused;
    to.launches += of.launches;
    to.device_seconds += of.device_seconds;
    to.kernel_seconds += of.kernel_seconds;
    if (of.devices.size() > to.devices.size()) to.devices = of.devices;
    // Counts equal texts: two devices of one name may fail alike, or a later walk lose the same device again.
    for (const std::string& lost : of.lost_devices)
        if (std::ranges::count(to.lost_devices, lost) < std::ranges::count(of.lost_devices, lost))
            to.lost_devices.push_back(lost);
    for (const left_work& one : of.left_to_processor) add_left(to.left_to_processor, one);
}

void count_steps(run_manifest& to, const run_manifest& of) {
    to.path_steps += of.path_steps;
    to.path_steps_on_gpus += of.path_steps_on_gpus;
}

void add_steps(run_manifest& to, const run_manifest& of) {
    count_steps(to, of);
    for (const left_work& one : of.left_to_processor) add_left(to.left_to_processor, one);
}

void add_left(std::vector<left_work>& to, const left_work& one) {
    if (one.trades == 0) return;
    const auto same = std::ranges::find_if(
        to, [&](const left_work& known) { return known.work == one.work && known.why == one.why; });
    if (same == to.end())
        to.push_back(one);
    else
        same->trades = std::max(same->trades, one.trades);
}

}  // namespace tilewalk::studies
