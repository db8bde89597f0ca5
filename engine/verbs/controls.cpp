// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/controls.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/controls/control.h"
#include "engine/controls/written.h"
#include "engine/cpu/lane_machine.h"
#include "engine/cpu/tile_pool.h"
#include "engine/verbs/decisions.h"
#include "kernels/philox.h"
#include "kernels/tile.h"
#include "tilewalk/error.h"

namespace tilewalk::verbs {

namespace {

constexpr std::uint64_t most_share = 20;  // of a run, its inverse
constexpr std::uint64_t most_paths = 2048;

// Other paths than a run takes, and than other pilots do.
std::uint64_t seed_of_controls(std::uint64_t seed) {
    return kernels::low_word(
        kernels::path_block(seed, 0, 0, kernels::shift_stream, {0x636f6e74u, 0x726f6cu}));
}

// The trade in a market, with what a controller adds.
plan::trade_program planned_with(plan::controller& adds, const books::trade& t,
                                 const markets::market_state& in, program::precision precision,
                                 std::uint32_t first_scenario, const std::atomic<bool>* cancel) {
    plan::trade_program made = plan::plan_trade(t, in, precision, {}, poll_of(cancel), nullptr, &adds);
    for (program::scenario_rows& s : made.data.scenarios) s.array += first_scenario;
    return made;
}

constexpr const char* name_of_control = "control";
std::optional<controls::control> decided_control(const results& by, const std::string& trade) {
    const std::optional<std::string> written = decision(by, trade, name_of_control);
    if (!written) return std::nullopt;
    return controls::control_written_as(*written);
}

}  // namespace

std::optional<controls::control> choose_control(const books::trade& t, const markets::market_state& in,
                                                std::span<const arrays::shock_cube> scenarios,
                                                const pilot_of_controls& by) {
    const std::uint64_t blocks = std::min(by.run.paths / most_share, most_paths) / cpu::lanes;
    const bool may_have_one = by.run.chooses_controls && by.run.replay.empty() && !plan::has_rights(t);
    if (!may_have_one || blocks == 0) return std::nullopt;
    controls::sums_of_moves adds;
    const plan::trade_program made = planned_with(adds, t, in, program::precision::double_, 0, by.cancel);
    if (made.is_certain() || adds.basis().empty()) return std::nullopt;
    const cpu::lane_program code = cpu::compile(made.code);
    cpu::path_job job;
    job.code = &code;
    job.data = &made.data;
    job.when = &made.when;
    job.seed = seed_of_controls(by.run.seed);
    job.paths = blocks * cpu::lanes;
    job.scenarios = scenarios;
    cpu::lane_machine machine(by.operations);
    std::vector<double> found(code.outputs.size() * kernels::paths_per_tile);
    std::vector<double> payoffs;
    std::vector<std::vector<double>> sums(adds.basis().size());
    for (std::uint64_t b = 0; b < blocks; ++b) {
        machine.walk_paths(job, b * cpu::lanes, found.data(), by.cancel);
        const auto add = [&](std::vector<double>& to, std::size_t output) {
            const double* const first = found.data() + output * kernels::paths_per_tile;
            to.insert(to.end(), first, first + cpu::lanes);
        };
        add(payoffs, 0);
        for (std::size_t k = 0; k < sums.size(); ++k) add(sums[k], k + 1);
    }
    return controls::fit(payoffs, sums, adds.basis());
}

std::optional<controlled_plan> plan_with(const controls::control& what, const books::trade& t,
                                         const markets::market_state& in, const pilot_of_controls& by,
                                         std::uint32_t first_scenario) {
    controls::subtracted adds(what);
    controlled_plan out{planned_with(adds, t, in, by.run.how.precision, first_scenario, by.cancel)};
    if (!adds.fits()) return std::nullopt;
    out.mean = adds.mean();
    out.made.remarks.push_back(evidence(what));
    return out;
}

std::string evidence(const controls::control& of) {
    const std::string seen = fmt::format(", as {} pilot paths show", of.pilot_paths);
    if (of.leaves_rounding()) return "a control leaves nothing but rounding" + seen;
    const double left = 1 / of.fewer_paths;
    return fmt::format("a control with the correlation {:.5g} leaves {:.2g} % of the variance",
                       std::sqrt(1 - left), 100 * left) +
           seen;
}

void choose_controls(planned_run& r, const teller& tells) {
    if (!r.run.chooses_controls) return;
    const std::vector<books::trade>& trades = r.book.trades;
    const scenarios_of_markets scenarios(r.in);
    const pilot_of_controls by{r.run, r.operations, r.options.cancel};
    shape_store shapes;
    const auto decide = [&](int, std::uint64_t i) {
        std::optional<controls::control> found;
        for (std::size_t m = 0; m < r.in.size(); ++m) {
            planned& p = r.plans[m * trades.size() + i];
            if (!p.needs_paths()) continue;
            try {
                const markets::market_state& in = r.in[m].state();
                if (m == 0)
                    found = r.run.decided ? decided_control(*r.run.decided, trades[i].id)
                                          : choose_control(trades[i], in, scenarios.cubes, by);
                if (!found) return;
                std::optional<controlled_plan> made =
                    plan_with(*found, trades[i], in, by, scenarios.first[m]);
                if (!made) continue;
                auto ready = std::make_shared<ready_trade>(std::move(made->made), shapes);
                ready->control_mean = made->mean;
                for (const controls::knot& k : found->knots) ready->control_jumps += std::abs(k.jump);
                if (r.run.chooses_importance) ready->without_control = p.ready;
                p.ready = std::move(ready);
                p.decisions = with_decision(p.decisions, name_of_control, controls::written(*found));
            } catch (const std::exception& e) {
                throw_if_cancelled(e);
                p.failure = at_trade(trades[i], e);
            }
        }
    };
    cpu::for_each(trades.size(), r.run.threads, r.options.cancel, decide,
                  tells.is_heard() ? [&] { tells.tell(); } : std::function<void()>());
}

void refuse_controls(const settled& run, const std::string& command) {
    const auto refuse = [&](const std::string& what, const std::string& setting) {
        throw error(error_kind::usage,
                    command + " takes no " + what + " yet: found " + setting + ": auto, expected none");
    };
    if (run.chooses_controls) refuse("controls", "controls");
    if (run.chooses_importance) refuse("importance sampling", "importance");
}

}  // namespace tilewalk::verbs
