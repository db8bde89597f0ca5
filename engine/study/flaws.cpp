// SPDX-License-Identifier: Apache-2.0
#include "engine/study/flaws.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <vector>

#include "engine/plan/trade_program.h"
#include "engine/walk/cpu/back_end.h"
#include "kernels/tile.h"

namespace tilewalk::studies {

namespace {

constexpr std::size_t most_told = 4;

std::optional<std::size_t> found_on_path(std::uint64_t path, const books::trade& t,
                                         const markets::market_state& in, std::uint32_t first_scenario,
                                         run::walk paths, const cpu::lane_operations& operations,
                                         const planned& p, program::precision precision) {
    plan::trade_program made = plan::plan_checks(t, in, precision, p.ready->idle, poll_of(paths.cancel));
    for (program::scenario_rows& s : made.data.scenarios) s.array += first_scenario;
    const run::job job{&made.code, &made.data, &made.when, {}, p.points};
    paths.jobs = {&job, 1};
    paths.tiles = {path / kernels::paths_per_tile, 1};
    paths.times = nullptr;
    paths.on_progress = nullptr;
    cpu::back_end on(operations, 1, precision);
    const run::outcome found = on.walk_all(paths);
    if (found.failures.front()) return std::nullopt;
    for (std::size_t k = 0; k < made.code.outputs.size(); ++k)
        if (found.tallies.front().first_not_finite(k) == path) return k;
    return std::nullopt;
}

}  // namespace

std::string possible_flaws(const ready_trade& of) {
    std::string out;
    for (std::size_t i = 0; i < std::min(of.checked.size(), most_told); ++i)
        out += (i == 0 ? "" : "; or ") + of.checked[i];
    if (of.checked.size() > most_told) out += "; or a later operation";
    return out;
}

std::string flaw_on_path(std::uint64_t path, const books::trade& t, const markets::market_state& in,
                         const planned& p, std::uint32_t first_scenario, run::walk paths,
                         const cpu::lane_operations& operations, program::precision precision) {
    const std::vector<std::string>& all = p.ready->checked;
    if (all.size() > 1 && !p.rights) {
        try {
            const auto found =
                found_on_path(path, t, in, first_scenario, std::move(paths), operations, p, precision);
            if (found) return all[*found];
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
        }
    }
    return possible_flaws(*p.ready);
}

}  // namespace tilewalk::studies
